package txn

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

const codeTransactionalIDNotFound int16 = 105

// Seen is a transactional id as DescribeTransactions and ListTransactions tell of it (KIP-664).
type Seen struct {
	TransactionalID string
	State           event.TxnState
	ProducerID      int64
	ProducerEpoch   int16
	TimeoutMs       int32
	// StartMs is when its transaction began, or the last one, -1 before the first.
	StartMs    int64
	Partitions []event.TopicPartitions
}

// Describe tells of one id, or gives Kafka's code: 14, 15 and 16 where this broker does not know, 42 for no id at all, 105
// for one that nobody has used (handleDescribeTransactions).
func (c *Coordinator) Describe(id string) (seen Seen, code int16) {
	if id == "" {
		return seen, codeInvalidRequest
	}
	if _, code, _ = c.gate(id); code != codeNone {
		return seen, code
	}
	t := c.txns[id]
	if t == nil || t.state == event.TxnDead {
		return seen, codeTransactionalIDNotFound
	}
	return t.seen(), codeNone
}

// List tells of all ids that this broker knows, by id; the code is 14 while it reads a partition of __transaction_state
// (TransactionStateManager.listTransactionStates).
func (c *Coordinator) List() (list []Seen, code int16) {
	for _, p := range c.partitions {
		if p.load != nil {
			return nil, codeLoadInProgress
		}
	}
	for _, t := range c.txns {
		if t.state != event.TxnDead {
			list = append(list, t.seen())
		}
	}
	slices.SortFunc(list, func(a, b Seen) int { return cmp.Compare(a.TransactionalID, b.TransactionalID) })
	return list, codeNone
}

func (t *transaction) seen() Seen {
	return Seen{TransactionalID: t.id, State: t.state, ProducerID: t.producerID, ProducerEpoch: t.epoch, TimeoutMs: t.timeoutMs,
		StartMs: t.startMs, Partitions: t.topics()}
}
