package script

// untilGivesUpMs is how long until waits where within= is not given: ten minutes of the world.
const untilGivesUpMs = 600_000

func untilVerb() verb {
	return verb{
		name:      "until",
		usage:     "until [within=10m] CONDITION",
		help:      "lets time pass until the condition holds; fails where it does not in time",
		example:   "until within=60s state Stable and generation >= 2",
		options:   []option{{"within", durationParam("within", 0)}},
		condition: true,
		quiet:     true,
		do: func(e *Engine, c Command) error {
			w := Wait{Command: c, UntilMs: e.NowMs() + c.WithinMs}
			for {
				over, err := e.Done(w)
				if over || err != nil {
					return err
				}
				e.Step(w.UntilMs)
			}
		},
	}
}
