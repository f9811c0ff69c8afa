package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/sim"
)

func consumerVerb() verb {
	return verb{
		name: "consumer",
		usage: "consumer NAME [group=G] [topics=A,B] [session=45s] [rebalance=5m] [heartbeat=3s] [commit=5s|off] [metadata-age=5m] " +
			"[request-timeout=30s] [rate=1] [v=9] [assignor=range] [instance=ID] [transactional=ID] [transaction-timeout=60s] [metadata=TEXT] [requests=new|old]",
		help: "describes a consumer; start makes it run. rate is in records a second and partition, v the version of JoinGroup, " +
			"assignor one or more of range,roundrobin,sticky,cooperative-sticky, the preferred one first, instance its group.instance.id, " +
			"transactional the transactional.id with which it commits its offsets in transactions, " +
			"metadata what its commits carry as metadata, each followed by a number of its own; with requests=old all requests have " +
			"the versions of a client of v's time. Kafka's own names are read too, as in session.timeout.ms=10000",
		example: "consumer c1 session=10s rebalance=60s",
		params:  []param{consumerParam},
		kafka: []kafkaName{
			{"group.id", "group"}, {"session.timeout.ms", "session"}, {"heartbeat.interval.ms", "heartbeat"}, {"max.poll.interval.ms", "rebalance"},
			{"partition.assignment.strategy", "assignor"}, {"group.instance.id", "instance"}, {"auto.commit.interval.ms", "commit"},
			{"metadata.max.age.ms", "metadata-age"}, {"request.timeout.ms", "request-timeout"},
			{"transactional.id", "transactional"}, {"transaction.timeout.ms", "transaction-timeout"},
		},
		options: []option{
			{"group", groupParam},
			{"topics", param{"TOPICS", wrongTopics}},
			{"session", durationParam("session.timeout.ms", 1)},
			{"rebalance", durationParam("max.poll.interval.ms", 1)},
			{"heartbeat", durationParam("heartbeat.interval.ms", 1)},
			{"commit", orOff(durationParam("auto.commit.interval.ms", 1))},
			{"metadata-age", durationParam("metadata.max.age.ms", 1)},
			{"request-timeout", durationParam("request.timeout.ms", 1)},
			{"rate", wholeParam("rate", 1, 1_000_000)},
			{"v", wholeParam("v", 1, 9)},
			{"assignor", param{"ASSIGNORS", wrongAssignors}},
			{"transaction-timeout", durationParam("transaction.timeout.ms", 1)},
			{"requests", oneOf("age of requests", "new", "old")},
			{"transactional", nameParam("ID", "a transactional id")},
			{"metadata", nameParam("TEXT", "metadata here")},
			{"instance", nameParam("INSTANCE", "an instance's name")},
		},
		quiet: true,
		do:    addConsumer,
	}
}

func addConsumer(e *Engine, c Command) error {
	cfg := sim.ConsumerConfig{Name: c.plain()[0], Group: e.group, Topics: e.topics}
	if g, ok := c.option("group"); ok {
		cfg.Group = g
	}
	if t, ok := c.option("topics"); ok {
		cfg.Topics = strings.Split(t, ",")
	}
	cfg.SessionTimeoutMs = int32(min(c.durationOption("session"), 1<<31-1))
	cfg.RebalanceTimeoutMs = int32(min(c.durationOption("rebalance"), 1<<31-1))
	cfg.HeartbeatMs = int32(min(c.durationOption("heartbeat"), 1<<31-1))
	cfg.AutoCommitMs = int32(min(c.durationOption("commit"), 1<<31-1))
	if v, _ := c.option("commit"); v == "off" {
		cfg.AutoCommitMs = -1
	}
	cfg.MetadataMaxAgeMs = c.durationOption("metadata-age")
	cfg.RequestTimeoutMs = c.durationOption("request-timeout")
	cfg.RecordsPerSecond = int32(c.numberOption("rate"))
	cfg.JoinVersion = int16(c.numberOption("v"))
	if a, ok := c.option("assignor"); ok {
		cfg.Assignors = strings.Split(a, ",")
	}
	cfg.TransactionalID, _ = c.option("transactional")
	cfg.InstanceID, _ = c.option("instance")
	cfg.TransactionTimeoutMs = int32(min(c.durationOption("transaction-timeout"), 1<<31-1))
	age, _ := c.option("requests")
	cfg.OldRequests = age == "old"
	cfg.CommitMetadata, _ = c.option("metadata")
	if err := e.world.AddConsumer(cfg); err != nil {
		return err
	}
	e.facts.describe(cfg)
	return nil
}

// nameParam is a name of 1 to 64 plain characters; what says what it is to be.
func nameParam(kind, what string) param {
	return param{kind, func(s string) string {
		if named(s, 64) {
			return ""
		}
		return fmt.Sprintf("%q cannot be %s: it has 1 to 64 letters, digits, '.', '_' or '-'", s, what)
	}}
}

func wrongAssignors(s string) string {
	for _, name := range strings.Split(s, ",") {
		if !slices.Contains(sim.Assignors(), name) {
			return fmt.Sprintf("no assignor is called %q%s", name, suggest(name, sim.Assignors(), ""))
		}
	}
	return ""
}

func wrongTopics(s string) string {
	for _, t := range strings.Split(s, ",") {
		if wrong := topicParam.wrong(t); wrong != "" {
			return wrong
		}
	}
	return ""
}

// durationOption is an option's milliseconds, 0 where it is not given.
func (c Command) durationOption(key string) int64 {
	v, _ := c.option(key)
	ms, _ := parseDuration(v)
	return ms
}

// numberOption is an option's number, 0 where it is not given.
func (c Command) numberOption(key string) int64 {
	v, _ := c.option(key)
	n, _ := strconv.ParseInt(v, 10, 64)
	return n
}
