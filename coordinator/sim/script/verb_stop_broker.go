package script

func stopBrokerVerb() verb {
	return verb{
		name:    "stop-broker",
		usage:   "stop-broker ID",
		help:    "stops a broker cleanly: its partitions move first, and what is parked is answered NOT_COORDINATOR",
		example: "stop-broker 1",
		params:  []param{wholeParam("ID", 1, 9)},
		do: func(e *Engine, c Command) error {
			return e.world.StopBroker(int32(c.number(0)))
		},
	}
}
