package view

// Excerpt is a picture of one group alone between a moment of m and m's own: that moment is 0 in it, and the group's name is as.
// Two excerpts lie on one axis, whenever what they show has happened. It is nil where m has no such group.
func Excerpt(m *Model, group, as string, fromMs int64) *Model {
	g := m.Groups[group]
	if g == nil {
		return nil
	}
	shift := func(ms int64) int64 {
		if ms == 0 { // it lasts
			return 0
		}
		return max(ms-fromMs, 1)
	}
	x := NewLiveModel()
	c := &Group{Name: as, State: g.State, Generation: g.Generation, PausedPartitionMs: g.PausedPartitionMs}
	for _, st := range g.States {
		if st.ToMs == 0 || st.ToMs > fromMs {
			c.States = append(c.States, StateSpan{st.State, st.Generation, max(st.FromMs-fromMs, 0), shift(st.ToMs)})
		}
	}
	for _, l := range g.Lanes {
		lane := &Lane{Member: l.Member, Label: l.Label}
		for _, sp := range l.Spans {
			if sp.ToMs == 0 || sp.ToMs > fromMs {
				lane.Spans = append(lane.Spans, Span{Kind: sp.Kind, FromMs: max(sp.FromMs-fromMs, 0), ToMs: shift(sp.ToMs)})
			}
		}
		if len(lane.Spans) > 0 {
			c.Lanes = append(c.Lanes, lane)
		}
	}
	x.Groups[as], x.NowMs = c, m.NowMs-fromMs
	return x
}

// CompareSpans are how much of two moments can be compared, in milliseconds.
func CompareSpans() []int64 { return []int64{30_000, 2 * 60_000, 10 * 60_000, 60 * 60_000} }

// Held is a moment of a recording that is kept to be compared with another one, of the same recording or of the next.
type Held struct {
	// Name is the file's, Group the group's on stage.
	Name, Group string
	AtMs        int64
	// SpanMs is how much from each of the two moments on is compared.
	SpanMs int64
}

// heldSays names the moment.
func (s *stage) heldSays(h *Held) string {
	return s.t("rec.held", plainText(h.Group, 60), RecordingDay(h.AtMs), plainText(h.Name, 60))
}

// RecordingCompareSays is the sentence of the comparison that the options hold.
func RecordingCompareSays(m *Model, o Options) string {
	o.ext = recorded{}
	return newStage(m, o).compareSays()
}
