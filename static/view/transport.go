package view

import (
	"strconv"

	"grouplab/coordinator/event"
)

// wallFromMs is where times are taken for milliseconds since 1970 rather than since the start of a lab.
const wallFromMs = 100 * 365 * 86400000 / 10

// clock prints a moment: the lab's own time, or the time of day (UTC) of a running cluster.
func (s *stage) clock(ms int64) string {
	if ms >= wallFromMs {
		return event.Clock(ms % 86400000)
	}
	return event.Clock(ms)
}

// zone says which clock is shown.
func (s *stage) zone() string {
	if s.m.NowMs >= wallFromMs {
		return "UTC"
	}
	return ""
}

// speedIndex is the place of the chosen speed among Speeds; the nearest where it is none of them.
func (s *stage) speedIndex() int {
	for i, v := range Speeds {
		if v == s.o.Speed {
			return i
		}
	}
	return 3
}

// speedName says a speed: "1/10 ×", "10 ×", "next event".
func (s *stage) speedName(v float64) string {
	switch {
	case v == 0:
		return s.t("speed.next")
	case v < 1:
		return "1/" + strconv.Itoa(int(1/v+0.5)) + " ×"
	}
	return strconv.Itoa(int(v)) + " ×"
}

// speedAt is the action that chooses the speed that lies by steps from the current one.
func (s *stage) speedAt(by int) string {
	i := min(max(s.speedIndex()+by, 0), len(Speeds)-1)
	return "speed:" + strconv.FormatFloat(Speeds[i], 'f', -1, 64)
}

// pausedSeconds is the sum of partition-seconds in which nobody worked.
func (s *stage) pausedSeconds() string {
	if s.g == nil {
		return "0"
	}
	tenths := s.g.PausedPartitionMs / 100
	return num(tenths/10) + "." + num(tenths%10)
}

// pausedSince says from when on it is counted: a live page knows what happened while it looked; the hours before are the strip's.
func (s *stage) pausedSince() string {
	if s.o.Mode == ModeLive {
		return s.t("paused.since")
	}
	return s.t("paused.so.far")
}

// lastFact is the newest fact of the transcript, nil where there is none.
func (s *stage) lastFact() *event.Event {
	if n := len(s.m.Lines); n > 0 {
		return &s.m.Lines[n-1]
	}
	return nil
}

// frozen tells whether the viewer stopped the live picture.
func (s *stage) frozen() bool { return s.o.Live != nil && s.o.Live.Frozen }
