package tab

import (
	"slices"
	"strconv"

	"grouplab/static/view"
)

// branch is a run that was left: another future from some moment on. Its inputs are the whole truth about it, so that is
// all that is kept of it.
type branch struct {
	id int
	past
	endMs int64
}

// maxBranches bounds the branches that are kept; the oldest goes first.
const maxBranches = 24

// leave keeps the run as a branch before it is left, where it has a future that the page would otherwise forget.
func (m *lessonMode) leave() {
	now := m.present()
	m.branches = slices.DeleteFunc(m.branches, func(b branch) bool { return slices.Equal(b.inputs, now.inputs) && b.headSeq <= now.headSeq })
	if len(m.branches) == maxBranches {
		m.branches = slices.Delete(m.branches, 0, 1)
	}
	m.branchIDs++
	m.branches = append(m.branches, branch{m.branchIDs, now, m.head.nowMs()})
}

// arrive drops the branches that are nothing but the run itself, or the beginning of it.
func (m *lessonMode) arrive() {
	m.branches = slices.DeleteFunc(m.branches, func(b branch) bool {
		return len(b.inputs) <= len(m.head.inputs) && slices.Equal(b.inputs, m.head.inputs[:len(b.inputs)]) && b.headSeq <= m.head.seq() &&
			(len(b.inputs) == len(m.head.inputs) || m.head.inputs[len(b.inputs)].atMs >= b.endMs)
	})
}

// same is how many inputs two runs have in common, and when they part: at the first input that only one of them has.
func same(a, b []input) (n int, forkMs int64) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	forkMs = forever
	for _, list := range [][]input{a, b} {
		if n < len(list) {
			forkMs = min(forkMs, list[n].atMs)
		}
	}
	return n, forkMs
}

// branchHere begins a new future at the cursor: what comes later stays as a branch. At the end of the run there is nothing
// to leave.
func (m *lessonMode) branchHere() {
	if m.cursor.atHead() || m.cursor.seq < m.head.startSeq {
		m.t.say("branch-head")
		return
	}
	m.leave()
	m.remember(m.present())
	if err := m.head.fork(m.cursor.applied(), m.cursor.seq, m.cursor.nowMs); err != nil {
		m.t.fail(err)
		return
	}
	m.cursor.cut(m.cursor.seq)
	m.cursor.toHead()
	m.t.options.Why = 0
	m.t.say("branched")
}

// branchOf finds a branch by its number.
func (m *lessonMode) branchOf(arg string) (branch, bool) {
	id, _ := number(arg)
	for _, b := range m.branches {
		if int64(b.id) == id {
			return b, true
		}
	}
	m.t.say("branch-gone")
	return branch{}, false
}

// goTo makes a branch the run; the run that is left becomes a branch.
func (m *lessonMode) goTo(arg string) {
	b, ok := m.branchOf(arg)
	if !ok {
		return
	}
	was := m.present()
	m.leave()
	m.remember(was)
	m.branches = slices.DeleteFunc(m.branches, func(o branch) bool { return o.id == b.id })
	m.compared = nil
	m.restore(b.past)
	m.t.say("branch-went", m.labelOf(b.inputs, was.inputs))
}

// cutBranch forgets a branch.
func (m *lessonMode) cutBranch(arg string) {
	b, ok := m.branchOf(arg)
	if !ok {
		return
	}
	m.branches = slices.DeleteFunc(m.branches, func(o branch) bool { return o.id == b.id })
	if m.compared != nil && m.compared.id == b.id {
		m.compared = nil
	}
	m.t.say("branch-cut")
}

// onlyAnswered tells whether nothing has happened since a run but that questions were answered: no future is lost with it.
func (m *lessonMode) onlyAnswered(was past) bool {
	n, _ := same(m.head.inputs, was.inputs)
	return n == len(was.inputs) && m.head.seq() == was.headSeq &&
		!slices.ContainsFunc(m.head.inputs[n:], func(in input) bool { return in.kind != inputPredict })
}

// labelOf says what was done differently in a run, compared with another.
func (m *lessonMode) labelOf(inputs, other []input) string {
	n, _ := same(inputs, other)
	if n < len(inputs) {
		return m.inputWords(inputs, n)
	}
	if n < len(other) {
		return m.t.word("branch-without", m.inputWords(other, n))
	}
	return m.t.word("branch-same")
}

// inputWords says the nth input of a run.
func (m *lessonMode) inputWords(inputs []input, n int) string {
	t, in := m.t, inputs[n]
	switch in.kind {
	case inputNext:
		return t.word("input-next")
	case inputPredict:
		if in.arg == "" {
			return t.word("input-look")
		}
		return t.word("input-answer", m.answerWords(inputs[:n], in.arg))
	case inputTake:
		return t.word("input-take")
	}
	return in.arg
}

// answerWords is an answer as its question words it; each step before it was left with `next`.
func (m *lessonMode) answerWords(before []input, id string) string {
	step := 0
	for _, in := range before {
		if in.kind == inputNext {
			step++
		}
	}
	if step < len(m.page.Steps) && m.page.Steps[step].Question != nil {
		for _, o := range m.page.Steps[step].Question.Options {
			if o.ID == id {
				return plain(o.Text.In(m.t.options.Lang))
			}
		}
	}
	return id
}

// rails are the branches as the page draws them, the newest first.
func (m *lessonMode) rails() []view.Branch {
	var list []view.Branch
	for i := len(m.branches) - 1; i >= 0; i-- {
		b := m.branches[i]
		_, forkMs := same(b.inputs, m.head.inputs)
		if forkMs == forever {
			forkMs = min(b.endMs, m.head.nowMs())
		}
		list = append(list, view.Branch{ID: strconv.Itoa(b.id), Label: m.labelOf(b.inputs, m.head.inputs), ForkMs: forkMs, EndMs: b.endMs,
			Compared: m.compared != nil && m.compared.id == b.id})
	}
	return list
}

// acted tells whether the learner did anything to the world.
func (m *lessonMode) acted() bool {
	return slices.ContainsFunc(m.head.inputs, func(in input) bool { return in.kind == inputCommand || in.kind == inputTake })
}
