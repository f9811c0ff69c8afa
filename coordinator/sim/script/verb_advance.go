package script

func advanceVerb() verb {
	return verb{
		name:    "advance",
		usage:   "advance DURATION",
		help:    "lets time pass",
		example: "advance 5s",
		params:  []param{durationParam("DURATION", 0)},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			e.advanceTo(e.NowMs() + c.duration(0))
			return nil
		},
	}
}
