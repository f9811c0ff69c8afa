package view

import "grouplab/coordinator/event"

// hop is a wheel that a timer was put into, or will be: at AtMs, into the cell that begins at CellMs.
type hop struct {
	Level        int
	AtMs, CellMs int64
	Past         bool
}

// hops are the way of a timer through the wheels: what is behind it, and what lies before it if nothing cancels it.
func (s *stage) hops(op *Op) []hop {
	var list []hop
	for i := range s.m.Lines {
		e := &s.m.Lines[i]
		if e.Broker != op.Key.Broker {
			continue
		}
		switch b := e.Body.(type) {
		case event.OperationWatched:
			if b.Op == op.Key.Op {
				list = append(list[:0], hop{b.Level, e.AtMs, b.CellMs, true})
			}
		case event.TimerCascaded:
			if b.Op == op.Key.Op {
				list = append(list, hop{b.Level, e.AtMs, b.CellMs, true})
			}
		}
	}
	for level, at := op.Level, op.CellMs; level > 0 && at < op.DeadlineMs; {
		next := hop{Level: 0, AtMs: at}
		for next.Level < level-1 && op.DeadlineMs >= at/wheelTicks[next.Level]*wheelTicks[next.Level]+wheelTicks[next.Level]*wheelCells {
			next.Level++
		}
		tick := wheelTicks[next.Level]
		next.CellMs = op.DeadlineMs / tick * tick
		list = append(list, next)
		level, at = next.Level, next.CellMs
	}
	return list
}

// trail are the cells of a followed timer's way in one ruler, as places on it.
type trail struct {
	Index int
	Past  bool
}

// addTrail draws the way of the timer that is selected into the rulers.
func (s *stage) addTrail(list []wheel) {
	op := s.selectedOp()
	if op == nil {
		return
	}
	for _, h := range s.hops(op) {
		if h.Level >= wheelLevels || h.Past && h.Level == op.Level {
			continue
		}
		tick := wheelTicks[h.Level]
		index := int(min(max(h.CellMs/tick-h.AtMs/tick, 0), wheelCells-1))
		w := &list[wheelLevels-1-h.Level]
		w.Trail = append(w.Trail, trail{index, h.Past})
	}
}

// selectedOp is the operation that is selected, nil where something else is.
func (s *stage) selectedOp() *Op {
	if s.g == nil {
		return nil
	}
	for _, op := range s.g.Ops {
		if s.o.Selected == "op:"+num(op.Key.Broker)+":"+num(op.Key.Op) {
			return op
		}
	}
	return nil
}

// wayOf says a timer's way in words: "8 s → 400 ms (00:00:44.800) → … → fires (00:00:45.000)".
func (s *stage) wayOf(op *Op) string {
	text := ""
	for _, h := range s.hops(op) {
		if h.Level >= wheelLevels {
			continue
		}
		if text != "" {
			text += " → "
		}
		text += s.round(wheelTicks[h.Level]) + " (" + s.clock(h.AtMs) + ")"
	}
	if text != "" {
		text += " → " + s.t("card.fires.at", s.clock(op.DeadlineMs))
	}
	return text
}
