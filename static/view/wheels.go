package view

import (
	"sort"
)

const (
	wheelCells  = 20
	wheelLevels = 5
)

// saidTimers is how many timers of a cell are named to those who do not see it.
const saidTimers = 3

// wheelTicks are the cells' widths of the five wheels that are drawn, as in Kafka's SystemTimer: 1 ms, times 20 each.
var wheelTicks = [wheelLevels]int64{1, 20, 400, 8000, 160000}

// cell is an occupied cell of a wheel.
type cell struct {
	Index  int
	Count  int
	Glyph  string
	Winner bool
	Key    string
	Says   string
}

// named is a cell's name, with the number that is drawn in it.
func (c cell) named() string {
	if c.Count > 1 {
		return num(c.Count) + ", " + c.Says
	}
	return c.Says
}

// wheel is one ruler: 20 cells, now at the left edge.
type wheel struct {
	Tick  string
	Span  string
	Cells []cell
	// Trail is the way of the timer that is selected, where it lay and where it will.
	Trail []trail
}

// wheels are the rulers, coarse first, and how many timers lie beyond the coarsest.
func (s *stage) wheels() (list []wheel, beyond int) {
	for level := wheelLevels - 1; level >= 0; level-- {
		tick := wheelTicks[level]
		list = append(list, wheel{Tick: s.round(tick), Span: s.round(tick * wheelCells)})
	}
	if s.g == nil {
		return list, 0
	}
	winner := s.winner()
	if s.asking() {
		winner = nil
	}
	for _, op := range s.g.Ops {
		if op.Level >= wheelLevels {
			beyond++
			continue
		}
		w := &list[wheelLevels-1-op.Level]
		tick := wheelTicks[op.Level]
		index := int(min(max(op.CellMs/tick-s.m.NowMs/tick, 0), wheelCells-1))
		w.put(s, index, op, op == winner)
	}
	s.addTrail(list)
	for i := range list {
		sort.Slice(list[i].Cells, func(a, b int) bool { return list[i].Cells[a].Index < list[i].Cells[b].Index })
	}
	return list, beyond
}

func (w *wheel) put(s *stage, index int, op *Op, winner bool) {
	for i := range w.Cells {
		if c := &w.Cells[i]; c.Index == index {
			c.Count++
			c.Winner = c.Winner || winner
			c.Glyph = num(c.Count)
			if c.Count <= saidTimers {
				c.Says += ", " + string(op.Type) + " " + s.under(op)
			} else if c.Count == saidTimers+1 {
				c.Says += " …"
			}
			return
		}
	}
	w.Cells = append(w.Cells, cell{Index: index, Count: 1, Glyph: opGlyph(op.Type), Winner: winner,
		Key: "op:" + num(op.Key.Broker) + ":" + num(op.Key.Op), Says: string(op.Type) + " " + s.under(op)})
}

// round prints a length of time without a decimal.
func (s *stage) round(ms int64) string {
	switch {
	case ms < 1000:
		return num(ms) + s.t("unit.ms")
	case ms < 1000000:
		return num(ms/1000) + s.t("unit.s")
	}
	return num(ms/60000) + s.t("unit.min")
}

// cellX is where a cell begins, as a fraction of the ruler.
func cellX(index int) float64 { return float64(index) / wheelCells }

// wheelSays is a ruler for those who do not see it.
func (s *stage) wheelSays(w wheel) string {
	text := s.t("wheel.says", w.Tick)
	if len(w.Cells) == 0 {
		return text + s.t("wheel.empty")
	}
	for _, c := range w.Cells {
		text += s.t("wheel.cell", num(c.Index), c.Says)
	}
	return text
}
