package script

func brokersVerb() verb {
	return verb{
		name:    "brokers",
		usage:   "brokers N",
		help:    "how many brokers there are, with ids 1 to N; 3 if not said",
		example: "brokers 3",
		params:  []param{wholeParam("N", 1, 9)},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			if err := e.unborn(c); err != nil {
				return err
			}
			e.cfg.Brokers = int32(c.number(0))
			return nil
		},
	}
}
