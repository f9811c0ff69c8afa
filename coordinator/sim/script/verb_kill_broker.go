package script

func killBrokerVerb() verb {
	return verb{
		name:    "kill-broker",
		usage:   "kill-broker ID",
		help:    "ends a broker's process at once; the controller notices after broker.session.timeout.ms",
		example: "kill-broker 1",
		params:  []param{wholeParam("ID", 1, 9)},
		do: func(e *Engine, c Command) error {
			return e.world.KillBroker(int32(c.number(0)))
		},
	}
}
