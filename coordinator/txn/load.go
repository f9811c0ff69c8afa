package txn

import (
	"fmt"
	"maps"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// partition is what this broker knows of one partition of __transaction_state.
type partition struct {
	epoch int32 // of the last immigration or emigration
	// term counts how often the partition's ids were forgotten: what was begun in an earlier one has no effect.
	term  int64
	owned bool
	load  *load
}

// load is the reading of its log.
type load struct {
	epoch     int32
	endOffset int64
	txns      map[string]metadata
	failed    string
	cause     int64
}

func (p *partition) clone() *partition {
	k := *p
	if p.load != nil {
		l := *p.load
		l.txns = maps.Clone(p.load.txns)
		k.load = &l
	}
	return &k
}

// immigrate begins a load. What was known of the partition before is forgotten, as in Kafka's onElection.
func (c *Coordinator) immigrate(number, epoch int32, endOffset int64) {
	p := c.partitions[number]
	if p == nil {
		p = &partition{epoch: -1}
		c.partitions[number] = p
	}
	if epoch < p.epoch || epoch == p.epoch && (p.owned || p.load != nil) {
		return
	}
	c.forget(number)
	p.epoch, p.owned = epoch, false
	seq := c.emit(event.TxnLoadStarted{Partition: number, Epoch: epoch, EndOffset: endOffset})
	p.load = &load{epoch: epoch, endOffset: endOffset, txns: map[string]metadata{}, cause: seq}
}

// loadBatch reads one batch: the last record of an id wins, a tombstone removes it.
func (c *Coordinator) loadBatch(number, epoch int32, b LoadedBatch) {
	p := c.partitions[number]
	if p == nil || p.load == nil || p.load.epoch != epoch || p.load.failed != "" {
		return
	}
	for i, r := range b.Records {
		id, known, err := record.DecodeTransactionKey(r.Key)
		var m metadata
		switch {
		case err != nil || !known:
		case r.Value == nil:
			delete(p.load.txns, id)
			continue
		default:
			m, err = decode(r.Value)
		}
		if err != nil {
			p.load.failed = fmt.Sprintf("record %d of the batch at %d: %v", i, b.BaseOffset, err)
			return
		}
		if known {
			p.load.txns[id] = m
		}
	}
}

// loaded owns the partition. Transactions that were decided are ended: their markers are sent again.
func (c *Coordinator) loaded(number, epoch int32, failed string) {
	p := c.partitions[number]
	if p == nil || p.load == nil || p.load.epoch != epoch {
		return
	}
	l := p.load
	p.load, p.owned = nil, true
	if l.failed != "" {
		failed = l.failed
	}
	c.cause = l.cause
	c.cause = c.emit(event.TxnLoadFinished{Partition: number, Epoch: epoch, Transactions: len(l.txns), Failed: failed})
	cause := c.cause
	for _, id := range slices.Sorted(maps.Keys(l.txns)) {
		t := &transaction{id: id, partition: number, metadata: l.txns[id]}
		c.txns[id] = t
		c.cause = cause
		c.cause = c.emit(t.changed("", "loaded"))
		if t.state == event.TxnPrepareCommit || t.state == event.TxnPrepareAbort {
			c.sendMarkers(t)
		}
	}
	c.setJobs()
}

// emigrate forgets a partition (onResignation). Appends that are under way are answered when their outcome comes.
func (c *Coordinator) emigrate(number, epoch int32) {
	p := c.partitions[number]
	if p == nil || epoch >= 0 && epoch < p.epoch {
		return
	}
	p.epoch = max(p.epoch, epoch)
	if p.owned || p.load != nil {
		c.emit(event.TxnUnloaded{Partition: number, Epoch: p.epoch, Transactions: c.count(number)})
	}
	p.owned, p.load = false, nil
	c.forget(number)
}

// forget drops the ids of a partition, their markers and their retries.
func (c *Coordinator) forget(number int32) {
	gone := func(id string) bool { return c.txns[id] == nil || c.txns[id].partition == number }
	for ticket, m := range c.markers {
		if gone(m.id) {
			delete(c.markers, ticket)
		}
	}
	c.partitions[number].term++
	c.retries = slices.DeleteFunc(c.retries, func(r retry) bool { return gone(r.id) })
	for id, t := range c.txns {
		if t.partition == number {
			delete(c.txns, id)
		}
	}
	c.setJobs()
}
