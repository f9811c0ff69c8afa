package tab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
	"grouplab/static/view"
)

// A run of the sandbox is written down as a script: the lines of its set-up, then what was done, each line with its time,
//
//	brokers 3
//	topic orders 6
//	consumer c1 session=10s
//	start c1
//	at 12s500ms kill c1
//	at 40s
//
// and at last how far it went. Package script runs it as it stands, and a page reads it back into the same run. A script
// without at is read too: from the first line on that does something, what it does becomes what was done, at the times at
// which it happens.

// sandboxID stands in links where lessons have their id.
const sandboxID = "sandbox"

// maxRunEvents bounds what a text can make a page run.
const maxRunEvents = 200_000

// building are the verbs that say what a world is made of. Where nothing has been done yet they belong to the set-up.
var building = []string{"seed", "brokers", "set", "latency", "loss", "topic", "group", "consumer"}

// onlyBefore are those that a world cannot be told any more.
var onlyBefore = []string{"seed", "brokers"}

// newWorld makes a sandbox of a set-up.
func newWorld(t *Tab, file string, setup []script.Command) (*lessonMode, error) {
	m := &lessonMode{t: t, page: &view.LessonPage{ID: sandboxID, Steps: []view.StepPage{{}}}, pace: newPace(), hints: map[int]int{}}
	m.lesson = lessons.NewFree(sandboxID, setup)
	var err error
	if m.head, err = newHead(m.lesson); err != nil {
		return nil, inFile(file, err)
	}
	m.cursor = newCursor(m.head)
	return m, nil
}

// inFile gives an error without a place that of the file.
func inFile(file string, err error) error {
	if _, placed := errors.AsType[script.Error](err); placed {
		return err
	}
	return script.Error{File: file, Line: 1, Col: 1, Msg: err.Error()}
}

// readRun makes a sandbox of a run's text, shown at its start, with the lines of its set-up. Whole texts are set-ups
// alone. Errors are script.Errors.
func readRun(t *Tab, file, text string, whole bool) (*lessonMode, []string, error) {
	commands, err := script.Parse(file, text)
	if err != nil {
		return nil, nil, err
	}
	timed := slices.ContainsFunc(commands, func(c script.Command) bool { return c.Verb == "at" })
	var setup []string
	n := 0
	for ; n < len(commands); n++ {
		c := commands[n]
		if timed && c.Verb == "at" || !timed && !whole && (c.Not || !slices.Contains(building, c.Verb)) {
			break
		}
		if c.Not && slices.Contains([]string{"advance", "until"}, c.Verb) {
			return nil, nil, script.Error{File: file, Line: c.Line, Col: c.Col, Msg: c.Verb + " cannot be negated in a run"}
		}
		setup = append(setup, c.Raw)
	}
	m, err := newWorld(t, file, commands[:n])
	if err != nil {
		return nil, nil, err
	}
	for _, c := range commands[n:] {
		if err := m.head.obey(c); err != nil {
			return nil, nil, placedAt(c, err)
		}
	}
	m.cursor.toBeat(0)
	m.cursor.toSeq(m.head.startSeq)
	return m, setup, nil
}

// placedAt gives an error of a command its place in the file.
func placedAt(c script.Command, err error) error {
	placed, ok := errors.AsType[script.Error](err)
	if !ok {
		return script.Error{File: c.File, Line: c.Line, Col: c.Col, Msg: err.Error()}
	}
	if placed.File == commandFile {
		placed.File, placed.Line = c.File, c.Line
		placed.Col += c.Col - 1
	}
	return placed
}

// obey does a command of a run's text: what takes time runs the head, the rest becomes an input.
func (h *head) obey(c script.Command) error {
	switch {
	case c.Verb == "show" || c.Verb == "hide":
		return nil
	case c.Not && slices.Contains([]string{"advance", "at", "until"}, c.Verb):
		return fmt.Errorf("%s cannot be negated in a run", c.Verb)
	case c.Verb == "expect":
		return h.engine.Do(c)
	case c.Verb == "at" && h.nowMs() > c.AtMs():
		return h.engine.Do(c) // says what is wrong with it
	case c.Verb == "at" && c.Then != nil:
		if err := h.wait(script.Wait{UntilMs: c.AtMs()}); err != nil {
			return err
		}
		if err := h.obey(*c.Then); err != nil {
			return placedAt(*c.Then, err)
		}
		return nil
	case c.Verb == "at":
		return h.wait(script.Wait{UntilMs: c.AtMs()})
	case c.Verb == "advance" || c.Verb == "until":
		w, err := h.engine.Begin(c)
		if err != nil {
			return err
		}
		return h.wait(w)
	case slices.Contains(onlyBefore, c.Verb):
		return h.engine.Clone().Do(c)
	}
	if len(h.inputs) == maxInputs {
		return fmt.Errorf("a run has at most %d commands", maxInputs)
	}
	return h.act(inputCommand, c.Raw)
}

// wait runs the head until a wait is over.
func (h *head) wait(w script.Wait) error {
	for {
		if over, err := h.engine.Done(w); over || err != nil {
			if err == nil {
				err = h.drain()
			}
			return err
		}
		if _, err := h.run(min(h.nextLimit(), w.UntilMs), 1); err != nil {
			return err
		}
		if h.seq() > maxRunEvents {
			return fmt.Errorf("more than %d events happen until then; a run is shorter", maxRunEvents)
		}
	}
}

// runText writes a run down, until endMs. It holds an at, so that what is set-up is told apart from what was done.
func runText(setup []string, inputs []input, endMs int64) string {
	var b strings.Builder
	for _, l := range setup {
		b.WriteString(l + "\n")
	}
	last := int64(-1)
	for _, in := range inputs {
		b.WriteString("at " + span(in.atMs) + " " + in.arg + "\n")
		last = in.atMs
	}
	if endMs > last {
		b.WriteString("at " + span(endMs) + "\n")
	}
	return b.String()
}

// span prints milliseconds as the script language reads them: 1m2s500ms.
func span(ms int64) string {
	var b strings.Builder
	for _, u := range []struct {
		ms   int64
		name string
	}{{3_600_000, "h"}, {60_000, "m"}, {1000, "s"}, {1, "ms"}} {
		if n := ms / u.ms; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			ms %= u.ms
		}
	}
	if b.Len() == 0 {
		return "0ms"
	}
	return b.String()
}
