package script

func restartBrokerVerb() verb {
	return verb{
		name:    "restart-broker",
		usage:   "restart-broker ID",
		help:    "starts a broker that does not run",
		example: "restart-broker 1",
		params:  []param{wholeParam("ID", 1, 9)},
		do: func(e *Engine, c Command) error {
			return e.world.RestartBroker(int32(c.number(0)))
		},
	}
}
