package view

import (
	"slices"
	"unicode/utf8"

	"grouplab/coordinator/event"
)

const (
	bandTop  = 4
	bandHigh = 20
	laneTop  = 32
	axisHigh = 18
	// charPx is the width of a character of 12 pixels. Where another font is wider, words are cut at the end of their
	// stretch.
	charPx = 6.2
)

// frame is the geometry of the space-time picture: time runs to the right, a lane a member, the group's states on top,
// the log and what was done below. The picture itself and the layer that moves with the clock share it.
type frame struct {
	Axis   Axis
	Lanes  []*Lane
	LaneH  int
	BarH   int
	LogY   int
	StillY int // where the area of partitions that stand still has its ground
	InputY int
	Height int
	px     float64
}

func (s *stage) frame() *frame {
	if s.g == nil {
		return nil
	}
	_, g := s.head()
	a := s.axis()
	f := &frame{Axis: a, Lanes: visibleLanes(g, a), BarH: 10, px: s.chartPx()}
	f.LaneH = laneHeight(len(f.Lanes))
	if f.LaneH < 17 {
		f.BarH = 8
	}
	f.StillY = laneTop + (len(f.Lanes)+1)*f.LaneH - 2
	f.LogY = laneTop + (len(f.Lanes)+1)*f.LaneH + f.LaneH/2
	f.InputY = f.LogY + f.LaneH
	f.Height = laneTop + (len(f.Lanes)+3)*f.LaneH + axisHigh
	return f
}

// laneY is the middle of a lane.
func (f *frame) laneY(i int) int { return laneTop + i*f.LaneH + f.LaneH/2 }

// below is where the drawing ends and the axis begins.
func (f *frame) below() int { return f.Height - axisHigh }

// laneHeight makes lanes lower as there are more, so that six fit without scrolling and twelve nearly do.
func laneHeight(lanes int) int {
	switch {
	case lanes <= 3:
		return 19
	case lanes <= 5:
		return 17
	}
	return 15
}

// visibleLanes are the lanes that have something within the axis.
func visibleLanes(g *Group, a Axis) []*Lane {
	var list []*Lane
	for _, l := range g.Lanes {
		if n := len(l.Spans); n > 0 && (l.Spans[n-1].ToMs == 0 || l.Spans[n-1].ToMs > a.lowMs) {
			list = append(list, l)
		}
	}
	return list
}

func (s *stage) chartPx() float64 {
	if s.o.ChartPx > 0 {
		return float64(s.o.ChartPx)
	}
	return 1148
}

// wide is how much of the width a text takes. A Chinese character, of three bytes, is as wide as two others.
func (f *frame) wide(text string) float64 {
	return float64(len(text)+utf8.RuneCountInString(text)) / 2 * charPx / f.px
}

// tick is a mark at one moment.
type tick struct {
	X    float64
	Kind string
	Text string
	End  bool // the text stands to the left of the mark
	all  string
}

// folds are the places where the axis is broken, with what they leave out.
func (s *stage) folds(f *frame) []tick {
	var list []tick
	for _, p := range f.Axis.pieces {
		if p.Folded {
			list = append(list, tick{X: (p.X0 + p.X1) / 2, Text: s.round((p.ToMs - p.FromMs + 500) / 1000 * 1000)})
		}
	}
	return list
}

// gridLines are round moments; their words are left out where those of a fold stand, or the edge is near.
func (s *stage) gridLines(f *frame) []tick {
	var list []tick
	grid := f.Axis.grid()
	tenths := slices.ContainsFunc(grid, func(at int64) bool { return at%1000 != 0 })
	for _, at := range grid {
		t := tick{X: f.Axis.X(at)}
		if text := s.axisClock(at, tenths); f.roomFor(t.X, text) {
			t.Text = text
		}
		list = append(list, t)
	}
	return list
}

// foldHalfPx is half of what the words of a fold take, and a gap.
const foldHalfPx = 20

// roomFor tells whether a text around x is whole between the edges and keeps off the words of a fold.
func (f *frame) roomFor(x float64, text string) bool {
	half := f.wide(text) / 2
	off := max(0.035, half+foldHalfPx/f.px)
	for _, p := range f.Axis.pieces {
		if at := (p.X0 + p.X1) / 2; p.Folded && x > at-off && x < at+off {
			return false
		}
	}
	return x > max(0.01, half) && x < 1-max(0.025, half)
}

// bandText says as much of a state as a stretch has room for.
func (s *stage) bandText(f *frame, st StateSpan, toMs int64, width float64) (text string, icon bool) {
	var choices []string
	switch {
	case st.State == event.Stable && st.Generation > 0:
		choices = []string{s.t("band.stable", string(st.State), num(st.Generation)), string(st.State) + " · " + s.t("band.gen", num(st.Generation))}
	case st.State == event.PreparingRebalance || st.State == event.CompletingRebalance:
		choices = []string{string(st.State) + " " + s.dur(toMs-st.FromMs)}
	}
	for _, c := range append(choices, string(st.State)) {
		if f.wide(c)+30/f.px < width {
			return c, true
		}
	}
	return "", width > 20/f.px
}

// room is how much of a stretch is there before the axis breaks.
func (a Axis) room(x, width float64) float64 {
	for _, p := range a.pieces {
		if p.Folded && p.X0 >= x && p.X0 < x+width {
			return (p.X0+p.X1)/2 - 0.006 - x
		}
	}
	return width
}

func (s *stage) gapText(g Gap) string {
	if n := g.ToSeq - g.FromSeq; n > 0 {
		return s.t("gap", num(n), s.dur(g.ToMs-g.FromMs))
	}
	return s.t("gap.unknown", s.dur(g.ToMs-g.FromMs))
}

// zigzag is the line of a broken axis; it ends above the axis' own words.
func zigzag(height int) string {
	d := "M0 0"
	for y := 12; y <= height; y += 12 {
		d += "l4 3l-8 6l4 3"
	}
	return d
}
