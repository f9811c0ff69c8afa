package log

import (
	"fmt"
	"maps"
	"slices"
)

// A log is compacted in pieces. Between two of them it goes on: what is appended meanwhile is left for the next time, and
// whatever cuts or deletes what is being compacted gives the compaction up (Kafka: LogCleaner's threads, and
// LogCleanerManager.abortCleaning). What was swapped until then stays so.

// cleaning is a compaction under way: it reads the segments three times.
type cleaning struct {
	plan
	done  Compacted
	phase phase
	// old are the segments as they were, and the one behind them; segment and entry are where the next piece begins.
	old            []segment
	segment, entry int
	merge          merging
	// swapped is how many of the log's first segments are compacted ones.
	swapped int
}

type phase int8

const (
	findTransactions phase = iota
	findKeys
	sweep
)

// pieceBytes is how much is read at once, but for a batch that is larger.
const pieceBytes = 128 << 10

// Progress is how far Compact has come.
type Progress struct {
	// Read is how many bytes it has read. Waits is set where it cannot go on before the store has written something.
	Read        int
	Waits, Done bool
	// Compacted is what was done, once it is Done.
	Compacted Compacted
}

// Compacting tells whether a compaction is under way.
func (l *Log) Compacting() bool { return l.cleaning != nil }

// BeginCompaction begins a compaction, which Compact does. It removes, from the segments below c.Below that are no longer
// written to, every record for whose key there is a newer one there; tombstones whose time is over; records of aborted
// transactions; and markers of transactions of which nothing else is left. A segment with records of an open transaction,
// and all behind it, waits. Offsets stay as they are: the log has holes then. Two batches stay though their records may go:
// the newest of a producer, since it holds the producer's sequence number or epoch, and the last one below To, so that the
// log goes up to there. Neighbours that were small enough together become one segment.
func (l *Log) BeginCompaction(c Compaction) {
	l.giveUpCleaning(-1)
	k := &cleaning{plan: plan{Compaction: c, segments: l.cleanable(c), newest: newest{at: map[string]int32{}}, open: map[int64][]int64{},
		aborted: map[int64]bool{}, empty: map[int64]bool{}}, done: Compacted{From: l.cleaned, To: l.cleaned}}
	if k.segments > 0 {
		k.old = slices.Clone(l.segments[:k.segments+1])
		k.upTo = k.old[k.segments].base
	}
	l.cleaning = k
}

// Compact goes on with the compaction until it is done, must wait, or has read most bytes; a little more may be read. After
// an error it is over: what was swapped before stays so, and the rest is as it was.
func (l *Log) Compact(most int) (p Progress, err error) {
	k := l.cleaning
	for p.Read < most && !p.Waits && !p.Done && err == nil {
		switch {
		case k.segments == 0:
			p.Done = true
		case k.segment == k.segments:
			p.Waits, p.Done, err = k.next(l)
		case k.phase == sweep && k.entry == 0 && k.merge.full(&k.old[k.segment], l.cfg.SegmentBytes):
			p.Waits, err = k.swap(l)
		default:
			read := 0
			read, err = k.piece(l)
			p.Read += read
		}
	}
	if p.Done || err != nil {
		p.Compacted, l.cleaning = k.done, nil
	}
	return p, err
}

// next follows the last segment of a reading.
func (k *cleaning) next(l *Log) (waits, done bool, err error) {
	switch {
	case k.phase == findTransactions:
		k.openOnes(l, k.old)
	case k.phase == sweep && len(k.merge.bases) > 0:
		waits, err = k.swap(l)
		return waits, false, err
	case k.phase == sweep:
		k.end(l)
		return false, true, nil
	}
	k.phase++
	k.segment, k.entry = 0, 0
	return false, false, nil
}

// end notes up to where the log is compacted now.
func (k *cleaning) end(l *Log) {
	l.cleaned, k.done.To = k.upTo, k.upTo
	// A reader must not be told of a transaction whose marker it may never meet: it would leave out the producer's next one
	// (CleanedTransactionMetadata keeps such out of the transaction index).
	l.aborted = slices.DeleteFunc(slices.Clone(l.aborted), func(a aborted) bool { return k.empty[a.marker] })
	l.note()
}

// piece reads the next index intervals of a segment: no more than pieceBytes, but at least one.
func (k *cleaning) piece(l *Log) (read int, err error) {
	s, from := &k.old[k.segment], k.entry
	if k.phase == sweep && from == 0 {
		k.merge.add(s)
		k.done.BytesBefore += int64(s.size)
	}
	end := s.size
	for k.entry < len(s.index) {
		k.entry++
		if end = s.endOf(k.entry - 1); end-s.index[from].position >= pieceBytes {
			break
		}
	}
	if from < len(s.index) {
		read = end - s.index[from].position
		failed := l.span(s, from, k.entry, func(_ int, batch []byte) bool {
			err = k.visit(l, header(batch))
			return err == nil
		})
		if err == nil {
			err = failed
		}
	}
	if err != nil {
		return read, fmt.Errorf("compact segment %d: %w", s.base, err)
	}
	if k.entry == len(s.index) {
		k.segment, k.entry = k.segment+1, 0
	}
	return read, nil
}

// visit does with a batch what the phase does.
func (k *cleaning) visit(l *Log, b Batch) error {
	switch k.phase {
	case findTransactions:
		k.transaction(b)
		return nil
	case findKeys:
		return k.keys(b)
	}
	left, err := k.batch(l, b, &k.done)
	if err != nil {
		return err
	}
	k.done.BytesAfter += int64(len(left))
	k.merge.changed = k.merge.changed || len(left) != len(b.Bytes) || len(left) > 0 && &left[0] != &b.Bytes[0]
	if len(left) > 0 {
		k.merge.put(left, l.cfg.IndexIntervalBytes)
	}
	return nil
}

// swap puts the collected segments' successor in their place, unless it is one that has not changed. It waits where the
// store does.
func (k *cleaning) swap(l *Log) (waits bool, err error) {
	m := &k.merge
	into := m.first
	if m.changed || len(m.bases) > 1 {
		done, err := l.store.Swap(m.bases, m.blocks)
		if err != nil {
			return false, fmt.Errorf("swap segments %v for a compacted one: %w", m.bases, err)
		}
		if !done {
			return true, nil
		}
		into = m.into
	}
	l.segments = slices.Replace(slices.Clone(l.segments), k.swapped, k.swapped+len(m.bases), into)
	k.swapped++
	k.merge = merging{}
	return false, nil
}

// merging collects segments that become one.
type merging struct {
	first   segment
	bases   []int64
	size    int // of the segments as they were (LogCleaner.groupSegmentsBySize)
	into    segment
	blocks  [][]byte // what is left of them, a batch in one block
	changed bool
}

// full tells whether a segment is too much.
func (m *merging) full(s *segment, segmentBytes int) bool {
	return len(m.bases) > 0 && m.size+s.size > segmentBytes
}

func (m *merging) add(s *segment) {
	if len(m.bases) == 0 {
		m.first, m.into = *s, segment{base: s.base, maxMs: noTimestamp}
	}
	m.size += s.size
	m.bases = append(m.bases, s.base)
}

func (m *merging) put(batch []byte, indexInterval int) {
	last := len(m.blocks) - 1
	if last < 0 || cap(m.blocks[last])-len(m.blocks[last]) < len(batch) {
		room := smallestBlock
		if last >= 0 {
			room = min(2*cap(m.blocks[last]), largestBlock)
		}
		m.blocks = append(m.blocks, make([]byte, 0, max(room, len(batch))))
		last++
	}
	m.blocks[last] = append(m.blocks[last], batch...)
	m.into.enter(header(batch), indexInterval)
}

// giveUpCleaning ends a compaction of the segment that begins at base, if there is one: it is about to be cut or removed.
func (l *Log) giveUpCleaning(base int64) {
	if l.cleaning != nil && base < l.cleaning.upTo {
		l.store.DropSwap()
		l.cleaning = nil
	}
}

// clone copies what goes its own way in a copy of the log.
func (k *cleaning) clone() *cleaning {
	if k == nil {
		return nil
	}
	c := *k
	c.newest = newest{maps.Clone(k.newest.at), slices.Clone(k.newest.offsets)}
	c.kept = nil
	c.open, c.aborted, c.empty = maps.Clone(k.open), maps.Clone(k.aborted), maps.Clone(k.empty)
	c.done.Removed, c.done.More = slices.Clip(k.done.Removed), slices.Clone(k.done.More)
	c.merge.bases, c.merge.blocks = slices.Clone(k.merge.bases), slices.Clone(k.merge.blocks)
	c.merge.into.index = slices.Clip(k.merge.into.index)
	if n := len(c.merge.blocks); n > 0 {
		c.merge.blocks[n-1] = slices.Clip(c.merge.blocks[n-1])
	}
	return &c
}
