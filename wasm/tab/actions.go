package tab

import (
	"html"
	"slices"
	"strconv"
	"strings"

	"grouplab/lessons"
	"grouplab/static/view"
)

// Do does what a button, a form or the pointer asks for. Unknown actions and arguments are answered with a sentence.
func (t *Tab) Do(action, arg string) {
	if action == "window" { // not the viewer's doing: notes stay
		window, part, _ := strings.Cut(arg, " ")
		if px, ok := number(window); ok {
			partPx, _ := number(part)
			t.options.SetWindow(int(px), int(partPx))
			t.dirty = true
			return
		}
	}
	if s, ok := t.mode.(scroller); ok && action == "scrolled" {
		t.scrolled = s.scrolled(arg) || t.scrolled
		return
	}
	if action == "sight" {
		t.sight(strings.Fields(arg))
		return
	}
	t.options.Note = ""
	t.dirty = true
	if verb, of, found := strings.Cut(action, ":"); found && arg == "" {
		action, arg = verb, of // "grain:event"
	}
	if t.common(action, arg) {
		return
	}
	t.mode.interrupted()
	if !t.mode.act(action, arg) {
		t.say("not-here", strings.TrimSpace(action+" "+arg))
	}
}

// common does what every page can.
func (t *Tab) common(action, arg string) bool {
	switch action {
	case "select":
		t.mode.unfollow()
		if t.selected == arg {
			arg = ""
		}
		t.selected = arg
	case "follow":
		t.selected = "event:" + arg
	case "group":
		t.options.Group, t.selected = arg, ""
	case "search":
		t.options.Search = arg
	case "lang":
		if arg != string(view.English) && arg != string(view.Chinese) {
			return false
		}
		t.options.Lang = view.Lang(arg)
	case "motion":
		if !slices.Contains([]string{"full", "reduced", "none"}, arg) {
			return false
		}
		t.motion = arg
	case "keys":
		t.keysOff = !t.keysOff
		off := ""
		if t.keysOff {
			off = "off"
		}
		t.out.Store = append(t.out.Store, Attr{"keys", off})
		t.say(map[bool]string{true: "keys-off", false: "keys-on"}[t.keysOff])
	case "help":
		t.out.Help = true
	case "crash":
		t.crash(arg)
	case "unstored":
		if !t.unstored {
			t.unstored = true
			t.say("unstored", arg)
		}
	case "pane":
		t.out.Reveal = "part-" + arg
	case "waiting":
		t.out.Reveal = "part-headline"
		t.tellWaiting()
	case "find":
		t.out.Reveal, t.out.Field = "part-"+t.mode.findIn(), true
	case "dismiss":
		if t.selected == "" && t.options.Why == 0 {
			t.mode.dismiss()
		}
		t.mode.unfollow()
		t.selected, t.options.Why = "", 0
	default:
		return t.asking(action, arg)
	}
	return true
}

// do does what only a lesson can.
func (m *lessonMode) do(action, arg string) bool {
	t := m.t
	switch action {
	case "play":
		m.toggle()
	case "pause":
		m.pace.playing = false
	case "step":
		m.stepForward(t.options.Grain)
	case "back":
		m.stepBack(t.options.Grain)
	case "next-state":
		m.stepForward(view.GrainState)
	case "prev-state":
		m.stepBack(view.GrainState)
	case "next-timer":
		m.stepForward(view.GrainTimer)
	case "start":
		if arg != "" { // "start c1" is a verb; "start" alone is the transport's
			m.command(action, arg)
		} else {
			m.toStart()
		}
	case "end":
		m.toEnd()
	case "grain":
		if !slices.Contains(view.Grains, view.Grain(arg)) {
			return false
		}
		t.options.Grain = view.Grain(arg)
	case "speed":
		return m.setSpeed(arg)
	case "faster":
		m.paced = true
		m.pace.shift(1)
	case "slower":
		m.paced = true
		m.pace.shift(-1)
	case "seek":
		ms, ok := t.seekMs(arg, func(o view.Options) view.Options { return o })
		if !ok {
			return false
		}
		m.seek(ms)
	case "follow-timer":
		m.followTimer(arg)
	case "branch":
		m.branchHere()
	case "branch-go":
		m.goTo(arg)
	case "branch-cut":
		m.cutBranch(arg)
	case "compare":
		m.compare(arg)
	case "link":
		t.out.Copy = true
		m.setHash(m.shared())
		t.say("link-copied")
	case "hash":
		if arg != t.linked {
			m.open(arg)
		}
	default:
		return m.export(action, arg) || m.narration(action, arg)
	}
	return true
}

// narration does what belongs to the lesson's text, and the learner's verbs.
func (m *lessonMode) narration(action, arg string) bool {
	switch action {
	case "next":
		m.next()
	case "prev":
		m.prev()
	case "predict":
		m.picked = arg
	case "predict-check":
		if arg == "" {
			arg = m.picked
		}
		switch arg {
		case "":
			m.t.say("pick-first")
		case "show":
			m.predict("")
		default:
			m.predict(arg)
		}
	case "take-over":
		m.takeOver()
	case "back-to-lesson":
		m.comeBack()
	case "undo":
		m.back()
	case "hint":
		m.hint()
	case "goal":
		m.t.out.Reveal = "part-lesson"
	case "question":
		m.t.out.Reveal, m.t.out.Field = "part-lesson", true
	case "move", "deed":
		m.act(inputCommand, arg)
	case "add-partitions":
		m.addPartitions(arg)
	default:
		if !slices.Contains(lessons.FreeVerbs, action) {
			return false
		}
		m.command(action, arg)
	}
	return true
}

// morePartitions is how many partitions a topic gets at once.
const morePartitions = 2

// addPartitions takes "TOPIC" or "TOPIC TOTAL".
func (m *lessonMode) addPartitions(arg string) {
	if t := m.cursor.model.Topics[arg]; t != nil {
		arg += " " + strconv.Itoa(int(t.Partitions)+morePartitions)
	}
	m.command("add-partitions", arg)
}

func (m *lessonMode) setSpeed(arg string) bool {
	set := m.pace.setTo(arg)
	m.paced = m.paced || set
	return set
}

// hint shows one more hint.
func (m *lessonMode) hint() {
	step := m.cursor.lesson().player.Index()
	list, n := m.page.Steps[step].Hints, m.hints[step]
	if n >= len(list) {
		m.t.say("no-hints")
		return
	}
	m.hints[step]++
	m.t.announce = append(m.t.announce, m.t.word("hint-shown", strconv.Itoa(n+1), strconv.Itoa(len(list)), plain(list[n].In(m.t.options.Lang))))
}

// fill puts the lesson's state into the options and returns the picture at the cursor.
func (m *lessonMode) fill(o *view.Options) *view.Model {
	b := m.cursor.lesson()
	p, step := b.player, b.player.Step()
	o.Playing, o.Speed = m.pace.playing, float(m.pace.speed)
	o.AtStart = m.cursor.seq <= m.cursor.floor()
	o.AtEnd = m.cursor.atHead() && p.Gate() == lessons.Asking
	o.Head = m.cursor.furthest
	o.Fact, o.Yours = m.fact, m.yours
	m.keepUp()
	o.Selected, o.Follow = m.t.selected, m.followed != nil
	o.Branches, o.Compare = m.rails(), m.comparison()
	o.Own = m.acted()
	o.Focus, o.FocusClient = step.Focus.Part, step.Focus.Client
	hints := m.hints[p.Index()]
	if hints > 0 && hints <= len(step.Hints) {
		if f := step.Hints[hints-1]; f.Part != "" {
			o.Focus, o.FocusClient = f.Part, f.Client
		}
	}
	s := &view.LessonState{Page: m.page, Step: p.Index(), Gate: string(p.Gate()), Met: b.met, Hints: hints, Moves: p.Moves(), Allow: step.Allow}
	if step.Wait != nil {
		s.Waits = waitWords(step.Wait.String(), o.Lang)
	}
	if p.Gate() == lessons.Free {
		s.Allow = lessons.FreeVerbs
		if m.t.sandbox == nil {
			s.Deeds = func() []view.Deed { return deedsOf(m.head.engine) }
		}
		o.Focus, o.FocusClient = "", ""
	}
	if w := m.head.engine.World(); w != nil {
		s.Clients = w.Consumers()
	}
	s.Picked = m.picked
	if a := p.Answer(step.Name); a != nil {
		s.Picked, s.Chosen, s.Right, s.DecidedMs = a.Chosen, a.Chosen, a.Right, a.DecidedMs
	}
	for _, g := range b.goals {
		s.Goals = append(s.Goals, view.GoalState{Label: g.Label, Holds: g.Holds, Now: nowWords(g.Now, o.Lang)})
	}
	o.Lesson, o.Behaviour = s, m.behaviour()
	o.Checked, o.Broken = false, ""
	if o.Behaviour != nil {
		o.Checked, o.Broken = m.probed.checked, m.probed.broken
	}
	return m.cursor.model
}

// plain drops the tags of a piece of HTML, for those who hear it.
func plain(piece string) string {
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(piece, "<")
		b.WriteString(text)
		if !found {
			return html.UnescapeString(b.String())
		}
		_, piece, _ = strings.Cut(rest, ">")
	}
}
