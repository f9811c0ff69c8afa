package script

func killVerb() verb {
	return verb{
		name:    "kill",
		usage:   "kill CONSUMER",
		help:    "ends a process at once: no LeaveGroup, nobody is told",
		example: "kill c1",
		params:  []param{consumerParam},
		do: func(e *Engine, c Command) error {
			return e.world.Kill(c.Args[0].Text)
		},
	}
}
