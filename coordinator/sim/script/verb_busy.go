package script

func busyVerb() verb {
	return verb{
		name:    "busy",
		usage:   "busy CONSUMER DURATION",
		help:    "the application works on its records without calling poll; heartbeats go on",
		example: "busy c1 2m",
		params:  []param{consumerParam, durationParam("DURATION", 1)},
		do: func(e *Engine, c Command) error {
			return e.world.Busy(c.Args[0].Text, c.duration(1))
		},
	}
}
