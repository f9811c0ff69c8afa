package script

func topicVerb() verb {
	return verb{
		name:    "topic",
		usage:   "topic TOPIC PARTITIONS",
		help:    "creates a topic",
		example: "topic orders 6",
		params:  []param{topicParam, wholeParam("PARTITIONS", 1, 10_000)},
		do: func(e *Engine, c Command) error {
			e.topics = append(e.topics[:len(e.topics):len(e.topics)], c.Args[0].Text)
			return e.world.CreateTopic(c.Args[0].Text, int32(c.number(1)))
		},
	}
}
