package txn

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

const (
	noProducerID    int64 = -1
	noProducerEpoch int16 = -1
)

// states are the states by Kafka's numbers.
var states = []event.TxnState{event.TxnEmpty, event.TxnOngoing, event.TxnPrepareCommit, event.TxnPrepareAbort, event.TxnCompleteCommit, event.TxnCompleteAbort, event.TxnDead}

// partitionKey names one partition that a transaction wrote to.
type partitionKey struct {
	topic     string
	partition int32
}

func compareKeys(a, b partitionKey) int {
	return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

// metadata is what is stored of a transactional id (Kafka: TxnTransitMetadata). A value: partitions, in order, are
// replaced, never changed.
type metadata struct {
	state              event.TxnState
	producerID, lastID int64
	epoch, lastEpoch   int16
	timeoutMs          int32
	partitions         []partitionKey
	startMs, updateMs  int64
}

// transaction is a transactional id that this broker coordinates (Kafka: TransactionMetadata).
type transaction struct {
	id        string
	partition int32
	metadata
	// pending is the transition whose record, or whose markers, are under way; nil where there is none. A transaction
	// that is decided (PrepareCommit, PrepareAbort) always has one: its end.
	pending *metadata
	// fenceFailed is set where an epoch was raised and the record that says so was not written: it is not raised again.
	fenceFailed bool
	// unmarked are the markers that are not answered yet.
	unmarked int
}

// guardBusy is why a request comes too early.
const guardBusy = "another change of this id, or the end of its transaction, is under way"

// exhausted tells whether a producer id can be given no further epoch. The last one is kept for fencing.
func exhausted(epoch int16) bool { return epoch >= math.MaxInt16-1 }

func (m metadata) topics() (list []event.TopicPartitions) {
	for _, p := range m.partitions {
		if n := len(list); n == 0 || list[n-1].Topic != p.topic {
			list = append(list, event.TopicPartitions{Topic: p.topic})
		}
		t := &list[len(list)-1]
		t.Partitions = append(t.Partitions, p.partition)
	}
	return list
}

// with is the partitions and more of them.
func (m metadata) with(more []partitionKey) []partitionKey {
	all := append(slices.Clone(m.partitions), more...)
	slices.SortFunc(all, compareKeys)
	return slices.Compact(all)
}

func (m metadata) has(p partitionKey) bool {
	_, found := slices.BinarySearchFunc(m.partitions, p, compareKeys)
	return found
}

// to is the metadata in another state.
func (m metadata) to(state event.TxnState, nowMs int64) metadata {
	m.state, m.updateMs = state, nowMs
	return m
}

// expirable tells whether an id in this state may be forgotten (isExpirationAllowed).
func expirable(s event.TxnState) bool {
	return s == event.TxnEmpty || s == event.TxnCompleteCommit || s == event.TxnCompleteAbort
}

// encode is the value of the id's record.
func (m metadata) encode() []byte {
	v := record.Transaction{ProducerID: m.producerID, ProducerEpoch: m.epoch, TimeoutMs: m.timeoutMs,
		State: int8(slices.Index(states, m.state)), UpdateTimestampMs: m.updateMs, StartTimestampMs: m.startMs}
	for _, t := range m.topics() {
		v.Partitions = append(v.Partitions, record.TopicPartitions(t))
	}
	return record.TransactionValue(v)
}

// decode reads a record's value.
func decode(value []byte) (metadata, error) {
	v, err := record.DecodeTransaction(value)
	if err != nil {
		return metadata{}, err
	}
	if int(v.State) >= len(states) {
		return metadata{}, fmt.Errorf("value of __transaction_state has the state %d, which is never written", v.State)
	}
	m := metadata{state: states[v.State], producerID: v.ProducerID, lastID: noProducerID, epoch: v.ProducerEpoch, lastEpoch: noProducerEpoch,
		timeoutMs: v.TimeoutMs, startMs: v.StartTimestampMs, updateMs: v.UpdateTimestampMs}
	var all []partitionKey
	for _, t := range v.Partitions {
		for _, p := range t.Partitions {
			all = append(all, partitionKey{t.Topic, p})
		}
	}
	m.partitions = m.with(all)
	return m, nil
}
