package script

func duplicateVerb() verb {
	return verb{
		name:     "duplicate",
		usage:    "duplicate CONSUMER API COUNT [DURATION]",
		help:     "the network delivers the next requests of one kind that a consumer sends a second time, at once or so much later; the client knows nothing of it",
		example:  "duplicate c1 JoinGroup 1 5s",
		params:   []param{consumerParam, apiParam, wholeParam("COUNT", 0, 1_000_000), durationParam("DURATION", 0)},
		optional: 1,
		do: func(e *Engine, c Command) error {
			key, _ := apiKey(c.Args[1].Text)
			laterMs := int64(0)
			if len(c.Args) > 3 {
				laterMs = c.duration(3)
			}
			return e.world.Duplicate(c.Args[0].Text, key, int(c.number(2)), laterMs)
		},
	}
}
