package tab

import (
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// What the mode of recordings answers of what all pages can.

func (m *recordingMode) half() bool    { return false }
func (m *recordingMode) playing() bool { return m.pace.playing }
func (m *recordingMode) moving() bool  { return m.pace.playing }
func (m *recordingMode) wakeMs() int64 { return 0 }
func (m *recordingMode) rate() Rate    { return Rate{} }
func (m *recordingMode) interrupted()  {}
func (m *recordingMode) offers(action string) bool {
	return slices.Contains([]string{"play", "step", "back", "start", "end", "next-state", "prev-state", "next-timer", "faster", "slower", "link"}, action)
}
func (m *recordingMode) field(Key) bool              { return false }
func (m *recordingMode) compares() bool              { return m.beside != nil }
func (m *recordingMode) dismiss()                    { m.beside = nil }
func (m *recordingMode) unfollow()                   {}
func (m *recordingMode) findIn() string              { return "transcript" }
func (m *recordingMode) told()                       {}
func (m *recordingMode) address()                    {}
func (m *recordingMode) raw(int64, string) *view.Raw { return nil }
func (m *recordingMode) socket(bool, string)         {}
func (m *recordingMode) message([]byte)              {}
func (m *recordingMode) posted(string, int, []byte)  {}

func (m *recordingMode) picture() *view.Model {
	if m.phase == recordingShown {
		return m.play.model
	}
	return view.NewLiveModel()
}

func (m *recordingMode) parts(model *view.Model, o view.Options) []view.Part {
	return view.RecordingParts(model, o, m.state())
}

func (m *recordingMode) filled(o *view.Options) *view.Model {
	o.Playing, o.Speed = m.pace.playing, float(m.pace.speed)
	o.Fact, o.Compare = m.factAt, m.beside
	o.AtStart, o.AtEnd = true, true
	if m.phase == recordingShown {
		o.AtStart, o.AtEnd = m.play.at <= m.play.floor, m.play.at == len(m.play.events)
		o.Head = m.play.furthest
		if o.AtEnd && m.play.nowMs >= m.play.endMs() {
			o.Head = nil
		}
	}
	return m.picture()
}

// factAt finds a fact by its number.
func (m *recordingMode) factAt(seq int64) *event.Event {
	if m.play == nil {
		return nil
	}
	if i := m.play.find(seq); i >= 0 {
		return &m.play.events[i]
	}
	return nil
}

// jumpTo shows the moment of a fact, of whichever group it is.
func (m *recordingMode) jumpTo(seq int64) {
	if m.phase != recordingShown {
		return
	}
	i := m.play.find(seq)
	if i < 0 {
		m.note("no-such", strconv.FormatInt(seq, 10))
		return
	}
	if g := m.play.events[i].Group; g != "" && m.play.furthest.Groups[g] != nil {
		m.t.options.Group = g
	}
	m.pace.playing = false
	m.play.show(i + 1)
}

// crashed closes the recording: what broke the page would break it again.
func (m *recordingMode) crashed(string, bool) {
	m.file, m.play, m.phase, m.pace.playing, m.held, m.beside, m.lab = nil, nil, recordingNone, false, nil, nil, nil
	m.t.options.Head, m.t.options.Memo, m.t.options.Group = nil, view.NewMemo(), ""
	m.says = m.words("broke")
}

// act does what only this page can.
func (m *recordingMode) act(action, arg string) bool {
	switch action {
	case "rec-file":
		name, data, _ := strings.Cut(arg, "\n")
		m.awaited = ""
		m.open(name, data)
	case "rec-failed":
		m.says = arg
		m.note("unreadable", arg)
	case "rec-close":
		m.file, m.play, m.phase, m.pace.playing, m.beside, m.lab = nil, nil, recordingNone, false, nil, nil
		m.t.options.Head, m.t.options.Group, m.t.selected = nil, "", ""
		m.askKept()
	case "rec-open":
		m.cut()
	case "rec-at", "rec-span", "rec-group", "rec-mask", "rec-topics":
		return m.choose(action, arg)
	case "list":
		return m.list(arg)
	case "hash":
		m.wanted = arg
		m.follow()
	default:
		if m.phase != recordingShown {
			m.note("nothing")
			return true
		}
		return m.move(action, arg)
	}
	return true
}

// choose says which piece of the server's recording is wanted.
func (m *recordingMode) choose(action, arg string) bool {
	n, ok := number(arg)
	switch action {
	case "rec-at":
		if !ok {
			return false
		}
		m.piece.AtMs, m.piece.Now = n, false
	case "rec-span":
		if !ok || n < 1 {
			return false
		}
		m.piece.SpanMs = n
	case "rec-group":
		m.piece.Group = arg
	case "rec-mask":
		m.piece.Mask = !m.piece.Mask
	case "rec-topics":
		m.piece.Topics = !m.piece.Topics
	}
	return true
}

// list says what is asked of the list of groups.
func (m *recordingMode) list(arg string) bool {
	what, value, _ := strings.Cut(arg, " ")
	q := &m.t.options.Listing
	switch what {
	case "state":
		q.State = value
	case "type":
		q.Type = value
	case "coordinator":
		q.Coordinator = value
	case "sort":
		q.Sort = value
	case "clear":
		q.State, q.Type, q.Coordinator, m.t.options.Search = "", "", "", ""
	case "long":
		q.Long = !q.Long
	case "commits":
		q.Commits = !q.Commits
	default:
		return false
	}
	return true
}

// move moves the cursor, or takes something away.
func (m *recordingMode) move(action, arg string) bool {
	t, p := m.t, m.play
	moved := true
	if action != "play" && action != "grain" && action != "speed" && action != "faster" && action != "slower" {
		m.pace.playing = false
	}
	switch action {
	case "play":
		m.pace.playing = !m.pace.playing && p.nowMs < p.endMs()
		return true
	case "pause":
		return true
	case "step":
		moved = m.step(1, t.options.Grain)
	case "back":
		moved = m.step(-1, t.options.Grain)
	case "next-state":
		moved = m.step(1, view.GrainState)
	case "prev-state":
		moved = m.step(-1, view.GrainState)
	case "next-timer":
		moved = m.step(1, view.GrainTimer)
	case "start":
		p.show(p.floor)
	case "end":
		p.show(len(p.events))
	case "seek":
		if ms, ok := t.seekMs(arg, view.Watching); ok {
			p.seek(ms)
		}
	case "grain":
		if !slices.Contains(view.Grains, view.Grain(arg)) {
			return false
		}
		t.options.Grain = view.Grain(arg)
		return true
	case "speed":
		return m.pace.setTo(arg)
	case "faster":
		m.pace.shift(1)
		return true
	case "slower":
		m.pace.shift(-1)
		return true
	case "link":
		m.link()
		return true
	case "save-story":
		t.out.Download = &Download{Name: "grouplab-incident.md", Text: m.report()}
		return true
	case "rec-lab":
		m.toLab()
		return true
	case "rec-hold", "rec-let-go", "rec-compare", "rec-compare-span", "compare":
		return m.heldAct(action, arg)
	default:
		return false
	}
	if !moved {
		m.note("no-more")
	} else if p.at > 0 {
		t.narrated = p.events[p.at-1].Text()
	}
	return true
}

// recordingLink begins the fragment of a link to a moment of a recording: r1.HASH.SEQ. HASH is that of the recording's lines, so
// that another file is not taken for it.
const recordingLink = "r1."

// link puts a link to the moment into the address, and copies it.
func (m *recordingMode) link() {
	seq := int64(0)
	if m.play.at > 0 {
		seq = m.play.events[m.play.at-1].Seq
	}
	m.t.linked = recordingLink + m.file.Hash() + "." + strconv.FormatInt(seq, 10)
	m.t.out.Hash, m.t.out.SetHash, m.t.out.Copy = m.t.linked, true, true
	m.note("link.copied")
}

// follow goes to the moment of a link, if the recording that is open is the one it leads to.
func (m *recordingMode) follow() {
	rest, ours := strings.CutPrefix(m.wanted, recordingLink)
	if !ours {
		return
	}
	hash, place, _ := strings.Cut(rest, ".")
	seq, ok := number(place)
	switch {
	case !ok:
		m.note("link.shape")
	case m.phase != recordingShown:
		m.note("link.waits")
		return
	case hash != m.file.Hash():
		m.note("link.other")
		return // the right file may be opened yet
	default:
		m.jumpTo(seq)
	}
	m.wanted = ""
}

// state is what the page shows beside the stage.
func (m *recordingMode) state() *view.RecordingState {
	s := &view.RecordingState{Name: m.name, Says: m.says, Kept: m.kept, Piece: m.piece, Reading: m.phase == recordingReading || m.phase == recordingDrawing}
	if m.held != nil {
		s.Held = &m.held.Held
	}
	if m.lab != nil {
		s.LabMade, s.LabNotes = true, m.lab.Notes
	}
	if m.file == nil {
		return s
	}
	h := m.file.Header
	s.Open, s.FromMs, s.ToMs, s.Masked, s.Observed, s.Group = m.phase == recordingShown, h.FromMs, h.ToMs, h.Masked, h.Observed, h.Group
	s.Events, s.Stopped, s.Unknown, s.Unreadable, s.Words = len(m.file.Events), m.file.Stopped, m.file.UnknownKinds(), m.file.Unreadable, m.file.Words
	for _, g := range m.file.Gaps {
		s.Gaps = append(s.Gaps, view.RecordingGap{FromMs: g.FromMs, ToMs: g.ToMs, Reason: g.Reason})
	}
	if m.play != nil {
		s.Drawn = m.play.drawn
	}
	if m.phase == recordingShown {
		s.ToMs = max(s.ToMs, m.play.endMs())
	}
	return s
}
