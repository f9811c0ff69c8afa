package drive

import (
	"fmt"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
	"grouplab/coordinator/txn"
)

// load is the reading of one partition of __consumer_offsets (Kafka: GroupMetadataManager.loadGroupsAndOffsets) or
// __transaction_state, chunk by chunk, up to where its log ended when the broker became its leader.
type load struct {
	topic                    string
	broker, partition, epoch int32
	next, end                int64
	dueMs                    int64
}

func (l *load) is(topic string, of cluster.Leadership) bool {
	return l.topic == topic && l.broker == of.Broker && l.partition == of.Partition
}

// recordBuffer is room that is used again for every batch.
type recordBuffer struct {
	loaded []record.Record
	batch  []byte
}

// maxRoom is the largest batch whose room is kept.
const maxRoom = 64 << 10

// encoded is a batch that is good until the next one.
func (b *recordBuffer) encoded(producer log.Producer, attributes int16, records []record.Record) []byte {
	e := log.Begin(b.batch)
	for i := range records {
		r := &records[i]
		e.Add(&log.Record{TimestampMs: r.TimestampMs, Key: r.Key, Value: r.Value})
	}
	batch := e.End(producer, attributes)
	if cap(batch) <= maxRoom {
		b.batch = batch
	}
	return batch
}

// pace bounds how much all loads together read in a millisecond. bytes is 0 where nothing bounds them.
type pace struct {
	bytes int
	atMs  int64
	read  int // at atMs
}

// spent tells whether no more may be read at a time.
func (p *pace) spent(nowMs int64) bool {
	if p.atMs != nowMs {
		p.atMs, p.read = nowMs, 0
	}
	return p.bytes > 0 && p.read >= p.bytes
}

// PaceLoads has loads, which are over at once where Config.LoadDelayMs is 0, read no more than so many bytes in a millisecond
// from now on, all together and one after the other (Kafka: the one thread of GroupMetadataManager's scheduler): a host whose
// clients wait for other things meanwhile is never kept for long.
func (d *Drive) PaceLoads(bytes int) {
	d.pace.bytes, d.cfg.LoadChunkBytes = bytes, min(bytes, d.cfg.LoadChunkBytes)
}

// runLoads reads the next chunk of every load that is due, and reports whether there was one.
func (d *Drive) runLoads() bool {
	moved := false
	kept := d.loads[:0]
	for _, l := range d.loads {
		if l.dueMs <= d.nowMs && d.pace.spent(d.nowMs) {
			l.dueMs = d.nowMs + 1
		}
		if l.dueMs > d.nowMs {
			kept = append(kept, l)
			continue
		}
		moved = true
		if d.loadChunk(&l) {
			l.dueMs = d.nowMs + d.cfg.LoadDelayMs
			kept = append(kept, l)
		}
	}
	d.loads = kept
	return moved
}

// loadChunk gives one chunk to the machine and reports whether there is more.
func (d *Drive) loadChunk(l *load) bool {
	m := d.machine(l.broker)
	m.stale, m.txnStale = true, true
	failed := ""
	if l.next < l.end {
		if d.cfg.Loading != nil && l.next == 0 {
			d.cfg.Loading(l.broker, l.topic, l.partition, 0, l.end)
		}
		chunk, _, ok := d.cluster.ReadLog(l.broker, l.topic, l.partition, l.next, d.cfg.LoadChunkBytes)
		if !ok {
			failed = fmt.Sprintf("the log cannot be read at %d", l.next)
		}
		d.pace.read += len(chunk)
		read := len(chunk) > 0 // nothing: compaction left a hole up to the end
		for len(chunk) > 0 && failed == "" {
			b, rest, err := log.Parse(chunk)
			if err == nil {
				err = d.give(m, l, b)
			}
			if err != nil {
				failed = unopened(b, err)
				break
			}
			l.next, chunk = b.NextOffset(), rest
		}
		if d.cfg.Loading != nil {
			d.cfg.Loading(l.broker, l.topic, l.partition, l.next, l.end)
		}
		if failed == "" && read && l.next < l.end {
			return true
		}
	}
	if l.topic == cluster.TransactionTopic {
		m.txn.Loaded(d.nowMs, l.partition, l.epoch, failed)
	} else {
		m.c.Loaded(d.nowMs, l.partition, l.epoch, failed)
	}
	return false
}

// give decodes a batch and gives it to the machine.
func (d *Drive) give(m *machine, l *load, b log.Batch) error {
	records := d.records.loaded[:0]
	err := b.Each(d.cfg.Decompress, func(r log.Record) bool {
		records = append(records, record.Record{Key: r.Key, Value: r.Value, TimestampMs: r.TimestampMs})
		return true
	})
	d.records.loaded = records
	if err != nil {
		return err
	}
	if l.topic == cluster.TransactionTopic {
		m.txn.Load(d.nowMs, l.partition, l.epoch, txn.LoadedBatch{BaseOffset: b.BaseOffset, Records: records})
		return nil
	}
	m.c.Load(d.nowMs, l.partition, l.epoch, coordinator.LoadedBatch{BaseOffset: b.BaseOffset, ProducerID: b.ProducerID,
		ProducerEpoch: b.ProducerEpoch, Transactional: b.Transactional(), Control: b.Control(), Records: records, NextOffset: b.NextOffset()})
	return nil
}
