package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// applyTxnState follows transactional ids.
func (m *Model) applyTxnState(e event.Event) {
	switch b := e.Body.(type) {
	case event.TxnStateChanged:
		m.Txns[b.ProducerID] = &Txn{ID: b.TransactionalID, Producer: b.ProducerID, Epoch: b.ProducerEpoch, State: b.To,
			StartMs: b.StartMs, TimeoutMs: int64(b.TimeoutMs)}
	case event.TxnRemoved:
		for producer, t := range m.Txns {
			if t.ID == b.TransactionalID {
				delete(m.Txns, producer)
			}
		}
	}
}

// applyTransaction follows commits within transactions: pending, then in the log and seen by nobody, then committed or gone.
// What a transaction commits follows as OffsetsCommitted.
func (g *Group) applyTransaction(e event.Event) {
	switch b := e.Body.(type) {
	case event.TxnOffsetsPending:
		for _, o := range b.Offsets {
			row := g.offsetRow(o.Topic, o.Partition)
			row.Pending, row.PendingSince = append(row.Pending, o.Offset), e.AtMs
		}
		g.siding(e, b.ProducerID, b.ProducerEpoch, b.Append).put(b.Offsets)
		g.ledger(LedgerEntry{AtMs: e.AtMs, Seq: e.Seq, Member: b.Member, Generation: b.Generation, GroupGeneration: g.Generation,
			State: g.State, Append: b.Append, Offsets: b.Offsets})
	case event.TxnOffsetsWritten:
		for _, o := range b.Offsets {
			row := g.offsetRow(o.Topic, o.Partition)
			row.settle(o.Offset)
			row.endTxn(b.ProducerID)
			row.Txn = append(row.Txn, TxnOffset{ProducerID: b.ProducerID, Offset: o.Offset, SinceMs: e.AtMs})
		}
		s := g.siding(e, b.ProducerID, b.ProducerEpoch, b.Append)
		s.put(b.Offsets)
		s.Written = true
		g.verdict(b.Append, 0)
	case event.TxnOffsetsEnded:
		for _, o := range b.Offsets {
			g.offsetRow(o.Topic, o.Partition).endTxn(b.ProducerID)
		}
		g.endSiding(e, b)
	}
}

// siding finds or makes a producer's siding. Those that have ended leave when their producer begins anew, and when there
// are more than sidingsEnded of them.
func (g *Group) siding(e event.Event, producer int64, epoch int16, ticket int64) *Siding {
	for _, s := range g.Sidings {
		if s.Producer == producer && s.Epoch == epoch && !s.Over() {
			s.Append = ticket
			return s
		}
	}
	s := &Siding{Producer: producer, Epoch: epoch, SinceMs: e.AtMs, Append: ticket}
	g.Sidings = append(without(g.Sidings, func(x *Siding) bool { return x.Over() && x.Producer == producer && x.Ended == TxnCommitted }), s)
	return s
}

// sidingsEnded is how many ended transactions stay to be looked at.
const sidingsEnded = 2

func (g *Group) endSiding(e event.Event, b event.TxnOffsetsEnded) {
	over := 0
	for i := len(g.Sidings) - 1; i >= 0; i-- {
		s := g.Sidings[i]
		if s.Producer == b.ProducerID && !s.Over() {
			s.Ended, s.EndedMs = txnEnd(b.Commit), e.AtMs
			if len(b.Offsets) > 0 {
				s.Offsets = b.Offsets
			}
		}
		if s.Over() {
			over++
		}
	}
	for over > sidingsEnded {
		g.Sidings = drop(g.Sidings, (*Siding).Over)
		over--
	}
}

// put keeps the newest offset of each partition.
func (s *Siding) put(list []event.OffsetValue) {
	for _, o := range list {
		i := slices.IndexFunc(s.Offsets, func(x event.OffsetValue) bool { return x.Topic == o.Topic && x.Partition == o.Partition })
		if i < 0 {
			s.Offsets = append(slices.Clip(s.Offsets), o)
		} else {
			s.Offsets = slices.Clone(s.Offsets)
			s.Offsets[i] = o
		}
	}
}
