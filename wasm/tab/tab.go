package tab

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"grouplab/static/view"
)

// Choices are what the page remembers of a viewer, and where it was opened.
type Choices struct {
	Lang view.Lang
	// Motion is "full", "reduced" or "none".
	Motion string
	// Served is set where a server can be asked.
	Served bool
	// KeysOff switches single-letter keys off.
	KeysOff bool
	// Hash is the address's fragment without '#': perhaps a link to a moment. Query is what stands behind '?'. Address is the
	// page's without both.
	Hash, Query, Address string
}

// Tab is one page. One goroutine uses it.
type Tab struct {
	options view.Options
	mode    mode
	// lesson and sandbox are for the mode's own use: nil on other pages.
	lesson   *lessonMode
	sandbox  *sandbox
	selected string
	// sourced is set once the table of the code was asked for.
	sourced   bool
	inspected inspected
	motion    string
	keysOff   bool

	wallMs   int64 // the last frame
	drawnMs  int64 // the last time parts were rendered
	movedMs  int64
	started  bool
	dirty    bool // something visible changed
	moved    bool // something has happened as time passed, at movedMs of the wall for the last time
	behind   bool // parts wait for the next frame
	scrolled bool // other rows of a list are to be drawn, and nothing else
	html     map[string]string
	drawn    map[string]int64 // the wall time at which a part was rendered last
	hidden   []string         // parts that are out of sight
	out      Update
	announce []string // sentences for the screen reader, oldest first
	narrated string   // the newest thing that the cursor passed, said after them
	spokenMs int64
	notedMs  int64  // when the note was set
	linked   string // the fragment that the address shows
	address0 string // the address without it
	unstored bool   // the browser does not keep what is to be kept, and that was said
	breaks   string // how it is to break on purpose
	brokenAt *string
}

const (
	// maxFrameMs bounds the wall time of one frame, so that a page that was hidden does not make up for it.
	maxFrameMs = 250
	// hiddenMs is a time between two frames after which the viewer is told that it did not pass in the lab.
	hiddenMs = 5000
	// speakMs is how long a sentence for the screen reader has for itself.
	speakMs = 1200
)

func newTab(c Choices) *Tab {
	t := &Tab{html: map[string]string{}, drawn: map[string]int64{}, motion: c.Motion, keysOff: c.KeysOff, address0: c.Address, dirty: true}
	t.options = view.Options{Lang: c.Lang, Grain: view.GrainEvent, Memo: view.NewMemo()}
	if t.options.Lang == "" {
		t.options.Lang = view.English
	}
	return t
}

// NewLesson makes the page of a lesson out of what the page carries: the lesson's script, and its text as a
// view.LessonPage in JSON. An error is meant for the page: the script's prints FILE:LINE:COL.
func NewLesson(script, page string, c Choices) (*Tab, error) {
	t := newTab(c)
	m, err := newLessonMode(t, script, page)
	if err != nil {
		return nil, err
	}
	t.lesson, t.mode, t.options.Mode = m, lessonPage{t}, view.ModeLesson
	if c.Hash != "" {
		m.open(c.Hash)
	}
	return t, nil
}

// Frame lets the time since the last frame pass and says what the page has to do. wallMs is any clock of milliseconds
// that never goes back.
func (t *Tab) Frame(wallMs int64) Update {
	passed := min(max(wallMs-t.wallMs, 0), maxFrameMs)
	if !t.started {
		t.started, passed = true, 0
	}
	if hidden := wallMs - t.wallMs; hidden > hiddenMs && t.started && t.playing() && passed > 0 {
		t.say("was-hidden", t.options.Lang.Duration(hidden))
	}
	t.wallMs = wallMs
	if t.breaks == "frame" {
		t.crash("")
	}
	more := t.mode.tick(wallMs, passed)
	half := t.mode.half()
	if !half && (t.dirty || t.due()) {
		t.render()
	} else if s, ok := t.mode.(scroller); ok && t.scrolled && !half {
		t.scrolled = false
		t.patch(s.listed(t.fill(), t.options))
	}
	t.speak()
	u := t.out
	t.out = Update{}
	if !t.reduced() {
		u.Motion = t.mode.rate()
	}
	u.Busy = t.playing() || (t.dirty || t.scrolled) && !half || more
	if !u.Busy {
		u.WakeMs = t.wakeMs()
	}
	return u
}

// playing tells whether lab time passes by itself.
func (t *Tab) playing() bool { return t.mode.playing() }

func (t *Tab) wakeMs() int64 {
	if ms := t.mode.wakeMs(); ms > 0 {
		return ms
	}
	if len(t.announce) > 0 || t.narrated != "" {
		return speakMs
	}
	return 0
}

func (t *Tab) reduced() bool { return t.motion == "reduced" || t.motion == "none" }

// render renders the parts and patches those whose HTML changed.
func (t *Tab) render() {
	all := t.dirty || !t.playing()
	if t.moved {
		t.movedMs = t.wallMs
	}
	t.dirty, t.moved, t.behind, t.scrolled, t.drawnMs = false, false, false, false, t.wallMs
	model := t.fill()
	t.inspect()
	parts := t.mode.parts(model, t.options)
	if !all {
		parts = t.awake(parts)
	}
	t.patch(parts)
	t.mode.address()
}

// patch draws parts, and hands out those whose HTML changed.
func (t *Tab) patch(parts []view.Part) {
	var b bytes.Buffer
	for _, p := range parts {
		b.Reset()
		if err := p.Component.Render(context.Background(), &b); err != nil {
			t.say("failed", "part "+p.ID+": "+err.Error())
			continue
		}
		t.drawn[p.ID] = t.wallMs
		html := b.String()
		if old, drawn := t.html[p.ID]; drawn && old == html { // what the page came with is not known
			continue
		}
		t.html[p.ID] = html
		t.out.Patches = append(t.out.Patches, Patch{ID: "part-" + p.ID, HTML: html})
	}
}

// fill brings the options up to date and returns the picture.
func (t *Tab) fill() *view.Model {
	t.options.Selected, t.options.Reduced = t.selected, t.reduced()
	return t.mode.filled(&t.options)
}

// group is the group on stage.
func (t *Tab) group(m *view.Model) *view.Group {
	if g := m.Groups[t.options.Group]; g != nil {
		return g
	}
	if names := m.GroupNames(); t.options.Group == "" && len(names) > 0 {
		return m.Groups[names[0]]
	}
	return nil
}

func (t *Tab) model() *view.Model { return t.mode.picture() }

// say shows a sentence and tells it to the screen reader.
func (t *Tab) say(key string, args ...string) {
	t.note(t.word(key, args...))
}

// note shows a sentence that has been made, as say does.
func (t *Tab) note(text string) {
	t.options.Note, t.notedMs, t.dirty = text, t.wallMs, true
	t.announce = append(t.announce, text)
}

// seekMs is the time that a press on the timeline asks for: milliseconds, or a fraction of it as it is drawn with the options
// that as makes of the page's. It is false where the argument is neither.
func (t *Tab) seekMs(arg string, as func(view.Options) view.Options) (int64, bool) {
	at, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(at >= 0) {
		return 0, false
	}
	if at <= 1 {
		model := t.fill()
		return view.TimelineAxis(model, as(t.options)).At(at), true
	}
	return int64(at), true
}

// tell tells the screen reader what the eye sees elsewhere.
func (t *Tab) tell(key string, args ...string) {
	t.announce = append(t.announce, t.word(key, args...))
}

// fail tells what went wrong, in the words of the error.
func (t *Tab) fail(err error) { t.say("failed", view.ScriptText(err.Error(), t.options.Lang)) }

// speak hands out at most one announcement each speakMs. What piles up is merged: the last sentences, and the newest of
// what the cursor passed.
func (t *Tab) speak() {
	t.mode.told()
	if len(t.announce) == 0 && t.narrated == "" || t.spokenMs > 0 && t.wallMs-t.spokenMs < speakMs {
		return
	}
	list := slices.Compact(t.announce) // a key pressed again and again is answered once
	list = list[max(0, len(list)-3):]
	if t.narrated != "" {
		list = append(list, t.narrated)
	}
	t.out.Announce = strings.Join(list, " ")
	t.announce, t.narrated, t.spokenMs = nil, "", t.wallMs
}

// number reads an argument that must be a whole number.
func number(arg string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(arg), 10, 64)
	return n, err == nil
}
