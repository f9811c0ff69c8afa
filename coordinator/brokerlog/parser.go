package brokerlog

import "grouplab/coordinator/event"

// Config says what the lines themselves do not.
type Config struct {
	// ZoneMs is added to UTC by clocks whose times name no zone: log4j writes local time.
	ZoneMs int64
	// Broker is whose log it is, where that is known; a line that names a broker ("[GroupCoordinator 1]:") knows better.
	Broker int32
	// NowMs is about when the lines were written, for times without a year (syslog) or a date. 0: the year 1970.
	NowMs int64
}

// Parser turns lines into facts, one after the other, as they are written. One goroutine uses it.
type Parser struct {
	reader reader
	teller teller
}

// New returns a parser that has read nothing.
func New(c Config) *Parser {
	return &Parser{reader: newReader(c), teller: newTeller()}
}

// Line reads one line without its end, and returns what it says, oldest first; none where it says nothing of groups. The facts
// are numbered from 1 on; their Broker is 0 where it is not known. NowMs is the time of a line that carries none. The list is
// valid until the next call.
func (p *Parser) Line(nowMs int64, line string) []event.Event {
	p.teller.out = p.teller.out[:0]
	s, verdict := p.reader.read(line)
	if verdict != understood {
		return nil
	}
	if !s.own {
		s.AtMs = nowMs
	}
	p.teller.tell(&s)
	return p.teller.out
}

// Broker is the broker that the last line named, or Config.Broker; 0 where neither is known.
func (p *Parser) Broker() int32 { return p.reader.broker }

// Counts tells how many lines were read so far.
func (p *Parser) Counts() Counts { return p.reader.counts }

// Counts says what became of the lines.
type Counts struct {
	// Lines were read. Understood say something of groups, Rest are known to say nothing (a stack trace, a banner, other
	// parts of the same programs), Unknown are the others.
	Lines, Understood, Rest, Unknown int
}
