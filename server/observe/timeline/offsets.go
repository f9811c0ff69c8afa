package timeline

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// topicOffsets are a group's offsets of one topic, by partition.
type topicOffsets struct {
	topic string
	list  []offset
}

// offset is what is committed for one partition.
type offset struct {
	partition   int32
	leaderEpoch int32
	value       int64
	commitMs    int64
	expireMs    int64 // 0: the broker's retention decides
	at          int64 // where in the log it lies, -1: not known
	metadata    string
}

func byPartition(o offset, number int32) int { return cmp.Compare(o.partition, number) }

func (x *topicOffsets) find(number int32) *offset {
	if i, found := slices.BinarySearchFunc(x.list, number, byPartition); found {
		return &x.list[i]
	}
	return nil
}

// topicOffsets are those of one topic, nil where there are none. They lie sorted by topic.
func (g *group) topicOffsets(name string) *topicOffsets {
	if i, found := searchTopic(g.offsets, name); found {
		return &g.offsets[i]
	}
	return nil
}

func searchTopic(list []topicOffsets, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(x topicOffsets, name string) int { return cmp.Compare(x.topic, name) })
}

func put(list []topicOffsets, topic string, o offset) []topicOffsets {
	i, found := searchTopic(list, topic)
	if !found {
		list = slices.Insert(list, i, topicOffsets{topic: topic})
	}
	x := &list[i]
	if at, found := slices.BinarySearchFunc(x.list, o.partition, byPartition); found {
		x.list[at] = o
	} else {
		x.list = slices.Insert(x.list, at, o)
	}
	return list
}

// take removes one partition's and returns it; false where there is none.
func take(list []topicOffsets, topic string, number int32) ([]topicOffsets, offset, bool) {
	i, found := searchTopic(list, topic)
	if !found {
		return list, offset{}, false
	}
	x := &list[i]
	at, found := slices.BinarySearchFunc(x.list, number, byPartition)
	if !found {
		return list, offset{}, false
	}
	o := x.list[at]
	if x.list = slices.Delete(x.list, at, at+1); len(x.list) == 0 {
		list = slices.Delete(list, i, i+1)
	}
	return list, o, true
}

func (o *offset) told(topic string) event.OffsetValue {
	return event.OffsetValue{Topic: topic, Partition: o.partition, LeaderEpoch: o.leaderEpoch, Offset: o.value, Metadata: o.metadata,
		CommitMs: o.commitMs, ExpireMs: o.expireMs}
}

func told(list []topicOffsets) (values []event.OffsetValue) {
	for _, x := range list {
		for i := range x.list {
			values = append(values, x.list[i].told(x.topic))
		}
	}
	return values
}

// offsetOf makes an offset of a record's value.
func (t *Timeline) offsetOf(number int32, at int64, v record.Offset) offset {
	return offset{partition: number, leaderEpoch: v.LeaderEpoch, value: v.Offset, commitMs: v.CommitTimestampMs,
		expireMs: max(v.ExpireTimestampMs, 0), at: at, metadata: t.names.one(v.Metadata)}
}

// txn is what a producer's transaction has written and nobody sees yet.
type txn struct {
	producerID int64
	epoch      int16
	offsets    []topicOffsets
}

func (g *group) txn(producerID int64) *txn {
	for _, x := range g.txns {
		if x.producerID == producerID {
			return x
		}
	}
	return nil
}

// commitStep is the offsets of one append: values of one group with one timestamp.
type commitStep struct {
	producerID    int64
	epoch         int16
	transactional bool
	base          int64 // the first one's position
	values        []event.OffsetValue
	gone          []event.OffsetValue
}

// commit takes one offset record. What it changed is added to the step, which is nil while a partition is read for the
// first time.
func (t *Timeline) commit(p *partition, g *group, key record.Key, r *Record, s *commitStep) {
	topic := t.names.one(key.Topic)
	if r.Value == nil {
		t.uncommit(g, topic, key.Partition, r, s)
		return
	}
	v, err := record.DecodeOffset(r.Value)
	if err != nil {
		t.skip(p, r, "an offset's value "+faultOf(r.Value, 4))
		return
	}
	o := t.offsetOf(key.Partition, r.Offset, v)
	if !r.Transactional {
		g.offsets = put(g.offsets, topic, o)
	} else {
		t.stage(p, g, topic, o, r)
	}
	if s != nil {
		s.values = append(s.values, o.told(topic))
	}
}

// stage keeps an offset of a transaction until its marker comes. A newer epoch of the producer fences the older one: what
// that had written will never be committed.
func (t *Timeline) stage(p *partition, g *group, topic string, o offset, r *Record) {
	x := g.txn(r.ProducerID)
	if x != nil && x.epoch != r.ProducerEpoch {
		if r.ProducerEpoch < x.epoch {
			return
		}
		t.endTxn(p, g, x, false, r.TimestampMs)
		x = nil
	}
	if x == nil {
		x = &txn{producerID: r.ProducerID, epoch: r.ProducerEpoch}
		g.txns = append(g.txns, x)
	}
	x.offsets = put(x.offsets, topic, o)
	if !slices.Contains(p.open[r.ProducerID], g.name) {
		p.open[r.ProducerID] = append(p.open[r.ProducerID], g.name)
	}
}

// uncommit takes a tombstone. Outside of a transaction it also removes what open ones have written, since it lies later in
// the log.
func (t *Timeline) uncommit(g *group, topic string, number int32, r *Record, s *commitStep) {
	if r.Transactional {
		if x := g.txn(r.ProducerID); x != nil && x.epoch == r.ProducerEpoch {
			x.offsets, _, _ = take(x.offsets, topic, number)
		}
		return
	}
	list, o, found := take(g.offsets, topic, number)
	g.offsets = list
	for _, x := range g.txns {
		staged, old, was := take(x.offsets, topic, number)
		if x.offsets = staged; was && !found {
			o, found = old, true
		}
	}
	if found && s != nil {
		s.gone = append(s.gone, o.told(topic))
	}
}

// marker ends a producer's transaction in every group of a partition.
func (t *Timeline) marker(p *partition, r *Record) {
	if len(r.Key) < 4 {
		t.skip(p, r, "a marker's key is cut short")
		return
	}
	commit := int(r.Key[2])<<8|int(r.Key[3]) == 1
	open := p.open[r.ProducerID]
	delete(p.open, r.ProducerID)
	for _, name := range open {
		g := t.groups[name]
		if g == nil {
			continue
		}
		// The marker of a newer epoch is a coordinator's that has fenced the producer, and ends the older one too.
		if x := g.txn(r.ProducerID); x != nil && x.epoch <= r.ProducerEpoch {
			t.endTxn(p, g, x, commit, r.TimestampMs)
			t.forgetIfNothing(p, g, exactly(r.TimestampMs), "", 0)
		}
	}
}

// endTxn ends a group's part of a transaction. What was committed later in the log stays.
func (t *Timeline) endTxn(p *partition, g *group, x *txn, commit bool, atMs int64) {
	g.txns = slices.DeleteFunc(g.txns, func(o *txn) bool { return o == x })
	all, base := told(x.offsets), int64(-1)
	var visible []event.OffsetValue
	for _, staged := range x.offsets {
		for _, o := range staged.list {
			if old := g.committed(staged.topic, o.partition); commit && (old == nil || old.at < o.at) {
				g.offsets = put(g.offsets, staged.topic, o)
				visible = append(visible, o.told(staged.topic))
				if base < 0 || o.at < base {
					base = o.at
				}
			}
		}
	}
	if !p.ready || len(all) == 0 {
		return
	}
	cause := t.emit(g, exactly(atMs), 0, event.TxnOffsetsEnded{ProducerID: x.producerID, ProducerEpoch: x.epoch, Commit: commit, Offsets: all})
	if len(visible) > 0 {
		t.emit(g, exactly(atMs), cause, event.OffsetsCommitted{BaseOffset: base, Offsets: visible})
	}
}

func (g *group) committed(topic string, number int32) *offset {
	if x := g.topicOffsets(topic); x != nil {
		return x.find(number)
	}
	return nil
}

// tellCommits tells of a step's offsets.
func (t *Timeline) tellCommits(g *group, atMs int64, s *commitStep, groupGone bool) {
	if len(s.values) > 0 {
		var body event.Body = event.OffsetsCommitted{BaseOffset: s.base, Offsets: s.values}
		if s.transactional {
			body = event.TxnOffsetsWritten{ProducerID: s.producerID, ProducerEpoch: s.epoch, BaseOffset: s.base, Offsets: s.values}
		}
		t.emit(g, exactly(atMs), 0, body)
	}
	if len(s.gone) > 0 {
		t.emit(g, when{atMs, atMs, event.Inferred}, 0, event.OffsetsRemoved{Why: t.whyGone(s.gone, atMs, groupGone), Offsets: s.gone})
	}
}

// whyGone concludes why tombstones of offsets were written: it is not in the log.
func (t *Timeline) whyGone(gone []event.OffsetValue, atMs int64, groupGone bool) event.Why {
	deleted, expired := true, true
	for _, o := range gone {
		x := t.topics[o.Topic]
		deleted = deleted && x != nil && x.gone
		expired = expired && (o.ExpireMs > 0 && o.ExpireMs <= atMs || o.ExpireMs == 0 && o.CommitMs+t.retentionMs() <= atMs)
	}
	switch {
	case deleted:
		return event.WhyTopicDeleted
	case expired:
		return event.WhyOffsetsExpired
	case groupGone:
		return event.WhyGroupDeleted
	}
	return event.WhyOffsetsDeleted
}

// retentionMs is offsets.retention.minutes, Kafka's default where it is not known.
func (t *Timeline) retentionMs() int64 {
	if t.about.RetentionMs > 0 {
		return t.about.RetentionMs
	}
	return 7 * dayMs
}
