package tab

import (
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/brokerlog"
	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// pasteMode shows what a pasted log tells. Reading and drawing go on in slices, one a frame.
type pasteMode struct {
	t *Tab
	// name is the file's; size what it has in bytes, 0 where it is not known.
	name       string
	size, done int64
	// text waits to be read; partial is a line whose end has not come; whole is set once no more text will come.
	text, partial string
	whole         bool
	log           *brokerlog.Log
	telling       *brokerlog.Telling
	result        brokerlog.Result
	groups        []view.PasteGroup
	// play is what the log tells, and where in it the page is; empty until the lines are read.
	play   *replay
	phase  pastePhase
	notice bool // the reader of a file waits to be asked for more
}

type pastePhase uint8

const (
	pasteIdle pastePhase = iota
	pasteReading
	pasteTelling
	pasteDrawing
	pasteShown
)

const (
	// pasteBytes, pasteLines and pasteFacts bound what one frame reads, folds and draws.
	pasteBytes = 192 << 10
	pasteLines = 400
	pasteFacts = 800
	// pasteNear is how many lines are shown on each side of the one that a fact comes from.
	pasteNear = 3
	// pasteBad is how many of the lines that are not understood are shown.
	pasteBad = 100
)

// NewPaste makes the page of a pasted log.
func NewPaste(c Choices) *Tab {
	t := newTab(c)
	t.mode, t.options.Mode = &pasteMode{t: t, play: newReplay(nil, nil)}, view.ModePaste
	return t
}

// begin forgets what was read before.
func (m *pasteMode) begin(name string, size int64) {
	*m = pasteMode{t: m.t, name: name, size: size, play: newReplay(nil, nil), phase: pasteReading,
		log: brokerlog.NewLog(brokerlog.Config{})}
	m.t.options.Group, m.t.selected, m.t.options.Find = "", "", ""
	m.t.options.Head, m.t.options.Memo = nil, view.NewMemo()
}

// tick reads, folds or draws a slice.
func (m *pasteMode) tick(int64, int64) (more bool) {
	switch m.phase {
	case pasteReading:
		m.read(pasteBytes)
	case pasteTelling:
		if !m.telling.Step(pasteLines) {
			m.told0()
		}
	case pasteDrawing:
		if !m.play.draw(pasteFacts) {
			m.shown()
		}
	default:
		return false
	}
	m.t.dirty = true
	return m.phase != pasteShown && m.phase != pasteIdle && (m.phase != pasteReading || m.text != "" || m.whole)
}

// read takes lines out of the text that waits.
func (m *pasteMode) read(most int) {
	for most > 0 {
		line, after, found := strings.Cut(m.text, "\n")
		if !found {
			break
		}
		most -= len(line) + 1
		m.done += int64(len(line) + 1)
		m.text = after
		if m.partial != "" {
			line = m.partial + line
			m.partial = ""
		}
		m.log.Add(strings.TrimSuffix(line, "\r"))
	}
	if most <= 0 {
		return
	}
	m.partial += m.text // the end of a line that goes on with the next part
	m.done += int64(len(m.text))
	m.text = ""
	if len(m.partial) > 1<<20 {
		m.log.Add(m.partial)
		m.partial = ""
	}
	if m.whole {
		m.finish()
	} else if m.notice {
		m.notice = false
		m.t.out.NextPart = true
	}
}

// finish ends the text.
func (m *pasteMode) finish() {
	if m.partial != "" {
		m.log.Add(strings.TrimSuffix(m.partial, "\r"))
		m.partial = ""
	}
	m.text, m.telling, m.phase = "", m.log.Finish(), pasteTelling
}

// told0 begins to draw once all facts are known.
func (m *pasteMode) told0() {
	m.result, m.telling, m.log = m.telling.Result(), nil, nil
	m.play, m.phase = newReplay(m.result.Events, nil), pasteDrawing
	m.count()
}

// count counts facts and rebalances by group.
func (m *pasteMode) count() {
	at := map[string]int{}
	for i := range m.result.Events {
		e := &m.result.Events[i]
		if e.Group == "" {
			continue
		}
		k, known := at[e.Group]
		if !known {
			k = len(m.groups)
			at[e.Group], m.groups = k, append(m.groups, view.PasteGroup{Name: e.Group})
		}
		m.groups[k].Facts++
		if _, rebalance := e.Body.(event.RebalanceStarted); rebalance {
			m.groups[k].Rebalances++
		}
	}
	slices.SortStableFunc(m.groups, func(a, b view.PasteGroup) int { return b.Facts - a.Facts })
}

// shown brings the picture to the group with the most facts, and there to the moment that matters: where somebody is waited for last.
func (m *pasteMode) shown() {
	m.phase = pasteShown
	t := m.t
	if len(m.groups) > 0 {
		t.options.Group = m.groups[0].Name
	}
	t.options.Head = m.play.furthest
	m.show(m.moment())
	m.note("read", strconv.Itoa(m.result.Counts.Lines), strconv.Itoa(m.result.Counts.Understood), strconv.Itoa(m.result.Counts.Unknown))
	t.announce = append(t.announce, view.Headline(m.play.model, view.Pasting(t.options)))
	t.out.Reveal = "main"
}

// moment is the last fact of the group on stage that says whom it waits for, where the wait lasted; else its last fact.
func (m *pasteMode) moment() int {
	list := m.result.Events
	last := 0
	for i := len(list) - 1; i >= 0; i-- {
		if !concerns(&list[i], m.t.options.Group) {
			continue
		}
		if last == 0 {
			last = i + 1
		}
		if a, ok := list[i].Body.(event.AwaitedSeen); ok && len(a.Awaited) > 0 {
			return i + 1
		}
	}
	return last
}

// show moves the cursor behind so many facts.
func (m *pasteMode) show(at int) {
	m.play.show(at)
	m.t.dirty = true
}

func (m *pasteMode) step(by int, g view.Grain) bool {
	return m.play.step(by, g, m.t.options.Group)
}
