package script

func moveLeaderVerb() verb {
	return verb{
		name:    "move-leader",
		usage:   "move-leader TOPIC-PARTITION BROKER",
		help:    "makes another in-sync broker the leader of a partition, of __consumer_offsets too; the old leader lives on",
		example: "move-leader __consumer_offsets-0 2",
		params:  []param{partitionParam, wholeParam("BROKER", 1, 9)},
		do: func(e *Engine, c Command) error {
			topic, partition, err := parsePartition(c.Args[0].Text)
			if err != nil {
				return err
			}
			return e.world.MoveLeader(topic, partition, int32(c.number(1)))
		},
	}
}
