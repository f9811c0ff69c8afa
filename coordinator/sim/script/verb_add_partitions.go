package script

func addPartitionsVerb() verb {
	return verb{
		name:    "add-partitions",
		usage:   "add-partitions TOPIC TOTAL",
		help:    "brings a topic to so many partitions; nobody tells the consumers",
		example: "add-partitions orders 8",
		params:  []param{topicParam, wholeParam("TOTAL", 1, 10_000)},
		do: func(e *Engine, c Command) error {
			return e.world.AddPartitions(c.Args[0].Text, int32(c.number(1)))
		},
	}
}
