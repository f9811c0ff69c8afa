package lessons

import (
	"fmt"

	"grouplab/coordinator/sim/script"
)

// NewFree is a lesson without narration: the world of a set-up, in which the learner does what he likes. The world is there
// after it, even where the set-up makes nothing.
func NewFree(id string, setup []script.Command) *Lesson {
	bear, err := script.ParseLine(id, len(setup)+1, "advance 0ms")
	if err != nil {
		panic("lessons.NewFree: " + err.Error()) // the line is a constant
	}
	setup = append(setup[:len(setup):len(setup)], bear)
	return &Lesson{ID: id, Setup: setup, Steps: []Step{{Name: "free"}}, file: id, free: true}
}

// maxFreeMoments bounds the set-up of a lesson without narration: anybody may have written it.
const maxFreeMoments = 100_000

// prepare runs a command of the set-up.
func (l *Lesson) prepare(e *script.Engine, c script.Command) error {
	if !l.free {
		return e.Do(c)
	}
	w, err := e.Begin(c)
	for n := 0; err == nil; n++ {
		over := false
		if over, err = e.Done(w); over {
			break
		}
		e.Step(w.UntilMs)
		if n == maxFreeMoments {
			return script.Error{File: c.File, Line: c.Line, Col: c.Col, Msg: fmt.Sprintf("the set-up is not over after %d moments; a shorter time would be right", n)}
		}
	}
	return err
}

// IsName tells whether a text can name a lesson, a step, a goal: small letters, digits and single dashes.
func IsName(s string) bool { return isName(s) }
