package script

func seedVerb() verb {
	return verb{
		name:    "seed",
		usage:   "seed N",
		help:    "decides every chance: member ids, ties, losses",
		example: "seed 7",
		params:  []param{wholeParam("N", 0, 1<<62)},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			if err := e.unborn(c); err != nil {
				return err
			}
			e.cfg.Seed = uint64(c.number(0))
			return nil
		},
	}
}
