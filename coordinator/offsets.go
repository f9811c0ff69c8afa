package coordinator

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// offsetTable holds offsets by topic and partition: a group's, or those of a transaction that has not ended.
type offsetTable struct {
	groupID string
	topics  []topicOffsets // in order of first commit
	// byTopic finds a topic where there are many; nil while there are few, which are looked at one by one.
	byTopic map[string]int32
}

// fewTopics is how many topics are compared one by one before a map is faster.
const fewTopics = 8

func newOffsetTable(groupID string) offsetTable { return offsetTable{groupID: groupID} }

func (t *offsetTable) clone() offsetTable {
	k := offsetTable{t.groupID, slices.Clone(t.topics), maps.Clone(t.byTopic)}
	for i := range k.topics {
		o := &k.topics[i]
		o.partitions = slices.Clone(o.partitions)
		for j := range o.partitions {
			o.partitions[j].copyPending()
		}
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
			if p := &t.topics[i].partitions[j]; p.holds() {
				return true
			}
		}
	}
	return false
}

// remove drops the partitions that the test picks, and what holds nothing any more.
func (t *offsetTable) remove(picks func(topic string, p *partitionOffset) bool) {
	kept := t.topics[:0]
	for _, o := range t.topics {
		o.partitions = slices.DeleteFunc(o.partitions, func(p partitionOffset) bool {
			return picks(o.topic, &p) || !p.holds()
		})
		if len(o.partitions) > 0 {
			kept = append(kept, o)
		}
	}
	clear(t.topics[len(kept):])
	t.topics = kept
	t.index()
}

// index makes the map of topics anew.
func (t *offsetTable) index() {
	t.byTopic = nil
	if len(t.topics) <= fewTopics {
		return
	}
	t.byTopic = make(map[string]int32, len(t.topics))
	for i := range t.topics {
		t.byTopic[t.topics[i].topic] = int32(i)
	}
}

// shrink gives back the room that partitions which came one by one have asked for too much.
func (t *offsetTable) shrink() {
	for i := range t.topics {
		if o := &t.topics[i]; cap(o.partitions)-len(o.partitions) > len(o.partitions)/8 {
			o.partitions = append(make([]partitionOffset, 0, len(o.partitions)), o.partitions...)
		}
	}
}

// topicOffsets are the offsets of one topic. Partitions lie in a slice, ascending, since a commit touches many
// at once and usually all of them.
type topicOffsets struct {
	topic      string
	key        []byte // of the records, but for the partition; nil before the first commit
	partitions []partitionOffset
}

// appendKey appends the key of a partition's record to dst.
func (o *topicOffsets) appendKey(dst []byte, groupID string, partition int32) []byte {
	const partitionBytes = 4
	if o.key == nil {
		key := record.OffsetKey(groupID, o.topic, 0)
		o.key = key[: len(key)-partitionBytes : len(key)-partitionBytes]
	}
	return binary.BigEndian.AppendUint32(append(dst, o.key...), uint32(partition))
}

// partitionOffset is one partition's committed offset and the one that is being written. They are kept apart as in
// Kafka's GroupMetadata: what is pending is not visible until it is in the log. In a transaction's table committed means
// written: it is visible when the transaction is. There may be millions of them, so what most lack lies elsewhere.
type partitionOffset struct {
	offset     int64
	commitMs   int64
	baseOffset int64 // of the batch that carried it; -1 not known, notCommitted where nothing is committed
	// pending is the newest value that is being written, nil where there is none. They lie in their appends, in a ring: behind
	// the newest comes the oldest, whose outcome comes first.
	pending     *offsetValue
	more        *moreOfOffset // nil where the commit has neither metadata nor an expiry of its own
	partition   int32
	leaderEpoch int32 // -1 none
}

const notCommitted = math.MinInt64

// moreOfOffset is never changed, so copies share it.
type moreOfOffset struct {
	metadata string
	expireMs int64 // -1 none
}

func (p *partitionOffset) committed() bool { return p.baseOffset != notCommitted }

// holds tells whether there is a committed or a pending value.
func (p *partitionOffset) holds() bool { return p.committed() || p.pending != nil }

// value is what is committed.
func (p *partitionOffset) value() offsetValue {
	v := offsetValue{offset: p.offset, commitMs: p.commitMs, expireMs: -1, leaderEpoch: p.leaderEpoch}
	if p.more != nil {
		v.metadata, v.expireMs = p.more.metadata, p.more.expireMs
	}
	return v
}

// commit makes a value the committed one.
func (p *partitionOffset) commit(v *offsetValue, baseOffset int64) {
	p.offset, p.commitMs, p.baseOffset, p.leaderEpoch = v.offset, v.commitMs, baseOffset, v.leaderEpoch
	switch {
	case v.metadata == "" && v.expireMs == -1:
		p.more = nil
	case p.more == nil || *p.more != moreOfOffset{v.metadata, v.expireMs}:
		p.more = &moreOfOffset{v.metadata, v.expireMs}
	}
}

// offsetValue is what was committed.
type offsetValue struct {
	offset      int64
	metadata    string
	commitMs    int64
	expireMs    int64 // -1 none
	leaderEpoch int32 // -1 none
	// newer is the value of the same partition that came next while this one was being written; of the newest it is the oldest.
	newer *offsetValue
}

// stage makes a value the newest of those that are being written.
func (p *partitionOffset) stage(v *offsetValue) {
	v.newer = v
	if p.pending != nil {
		v.newer, p.pending.newer = p.pending.newer, v
	}
	p.pending = v
}

// copyPending puts copies in the place of the values that are being written.
func (p *partitionOffset) copyPending() {
	newest := p.pending
	if newest == nil {
		return
	}
	p.pending = nil
	for v := newest.newer; ; v = v.newer {
		value := *v
		p.stage(&value)
		if v == newest {
			return
		}
	}
}

// settled takes a value out of those that are being written. It reports false where it is not among them: the offset was
// deleted meanwhile. Kafka's Scala coordinator keeps only the newest one: where that one fails first, an older one that is
// written afterwards is acknowledged and yet not seen. Kafka 4.0 shows it, and so does this.
func (p *partitionOffset) settled(v *offsetValue) bool {
	before := p.before(func(w *offsetValue) bool { return w == v })
	if before == nil { // in a copy of the machine it is another one that says the same
		if before = p.before(v.same); before == nil {
			return false
		}
	}
	switch gone := before.newer; {
	case gone == before:
		p.pending = nil
	case gone == p.pending:
		p.pending = before
		fallthrough
	default:
		before.newer = gone.newer
	}
	return true
}

// before returns the value behind which lies the first one, from the oldest on, that is the one sought; nil where none is.
func (p *partitionOffset) before(sought func(*offsetValue) bool) *offsetValue {
	if p.pending == nil {
		return nil
	}
	for at := p.pending; ; {
		if sought(at.newer) {
			return at
		}
		if at = at.newer; at == p.pending {
			return nil
		}
	}
}

func (v *offsetValue) same(w *offsetValue) bool {
	return v.offset == w.offset && v.metadata == w.metadata && v.commitMs == w.commitMs && v.expireMs == w.expireMs && v.leaderEpoch == w.leaderEpoch
}

// appendTo appends the record's value to dst.
func (v *offsetValue) appendTo(dst []byte) []byte {
	return record.AppendOffsetValue(dst, record.Offset{Offset: v.offset, LeaderEpoch: v.leaderEpoch,
		Metadata: v.metadata, CommitTimestampMs: v.commitMs, ExpireTimestampMs: v.expireMs})
}

func (v *offsetValue) told(topic string, partition int32) event.OffsetValue {
	return event.OffsetValue{Topic: topic, Partition: partition, Offset: v.offset, LeaderEpoch: v.leaderEpoch,
		Metadata: v.metadata, CommitMs: v.commitMs, ExpireMs: max(v.expireMs, 0)}
}

// lookup returns the index of a topic's offsets, -1 where there are none.
func (t *offsetTable) lookup(name string) int32 {
	if t.byTopic != nil {
		if i, ok := t.byTopic[name]; ok {
			return i
		}
		return -1
	}
	for i := range t.topics {
		if t.topics[i].topic == name {
			return int32(i)
		}
	}
	return -1
}

// topicOf returns a topic's offsets, nil where there are none. The pointer is good until another topic comes.
func (t *offsetTable) topicOf(name string) *topicOffsets {
	if i := t.lookup(name); i >= 0 {
		return &t.topics[i]
	}
	return nil
}

// topic returns the index of a topic's offsets, which it makes if there are none.
func (t *offsetTable) topic(name string) int32 {
	i := t.lookup(name)
	if i >= 0 {
		return i
	}
	i = int32(len(t.topics))
	t.topics = append(t.topics, topicOffsets{topic: name})
	if t.byTopic != nil {
		t.byTopic[name] = i
	} else {
		t.index()
	}
	return i
}

// at finds a partition, or where it belongs. hint is where it probably is; any number will do, as partitions come from
// requests and records.
func (o *topicOffsets) at(partition int32, hint int) (i int, found bool) {
	if uint(hint) < uint(len(o.partitions)) && o.partitions[hint].partition == partition {
		return hint, true
	}
	low, high := 0, len(o.partitions)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if o.partitions[mid].partition < partition {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(o.partitions) && o.partitions[low].partition == partition
}

// find returns a partition's offsets, nil where there are none.
func (t *offsetTable) find(topic string, partition int32) *partitionOffset {
	o := t.topicOf(topic)
	if o == nil {
		return nil
	}
	at, found := o.at(partition, int(partition))
	if !found {
		return nil
	}
	return &o.partitions[at]
}

// clear empties a partition's offsets, if there are any.
func (t *offsetTable) clear(topic string, partition int32) {
	if o := t.find(topic, partition); o != nil {
		*o = partitionOffset{partition: o.partition, baseOffset: notCommitted}
	}
}

// make returns a partition's offsets, which it makes if there are none, and where they are. The pointer is good until
// the next make.
func (o *topicOffsets) make(partition int32, hint int) (*partitionOffset, int) {
	at, found := o.at(partition, hint)
	if !found {
		o.partitions = append(o.partitions, partitionOffset{})
		copy(o.partitions[at+1:], o.partitions[at:])
		o.partitions[at] = partitionOffset{partition: partition, baseOffset: notCommitted}
	}
	return &o.partitions[at], at
}

// make returns a partition's offsets, which it makes if there are none. The pointer is good until the next make.
func (t *offsetTable) make(topic string, partition int32) *partitionOffset {
	p, _ := t.topics[t.topic(topic)].make(partition, int(partition))
	return p
}

// hasOffsets tells whether the group has any offset, committed, pending or in a transaction that has not ended; that
// keeps an Empty group alive.
func (g *group) hasOffsets() bool {
	return g.any() || slices.ContainsFunc(g.txns, func(t *transaction) bool { return t.any() })
}

// unstable tells why a partition's committed offset may be overtaken soon, "" where it may not.
func (g *group) unstable(topic string, partition int32) string {
	if o := g.find(topic, partition); o != nil && o.pending != nil {
		return fmt.Sprintf("a commit of %s-%d is being written", event.Name(topic), partition)
	}
	for _, t := range g.txns {
		if o := t.find(topic, partition); o != nil && o.holds() {
			return fmt.Sprintf("a commit of %s-%d is in an open transaction of producer %d", event.Name(topic), partition, t.producerID)
		}
	}
	return ""
}
