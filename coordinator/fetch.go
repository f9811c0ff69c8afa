package coordinator

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// fetched is what OffsetFetch found for one group. The request's two shapes (one group up to version 7, a list from 8
// on) differ only in kmsg's types.
type fetched struct {
	code   int16
	guard  string
	topics []kmsg.OffsetFetchResponseGroupTopic
}

// offsetFetch answers with committed offsets, in any state and to anybody. From version 8 on each group is looked up by
// itself.
func (c *Coordinator) offsetFetch(r *Request, q *kmsg.OffsetFetchRequest) {
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.Version = q.Version
	sent := event.ReplySent{Ticket: r.Ticket, API: apiOffsetFetch}
	if q.Version >= 8 {
		for i := range q.Groups {
			g := &q.Groups[i]
			f := c.fetchGroup(g.Group, g.Topics, g.Topics == nil, q.RequireStable)
			resp.Groups = append(resp.Groups, kmsg.OffsetFetchResponseGroup{Group: g.Group, ErrorCode: f.code, Topics: f.topics})
			noteFirst(&sent, f)
		}
		c.send(fetchedID(q), resp, sent)
		return
	}
	topics := make([]kmsg.OffsetFetchRequestGroupTopic, len(q.Topics))
	for i, t := range q.Topics {
		topics[i] = kmsg.OffsetFetchRequestGroupTopic{Topic: t.Topic, Partitions: t.Partitions}
	}
	f := c.fetchGroup(q.Group, topics, q.Topics == nil && q.Version >= 2, q.RequireStable && q.Version >= 7)
	noteFirst(&sent, f)
	if q.Version >= 2 {
		resp.ErrorCode = f.code
	} else if f.code != codeNone {
		f.topics = refusedTopics(topics, f.code) // these versions have no other place for the code
	}
	for _, t := range f.topics {
		old := kmsg.OffsetFetchResponseTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			old.Partitions = append(old.Partitions, kmsg.OffsetFetchResponseTopicPartition(p))
		}
		resp.Topics = append(resp.Topics, old)
	}
	c.send(q.Group, resp, sent)
}

// noteFirst keeps the first code that a reply holds, for its event.
func noteFirst(sent *event.ReplySent, f fetched) {
	if sent.Code == codeNone {
		sent.Code, sent.Guard = f.code, f.guard
	}
}

// fetchGroup looks up the offsets of one group. A group that is not there has none, which is no error. With stable, a
// partition whose commit is still being written, or is part of an open transaction, is answered UNSTABLE_OFFSET_COMMIT,
// since what is committed now may be overtaken (KIP-447).
func (c *Coordinator) fetchGroup(id string, topics []kmsg.OffsetFetchRequestGroupTopic, all, stable bool) (f fetched) {
	if _, f.code, f.guard = c.gate(id, true); f.code != codeNone {
		return f
	}
	g := c.groups[id]
	if all {
		if g != nil {
			f.topics, f.guard = g.fetchAll(stable)
		}
		return f
	}
	for _, t := range topics {
		answer := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic, TopicID: t.TopicID}
		for _, p := range t.Partitions {
			one, guard := g.fetchOne(t.Topic, p, stable)
			if f.guard == "" {
				f.guard = guard
			}
			answer.Partitions = append(answer.Partitions, one)
		}
		f.topics = append(f.topics, answer)
	}
	return f
}

// fetchAll lists every committed offset; a partition with only a pending commit is not among them.
func (g *group) fetchAll(stable bool) (topics []kmsg.OffsetFetchResponseGroupTopic, guard string) {
	for i := range g.topics {
		t := &g.topics[i]
		answer := kmsg.OffsetFetchResponseGroupTopic{Topic: t.topic}
		for j := range t.partitions {
			if p := &t.partitions[j]; p.committed() {
				one, why := g.fetchOne(t.topic, p.partition, stable)
				if guard == "" {
					guard = why
				}
				answer.Partitions = append(answer.Partitions, one)
			}
		}
		if len(answer.Partitions) > 0 {
			topics = append(topics, answer)
		}
	}
	return topics, guard
}

// fetchOne looks up one partition; the group may be nil.
func (g *group) fetchOne(topic string, number int32, stable bool) (p kmsg.OffsetFetchResponseGroupTopicPartition, guard string) {
	p = noOffset(number)
	if g == nil {
		return p, ""
	}
	if stable {
		if guard = g.unstable(topic, number); guard != "" {
			p.ErrorCode = codeUnstableOffsetCommit
			return p, guard
		}
	}
	if o := g.find(topic, number); o != nil && o.committed() {
		value := o.value()
		p.Offset, p.LeaderEpoch, p.Metadata = value.offset, value.leaderEpoch, &value.metadata
	}
	return p, ""
}

func noOffset(number int32) kmsg.OffsetFetchResponseGroupTopicPartition {
	return kmsg.OffsetFetchResponseGroupTopicPartition{Partition: number, Offset: -1, LeaderEpoch: -1, Metadata: new(string)}
}

func refusedTopics(topics []kmsg.OffsetFetchRequestGroupTopic, code int16) (refused []kmsg.OffsetFetchResponseGroupTopic) {
	for _, t := range topics {
		answer := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			one := noOffset(p)
			one.ErrorCode = code
			answer.Partitions = append(answer.Partitions, one)
		}
		refused = append(refused, answer)
	}
	return refused
}
