package tab

import "strconv"

// chasing is a run to a moment that lies further than one frame can go.
type chasing struct {
	seq  int64
	left int // events that may still happen
	done func(err error)
}

const (
	// firstEvents are run at once, so that nearly every link is followed before its page is drawn.
	firstEvents = 20_000
	// maxFollow bounds how many events a link can make a page run.
	maxFollow = 400_000
)

// follow runs a list of inputs up to an event, and calls done where that is reached, or cannot be. It takes as many
// frames as it needs; whatever is done meanwhile ends it where it is.
func (m *lessonMode) follow(inputs []input, seq int64, done func(err error)) {
	m.pace.playing = false
	m.head.retrace(inputs)
	m.cursor.align()
	m.chasing = &chasing{seq: seq, left: maxFollow, done: done}
	m.chase(firstEvents)
}

// chase goes on for about budget events, with the cursor close behind.
func (m *lessonMode) chase(budget int) {
	m.t.dirty = true
	c := m.chasing
	for budget > 0 {
		before := m.head.seq()
		more, err := m.head.chase(c.seq, true)
		m.cursor.toSeq(m.head.seq())
		passed := int(m.head.seq() - before)
		budget, c.left = budget-passed, c.left-passed
		if err != nil || !more || c.left <= 0 {
			m.chased()
			c.done(err)
			return
		}
	}
	m.t.options.Note = m.t.word("chasing", strconv.FormatInt(m.head.seq(), 10), strconv.FormatInt(c.seq, 10))
}

// chased ends a run where it is; inputs that were not done are dropped.
func (m *lessonMode) chased() {
	m.chasing = nil
	m.t.options.Note = ""
	m.head.inputs = m.head.inputs[:m.head.applied:m.head.applied]
	m.cursor.toHead()
}
