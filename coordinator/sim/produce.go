package sim

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// producerStage is what a transactional producer does next (Kafka: TransactionManager).
type producerStage uint8

const (
	findsCoordinator producerStage = iota
	initializes                    // InitProducerId
	ready                          // the next transaction begins when it is time
	addsOffsets                    // AddOffsetsToTxn
	commitsOffsets                 // TxnOffsetCommit, to the group's coordinator
	ends                           // EndTxn
)

// producer is the transactional producer of a process that consumes, transforms and produces: every so often it sends
// the consumer's positions within a transaction (sendOffsetsToTransaction). The records that it would write are not
// modelled. A process that stops or dies leaves its transaction to the next one with the same id, which fences it, or to
// the coordinator, which ends it after its timeout.
type producer struct {
	stage       producerStage
	coordinator int32
	id          int64
	epoch       int16
	call        int64         // in flight, 0 for none
	resumeAt    producerStage // what to go on with when the coordinator is found again
	waitMs      int64         // until when it backs off
	nextMs      int64         // when the next transaction begins
	abort       bool
	offsets     []txnOffset
	metadata    string // of each of them
}

type txnOffset struct {
	topic     string
	partition int32
	offset    int64
}

// produce is one look of the application's thread at its producer. It goes as far as it can without waiting.
func (c *consumer) produce(w *World) {
	p := &c.producer
	if c.cfg.TransactionalID == "" || c.phase != running || p.call != 0 || w.nowMs < p.waitMs || w.nowMs < c.busyUntilMs {
		return
	}
	if p.stage == ready {
		if w.nowMs < p.nextMs || c.state != event.Joined || c.rejoinNeeded || !c.consumed() {
			return
		}
		c.begin(w)
	}
	switch p.stage {
	case findsCoordinator:
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.Version, req.CoordinatorType, req.CoordinatorKeys = 4, 1, []string{c.cfg.TransactionalID}
		c.ask(w, c.leastLoaded(w), req)
	case initializes:
		req := kmsg.NewPtrInitProducerIDRequest()
		id := c.cfg.TransactionalID
		req.Version, req.TransactionalID, req.TransactionTimeoutMillis = 4, &id, c.cfg.TransactionTimeoutMs
		c.ask(w, w.connect(c, p.coordinator, false), req)
	case addsOffsets:
		req := kmsg.NewPtrAddOffsetsToTxnRequest()
		req.Version, req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Group = 3, c.cfg.TransactionalID, p.id, p.epoch, c.cfg.Group
		c.ask(w, w.connect(c, p.coordinator, false), req)
	case commitsOffsets:
		if c.coordinator == 0 {
			p.waitMs = w.nowMs + c.cfg.RetryBackoffMs
			return
		}
		c.ask(w, w.connect(c, c.coordinator, false), c.txnCommit())
	case ends:
		req := kmsg.NewPtrEndTxnRequest()
		req.Version, req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = 3, c.cfg.TransactionalID, p.id, p.epoch, !p.abort
		c.ask(w, w.connect(c, p.coordinator, false), req)
	}
}

func (c *consumer) ask(w *World, n *conn, req kmsg.Request) {
	c.producer.call = w.send(c, n, req, c.cfg.RequestTimeoutMs, plain)
}

// begin takes the positions that the transaction will commit.
func (c *consumer) begin(w *World) {
	p := &c.producer
	p.stage, p.abort, p.offsets = addsOffsets, false, nil
	p.metadata = c.commitMetadata(w)
	p.nextMs = w.nowMs + int64(c.cfg.AutoCommitMs)
	for _, a := range c.assigned {
		if a.known {
			p.offsets = append(p.offsets, txnOffset{a.topic, a.partition, a.at(w.nowMs, c.cfg.RecordsPerSecond)})
		}
	}
}

// txnCommit carries what the consumer believes of itself, so that a member of an old generation cannot commit (KIP-447).
func (c *consumer) txnCommit() *kmsg.TxnOffsetCommitRequest {
	p := &c.producer
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Version, req.TransactionalID, req.Group, req.ProducerID, req.ProducerEpoch = 3, c.cfg.TransactionalID, c.cfg.Group, p.id, p.epoch
	req.Generation, req.MemberID, req.InstanceID = c.generation, c.memberID, c.instance()
	var metadata *string
	if text := p.metadata; text != "" {
		metadata = &text
	}
	for _, o := range p.offsets {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != o.topic {
			req.Topics = append(req.Topics, kmsg.TxnOffsetCommitRequestTopic{Topic: o.topic})
		}
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, kmsg.TxnOffsetCommitRequestTopicPartition{Partition: o.partition, Offset: o.offset, LeaderEpoch: -1, Metadata: metadata})
	}
	return req
}

// produced is an answer to the producer.
func (c *consumer) produced(w *World, k *call) {
	p := &c.producer
	p.call = 0
	code := k.code
	if r, ok := k.reply.(*kmsg.FindCoordinatorResponse); ok && code == 0 {
		p.coordinator, p.stage = r.Coordinators[0].NodeID, max(p.resumeAt, initializes)
		return
	}
	switch code {
	case 0:
		c.advance(k)
	case kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code:
		c.producerLost(w, event.APIName(k.api())+": "+event.CodeName(code))
	case kerr.CoordinatorLoadInProgress.Code, kerr.ConcurrentTransactions.Code, kerr.UnknownTopicOrPartition.Code, kerr.RequestTimedOut.Code:
		c.producerWaits(w, "retry back-off after "+event.APIName(k.api())+": "+event.CodeName(code))
	case kerr.UnknownMemberID.Code, kerr.IllegalGeneration.Code, kerr.RebalanceInProgress.Code, kerr.TransactionAbortable.Code:
		p.stage, p.abort = ends, true // the group has moved on: what was transformed is thrown away (abortTransaction)
	default:
		c.fail(w, code, fmt.Sprintf("%s: %s", event.APIName(k.api()), event.CodeName(code)))
	}
}

// advance goes on after an answer without an error.
func (c *consumer) advance(k *call) {
	p := &c.producer
	switch r := k.reply.(type) {
	case *kmsg.InitProducerIDResponse:
		p.id, p.epoch, p.stage = r.ProducerID, r.ProducerEpoch, ready
	case *kmsg.AddOffsetsToTxnResponse:
		p.stage = commitsOffsets
	case *kmsg.TxnOffsetCommitResponse:
		p.stage = ends
	case *kmsg.EndTxnResponse:
		p.stage, p.offsets = ready, nil
	}
}

// producerLost looks for a coordinator again: the group's, where the group's was asked, else the transactional id's.
func (c *consumer) producerLost(w *World, why string) {
	p := &c.producer
	if p.stage == commitsOffsets {
		c.coordinatorUnknown(w, why)
	} else if p.stage != findsCoordinator {
		p.resumeAt, p.stage = p.stage, findsCoordinator
	}
	c.producerWaits(w, "retry back-off after "+why)
}

func (c *consumer) producerWaits(w *World, why string) {
	if c.phase != running {
		return
	}
	c.producer.waitMs = w.nowMs + c.cfg.RetryBackoffMs
	w.emit(0, c.cfg.Group, event.ClientWaiting{Client: c.cfg.Name, For: why, DeadlineMs: c.producer.waitMs})
}

// produceNextMs is when the producer has something to do of its own accord.
func (c *consumer) produceNextMs(w *World) int64 {
	p := &c.producer
	switch {
	case c.cfg.TransactionalID == "" || p.call != 0 || w.nowMs < c.busyUntilMs:
		return -1
	case w.nowMs < p.waitMs:
		return p.waitMs
	case p.stage == ready && c.state == event.Joined && !c.rejoinNeeded && c.consumed():
		return p.nextMs
	case p.stage == ready:
		return -1
	}
	return w.nowMs
}
