package tab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
	"grouplab/static/view"
)

// console takes the script language a line at a time. What buttons and forms do goes through it, too, so that it shows
// how that is said.
type console struct {
	log     []view.ConsoleLine
	history []string
	at      int    // the place in the history; len(history) is the line that is being written
	draft   string // that line, while an older one is shown
	typed   string
}

const (
	// keptLines bounds the log, keptHistory the lines to come back to.
	keptLines, keptHistory = 60, 100
	// maxCandidates are shown at once.
	maxCandidates = 12
)

// ownWords are what the console understands beside the script language.
var ownWords = []script.Candidate{{Text: "help", Help: "help [VERB]"}, {Text: "undo"}, {Text: "clear"}}

// take does a line that was entered in the console's field.
func (k *console) take(s *sandbox, line string) {
	line = strings.TrimSpace(line)
	k.typed, k.draft = "", ""
	s.t.out.Fill = append(s.t.out.Fill, Attr{consoleField, ""})
	if line == "" {
		return
	}
	if n := len(k.history); n == 0 || k.history[n-1] != line {
		k.history = append(k.history, line)
		if len(k.history) > keptHistory {
			k.history = k.history[1:]
		}
	}
	k.at = len(k.history)
	s.exec(line)
}

// consoleField is the id of the console's field.
const consoleField = "console-line"

// print puts a line and what came of it into the log, and tells it to the screen reader.
func (k *console) print(s *sandbox, l view.ConsoleLine) {
	if k.log = append(k.log, l); len(k.log) > keptLines {
		k.log = k.log[1:]
	}
	said := l.Said
	if l.Wrong {
		said = s.t.word("console-wrong", fmt.Sprint(l.Col), view.ScriptText(l.Said, s.t.options.Lang))
	}
	s.t.announce = append(s.t.announce, said)
	s.t.dirty = true
}

// exec does one line.
func (s *sandbox) exec(line string) {
	t := s.t
	atMs := t.lesson.cursor.nowMs
	said, err := s.obey(line)
	if err != nil {
		w := view.ConsoleLine{AtMs: atMs, Line: line, Said: err.Error(), Wrong: true, Col: 1}
		if placed, ok := errors.AsType[script.Error](err); ok {
			w.Said, w.Col = placed.Msg, max(placed.Col, 1)
		}
		s.console.print(s, w)
		return
	}
	if said != "" {
		s.console.print(s, view.ConsoleLine{AtMs: atMs, Line: line, Said: said})
	}
}

// obey does one line and says what came of it. On an error nothing has changed.
func (s *sandbox) obey(line string) (said string, err error) {
	switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
	case "undo":
		s.undo()
		return s.t.options.Note, nil
	case "clear":
		s.console.log = nil
		return "", nil
	case "help":
		return s.help(strings.TrimSpace(rest))
	}
	c, err := script.ParseLine(commandFile, 1, line)
	if err != nil || c.Verb == "" {
		return "", err
	}
	m := s.t.lesson
	switch {
	case c.Verb == "show" || c.Verb == "hide":
		return s.t.word("console-transcripts", c.Verb), nil
	case c.Not && slices.Contains([]string{"advance", "at", "until"}, c.Verb):
		return "", script.Error{Line: 1, Col: c.Col, Msg: c.Verb + " cannot be negated here"}
	case c.Verb == "advance":
		ms, _ := c.Duration(0)
		return s.passTo(m.cursor.nowMs + ms)
	case c.Verb == "at":
		return s.at(c)
	case c.Verb == "until":
		return s.until(c)
	case c.Verb == "expect":
		return s.expect(c)
	case s.belongs(c):
		if err := s.build(c); err != nil {
			return "", err
		}
		return s.t.word("console-built"), nil
	}
	if err := s.give(c); err != nil {
		return "", err
	}
	if c.Not {
		return s.t.word("console-refused", view.ScriptText(m.head.engine.Failure(), s.t.options.Lang)), nil
	}
	return s.t.word("console-done", event.Clock(m.cursor.nowMs)), nil
}

// give does a command at the cursor.
func (s *sandbox) give(c script.Command) error {
	m := s.t.lesson
	if len(m.head.inputs) >= maxInputs {
		return fmt.Errorf("a run has at most %d commands", maxInputs)
	}
	if !m.cursor.atHead() { // what cannot be done must not cost the future
		e, err := s.engine()
		if err == nil {
			err = e.Do(c)
		}
		if err != nil {
			return err
		}
	}
	var refused error
	m.refused = func(err error) { refused = err }
	done := m.act(inputCommand, c.Raw)
	m.refused = nil
	if !done && refused == nil {
		refused = errors.New(s.t.options.Note)
	}
	return refused
}

// at lets the time come and gives the command.
func (s *sandbox) at(c script.Command) (string, error) {
	if c.AtMs() < s.t.lesson.cursor.nowMs {
		return "", script.Error{Line: 1, Col: c.Args[0].Col, Msg: fmt.Sprintf("%s is over: it is %s; step back, or click there on the timeline", c.Args[0].Text, event.Clock(s.t.lesson.cursor.nowMs))}
	}
	said, err := s.passTo(c.AtMs())
	if err != nil || c.Then == nil {
		return said, err
	}
	if err := s.give(*c.Then); err != nil {
		return "", err
	}
	return s.t.word("console-done", event.Clock(s.t.lesson.cursor.nowMs)), nil
}

// passTo lets time pass, as far as one command may.
func (s *sandbox) passTo(ms int64) (string, error) {
	m := s.t.lesson
	m.pace.playing = false
	for from := m.head.seq(); m.head.nowMs() < ms && m.head.seq()-from < maxRunEvents; {
		if why, err := m.head.run(ms, saveEvery); err != nil || why == endTime {
			if err != nil {
				return "", err
			}
			break
		}
	}
	m.cursor.toTime(ms)
	if m.cursor.nowMs < ms {
		return s.t.word("console-far", fmt.Sprint(maxRunEvents), event.Clock(m.cursor.nowMs)), nil
	}
	return s.t.word("console-passed", event.Clock(m.cursor.nowMs)), nil
}

// until looks on a copy when the condition holds, and goes there.
func (s *sandbox) until(c script.Command) (string, error) {
	m := s.t.lesson
	copied, err := m.head.copyAt(m.cursor.applied(), m.cursor.nowMs)
	if err != nil {
		return "", err
	}
	copied.engine.Mark()
	w, err := copied.engine.Begin(c)
	if err == nil {
		err = copied.wait(w)
	}
	if err != nil {
		return "", placedAt(c, err)
	}
	if _, err := s.passTo(copied.nowMs()); err != nil {
		return "", err
	}
	return s.t.word("console-holds", event.Clock(m.cursor.nowMs)), nil
}

// expect tells whether a condition holds at the cursor.
func (s *sandbox) expect(c script.Command) (string, error) {
	e, err := s.engine()
	if err == nil {
		err = e.Do(c)
	}
	if err != nil {
		return "", err
	}
	return s.t.word("console-true"), nil
}

// engine is a copy of the engine as it was at the cursor.
func (s *sandbox) engine() (*script.Engine, error) {
	m := s.t.lesson
	if m.cursor.atHead() {
		return m.head.engine.Clone(), nil
	}
	copied, err := m.head.copyAt(m.cursor.applied(), m.cursor.nowMs)
	if err != nil {
		return nil, err
	}
	return copied.engine, nil
}

// copyAt is a copy of the head as it was after so many inputs at a time, with what was done later pending.
func (h *head) copyAt(applied int, nowMs int64) (*head, error) {
	c := *h
	c.saves, c.beats, c.events, c.hashes = slices.Clip(slices.Clone(h.saves)), slices.Clone(h.beats), slices.Clip(h.events), slices.Clip(h.hashes)
	c.inputs = h.inputs[:applied:applied]
	c.backTo(applied, nowMs)
	for c.nowMs() < nowMs || c.applied < applied {
		if why, err := c.run(nowMs, saveEvery); err != nil {
			return nil, err
		} else if why != endBudget {
			break
		}
	}
	c.inputs = slices.Clip(h.inputs)
	return &c, nil
}

// help is the manual: of all verbs by name, or of one.
func (s *sandbox) help(of string) (string, error) {
	if of == "" {
		var names []string
		for _, m := range script.Manuals() {
			names = append(names, m.Name)
		}
		return s.t.word("console-help", strings.Join(names, " ")), nil
	}
	m, known := script.ManualOf(of)
	if !known {
		_, err := script.ParseLine(commandFile, 1, of)
		if placed, ok := errors.AsType[script.Error](err); ok {
			placed.Col += len("help ")
			err = placed
		}
		return "", err
	}
	return m.Usage + "\n" + view.ScriptText(m.Help, s.t.options.Lang) + "\n" + m.Example, nil
}

// candidates are what the line that is being written can go on with; from is where the last word begins.
func (k *console) candidates(s *sandbox) (from int, list []script.Candidate) {
	if k.typed == "" {
		return 0, nil
	}
	line, helps := strings.CutPrefix(k.typed, "help ")
	if helps && strings.Contains(line, " ") {
		return 0, nil
	}
	from, list = s.t.lesson.head.engine.Complete(line)
	if helps {
		return from + len("help "), list
	}
	if from == 0 {
		for _, w := range ownWords {
			if strings.HasPrefix(w.Text, line) {
				list = append(list, w)
			}
		}
	}
	if len(list) == 1 && list[0].Text == line[from:] {
		return from, nil
	}
	return from, list
}

// complete puts a word in place of the last one; "" stands for what all candidates have in common.
func (k *console) complete(s *sandbox, word string) bool {
	from, list := k.candidates(s)
	if len(list) == 0 {
		return false
	}
	if word == "" {
		word = list[0].Text
		for _, c := range list[1:] {
			n := 0
			for n < min(len(word), len(c.Text)) && word[n] == c.Text[n] {
				n++
			}
			word = word[:n]
		}
		if len(word) <= len(k.typed)-from {
			return true // nothing is certain yet: the candidates are shown
		}
	}
	line := k.typed[:from] + word
	if len(list) == 1 || slices.ContainsFunc(list, func(c script.Candidate) bool { return c.Text == word }) {
		if !strings.HasSuffix(word, "=") && len(list) == 1 {
			line += " "
		}
	}
	k.write(s, line)
	s.t.out.Reveal = consoleField
	return true
}

// write puts a line into the field.
func (k *console) write(s *sandbox, line string) {
	k.typed = line
	s.t.out.Fill = append(s.t.out.Fill, Attr{consoleField, line})
	s.t.dirty = true
}

// key does what a key stands for in the console's field.
func (k *console) key(s *sandbox, key Key) bool {
	switch {
	case key.Name == "ArrowUp" && k.at > 0:
		if k.at == len(k.history) {
			k.draft = k.typed
		}
		k.at--
		k.write(s, k.history[k.at])
	case key.Name == "ArrowDown" && k.at < len(k.history):
		k.at++
		if k.at == len(k.history) {
			k.write(s, k.draft)
		} else {
			k.write(s, k.history[k.at])
		}
	case key.Name == "Tab" && !key.Shift && k.typed != "":
		return k.complete(s, "")
	case key.Name == "Escape" && k.typed != "":
		k.write(s, "")
	case key.Name == "z" && key.Ctrl && k.typed == "":
		s.exec("undo")
	default:
		return false
	}
	return true
}
