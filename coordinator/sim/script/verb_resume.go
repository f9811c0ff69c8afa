package script

func resumeVerb() verb {
	return verb{
		name:    "resume",
		usage:   "resume CONSUMER",
		help:    "lets a frozen process go on",
		example: "resume c1",
		params:  []param{consumerParam},
		do: func(e *Engine, c Command) error {
			return e.world.Resume(c.Args[0].Text)
		},
	}
}
