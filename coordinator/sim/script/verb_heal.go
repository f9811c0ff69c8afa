package script

var healVerb = verb{
	name:    "heal",
	usage:   "heal CONSUMER BROKER",
	help:    "ends a cut",
	example: "heal c1 2",
	params:  []param{consumerParam, wholeParam("BROKER", 1, 9)},
	do: func(e *Engine, c Command) error {
		return e.world.Heal(c.Args[0].Text, int32(c.number(1)))
	},
}
