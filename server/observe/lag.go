package observe

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

const (
	// lagEvery is how often the lag of what is looked at is measured; lagTopics and lagGroups bound one measurement.
	lagEvery  = 5 * time.Second
	lagTopics = 50
	lagGroups = 50
)

// measureLag compares, for the groups that somebody looks at, what is committed with the ends of the logs.
func (o *Observer) measureLag(ctx context.Context) {
	for pause(ctx, lagEvery) == nil {
		groups := o.cfg.Looked()
		if len(groups) == 0 || o.cluster.modeNow() == "" {
			continue
		}
		o.lagOf(ctx, groups[:min(len(groups), lagGroups)])
	}
}

// lagOf reads the commits first and the ends after them: what is consumed meanwhile must not make a lag negative.
func (o *Observer) lagOf(ctx context.Context, groups []string) {
	readers := map[string][]string{} // by topic
	byBroker := map[int32][]string{}
	var topics []string
	err := o.do(ctx, func(t *timeline.Timeline) {
		for _, g := range groups {
			if id := t.Coordinator(g); id > 0 || id == 0 && len(o.cluster.ids()) == 1 {
				byBroker[id] = append(byBroker[id], g)
			}
			for _, name := range t.Topics(g) {
				if readers[name] == nil {
					topics = append(topics, name)
				}
				readers[name] = append(readers[name], g)
			}
		}
	})
	if err != nil {
		return
	}
	if o.cluster.modeNow() == modePoll {
		for id, list := range byBroker {
			o.commits(ctx, id, list)
		}
	}
	for _, name := range topics[:min(len(topics), lagTopics)] {
		o.endsOf(ctx, name, readers[name])
	}
}

// commits asks OffsetFetch for all that groups have committed, many in a request where the broker takes many (KIP-709).
func (o *Observer) commits(ctx context.Context, broker int32, groups []string) {
	r := kmsg.NewPtrOffsetFetchRequest()
	for _, g := range groups {
		one := kmsg.NewOffsetFetchRequestGroup()
		one.Group = g
		r.Groups = append(r.Groups, one)
	}
	r.Group = groups[0] // what a broker before v8 reads
	if o.limits.wait(ctx, broker) != nil {
		return
	}
	asked := o.NowMs()
	answer, err := o.askNow(ctx, broker, r)
	if err != nil {
		return
	}
	said := answer.(*kmsg.OffsetFetchResponse)
	if said.Version < 8 {
		one := kmsg.NewOffsetFetchResponseGroup()
		one.Group, one.ErrorCode = groups[0], said.ErrorCode
		for _, t := range said.Topics {
			topic := kmsg.NewOffsetFetchResponseGroupTopic()
			topic.Topic = t.Topic
			for _, p := range t.Partitions {
				partition := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				partition.Partition, partition.Offset, partition.LeaderEpoch, partition.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.ErrorCode
				topic.Partitions = append(topic.Partitions, partition)
			}
			one.Topics = append(one.Topics, topic)
		}
		said.Groups = append(said.Groups, one)
	}
	for _, g := range said.Groups {
		seen := timeline.Committed{Group: g.Group, AskedMs: asked, AnsweredMs: o.NowMs(), Code: g.ErrorCode, All: true}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					seen.Offsets = append(seen.Offsets, event.OffsetValue{Topic: t.Topic, Partition: p.Partition, Offset: p.Offset, Metadata: text(p.Metadata)})
				}
			}
		}
		o.saw(ctx, seen)
	}
}

// endsOf asks the leaders of a topic where its logs begin and end. Where none can be asked, that is told too.
func (o *Observer) endsOf(ctx context.Context, name string, groups []string) {
	led := map[int32][]wish{}
	for partition, leader := range o.cluster.leaders(name) {
		if leader >= 0 {
			led[leader] = append(led[leader], wish{partition: partition, epoch: -1})
		}
	}
	seen := timeline.LogEnds{Topic: name, AskedMs: o.NowMs(), Groups: groups}
	for _, leader := range slices.Sorted(maps.Keys(led)) {
		wishes := led[leader]
		starts, err := o.listOffsets(ctx, leader, name, wishes, -2)
		if err != nil {
			continue
		}
		ends, err := o.listOffsets(ctx, leader, name, wishes, -1)
		if err != nil {
			continue
		}
		for _, w := range wishes {
			end := timeline.LogEnd{Partition: w.partition, Start: starts[w.partition].known, End: ends[w.partition].known, Code: ends[w.partition].Code}
			if seen.Partitions = append(seen.Partitions, end); end.Code != 0 { // it has moved, or is gone
				o.cluster.stale(name)
			}
		}
	}
	o.markers(ctx, &seen, led)
	seen.AnsweredMs = o.NowMs()
	o.saw(ctx, seen)
}

// markers finds out, of the partitions of which a group has all but the last position, whether a transaction's marker lies
// there. That is asked for and not read: the last position's timestamp (ListOffsets at -3), and the producers that the leader
// remembers (DescribeProducers, KIP-664). The last thing of a producer that has had transactions and has none open is a
// marker, so a last position of its time is one. Where both were written in one millisecond it stays open.
func (o *Observer) markers(ctx context.Context, seen *timeline.LogEnds, led map[int32][]wish) {
	var short []int32
	if o.do(ctx, func(t *timeline.Timeline) { short = t.OneShort(*seen) }) != nil {
		return
	}
	for _, leader := range slices.Sorted(maps.Keys(led)) {
		wishes := slices.DeleteFunc(slices.Clone(led[leader]), func(w wish) bool { return !slices.Contains(short, w.partition) })
		if len(wishes) == 0 {
			continue
		}
		ended, err := o.ended(ctx, leader, seen.Topic, wishes)
		if err != nil || len(ended) == 0 {
			continue
		}
		latest, err := o.listOffsets(ctx, leader, seen.Topic, wishes, -3)
		if err != nil {
			continue
		}
		for i := range seen.Partitions {
			p := &seen.Partitions[i]
			last := latest[p.Partition]
			p.Marker = last.Code == 0 && last.known == p.End-1 && slices.Contains(ended[p.Partition], last.atMs)
		}
	}
}

// ended are, by partition, the times of what producers wrote last whose transactions are over.
func (o *Observer) ended(ctx context.Context, leader int32, name string, wishes []wish) (map[int32][]int64, error) {
	r := kmsg.NewPtrDescribeProducersRequest()
	t := kmsg.NewDescribeProducersRequestTopic()
	t.Topic = name
	for _, w := range wishes {
		t.Partitions = append(t.Partitions, w.partition)
	}
	r.Topics = append(r.Topics, t)
	answer, err := o.ask(ctx, leader, r)
	if err != nil {
		return nil, err
	}
	found := map[int32][]int64{}
	for _, t := range answer.(*kmsg.DescribeProducersResponse).Topics {
		for _, p := range t.Partitions {
			source := "DescribeProducers of " + name
			if p.ErrorCode == codeTopicDenied {
				o.lose(ctx, timeline.SourceFailed{Source: source, Code: p.ErrorCode, Reason: "it was answered " + nameOf(p.ErrorCode), Right: "Read on Topic " + name,
					Hides: "whether a lag of one is a transaction's marker, which nobody consumes"})
			} else if p.ErrorCode == 0 {
				o.back(ctx, source, 0)
			}
			for _, x := range p.ActiveProducers {
				if x.CoordinatorEpoch >= 0 && x.CurrentTxnStartOffset < 0 {
					found[p.Partition] = append(found[p.Partition], x.LastTimestamp)
				}
			}
		}
	}
	return found, nil
}
