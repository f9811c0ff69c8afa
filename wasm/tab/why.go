package tab

import (
	"slices"
	"strconv"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// asking does what every page can with the chain of causes.
func (t *Tab) asking(action, arg string) bool {
	switch action {
	case "why":
		t.askWhy()
	case "why-all":
		t.options.WhyAll = !t.options.WhyAll
	case "find-text":
		t.options.Find = arg
	case "why-close":
		t.options.Why = 0
	case "jump":
		seq, ok := number(arg)
		if !ok || seq < 1 {
			return false
		}
		t.mode.jumpTo(seq)
		t.selected = eventName(seq)
	default:
		return false
	}
	return true
}

// askWhy opens the chain of causes of what is selected, or of what the group waits for. Where it is open already it goes
// one link on towards the root.
func (t *Tab) askWhy() {
	model := t.fill()
	if t.options.Why == 0 {
		seq := t.askedAbout(model)
		if seq == 0 {
			t.say("no-cause")
			return
		}
		t.options.Why, t.selected = seq, eventName(seq)
		t.out.Reveal = "why-title"
		return
	}
	links := view.WhyLinks(model, t.options)
	at, _ := selectedEvent(t.selected)
	i := slices.Index(links, at) + 1
	if i >= len(links) {
		t.say("no-cause")
		return
	}
	t.selected = eventName(links[i])
	t.out.Reveal = "why-" + strconv.FormatInt(links[i], 10)
}

// askedAbout is the fact whose causes are asked for; 0 where nothing has happened yet.
func (t *Tab) askedAbout(model *view.Model) int64 {
	if of, ok := selectedEvent(t.selected); ok {
		return of
	}
	g := t.group(model)
	if seq := view.FactOf(model, g, t.selected); seq > 0 {
		return seq
	}
	switch {
	case g != nil && g.Began.Seq > 0 && g.State != event.Stable:
		return g.Began.Seq
	case g != nil && g.LastSeq > 0:
		return g.LastSeq
	}
	return model.Seq
}

func eventName(seq int64) string { return "event:" + strconv.FormatInt(seq, 10) }

// jump shows the moment of a fact.
func (m *lessonMode) jump(seq int64) {
	m.pace.playing = false
	before := m.cursor.lesson()
	m.show(seq)
	m.noteBeat(before)
}

// fact finds a fact that is kept.
func (m *lessonMode) fact(seq int64) *event.Event {
	if seq < m.head.first() || seq > m.head.seq() {
		return nil
	}
	return m.head.at(seq)
}

// yours tells whether a fact was brought by what the learner did.
func (m *lessonMode) yours(seq int64) bool {
	for i := range m.head.beats {
		b := &m.head.beats[i]
		if b.from < seq && seq <= b.seq && b.applied > 0 {
			k := m.head.inputs[b.applied-1].kind
			return k == inputCommand
		}
	}
	return false
}
