package log

import (
	"math"
	"slices"
	"sort"
)

// openTransaction is a transaction without a marker in the log yet, and where it began.
type openTransaction struct{ producer, first int64 }

// ended is a transaction whose marker is in the log, but perhaps not on every replica.
type ended struct{ first, marker int64 }

// aborted is a transaction that ended with an abort marker. stable is the last stable offset that followed from it: every
// transaction with a later marker begins there or behind it (Kafka: AbortedTxn, TransactionIndex).
type aborted struct{ producer, first, marker, stable int64 }

// Aborted tells a reader of committed records whose records to leave out, from First up to the producer's next marker.
type Aborted struct{ ProducerID, First int64 }

// endTransaction notes the marker of a producer.
func (l *Log) endTransaction(p *producer, b Batch) {
	commit, epoch, known := marker(b)
	if known {
		p.coordinatorEpoch, p.marked = epoch, true
	}
	if p.open {
		p.open = false
		l.open = slices.DeleteFunc(slices.Clone(l.open), func(o openTransaction) bool { return o.producer == b.ProducerID })
		l.ended = append(l.ended, ended{p.first, b.BaseOffset})
		if known && !commit {
			l.aborted = append(l.aborted, aborted{b.ProducerID, p.first, b.BaseOffset, l.undecided(b.NextOffset())})
		}
	}
}

// undecided is where the first open transaction begins, or end where there is none. They are in the order in which they
// began.
func (l *Log) undecided(end int64) int64 {
	if len(l.open) > 0 {
		return min(end, l.open[0].first)
	}
	return end
}

// LastStable is up to where everything is decided (Kafka: last stable offset): below it and the high watermark lies no
// record of a transaction that is open, or whose marker is not below the high watermark yet.
func (l *Log) LastStable(hw int64) int64 {
	stable := l.undecided(hw)
	l.Settle(hw)
	for _, e := range l.ended {
		stable = min(stable, e.first)
	}
	return stable
}

// Settle forgets what LastStable needs of transactions whose marker is below the high watermark.
func (l *Log) Settle(hw int64) {
	for len(l.ended) > 0 && l.ended[0].marker < hw {
		l.ended = l.ended[1:]
	}
}

// Open tells whether a transaction of the producer is open, in this epoch.
func (l *Log) Open(producerID int64, epoch int16) bool {
	p, known := l.producers[producerID]
	return known && p.open && p.epoch == epoch
}

// openSince is where the open transaction of a producer begins, never where none is open.
func (l *Log) openSince(producerID int64) int64 {
	for _, o := range l.open {
		if o.producer == producerID {
			return o.first
		}
	}
	return math.MaxInt64
}

// abortedAt tells whether a producer's batch at an offset is part of an aborted transaction.
func (l *Log) abortedAt(producerID, offset int64) bool {
	return slices.ContainsFunc(l.aborted, func(a aborted) bool {
		return a.producer == producerID && a.first <= offset && offset < a.marker
	})
}

// Aborted lists the aborted transactions that have records from one offset up to another, in the order of their markers
// (Kafka: UnifiedLog.collectAbortedTransactions).
func (l *Log) Aborted(from, upTo int64) (list []Aborted) {
	i := sort.Search(len(l.aborted), func(i int) bool { return l.aborted[i].marker >= from })
	for ; i < len(l.aborted); i++ {
		a := &l.aborted[i]
		if a.first < upTo {
			list = append(list, Aborted{a.producer, a.first})
		}
		if a.stable >= upTo {
			break
		}
	}
	return list
}

// forgetAborted drops the aborted transactions that lie before the log's start as a whole.
func (l *Log) forgetAborted() {
	for len(l.aborted) > 0 && l.aborted[0].marker < l.start {
		l.aborted = l.aborted[1:]
	}
}

// ProducerState is what the log remembers of a producer that is active (DescribeProducers, KIP-664).
type ProducerState struct {
	ProducerID    int64
	ProducerEpoch int16
	// LastSequence is -1 before its first batch of this epoch, CoordinatorEpoch -1 before its first marker, and
	// TransactionStart -1 where no transaction of it is open.
	LastSequence     int32
	LastTimestampMs  int64
	CoordinatorEpoch int32
	TransactionStart int64
}

// Active lists the producers that the log remembers, by id.
func (l *Log) Active() []ProducerState {
	list := make([]ProducerState, 0, len(l.producers))
	for id, p := range l.producers {
		s := ProducerState{ProducerID: id, ProducerEpoch: p.epoch, LastSequence: -1, LastTimestampMs: p.lastMs, CoordinatorEpoch: -1, TransactionStart: -1}
		if p.count > 0 {
			s.LastSequence = p.batches[p.count-1].last
		}
		if p.marked {
			s.CoordinatorEpoch = p.coordinatorEpoch
		}
		if p.open {
			s.TransactionStart = p.first
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b ProducerState) int {
		if a.ProducerID < b.ProducerID {
			return -1
		}
		return 1
	})
	return list
}
