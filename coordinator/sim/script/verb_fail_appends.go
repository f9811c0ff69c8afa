package script

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/sim"
)

func failAppendsVerb() verb {
	return verb{
		name:  "fail-appends",
		usage: "fail-appends WRITES ERROR COUNT [late]",
		help: "the next so many appends of coordinators fail, refused by the log; late: they are written and replicated, and only the answer fails. " +
			"WRITES is " + strings.Join(sim.Writes(), ", ") + " or any; a COUNT of 0 ends it",
		example:  "fail-appends group NOT_ENOUGH_REPLICAS 1",
		params:   []param{writesParam, appendErrorParam, wholeParam("COUNT", 0, 1_000_000), lateParam},
		optional: 1,
		do: func(e *Engine, c Command) error {
			return e.world.FailAppends(writesOf(c), c.Args[1].Text, int(c.number(2)), len(c.Args) > 3)
		},
	}
}

const anyWrites = "any"

var writesParam = param{"WRITES", func(s string) string {
	if s == anyWrites || slices.Contains(sim.Writes(), s) {
		return ""
	}
	return fmt.Sprintf("no coordinator writes %q%s", s, suggest(s, append(sim.Writes(), anyWrites), "; there are "+strings.Join(sim.Writes(), ", ")+" and any"))
}}

var appendErrorParam = param{"ERROR", func(s string) string {
	if slices.Contains(sim.AppendErrors(), s) {
		return ""
	}
	return fmt.Sprintf("no append fails with %q%s", s, suggest(s, sim.AppendErrors(), "; there are "+strings.Join(sim.AppendErrors(), ", ")))
}}

var lateParam = param{"late", func(s string) string {
	if s == "late" {
		return ""
	}
	return fmt.Sprintf("after the count comes nothing, or the word late, not %q", s)
}}

// writesOf is the first argument as the world has it: "" for any.
func writesOf(c Command) string {
	if c.Args[0].Text == anyWrites {
		return ""
	}
	return c.Args[0].Text
}
