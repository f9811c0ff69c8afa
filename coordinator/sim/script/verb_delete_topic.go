package script

func deleteTopicVerb() verb {
	return verb{
		name:    "delete-topic",
		usage:   "delete-topic TOPIC",
		help:    "deletes a topic with all its data; what groups have committed of it goes too",
		example: "delete-topic orders",
		params:  []param{topicParam},
		do: func(e *Engine, c Command) error {
			return e.world.DeleteTopic(c.Args[0].Text)
		},
	}
}
