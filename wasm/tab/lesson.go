package tab

import (
	"encoding/json"
	"errors"
	"fmt"

	"grouplab/coordinator/event"
	"grouplab/lessons"
	"grouplab/static/view"
)

// lessonMode plays a lesson.
type lessonMode struct {
	t      *Tab
	lesson *lessons.Lesson
	page   *view.LessonPage
	head   *head
	cursor *cursor
	pace   pace
	picked string      // the option that is marked
	hints  map[int]int // how many were shown, by step
	paced  bool        // the learner chose a speed; steps no longer do
	undo   []past
	// branches are the runs that were left, the oldest first; compared is the one beside the run on stage.
	branches  []branch
	branchIDs int
	compared  *comparison
	// followed is the timer whose way steps follow, nil where they follow none.
	followed *followed
	probed   asked
	// refused is told why something was not possible, where it is set; otherwise the page is.
	refused func(error)
	// chasing is set while the head runs to where a link or an undo leads.
	chasing *chasing
}

// past is a run to come back to: what was done, how far it went, and what was shown.
type past struct {
	inputs       []input
	headSeq, seq int64
	// headMs and nowMs are the times of both, 0 where only the events count.
	headMs, nowMs int64
}

const (
	// frameEvents bounds what one frame lets happen, so that a page stays responsive at any speed.
	frameEvents = 2000
	// searchMs and searchEvents bound how far a step looks for what it was asked for.
	searchMs     = 30 * 60 * 1000
	searchEvents = 50_000
	// stepEvents bounds it for one press of a key, which is answered at once.
	stepEvents = 10_000
	// maxUndo bounds the runs to come back to.
	maxUndo = 50
)

// newLessonMode reads the lesson out of what the page carries and runs its set-up.
func newLessonMode(t *Tab, script, page string) (*lessonMode, error) {
	m := &lessonMode{t: t, page: &view.LessonPage{}, pace: newPace(), hints: map[int]int{}}
	err := json.Unmarshal([]byte(page), m.page)
	if err != nil {
		return nil, fmt.Errorf("the text of the lesson cannot be read: %w", err)
	}
	if m.lesson, err = lessons.Load(m.page.ID, script); err != nil {
		return nil, err
	}
	l := m.lesson
	if len(m.page.Steps) != len(l.Steps) {
		return nil, fmt.Errorf("the text of lesson %s has %d steps, its script %d: reload the page", l.ID, len(m.page.Steps), len(l.Steps))
	}
	if m.head, err = newHead(l); err != nil {
		return nil, err
	}
	m.cursor = newCursor(m.head)
	m.enterStep()
	return m, nil
}

// tick lets wallMs of wall time pass.
func (m *lessonMode) tick(wallMs int64) {
	if m.chasing != nil {
		m.chase(frameEvents)
		return
	}
	if !m.pace.playing {
		return
	}
	before := m.cursor.lesson()
	if m.pace.leaps() {
		if m.pace.leapDue(wallMs) {
			m.leap()
		}
	} else if ms := m.pace.labMs(wallMs); ms > 0 {
		m.pass(m.cursor.nowMs + ms)
	}
	m.noteBeat(before)
}

// pass lets lab time pass up to ms: first what is known, then the engine.
func (m *lessonMode) pass(ms int64) {
	seq, beat := m.cursor.seq, m.cursor.beat
	m.cursor.toTime(ms)
	if m.cursor.nowMs >= m.head.nowMs() {
		why, err := m.head.run(ms, frameEvents)
		m.cursor.toTime(min(ms, m.head.nowMs()))
		m.halt(why, err)
	}
	if seq != m.cursor.seq || beat != m.cursor.beat {
		m.t.moved = true // otherwise only the clock has moved
	}
}

// halt stops playing where time cannot pass.
func (m *lessonMode) halt(why end, err error) {
	if err == nil && (why == endTime || why == endBudget) {
		return
	}
	m.pace.playing, m.t.dirty = false, true
	switch {
	case err != nil:
		m.t.fail(err)
	case why == endGate:
		m.cursor.toHead()
	case why == endQuiet:
		m.t.say("quiet")
	}
}

// leap goes to the next moment in which something happens.
func (m *lessonMode) leap() {
	m.t.dirty = true
	if m.cursor.seq < m.head.seq() {
		m.cursor.toTime(m.head.at(m.cursor.seq + 1).AtMs)
		return
	}
	why, err := m.head.run(m.head.nextLimit(), 1)
	m.cursor.toTime(m.head.nowMs())
	m.halt(why, err)
}

// noteBeat looks whether the lesson came to stand otherwise, and prepares the page for it.
func (m *lessonMode) noteBeat(before beat) {
	now := m.cursor.lesson()
	if now.player.Index() != before.player.Index() {
		m.enterStep()
	}
	if now.met && !before.met {
		m.t.tell("goal-met")
	}
	if m.cursor.atHead() && now.player.Gate() == lessons.Ready && before.player.Gate() == lessons.Waiting {
		m.t.tell("step-over")
	}
}

// enterStep takes over what a step wants of the page.
func (m *lessonMode) enterStep() {
	m.picked = ""
	s := m.cursor.lesson().player.Step()
	if s.Par > 0 { // in a challenge the learner has the clock: nothing happens before the first move
		m.pace.playing = false
	}
	if s.Speed.Den != 0 && (!m.paced || s.Par > 0) {
		m.pace.set(s.Speed)
	}
	m.stageGroup(s.Focus.Client)
	m.t.dirty = true
}

// stageGroup puts the group of the consumer on stage that a step is about, in a lesson with several. It stays there until
// another step is about somebody else, or the learner chooses.
func (m *lessonMode) stageGroup(client string) {
	e := m.head.engine
	if client == "" || e.World() == nil {
		return
	}
	if c, ok := e.World().Consumer(client); ok && (c.Group != e.Group() || m.t.options.Group != "" || len(m.cursor.model.Groups) > 1) {
		m.t.options.Group = c.Group
	}
}

// mayRun tells whether time may pass at the cursor, and says why not where it may not. Where a step is over it goes on to
// the next.
func (m *lessonMode) mayRun() bool {
	if m.cursor.seq == m.head.seq() && m.head.applied == len(m.head.inputs) {
		m.cursor.toHead() // only time lies between
	}
	if !m.cursor.atHead() {
		return true
	}
	if m.head.player.Gate() == lessons.Ready && !m.act(inputNext, "") {
		return false
	}
	if m.head.player.Gate() == lessons.Asking {
		m.t.say("answer-first")
		return false
	}
	return true
}

// act does something new where the cursor is. In the past it drops what came later, unless it is what was done then.
func (m *lessonMode) act(kind inputKind, arg string) bool {
	m.t.dirty = true
	if m.cursor.seq < m.head.startSeq { // the set-up can be looked at, not changed
		m.cursor.toSeq(m.head.startSeq)
		m.cursor.beat = 0
	}
	before := m.cursor.lesson()
	if m.repeats(kind, arg) {
		m.cursor.toBeat(m.cursor.beat + 1)
		m.noteBeat(before)
		return true
	}
	was := m.present()
	later := m.head.seq() - m.cursor.seq
	done := m.cursor.applied()
	forks := m.head.applied != done || m.head.nowMs() != m.cursor.nowMs
	if forks {
		if later > 0 {
			m.leave()
		}
		if err := m.head.fork(done, m.cursor.seq, m.cursor.nowMs); err != nil {
			m.t.fail(err)
			return false
		}
		m.cursor.cut(m.cursor.seq)
		m.t.options.Why = 0 // its links may be gone
	}
	if err := m.head.act(kind, arg); err != nil {
		m.cursor.toHead()
		if forks { // nothing has been done: what came later is there again
			m.restore(was)
		}
		m.refuse(err)
		return false
	}
	m.remember(was)
	m.cursor.toHead()
	m.arrive()
	m.noteBeat(before)
	if forks && later > 0 {
		m.t.say("forked", fmt.Sprint(later))
	}
	return true
}

// repeats tells whether something is exactly what was done next at this moment.
func (m *lessonMode) repeats(kind inputKind, arg string) bool {
	i := m.cursor.beat + 1
	if i >= len(m.head.beats) {
		return false
	}
	now, next := m.head.beats[i-1], m.head.beats[i]
	if next.applied != now.applied+1 || next.atMs != m.cursor.nowMs {
		return false
	}
	return m.head.inputs[now.applied] == input{atMs: next.atMs, kind: kind, arg: arg}
}

// present is the run as it stands.
func (m *lessonMode) present() past {
	return past{inputs: m.head.inputs, headSeq: m.head.seq(), seq: m.cursor.seq, headMs: m.head.nowMs(), nowMs: m.cursor.nowMs}
}

func (m *lessonMode) remember(was past) {
	if len(m.undo) == maxUndo {
		m.undo = m.undo[1:]
	}
	m.undo = append(m.undo, was)
}

// refuse says why something was not possible.
func (m *lessonMode) refuse(err error) {
	if m.refused != nil {
		m.refused(err)
		return
	}
	if no, ok := errors.AsType[notAllowedError](err); ok {
		m.t.say("not-allowed", no.verb)
		return
	}
	m.t.fail(err)
}

// back undoes what was done last: the run goes back to how it was before, and so does the cursor.
func (m *lessonMode) back() {
	if len(m.undo) == 0 {
		m.t.say("nothing-to-undo")
		return
	}
	was := m.undo[len(m.undo)-1]
	m.undo = m.undo[:len(m.undo)-1]
	if !m.onlyAnswered(was) {
		m.leave() // undo moves the head and takes nothing away
	}
	m.restore(was)
}

// restore runs to a moment of a list of inputs and shows it.
func (m *lessonMode) restore(was past) {
	m.follow(was.inputs, was.headSeq, func(err error) {
		if err != nil {
			m.t.fail(err)
		}
		if err == nil && was.headMs > m.head.nowMs() {
			if _, err = m.head.run(was.headMs, saveEvery); err != nil {
				m.t.fail(err)
			}
		}
		m.show(was.seq)
		m.cursor.toTime(was.nowMs)
		m.arrive()
		m.enterStep()
	})
}

// show moves the cursor to an event, running the lesson again where what lies between is no longer kept.
func (m *lessonMode) show(seq int64) {
	m.t.dirty = true
	seq = max(min(seq, m.head.seq()), m.cursor.floor())
	if !m.cursor.reachable(seq) {
		m.runAgain(seq)
	}
	m.cursor.toSeq(seq)
}

// keepsOn makes sure that what follows the cursor is kept: the start's picture always is, the events after it are not.
func (m *lessonMode) keepsOn() {
	if m.cursor.seq < m.head.seq() && m.cursor.seq+1 < m.head.first() {
		m.runAgain(m.cursor.seq)
	}
}

// runAgain brings back the events up to seq that are no longer kept. What was done later is pending.
func (m *lessonMode) runAgain(seq int64) {
	m.head.backTo(0, m.head.startMs)
	m.cursor.align()
	for more := true; more; {
		var err error
		if more, err = m.head.chase(seq, false); err != nil {
			m.t.fail(err)
		}
		m.cursor.toSeq(m.head.seq())
	}
}

// stops tells whether a grain stops at an event. Of what all fifty partitions of __consumer_offsets go through at once
// only the last is a step.
func (m *lessonMode) stops(g view.Grain, seq int64) bool {
	e := m.head.at(seq)
	if m.followed != nil {
		return m.followed.concerns(e)
	}
	if seq < m.head.seq() {
		switch e.Body.(type) {
		case event.LeaderChanged, event.LoadStarted, event.LoadFinished:
			if next := m.head.at(seq + 1); next.AtMs == e.AtMs && next.Body.Kind() == e.Body.Kind() {
				return false
			}
		}
	}
	return stopsAt(g, e)
}

// stopsAt tells whether an event is one that a grain stops at.
func stopsAt(g view.Grain, e *event.Event) bool {
	switch b := e.Body.(type) {
	case event.RequestReceived, event.HeartbeatReceived, event.ReplySent:
		return g == view.GrainEvent || g == view.GrainRequest
	case event.StateChanged:
		return g == view.GrainEvent || g == view.GrainState
	case event.OperationCompleted:
		return g == view.GrainEvent || g == view.GrainTimer && b.Expired
	}
	return g == view.GrainEvent
}
