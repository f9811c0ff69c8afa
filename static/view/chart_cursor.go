package view

// now is the layer over the picture that moves with the clock: the cursor, what is expected, and a cover over what has
// not happened yet.
type now struct {
	*frame
	X float64
	// Known is where the furthest known moment stands; between X and Known the picture is dimmed, beyond it is covered.
	Known     float64
	Band      *band // the words of the state that lasts
	Lines     []tick
	Folds     []tick
	Diamonds  []diamond
	ValueText string
	// Past is the chain of causes that the viewer asked for.
	Past []pastDot
}

// diamond is a moment at which something is expected to happen.
type diamond struct {
	X, FromX float64
	Y        int
	Text     string
	Winner   bool
	Left     bool // the text stands to the left
}

func (s *stage) now() *now {
	f := s.frame()
	if f == nil {
		return nil
	}
	m, g := s.head()
	n := &now{frame: f, X: f.Axis.X(s.m.NowMs), Known: f.Axis.X(m.NowMs), Folds: s.folds(f), Lines: s.gridLines(f),
		ValueText: s.clock(s.m.NowMs) + ", " + string(s.g.State)}
	if k := len(g.States); k > 0 && g.States[k-1].ToMs == 0 {
		st := g.States[k-1]
		b := &band{State: st.State, X: f.Axis.X(st.FromMs)}
		b.W = max(n.Known-b.X, 0)
		b.Text, b.Icon = s.bandText(f, st, m.NowMs, f.Axis.room(b.X, b.W))
		n.Band = b
	}
	s.addEnds(n)
	n.Past = s.past(f)
	return n
}

// addEnds draws what is expected: the ghosts' sessions and the end of the wait.
func (s *stage) addEnds(n *now) {
	w := s.waiting()
	winner := s.winner()
	if s.asking() {
		winner = nil
	}
	for i, l := range n.Lanes {
		mb := s.g.Member(l.Member)
		if mb == nil || mb.Removed || !mb.Gone && (winner == nil || winner.Member != l.Member) {
			continue
		}
		op := s.g.SessionOp(l.Member)
		if op == nil || op.DeadlineMs <= s.m.NowMs || !mb.Gone && op != winner {
			continue
		}
		d := diamond{X: n.Axis.X(op.DeadlineMs), FromX: n.X, Y: n.laneY(i), Winner: op == winner, Text: s.t("end.mark.session", name(mb.Label))}
		if d.Winner {
			d.Text = s.t("end.mark.session.wins", name(mb.Label))
		}
		d.Left = d.X > 0.55
		n.Diamonds = append(n.Diamonds, d)
	}
	key := map[EndBy]string{EndRebalanceTimeout: "end.mark.rebalance", EndInitialDelay: "end.mark.initial", EndSyncTimeout: "end.mark.sync", EndFence: "end.mark.fence"}[w.EndBy]
	if key == "" || w.EndMs <= s.m.NowMs || s.asking() {
		return
	}
	x := n.Axis.X(w.EndMs)
	n.Diamonds = append(n.Diamonds, diamond{X: x, FromX: n.X, Y: bandTop + bandHigh/2, Winner: true, Text: s.t(key, name(w.EndMember)), Left: x-n.X > 0.3 || x > 0.7})
}

// ahead are the grid lines beyond the cursor, which its cover hides in the picture.
func (n *now) ahead() []tick {
	var list []tick
	for _, l := range n.Lines {
		if l.X > n.Known {
			list = append(list, l)
		}
	}
	return list
}
