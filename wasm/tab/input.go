package tab

import (
	"fmt"
	"slices"

	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
)

// inputKind says what a learner did. The letters are those of links.
type inputKind byte

const (
	inputNext    inputKind = 'n' // went on to the next step
	inputPredict inputKind = 'p' // answered; arg is the option, "" to look only
	inputTake    inputKind = 't' // took over
	inputCommand inputKind = 'c' // gave a command of the script language: "kill c3"
)

// input is one thing that a learner did, at a time of the lab. All that is due at that time has happened before it.
type input struct {
	atMs int64
	kind inputKind
	arg  string
}

// perform does an input to an engine and a player. On an error neither has changed: what can fail halfway is tried on
// copies, since even a command that fails leaves a trace among the events.
func perform(in input, e *script.Engine, p *lessons.Player) error {
	switch in.kind {
	case inputNext:
		if err := p.Clone().Next(e.Clone()); err != nil {
			return err
		}
		return p.Next(e)
	case inputPredict:
		_, err := p.Predict(e, in.arg)
		return err
	case inputTake:
		p.TakeOver()
		return nil
	case inputCommand:
		c, err := command(in.arg, p)
		if err != nil {
			return err
		}
		if err := e.Clone().Do(c); err != nil {
			return err
		}
		p.Moved()
		return e.Do(c)
	}
	return fmt.Errorf("no input is called %q", string(in.kind))
}

// commandFile is the name that mistakes in a single command carry.
const commandFile = "command"

// command reads what a learner may do now.
func command(text string, p *lessons.Player) (script.Command, error) {
	c, err := script.ParseLine(commandFile, 1, text)
	if err != nil {
		return c, err
	}
	if p.Allows(c.Verb, c.Raw) {
		return c, nil
	}
	if !slices.Contains(lessons.FreeVerbs, c.Verb) {
		return c, fmt.Errorf("%q is nothing that a learner can do", text)
	}
	return c, notAllowedError{c.Verb}
}

// notAllowedError is returned for a verb that the current step does not offer.
type notAllowedError struct{ verb string }

func (e notAllowedError) Error() string {
	return fmt.Sprintf("this step does not offer %q; take over to do what you like", e.verb)
}
