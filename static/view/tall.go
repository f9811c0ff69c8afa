package view

import (
	"slices"
	"strings"
)

const (
	tallHigh = 460
	tallTop  = 26
)

// tallX is the middle of a lane's column on a narrow screen, where time runs down: the group and the times take
// the left part.
func tallX(i, lanes int) float64 {
	return 0.43 + (float64(i)+0.5)*0.57/float64(lanes+1)
}

// tallWide is the width of the picture: the whole width, or more where there are many lanes; it scrolls by itself then.
func tallWide(lanes int) string {
	if lanes <= 5 {
		return "100%"
	}
	return num(150 + lanes*48)
}

func tallY(x float64) string { return px(float64(int((tallTop+x*(tallHigh-tallTop))*10)) / 10) }

func tallH(w float64) string { return px(float64(int(max(w*(tallHigh-tallTop), 1.5)*10)) / 10) }

// tallState is a state's name where a narrow column has room for it.
func tallState(b band) string {
	if len(b.State) > 12 {
		return strings.TrimSuffix(string(b.State), "Rebalance") + "…"
	}
	return string(b.State)
}

// until is how much of a stretch has happened by what is known.
func (n *now) until(x, width float64) float64 { return max(min(width, n.Known-x), 0) }

// saidOver tells whether the line of now goes where the words of a grid line would stand, or the words of an expected end do.
func (n *now) saidOver(x float64) bool {
	if over := (n.X - x) * (tallHigh - tallTop); over > -8 && over < 8 {
		return true
	}
	return slices.ContainsFunc(n.Diamonds, func(d diamond) bool {
		above := (d.X - x) * (tallHigh - tallTop)
		return above > 1 && above < 33
	})
}

// tallLane is the column of an expected end.
func (n *now) tallLane(d diamond) float64 {
	for i := range n.Lanes {
		if n.laneY(i) == d.Y {
			return tallX(i, len(n.Lanes))
		}
	}
	return 0.15
}
