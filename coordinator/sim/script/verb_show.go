package script

import (
	"slices"

	"grouplab/coordinator/event"
)

func showVerb() verb {
	return verb{
		name:    "show",
		usage:   "show kinds KIND…",
		help:    "transcripts print only these kinds of events from here on; `show kinds all` prints all",
		example: "show kinds StateChanged MemberRemoved",
		params:  []param{kindsParam, kindParam},
		rest:    &kindParam,
		quiet:   true,
		do: func(e *Engine, c Command) error {
			e.hidden = event.Kinds()
			for _, a := range c.Args[1:] {
				e.reveal(a.Text)
			}
			return nil
		},
	}
}

func hideVerb() verb {
	return verb{
		name:    "hide",
		usage:   "hide kinds KIND…",
		help:    "transcripts leave these kinds of events out from here on",
		example: "hide kinds TimerCascaded OperationTested",
		params:  []param{kindsParam, kindParam},
		rest:    &kindParam,
		quiet:   true,
		do: func(e *Engine, c Command) error {
			hidden := slices.Clone(e.hidden)
			for _, a := range c.Args[1:] {
				if a.Text == "all" {
					hidden = event.Kinds()
					break
				}
				if !slices.Contains(hidden, a.Text) {
					hidden = append(hidden, a.Text)
				}
			}
			e.hidden = hidden
			return nil
		},
	}
}

var kindsParam = param{"kinds", func(s string) string {
	if s == "kinds" {
		return ""
	}
	return "the word kinds comes first, as in `show kinds StateChanged`"
}}

// reveal shows a kind again.
func (e *Engine) reveal(kind string) {
	if kind == "all" {
		e.hidden = nil
		return
	}
	e.hidden = slices.DeleteFunc(slices.Clone(e.hidden), func(k string) bool { return k == kind })
}

// Shows tells whether a transcript prints a kind of event: what show and hide have said last.
func (e *Engine) Shows(kind string) bool { return !slices.Contains(e.hidden, kind) }
