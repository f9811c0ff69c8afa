package tab

import (
	"strconv"

	"grouplab/lessons"
)

// pace turns wall time into lab time.
type pace struct {
	playing bool
	// speed is lab time over wall time; the zero value leaps from event to event.
	speed lessons.Speed
	// carry is the part of a millisecond that is still owed, in 1/speed.Den ms; waited is the wall time since a leap.
	carry, waited int64
}

// leapEveryMs is how long the page rests after a leap to the next event, in wall milliseconds.
const leapEveryMs = 450

func newPace() pace { return pace{speed: lessons.Speed{Num: 1, Den: 1}} }

func (p *pace) set(s lessons.Speed) { p.speed, p.carry, p.waited = s, 0, 0 }

func (p *pace) leaps() bool { return p.speed.Den == 0 }

// labMs is how much lab time passes in wallMs.
func (p *pace) labMs(wallMs int64) int64 {
	p.carry += wallMs * p.speed.Num
	ms := p.carry / p.speed.Den
	p.carry -= ms * p.speed.Den
	return ms
}

// leapDue tells whether it is time for the next leap.
func (p *pace) leapDue(wallMs int64) bool {
	if p.waited += wallMs; p.waited < leapEveryMs {
		return false
	}
	p.waited = 0
	return true
}

// speeds are those of the transport, slow to fast; the last leaps.
func speeds() []lessons.Speed {
	return append(append([]lessons.Speed(nil), lessons.Speeds...), lessons.Speed{})
}

// setTo sets the speed that an argument names, and tells whether there is one.
func (p *pace) setTo(arg string) bool {
	want, err := strconv.ParseFloat(arg, 64)
	for _, s := range speeds() {
		if err == nil && float(s) == want {
			p.set(s)
			return true
		}
	}
	return false
}

// shift goes to the next faster or slower speed, if there is one.
func (p *pace) shift(by int) {
	all := speeds()
	for i, s := range all {
		if s == p.speed {
			p.set(all[min(max(i+by, 0), len(all)-1)])
			return
		}
	}
}

// float is the speed as the view knows it: 0 leaps.
func float(s lessons.Speed) float64 {
	if s.Den == 0 {
		return 0
	}
	return float64(s.Num) / float64(s.Den)
}
