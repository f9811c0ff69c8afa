package log

import (
	"fmt"
	"math"
)

// Found is what a Store holds of a log that was written before.
type Found struct {
	// Segments by base.
	Segments []FoundSegment
	// Notes are those that the store was given last; the zero value where it has lost them.
	Notes Notes
}

// FoundSegment is a segment that a Store holds.
type FoundSegment struct {
	Base int64
	Size int
}

// Damage says where a log's bytes cease to be what was written.
type Damage struct {
	// Segment and Position lead to the first byte that is wrong, Offset is the first one that is lost.
	Segment  int64
	Position int
	Offset   int64
	// Bytes are what is cut off, in this segment and in Segments more behind it.
	Bytes    int64
	Segments int
	// Torn is set where nothing that can be read follows: the end of a write that a crash broke off.
	Torn bool
	// Reason says in words what is wrong.
	Reason string
}

const (
	scanBytes = 1 << 20
	// mostEpoch bounds the leader epochs that are believed: they count elections.
	mostEpoch = math.MaxInt32 - 1<<20
)

// Open reads a log that is in a store already: every batch and its CRC, so that nothing else needs to be trusted (Kafka:
// LogLoader.recoverLog, which does so where a broker was not stopped cleanly). At the first batch that is not what was
// written, the log is cut: that batch and everything behind it go, as in Kafka. damaged, if there, is told before that
// happens; its error stops it. Open's error is the store's.
func Open(store Store, cfg Config, found Found, damaged func(Damage) error) (*Log, error) {
	l := New(quiet{store}, cfg)
	l.start = max(0, found.Notes.Start)
	if len(found.Segments) > 0 {
		l.start = max(l.start, found.Segments[0].Base)
	}
	l.end = l.start
	if len(found.Segments) > 0 {
		l.end = found.Segments[0].Base
	}
	for i := range found.Segments {
		wrong, err := l.rescan(found.Segments, i)
		if err != nil {
			return nil, err
		}
		if wrong == nil {
			continue
		}
		if damaged != nil {
			if err := damaged(*wrong); err != nil {
				return nil, err
			}
		}
		if err := l.abandon(store, found.Segments[i:], wrong); err != nil {
			return nil, err
		}
		break
	}
	l.store = store
	l.beside, _ = store.(Beside)
	if l.end < l.start { // what is left lies before what is kept
		return l, l.Restart(l.start)
	}
	l.cleaned = l.boundary(found.Notes.Cleaned)
	l.forgetEpochs(l.start)
	l.epochs = recovered(l.epochs, found.Notes.Epochs, l.start, l.end)
	l.forgetEpochs(l.start)
	l.forgetAborted()
	return l, nil
}

// quiet is a store that is not told what it told us.
type quiet struct{ Store }

func (quiet) Note(Notes) error { return nil }

// boundary is the base of the segment that an offset lies in: up to there the log is taken for compacted.
func (l *Log) boundary(offset int64) int64 {
	at := l.start
	for i := range l.segments {
		if l.segments[i].base <= offset {
			at = l.segments[i].base
		}
	}
	return at
}

// rescan enters the batches of one segment, and tells what is wrong with the first that is not right.
func (l *Log) rescan(all []FoundSegment, i int) (*Damage, error) {
	found, most := all[i], int64(math.MaxInt64)
	if i+1 < len(all) {
		most = all[i+1].Base
	}
	if found.Base < l.end {
		return l.damage(all, i, 0, fmt.Sprintf("the segment begins at %d, the one before it ends at %d", found.Base, l.end)), nil
	}
	l.end = found.Base
	l.segments = append(l.segments, segment{base: found.Base, maxMs: noTimestamp})
	s := &l.segments[len(l.segments)-1]
	var data []byte // what is read ahead, from s.size on
	for s.size < found.Size {
		need := HeaderBytes
		if len(data) >= HeaderBytes {
			need = max(HeaderBytes, sizeOf(data))
		}
		if left := found.Size - s.size; need > left {
			return l.unreadable(all, i, fmt.Sprintf("a batch of at least %d bytes cannot be in the %d that are left", need, left))
		}
		if need > len(data) {
			var err error
			if data, err = l.store.Read(s.base, s.size, min(found.Size, s.size+max(need, scanBytes))); err != nil {
				return nil, fmt.Errorf("read segment %d at %d: %w", s.base, s.size, err)
			}
			continue
		}
		b, rest, err := Parse(data)
		if err == nil {
			err = l.follows(b, s.base, most)
		}
		if err != nil {
			return l.unreadable(all, i, err.Error())
		}
		s.enter(b, l.cfg.IndexIntervalBytes)
		l.end = b.NextOffset()
		l.beginEpoch(b.LeaderEpoch, b.BaseOffset)
		l.remember(b)
		data = rest
	}
	return nil, nil
}

// follows checks a batch that was read back. Base offset and leader epoch are not under the CRC, so they must make sense.
func (l *Log) follows(b Batch, base, most int64) error {
	switch last := b.LastOffset(); {
	case b.LastOffsetDelta < 0 || b.BaseOffset < l.end || last < b.BaseOffset || last-base > math.MaxInt32 || last >= most:
		return fmt.Errorf("a batch says that it has the offsets %d to %d, where %d comes next", b.BaseOffset, last, l.end)
	case b.LeaderEpoch < 0 || b.LeaderEpoch > mostEpoch:
		return fmt.Errorf("a batch says that it is of leader epoch %d", b.LeaderEpoch)
	}
	return b.CheckCRC()
}

// unreadable is damage in the segment that is being read, behind what was entered.
func (l *Log) unreadable(all []FoundSegment, i int, reason string) (*Damage, error) {
	s := &l.segments[len(l.segments)-1]
	d := l.damage(all, i, s.size, reason)
	if i+1 == len(all) {
		rest, err := l.store.Read(s.base, s.size, all[i].Size)
		if err != nil {
			return nil, fmt.Errorf("read segment %d at %d: %w", s.base, s.size, err)
		}
		d.Torn = !readable(rest, l.end)
	}
	return d, nil
}

func (l *Log) damage(all []FoundSegment, i, position int, reason string) *Damage {
	d := &Damage{Segment: all[i].Base, Position: position, Offset: l.end, Bytes: int64(all[i].Size - position), Segments: len(all) - i - 1, Reason: reason}
	for _, s := range all[i+1:] {
		d.Bytes += int64(s.Size)
	}
	return d
}

// readable tells whether there is a whole batch somewhere behind the first byte, with an offset that could be.
func readable(data []byte, end int64) bool {
	for at := 1; at+HeaderBytes <= len(data); at++ {
		if data[at+atMagic] != 2 {
			continue
		}
		b, _, err := Parse(data[at:])
		if err == nil && b.BaseOffset >= end && b.LastOffsetDelta >= 0 && b.LeaderEpoch >= 0 && b.CheckCRC() == nil {
			return true
		}
	}
	return false
}

// abandon removes what lies behind the damage. A segment that begins before the end of another one goes as a whole.
func (l *Log) abandon(store Store, from []FoundSegment, wrong *Damage) error {
	for i := len(from) - 1; i > 0; i-- {
		if err := store.Remove(from[i].Base); err != nil {
			return fmt.Errorf("remove segment %d: %w", from[i].Base, err)
		}
	}
	if n := len(l.segments); n == 0 || l.segments[n-1].base != wrong.Segment {
		if err := store.Remove(wrong.Segment); err != nil {
			return fmt.Errorf("remove segment %d: %w", wrong.Segment, err)
		}
		return nil
	}
	if err := store.Truncate(wrong.Segment, wrong.Position); err != nil {
		return fmt.Errorf("cut segment %d to %d bytes: %w", wrong.Segment, wrong.Position, err)
	}
	return nil
}

// recovered are the leader epochs of a log: the noted ones where they agree with the batches, else those of the batches. An
// epoch that reaches over the start may have no batch behind it any more.
func recovered(scanned, noted []EpochStart, start, end int64) []EpochStart {
	var list []EpochStart
	for _, e := range noted {
		if n := len(list); e.Epoch < 0 || e.Start < 0 || n > 0 && (e.Epoch <= list[n-1].Epoch || e.Start <= list[n-1].Start) {
			return scanned
		}
		if e.Start <= end {
			list = append(list, e)
		}
	}
	if len(list) == 0 || len(scanned) > 0 && list[0].Start > scanned[0].Start {
		return scanned
	}
	covers := func(e EpochStart) bool {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Start <= e.Start {
				return list[i].Epoch == e.Epoch
			}
		}
		return false
	}
	for _, e := range scanned {
		switch n := len(list); {
		case n > 0 && e.Epoch > list[n-1].Epoch && e.Start > list[n-1].Start:
			list = append(list, e)
		case e.Start > start && e.Start < end && !covers(e):
			return scanned
		}
	}
	return list
}
