package sim

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// position is one assigned partition. There is no Fetch in this world: a position grows by itself, at the consumer's
// rate, while the consumer polls.
type position struct {
	topic     string
	partition int32
	// known is false until OffsetFetch has answered.
	known bool
	// base is the position at sinceMs; sinceMs is -1 while it stands still.
	base, sinceMs int64
}

// at is the position at nowMs.
func (p position) at(nowMs int64, perSecond int32) int64 {
	if p.sinceMs < 0 {
		return p.base
	}
	return p.base + (nowMs-p.sinceMs)*int64(perSecond)/1000
}

// halt stops the positions where they are; flow lets them grow again.
func (c *consumer) halt(nowMs int64) {
	for i := range c.assigned {
		p := &c.assigned[i]
		p.base, p.sinceMs = p.at(nowMs, c.cfg.RecordsPerSecond), -1
	}
}

func (c *consumer) flow(nowMs int64) {
	for i := range c.assigned {
		if p := &c.assigned[i]; p.known && p.sinceMs < 0 {
			p.sinceMs = nowMs
		}
	}
}

// consumed tells whether there is a position to commit.
func (c *consumer) consumed() bool {
	for _, p := range c.assigned {
		if p.known {
			return true
		}
	}
	return false
}

// take is the end of onJoinComplete: what it had and was not given again is revoked, which takes another round if there
// is any (KIP-429); then onPartitionsAssigned. Only a cooperative consumer has something at this point.
func (c *consumer) take(w *World, topics []record.TopicPartitions) {
	had := c.assigned
	var kept, added []position
	for _, t := range topics {
		for _, p := range t.Partitions {
			is := func(a position) bool { return a.topic == t.Topic && a.partition == p }
			if i := slices.IndexFunc(had, is); i >= 0 {
				kept = append(kept, had[i])
				had = slices.Delete(slices.Clone(had), i, i+1)
			} else {
				added = append(added, position{topic: t.Topic, partition: p, sinceMs: -1})
			}
		}
	}
	if len(had) > 0 {
		w.cause = w.emit(0, c.cfg.Group, event.ClientRevoked{Client: c.cfg.Name, Topics: byTopic(had)})
		c.requestRejoin(w, "need to revoke partitions and re-join")
	}
	c.assigned = append(kept, added...)
	slices.SortFunc(c.assigned, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	told := event.ClientAssigned{Client: c.cfg.Name, Member: c.memberID, Generation: c.generation, Topics: c.owned()}
	if c.cooperative() {
		told.Cooperative, told.Added = true, byTopic(added)
	}
	w.cause = w.emit(0, c.cfg.Group, told)
}

// revoke is onPartitionsRevoked, or onPartitionsLost where it is no member any more.
func (c *consumer) revoke(w *World, lost bool) {
	if len(c.assigned) == 0 {
		return
	}
	told := c.owned()
	c.assigned = nil
	w.cause = w.emit(0, c.cfg.Group, event.ClientRevoked{Client: c.cfg.Name, Topics: told, Lost: lost})
}

// owned are the partitions that it has, by topic.
func (c *consumer) owned() []event.TopicPartitions { return byTopic(c.assigned) }

func byTopic(positions []position) (list []event.TopicPartitions) {
	for _, p := range positions {
		if n := len(list); n == 0 || list[n-1].Topic != p.topic {
			list = append(list, event.TopicPartitions{Topic: p.topic})
		}
		t := &list[len(list)-1]
		t.Partitions = append(t.Partitions, p.partition)
	}
	return list
}

// fetchCommitted asks for the committed offsets of partitions that have no position yet
// (refreshCommittedOffsetsIfNeeded).
func (c *consumer) fetchCommitted(w *World) {
	if c.fetchCall != 0 {
		return
	}
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group, group.MemberEpoch = c.cfg.Group, -1
	for _, p := range c.assigned {
		if p.known {
			continue
		}
		if n := len(group.Topics); n == 0 || group.Topics[n-1].Topic != p.topic {
			t := kmsg.NewOffsetFetchRequestGroupTopic()
			t.Topic = p.topic
			group.Topics = append(group.Topics, t)
		}
		t := &group.Topics[len(group.Topics)-1]
		t.Partitions = append(t.Partitions, p.partition)
	}
	if len(group.Topics) == 0 {
		return
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version = c.versions().fetch
	if req.RequireStable = req.Version >= 7; req.Version >= 8 { // KIP-447, KIP-709
		req.Groups = []kmsg.OffsetFetchRequestGroup{group}
	} else {
		req.Group = c.cfg.Group
		for _, t := range group.Topics {
			req.Topics = append(req.Topics, kmsg.OffsetFetchRequestTopic{Topic: t.Topic, Partitions: t.Partitions})
		}
	}
	c.fetchCall = w.send(c, c.toCoordinator(w), req, c.cfg.RequestTimeoutMs, plain)
}

// onOffsetFetch is OffsetFetchResponseHandler. A partition without a committed offset begins at 0
// (auto.offset.reset=earliest).
func (c *consumer) onOffsetFetch(w *World, r *kmsg.OffsetFetchResponse) {
	c.fetchCall = 0
	for _, g := range fetchedGroups(r) {
		switch g.ErrorCode {
		case 0:
		case kerr.CoordinatorLoadInProgress.Code:
			c.sleep(w, "retry back-off after OffsetFetch: "+event.CodeName(g.ErrorCode))
			return
		case kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code:
			c.coordinatorUnknown(w, "OffsetFetch: "+event.CodeName(g.ErrorCode))
			c.sleep(w, "retry back-off after OffsetFetch: "+event.CodeName(g.ErrorCode))
			return
		default:
			c.fail(w, g.ErrorCode, "OffsetFetch: "+event.CodeName(g.ErrorCode))
			return
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if !c.fetched(w, t.Topic, p) {
					return
				}
			}
		}
	}
	c.flow(w.nowMs)
}

// fetchedGroups is an answer of any version in the shape of version 8. Versions 0 and 1 had no place for a group's error
// but its partitions.
func fetchedGroups(r *kmsg.OffsetFetchResponse) []kmsg.OffsetFetchResponseGroup {
	if r.Version >= 8 {
		return r.Groups
	}
	g := kmsg.OffsetFetchResponseGroup{ErrorCode: r.ErrorCode}
	for _, t := range r.Topics {
		topic := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			if r.Version < 2 && g.ErrorCode == 0 {
				g.ErrorCode = p.ErrorCode
			}
			topic.Partitions = append(topic.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition(p))
		}
		g.Topics = append(g.Topics, topic)
	}
	return []kmsg.OffsetFetchResponseGroup{g}
}

// fetched sets one position; it reports whether the rest is to be looked at.
func (c *consumer) fetched(w *World, topic string, p kmsg.OffsetFetchResponseGroupTopicPartition) bool {
	switch p.ErrorCode {
	case 0:
	case kerr.UnstableOffsetCommit.Code:
		c.sleep(w, "retry back-off after OffsetFetch: UNSTABLE_OFFSET_COMMIT")
		return false
	default:
		c.fail(w, p.ErrorCode, "OffsetFetch: "+event.CodeName(p.ErrorCode))
		return false
	}
	for i := range c.assigned {
		if a := &c.assigned[i]; a.topic == topic && a.partition == p.Partition && !a.known {
			a.known, a.base = true, max(p.Offset, 0)
		}
	}
	return true
}
