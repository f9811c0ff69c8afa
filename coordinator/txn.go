package coordinator

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

// transaction is what one producer has committed to a group and neither committed nor aborted as a whole (Kafka:
// pendingTransactionalOffsetCommits). In its table "committed" means that the record is in the log.
type transaction struct {
	offsetTable
	number     int64 // never used again, unlike the producer id
	producerID int64
	epoch      int16
}

// openTxn is what a partition of __consumer_offsets knows of a producer's open transaction (Kafka:
// openGroupsForProducer). It is a value; groups is only ever replaced by a longer copy.
type openTxn struct {
	epoch int16
	// written: a record of it is in the log, so the partition is known to be part of the transaction.
	written bool
	groups  []string // in order of their first commit; some may have gone
}

type txnKey struct {
	partition  int32
	producerID int64
}

// Marker ends a producer's transaction on one partition of __consumer_offsets.
type Marker struct {
	// Partition is the one whose log holds the marker.
	Partition     int32
	ProducerID    int64
	ProducerEpoch int16
	// Commit makes the offsets of the transaction visible; otherwise they are dropped.
	Commit bool
	// Cause is the Seq of the event that told of the marker, 0 where there is none.
	Cause int64
}

func (g *group) transactionOf(producerID int64) *transaction {
	for _, t := range g.txns {
		if t.producerID == producerID {
			return t
		}
	}
	return nil
}

// transaction returns a producer's open transaction of the group, which it begins if there is none.
func (c *Coordinator) transaction(g *group, producerID int64, epoch int16) *transaction {
	t := g.transactionOf(producerID)
	if t == nil {
		c.txnNumbers++
		t = &transaction{offsetTable: newOffsetTable(g.id), number: c.txnNumbers, producerID: producerID}
		g.txns = append(g.txns, t)
	}
	t.epoch = epoch
	return t
}

// noteOpen lets a marker find the group.
func (c *Coordinator) noteOpen(g *group, producerID int64, epoch int16, written bool) {
	key := txnKey{g.partition, producerID}
	open := c.openTxns[key]
	if open.epoch != epoch {
		open.epoch, open.written = epoch, false
	}
	open.written = open.written || written
	if !slices.Contains(open.groups, g.id) {
		open.groups = append(slices.Clip(open.groups), g.id)
	}
	c.openTxns[key] = open
}

// forgetIfEmpty drops a transaction that holds nothing, because what it wrote failed or was deleted.
func (g *group) forgetIfEmpty(t *transaction) {
	if !t.any() {
		g.txns = slices.DeleteFunc(g.txns, func(o *transaction) bool { return o == t })
	}
}

// txnMarker ends a transaction in all groups of the partition. While the partition is loading, the marker waits until
// the groups are there, as in Kafka, where one thread does both.
func (c *Coordinator) txnMarker(m Marker) {
	if p := c.partitions[m.Partition]; p != nil && p.load != nil {
		p.load.markers = append(p.load.markers, m)
		return
	}
	key := txnKey{m.Partition, m.ProducerID}
	open := c.openTxns[key]
	delete(c.openTxns, key)
	for _, id := range open.groups {
		g := c.groups[id]
		if g == nil || g.partition != m.Partition {
			continue
		}
		if t := g.transactionOf(m.ProducerID); t != nil {
			c.endTransaction(g, t, m.Commit)
		}
	}
}

// endTransaction tells what became of a transaction's offsets.
func (c *Coordinator) endTransaction(g *group, t *transaction, commit bool) {
	written := t.written()
	ended := event.TxnOffsetsEnded{ProducerID: t.producerID, ProducerEpoch: t.epoch, Commit: commit}
	for _, w := range written {
		ended.Offsets = append(ended.Offsets, w.told())
	}
	c.cause = c.emit(g.id, ended)
	visible := g.finish(t, commit)
	for len(visible) > 0 {
		told := event.OffsetsCommitted{BaseOffset: visible[0].baseOffset}
		n := 0
		for ; n < len(visible) && visible[n].baseOffset == told.BaseOffset; n++ {
			told.Offsets = append(told.Offsets, visible[n].told())
		}
		c.emit(g.id, told)
		visible = visible[n:]
	}
}

// writtenOffset is one offset of a transaction whose record is in the log.
type writtenOffset struct {
	topic string
	partitionOffset
}

func (w *writtenOffset) told() event.OffsetValue {
	value := w.value()
	return value.told(w.topic, w.partition)
}

// written lists the offsets of a transaction by the positions of their batches.
func (t *transaction) written() (list []writtenOffset) {
	t.each(func(topic string, p *partitionOffset) {
		if p.committed() {
			list = append(list, writtenOffset{topic, *p})
		}
	})
	slices.SortStableFunc(list, func(a, b writtenOffset) int { return cmp.Compare(a.baseOffset, b.baseOffset) })
	return list
}

// toldWritten tells what of a transaction is in the log, batch by batch.
func (t *transaction) toldWritten() (list []event.TxnOffsetsWritten) {
	for _, w := range t.written() {
		if n := len(list); n == 0 || list[n-1].BaseOffset != w.baseOffset {
			list = append(list, event.TxnOffsetsWritten{ProducerID: t.producerID, ProducerEpoch: t.epoch, BaseOffset: w.baseOffset, Loaded: true})
		}
		last := &list[len(list)-1]
		last.Offsets = append(last.Offsets, w.told())
	}
	return list
}

// finish takes a transaction out of its group. Where it was committed, its offsets become visible, unless the log holds
// a later commit of the partition already: the position of the records decides, not when the marker came. What is not
// yet known to be written when the marker comes is dropped; Kafka calls that an illegal state.
func (g *group) finish(t *transaction, commit bool) (visible []writtenOffset) {
	g.txns = slices.DeleteFunc(g.txns, func(o *transaction) bool { return o == t })
	if !commit {
		return nil
	}
	for _, w := range t.written() {
		o := g.make(w.topic, w.partition)
		if o.committed() && o.baseOffset >= w.baseOffset {
			continue
		}
		value := w.value()
		o.commit(&value, w.baseOffset)
		visible = append(visible, w)
	}
	return visible
}
