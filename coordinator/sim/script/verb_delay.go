package script

func delayVerb() verb {
	return verb{
		name:     "delay",
		usage:    "delay CONSUMER API COUNT DURATION [answers]",
		help:     "the network takes so much longer for the next requests of one kind that a consumer sends, or for the answers to them; what is sent behind them waits",
		example:  "delay c1 JoinGroup 1 20s",
		params:   []param{consumerParam, apiParam, wholeParam("COUNT", 0, 1_000_000), durationParam("DURATION", 0), answersParam},
		optional: 1,
		do: func(e *Engine, c Command) error {
			key, _ := apiKey(c.Args[1].Text)
			return e.world.Delay(c.Args[0].Text, key, int(c.number(2)), c.duration(3), len(c.Args) > 4)
		},
	}
}
