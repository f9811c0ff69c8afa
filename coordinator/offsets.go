package coordinator

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// topicOffsets are one group's offsets of one topic. Partitions lie in a slice, ascending, since a commit touches many
// at once and usually all of them.
type topicOffsets struct {
	topic      string
	partitions []partitionOffset
}

// partitionOffset is one partition's committed offset and the one that is being written. They are kept apart as in
// Kafka's GroupMetadata: what is pending is not visible until it is in the log.
type partitionOffset struct {
	partition int32
	key       []byte // of its record, the same for each commit

	committed  bool
	value      offsetValue
	baseOffset int64 // of the batch that carried it; -1 not known

	pending      bool
	pendingValue offsetValue
}

// offsetValue is what was committed.
type offsetValue struct {
	offset      int64
	metadata    string
	commitMs    int64
	expireMs    int64 // -1 none
	leaderEpoch int32 // -1 none
}

// appendTo appends the record's value to dst.
func (v *offsetValue) appendTo(dst []byte) []byte {
	return record.AppendOffsetValue(dst, record.Offset{Offset: v.offset, LeaderEpoch: v.leaderEpoch,
		Metadata: v.metadata, CommitTimestampMs: v.commitMs, ExpireTimestampMs: v.expireMs})
}

func (v *offsetValue) told(topic string, partition int32) event.OffsetValue {
	return event.OffsetValue{Topic: topic, Partition: partition, Offset: v.offset, LeaderEpoch: v.leaderEpoch,
		Metadata: v.metadata}
}

// topic returns the index of a topic's offsets, which it makes if there are none.
func (g *group) topic(name string) int32 {
	i, ok := g.byTopic[name]
	if !ok {
		i = int32(len(g.topics))
		g.topics = append(g.topics, topicOffsets{topic: name})
		g.byTopic[name] = i
	}
	return i
}

// at finds a partition, or where it belongs. hint is where it probably is.
func (t *topicOffsets) at(partition int32, hint int) (i int, found bool) {
	if hint < len(t.partitions) && t.partitions[hint].partition == partition {
		return hint, true
	}
	low, high := 0, len(t.partitions)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if t.partitions[mid].partition < partition {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(t.partitions) && t.partitions[low].partition == partition
}

// find returns a partition's offsets, nil where there are none.
func (g *group) find(topic string, partition int32) *partitionOffset {
	i, ok := g.byTopic[topic]
	if !ok {
		return nil
	}
	t := &g.topics[i]
	at, found := t.at(partition, int(partition))
	if !found {
		return nil
	}
	return &t.partitions[at]
}

// make returns a partition's offsets, which it makes if there are none. The pointer is good until the next make.
func (g *group) make(topic int32, partition int32, hint int) (*partitionOffset, int) {
	t := &g.topics[topic]
	at, found := t.at(partition, hint)
	if !found {
		t.partitions = append(t.partitions, partitionOffset{})
		copy(t.partitions[at+1:], t.partitions[at:])
		t.partitions[at] = partitionOffset{partition: partition, key: record.OffsetKey(g.id, t.topic, partition)}
	}
	return &t.partitions[at], at
}

// hasOffsets tells whether the group has any offset, committed or pending, which keeps an Empty group alive.
func (g *group) hasOffsets() bool {
	for i := range g.topics {
		for j := range g.topics[i].partitions {
			if p := &g.topics[i].partitions[j]; p.committed || p.pending {
				return true
			}
		}
	}
	return false
}
