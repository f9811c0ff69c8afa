package log

import "grouplab/coordinator/event"

// Compaction says how a log is compacted (Kafka: LogCleaner, cleanup.policy=compact).
type Compaction struct {
	NowMs int64
	// Below is the last stable offset: a segment that reaches over it is left alone, as is the one that is written to.
	Below int64
	// MinLagMs is min.compaction.lag.ms: how old the newest record of a segment must be that was not compacted before.
	MinLagMs int64
	// DeleteRetentionMs is delete.retention.ms: how long a tombstone stays after the first compaction that met it, so
	// that whoever reads the log sees it.
	DeleteRetentionMs int64
	// Unpack opens compressed batches. Without it they are kept as they are, and so is every tombstone, for it may be of
	// a key that is in one of them.
	Unpack Decompress
	// Tell is how many of the records that go are told one by one. The others are counted.
	Tell int
}

// Compacted is what a compaction did.
type Compacted struct {
	// From is up to where the log had been compacted before, To up to where it is now.
	From, To int64
	// Bytes are the sizes of the segments below To before and after.
	BytesBefore, BytesAfter int64
	// Kept is the number of records that are left below To.
	Kept int
	// Count is the number of records that are gone, Removed the first of them, in order of offset, and More the others.
	Count   int
	Removed []Removed
	More    []event.RemovedMore
}

// Removed is a record that compaction took away. By is the offset of the one that superseded it, -1 where none did.
type Removed struct {
	Record Record
	Why    event.RemovalReason
	By     int64
	// Described is what the record is in __consumer_offsets.
	Described event.LogRecord
}

// Dirt is what there is to compact. Bytes could be compacted and have not been; Total are those and those that have been.
// Their ratio is Kafka's dirty ratio (LogToClean.cleanableRatio). OldestMs is the earliest time at which a segment begins
// that is no longer written to and has not been compacted, whether it may be or not, -1 where there is none (Kafka:
// LogCleanerManager.maxCompactionDelay).
type Dirt struct{ Bytes, Total, OldestMs int64 }

// Dirty tells what there is to compact.
func (l *Log) Dirty(c Compaction) Dirt {
	d := Dirt{OldestMs: noTimestamp}
	for i := range l.segments[:l.cleanable(c)] {
		s := &l.segments[i]
		d.Total += int64(s.size)
		if s.base >= l.cleaned {
			d.Bytes += int64(s.size)
		}
	}
	for i := 0; i < len(l.segments)-1; i++ {
		if s := &l.segments[i]; s.base >= l.cleaned && s.firstMs > 0 && (d.OldestMs < 0 || s.firstMs < d.OldestMs) {
			d.OldestMs = s.firstMs
		}
	}
	return d
}

// Closed is how many bytes are in segments that are no longer written to and have not been compacted.
func (l *Log) Closed() (bytes int64) {
	for i := 0; i < len(l.segments)-1; i++ {
		if l.segments[i].base >= l.cleaned {
			bytes += int64(l.segments[i].size)
		}
	}
	return bytes
}

// cleanable is how many of the oldest segments may be compacted, transactions aside.
func (l *Log) cleanable(c Compaction) int {
	n := 0
	for n < len(l.segments)-1 && l.segments[n+1].base <= c.Below &&
		(c.MinLagMs <= 0 || l.segments[n].base < l.cleaned || l.segments[n].maxMs <= c.NowMs-c.MinLagMs) {
		n++
	}
	return n
}
