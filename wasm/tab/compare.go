package tab

import (
	"grouplab/static/view"
)

// comparison is a run beside the one on stage. id is the branch's, 0 for the lesson without what the learner did.
type comparison struct {
	id     int
	inputs []input
	label  string
	// headSeq is where the run on stage stood when found was made.
	headSeq int64
	found   *view.Comparison
}

// compareEvents bounds how much of a run is run again to be compared.
const compareEvents = 60_000

// compare shows two runs on one axis: a branch, or with "own" the lesson without what the learner did. The same again, or
// nothing, ends it.
func (m *lessonMode) compare(arg string) {
	var c *comparison
	switch {
	case arg == "":
	case arg == "own":
		var own []input
		for _, in := range m.head.inputs {
			if in.kind == inputNext || in.kind == inputPredict {
				own = append(own, in)
			}
		}
		if len(own) == len(m.head.inputs) {
			m.t.say("compare-own")
			return
		}
		c = &comparison{inputs: own, label: m.t.word("compare-lesson")}
	default:
		b, ok := m.branchOf(arg)
		if !ok {
			return
		}
		c = &comparison{id: b.id, inputs: b.inputs, label: m.labelOf(b.inputs, m.head.inputs)}
	}
	if c != nil && m.compared != nil && m.compared.id == c.id {
		c = nil
	}
	m.compared = c
	if c == nil {
		m.t.say("compare-over")
		return
	}
	if found := m.comparison(); found != nil {
		m.t.options.Compare = found
		m.t.out.Reveal = "compare-title"
		m.t.announce = append(m.t.announce, view.CompareSays(m.cursor.model, m.t.options))
	}
}

// comparison is what the page shows of the runs that are compared; nil where nothing is.
func (m *lessonMode) comparison() *view.Comparison {
	c := m.compared
	if c == nil {
		return nil
	}
	if c.found != nil && c.headSeq == m.head.seq() {
		return c.found
	}
	if m.pace.playing && c.found != nil {
		return c.found
	}
	c.headSeq = m.head.seq()
	_, forkMs := same(c.inputs, m.head.inputs)
	forkMs = min(forkMs, m.head.nowMs())
	other, err := m.otherRun(c, forkMs)
	if err != nil {
		m.compared = nil
		m.t.fail(err)
		return nil
	}
	untilMs := min(m.head.nowMs(), other.nowMs())
	start := m.startOf(forkMs)
	c.found = &view.Comparison{Label: c.label, ForkMs: forkMs, UntilMs: untilMs,
		This: modelOf(start, m.head, untilMs), Other: modelOf(start, other, untilMs), At: modelOf(start, m.head, forkMs-1)}
	c.found.ThisOnly, c.found.OtherOnly = differ(m.head, other, forkMs, untilMs)
	return c.found
}

// otherRun runs the other list of inputs up to the time of the run on stage.
func (m *lessonMode) otherRun(c *comparison, forkMs int64) (*head, error) {
	n, _ := same(c.inputs, m.head.inputs)
	h, err := m.head.copyAt(n, max(forkMs-1, m.head.startMs))
	if err != nil {
		return nil, err
	}
	h.inputs = c.inputs
	from, untilMs := h.seq(), m.head.nowMs()
	for h.nowMs() < untilMs && h.seq()-from < compareEvents {
		why, err := h.run(untilMs, saveEvery)
		if err != nil || why != endBudget {
			break // an input that the other run does not take, or a gate: this is as far as it goes
		}
	}
	return h, nil
}

// startOf is a picture from before a moment.
func (m *lessonMode) startOf(ms int64) picture {
	c := m.cursor
	p := c.pictures[0]
	for _, q := range append(c.pictures[1:len(c.pictures):len(c.pictures)], c.start) {
		if q.model != nil && q.model.NowMs < ms && q.seq > p.seq && q.seq+1 >= m.head.first() {
			p = q
		}
	}
	return p
}

// modelOf is the picture of a run at a moment.
func modelOf(p picture, h *head, ms int64) *view.Model {
	model := p.model.Clone()
	for seq := max(p.seq+1, h.first()); seq <= h.seq(); seq++ {
		e := h.at(seq)
		if e.AtMs > ms {
			break
		}
		model.Apply(*e)
	}
	model.SetNow(ms)
	return model
}

// differ are the facts of weight that only one of two runs has, between two moments.
func differ(a, b *head, fromMs, untilMs int64) (onlyA, onlyB []view.Mark) {
	in := func(h *head) map[string]int {
		list := map[string]int{}
		for i := range h.events {
			if e := &h.events[i]; e.AtMs >= fromMs && e.AtMs <= untilMs && weighty(e) {
				list[e.String()]++
			}
		}
		return list
	}
	only := func(h *head, other map[string]int) (marks []view.Mark) {
		for i := range h.events {
			e := &h.events[i]
			if e.AtMs < fromMs || e.AtMs > untilMs || !weighty(e) {
				continue
			}
			if other[e.String()] > 0 {
				other[e.String()]--
				continue
			}
			marks = append(marks, view.Mark{AtMs: e.AtMs, Seq: e.Seq, Text: e.Text(), Member: e.Group})
		}
		return marks
	}
	inA, inB := in(a), in(b)
	return only(a, inB), only(b, inA)
}
