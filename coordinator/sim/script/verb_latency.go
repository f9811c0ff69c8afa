package script

func latencyVerb() verb {
	return verb{
		name:    "latency",
		usage:   "latency DURATION",
		help:    "how long a message takes; 2ms if not said",
		example: "latency 20ms",
		params:  []param{durationParam("DURATION", 1)},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			if e.world == nil {
				e.cfg.LatencyMs = c.duration(0)
				return nil
			}
			e.input(c)
			return e.world.SetLatency(c.duration(0))
		},
	}
}
