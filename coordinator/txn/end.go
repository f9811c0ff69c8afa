package txn

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// endTxn ends a transaction as its producer asks (endTransaction).
func (c *Coordinator) endTxn(r *Request, q *kmsg.EndTxnRequest) {
	refuse := func(code int16, guard string) { c.answerCode(r, code, guard) }
	t, code, guard := c.known(q.TransactionalID, q.ProducerID, q.ProducerEpoch)
	switch {
	case code != codeNone:
		refuse(code, guard)
		return
	case t.pending != nil:
		refuse(codeConcurrentTransactions, guardBusy)
		return
	}
	switch t.state {
	case event.TxnOngoing:
		c.prepareEnd(t, q.Commit, inflight{what: endsTransaction, request: *r})
	case completed(q.Commit):
		refuse(codeNone, "") // a repetition
	default:
		refuse(codeInvalidTxnState, fmt.Sprintf("the transaction is %s", t.state))
	}
}

func prepared(commit bool) event.TxnState {
	if commit {
		return event.TxnPrepareCommit
	}
	return event.TxnPrepareAbort
}

func completed(commit bool) event.TxnState {
	if commit {
		return event.TxnCompleteCommit
	}
	return event.TxnCompleteAbort
}

// prepareEnd writes the decision. From then on the transaction ends so, whatever fails.
func (c *Coordinator) prepareEnd(t *transaction, commit bool, a inflight) {
	c.store(t, t.to(prepared(commit), c.nowMs), a)
}

// sentMarker is a marker that is to be answered, or waits to be sent again.
type sentMarker struct {
	id string
	partitionKey
	producerID int64
	epoch      int16
	commit     bool
	// retryMs is when it is sent again, -1 while its answer is awaited.
	retryMs int64
	cause   int64
}

func (m sentMarker) sent(ticket int64) event.TxnMarkerSent {
	return event.TxnMarkerSent{TransactionalID: m.id, Marker: ticket, Topic: m.topic, Partition: m.partition,
		ProducerID: m.producerID, ProducerEpoch: m.epoch, Commit: m.commit}
}

// sendMarkers ends a transaction in every partition that it wrote to (addTxnMarkersToSend). The last record is made now
// and written when the last marker is answered. A partition whose topic is gone needs none.
func (c *Coordinator) sendMarkers(t *transaction) {
	commit := t.state == event.TxnPrepareCommit
	last := t.to(completed(commit), c.nowMs)
	last.partitions = nil
	t.pending, t.fenceFailed = &last, false
	t.unmarked = 0
	for _, p := range t.partitions {
		if p.partition >= c.meta.Topics[p.topic] {
			continue
		}
		t.unmarked++
		c.markerTickets++
		m := sentMarker{id: t.id, partitionKey: p, producerID: t.producerID, epoch: t.epoch, commit: commit, cause: c.cause}
		c.sendMarker(c.markerTickets, m)
	}
	if t.unmarked == 0 {
		c.complete(t)
	}
}

func (c *Coordinator) sendMarker(ticket int64, m sentMarker) {
	m.retryMs = -1
	c.cause = m.cause
	seq := c.emit(m.sent(ticket))
	c.markers[ticket] = m
	c.out.Markers = append(c.out.Markers, Marker{Ticket: ticket, Topic: m.topic, Partition: m.partition, ProducerID: m.producerID,
		ProducerEpoch: m.epoch, CoordinatorEpoch: c.partitions[c.txns[m.id].partition].epoch, Commit: m.commit, Cause: seq})
}

// marked is TransactionMarkerRequestCompletionHandler.
func (c *Coordinator) marked(ticket int64, code int16) {
	m, awaited := c.markers[ticket]
	if !awaited || m.retryMs >= 0 {
		return
	}
	c.cause = m.cause
	t := c.txns[m.id]
	said := event.TxnMarkerAnswered{TransactionalID: m.id, Marker: ticket, Topic: m.topic, Partition: m.partition, Code: code}
	gone := code == codeUnknownTopicOrPartition && m.partition >= c.meta.Topics[m.topic]
	switch {
	case code == codeInvalidProducerEpoch || code == codeCoordinatorFenced:
		// A newer coordinator of this id has been there, and ends it.
		c.cause = c.emit(said)
		c.forgetMarkers(m.id)
	case code == codeNone || gone || code == codeUnsupportedVersion || code == codeUnsupportedFormat:
		// A partition that cannot hold markers has no transaction to end.
		c.cause = c.emit(said)
		delete(c.markers, ticket)
		if t.unmarked--; t.unmarked == 0 {
			c.complete(t)
		}
	default:
		m.retryMs = c.nowMs + c.cfg.Settings.RetryBackoffMs
		said.RetryMs = m.retryMs
		m.cause = c.emit(said)
		c.markers[ticket] = m
	}
}

// forgetMarkers stops sending the markers of an id.
func (c *Coordinator) forgetMarkers(id string) {
	for ticket, m := range c.markers {
		if m.id == id {
			delete(c.markers, ticket)
		}
	}
}

// complete writes the last record of a transaction.
func (c *Coordinator) complete(t *transaction) {
	c.write(t, *t.pending, inflight{what: completesTransaction})
}
