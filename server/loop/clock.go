package loop

import "time"

// Clock is the only clock of the server's machine: the wall's milliseconds when it was made, plus what has passed since
// by the monotonic clock. So it never goes back, whatever happens to the wall.
type Clock struct{ start time.Time }

// NewClock starts a clock.
func NewClock() Clock { return Clock{start: time.Now()} }

// NowMs is the present.
func (c Clock) NowMs() int64 { return c.start.UnixMilli() + time.Since(c.start).Milliseconds() }

// alarm is the loop's one timer.
type alarm struct{ timer *time.Timer }

func newAlarm() alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return alarm{t}
}

// set makes the alarm ring in so many milliseconds; below zero: never.
func (a alarm) set(inMs int64) {
	if inMs < 0 {
		a.timer.Stop()
		return
	}
	// A deadline counts as reached in the millisecond that it names. The clock cuts fractions off, so that millisecond
	// has begun at the latest inMs from now.
	a.timer.Reset(time.Duration(inMs) * time.Millisecond)
}
