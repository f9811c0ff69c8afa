package brokerlog

import "strings"

// clock reads the times of lines.
type clock struct {
	zoneMs, nowMs int64
	lastMs        int64 // of the last line that had one
	have          bool
}

// when finds a line's time: where the line is structured by its fields' names, else in its head. A time with a zone is believed before one
// without; of two alike the later one stands nearer to the program. A line without one was written when the last one was.
func (r *reader) when(line, msg string, at int, s *saying) {
	ms, ok := int64(0), false
	if len(s.pairs) > 0 {
		ms, ok = r.clock.find(s.pairOf("@timestamp", "timestamp", "time", "ts", "t", "datetime", "date"))
	}
	if !ok && at > 0 {
		ms, ok = r.clock.find(msg[:min(at, len(msg), headLen)])
	}
	if !ok && len(s.pairs) == 0 {
		ms, ok = r.clock.find(line[:min(len(line), headLen/4)])
	}
	if ok {
		r.clock.lastMs, r.clock.have = ms, true
	}
	s.AtMs, s.timed, s.own = r.clock.lastMs, r.clock.have, ok
	if s.Client == "" {
		s.Client = threadClient(line)
	}
}

const dayMs = 24 * 3600 * 1000

// find reads the best time in a text.
func (c *clock) find(text string) (ms int64, ok bool) {
	zoned := false
	for i := 0; i < len(text); {
		if !digit(text[i]) && !month(text[i:]) || i > 0 && (digit(text[i-1]) || letter(text[i-1]) && text[i-1] != 'T') {
			i++
			continue
		}
		at, n, zone, found := c.parse(text[i:])
		if !found {
			i++
			continue
		}
		if !zoned || zone {
			ms, ok, zoned = at, true, zone
		}
		i += n
	}
	return ms, ok
}

func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

func month(text string) bool { return monthOf(text) > 0 }

func monthOf(text string) int64 {
	if len(text) < 3 || text[0] < 'A' || text[0] > 'S' || text[1] < 'a' {
		return 0
	}
	if i := strings.Index(months, text[:3]); i >= 0 && i%3 == 0 {
		return int64(i/3) + 1
	}
	return 0
}

// parse reads a time at the beginning of a text. n is its length.
func (c *clock) parse(text string) (ms int64, n int, zoned, ok bool) {
	p := scanner{text: text}
	if m := monthOf(text); m > 0 { // Nov 30 04:05:06
		p.i = 3
		p.skip(" ")
		day := p.number(1, 2)
		p.skip(" ")
		if at, _, good := p.clockTime(); good && day > 0 {
			return c.yearless(m, day, at), p.i, false, true
		}
		return 0, 0, false, false
	}
	a, digits := p.digits()
	switch {
	case digits == 13: // milliseconds
		return a, p.i, true, plausible(a)
	case digits == 10: // seconds, perhaps with a fraction
		ms := a * 1000
		if p.eat('.') {
			ms += p.fraction()
		}
		return ms, p.i, true, plausible(ms)
	case digits == 4 && (p.eat('-') || p.eat('/')):
		return p.date(c, a)
	case digits == 2 && p.at('/'):
		return p.slashed(c, a)
	case (digits == 1 || digits == 2) && p.eat(' ') && month(p.text[p.i:]): // 30 Nov 2026 04:05:06
		m := monthOf(p.text[p.i:])
		p.i += 3
		p.skip(" ")
		year := p.number(4, 4)
		p.skip(" ")
		at, _, good := p.clockTime()
		return days(year, m, a)*dayMs + at - c.zoneMs, p.i, false, good && year > 0
	case digits == 2 && p.at(':'):
		p.i = 0
		at, _, good := p.clockTime()
		return c.dateless(at), p.i, false, good
	}
	return 0, 0, false, false
}

func plausible(ms int64) bool { return ms > 1e12/2 && ms < 1e13/2 }

// yearless puts a time without a year into that of now, or the one before where it would lie ahead.
func (c *clock) yearless(month, day, at int64) int64 {
	year := int64(1970)
	if c.nowMs > 0 {
		year = yearOf(c.nowMs)
	}
	ms := days(year, month, day)*dayMs + at - c.zoneMs
	if c.nowMs > 0 && ms > c.nowMs+dayMs {
		ms = days(year-1, month, day)*dayMs + at - c.zoneMs
	}
	return ms
}

// dateless puts a time of day into the day of the last line, or the next one where it has fallen by half a day.
func (c *clock) dateless(at int64) int64 {
	base := c.nowMs
	if c.have {
		base = c.lastMs
	}
	ms := floor(base, dayMs)*dayMs + at
	if c.have && ms < c.lastMs-dayMs/2 {
		ms += dayMs
	}
	return ms
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// scanner reads numbers from a text.
type scanner struct {
	text string
	i    int
}

func (p *scanner) at(c byte) bool { return p.i < len(p.text) && p.text[p.i] == c }

func (p *scanner) eat(c byte) bool {
	if p.at(c) {
		p.i++
		return true
	}
	return false
}

func (p *scanner) skip(chars string) {
	for p.i < len(p.text) && strings.IndexByte(chars, p.text[p.i]) >= 0 {
		p.i++
	}
}

// digits reads up to 13 of them.
func (p *scanner) digits() (value int64, n int) {
	for ; p.i < len(p.text) && digit(p.text[p.i]) && n < 14; n++ {
		value = value*10 + int64(p.text[p.i]-'0')
		p.i++
	}
	return value, n
}

// number reads one of so many digits, -1 where there is none.
func (p *scanner) number(least, most int) int64 {
	value, n := p.digits()
	if n < least || n > most {
		return -1
	}
	return value
}

// fraction reads digits behind the point as milliseconds.
func (p *scanner) fraction() int64 {
	ms, scale := int64(0), int64(100)
	for p.i < len(p.text) && digit(p.text[p.i]) {
		ms += int64(p.text[p.i]-'0') * scale
		scale /= 10
		p.i++
	}
	return ms
}

// clockTime reads 04:05:06, with a fraction behind a point or a comma, and a zone.
func (p *scanner) clockTime() (ms int64, zoned, ok bool) {
	h := p.number(1, 2)
	if h < 0 || h > 24 || !p.eat(':') {
		return 0, false, false
	}
	m := p.number(2, 2)
	if m < 0 || m > 59 || !p.eat(':') {
		return 0, false, false
	}
	s := p.number(2, 2)
	if s < 0 || s > 60 {
		return 0, false, false
	}
	ms = (h*3600 + m*60 + s) * 1000
	if p.at('.') || p.at(',') {
		p.i++
		ms += p.fraction()
	}
	zoneMs, zoned := p.zone()
	return ms - zoneMs, zoned, true
}

// zone reads Z, +02:00, +0200, +02 or " +0200" and returns how far it is ahead of UTC.
func (p *scanner) zone() (ms int64, ok bool) {
	if p.eat('Z') {
		return 0, true
	}
	start := p.i
	p.eat(' ')
	if !p.at('+') && !p.at('-') || p.i+2 >= len(p.text) || !digit(p.text[p.i+1]) {
		p.i = start
		return 0, false
	}
	sign := int64(1)
	if p.text[p.i] == '-' {
		sign = -1
	}
	p.i++
	value, n := p.digits()
	switch {
	case n == 2 && p.eat(':'):
		value = value*100 + max(p.number(2, 2), 0)
	case n == 2:
		value *= 100
	case n != 4:
		p.i = start
		return 0, false
	}
	return sign * (value/100*60 + value%100) * 60000, true
}

// date reads a date from its month on, and the time behind it.
func (p *scanner) date(c *clock, year int64) (ms int64, n int, zoned, ok bool) {
	month := p.number(1, 2)
	if month < 1 || month > 12 || !p.eat('-') && !p.eat('/') {
		return 0, 0, false, false
	}
	day := p.number(1, 2)
	if day < 1 || day > 31 || !p.eat('T') && !p.eat(' ') && !p.eat('t') && !p.eat('_') {
		return 0, 0, false, false
	}
	p.skip(" ")
	at, zoned, good := p.clockTime()
	ms = days(year, month, day)*dayMs + at
	if !zoned {
		ms -= c.zoneMs
	}
	return ms, p.i, zoned, good
}

// slashed reads 30/Nov/2026:04:05:06 and 26/11/30 04:05:06.
func (p *scanner) slashed(c *clock, a int64) (ms int64, n int, zoned, ok bool) {
	p.eat('/')
	var year, m, day int64
	if m = monthOf(p.text[p.i:]); m > 0 {
		p.i += 3
		p.eat('/')
		day, year = a, p.number(4, 4)
		p.skip(": ")
	} else {
		year, m = 2000+a, p.number(2, 2)
		p.eat('/')
		day = p.number(2, 2)
		p.skip(" ")
	}
	if m < 1 || m > 12 || day < 1 || day > 31 || year < 0 {
		return 0, 0, false, false
	}
	at, zoned, good := p.clockTime()
	ms = days(year, m, day)*dayMs + at
	if !zoned {
		ms -= c.zoneMs
	}
	return ms, p.i, zoned, good
}

// days counts the days from 1970 on (the proleptic Gregorian calendar).
func days(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floor(year, 400)
	ofEra := year - era*400
	ofYear := (153*(month-3)+2)/5 + day - 1
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + ofYear - 719468
}

func yearOf(ms int64) int64 {
	year := 1970 + ms/dayMs/365
	for days(year, 1, 1)*dayMs > ms {
		year--
	}
	return year
}
