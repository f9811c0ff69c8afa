package script

import (
	"strings"

	"grouplab/coordinator/sim"
)

func slowAppendsVerb() verb {
	return verb{
		name:  "slow-appends",
		usage: "slow-appends WRITES DURATION COUNT",
		help: "the answers to the next so many appends of coordinators are kept back so long after they were written; beyond offsets.commit.timeout.ms they are REQUEST_TIMED_OUT. " +
			"WRITES is " + strings.Join(sim.Writes(), ", ") + " or any; a COUNT of 0 ends it",
		example: "slow-appends group 2s 1",
		params:  []param{writesParam, durationParam("DURATION", 1), wholeParam("COUNT", 0, 1_000_000)},
		do: func(e *Engine, c Command) error {
			return e.world.SlowAppends(writesOf(c), c.duration(1), int(c.number(2)))
		},
	}
}
