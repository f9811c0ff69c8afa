package view

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

// applyOffsets follows commits: pending, committed, refused.
func (g *Group) applyOffsets(e event.Event) {
	switch b := e.Body.(type) {
	case event.OffsetsPending:
		for _, o := range b.Offsets {
			row := g.offsetRow(o.Topic, o.Partition)
			row.Pending = append(row.Pending, o.Offset)
			row.PendingSince = e.AtMs
		}
		g.ledger(LedgerEntry{AtMs: e.AtMs, Seq: e.Seq, Member: b.Member, Generation: b.Generation, GroupGeneration: g.Generation,
			State: g.State, Append: b.Append, Offsets: b.Offsets})
	case event.OffsetsRemoved:
		for _, o := range b.Offsets {
			g.Offsets = drop(g.Offsets, func(row *OffsetRow) bool { return row.Topic == o.Topic && row.Partition == o.Partition })
		}
		g.Removed = &Removal{Why: b.Why, AtMs: e.AtMs, Offsets: b.Offsets}
	case event.OffsetsCommitted:
		for _, o := range b.Offsets {
			row := g.offsetRow(o.Topic, o.Partition)
			row.settle(o.Offset)
			row.Committed, row.CommittedMs, row.BaseOffset, row.ExpireMs = o.Offset, e.AtMs, b.BaseOffset, o.ExpireMs
			if b.Loaded && o.CommitMs > 0 {
				row.CommittedMs = o.CommitMs
			}
		}
		g.verdict(b.Append, 0)
	case event.OffsetsRefused:
		if b.Append != 0 {
			for _, o := range b.Offsets {
				g.offsetRow(o.Topic, o.Partition).settle(o.Offset)
			}
			g.Sidings = without(g.Sidings, func(s *Siding) bool { return s.Append == b.Append && !s.Written && !s.Over() })
			g.verdict(b.Append, b.Code)
		} else {
			g.ledger(LedgerEntry{AtMs: e.AtMs, Seq: e.Seq, Member: b.Member, Generation: b.Generation, GroupGeneration: b.GroupGeneration,
				State: b.State, Code: b.Code, Done: true, Offsets: b.Offsets})
		}
		g.mark(Mark{Kind: MarkRefused, AtMs: e.AtMs, Seq: e.Seq, Member: b.Member, Number: int64(b.Code)})
	case event.TxnOffsetsPending, event.TxnOffsetsWritten, event.TxnOffsetsEnded:
		g.applyTransaction(e)
	case event.AppendStarted:
		g.Appends = append(g.Appends, &AppendWait{Append: b.Append, Partition: b.Partition, What: b.What,
			SinceMs: e.AtMs, DeadlineMs: b.DeadlineMs, Records: b.Records})
		g.Partition = b.Partition
	case event.AppendFinished:
		g.finishAppend(e, b)
	}
}

// endTxn takes away what a producer's transaction has written.
func (r *OffsetRow) endTxn(producerID int64) {
	r.Txn = drop(r.Txn, func(t TxnOffset) bool { return t.ProducerID == producerID })
}

func (g *Group) offsetRow(topic string, partition int32) *OffsetRow {
	at, found := slices.BinarySearchFunc(g.Offsets, partition, func(row *OffsetRow, partition int32) int {
		return cmp.Or(cmp.Compare(row.Topic, topic), cmp.Compare(row.Partition, partition))
	})
	if !found {
		g.Offsets = slices.Insert(g.Offsets, at, &OffsetRow{Topic: topic, Partition: partition, Committed: -1, BaseOffset: -1})
	}
	return g.Offsets[at]
}

// settle takes the oldest pending commit of that value away.
func (r *OffsetRow) settle(offset int64) {
	r.Pending = drop(r.Pending, func(p int64) bool { return p == offset })
}

func (g *Group) ledger(entry LedgerEntry) { g.Ledger = keep(append(g.Ledger, entry), maxLedger) }

func (g *Group) verdict(ticket int64, code int16) {
	for i := len(g.Ledger) - 1; i >= 0 && ticket != 0; i-- {
		if entry := &g.Ledger[i]; entry.Append == ticket && !entry.Done {
			entry.Done, entry.Code = true, code
			return
		}
	}
}
