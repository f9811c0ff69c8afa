package log

import (
	"fmt"
	"math"
)

// Kafka's codes for a producer whose batch does not follow on its last one.
const (
	codeOutOfOrderSequence   int16 = 45
	codeInvalidProducerEpoch int16 = 47
	codeInvalidTxnState      int16 = 48
	codeCoordinatorFenced    int16 = 52
)

// remembered is how many of a producer's batches are kept to know a repeated one by (Kafka: NUM_BATCHES_TO_RETAIN).
const remembered = 5

// producer is what the log remembers of one idempotent producer (Kafka: ProducerStateEntry). It is a value.
type producer struct {
	epoch  int16
	count  int
	lastMs int64
	// open is set while a transaction of it is open, which began at first. coordinatorEpoch is the newest that a marker
	// carried, where marked is set.
	open, marked     bool
	first            int64
	coordinatorEpoch int32
	// batches are the last ones, the newest at count-1.
	batches [remembered]sequence
	// lastData is the offset of its last record in this epoch, -1 where it has none: then only its marker tells its epoch.
	lastData int64
}

type sequence struct {
	first, last int32
	base        int64
}

// Check tells whether a producer's batch follows on what it wrote before (Kafka: ProducerStateManager,
// ProducerAppendInfo). duplicate is set where the same batch is among its last five; base is its offset then. The error
// is an *Error with 45 or 47. A producer that is not known may begin with any sequence number, since its earlier records
// may have been deleted (KIP-360); UNKNOWN_PRODUCER_ID (59) is therefore not among the answers of Kafka 4.
func (l *Log) Check(b Batch) (base int64, duplicate bool, err error) {
	if b.ProducerID < 0 {
		return 0, false, nil
	}
	p, known := l.producers[b.ProducerID]
	if !known {
		return 0, false, nil
	}
	if b.Control() {
		return 0, false, p.checkMarker(b)
	}
	if b.BaseSequence < 0 { // a transaction's offsets, written by the group coordinator: they have no sequence numbers
		if b.ProducerEpoch < p.epoch {
			return 0, false, &Error{codeInvalidProducerEpoch, fmt.Sprintf("producer %d has epoch %d, the batch says %d", b.ProducerID, p.epoch, b.ProducerEpoch)}
		}
		return 0, false, nil
	}
	if p.epoch == b.ProducerEpoch {
		for _, s := range p.batches[:p.count] {
			if s.first == b.BaseSequence && s.last == b.LastSequence() {
				return s.base, true, nil
			}
		}
	}
	switch {
	case b.ProducerEpoch < p.epoch:
		return 0, false, &Error{codeInvalidProducerEpoch, fmt.Sprintf("producer %d has epoch %d, the batch says %d", b.ProducerID, p.epoch, b.ProducerEpoch)}
	case b.ProducerEpoch > p.epoch && b.BaseSequence != 0:
		return 0, false, &Error{codeOutOfOrderSequence, fmt.Sprintf("producer %d begins epoch %d with sequence number %d instead of 0", b.ProducerID, b.ProducerEpoch, b.BaseSequence)}
	case b.ProducerEpoch == p.epoch && b.BaseSequence != p.nextSequence():
		return 0, false, &Error{codeOutOfOrderSequence, fmt.Sprintf("producer %d sent sequence number %d, %d comes next", b.ProducerID, b.BaseSequence, p.nextSequence())}
	case p.open && !b.Transactional():
		return 0, false, &Error{codeInvalidTxnState, fmt.Sprintf("producer %d has an open transaction, the batch is not part of it", b.ProducerID)}
	}
	return 0, false, nil
}

// checkMarker is ProducerAppendInfo.appendEndTxnMarker: no marker of a producer that was fenced, or of a coordinator that
// is none any more.
func (p producer) checkMarker(b Batch) error {
	_, epoch, known := marker(b)
	switch {
	case b.ProducerEpoch < p.epoch:
		return &Error{codeInvalidProducerEpoch, fmt.Sprintf("producer %d has epoch %d, the marker says %d", b.ProducerID, p.epoch, b.ProducerEpoch)}
	case known && epoch < p.coordinatorEpoch:
		return &Error{codeCoordinatorFenced, fmt.Sprintf("a coordinator of epoch %d has ended a transaction of producer %d, the marker's is of epoch %d", p.coordinatorEpoch, b.ProducerID, epoch)}
	}
	return nil
}

// nextSequence is what the producer's next batch begins with.
func (p producer) nextSequence() int32 {
	if p.count == 0 || p.batches[p.count-1].last == math.MaxInt32 {
		return 0
	}
	return p.batches[p.count-1].last + 1
}

// remember notes a batch that was appended.
func (l *Log) remember(b Batch) {
	if b.ProducerID < 0 {
		return
	}
	if l.producers == nil {
		l.producers = map[int64]producer{}
	}
	p, known := l.producers[b.ProducerID]
	if !known || p.epoch != b.ProducerEpoch {
		p = producer{epoch: b.ProducerEpoch, coordinatorEpoch: p.coordinatorEpoch, marked: p.marked, open: p.open, first: p.first, lastData: -1}
	}
	p.lastMs = b.MaxTimestampMs
	switch {
	case b.Control():
		l.endTransaction(&p, b)
	case b.Transactional() && !p.open:
		p.open, p.first = true, b.BaseOffset
		l.open = append(l.open, openTransaction{b.ProducerID, b.BaseOffset})
	}
	if !b.Control() {
		p.lastData = b.LastOffset()
	}
	if b.Control() || b.BaseSequence < 0 {
		l.producers[b.ProducerID] = p
		return
	}
	if p.count == remembered {
		copy(p.batches[:], p.batches[1:])
		p.count--
	}
	p.batches[p.count] = sequence{b.BaseSequence, b.LastSequence(), b.BaseOffset}
	p.count++
	l.producers[b.ProducerID] = p
}

// ExpireProducers forgets producers whose newest record is older than beforeMs (producer.id.expiration.ms).
func (l *Log) ExpireProducers(beforeMs int64) {
	for id, p := range l.producers {
		if p.lastMs < beforeMs && !p.open {
			delete(l.producers, id)
		}
	}
}

// Producers is how many idempotent producers the log remembers.
func (l *Log) Producers() int { return len(l.producers) }
