package txn

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// expected is what a producer says that it is, when it asks for an epoch in the middle of its life (KIP-360).
type expected struct {
	given bool
	id    int64
	epoch int16
}

// initProducerID gives a producer id and an epoch (handleInitProducerId). An id that has an open transaction is fenced
// first: the transaction is aborted, and the client is told to try again.
func (c *Coordinator) initProducerID(r *Request, q *kmsg.InitProducerIDRequest) {
	refuse := func(code int16, guard string) { c.answerInit(r, metadata{}, code, guard) }
	who := expected{given: q.ProducerID != noProducerID && q.ProducerEpoch != noProducerEpoch, id: q.ProducerID, epoch: q.ProducerEpoch}
	if !who.given && (q.ProducerID != noProducerID || q.ProducerEpoch != noProducerEpoch) {
		refuse(codeInvalidRequest, "a producer id without an epoch, or an epoch without an id")
		return
	}
	if q.TransactionalID == nil {
		id, ok := c.ids.next(c)
		if !ok {
			refuse(codeLoadInProgress, "the next block of producer ids is not here yet")
			return
		}
		c.answerInit(r, metadata{producerID: id}, codeNone, "")
		return
	}
	id := *q.TransactionalID
	switch {
	case id == "" || len(id) > record.MaxStringBytes:
		refuse(codeInvalidRequest, "the transactional id is empty or longer than a record can hold")
		return
	case q.TransactionTimeoutMillis <= 0 || q.TransactionTimeoutMillis > c.cfg.Settings.TransactionMaxTimeoutMs:
		refuse(codeInvalidTxnTimeout, "the timeout is not from 1 to transaction.max.timeout.ms")
		return
	}
	number, code, guard := c.gate(id)
	if code != codeNone {
		refuse(code, guard)
		return
	}
	t := c.txns[id]
	if t == nil {
		producerID, ok := c.ids.next(c)
		if !ok {
			refuse(codeLoadInProgress, "the next block of producer ids is not here yet")
			return
		}
		t = &transaction{id: id, partition: number, metadata: metadata{state: event.TxnEmpty, producerID: producerID, lastID: noProducerID,
			epoch: noProducerEpoch, lastEpoch: noProducerEpoch, timeoutMs: q.TransactionTimeoutMillis, startMs: -1, updateMs: c.nowMs}}
		c.txns[id] = t
	}
	c.initKnown(r, q, t, who)
}

// initKnown is prepareInitProducerIdTransit and what follows from it.
func (c *Coordinator) initKnown(r *Request, q *kmsg.InitProducerIDRequest, t *transaction, who expected) {
	refuse := func(code int16, guard string) { c.answerInit(r, metadata{}, code, guard) }
	valid := !who.given || t.epoch == noProducerEpoch || who.id == t.producerID || who.id == t.lastID && exhausted(who.epoch)
	switch {
	case t.pending != nil:
		refuse(codeConcurrentTransactions, guardBusy)
		return
	case !valid:
		refuse(codeProducerFenced, "another producer has been given this id")
		return
	case t.state == event.TxnOngoing:
		if !c.fence(t, "a new producer uses the id") {
			refuse(codeUnknownServerError, "the producer has no epoch left to be fenced with")
			return
		}
		c.prepareEnd(t, false, inflight{what: fencesProducer, request: *r})
		return
	}
	next := t.metadata
	next.state, next.timeoutMs, next.partitions, next.startMs, next.updateMs = event.TxnEmpty, q.TransactionTimeoutMillis, nil, -1, c.nowMs
	switch {
	case exhausted(t.epoch) && (!who.given || who.epoch == t.epoch):
		producerID, ok := c.ids.next(c)
		if !ok {
			refuse(codeLoadInProgress, "the next block of producer ids is not here yet")
			return
		}
		next.producerID, next.lastID, next.epoch, next.lastEpoch = producerID, t.producerID, 0, noProducerEpoch
		if who.given {
			next.lastEpoch = t.epoch
		}
	case exhausted(t.epoch):
		// Kafka looks for a next epoch before it looks at the one that was given, and finds none (IllegalStateException).
		refuse(codeUnknownServerError, "the producer id has no epoch left, and the epoch that was given is not its last one")
		return
	case !who.given:
		next.epoch, next.lastEpoch, next.lastID = t.epoch+1, noProducerEpoch, t.producerID
	case t.epoch == noProducerEpoch || who.epoch == t.epoch:
		next.epoch, next.lastEpoch, next.lastID = t.epoch+1, t.epoch, t.producerID
	case who.epoch == t.lastEpoch:
		next.lastID = t.producerID // the answer to this request was lost: it is given again
	default:
		refuse(codeProducerFenced, "the epoch is neither the current nor the last one")
		return
	}
	c.store(t, next, inflight{what: initsProducer, request: *r})
}

// fence raises the epoch so that the coordinator itself can end the transaction. The new epoch is never given to a
// client. It is not raised twice for one transaction. It reports false where there is no epoch left.
func (c *Coordinator) fence(t *transaction, why string) bool {
	if !t.fenceFailed {
		if t.epoch == math.MaxInt16 {
			return false
		}
		t.epoch++
	}
	t.lastEpoch = noProducerEpoch
	c.cause = c.emit(event.TxnFenced{TransactionalID: t.id, ProducerID: t.producerID, ProducerEpoch: t.epoch, Why: why})
	return true
}

// answerInit answers InitProducerId. Clients below version 4 do not know PRODUCER_FENCED.
func (c *Coordinator) answerInit(r *Request, m metadata, code int16, guard string) {
	resp := kmsg.NewPtrInitProducerIDResponse()
	code = forVersion(code, r.Kmsg.GetVersion(), 4)
	resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = code, noProducerID, noProducerEpoch
	if code == codeNone {
		resp.ProducerID, resp.ProducerEpoch = m.producerID, m.epoch
	}
	c.send(r, resp, code, guard)
}

// forVersion puts INVALID_PRODUCER_EPOCH for PRODUCER_FENCED in versions before the one that knows it (KIP-588).
func forVersion(code, version, first int16) int16 {
	if code == codeProducerFenced && version < first {
		return codeInvalidProducerEpoch
	}
	return code
}

// producerIDs is what is left of this broker's block, and the block behind it (Kafka: RPCProducerIdManager).
type producerIDs struct {
	current, following idRange
	asked              bool
}

type idRange struct{ from, to int64 }

// blockReserve is how many ids are left when the next block is asked for: a tenth of Kafka's block of 1000.
const blockReserve = 100

// next takes a producer id. ok is false where there is none; a block has been asked for then.
func (p *producerIDs) next(c *Coordinator) (id int64, ok bool) {
	if p.current.from == p.current.to {
		p.current, p.following = p.following, idRange{}
	}
	if ok = p.current.from < p.current.to; ok {
		id = p.current.from
		p.current.from++
	}
	if !p.asked && p.following == (idRange{}) && p.current.to-p.current.from <= blockReserve {
		p.asked = true
		c.out.AllocateProducerIDs = true
	}
	return id, ok
}

// allocated takes a block. After a failure the next one that needs an id asks again.
func (c *Coordinator) allocated(first int64, count int32, code int16) {
	c.ids.asked = false
	if code != codeNone || count <= 0 {
		return
	}
	c.ids.following = idRange{first, first + int64(count)}
	c.emit(event.ProducerIDsAllocated{First: first, Count: count})
}
