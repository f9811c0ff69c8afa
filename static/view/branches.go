package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// Branch is another future that was left: from ForkMs on something else was done there, up to EndMs.
type Branch struct {
	ID, Label     string
	ForkMs, EndMs int64
	// Compared is set while it is shown beside the run on stage.
	Compared bool
}

// Comparison is a run beside the one on stage, both from the moment in which they part to the end of the shorter one.
type Comparison struct {
	Label           string
	ForkMs, UntilMs int64
	// This and Other are the pictures of both at UntilMs, At is that of the moment in which they part, and OtherAt that of the other
	// where it is another one.
	This, Other, At, OtherAt *Model
	// ThisOnly and OtherOnly are the facts of weight that only one of them has; Member is the group of each.
	ThisOnly, OtherOnly []Mark
}

// rail is a branch in the space-time picture: a thin line from where it parts to its end.
type rail struct {
	Branch
	X, W float64
	At   string
}

func (s *stage) rails() []rail {
	if s.g == nil {
		return nil
	}
	a := s.axis()
	var list []rail
	for _, b := range s.o.Branches {
		r := rail{Branch: b, X: a.X(b.ForkMs), At: s.clock(b.ForkMs)}
		r.W = max(a.X(b.EndMs)-r.X, 0.004)
		list = append(list, r)
	}
	return list
}

// compared is the picture of two runs on one axis.
type compared struct {
	Axis   Axis
	Runs   []comparedRun
	Lines  []tick
	Waits  []comparedWait
	Says   string
	px     float64
	Height int
}

// comparedRun is one of them: the group's states, and what its members waited.
type comparedRun struct {
	Name  string
	Y     int
	Bands []band
	Rows  []laneView
	Marks []tick
}

// comparedWait is one wait in both.
type comparedWait struct{ Name, This, Other, Less string }

const (
	compareBand  = 24
	compareRow   = 15
	compareLanes = 8
)

func (s *stage) compared() *compared {
	x := s.o.Compare
	if x == nil || s.g == nil {
		return nil
	}
	a, b := x.This.Groups[s.g.Name], x.Other.Groups[s.g.Name]
	if a == nil || b == nil {
		return nil
	}
	c := &compared{Axis: foldedAxis(compareMoments(x, a, b)), px: s.chartPx()}
	f := &frame{Axis: c.Axis, px: c.px}
	y := 0
	for i, g := range []*Group{a, b} {
		run := comparedRun{Name: s.t("compare.this"), Y: y}
		marks := x.ThisOnly
		if i == 1 {
			run.Name, marks = x.Label, x.OtherOnly
		}
		run.Bands = s.compareBands(f, g, x)
		y += compareBand
		for _, l := range g.Lanes {
			row := laneView{Label: l.Label, Y: y + compareRow/2}
			row.addBars(f, clipped(l, x.ForkMs, x.UntilMs))
			if waits(row.Bars) && len(run.Rows) < compareLanes {
				run.Rows = append(run.Rows, row)
				y += compareRow
			}
		}
		for _, mk := range marks {
			if mk.Member == "" || mk.Member == s.g.Name {
				run.Marks = append(run.Marks, tick{X: c.Axis.X(mk.AtMs), Text: mk.Text})
			}
		}
		c.Runs = append(c.Runs, run)
		y += 8
	}
	c.Height = y + axisHigh
	c.Lines = s.gridLines(f)
	c.Waits = s.compareWaits(x, a, b)
	c.Says = s.compareSays()
	return c
}

// clipped is a lane between two moments; what lasts ends at the second.
func clipped(l *Lane, fromMs, untilMs int64) *Lane {
	c := &Lane{Member: l.Member, Label: l.Label}
	for _, sp := range l.Spans {
		if sp.ToMs == 0 || sp.ToMs > untilMs {
			sp.ToMs = untilMs
		}
		if sp.ToMs <= fromMs {
			continue
		}
		sp.FromMs = max(sp.FromMs, fromMs)
		c.Spans = append(c.Spans, sp)
	}
	return c
}

func waits(bars []barView) bool {
	return slices.ContainsFunc(bars, func(b barView) bool { return b.Kind != SpanMember })
}

// compareMoments are the times that the common axis must not fold.
func compareMoments(x *Comparison, groups ...*Group) []int64 {
	list := []int64{x.ForkMs, x.UntilMs}
	add := func(ms int64) {
		if ms > x.ForkMs && ms < x.UntilMs {
			list = append(list, ms)
		}
	}
	for _, g := range groups {
		for _, st := range g.States {
			add(st.FromMs)
		}
		for _, l := range g.Lanes {
			for _, sp := range l.Spans {
				add(sp.FromMs)
				add(sp.ToMs)
			}
		}
	}
	for _, marks := range [][]Mark{x.ThisOnly, x.OtherOnly} {
		for _, mk := range marks {
			add(mk.AtMs)
		}
	}
	slices.Sort(list)
	return list
}

func (s *stage) compareBands(f *frame, g *Group, x *Comparison) []band {
	var list []band
	for _, st := range g.States {
		to := st.ToMs
		if to == 0 || to > x.UntilMs {
			to = x.UntilMs
		}
		if to <= x.ForkMs {
			continue
		}
		st.FromMs = max(st.FromMs, x.ForkMs)
		b := band{State: st.State, X: f.Axis.X(st.FromMs)}
		b.W = f.Axis.X(to) - b.X
		b.Text, b.Icon = s.bandText(f, st, to, f.Axis.room(b.X, b.W))
		list = append(list, b)
	}
	return list
}

// waited is how long a group rebalanced and its members waited between two moments, by name.
func (s *stage) waited(g *Group, x *Comparison) (names []string, ms map[string]int64, total int64) {
	ms = map[string]int64{}
	add := func(name string, from, to int64) {
		if to == 0 || to > x.UntilMs {
			to = x.UntilMs
		}
		if from = max(from, x.ForkMs); to <= from {
			return
		}
		if _, known := ms[name]; !known {
			names = append(names, name)
		}
		ms[name] += to - from
	}
	rebalance := s.t("compare.rebalance")
	for _, st := range g.States {
		if st.State == event.PreparingRebalance || st.State == event.CompletingRebalance {
			add(rebalance, st.FromMs, st.ToMs)
		}
	}
	for _, l := range g.Lanes {
		for _, sp := range l.Spans {
			if sp.Kind == SpanJoin || sp.Kind == SpanSync {
				add(s.t("compare.waited", name(l.Label)), sp.FromMs, sp.ToMs)
			}
		}
	}
	return names, ms, ms[rebalance]
}

func (s *stage) compareWaits(x *Comparison, a, b *Group) []comparedWait {
	names, this, _ := s.waited(a, x)
	more, other, _ := s.waited(b, x)
	for _, n := range more {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	var list []comparedWait
	for _, n := range names {
		list = append(list, comparedWait{n, s.dur(this[n]), s.dur(other[n]), s.moreOrLess(this[n] - other[n])})
	}
	lostA, lostB := x.lost(x.This, x.At, s.g.Name), x.lost(x.Other, x.otherAt(), s.g.Name)
	return append(list, comparedWait{s.t("compare.lost"), tenths(lostA), tenths(lostB), s.difference(lostA - lostB)})
}

func (x *Comparison) otherAt() *Model {
	if x.OtherAt != nil {
		return x.OtherAt
	}
	return x.At
}

// lost are the partition-milliseconds in which nobody read, since the runs parted.
func (x *Comparison) lost(m, from *Model, group string) int64 {
	g := m.Groups[group]
	if g == nil {
		return 0
	}
	if at := from.Groups[group]; at != nil {
		return g.PausedPartitionMs - at.PausedPartitionMs
	}
	return g.PausedPartitionMs
}

// tenths prints thousandths with one decimal.
func tenths(ms int64) string { return num(ms/1000) + "." + num(ms%1000/100) }

func (s *stage) moreOrLess(ms int64) string {
	switch {
	case ms < 0:
		return s.t("compare.less", s.dur(-ms))
	case ms > 0:
		return s.t("compare.more", s.dur(ms))
	}
	return s.t("compare.same")
}

func (s *stage) difference(ms int64) string {
	switch {
	case ms <= -100:
		return s.t("compare.less", tenths(-ms))
	case ms >= 100:
		return s.t("compare.more", tenths(ms))
	}
	return s.t("compare.same")
}

// compareSays sums a comparison up in one sentence.
func (s *stage) compareSays() string {
	x := s.o.Compare
	if x == nil || s.g == nil || x.This.Groups[s.g.Name] == nil || x.Other.Groups[s.g.Name] == nil {
		return s.t("compare.nothing")
	}
	_, _, this := s.waited(x.This.Groups[s.g.Name], x)
	_, _, other := s.waited(x.Other.Groups[s.g.Name], x)
	lost, lostThere := x.lost(x.This, x.At, s.g.Name), x.lost(x.Other, x.otherAt(), s.g.Name)
	return s.t("compare.says", s.dur(this), s.moreOrLess(this-other), tenths(lost), s.difference(lost-lostThere))
}

// CompareSays is the sentence of the comparison that the options hold.
func CompareSays(m *Model, o Options) string { return newStage(m, o).compareSays() }
