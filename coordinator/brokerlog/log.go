package brokerlog

import (
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// Bounds of a Log.
const (
	// MostSayings is how many lines that say something are kept: of more, the newest.
	MostSayings = 100_000
	// MostUnknown is how many of the lines that are not understood are kept: the first. MostShown is how much of each.
	MostUnknown = 500
	MostShown   = 2000
	// MostEvents bounds the facts.
	MostEvents = 300_000
	// mostText bounds what the kept sayings' text may take together.
	mostText = 64 << 20
)

// Log takes all lines of a pasted text, in any order of sources. A text that a terminal or a letter wrapped is put together
// again. It keeps what the lines say, not the lines.
type Log struct {
	reader  reader
	sayings []saying
	texts   []string // of the lines that say something, cut at MostShown
	first   int      // sayings before it were dropped
	size    int
	unknown []Line
	next    int // the number of the next line
	held    *held
}

// Line is a line that was read: Number counts from 1.
type Line struct {
	Number int
	Text   string
}

// held is a line that the next one may go on with.
type held struct {
	number int
	text   string
	s      saying
	v      verdict
	rank   int
}

// NewLog returns a log of no lines.
func NewLog(c Config) *Log { return &Log{reader: newReader(c), next: 1} }

// Add takes the next line, without its end.
func (l *Log) Add(line string) {
	n := l.next
	l.next++
	if h := l.held; h != nil && h.rank < whole && len(h.text) < maxLine && !begins(line) && strings.TrimSpace(line) != "" {
		if l.joined(h, line) {
			l.reader.counts.Lines++ // the two are one, and both were lines
			return
		}
	}
	l.flush()
	h := &held{number: n, text: line}
	h.s, h.v, h.rank = l.rank(line)
	l.held = h
}

// whole is the rank of a line that is understood to its end.
const whole = 4

// rank reads a line and tells how well it is understood.
func (l *Log) rank(line string) (s saying, v verdict, rank int) {
	before, clock := l.reader.broker, l.reader.clock
	s, v = l.reader.recognize(line)
	switch {
	case v == unknown:
	case v == rest:
		rank = 1
		if s.kind == unsaid {
			rank = whole
		}
	case s.kind == preparing:
		r, closed := reasonOf(s.Text)
		rank = 2
		if closed {
			rank = whole - 1
		}
		if closed && r.why != event.WhySeen {
			rank = whole
		}
	case s.whole:
		rank = whole
	default:
		rank = 2
	}
	if v == unknown {
		l.reader.broker, l.reader.clock = before, clock
	}
	return s, v, rank
}

// joined puts a line behind the one that is held, where the two say more together.
func (l *Log) joined(h *held, line string) bool {
	best, rank := "", h.rank
	if h.rank == 0 && !begins(h.text) && !known(h.text) {
		return false
	}
	for _, between := range []string{"", " "} {
		if between == "" && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		text := strings.TrimRight(h.text, "\r\n") + between + line
		if between == " " {
			text = strings.TrimRight(h.text, "\r\n ") + between + strings.TrimLeft(line, " \t>|")
		}
		_, _, r := l.rank(text)
		if r > rank {
			best, rank = text, r
		}
	}
	if best == "" {
		return false
	}
	h.text = best
	h.s, h.v, h.rank = l.rank(best)
	return true
}

// known tells whether a line begins like one of a broker's that may have been cut in its first words.
func known(line string) bool {
	return strings.Contains(line, "roup") || strings.Contains(line, "ember") || strings.Contains(line, "ebalance")
}

// begins tells whether a line has a beginning of its own: a time, a bracket, an object. What goes on with another has none.
func begins(line string) bool {
	line = strings.TrimLeft(line, " >|\t\x1b")
	if line == "" {
		return false
	}
	if c := line[0]; c == '{' || c == '%' || c == '[' {
		return true
	}
	c := clock{}
	_, ok := c.find(line[:min(len(line), 32)])
	return ok
}

// flush decides about the line that was held.
func (l *Log) flush() {
	h := l.held
	if h == nil {
		return
	}
	l.held = nil
	l.reader.count(h.v)
	switch h.v {
	case understood:
		l.keep(h)
	case unknown:
		if len(l.unknown) < MostUnknown {
			l.unknown = append(l.unknown, Line{h.number, shown(h.text)})
		}
	}
}

// shown is what of a line is kept to be shown: without what is no text, so many bytes at most.
func shown(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > MostShown {
		text = text[:MostShown] + "…"
	}
	return strings.Clone(strings.ToValidUTF8(text, "\ufffd"))
}

func (l *Log) keep(h *held) {
	s := h.s
	s.Line = h.number
	s.pin()
	text := shown(h.text)
	l.sayings, l.texts = append(l.sayings, s), append(l.texts, text)
	l.size += len(text) + len(h.text)
	for l.size > mostText || len(l.sayings)-l.first > MostSayings {
		l.size -= 2 * len(l.texts[l.first])
		l.sayings[l.first], l.texts[l.first] = saying{}, ""
		l.first++
	}
	if l.first > MostSayings {
		l.sayings, l.texts = slices.Clone(l.sayings[l.first:]), slices.Clone(l.texts[l.first:])
		l.first = 0
	}
}

// pin copies what a saying holds, so that it does not keep what it was read from.
func (s *saying) pin() {
	for _, p := range []*string{&s.head, &s.Group, &s.Member, &s.Other, &s.Instance, &s.Client, &s.Says, &s.Text, &s.list, &s.State, &s.Protocol} {
		*p = strings.Clone(*p)
	}
	kept := s.pairs[:0:0]
	for _, p := range s.pairs {
		switch p.name {
		case "memberId", "member_id", "leaderId", "leader_id", "generation", "generationId", "err", "error", "why", "leader", "isLeader", "memberAssignment",
			"assigned", "added":
			kept = append(kept, pair{p.name, strings.Clone(p.value)})
		}
	}
	s.pairs = kept
}

// Result is what a whole text says.
type Result struct {
	// Events are the facts, by time and numbered from 1 on; Lines[i] is the line that told Events[i].
	Events []event.Event
	Lines  []int
	// Sayings are the lines that say something, by their numbers.
	Sayings []Line
	// Unknown are the first lines that are not understood.
	Unknown []Line
	Counts  Counts
	// Dropped is how many lines that say something were too many to keep: the oldest.
	Dropped int
	// Cut is set where there were more facts than MostEvents: the later ones are left out.
	Cut bool
	// Timed is set where lines carry times; otherwise a second stands for each line.
	Timed bool
}

// Telling folds what a whole text says into facts, piece by piece.
type Telling struct {
	result Result
	all    []saying
	at     int
	teller teller
}

// Finish ends the text. Nothing may be added afterwards.
func (l *Log) Finish() *Telling {
	l.flush()
	t := &Telling{result: Result{Unknown: l.unknown, Counts: l.reader.counts}, all: l.sayings[l.first:], teller: newTeller()}
	r := &t.result
	for i, text := range l.texts[l.first:] {
		r.Sayings = append(r.Sayings, Line{t.all[i].Line, text})
		r.Timed = r.Timed || t.all[i].timed
	}
	r.Dropped = r.Counts.Understood - len(t.all)
	order(t.all, r.Timed)
	foresee(t.all)
	l.sayings, l.texts = nil, nil
	return t
}

// Counts tells what became of the lines so far.
func (l *Log) Counts() Counts { return l.reader.counts }

// Step folds so many lines more; false once all are.
func (t *Telling) Step(lines int) (more bool) {
	for ; lines > 0 && t.at < len(t.all); lines-- {
		s := &t.all[t.at]
		t.teller.out = t.teller.out[:0]
		t.teller.tell(s)
		for _, e := range t.teller.out {
			if len(t.result.Events) == MostEvents {
				t.result.Cut = true
				t.at = len(t.all)
				break
			}
			t.result.Events, t.result.Lines = append(t.result.Events, e), append(t.result.Lines, s.Line)
		}
		if t.at < len(t.all) {
			*s = saying{}
			t.at++
		}
	}
	return t.at < len(t.all)
}

// Result is what was folded so far.
func (t *Telling) Result() Result { return t.result }

// order sorts sayings by time; of equal ones the line's number decides. Without times a second stands for each line.
func order(all []saying, timed bool) {
	var first int64
	for i := range all {
		if all[i].timed {
			first = all[i].AtMs
			break
		}
	}
	for i := range all {
		switch {
		case !timed:
			all[i].AtMs = int64(all[i].Line) * 1000
		case !all[i].timed: // before the first time
			all[i].AtMs = first
		}
	}
	slices.SortStableFunc(all, func(a, b saying) int {
		switch {
		case a.AtMs < b.AtMs:
			return -1
		case a.AtMs > b.AtMs:
			return 1
		}
		return a.Line - b.Line
	})
}
