package tab

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/static/view"
)

// recordingMode shows what was recorded: out of a file, or out of a server's folder. Reading and drawing go on in slices, one a
// frame.
type recordingMode struct {
	t     *Tab
	name  string
	file  *recording.Reader // what is open, or being read; nil for nothing
	play  *replay           // nil until it is read
	pace  pace
	phase recordingPhase
	// says is why the last file could not be opened.
	says string
	// served is set where there is a server.
	served bool
	// kept is what the server keeps, nil where there is no server or it records nothing; piece is what to take of it.
	kept  *view.Kept
	piece view.Piece
	// wanted is the moment of a link that waits for its recording.
	wanted  string
	awaited string // the piece that is on its way
	// held is the moment that is kept to be compared, nil for none; beside is it beside the one on stage, nil where none is shown.
	held   *heldMoment
	beside *view.Comparison
	// lab is the run that was made for the lab, nil for none.
	lab *recording.Run
}

type recordingPhase uint8

const (
	recordingNone recordingPhase = iota
	recordingReading
	recordingDrawing
	recordingShown
)

const (
	// recordingLines and recordingFacts bound what one frame reads and draws.
	recordingLines, recordingFacts = 1500, 1500
	keptPath                       = "api/recordings"
	cutPath                        = "api/recordings/cut"
)

// NewRecordings makes the page of recordings.
func NewRecordings(c Choices) *Tab {
	t := newTab(c)
	m := &recordingMode{t: t, pace: newPace(), wanted: c.Hash, served: c.Served}
	t.mode, t.options.Mode = m, view.ModeRecording
	m.piece.SpanMs = 10 * 60_000
	if c.Query != "" {
		q, _ := url.ParseQuery(c.Query) // what cannot be read is not asked for
		m.piece.Group = q.Get("group")
		m.piece.AtMs, _ = number(q.Get("from"))
		if minutes, ok := number(q.Get("last")); ok && minutes > 0 && minutes < 24*60 {
			m.piece.SpanMs, m.piece.Now = minutes*60_000, true
		}
	}
	m.askKept()
	if m.wanted != "" && strings.HasPrefix(m.wanted, recordingLink) {
		m.note("link.waits")
	}
	return t
}

// askKept asks what the server keeps, where there is one.
func (m *recordingMode) askKept() {
	if m.served {
		m.t.out.Ask = append(m.t.out.Ask, keptPath)
	}
}

// open begins to read a file.
func (m *recordingMode) open(name, data string) {
	t := m.t
	file, err := recording.Open(strings.NewReader(data), recording.Limits{})
	t.options.Group, t.selected, t.options.Find, t.options.Why = m.piece.Group, "", "", 0
	t.options.Head, t.options.Memo = nil, view.NewMemo()
	m.name, m.file, m.play, m.pace.playing, m.says, m.beside, m.lab = name, file, nil, false, "", nil, nil
	if err != nil {
		m.file, m.phase, m.says = nil, recordingNone, err.Error()
		m.note("unreadable", err.Error())
		return
	}
	m.phase = recordingReading
}

// tick reads or draws a slice, and lets time pass.
func (m *recordingMode) tick(_, passedMs int64) (more bool) {
	switch m.phase {
	case recordingReading:
		if !m.file.Next(recordingLines) {
			m.play, m.phase = newReplay(m.file.Events, m.file.Gaps), recordingDrawing
		}
	case recordingDrawing:
		if !m.play.draw(recordingFacts) {
			m.shown()
		}
	case recordingShown:
		m.goOn(passedMs)
		return false
	default:
		return false
	}
	m.t.dirty = true
	return true
}

// goOn lets the recording's time pass.
func (m *recordingMode) goOn(passedMs int64) {
	if !m.pace.playing {
		return
	}
	p := m.play
	if m.pace.leaps() {
		if m.pace.leapDue(passedMs) && !m.step(1, view.GrainEvent) {
			m.pace.playing = false
		}
	} else {
		p.pass(p.nowMs + m.pace.labMs(passedMs))
	}
	if p.at == len(p.events) && p.nowMs >= p.endMs() {
		m.pace.playing = false
	}
	m.t.dirty = true
}

// shown brings the picture to the moment that was asked for.
func (m *recordingMode) shown() {
	t, p := m.t, m.play
	m.phase = recordingShown
	t.options.Head = p.furthest
	if t.options.Group != "" && p.furthest.Groups[t.options.Group] == nil {
		t.options.Group = ""
	}
	if t.options.Group == "" {
		t.options.Group = m.busiest()
	}
	at := m.file.Header.FromMs
	if m.piece.AtMs > at && m.awaited != "" {
		at = m.piece.AtMs
	}
	m.awaited = ""
	if m.piece.Now {
		at = p.endMs()
	}
	p.seek(at)
	m.note("opened", strconv.Itoa(len(p.events)), m.name)
	t.out.Reveal = "main"
	m.follow()
}

// busiest is the group with the most transitions: somebody opened the file because of one.
func (m *recordingMode) busiest() (name string) {
	n, most := map[string]int{}, 0
	for i := range m.play.events {
		e := &m.play.events[i]
		if _, ok := e.Body.(event.StateChanged); ok {
			if n[e.Group]++; n[e.Group] > most {
				name, most = e.Group, n[e.Group]
			}
		}
	}
	return name
}

func (m *recordingMode) step(by int, g view.Grain) bool {
	return m.play.step(by, g, m.t.options.Group)
}

// asked brings what the server keeps, or a piece of it.
func (m *recordingMode) asked(path string, status int, body []byte) {
	m.t.dirty = true
	switch {
	case path == keptPath && status == 200:
		m.keeps(body)
	case path == keptPath: // the server is away: files can be opened all the same
	case m.awaited == path && status == 200:
		m.open(m.pieceName(), string(body))
	case m.awaited == path:
		m.awaited = ""
		var p struct{ Error string }
		if json.Unmarshal(body, &p) != nil || p.Error == "" {
			p.Error = string(body[:min(len(body), 200)])
		}
		m.note("cut.failed", p.Error)
	}
}

func (m *recordingMode) keeps(body []byte) {
	var k struct {
		Recording    bool
		Failing      bool
		FromMs, ToMs int64
		Bytes        int64
		Groups       []string
		MoreGroups   int
		Gaps         int64
	}
	if json.Unmarshal(body, &k) != nil {
		return
	}
	m.kept = &view.Kept{On: k.Recording, Failing: k.Failing, FromMs: k.FromMs, ToMs: k.ToMs, Bytes: k.Bytes, Groups: k.Groups, MoreGroups: k.MoreGroups, Gaps: k.Gaps}
	chosen := m.piece.AtMs > 0 || m.piece.Now
	if m.piece.AtMs == 0 {
		m.piece.AtMs = k.ToMs
	}
	m.piece.AtMs = min(max(m.piece.AtMs, k.FromMs), k.ToMs)
	if m.piece.Group != "" && !slices.Contains(k.Groups, m.piece.Group) && k.MoreGroups == 0 {
		m.piece.Group = ""
	}
	if chosen && k.Recording && m.file == nil && k.ToMs > 0 {
		m.cut()
	}
}

// cut asks the server for the piece around the chosen moment.
func (m *recordingMode) cut() {
	m.awaited = m.piece.Query(true)
	m.t.out.Ask = append(m.t.out.Ask, m.awaited)
	m.note("cutting")
}

func (m *recordingMode) pieceName() string {
	return m.words("from.server")
}

// note says a sentence of this page's.
func (m *recordingMode) note(key string, args ...string) {
	m.t.note(m.words(key, args...))
}

func (m *recordingMode) words(key string, args ...string) string {
	return view.RecordingWord(m.t.options.Lang, "rec."+key, args...)
}
