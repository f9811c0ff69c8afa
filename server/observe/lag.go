package observe

import (
	"context"
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

// endsOf asks the leaders of a topic where its logs begin and end.
func (o *Observer) endsOf(ctx context.Context, name string, groups []string) {
	led := map[int32][]wish{}
	for partition, leader := range o.cluster.leaders(name) {
		if leader >= 0 {
			led[leader] = append(led[leader], wish{partition: partition, epoch: -1})
		}
	}
	seen := timeline.LogEnds{Topic: name, AskedMs: o.NowMs(), Groups: groups}
	for leader, wishes := range led {
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
			seen.Partitions = append(seen.Partitions, end)
		}
	}
	if len(seen.Partitions) > 0 {
		seen.AnsweredMs = o.NowMs()
		o.saw(ctx, seen)
	}
}
