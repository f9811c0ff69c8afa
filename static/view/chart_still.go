package view

// stillView is a stretch in which so many partitions stood still: what is under all of them is the time that was lost.
type stillView struct {
	X, W float64
	High int // pixels
}

// addStill draws how many partitions stood still, in steps; the most of them are as high as the row.
func (c *chart) addStill(g *Group) {
	most := 0
	for _, p := range g.Pauses {
		most = max(most, p.Count)
	}
	for i, p := range g.Pauses {
		x2 := 1.0
		if i+1 < len(g.Pauses) {
			if g.Pauses[i+1].AtMs <= max(p.AtMs, c.Axis.lowMs) {
				continue
			}
			x2 = c.Axis.X(g.Pauses[i+1].AtMs)
		}
		if p.Count > 0 {
			x := c.Axis.X(max(p.AtMs, c.Axis.lowMs))
			c.Still = append(c.Still, stillView{X: x, W: max(x2-x, leastX/2), High: max((c.LaneH-5)*p.Count/most, 2)})
		}
	}
}
