package tab

import (
	"strconv"

	"grouplab/lessons"
	"grouplab/static/view"
)

// toggle plays or pauses.
func (m *lessonMode) toggle() {
	m.t.dirty = true
	if m.pace.playing {
		m.pace.playing = false
		return
	}
	if m.mayRun() {
		m.keepsOn()
		m.pace.playing = true
	}
}

// stepForward goes to the next event that a grain stops at.
func (m *lessonMode) stepForward(g view.Grain) {
	m.pace.playing = false
	m.t.dirty = true
	before := m.cursor.lesson()
	if !m.mayRun() {
		return
	}
	if m.cursor.lesson().player.Index() != before.player.Index() && m.cursor.seq > before.seq {
		return // going on brought events: they are the step
	}
	before = m.cursor.lesson()
	m.keepsOn()
	if seq := m.search(m.cursor.seq+1, g); seq > 0 {
		m.cursor.toSeq(seq)
	} else {
		m.searchOn(g)
	}
	m.noteBeat(before)
}

// search looks among the events that are known, from seq on; 0 where none fits.
func (m *lessonMode) search(seq int64, g view.Grain) int64 {
	for ; seq <= m.head.seq(); seq++ {
		if m.stops(g, seq) {
			return seq
		}
	}
	return 0
}

// searchOn runs the engine until an event fits, the lesson stops or it has looked far enough.
func (m *lessonMode) searchOn(g view.Grain) {
	from, untilMs := m.head.seq(), m.head.nowMs()+searchMs
	for m.head.seq()-from < stepEvents && m.head.nowMs() < untilMs {
		looked := m.head.seq()
		why, err := m.head.run(min(m.head.nextLimit(), untilMs), 1)
		if seq := m.search(looked+1, g); seq > 0 {
			m.cursor.toSeq(seq)
			return
		}
		if err != nil || why == endGate || why == endQuiet {
			m.cursor.toHead()
			m.halt(why, err)
			return
		}
		if m.head.seq()-m.cursor.seq > frameEvents { // or what lies between is let go of before the cursor has passed it
			m.cursor.toHead()
		}
	}
	m.cursor.toHead()
	m.t.say("no-such-step", m.t.word("grain-"+string(g)))
}

// stepBack goes to the last event before the cursor that a grain stops at, or to the first of all.
func (m *lessonMode) stepBack(g view.Grain) {
	m.pace.playing = false
	m.t.dirty = true
	floor := m.cursor.floor()
	if m.cursor.seq <= floor {
		m.t.say("at-start")
		return
	}
	before := m.cursor.lesson()
	seq := m.cursor.seq - 1
	for seq > floor && seq >= m.head.first() && !m.stops(g, seq) {
		seq--
	}
	m.show(seq)
	m.noteBeat(before)
}

// seek shows the last moment at or before a time, as far as it is known.
func (m *lessonMode) seek(ms int64) {
	m.pace.playing = false
	m.t.dirty = true
	before := m.cursor.lesson()
	lo, hi := m.cursor.floor(), m.head.seq()
	if first := m.head.first(); first > lo && first <= hi {
		if m.head.at(first).AtMs > ms {
			m.runAgainTo(ms)
			m.noteBeat(before)
			return
		}
		lo = first
	}
	for lo < hi { // the last event that is not after ms
		mid := (lo + hi + 1) / 2
		if m.head.at(mid).AtMs <= ms {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	m.show(lo)
	m.cursor.toTime(ms)
	m.noteBeat(before)
}

// runAgainTo shows a moment that lies before what is kept: the lesson runs again from its start up to there. What was done
// later is pending.
func (m *lessonMode) runAgainTo(ms int64) {
	m.head.backTo(0, m.head.startMs)
	m.cursor.align()
	for m.head.nowMs() < ms {
		why, err := m.head.run(ms, frameEvents)
		m.cursor.toSeq(m.head.seq())
		if err != nil {
			m.t.fail(err)
		}
		if err != nil || why != endBudget {
			break
		}
	}
	m.cursor.toTime(ms)
}

// toStart and toEnd show the ends of what is known.
func (m *lessonMode) toStart() {
	m.pace.playing = false
	before := m.cursor.lesson()
	m.show(m.head.startSeq)
	m.cursor.toBeat(0)
	m.noteBeat(before)
}

func (m *lessonMode) toEnd() {
	m.pace.playing = false
	m.t.dirty = true
	before := m.cursor.lesson()
	m.toHead()
	m.noteBeat(before)
}

// toHead shows the head's end, by way of the start where nothing else leads there any more.
func (m *lessonMode) toHead() {
	if !m.cursor.reachable(m.head.seq()) {
		m.show(m.head.seq())
	}
	m.cursor.toHead()
}

// next goes on: to the next step where the current one is over, else to its end.
func (m *lessonMode) next() {
	m.t.dirty = true
	before := m.cursor.lesson()
	index := before.player.Index()
	if !m.cursor.atHead() {
		for i := m.cursor.beat + 1; i < len(m.head.beats); i++ {
			if m.head.beats[i].player.Index() > index {
				m.cursor.toBeat(i)
				m.noteBeat(before)
				return
			}
		}
		m.toHead()
	}
	switch m.head.player.Gate() {
	case lessons.Asking:
		m.t.say("answer-first")
	case lessons.Ready:
		if m.act(inputNext, "") {
			m.pace.playing = m.head.player.MayRun() && m.head.player.Step().Par == 0
		}
	case lessons.Waiting:
		m.finishStep()
	case lessons.Over:
		m.t.say("last-step")
	case lessons.Free:
		m.t.say("taken-over")
	}
	m.noteBeat(before)
}

// finishStep runs to the end of the current step at once.
func (m *lessonMode) finishStep() {
	m.pace.playing = false
	from, untilMs := m.head.seq(), m.head.nowMs()+searchMs
	for m.head.seq()-from < searchEvents && m.head.nowMs() < untilMs {
		why, err := m.head.run(min(m.head.nextLimit(), untilMs), saveEvery)
		m.cursor.toHead()
		if err != nil || why == endGate || why == endQuiet || m.head.player.Gate() != lessons.Waiting {
			m.halt(why, err)
			return
		}
	}
	m.t.say("step-never-ends")
}

// prev shows how the previous step began.
func (m *lessonMode) prev() {
	m.pace.playing = false
	m.t.dirty = true
	before := m.cursor.lesson()
	want := max(before.player.Index()-1, 0)
	for i := range m.head.beats {
		if m.head.beats[i].player.Index() == want {
			m.show(m.head.beats[i].seq)
			m.cursor.toBeat(i)
			break
		}
	}
	m.noteBeat(before)
}

// takeOver leaves the narration; comeBack returns to where that was.
func (m *lessonMode) takeOver() {
	if m.cursor.lesson().player.Gate() == lessons.Free {
		m.t.say("taken-over")
		return
	}
	if m.act(inputTake, "") {
		m.t.say("took-over")
	}
}

func (m *lessonMode) comeBack() {
	for i, in := range m.head.inputs {
		if in.kind != inputTake {
			continue
		}
		m.remember(m.present())
		seq := m.head.startSeq
		for _, b := range m.head.beats {
			if b.applied <= i {
				seq = b.seq
			}
		}
		for _, b := range m.head.beats {
			if b.applied == i+1 { // where it was taken over, time may have passed since the last change
				seq = b.seq
				break
			}
		}
		m.restore(past{inputs: m.head.inputs[:i:i], headSeq: seq, seq: seq})
		m.t.say("came-back")
		return
	}
	m.t.say("not-taken-over")
}

// predict answers the current question.
func (m *lessonMode) predict(choice string) {
	before := m.cursor.lesson()
	s := before.player.Step()
	switch {
	case s.Predict == nil || before.player.Gate() != lessons.Asking:
		m.t.say("nothing-asked")
		return
	case !m.act(inputPredict, choice):
		return
	}
	a := m.head.player.Answer(s.Name)
	switch {
	case choice == "":
		m.t.tell("answer-shown")
	case a != nil && a.Right == choice:
		m.t.tell("answer-right")
	default:
		m.t.tell("answer-wrong")
	}
}

// command gives a verb of the script language.
func (m *lessonMode) command(verb, arg string) {
	line := verb
	if arg != "" {
		line += " " + arg
	}
	m.act(inputCommand, line)
}

func selectedEvent(selected string) (int64, bool) {
	if len(selected) < 7 || selected[:6] != "event:" {
		return 0, false
	}
	seq, err := strconv.ParseInt(selected[6:], 10, 64)
	return seq, err == nil
}

// tellWaiting says who the group waits for, until when and why.
func (t *Tab) tellWaiting() {
	t.fill()
	t.announce = append(t.announce, view.Headline(t.model(), t.options))
}
