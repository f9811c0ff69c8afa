package script

func startVerb() verb {
	return verb{
		name:    "start",
		usage:   "start CONSUMER",
		help:    "starts a consumer that does not run",
		example: "start c1",
		params:  []param{consumerParam},
		do: func(e *Engine, c Command) error {
			return e.world.Start(c.Args[0].Text)
		},
	}
}
