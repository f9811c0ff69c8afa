package view

import (
	"sort"
	"strconv"
)

const (
	foldFromMs = 12000 // idle stretches longer than this are folded
	foldKeepMs = 2000  // what stays visible at both ends of a fold
	foldWidth  = 0.03  // what a folded stretch takes of the width
	axisMostMs = 24000
)

// Axis maps time to the width of the timeline. Long stretches in which nothing happened are folded, so that a request of
// two milliseconds and a wait of five minutes share one picture.
type Axis struct {
	pieces []piece
	lowMs  int64
	highMs int64
}

// piece is a stretch of time at one scale.
type piece struct {
	FromMs, ToMs int64
	X0, X1       float64
	Folded       bool
}

// TimelineAxis is the axis of the timeline that Parts draws for the same arguments.
func TimelineAxis(m *Model, o Options) Axis { return newStage(m, o).axis() }

// X is where a moment stands, from 0 to 1; moments outside of the axis stand at its ends.
func (a Axis) X(ms int64) float64 {
	for _, p := range a.pieces {
		if ms < p.FromMs {
			return p.X0
		}
		if ms <= p.ToMs && p.ToMs > p.FromMs {
			return p.X0 + (p.X1-p.X0)*float64(ms-p.FromMs)/float64(p.ToMs-p.FromMs)
		}
	}
	return 1
}

// At is the moment at a fraction of the width.
func (a Axis) At(fraction float64) int64 {
	for _, p := range a.pieces {
		if fraction <= p.X1 && p.X1 > p.X0 {
			return p.FromMs + int64(max(fraction-p.X0, 0)/(p.X1-p.X0)*float64(p.ToMs-p.FromMs)+0.5)
		}
	}
	return a.highMs
}

// head is the furthest moment that is known, and the group on stage in it.
func (s *stage) head() (*Model, *Group) {
	if h := s.o.Head; h != nil && s.g != nil && h.NowMs >= s.m.NowMs {
		if g := h.Groups[s.g.Name]; g != nil {
			return h, g
		}
	}
	return s.m, s.g
}

func (s *stage) axis() Axis {
	if s.ruler == nil {
		a := s.makeAxis()
		s.ruler = &a
	}
	return *s.ruler
}

func (s *stage) makeAxis() Axis {
	m, g := s.head()
	if g == nil {
		return plainAxis(0, max(m.NowMs, 1000))
	}
	moments := s.moments(m, g)
	low := s.axisStart(g, moments)
	kept := moments[:0:0]
	for _, at := range moments {
		if at >= low {
			kept = append(kept, at)
		}
	}
	return foldedAxis(kept)
}

// moments are the times at which something happened that must not be folded, ascending.
func (s *stage) moments(m *Model, g *Group) []int64 {
	list := append(around(m.NowMs, g), around(s.m.NowMs, g)...)
	for _, st := range g.States {
		list = append(list, st.FromMs)
	}
	for _, l := range g.Lanes {
		for _, sp := range l.Spans {
			list = append(list, sp.FromMs)
			if sp.ToMs != 0 {
				list = append(list, sp.ToMs)
			}
		}
	}
	for _, mk := range g.Marks {
		if mk.Kind != MarkAppend {
			list = append(list, mk.AtMs)
		}
	}
	for _, mk := range m.Inputs {
		list = append(list, mk.AtMs)
	}
	if w := s.waiting(); w.EndMs > s.m.NowMs && w.EndMs < s.m.NowMs+600000 {
		list = append(list, w.EndMs)
	}
	for _, mb := range s.g.Present() {
		if !mb.Gone {
			continue
		}
		if op := s.g.SessionOp(mb.ID); op != nil && op.DeadlineMs > s.m.NowMs {
			list = append(list, op.DeadlineMs)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	return list
}

// around are the round moments before and after a moment. The axis is made of these instead of now itself, so that it
// stands still while the cursor moves over it.
func around(ms int64, g *Group) []int64 {
	step := int64(2000)
	if len(g.States) > 0 && ms-g.States[0].FromMs < 8000 {
		step = 500
	}
	low := ms / step * step
	return []int64{low, low + step}
}

// axisStart leaves the oldest generations out once the rest would be too dense; what is before the cursor by one
// generation always stays.
func (s *stage) axisStart(g *Group, moments []int64) int64 {
	low := moments[0]
	if len(g.States) > 0 {
		low = min(max(g.States[0].FromMs, low), s.m.NowMs)
	}
	for _, gen := range g.Generations {
		if gen.StartMs > s.m.NowMs || s.shown(moments, low) <= axisMostMs {
			break
		}
		low = max(low, gen.StartMs-foldKeepMs)
	}
	return low
}

// shown is how much time an axis from low on would show unfolded.
func (s *stage) shown(moments []int64, low int64) int64 {
	var total int64
	last := int64(-1)
	for _, at := range moments {
		if at < low {
			continue
		}
		if last >= 0 {
			if gap := at - last; gap > foldFromMs {
				total += 2 * foldKeepMs
			} else {
				total += gap
			}
		}
		last = at
	}
	return total
}

// key names the axis: two with the same key are alike.
func (a Axis) key() string {
	b := make([]byte, 0, 64)
	for _, p := range a.pieces {
		b = strconv.AppendInt(strconv.AppendInt(append(b, ' '), p.FromMs, 36), p.ToMs, 36)
	}
	return string(b)
}

func plainAxis(from, to int64) Axis {
	return Axis{pieces: []piece{{FromMs: from, ToMs: to, X0: 0, X1: 1}}, lowMs: from, highMs: to}
}

// foldedAxis shares the width among the stretches between moments.
func foldedAxis(moments []int64) Axis {
	low, high := moments[0], moments[len(moments)-1]
	if high-low < 1000 {
		high = low + 1000
	}
	var pieces []piece
	from := low
	for i := 1; i < len(moments); i++ {
		if moments[i]-moments[i-1] > foldFromMs {
			a, b := moments[i-1]+foldKeepMs, moments[i]-foldKeepMs
			pieces = append(pieces, piece{FromMs: from, ToMs: a}, piece{FromMs: a, ToMs: b, Folded: true})
			from = b
		}
	}
	pieces = append(pieces, piece{FromMs: from, ToMs: high})
	var open int64
	folds := 0
	for _, p := range pieces {
		if p.Folded {
			folds++
		} else {
			open += p.ToMs - p.FromMs
		}
	}
	// A margin to the right, so that the cursor does not stick to the edge.
	margin := open/24 + 1
	pieces[len(pieces)-1].ToMs += margin
	open += margin
	width := min(foldWidth, 0.4/float64(max(folds, 1)))
	scale := (1 - width*float64(folds)) / float64(open)
	x := 0.0
	for i := range pieces {
		p := &pieces[i]
		p.X0 = x
		if p.Folded {
			x += width
		} else {
			x += scale * float64(p.ToMs-p.FromMs)
		}
		p.X1 = x
	}
	pieces[len(pieces)-1].X1 = 1
	return Axis{pieces: pieces, lowMs: low, highMs: high + margin}
}

// gridStep is a round distance of grid lines for a visible length of time.
func gridStep(visibleMs int64) int64 {
	for _, step := range []int64{100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 300000, 600000, 3600000} {
		if visibleMs/step <= 12 {
			return step
		}
	}
	return 6 * 3600000
}

// grid are round moments within the open stretches of an axis.
func (a Axis) grid() []int64 {
	var open int64
	for _, p := range a.pieces {
		if !p.Folded {
			open += p.ToMs - p.FromMs
		}
	}
	step := gridStep(open)
	var list []int64
	for _, p := range a.pieces {
		if p.Folded {
			continue
		}
		for at := (p.FromMs + step - 1) / step * step; at <= p.ToMs; at += step {
			list = append(list, at)
		}
	}
	return list
}

// axisClock prints a moment for a grid line: minutes and seconds, with tenths where the grid is fine; the hours too where
// the clock is that of the day.
func (s *stage) axisClock(ms int64, tenths bool) string {
	c := s.clock(ms)
	if tenths {
		c = c[:len(c)-2]
	} else {
		c = c[:len(c)-4]
	}
	if ms < 3600000 {
		c = c[3:]
	}
	return c
}
