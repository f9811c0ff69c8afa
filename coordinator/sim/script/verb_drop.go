package script

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

func dropVerb() verb {
	return verb{
		name:     "drop",
		usage:    "drop CONSUMER API COUNT [answers]",
		help:     "the network loses the next requests of one kind that a consumer sends, or the answers to them; 0 ends that",
		example:  "drop c1 Heartbeat 1",
		params:   []param{consumerParam, apiParam, wholeParam("COUNT", 0, 1_000_000), answersParam},
		optional: 1,
		do: func(e *Engine, c Command) error {
			key, _ := apiKey(c.Args[1].Text)
			return e.world.Drop(c.Args[0].Text, key, int(c.number(2)), len(c.Args) > 3)
		},
	}
}

var answersParam = param{"answers", func(s string) string {
	if s == "answers" {
		return ""
	}
	return fmt.Sprintf("after the count comes nothing, or the word answers, not %q", s)
}}

var apiParam = param{"API", func(s string) string {
	if _, ok := apiKey(s); ok {
		return ""
	}
	var names []string
	for _, k := range dropped {
		names = append(names, event.APIName(k))
	}
	return fmt.Sprintf("consumers send no %q%s", s, suggest(s, names, fmt.Sprintf("; they send %v", names)))
}}

// dropped are the requests that consumers send.
var dropped = []int16{
	kmsg.Metadata.Int16(), kmsg.FindCoordinator.Int16(), kmsg.JoinGroup.Int16(), kmsg.SyncGroup.Int16(),
	kmsg.Heartbeat.Int16(), kmsg.LeaveGroup.Int16(), kmsg.OffsetCommit.Int16(), kmsg.OffsetFetch.Int16(),
	kmsg.InitProducerID.Int16(), kmsg.AddOffsetsToTxn.Int16(), kmsg.TxnOffsetCommit.Int16(), kmsg.EndTxn.Int16(),
}

func apiKey(name string) (int16, bool) {
	for _, k := range dropped {
		if event.APIName(k) == name {
			return k, true
		}
	}
	return 0, false
}
