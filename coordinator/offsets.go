package coordinator

import (
	"fmt"
	"maps"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// offsetTable holds offsets by topic and partition: a group's, or those of a transaction that has not ended.
type offsetTable struct {
	groupID string
	topics  []topicOffsets // in order of first commit
	byTopic map[string]int32
}

func newOffsetTable(groupID string) offsetTable {
	return offsetTable{groupID: groupID, byTopic: map[string]int32{}}
}

func (t *offsetTable) clone() offsetTable {
	k := offsetTable{t.groupID, slices.Clone(t.topics), maps.Clone(t.byTopic)}
	for i := range k.topics {
		k.topics[i].partitions = slices.Clone(t.topics[i].partitions)
	}
	return k
}

// each visits every partition, in order of topics and partitions.
func (t *offsetTable) each(visit func(topic string, p *partitionOffset)) {
	for i := range t.topics {
		for j := range t.topics[i].partitions {
			visit(t.topics[i].topic, &t.topics[i].partitions[j])
		}
	}
}

// any tells whether there is an offset, committed or pending.
func (t *offsetTable) any() bool {
	for i := range t.topics {
		for j := range t.topics[i].partitions {
			if p := &t.topics[i].partitions[j]; p.committed || p.pending {
				return true
			}
		}
	}
	return false
}

// remove drops the partitions that the test picks, and what holds nothing any more.
func (t *offsetTable) remove(picks func(topic string, p *partitionOffset) bool) {
	kept := t.topics[:0]
	clear(t.byTopic)
	for _, o := range t.topics {
		o.partitions = slices.DeleteFunc(o.partitions, func(p partitionOffset) bool {
			return picks(o.topic, &p) || !p.committed && !p.pending
		})
		if len(o.partitions) > 0 {
			t.byTopic[o.topic] = int32(len(kept))
			kept = append(kept, o)
		}
	}
	clear(t.topics[len(kept):])
	t.topics = kept
}

// topicOffsets are the offsets of one topic. Partitions lie in a slice, ascending, since a commit touches many
// at once and usually all of them.
type topicOffsets struct {
	topic      string
	partitions []partitionOffset
}

// partitionOffset is one partition's committed offset and the one that is being written. They are kept apart as in
// Kafka's GroupMetadata: what is pending is not visible until it is in the log. In a transaction's table committed means
// written: it is visible when the transaction is.
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
func (t *offsetTable) topic(name string) int32 {
	i, ok := t.byTopic[name]
	if !ok {
		i = int32(len(t.topics))
		t.topics = append(t.topics, topicOffsets{topic: name})
		t.byTopic[name] = i
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
func (t *offsetTable) find(topic string, partition int32) *partitionOffset {
	i, ok := t.byTopic[topic]
	if !ok {
		return nil
	}
	o := &t.topics[i]
	at, found := o.at(partition, int(partition))
	if !found {
		return nil
	}
	return &o.partitions[at]
}

// clear empties a partition's offsets, if there are any.
func (t *offsetTable) clear(topic string, partition int32) {
	if o := t.find(topic, partition); o != nil {
		*o = partitionOffset{partition: o.partition, key: o.key}
	}
}

// make returns a partition's offsets, which it makes if there are none. The pointer is good until the next make.
func (t *offsetTable) make(topic int32, partition int32, hint int) (*partitionOffset, int) {
	o := &t.topics[topic]
	at, found := o.at(partition, hint)
	if !found {
		o.partitions = append(o.partitions, partitionOffset{})
		copy(o.partitions[at+1:], o.partitions[at:])
		o.partitions[at] = partitionOffset{partition: partition, key: record.OffsetKey(t.groupID, o.topic, partition)}
	}
	return &o.partitions[at], at
}

// hasOffsets tells whether the group has any offset, committed, pending or in a transaction that has not ended; that
// keeps an Empty group alive.
func (g *group) hasOffsets() bool {
	return g.any() || slices.ContainsFunc(g.txns, func(t *transaction) bool { return t.any() })
}

// unstable tells why a partition's committed offset may be overtaken soon, "" where it may not.
func (g *group) unstable(topic string, partition int32) string {
	if o := g.find(topic, partition); o != nil && o.pending {
		return fmt.Sprintf("a commit of %s-%d is being written", event.Name(topic), partition)
	}
	for _, t := range g.txns {
		if o := t.find(topic, partition); o != nil && (o.committed || o.pending) {
			return fmt.Sprintf("a commit of %s-%d is in an open transaction of producer %d", event.Name(topic), partition, t.producerID)
		}
	}
	return ""
}
