package log

import (
	"fmt"
	"math"
)

// Kafka's codes for a producer whose batch does not follow on its last one.
const (
	codeOutOfOrderSequence   int16 = 45
	codeInvalidProducerEpoch int16 = 47
)

// remembered is how many of a producer's batches are kept to know a repeated one by (Kafka: NUM_BATCHES_TO_RETAIN).
const remembered = 5

// producer is what the log remembers of one idempotent producer (Kafka: ProducerStateEntry). It is a value.
type producer struct {
	epoch  int16
	count  int
	lastMs int64
	// batches are the last ones, the newest at count-1.
	batches [remembered]sequence
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
	case b.ProducerEpoch == p.epoch && b.BaseSequence != nextSequence(p.batches[p.count-1].last):
		return 0, false, &Error{codeOutOfOrderSequence, fmt.Sprintf("producer %d sent sequence number %d, %d comes next", b.ProducerID, b.BaseSequence, nextSequence(p.batches[p.count-1].last))}
	}
	return 0, false, nil
}

func nextSequence(last int32) int32 {
	if last == math.MaxInt32 {
		return 0
	}
	return last + 1
}

// remember notes a batch that was appended.
func (l *Log) remember(b Batch) {
	if b.ProducerID < 0 || b.Control() || b.BaseSequence < 0 {
		return
	}
	if l.producers == nil {
		l.producers = map[int64]producer{}
	}
	p, known := l.producers[b.ProducerID]
	if !known || p.epoch != b.ProducerEpoch {
		p = producer{epoch: b.ProducerEpoch}
	}
	if p.count == remembered {
		copy(p.batches[:], p.batches[1:])
		p.count--
	}
	p.batches[p.count] = sequence{b.BaseSequence, b.LastSequence(), b.BaseOffset}
	p.count++
	p.lastMs = b.MaxTimestampMs
	l.producers[b.ProducerID] = p
}

// ExpireProducers forgets producers whose newest record is older than beforeMs (producer.id.expiration.ms).
func (l *Log) ExpireProducers(beforeMs int64) {
	for id, p := range l.producers {
		if p.lastMs < beforeMs {
			delete(l.producers, id)
		}
	}
}

// Producers is how many idempotent producers the log remembers.
func (l *Log) Producers() int { return len(l.producers) }
