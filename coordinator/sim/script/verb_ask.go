package script

import (
	"fmt"
	"strings"

	"grouplab/coordinator/event"
)

func askVerb() verb {
	return verb{
		name: "ask",
		usage: "ask API [group=G] [broker=N] [v=N] [member=CONSUMER|ID] [instance=ID|none] [generation=N] [type=consumer|none] [protocols=range] " +
			"[session=10s] [rebalance=60s] [topics=A,B] [partitions=A-0,A-1] [offset=N] [metadata=BYTES] [retention=5s] [stable=yes] [producer=CONSUMER] [transactional=ID]",
		help: "a tool called admin sends one request, made by hand, to the group's coordinator or to any broker. member names a consumer, " +
			"which stands for the id, instance, generation and producer that it believes in; or admin, for what the tool's last JoinGroup was answered with; or an id. producer names the consumer whose transaction a commit is part of. " +
			"API is one of the twelve that a group coordinator answers",
		example: "ask OffsetCommit group=reports partitions=orders-0 offset=42",
		params:  []param{askedParam},
		options: []option{
			{"group", param{"GROUP", anything}},
			{"broker", wholeParam("broker", 1, 9)},
			{"v", wholeParam("v", 0, 9)},
			{"member", param{"MEMBER", anything}},
			{"instance", param{"INSTANCE", anything}},
			{"generation", wholeParam("generation", -1, 1<<31-1)},
			{"type", param{"TYPE", anything}},
			{"protocols", param{"PROTOCOLS", anything}},
			{"session", durationParam("session", 0)},
			{"rebalance", durationParam("rebalance", 0)},
			{"topics", param{"TOPICS", wrongTopics}},
			{"partitions", param{"PARTITIONS", wrongPartitions}},
			{"offset", wholeParam("offset", 0, 1<<62)},
			{"metadata", wholeParam("metadata", 0, 100_000)},
			{"retention", durationParam("retention", 0)},
			{"stable", oneOf("answer", "yes", "no")},
			{"producer", consumerParam},
			{"transactional", param{"ID", anything}},
		},
		do: func(e *Engine, c Command) error {
			group := e.group
			if g, ok := c.option("group"); ok {
				group = g
			}
			q, err := question{e: e, c: c, group: group}.request(c.plain()[0])
			if err != nil {
				return err
			}
			return e.world.Ask(int32(c.numberOption("broker")), group, q)
		},
	}
}

func anything(string) string { return "" }

func wrongPartitions(s string) string {
	for _, p := range strings.Split(s, ",") {
		if wrong := partitionParam.wrong(p); wrong != "" {
			return wrong
		}
	}
	return ""
}

var askedParam = param{"API", func(s string) string {
	if _, ok := askedKey(s); ok {
		return ""
	}
	var names []string
	for _, q := range questions {
		names = append(names, event.APIName(q.key))
	}
	return fmt.Sprintf("a group coordinator answers no %q%s", s, suggest(s, names, fmt.Sprintf("; it answers %v", names)))
}}

func askedKey(name string) (questionKind, bool) {
	for _, q := range questions {
		if event.APIName(q.key) == name {
			return q, true
		}
	}
	return questionKind{}, false
}
