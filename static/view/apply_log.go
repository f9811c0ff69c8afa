package view

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

const (
	codeLoading  = 14 // COORDINATOR_LOAD_IN_PROGRESS
	apiHeartbeat = 12
)

// retention learns when a broker's clean-up job looks and what it goes by.
func (m *Model) retention(broker int32, retentionMs, cleanupMs int64) {
	if b := m.Brokers[broker]; b != nil && retentionMs > 0 {
		b.RetentionMs, b.CleanupMs = retentionMs, cleanupMs
	}
}

func (m *Model) finishLoad(e event.Event, b event.LoadFinished) {
	t := m.tape(b.Partition)
	done := &Load{State: Owned, Epoch: b.Epoch, Groups: b.Groups, Offsets: b.Offsets, Failed: b.Failed, SinceMs: e.AtMs}
	if l := t.Loads[e.Broker]; l != nil && l.State == Loading {
		done.End, done.Records, done.TookMs, done.Answers = l.End, l.Records, e.AtMs-l.SinceMs, l.Answers
	}
	t.Loads[e.Broker] = done
	if f := &t.Failover; f.To == e.Broker && f.OwnMs == 0 {
		f.OwnMs = e.AtMs
	}
	m.retention(e.Broker, b.RetentionMs, b.CleanupMs)
}

// loadOf is what a broker does to load a group's partition, nil where it does not load it.
func (m *Model) loadOf(g *Group, broker int32) *Load {
	t := m.Tapes[(&stage{m: m, g: g}).partition()]
	if t == nil {
		return nil
	}
	if l := t.Loads[broker]; l != nil && l.State == Loading {
		return l
	}
	return nil
}

// compact takes off the tape what compaction removed, and keeps how it was before. Each replica is compacted; the leader's
// is shown. The fact names the first of those that went; a record below To that a newer one had overwritten is gone in
// any case. Those that stay keep their offsets.
func (m *Model) compact(e event.Event, b event.LogCompacted) {
	t := m.tape(b.Partition)
	if t.Leader > 0 && e.Broker != t.Leader {
		return
	}
	gone := map[int64]event.RemovedRecord{}
	c := &Cleaning{AtMs: e.AtMs, Seq: e.Seq, From: b.From, To: b.To, BytesBefore: b.BytesBefore, BytesAfter: b.BytesAfter, Kept: b.Kept, Count: b.Count}
	for _, r := range b.Removed {
		gone[r.Offset] = r
		c.count(r.Why, 1)
	}
	if more := b.Count - len(b.Removed); more > 0 { // not named: by far the most are superseded
		c.count(event.WhySuperseded, more)
	}
	kept := t.Records[:0:0]
	for _, r := range t.Records {
		if r.Offset >= b.To {
			kept = append(kept, r)
			continue
		}
		cleaned := CleanedRecord{TapeRecord: r, By: -1}
		if g, named := gone[r.Offset]; named {
			cleaned.Why, cleaned.By = cmp.Or(g.Why, event.WhySuperseded), g.By
		} else if r.OverwrittenBy >= 0 && r.OverwrittenBy < b.To && len(b.Removed) < b.Count {
			cleaned.Why, cleaned.By = event.WhySuperseded, r.OverwrittenBy
		}
		c.Before = append(c.Before, cleaned)
		if cleaned.Why == "" {
			kept = append(kept, r)
		}
	}
	if n := len(c.Before); n > cleaningMost {
		c.Before = slices.Clone(c.Before[n-cleaningMost:])
	}
	t.Records, t.Compacted, t.Removed, t.Cleaned = kept, b.To, t.Removed+b.Count, c
}

func (c *Cleaning) count(why event.RemovalReason, n int) {
	for i := range c.Reasons {
		if c.Reasons[i].Why == why {
			c.Reasons[i].Count += n
			return
		}
	}
	c.Reasons = append(c.Reasons, ReasonCount{why, n})
}

func (m *Model) appendRecords(e event.Event, b event.RecordsAppended) {
	if b.Topic != offsetsTopic {
		return
	}
	t := m.tape(b.Partition)
	end := b.BaseOffset + int64(b.Count)
	t.EndOffset = max(t.EndOffset, end)
	t.Ends[e.Broker] = max(t.Ends[e.Broker], end)
	records := b.Told()
	for i, r := range records {
		t.add(TapeRecord{Offset: b.BaseOffset + int64(i), AtMs: e.AtMs, Seq: e.Seq, LogRecord: r, OverwrittenBy: -1,
			Txn: b.Transactional, Producer: b.ProducerID})
		told := slices.ContainsFunc(records[:i], func(x event.LogRecord) bool { return x.Group == r.Group })
		if g := m.Groups[r.Group]; g != nil && !told {
			g.Partition = b.Partition
			if !m.inFacts {
				g.mark(Mark{Kind: MarkAppend, AtMs: e.AtMs, Seq: e.Seq, Text: r.What, Number: b.BaseOffset})
			}
		}
	}
}

// add puts a record at the end. A record at a position that is there already replaces what was cut off before it.
func (t *Tape) add(r TapeRecord) {
	if n := len(t.Records); n > 0 && t.Records[n-1].Offset >= r.Offset {
		t.Records = without(t.Records, func(x TapeRecord) bool { return x.Offset >= r.Offset })
	}
	switch {
	case r.What == "marker":
		r.Ended = txnEnd(r.Commit)
		t.endTxn(r)
	case r.What != "other" && !r.Txn:
		t.rule(&r)
	}
	t.Records = keep(append(t.Records, r), maxTape)
}

// cut takes off what lies beyond the log of a new leader: with the old one it was only in flight, and nobody is told that
// it is lost. What those records had overwritten counts again.
func (t *Tape) cut(end int64) {
	t.Records = without(t.Records, func(r TapeRecord) bool { return r.Offset >= end })
	t.EndOffset, t.HighWatermark = end, min(t.HighWatermark, end)
	for k, at := range t.latest {
		if at < end {
			continue
		}
		if t.alive[k] {
			t.Live--
		}
		delete(t.latest, k)
		delete(t.alive, k)
	}
	for i := range t.Records {
		if r := &t.Records[i]; r.OverwrittenBy >= end {
			r.OverwrittenBy = -1
			t.rule(r)
		}
	}
}

// endTxn lets a marker settle the records of its transaction: those of an aborted one never count.
func (t *Tape) endTxn(marker TapeRecord) {
	for i := range t.Records {
		if r := &t.Records[i]; r.Txn && r.Producer == marker.Producer && r.Ended == TxnOpen {
			r.Ended, r.EndedBy = marker.Ended, marker.Offset
			if r.Ended == TxnCommitted {
				t.rule(r)
			}
		}
	}
}

// rule makes a record the one that counts for its key and strikes the older one. Of two, the later in the log counts.
func (t *Tape) rule(r *TapeRecord) {
	k := tapeKey{group: r.Group, isGroup: r.What == "group"}
	if !k.isGroup {
		k.topic, k.partition = r.Topic, r.Partition
	}
	old, had := t.latest[k]
	if had && old > r.Offset {
		r.OverwrittenBy = old
		return
	}
	if had {
		for i := len(t.Records) - 1; i >= 0 && t.Records[i].Offset >= old; i-- {
			if t.Records[i].Offset == old {
				t.Records[i].OverwrittenBy = r.Offset
			}
		}
		if t.alive[k] {
			t.Live--
		}
	}
	t.latest[k], t.alive[k] = r.Offset, !r.Tombstone
	if !r.Tombstone {
		t.Live++
	}
}

// finishAppend takes an append away, and keeps what became of it where it failed.
func (g *Group) finishAppend(e event.Event, b event.AppendFinished) {
	var wait *AppendWait
	g.Appends = drop(g.Appends, func(a *AppendWait) bool {
		if a.Append == b.Append {
			wait = a
		}
		return a.Append == b.Append
	})
	if b.Code == 0 {
		g.Failed = nil
		return
	}
	f := &AppendFailure{Code: b.Code, AtMs: e.AtMs, Seq: e.Seq, Ignored: b.Ignored, Times: 1, SinceMs: e.AtMs}
	if wait != nil {
		f.What, f.Records = wait.What, wait.Records
	}
	if old := g.Failed; old != nil && old.Code == f.Code && old.What == f.What {
		f.Times, f.SinceMs, f.Answers = old.Times+1, old.SinceMs, old.Answers
	}
	g.Failed = f
}
