package script

func healVerb() verb {
	return verb{
		name:    "heal",
		usage:   "heal CONSUMER|all BROKER|all",
		help:    "ends a cut, or all cuts of a side",
		example: "heal c1 2",
		params:  []param{consumerParam, brokerOrAll},
		do: func(e *Engine, c Command) error {
			return e.links(c, e.world.Heal)
		},
	}
}
