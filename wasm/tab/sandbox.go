package tab

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// sandbox is what a page without a lesson has beside its run: the set-up that can be changed, the console, the explorer.
// The run itself is a lessonMode whose learner has taken over.
type sandbox struct {
	t *Tab
	// setup are the lines that the world is made of.
	setup   []string
	earlier []world
	panel   string
	setting string // the configuration name that the form explains
	console console
	explore explorer
	// wrong is what is wrong with the text that was to be read in; nil where nothing is.
	wrong *view.ScriptError
	draft *draft
}

// world is a run to come back to, with the set-up it had.
type world struct {
	mode  *lessonMode
	setup []string
}

// maxRunBytes bounds a text that is read in.
const maxRunBytes = 256 << 10

// maxWorlds bounds the runs to come back to with other set-ups.
const maxWorlds = 6

// NewSandbox makes the page of free play, with the first of the ready set-ups.
func NewSandbox(c Choices) (*Tab, error) {
	t := newTab(c)
	s := &sandbox{t: t, panel: view.SandboxPanels[0], setting: "group.initial.rebalance.delay.ms"}
	s.explore = newExplorer()
	t.sandbox, t.mode, t.options.Mode = s, sandboxPage{lessonPage{t}, s}, view.ModeLesson
	m, setup, err := readRun(t, presets[0].id, presets[0].text, true)
	if err != nil {
		return nil, err
	}
	t.lesson, s.setup = m, setup
	if c.Hash != "" {
		m.open(c.Hash)
	}
	return t, nil
}

// enter shows another run, and keeps the one before for undo.
func (s *sandbox) enter(m *lessonMode, setup []string) {
	s.earlier = append(s.earlier, world{s.t.lesson, s.setup})
	if len(s.earlier) > maxWorlds {
		s.earlier = slices.Delete(s.earlier, 0, 1)
	}
	s.show(world{m, setup})
}

func (s *sandbox) show(w world) {
	if was := s.t.lesson; was != nil {
		was.pace.playing = false
		w.mode.pace.speed, w.mode.paced = was.pace.speed, was.paced
	}
	s.t.lesson, s.setup = w.mode, w.setup
	s.t.options.Memo = view.NewMemo() // what it remembers is of another world
	s.t.options.Group, s.t.selected, s.t.dirty = "", "", true
}

// do does what only the sandbox can, and keeps away what belongs to narration.
func (s *sandbox) do(action, arg string) bool {
	switch action {
	case "panel":
		if slices.Contains(view.SandboxPanels, arg) {
			s.panel = arg
		}
	case "preset":
		s.preset(arg)
	case "line":
		s.exec(arg)
	case "console":
		s.console.take(s, arg)
	case "command":
		s.t.out.Reveal = consoleField
	case "typed":
		s.console.typed = arg
	case "complete":
		s.console.complete(s, arg)
	case "setting":
		s.setting = arg
	case "run-text":
		s.t.out.Download = &Download{Name: "grouplab-run.txt", Text: s.text()}
	case "copy-run":
		s.t.out.CopyText = s.text()
		s.t.say("run-copied")
	case "import":
		s.read(s.t.word("import-file"), arg)
	case "draft":
		s.makeDraft(arg)
	case "draft-file":
		s.saveDraft(arg)
	case "explore":
		s.explore.set(arg)
	case "show-case":
		s.showCase(arg)
	case "undo":
		s.undo()
	case "move", "deed":
		s.exec(arg)
	case "next", "prev", "hint", "goal", "question", "take-over", "back-to-lesson", "predict", "predict-check":
		return false
	default:
		if arg != "" && slices.Contains(deeds, action) {
			s.exec(s.withTotal(action, arg))
			return true
		}
		return s.t.lesson.do(action, arg)
	}
	return true
}

// deeds are the verbs that buttons give with a target; the transport's own actions take none.
var deeds = []string{"start", "stop", "kill", "pause", "resume", "restart", "kill-broker", "restart-broker", "add-partitions"}

// withTotal is a button's command: that for more partitions says how many it makes.
func (s *sandbox) withTotal(action, arg string) string {
	if t := s.t.model().Topics[arg]; t != nil && action == "add-partitions" {
		arg += fmt.Sprint(" ", t.Partitions+morePartitions)
	}
	return action + " " + arg
}

// text is the run as far as it is shown.
func (s *sandbox) text() string {
	m := s.t.lesson
	return runText(s.setup, m.head.inputs[:m.cursor.applied()], max(m.cursor.nowMs, m.head.startMs))
}

// read shows the run that a text describes. Where it cannot be read nothing changes, and the mistake is shown.
func (s *sandbox) read(file, text string) {
	if strings.TrimSpace(text) == "" {
		s.t.say("import-empty")
		return
	}
	if len(text) > maxRunBytes {
		s.t.say("import-long", fmt.Sprint(len(text)), fmt.Sprint(maxRunBytes))
		return
	}
	m, setup, err := readRun(s.t, file, text, false)
	if err != nil {
		s.wrong = scriptError(err, text)
		s.t.announce = append(s.t.announce, s.t.word("import-wrong", fmt.Sprint(s.wrong.Line), fmt.Sprint(s.wrong.Col), view.ScriptText(s.wrong.Msg, s.t.options.Lang)))
		return
	}
	s.wrong = nil
	s.enter(m, setup)
	s.t.say("import-read", fmt.Sprint(len(m.head.inputs)))
}

// preset begins one of the ready set-ups.
func (s *sandbox) preset(id string) {
	for _, p := range presets {
		if p.id != id {
			continue
		}
		m, setup, err := readRun(s.t, id, p.text, true)
		if err != nil {
			s.t.fail(err)
			return
		}
		s.enter(m, setup)
		s.t.say("world-new")
	}
}

// undo takes back what was done last: a command of the run, or the set-up that was changed.
func (s *sandbox) undo() {
	switch {
	case len(s.t.lesson.undo) > 0:
		s.t.lesson.back()
		s.t.say("undone")
	case len(s.earlier) > 0:
		last := len(s.earlier) - 1
		s.show(s.earlier[last])
		s.earlier = s.earlier[:last]
		s.t.say("world-back")
	default:
		s.t.say("nothing-to-undo")
	}
}

// begun tells whether anything has happened since the set-up.
func (s *sandbox) begun() bool {
	h := s.t.lesson.head
	return len(h.inputs) > 0 || h.nowMs() > h.startMs
}

// world shows the world of a set-up, which a link carries, if it is not shown already.
func (s *sandbox) world(setup string) (*lessonMode, error) {
	if setup == strings.Join(s.setup, "\n") {
		return s.t.lesson, nil
	}
	commands, err := script.Parse("setup", setup)
	if err != nil {
		return nil, err
	}
	m, err := newWorld(s.t, "setup", commands)
	if err != nil {
		return nil, err
	}
	s.enter(m, strings.Split(setup, "\n"))
	return m, nil
}

// build changes the set-up by a command, and plays what was done so far again in the new world.
func (s *sandbox) build(c script.Command) error {
	setup, kept := s.changed(c)
	m := s.t.lesson
	inputs, nowMs := m.head.inputs[:m.head.applied], m.cursor.nowMs
	if !kept {
		inputs = s.described(c)
	}
	fresh, setup, err := readRun(s.t, commandFile, runText(setup, inputs, -1), len(inputs) == 0)
	if err != nil && len(inputs) > 0 { // what was done is not possible in that world
		if fresh, setup, err = readRun(s.t, commandFile, runText(s.changedOnly(c), nil, -1), true); err == nil {
			s.t.say("world-anew")
		}
	}
	if err != nil {
		return err
	}
	begun := s.begun()
	s.enter(fresh, setup)
	if !begun {
		fresh.toEnd()
		return nil
	}
	_, err = s.passTo(nowMs)
	return err
}

// changedOnly is the set-up with a command in it.
func (s *sandbox) changedOnly(c script.Command) []string {
	setup, _ := s.changed(c)
	return setup
}

// changed is the set-up with a command in it: in place of a line that says the same thing, or where it belongs. The
// second result is false where the thing is said among the commands of the run instead.
func (s *sandbox) changed(c script.Command) ([]string, bool) {
	setup := slices.Clone(s.setup)
	key := subject(c)
	for i, l := range setup {
		if old, err := script.ParseLine(commandFile, 1, l); err == nil && subject(old) == key {
			setup[i] = c.Raw
			return setup, true
		}
	}
	if s.begun() && c.Verb == "consumer" {
		return setup, false
	}
	at := len(setup)
	if slices.Contains([]string{"seed", "brokers", "set", "latency", "loss"}, c.Verb) {
		at = 0
		if c.Verb == "set" { // settings may depend on how many brokers there are
			for at < len(setup) && !strings.HasPrefix(setup[at], "topic ") && !strings.HasPrefix(setup[at], "group ") {
				at++
			}
		}
	}
	return slices.Insert(setup, at, c.Raw), true
}

// described are the inputs with a consumer's description replaced.
func (s *sandbox) described(c script.Command) []input {
	inputs := slices.Clone(s.t.lesson.head.inputs)
	for i, in := range inputs {
		if old, err := script.ParseLine(commandFile, 1, in.arg); err == nil && subject(old) == subject(c) {
			inputs[i].arg = c.Raw
		}
	}
	return inputs
}

// subject is what a line of a set-up is about: lines about the same thing take each other's place.
func subject(c script.Command) string {
	switch {
	case c.Verb == "consumer" || c.Verb == "set" || c.Verb == "topic":
		return c.Verb + " " + c.Args[0].Text
	case slices.Contains([]string{"seed", "brokers", "latency", "loss"}, c.Verb):
		return c.Verb
	}
	return c.Verb + " " + c.Raw
}

// belongs tells whether a command changes the set-up rather than the run: what a world cannot be told any more, what
// builds while nothing has been done, and what describes a consumer anew.
func (s *sandbox) belongs(c script.Command) bool {
	switch {
	case c.Not:
		return false
	case slices.Contains(onlyBefore, c.Verb):
		return true
	case c.Verb == "set":
		return !s.begun() || !liveSetting(c.Args[0].Text)
	case c.Verb == "consumer" && slices.Contains(s.t.lesson.head.engine.World().Consumers(), c.Args[0].Text):
		return true
	}
	return !s.begun() && slices.Contains(building, c.Verb)
}

// scriptError is an error of the script language for the page, with the line that is wrong.
func scriptError(err error, text string) *view.ScriptError {
	placed, ok := err.(script.Error)
	if !ok {
		return &view.ScriptError{Line: 1, Col: 1, Msg: err.Error()}
	}
	w := &view.ScriptError{Line: placed.Line, Col: placed.Col, Msg: placed.Msg}
	if lines := strings.Split(text, "\n"); placed.Line >= 1 && placed.Line <= len(lines) {
		w.Text = strings.TrimRight(lines[placed.Line-1], "\r")
	}
	return w
}
