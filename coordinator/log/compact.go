package log

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
)

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
}

// Compacted is what a compaction did.
type Compacted struct {
	// From is up to where the log had been compacted before, To up to where it is now.
	From, To int64
	// Bytes are the sizes of the segments below To before and after.
	BytesBefore, BytesAfter int64
	// Kept is the number of records that are left below To.
	Kept int
	// Removed are those that are gone, in order of offset.
	Removed []Removed
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

// Compact removes, from the segments below c.Below that are no longer written to, every record for whose key there is a
// newer one there; tombstones whose time is over; records of aborted transactions; and markers of transactions of which
// nothing else is left. A segment with records of an open transaction, and all behind it, waits. Offsets stay as they
// are: the log has holes then. Two batches stay though their records may go: the newest of a producer, since it holds the
// producer's sequence number or epoch, and the last one below To, so that the log goes up to there. Neighbours that were
// small enough together become one segment.
func (l *Log) Compact(c Compaction) (Compacted, error) {
	done := Compacted{From: l.cleaned, To: l.cleaned}
	p, err := l.plan(c)
	if err != nil || p.segments == 0 {
		return done, err
	}
	done.To = l.segments[p.segments].base
	old := l.segments
	var cleaned []segment
	merge := merging{log: l}
	// What was swapped before something fails stays so, and the rest as it was.
	fail := func(err error) (Compacted, error) {
		l.segments = append(cleaned, old[merge.at:]...)
		return done, err
	}
	for i, s := range old[:p.segments] {
		data, changed, err := p.clean(l, &s, &done)
		if err != nil {
			return fail(err)
		}
		done.BytesBefore, done.BytesAfter = done.BytesBefore+int64(s.size), done.BytesAfter+int64(len(data))
		if len(merge.bases) > 0 && merge.size+s.size > l.cfg.SegmentBytes {
			if cleaned, err = merge.into(cleaned); err != nil {
				return fail(err)
			}
			merge.at = i
		}
		merge.add(s, data, changed)
	}
	if cleaned, err = merge.into(cleaned); err != nil {
		return fail(err)
	}
	l.segments = append(cleaned, old[p.segments:]...)
	l.cleaned = done.To
	// A reader must not be told of a transaction whose marker it may never meet: it would leave out the producer's next one
	// (CleanedTransactionMetadata keeps such out of the transaction index).
	l.aborted = slices.DeleteFunc(slices.Clone(l.aborted), func(a aborted) bool { return p.empty[a.marker] })
	l.note()
	return done, nil
}

// merging collects segments that become one.
type merging struct {
	log     *Log
	first   segment
	at      int // which one it is
	bases   []int64
	size    int // of the segments as they were (LogCleaner.groupSegmentsBySize)
	data    []byte
	changed bool
}

func (m *merging) add(s segment, data []byte, changed bool) {
	if len(m.bases) == 0 {
		m.first = s
	}
	m.size += s.size
	m.bases, m.data, m.changed = append(m.bases, s.base), append(m.data, data...), m.changed || changed
}

// into swaps the collected segments for one, unless they are one that has not changed, and begins anew.
func (m *merging) into(list []segment) ([]segment, error) {
	s := m.first
	if m.changed || len(m.bases) > 1 {
		if err := m.log.store.Swap(m.bases, m.data); err != nil {
			return list, fmt.Errorf("swap segments %v for a compacted one: %w", m.bases, err)
		}
		s = segment{base: m.bases[0], maxMs: noTimestamp}
		for rest := m.data; len(rest) > 0; rest = rest[sizeOf(rest):] {
			s.enter(header(rest[:sizeOf(rest)]), m.log.cfg.IndexIntervalBytes)
		}
	}
	*m = merging{log: m.log}
	return append(list, s), nil
}

// plan is what the first reading of the segments found.
type plan struct {
	Compaction
	segments int
	// upTo is where what is compacted ends.
	upTo int64
	// newest is the offset of the newest record of each key, those of aborted transactions aside.
	newest map[string]int64
	// aborted are batches, by base offset, whose transaction was aborted; empty are markers before which nothing of
	// their transaction is left.
	aborted, empty map[int64]bool
	// closed is set where a batch could not be opened.
	closed bool
}

func (l *Log) plan(c Compaction) (*plan, error) {
	p := &plan{Compaction: c, segments: l.cleanable(c), newest: map[string]int64{}, aborted: map[int64]bool{}, empty: map[int64]bool{}}
	open := map[int64][]int64{} // batches of transactions without a marker yet, by producer
	err := l.batches(p.segments, func(b Batch) error {
		switch {
		case b.Control():
			commit, _, known := marker(b)
			if !known {
				return nil
			}
			p.empty[b.BaseOffset] = len(open[b.ProducerID]) == 0
			for _, base := range open[b.ProducerID] {
				p.aborted[base] = !commit
			}
			delete(open, b.ProducerID)
		case b.Transactional():
			open[b.ProducerID] = append(open[b.ProducerID], b.BaseOffset)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for producer, batches := range open {
		if l.openSince(producer) > batches[len(batches)-1] { // its marker lies behind what can be compacted
			for _, base := range batches {
				p.aborted[base] = l.abortedAt(producer, base)
			}
			continue
		}
		for p.segments > 0 && l.segments[p.segments].base > batches[0] {
			p.segments--
		}
	}
	if p.segments > 0 {
		p.upTo = l.segments[p.segments].base
	}
	err = l.batches(p.segments, func(b Batch) error {
		switch {
		case b.Control() || p.aborted[b.BaseOffset]:
			return nil
		case b.Codec() != None && c.Unpack == nil:
			p.closed = true
			return nil
		}
		return b.Each(c.Unpack, func(r Record) bool {
			if r.Key != nil {
				p.newest[string(r.Key)] = r.Offset
			}
			return true
		})
	})
	return p, err
}

// batches visits all batches of the oldest segments.
func (l *Log) batches(segments int, visit func(Batch) error) (err error) {
	for i := range segments {
		s := &l.segments[i]
		for entry := range s.index {
			failed := l.between(s, entry, func(_ int, data []byte) bool {
				err = visit(header(data))
				return err == nil
			})
			if err == nil {
				err = failed
			}
			if err != nil {
				return fmt.Errorf("compact segment %d: %w", s.base, err)
			}
		}
	}
	return nil
}

// clean returns what is left of a segment, and whether that is not all.
func (p *plan) clean(l *Log, s *segment, done *Compacted) (data []byte, changed bool, err error) {
	for entry := range s.index {
		failed := l.between(s, entry, func(_ int, batch []byte) bool {
			b := header(batch)
			var left []byte
			if left, err = p.batch(l, b, done); err != nil {
				return false
			}
			changed = changed || len(left) != len(batch) || len(left) > 0 && &left[0] != &batch[0]
			data = append(data, left...)
			return true
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return nil, false, fmt.Errorf("compact segment %d: %w", s.base, err)
		}
	}
	return data, changed, nil
}

// batch returns what is left of a batch: the batch itself where nothing changes, nil where it goes.
func (p *plan) batch(l *Log, b Batch, done *Compacted) ([]byte, error) {
	if b.Codec() != None && p.Unpack == nil {
		done.Kept += int(b.Count)
		return b.Bytes, nil
	}
	horizonMs, horizon := b.DeleteHorizonMs()
	over := horizon && horizonMs <= p.NowMs
	var kept []Record
	removed, mortal := false, false
	err := b.Each(p.Unpack, func(r Record) bool {
		why, by := p.fate(b, r, over)
		if why == "" {
			kept = append(kept, r)
			mortal = mortal || r.Value == nil && !b.Control() || p.empty[b.BaseOffset]
			return true
		}
		removed = true
		done.Removed = append(done.Removed, Removed{r, why, by, describe(b, r)})
		return true
	})
	if err != nil {
		return nil, err
	}
	done.Kept += len(kept)
	begin := mortal && !horizon
	switch {
	case len(kept) == 0 && !l.lastOf(b) && b.NextOffset() != p.upTo:
		return nil, nil
	case !removed && !begin:
		return b.Bytes, nil
	case begin:
		horizonMs, horizon = p.NowMs+p.DeleteRetentionMs, true
	}
	return rebuild(b, kept, horizonMs, horizon), nil
}

// fate is why a record goes, "" where it stays.
func (p *plan) fate(b Batch, r Record, over bool) (why event.RemovalReason, by int64) {
	if b.Control() {
		if p.empty[b.BaseOffset] && over {
			return event.WhyEmptyTransaction, -1
		}
		return "", -1
	}
	newest, known := p.newest[string(r.Key)]
	switch {
	case p.aborted[b.BaseOffset]:
		return event.WhyAborted, -1
	case r.Key == nil:
		return event.WhyNoKey, -1
	case known && newest > r.Offset:
		return event.WhySuperseded, newest
	case r.Value == nil && over && !p.closed:
		return event.WhyTombstoneOver, -1
	}
	return "", -1
}

// lastOf tells whether a batch holds what is remembered of a producer: its last records or, where it has none in its
// epoch, the marker that brought the epoch (Kafka: isBatchLastRecordOfProducer).
func (l *Log) lastOf(b Batch) bool {
	p, known := l.producers[b.ProducerID]
	switch {
	case !known:
		return false
	case p.lastData >= 0:
		return b.LastOffset() == p.lastData
	}
	return b.Control() && b.ProducerEpoch == p.epoch
}
