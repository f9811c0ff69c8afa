package script

func stopVerb() verb {
	return verb{
		name:    "stop",
		usage:   "stop CONSUMER",
		help:    "closes a consumer cleanly: it commits and sends LeaveGroup",
		example: "stop c1",
		params:  []param{consumerParam},
		do: func(e *Engine, c Command) error {
			return e.world.Stop(c.Args[0].Text)
		},
	}
}
