package coordinator

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// txnCommit is what a TxnOffsetCommit has beyond an OffsetCommit. It is not changed.
type txnCommit struct {
	version         int16
	transactionalID string
	producerID      int64
	producerEpoch   int16
	sinceMs         int64 // when the request came
}

// Verification asks whether a partition of __consumer_offsets is part of a producer's transaction, of the transaction
// coordinator that leads the transactional id. The host gives the answer to Verified, with the same ticket, once.
type Verification struct {
	Ticket          int64
	TransactionalID string
	ProducerID      int64
	ProducerEpoch   int16
	// Partition of __consumer_offsets.
	Partition int32
	// Version is the TxnOffsetCommit's. Before 4 a client does not know TRANSACTION_ABORTABLE. From 5 on the partition would
	// have to be added where it is missing; that is of transaction version 2, which is not modelled (see package txn), so
	// hosts do not advertise it.
	Version int16
	// Cause is the Seq of the TxnVerificationStarted that told of it.
	Cause int64
}

// verification is a TxnOffsetCommit that waits for the transaction coordinator.
type verification struct {
	r      *Request
	commit *kmsg.OffsetCommitRequest
	txn    *txnCommit
	seq    int64 // of its TxnVerificationStarted
}

const untilVerified = "the transaction is verified"

// txnOffsetCommit stores offsets that become visible when their transaction commits (KIP-98, KIP-447). First the
// transaction coordinator is asked whether the transaction is open and includes this partition (KIP-890), unless a
// record of it is in the partition already. Nothing is touched before that.
func (c *Coordinator) txnOffsetCommit(r *Request, q *kmsg.TxnOffsetCommitRequest) {
	t := &txnCommit{q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, c.nowMs}
	plain := withoutEmptyTopics(asOffsetCommit(q))
	number, code, guard := c.gate(q.Group, false)
	if code == codeNone && tooLong(q.Group) {
		code, guard = codeInvalidRequest, guardTooLong
	}
	_, unknown, total := c.commitResponse(plain)
	switch {
	case total == 0:
		c.commitOffsets(r, plain, t)
		return
	case unknown == total:
		code, guard = codeUnknownTopicOrPartition, guardNoPartition
	}
	if code != codeNone {
		c.refuseCommit(r, plain, t, nil, code, guard)
		return
	}
	open := c.openTxns[txnKey{number, t.producerID}]
	if !c.cfg.Settings.TransactionPartitionVerificationEnable || open.written && open.epoch == t.producerEpoch {
		c.commitOffsets(r, plain, t)
		return
	}
	c.verifyTickets++
	v := Verification{Ticket: c.verifyTickets, TransactionalID: t.transactionalID, ProducerID: t.producerID,
		ProducerEpoch: t.producerEpoch, Partition: number, Version: t.version}
	v.Cause = c.emit(q.Group, event.TxnVerificationStarted{Verification: v.Ticket, TransactionalID: v.TransactionalID,
		ProducerID: v.ProducerID, ProducerEpoch: v.ProducerEpoch, Partition: number})
	c.emit(q.Group, event.ReplyParked{Ticket: r.Ticket, API: apiTxnOffsetCommit, Member: plain.MemberID, ClientID: r.ClientID,
		SinceMs: c.nowMs, Until: untilVerified})
	kept := *r
	c.verifications[v.Ticket] = &verification{&kept, plain, t, v.Cause}
	c.out.Verifications = append(c.out.Verifications, v)
}

// verified goes on with a TxnOffsetCommit, or refuses it with the transaction coordinator's error, which is put into
// words that old clients know like that of an append.
func (c *Coordinator) verified(ticket int64, v *verification, code int16) {
	delete(c.verifications, ticket)
	c.cause = v.seq
	c.cause = c.emit(v.commit.Group, event.TxnVerificationFinished{Verification: ticket, Code: code})
	if code != codeNone {
		c.refuseCommit(v.r, v.commit, v.txn, nil, commitAppendCode(code), "the transaction coordinator says "+event.CodeName(code))
		return
	}
	c.commitOffsets(v.r, v.commit, v.txn)
}

// asOffsetCommit is the request as an OffsetCommit: both are checked, stored and answered by the same lines.
func asOffsetCommit(q *kmsg.TxnOffsetCommitRequest) *kmsg.OffsetCommitRequest {
	plain := kmsg.NewPtrOffsetCommitRequest()
	plain.Version, plain.Group = 8, q.Group
	if q.Version >= 3 { // KIP-447; an older producer does not say who it is
		plain.Generation, plain.MemberID, plain.InstanceID = q.Generation, q.MemberID, q.InstanceID
	}
	for i := range q.Topics {
		t := &q.Topics[i]
		topic := kmsg.OffsetCommitRequestTopic{Topic: t.Topic, TopicID: t.TopicID,
			Partitions: make([]kmsg.OffsetCommitRequestTopicPartition, len(t.Partitions))}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			topic.Partitions[j] = kmsg.OffsetCommitRequestTopicPartition{Partition: p.Partition, Offset: p.Offset,
				LeaderEpoch: p.LeaderEpoch, Metadata: p.Metadata, Timestamp: -1}
			if q.Version < 2 {
				topic.Partitions[j].LeaderEpoch = -1
			}
		}
		plain.Topics = append(plain.Topics, topic)
	}
	return plain
}

// api is the request's key; t is nil for an OffsetCommit.
func (t *txnCommit) api() int16 {
	if t == nil {
		return apiOffsetCommit
	}
	return apiTxnOffsetCommit
}

// heldMs is how long the request has waited; t is nil for an OffsetCommit, which has waited since sinceMs.
func (t *txnCommit) heldMs(nowMs, sinceMs int64) int64 {
	if t == nil {
		return nowMs - sinceMs
	}
	return nowMs - t.sinceMs
}

// wire is the response in the request's own kind. Producers before version 2 take COORDINATOR_LOAD_IN_PROGRESS for fatal.
func (t *txnCommit) wire(resp *kmsg.OffsetCommitResponse) kmsg.Response {
	if t == nil {
		return resp
	}
	out := kmsg.NewPtrTxnOffsetCommitResponse()
	out.Version = t.version
	for i := range resp.Topics {
		from := &resp.Topics[i]
		to := kmsg.TxnOffsetCommitResponseTopic{Topic: from.Topic, TopicID: from.TopicID}
		for _, p := range from.Partitions {
			to.Partitions = append(to.Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: t.code(p.ErrorCode)})
		}
		out.Topics = append(out.Topics, to)
	}
	return out
}

func (t *txnCommit) code(code int16) int16 {
	if t != nil && t.version < 2 && code == codeLoadInProgress {
		return codeNotAvailable
	}
	return code
}
