package txn

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// addPartitions takes partitions into a transaction, from clients (up to version 3) or, several transactions at once,
// from brokers (version 4 on), which may only ask whether they are in it (KIP-890).
func (c *Coordinator) addPartitions(r *Request, q *kmsg.AddPartitionsToTxnRequest) {
	if q.Version >= 4 {
		c.addBatch(r, q)
		return
	}
	var all []partitionKey
	for _, t := range q.Topics {
		for _, p := range t.Partitions {
			all = append(all, partitionKey{t.Topic, p})
		}
	}
	if codes, first := c.unknown(all); codes != nil {
		c.answerAdd(r, codes, first)
		return
	}
	c.add(q.TransactionalID, q.ProducerID, q.ProducerEpoch, all, inflight{what: addsPartitions, request: *r})
}

// unknown gives the codes of partitions of which one at least does not exist; nil where all do. None is added then, and
// none verified (KafkaApis.handleAddPartitionsToTxnRequest).
func (c *Coordinator) unknown(keys []partitionKey) (codes func(partitionKey) int16, guard string) {
	exists := func(key partitionKey) bool { return key.partition >= 0 && key.partition < c.meta.Topics[key.topic] }
	first := slices.IndexFunc(keys, func(key partitionKey) bool { return !exists(key) })
	if first < 0 {
		return nil, ""
	}
	return func(key partitionKey) int16 {
		if exists(key) {
			return codeOperationNotAttempted
		}
		return codeUnknownTopicOrPartition
	}, fmt.Sprintf("%s-%d does not exist", keys[first].topic, keys[first].partition)
}

// addOffsets takes the group's partition of __consumer_offsets into a transaction.
func (c *Coordinator) addOffsets(r *Request, q *kmsg.AddOffsetsToTxnRequest) {
	if c.meta.OffsetsPartitions == 0 {
		c.answerCode(r, codeNotAvailable, "__consumer_offsets does not exist yet")
		return
	}
	number := record.Partition(q.Group, c.meta.OffsetsPartitions)
	c.add(q.TransactionalID, q.ProducerID, q.ProducerEpoch, []partitionKey{{offsetsTopic, number}}, inflight{what: addsPartitions, request: *r})
}

// add is handleAddPartitionsToTransaction.
func (c *Coordinator) add(id string, producerID int64, epoch int16, keys []partitionKey, a inflight) {
	t, code, guard := c.known(id, producerID, epoch)
	switch {
	case code != codeNone:
		c.done(a, code, guard)
		return
	case t.pending != nil:
		c.done(a, codeConcurrentTransactions, guardBusy)
		return
	case t.state == event.TxnOngoing && !slices.ContainsFunc(keys, func(k partitionKey) bool { return !t.has(k) }):
		c.done(a, codeNone, "") // all are in it already
		return
	}
	next := t.to(event.TxnOngoing, c.nowMs)
	next.partitions = t.with(keys)
	if t.state != event.TxnOngoing {
		next.startMs = c.nowMs
	}
	c.store(t, next, a)
}

// known finds the id of a producer, and refuses who is not that producer, or no longer.
func (c *Coordinator) known(id string, producerID int64, epoch int16) (t *transaction, code int16, guard string) {
	if id == "" {
		return nil, codeInvalidRequest, "the transactional id is empty"
	}
	if _, code, guard = c.gate(id); code != codeNone {
		return nil, code, guard
	}
	switch t = c.txns[id]; {
	case t == nil:
		return nil, codeInvalidProducerID, "the transactional id is not known"
	case t.producerID != producerID:
		return nil, codeInvalidProducerID, fmt.Sprintf("the transactional id has producer %d", t.producerID)
	case t.epoch != epoch:
		return nil, codeProducerFenced, fmt.Sprintf("the producer's epoch is %d", t.epoch)
	}
	return t, codeNone, ""
}

// batch is a request of several transactions: it is answered when each of them is.
type batch struct {
	request Request
	left    int
	codes   []func(partitionKey) int16 // by transaction; nil while it is not known
	code    int16                      // the first one that is not 0
	guard   string
}

func (c *Coordinator) addBatch(r *Request, q *kmsg.AddPartitionsToTxnRequest) {
	c.batchNumbers++
	number := c.batchNumbers
	c.batches[number] = batch{request: *r, left: len(q.Transactions) + 1, codes: make([]func(partitionKey) int16, len(q.Transactions))}
	for i, one := range q.Transactions {
		a := inflight{what: addsPartitions, batch: number, index: i}
		var keys []partitionKey
		for _, t := range one.Topics {
			for _, p := range t.Partitions {
				keys = append(keys, partitionKey{t.Topic, p})
			}
		}
		if codes, guard := c.unknown(keys); codes != nil {
			c.part(number, i, codeUnknownTopicOrPartition, guard, codes)
			continue
		}
		if !one.VerifyOnly {
			c.add(one.TransactionalID, one.ProducerID, one.ProducerEpoch, keys, a)
			continue
		}
		in, code, guard := c.verifiable(one.TransactionalID, one.ProducerID, one.ProducerEpoch)
		if code != codeNone {
			c.done(a, code, guard)
			continue
		}
		if first := slices.IndexFunc(keys, func(k partitionKey) bool { return !in.has(k) }); first >= 0 {
			code, guard = codeTransactionAbortable, fmt.Sprintf("%s-%d is not in the transaction", keys[first].topic, keys[first].partition)
		}
		c.part(number, i, code, guard, in.verify)
	}
	c.part(number, -1, codeNone, "", nil)
}

// verifiable finds a transaction whose partitions can be told now (handleVerifyPartitionsInTransaction). A change that is
// under way does not matter: partitions are in it when their record is written, and no longer when the last marker is.
func (c *Coordinator) verifiable(id string, producerID int64, epoch int16) (in metadata, code int16, guard string) {
	t, code, guard := c.known(id, producerID, epoch)
	switch {
	case code != codeNone:
		return metadata{}, code, guard
	case t.state == event.TxnPrepareCommit || t.state == event.TxnPrepareAbort:
		return metadata{}, codeConcurrentTransactions, guardBusy
	}
	return t.metadata, codeNone, ""
}

func (m metadata) verify(p partitionKey) int16 {
	if m.has(p) {
		return codeNone
	}
	return codeTransactionAbortable
}

// Verify tells whether a partition is part of a producer's open transaction, as AddPartitionsToTxn with VerifyOnly does,
// for a broker that asks at once. It changes nothing and tells nothing.
func (c *Coordinator) Verify(id string, producerID int64, epoch int16, topic string, partition int32) (code int16) {
	in, code, _ := c.verifiable(id, producerID, epoch)
	if code == codeNone {
		code = in.verify(partitionKey{topic, partition})
	}
	return code
}

// part notes the outcome of one transaction of a batch; the last one answers it.
func (c *Coordinator) part(number int64, index int, code int16, guard string, codes func(partitionKey) int16) {
	b := c.batches[number]
	if index >= 0 {
		b.codes[index] = codes
	}
	if b.code == codeNone {
		b.code, b.guard = code, guard
	}
	if b.left--; b.left > 0 {
		c.batches[number] = b
		return
	}
	delete(c.batches, number)
	q := b.request.Kmsg.(*kmsg.AddPartitionsToTxnRequest)
	resp := kmsg.NewPtrAddPartitionsToTxnResponse()
	for i, one := range q.Transactions {
		out := kmsg.AddPartitionsToTxnResponseTransaction{TransactionalID: one.TransactionalID}
		for _, t := range one.Topics {
			topic := kmsg.AddPartitionsToTxnResponseTransactionTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, kmsg.AddPartitionsToTxnResponseTransactionTopicPartition{
					Partition: p, ErrorCode: b.codes[i](partitionKey{t.Topic, p})})
			}
			out.Topics = append(out.Topics, topic)
		}
		resp.Transactions = append(resp.Transactions, out)
	}
	c.send(&b.request, resp, b.code, b.guard)
}

// answerAdd answers AddPartitionsToTxn up to version 3.
func (c *Coordinator) answerAdd(r *Request, codes func(partitionKey) int16, guard string) {
	q := r.Kmsg.(*kmsg.AddPartitionsToTxnRequest)
	resp := kmsg.NewPtrAddPartitionsToTxnResponse()
	first := codeNone
	for _, t := range q.Topics {
		topic := kmsg.AddPartitionsToTxnResponseTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			code := forVersion(codes(partitionKey{t.Topic, p}), q.Version, 2)
			if first == codeNone {
				first = code
			}
			topic.Partitions = append(topic.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{Partition: p, ErrorCode: code})
		}
		resp.Topics = append(resp.Topics, topic)
	}
	c.send(r, resp, first, guard)
}

// answerCode answers AddOffsetsToTxn and EndTxn.
func (c *Coordinator) answerCode(r *Request, code int16, guard string) {
	code = forVersion(code, r.Kmsg.GetVersion(), 2)
	switch q := r.Kmsg.(type) {
	case *kmsg.AddOffsetsToTxnRequest:
		resp := kmsg.NewPtrAddOffsetsToTxnResponse()
		resp.ErrorCode = code
		c.send(r, resp, code, guard)
	case *kmsg.EndTxnRequest:
		resp := kmsg.NewPtrEndTxnResponse()
		resp.ErrorCode = code
		c.send(r, resp, code, guard)
	default:
		panic(fmt.Sprintf("txn: %T is not answered by a single code", q))
	}
}
