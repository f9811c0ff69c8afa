package loop

import "time"

// Clock is the only clock of the server's machine: the wall's milliseconds when it was made, plus what has passed since
// by the monotonic clock. So it never goes back, whatever happens to the wall.
type Clock struct{ start time.Time }

// NewClock starts a clock.
func NewClock() Clock { return Clock{start: time.Now()} }

// NowMs is the present.
func (c Clock) NowMs() int64 { return c.start.UnixMilli() + time.Since(c.start).Milliseconds() }

// alarm is the loop's one timer. atMs is when it rings, -1 where it does not.
type alarm struct {
	timer *time.Timer
	atMs  int64
}

func newAlarm() alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return alarm{t, -1}
}

// setTo makes the alarm ring at a time; below zero: never. Most turns of the loop leave it as it is.
func (a *alarm) setTo(atMs int64, clock Clock) {
	switch {
	case atMs == a.atMs:
		return
	case atMs < 0:
		a.timer.Stop()
	default:
		// A deadline counts as reached in the millisecond that it names. The clock cuts fractions off, so that millisecond
		// has begun at the latest so many milliseconds from now.
		a.timer.Reset(time.Duration(max(0, atMs-clock.NowMs())) * time.Millisecond)
	}
	a.atMs = atMs
}
