package script

var cutVerb = verb{
	name:    "cut",
	usage:   "cut CONSUMER BROKER",
	help:    "parts a consumer from one broker: whatever they send each other is lost, and neither is told",
	example: "cut c1 2",
	params:  []param{consumerParam, wholeParam("BROKER", 1, 9)},
	do: func(e *Engine, c Command) error {
		return e.world.Cut(c.Args[0].Text, int32(c.number(1)))
	},
}
