package view

import "grouplab/coordinator/event"

// chart is what only a fact can change in the space-time picture. What is not over yet runs on to the right edge; the
// cursor's layer covers what has not happened.
type chart struct {
	*frame
	Bands   []band
	Rows    []laneView
	Appends []tick
	Inputs  []tick
	Lines   []tick // generations and failovers
	// Still are the stretches in which partitions stood still.
	Still []stillView
	// Barriers are where join phases ended.
	Barriers []barrier
	Gaps     []gapView
}

// band is a stretch of one state.
type band struct {
	State event.State
	X, W  float64
	Text  string
	Icon  bool
	Open  bool // it has no end yet: its words are the cursor's
}

// laneView is one member's row.
type laneView struct {
	Label  string
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
	X          float64
	Reply, Bad bool
}

// gapView is a piece of the stream that was missed.
type gapView struct {
	X, W float64
	Text string
}

// leastX is the least distance at which two marks of a kind are both drawn.
const leastX = 0.002

func (s *stage) chart() *chart {
	f := s.frame()
	if f == nil {
		return nil
	}
	m, g := s.head()
	c := &chart{frame: f, Bands: s.bands(f, m, g)}
	rows := map[string]*laneView{}
	c.Rows = make([]laneView, len(f.Lanes))
	for i, l := range f.Lanes {
		c.Rows[i] = laneView{Label: l.Label, Y: f.laneY(i)}
		if mb := s.g.Member(l.Member); mb != nil {
			c.Rows[i].Gone = mb.Gone && !mb.Removed
		}
		c.Rows[i].addBars(f, l)
		rows[l.Member] = &c.Rows[i]
	}
	c.addMarks(g, rows)
	c.addMessages(g, rows)
	c.addInputs(m)
	c.addStill(g)
	for _, gap := range m.Gaps {
		if gap.ToMs > f.Axis.lowMs {
			x := f.Axis.X(gap.FromMs)
			c.Gaps = append(c.Gaps, gapView{X: x, W: max(f.Axis.X(gap.ToMs)-x, 0.004), Text: s.gapText(gap)})
		}
	}
	return c
}

func (s *stage) bands(f *frame, m *Model, g *Group) []band {
	var list []band
	for _, st := range g.States {
		b := band{State: st.State, X: f.Axis.X(st.FromMs), Open: st.ToMs == 0}
		if !b.Open && st.ToMs < f.Axis.lowMs {
			continue
		}
		b.W = 1.01 - b.X // its right edge is out of sight
		if !b.Open {
			b.W = f.Axis.X(st.ToMs) - b.X
			b.Text, b.Icon = s.bandText(f, st, st.ToMs, f.Axis.room(b.X, b.W))
		}
		list = append(list, b)
	}
	return list
}

func (v *laneView) addBars(f *frame, l *Lane) {
	for _, sp := range l.Spans {
		x2 := 1.0
		if sp.ToMs != 0 {
			if sp.ToMs < f.Axis.lowMs {
				continue
			}
			x2 = f.Axis.X(sp.ToMs)
		}
		b := barView{Kind: sp.Kind, X: f.Axis.X(sp.FromMs)}
		b.W = x2 - b.X
		if n := len(v.Bars); n > 0 && b.W < leastX {
			// Too short to be seen: the one before takes its place.
			v.Bars[n-1].W = b.X + b.W - v.Bars[n-1].X
			continue
		} else if n > 0 && v.Bars[n-1].Kind == b.Kind && b.X-v.Bars[n-1].X-v.Bars[n-1].W < leastX {
			v.Bars[n-1].W = b.X + b.W - v.Bars[n-1].X
			continue
		}
		v.Bars = append(v.Bars, b)
	}
}

func (c *chart) addMarks(g *Group, rows map[string]*laneView) {
	last := -1.0
	for _, mk := range g.Marks {
		if mk.AtMs < c.Axis.lowMs {
			continue
		}
		x := c.Axis.X(mk.AtMs)
		switch mk.Kind {
		case MarkAppend:
			if x-last > leastX {
				c.Appends = append(c.Appends, tick{X: x, Kind: mk.Text})
				last = x
			}
		case MarkGeneration:
			c.addGeneration(g, mk, x)
		case MarkFailover:
			c.Lines = append(c.Lines, tick{X: x, Kind: "failover"})
		case MarkKill, MarkExpired, MarkRefused:
			if row := rows[mk.Member]; row != nil {
				row.Marks = append(row.Marks, tick{X: x, Kind: string(mk.Kind)})
			}
		}
	}
}

func (c *chart) addMessages(g *Group, rows map[string]*laneView) {
	for _, msg := range g.Messages {
		row := rows[msg.Member]
		if row == nil || msg.FromMs < c.Axis.lowMs {
			continue
		}
		sl := slant{X: c.Axis.X(msg.FromMs), Reply: msg.Reply, Bad: msg.Code != 0}
		near := false
		for i := len(row.Slants) - 1; i >= 0 && sl.X-row.Slants[i].X < 0.003; i-- {
			near = near || row.Slants[i].Reply == sl.Reply
		}
		if !near {
			row.Slants = append(row.Slants, sl)
		}
	}
}

// addInputs marks what was done to the world. Where the words of one would run into those of the one before, the older go
// to the left side of their mark, and away where there is no room either.
func (c *chart) addInputs(m *Model) {
	for _, mk := range m.Inputs {
		if mk.AtMs < c.Axis.lowMs {
			continue
		}
		t := tick{X: c.Axis.X(mk.AtMs), Text: plainText(mk.Text, inputText)}
		if k := len(c.Inputs); k > 0 && t.X-c.Inputs[k-1].X < togetherPx/c.px { // one flag for what is done at one moment
			t.X, t.Text = c.Inputs[k-1].X, cut(c.Inputs[k-1].all+" · "+t.Text, 3*inputText)
			c.Inputs = c.Inputs[:k-1]
		}
		t.all = t.Text
		t.End = t.X+c.wide(t.Text)+10/c.px > 1
		if t.End {
			c.clearFor(t)
		}
		if k := len(c.Inputs); k > 0 && !t.End {
			last := &c.Inputs[k-1]
			if t.X-last.X < 16/c.px+c.wide(last.Text) {
				last.End = true
				free := 0.0
				if k > 1 {
					free = c.Inputs[k-2].X + 14/c.px
					if !c.Inputs[k-2].End {
						free += c.wide(c.Inputs[k-2].Text)
					}
				}
				if last.X-c.wide(last.Text)-10/c.px < free {
					last.Text = ""
				}
			}
		}
		c.Inputs = append(c.Inputs, t)
	}
}

// inputText is how many letters of one input are drawn.
const inputText = 28

// togetherPx is how near two marks are that share a flag.
const togetherPx = 22

// clearFor takes away the words that would stand where those of a mark near the right edge do, to its left.
func (c *chart) clearFor(t tick) {
	left := t.X - c.wide(t.Text) - 14/c.px
	for k := len(c.Inputs) - 1; k >= 0; k-- {
		last := &c.Inputs[k]
		right := last.X
		if !last.End {
			right += 9/c.px + c.wide(last.Text)
		}
		if right > left {
			last.Text = ""
		}
	}
}

// pictureKey names everything that the picture depends on: facts, choices and the axis.
func (s *stage) pictureKey() memoKey {
	k := s.still("timeline")
	if s.g != nil {
		k.axis = s.axis().key()
	}
	return k
}
