package tab

import (
	"slices"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// cursor is what the page shows: the picture after the event seq, at nowMs, and how the lesson stood.
type cursor struct {
	head *head
	seq  int64
	// nowMs is between the time of the event seq and that of the next.
	nowMs int64
	beat  int
	model *view.Model
	// pictures are copies of the model to rewind from, oldest first; the first is that of nothing. start is the lesson's
	// start, which always stays.
	pictures []picture
	start    picture
	// furthest is the picture of the newest moment that was shown, while the cursor is behind it.
	furthest *view.Model
	// unseen is the last event before those passed since seen was called last, going forward.
	unseen int64
}

type picture struct {
	seq   int64
	model *view.Model
}

// newCursor shows the start of a lesson.
func newCursor(h *head) *cursor {
	c := &cursor{head: h, model: view.NewModel()}
	c.pictures = []picture{{0, c.model.Clone()}}
	c.toHead()
	c.start = picture{c.seq, c.model.Clone()}
	c.unseen = c.seq
	return c
}

// floor is the oldest event that can be shown: the set-up can be looked at, as long as it is kept.
func (c *cursor) floor() int64 {
	if c.head.first() <= 1 {
		return 1
	}
	return c.head.startSeq
}

// lesson is how the lesson stood at the cursor.
func (c *cursor) lesson() beat { return c.head.beats[c.beat] }

// applied is how many inputs led to what is shown: also the one of whose events only some are shown.
func (c *cursor) applied() int {
	n := c.lesson().applied
	if i := c.beat + 1; i < len(c.head.beats) && c.head.beats[i].applied > n && c.head.beats[i].from < c.seq {
		n = c.head.beats[i].applied
	}
	return n
}

// atHead tells whether there is nothing later that is known.
func (c *cursor) atHead() bool {
	return c.seq == c.head.seq() && c.nowMs >= c.head.nowMs() && c.beat == len(c.head.beats)-1 && c.head.applied == len(c.head.inputs)
}

// toHead shows the head's end.
func (c *cursor) toHead() {
	c.toSeq(c.head.seq())
	c.toTime(c.head.nowMs())
	c.beat = len(c.head.beats) - 1
}

// toSeq shows the moment after an event that is kept.
func (c *cursor) toSeq(seq int64) {
	seq = max(min(seq, c.head.seq()), c.floor())
	atMs := c.head.startMs // the set-up may end later than its last event
	if seq != c.head.startSeq {
		atMs = c.head.at(seq).AtMs
	}
	if seq < c.seq || atMs < c.nowMs { // a picture's clock goes forward only
		c.rewind(seq)
	} else if c.seq < seq && c.seq+1 < c.head.first() { // what follows the cursor is not kept: a later picture leads there
		c.rewind(seq)
	}
	for c.seq < seq {
		c.pass()
	}
	c.nowMs, c.beat = atMs, c.head.beatAt(seq)
	c.settle()
}

// toTime lets lab time pass forward up to ms, at most to the head's.
func (c *cursor) toTime(ms int64) {
	ms = min(ms, c.head.nowMs())
	for c.seq < c.head.seq() && c.head.at(c.seq+1).AtMs <= ms {
		c.pass()
	}
	c.nowMs = max(c.nowMs, ms)
	for c.beat+1 < len(c.head.beats) {
		if next := c.head.beats[c.beat+1]; next.seq > c.seq || next.atMs > c.nowMs {
			break
		}
		c.beat++
	}
	c.settle()
}

// toBeat shows the moment in which the lesson came to stand so.
func (c *cursor) toBeat(i int) {
	b := c.head.beats[i]
	c.toSeq(b.seq)
	c.nowMs = max(c.nowMs, b.atMs)
	c.beat = i
	c.settle()
}

// pass applies the next event.
func (c *cursor) pass() {
	e := c.head.at(c.seq + 1)
	c.model.Apply(*e)
	c.seq++
	if c.seq >= c.pictures[len(c.pictures)-1].seq+max(saveEvery, c.seq/picturePart) {
		n := 1 // from pictures before what is kept no way leads on
		for n < len(c.pictures) && c.pictures[n].seq+1 < c.head.first() {
			n++
		}
		c.pictures = slices.Delete(c.pictures, 1, n)
		c.pictures = thin(append(c.pictures, picture{c.seq, c.model.Clone()}), maxSaves)
	}
}

// seen are the events passed, going forward, since it was called last, as far as they are kept. They are valid until the
// head moves.
func (c *cursor) seen() []event.Event {
	first := c.head.first()
	from := max(c.unseen+1, first)
	c.unseen = c.seq
	if from > c.seq {
		return nil
	}
	return c.head.events[from-first : c.seq-first+1]
}

// rewind goes back to the newest picture that is not later than seq.
func (c *cursor) rewind(seq int64) {
	if c.furthest == nil || c.furthest.Seq < c.model.Seq {
		c.furthest = c.model
	}
	p, _ := c.before(seq)
	c.seq, c.model, c.unseen = p.seq, p.model.Clone(), p.seq
}

// before is the newest picture that is not later than seq; ok tells whether what lies between is kept.
func (c *cursor) before(seq int64) (p picture, ok bool) {
	i := len(c.pictures) - 1
	for i > 0 && c.pictures[i].seq > seq {
		i--
	}
	if p = c.pictures[i]; c.start.model != nil && c.start.seq <= seq && c.start.seq > p.seq {
		p = c.start
	}
	return p, p.seq == seq || p.seq+1 >= c.head.first()
}

// settle brings what depends on the place in line with it.
func (c *cursor) settle() {
	c.model.SetNow(c.nowMs)
	if c.furthest != nil && c.furthest.Seq <= c.seq {
		c.furthest = nil
	}
}

// reachable tells whether the cursor can go to an event without running the lesson again.
func (c *cursor) reachable(seq int64) bool {
	if seq >= c.seq && c.seq+1 >= c.head.first() {
		return true
	}
	_, ok := c.before(seq)
	return ok
}

// cut forgets pictures of a future that was dropped; the events at and before seq are as they were.
func (c *cursor) cut(seq int64) {
	for len(c.pictures) > 1 && c.pictures[len(c.pictures)-1].seq > seq {
		c.pictures = c.pictures[:len(c.pictures)-1]
	}
	c.furthest = nil
}

// align follows a head that was taken back: it shows the head's end again. Where what leads there is no longer kept, the
// lesson begins anew, with its inputs pending.
func (c *cursor) align() {
	c.cut(c.head.seq())
	p, ok := c.before(c.head.seq())
	if !ok {
		c.head.backTo(0, c.head.startMs)
		c.cut(c.head.seq())
		p = c.start
	}
	c.seq, c.model, c.nowMs, c.unseen = p.seq, p.model.Clone(), p.model.NowMs, p.seq
	c.toHead()
}
