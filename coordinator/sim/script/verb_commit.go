package script

func commitVerb() verb {
	return verb{
		name:    "commit",
		usage:   "commit CONSUMER TOPIC-PARTITION OFFSET",
		help:    "the application commits one offset, whatever its client believes",
		example: "commit c1 orders-0 42",
		params:  []param{consumerParam, partitionParam, wholeParam("OFFSET", 0, 1<<62)},
		do: func(e *Engine, c Command) error {
			topic, partition, err := parsePartition(c.Args[1].Text)
			if err != nil {
				return err
			}
			return e.world.Commit(c.Args[0].Text, topic, partition, c.number(2))
		},
	}
}
