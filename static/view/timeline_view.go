package view

import (
	"grouplab/coordinator/event"
)

const (
	bandTop  = 4
	bandHigh = 20
	laneTop  = 32
	axisHigh = 18
)

// chart is the space-time picture: time runs to the right, a lane a member, the group's states on top, the log below.
type chart struct {
	Axis   Axis
	LaneH  int
	BarH   int
	Height int
	Bands  []band
	Lanes  []laneView
	LogY   int
	Appends,
	Folds, Lines []tick
	Inputs    []tick
	InputY    int
	Cursor    float64
	Future    bool // something is known beyond the cursor
	Diamonds  []diamond
	Gaps      []gapView
	ValueText string
}

// band is a stretch of one state.
type band struct {
	State  event.State
	X, W   float64
	Text   string
	Icon   bool
	Future bool
}

// laneView is one member's row.
type laneView struct {
	Label  string
	Member string
	Gone   bool
	Y      int // its middle
	Bars   []barView
	Slants []slant
	Marks  []tick
}

// barView is what a member did for a while.
type barView struct {
	Kind SpanKind
	X, W float64
}

// slant is a message between a lane and the group's band.
type slant struct {
	X      float64
	Reply  bool
	Bad    bool
	Letter string
}

// tick is a mark at one moment.
type tick struct {
	X    float64
	Kind string
	Text string
	End  bool // the text stands to the left of the mark
}

// diamond is a moment at which something is expected to happen.
type diamond struct {
	X, FromX float64
	Y        int
	Text     string
	Winner   bool
	Left     bool // the text stands to the left
}

// gapView is a piece of the stream that was missed.
type gapView struct {
	X, W float64
	Text string
}

func (s *stage) chart() *chart {
	if s.g == nil {
		return nil
	}
	m, g := s.head()
	a := s.axis()
	lanes := visibleLanes(g, a)
	c := &chart{Axis: a, LaneH: laneHeight(len(lanes)), BarH: 10, Cursor: a.X(s.m.NowMs), Future: m.NowMs > s.m.NowMs}
	if c.LaneH < 17 {
		c.BarH = 8
	}
	c.Bands = s.bands(m, g, a)
	for i, l := range lanes {
		c.Lanes = append(c.Lanes, s.laneView(m, g, a, l, laneTop+i*c.LaneH+c.LaneH/2))
	}
	c.LogY = laneTop + len(lanes)*c.LaneH + c.LaneH/2
	c.InputY = c.LogY + c.LaneH
	c.Height = laneTop + (len(lanes)+2)*c.LaneH + axisHigh
	s.chartMarks(c, g, a)
	s.chartInputs(c, m, a)
	s.chartEnds(c, a)
	for _, at := range a.grid() {
		c.Lines = append(c.Lines, tick{X: a.X(at), Text: axisClock(at)})
	}
	for _, p := range a.pieces {
		if p.Folded {
			c.Folds = append(c.Folds, tick{X: (p.X0 + p.X1) / 2, Text: s.round((p.ToMs - p.FromMs + 500) / 1000 * 1000)})
		}
	}
	for _, gap := range m.Gaps {
		if gap.ToMs > a.lowMs {
			x := a.X(gap.FromMs)
			c.Gaps = append(c.Gaps, gapView{X: x, W: max(a.X(gap.ToMs)-x, 0.004), Text: s.gapText(gap)})
		}
	}
	c.ValueText = event.Clock(s.m.NowMs) + ", " + string(s.g.State)
	return c
}

// laneHeight makes lanes lower as there are more, so that six fit without scrolling and twelve nearly do.
func laneHeight(lanes int) int {
	switch {
	case lanes <= 3:
		return 22
	case lanes <= 5:
		return 19
	case lanes <= 8:
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

func (s *stage) bands(m *Model, g *Group, a Axis) []band {
	var list []band
	for _, st := range g.States {
		to := st.ToMs
		if to == 0 {
			to = m.NowMs
		}
		if to < a.lowMs {
			continue
		}
		b := band{State: st.State, X: a.X(st.FromMs), Future: st.FromMs > s.m.NowMs}
		b.W = a.X(to) - b.X
		b.Text, b.Icon = s.bandText(st, to, a.room(b.X, b.W))
		list = append(list, b)
	}
	return list
}

// bandText says as much of a state as its stretch has room for.
func (s *stage) bandText(st StateSpan, toMs int64, width float64) (string, bool) {
	long := string(st.State)
	switch {
	case st.State == event.Stable && st.Generation > 0:
		long = s.t("band.stable", string(st.State), num(st.Generation))
	case st.State == event.PreparingRebalance || st.State == event.CompletingRebalance:
		long = string(st.State) + " " + s.dur(toMs-st.FromMs)
	}
	mid := string(st.State) + " · " + s.t("band.gen", num(st.Generation))
	fits := func(text string) bool { return (float64(len([]rune(text)))*charPx+30)/s.chartPx() < width }
	switch {
	case fits(long):
		return long, true
	case st.State == event.Stable && st.Generation > 0 && fits(mid):
		return mid, true
	case fits(string(st.State)):
		return string(st.State), true
	}
	return "", width > 0.018
}

func (s *stage) laneView(m *Model, g *Group, a Axis, l *Lane, y int) laneView {
	v := laneView{Label: l.Label, Member: l.Member, Y: y}
	for _, sp := range l.Spans {
		to := sp.ToMs
		if to == 0 {
			to = m.NowMs
		}
		if to < a.lowMs {
			continue
		}
		if sp.Kind == SpanGhost && sp.ToMs == 0 {
			v.Gone = sp.FromMs <= s.m.NowMs
		}
		x := a.X(sp.FromMs)
		v.Bars = append(v.Bars, barView{Kind: sp.Kind, X: x, W: max(a.X(to)-x, 0.0015)})
	}
	for _, mk := range g.Marks {
		if l.Has(mk.Member) && mk.AtMs >= a.lowMs && mk.Kind != MarkAppend {
			v.Marks = append(v.Marks, tick{X: a.X(mk.AtMs), Kind: string(mk.Kind)})
		}
	}
	last := map[bool]float64{true: -1, false: -1}
	for _, msg := range g.Messages {
		x := a.X(msg.FromMs)
		if !l.Has(msg.Member) || msg.FromMs < a.lowMs || x-last[msg.Reply] < 0.003 {
			continue
		}
		last[msg.Reply] = x
		v.Slants = append(v.Slants, slant{X: x, Reply: msg.Reply, Bad: msg.Code != 0, Letter: apiLetter(msg.API)})
	}
	return v
}

func (s *stage) chartMarks(c *chart, g *Group, a Axis) {
	lastX := -1.0
	for _, mk := range g.Marks {
		if mk.AtMs < a.lowMs {
			continue
		}
		x := a.X(mk.AtMs)
		switch mk.Kind {
		case MarkAppend:
			if x-lastX > 0.002 {
				c.Appends = append(c.Appends, tick{X: x, Kind: mk.Text})
				lastX = x
			}
		case MarkGeneration:
			c.Lines = append(c.Lines, tick{X: x, Kind: "generation", Text: num(mk.Number)})
		case MarkFailover:
			c.Lines = append(c.Lines, tick{X: x, Kind: "failover"})
		}
	}
}

// chartInputs marks what was done to the world.
func (s *stage) chartInputs(c *chart, m *Model, a Axis) {
	for _, mk := range m.Inputs {
		if mk.AtMs < a.lowMs {
			continue
		}
		t := tick{X: a.X(mk.AtMs), Kind: "input", Text: plainText(mk.Text, 28)}
		t.End = t.X+(float64(len([]rune(t.Text)))*charPx+10)/s.chartPx() > 1
		c.addInput(t, s.chartPx())
	}
}

// charPx is the width of a character of 12 pixels. Where another font is wider, words are cut at the end of their stretch.
const charPx = 6.2

func (s *stage) chartPx() float64 {
	if s.o.ChartPx > 0 {
		return float64(s.o.ChartPx)
	}
	return 1148
}

// addInput adds what somebody did. Where the words of the one before would run into it, they go to its left side, and
// away where there is no room either.
func (c *chart) addInput(t tick, px float64) {
	wide := func(text string) float64 { return float64(len([]rune(text))) * charPx / px }
	if k := len(c.Inputs); k > 0 {
		last := &c.Inputs[k-1]
		if t.X-last.X < 16/px+wide(last.Text) {
			last.End = true
			if k > 1 && !c.Inputs[k-2].End && last.X-c.Inputs[k-2].X < 24/px+wide(last.Text)+wide(c.Inputs[k-2].Text) {
				last.Text = ""
			}
		}
	}
	c.Inputs = append(c.Inputs, t)
}

// chartEnds draws what is expected: the ghosts' sessions and the end of the wait.
func (s *stage) chartEnds(c *chart, a Axis) {
	w := s.m.Waiting(s.g.Name)
	now := a.X(s.m.NowMs)
	for _, l := range c.Lanes {
		mb := s.g.Member(l.Member)
		if mb == nil || mb.Removed {
			continue
		}
		op := s.g.SessionOp(l.Member)
		winner := op != nil && op == s.winner(w)
		if op == nil || op.DeadlineMs <= s.m.NowMs || !mb.Gone && !winner {
			continue
		}
		d := diamond{X: a.X(op.DeadlineMs), FromX: now, Y: l.Y, Winner: winner, Text: s.t("end.mark.session", name(mb.Label))}
		if mb.Gone {
			d.FromX = a.X(mb.GoneMs)
		}
		if winner {
			d.Text = s.t("end.mark.session.wins", name(mb.Label))
		}
		d.Left = d.X > 0.55
		c.Diamonds = append(c.Diamonds, d)
	}
	key := map[EndBy]string{EndRebalanceTimeout: "end.mark.rebalance", EndInitialDelay: "end.mark.initial", EndSyncTimeout: "end.mark.sync", EndFence: "end.mark.fence"}[w.EndBy]
	if key == "" || w.EndMs <= s.m.NowMs {
		return
	}
	x := a.X(w.EndMs)
	c.Diamonds = append(c.Diamonds, diamond{X: x, FromX: now, Y: bandTop + bandHigh/2, Winner: true, Text: s.t(key, name(w.EndMember)), Left: x-now > 0.3 || x > 0.7})
}

func (s *stage) gapText(g Gap) string {
	if n := g.ToSeq - g.FromSeq; n > 0 {
		return s.t("gap", num(n), s.dur(g.ToMs-g.FromMs))
	}
	return s.t("gap.unknown", s.dur(g.ToMs-g.FromMs))
}

// zigzag is the line of a broken axis.
func zigzag(height int) string {
	d := "M0 0"
	for y := 0; y < height; y += 12 {
		d += "l4 3l-8 6l4 3"
	}
	return d
}

func tickPath(y int) string { return "M0 " + num(y-6) + "v12" }

// slantPath leads from one height to another with a little time between, since a message is never there at once.
func slantPath(from, to int) string { return "M-4 " + num(from) + "L4 " + num(to) }

// roomFor tells whether a grid line's text fits: not at the edges and not upon that of a fold.
func (c *chart) roomFor(x float64) bool {
	for _, f := range c.Folds {
		if x > f.X-0.035 && x < f.X+0.035 {
			return false
		}
	}
	return x > 0.01 && x < 0.975
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
