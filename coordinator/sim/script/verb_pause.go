package script

func pauseVerb() verb {
	return verb{
		name:    "pause",
		usage:   "pause CONSUMER",
		help:    "freezes a process with all its threads; answers queue",
		example: "pause c1",
		params:  []param{consumerParam},
		do: func(e *Engine, c Command) error {
			return e.world.Pause(c.Args[0].Text)
		},
	}
}
