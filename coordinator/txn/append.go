package txn

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// purpose is what a record is written for.
type purpose uint8

const (
	initsProducer purpose = iota
	fencesProducer
	addsPartitions
	endsTransaction
	abortsTimedOut
	completesTransaction
	removesID
)

// inflight is an append whose outcome is awaited. It is a value.
type inflight struct {
	what    purpose
	request Request // of a client; the zero value where none waits
	batch   int64   // the batch that it is a part of, 0 for none
	index   int

	id   string
	term int64 // of its partition
	next metadata
	seq  int64 // of its TxnAppendStarted
}

// retry is a last record that is written again.
type retry struct {
	id    string
	atMs  int64
	cause int64
}

// store begins a transition: nothing else may change the id until its record is written.
func (c *Coordinator) store(t *transaction, next metadata, a inflight) {
	t.pending = &next
	c.write(t, next, a)
}

// write hands the record of a transition to the host (appendTransactionToLog). A dead id has a tombstone.
func (c *Coordinator) write(t *transaction, next metadata, a inflight) {
	c.appendTickets++
	ticket := c.appendTickets
	timeoutMs := int64(next.timeoutMs)
	p := c.partitions[t.partition]
	a.id, a.term, a.next = t.id, p.term, next
	a.seq = c.emit(event.TxnAppendStarted{TransactionalID: t.id, Append: ticket, Partition: t.partition, To: next.state, DeadlineMs: c.nowMs + timeoutMs})
	c.appends[ticket] = a
	r := record.Record{Key: record.TransactionKey(t.id), TimestampMs: c.nowMs}
	if next.state != event.TxnDead {
		r.Value = next.encode()
	}
	c.out.Appends = append(c.out.Appends, Append{Ticket: ticket, Partition: t.partition, Epoch: p.epoch, Record: r, TimeoutMs: timeoutMs, Cause: a.seq})
}

// appended takes the log's callback. Where the partition was lost meanwhile, or lost and gained, the outcome changes
// nothing, and the client is told that its coordinator is elsewhere.
func (c *Coordinator) appended(ticket int64, code int16) {
	a, awaited := c.appends[ticket]
	if !awaited {
		panic(fmt.Sprintf("transaction coordinator of broker %d: Appended(%d) answers no append that is under way", c.cfg.Broker, ticket))
	}
	delete(c.appends, ticket)
	t := c.txns[a.id]
	ignored := t == nil || c.partitions[t.partition].term != a.term
	c.cause = a.seq
	c.cause = c.emit(event.TxnAppendFinished{TransactionalID: a.id, Append: ticket, Code: code, Ignored: ignored})
	switch {
	case ignored:
		c.done(a, codeNotCoordinator, "the partition of __transaction_state was lost while the record was written")
	case code != codeNone:
		c.unwritten(t, a, appendCode(code))
	default:
		c.written(t, a)
	}
}

// written completes the transition, and goes on with what it was for.
func (c *Coordinator) written(t *transaction, a inflight) {
	from := t.state
	if a.what == removesID {
		delete(c.txns, t.id)
		c.emit(event.TxnRemoved{TransactionalID: t.id, Why: "not used for transactional.id.expiration.ms"})
		return
	}
	t.metadata, t.pending = a.next, nil
	c.cause = c.emit(t.changed(from, a.what.why()))
	c.setJobs()
	c.done(a, codeNone, "")
	if t.state == event.TxnPrepareCommit || t.state == event.TxnPrepareAbort {
		c.sendMarkers(t)
	}
}

// unwritten undoes the transition. A last record is tried again: the markers are written, so there is no way back.
func (c *Coordinator) unwritten(t *transaction, a inflight, code int16) {
	if a.what == completesTransaction {
		c.retries = append(c.retries, retry{t.id, c.nowMs + c.cfg.Settings.RetryBackoffMs, c.cause})
		return
	}
	t.pending = nil
	if a.what == fencesProducer || a.what == abortsTimedOut {
		t.fenceFailed = true
	}
	c.setJobs()
	c.done(a, code, "the record was not written")
}

// done answers whoever waits for a transition.
func (c *Coordinator) done(a inflight, code int16, guard string) {
	r := &a.request
	switch {
	case a.batch != 0:
		c.part(a.batch, a.index, code, guard, func(partitionKey) int16 { return code })
	case r.Kmsg == nil:
	case a.what == fencesProducer && code == codeNone:
		c.answerInit(r, metadata{}, codeConcurrentTransactions, "the open transaction is being aborted")
	case a.what == fencesProducer || a.what == initsProducer:
		c.answerInit(r, a.next, code, guard)
	default:
		if _, add := r.Kmsg.(*kmsg.AddPartitionsToTxnRequest); add {
			c.answerAdd(r, func(partitionKey) int16 { return code }, guard)
			return
		}
		c.answerCode(r, code, guard)
	}
}

func (p purpose) why() string {
	switch p {
	case initsProducer:
		return "InitProducerId"
	case fencesProducer:
		return "a new producer uses the id"
	case addsPartitions:
		return "partitions were added"
	case endsTransaction:
		return "EndTxn"
	case abortsTimedOut:
		return "the transaction timed out"
	case completesTransaction:
		return "every marker is written"
	}
	return "expired"
}

// changed describes the id as it is.
func (t *transaction) changed(from event.TxnState, why string) event.TxnStateChanged {
	return event.TxnStateChanged{TransactionalID: t.id, From: from, To: t.state, ProducerID: t.producerID, ProducerEpoch: t.epoch,
		Partitions: t.topics(), TimeoutMs: t.timeoutMs, StartMs: t.startMs, Why: why}
}
