package script

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
)

func atVerb() verb {
	return verb{
		name:    "at",
		usage:   "at TIME [COMMAND]",
		help:    "lets the world's time come to this, then gives a command; what is due at that time happens before it. So a run is written down",
		example: "at 12s500ms kill c1",
		params:  []param{durationParam("TIME", 0)},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			ms := c.duration(0)
			if ms < e.NowMs() {
				return fmt.Errorf("%s is over: it is %s", c.Args[0].Text, event.Clock(e.NowMs()))
			}
			e.advanceTo(ms)
			if c.Then == nil {
				return nil
			}
			return e.Do(*c.Then)
		},
	}
}

// timeless are the verbs that can follow at: not those that let time pass or say what the world is made of.
func timeless(verb string) bool {
	return !slices.Contains([]string{atVerb().name, advanceVerb().name, untilVerb().name, seedVerb().name, brokersVerb().name}, verb)
}

// readThen reads what follows the time of at. text is the line up to its last word.
func (c *Command) readThen(text string) error {
	words := c.Args[1:]
	c.Args = c.Args[:1]
	if err := atVerb().check(c); err != nil {
		return err
	}
	then := Command{File: c.File, Line: c.Line}
	if err := then.read(text, words); err != nil {
		return err
	}
	if !timeless(then.Verb) {
		return then.fail(-1, "%s cannot follow at: a line of its own says it", then.Verb)
	}
	c.Then = &then
	return nil
}

// AtMs is the time of an at, in milliseconds of the world.
func (c Command) AtMs() int64 { return c.duration(0) }
