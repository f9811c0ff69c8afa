package script

func restartVerb() verb {
	return verb{
		name:    "restart",
		usage:   "restart CONSUMER",
		help:    "kills a process if it runs and starts a new one: the same client.id, no member id",
		example: "restart c1",
		params:  []param{consumerParam},
		do: func(e *Engine, c Command) error {
			return e.world.Restart(c.Args[0].Text)
		},
	}
}
