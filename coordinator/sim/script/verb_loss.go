package script

func lossVerb() verb {
	return verb{
		name:    "loss",
		usage:   "loss PERCENT",
		help:    "how many messages between clients and brokers are lost; none if not said",
		example: "loss 1%",
		params:  []param{lossParam},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			ppm, err := parsePercent(c.Args[0].Text)
			if err != nil {
				return err
			}
			if e.world == nil {
				e.cfg.LossPPM = ppm
				return nil
			}
			e.input(c)
			return e.world.SetLoss(ppm)
		},
	}
}
