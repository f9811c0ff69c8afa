package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// barrier is the end of a join phase across the lanes: everybody's wait ends at one moment, that of who came last, or was given
// up.
type barrier struct {
	X           float64
	Top, Bottom int
	// LastY is the lane of who was waited for, 0 where nobody was.
	LastY int
}

// generationGap is how far apart two generations are whose numbers are both written.
const generationGap = 22

// addGeneration draws the line that a generation begins with, and the waits that end there. Who waits alone waits for nobody.
func (c *chart) addGeneration(g *Group, mk Mark, x float64) {
	line := tick{X: x, Kind: "generation"}
	if last := slices.IndexFunc(c.Lines, func(t tick) bool { return t.Text != "" && x-t.X < generationGap/c.px }); last < 0 && x < 1-generationGap/c.px {
		line.Text = num(mk.Number)
	}
	c.Lines = append(c.Lines, line)
	b := barrier{X: x}
	lastMs, waited := int64(-1), 0
	for i, l := range c.Lanes {
		for _, sp := range l.Spans {
			if sp.Kind == SpanJoin && sp.ToMs == mk.AtMs {
				if waited++; b.Top == 0 {
					b.Top = c.laneY(i) - c.LaneH/2
				}
				b.Bottom = c.laneY(i) + c.LaneH/2
				if sp.FromMs > lastMs {
					lastMs, b.LastY = sp.FromMs, c.laneY(i)
				}
			}
		}
	}
	initial := slices.ContainsFunc(g.Generations, func(x Generation) bool { return x.Seq == mk.Seq && x.Why == event.WhyFirstMember })
	if waited == 1 || initial { // only time ends an initial delay
		b.LastY = 0
	}
	for i, l := range c.Lanes { // who was given up is not among those that waited
		if slices.ContainsFunc(g.Marks, func(m Mark) bool { return m.Kind == MarkExpired && m.AtMs == mk.AtMs && m.Member == l.Member }) {
			b.LastY = c.laneY(i)
			b.Top, b.Bottom = min(b.Top, c.laneY(i)-c.LaneH/2), max(b.Bottom, c.laneY(i)+c.LaneH/2)
		}
	}
	if waited > 1 || waited == 1 && b.LastY > 0 {
		c.Barriers = append(c.Barriers, b)
	}
}
