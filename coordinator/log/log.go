package log

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Config is how a log is cut into segments. Zero values stand for the defaults.
type Config struct {
	// SegmentBytes is segment.bytes: a batch that would make a segment larger begins a new one. 16 MiB.
	SegmentBytes int
	// SegmentMs is segment.ms: a batch begins a new segment where its largest timestamp is later than that of the
	// segment's first batch by more. 0: no bound.
	SegmentMs int64
	// IndexIntervalBytes is index.interval.bytes: how far apart the index entries are. 4096.
	IndexIntervalBytes int
}

// Log is one replica of a partition. It must not be copied except by Clone.
type Log struct {
	cfg      Config
	store    Store
	segments []segment
	// beside is the store where that writes beside the machine, else nil: appends counts what it was given, flying is what
	// of that is not known to be kept, and where there is any, kept is up to where the log is.
	beside  Beside
	appends int64
	flying  []flying
	kept    int64
	// start is the first offset that is kept, end the one that the next record gets.
	start, end int64
	// cleaned is up to where the log has been compacted: the base of a segment.
	cleaned int64
	// cleaning is the compaction that is under way, nil where none is.
	cleaning  *cleaning
	epochs    []EpochStart
	producers map[int64]producer
	// open are the transactions that are open, in the order of their first records; ended those that ended and of which
	// not every replica may know; aborted those that were aborted, in the order of their markers.
	open    []openTransaction
	ended   []ended
	aborted []aborted
}

// segment is what the log knows of a segment without reading it.
type segment struct {
	base int64
	size int
	// index holds one entry about every IndexIntervalBytes, the first at position 0.
	index []indexEntry
	// firstMs is the largest timestamp of its first batch.
	firstMs int64
	// maxMs is the largest timestamp in it, and maxMsOffset the last offset of the first batch that has it.
	maxMs, maxMsOffset int64
	indexed            int // position of the newest index entry
}

// indexEntry leads to a batch: its base offset, its position, and the largest timestamp before it in the segment.
type indexEntry struct {
	offset   int64
	position int
	beforeMs int64
}

const noTimestamp = int64(-1)

// New returns an empty log over a store.
func New(store Store, cfg Config) *Log {
	if cfg.SegmentBytes <= 0 {
		cfg.SegmentBytes = 16 << 20
	}
	if cfg.IndexIntervalBytes <= 0 {
		cfg.IndexIntervalBytes = 4096
	}
	l := &Log{cfg: cfg, store: store}
	l.beside, _ = store.(Beside)
	return l
}

// StartOffset is the first offset that is kept.
func (l *Log) StartOffset() int64 { return l.start }

// EndOffset is the offset that the next record gets (Kafka: log end offset, LEO).
func (l *Log) EndOffset() int64 { return l.end }

// Size is the number of bytes in all segments.
func (l *Log) Size() int64 {
	var n int64
	for i := range l.segments {
		n += int64(l.segments[i].size)
	}
	return n
}

// Append writes one batch as its leader does: it gets the next offsets and the leader's epoch. The batch's own bytes are
// not changed. It returns the batch as it is now in the log.
func (l *Log) Append(b Batch, leaderEpoch int32) (Batch, error) {
	if b.LastOffsetDelta < 0 {
		panic(fmt.Sprintf("log.Append: a batch with last offset delta %d; Validate refuses it", b.LastOffsetDelta))
	}
	b.BaseOffset, b.LeaderEpoch = l.end, leaderEpoch
	return l.write(b)
}

// AppendReplica writes batches as a follower does: with the offsets and epochs that the leader gave them. None may begin
// before the log's end. It returns how many batches were written.
func (l *Log) AppendReplica(batches []byte) (int, error) {
	count := 0
	for len(batches) > 0 {
		b, rest, err := Parse(batches)
		if err != nil {
			return count, err
		}
		if err := b.CheckCRC(); err != nil {
			return count, err
		}
		// Compaction leaves holes in the leader's log, so a batch may begin behind the end.
		if b.BaseOffset < l.end || b.LastOffsetDelta < 0 {
			return count, corrupt("a batch at %d with last offset delta %d does not follow on the log's end, %d", b.BaseOffset, b.LastOffsetDelta, l.end)
		}
		if _, err := l.write(b); err != nil {
			return count, err
		}
		batches = rest
		count++
	}
	return count, nil
}

// write puts a batch at the log's end. Base offset and leader epoch are taken from b, the rest from its bytes.
func (l *Log) write(b Batch) (Batch, error) {
	s, err := l.active(b)
	if err != nil {
		return b, err
	}
	var head [atMagic]byte
	binary.BigEndian.PutUint64(head[atBaseOffset:], uint64(b.BaseOffset))
	copy(head[atLength:], b.Bytes[atLength:atLeaderEpoch])
	binary.BigEndian.PutUint32(head[atLeaderEpoch:], uint32(b.LeaderEpoch))
	if err := l.store.Append(s.base, head[:], b.Bytes[atMagic:]); err != nil {
		return b, fmt.Errorf("append at %d: %w", b.BaseOffset, err)
	}
	s.enter(b, l.cfg.IndexIntervalBytes)
	before := l.end
	l.end = b.NextOffset()
	l.took(before)
	l.beginEpoch(b.LeaderEpoch, b.BaseOffset)
	l.remember(b)
	if b.Bytes, err = l.store.Read(s.base, s.size-len(b.Bytes), s.size); err != nil {
		return b, fmt.Errorf("read back what was appended at %d: %w", b.BaseOffset, err)
	}
	return b, nil
}

// active returns the segment that takes a batch, a new one where the newest is full or old (Kafka: LogSegment.shouldRoll).
func (l *Log) active(b Batch) (*segment, error) {
	if n := len(l.segments); n > 0 {
		s := &l.segments[n-1]
		old := l.cfg.SegmentMs > 0 && s.firstMs >= 0 && b.MaxTimestampMs-s.firstMs > l.cfg.SegmentMs
		if s.size == 0 || s.size+len(b.Bytes) <= l.cfg.SegmentBytes && !old {
			return s, nil
		}
	}
	if err := l.roll(); err != nil {
		return nil, err
	}
	return &l.segments[len(l.segments)-1], nil
}

// note has the store keep what the segments do not say. A Store that cannot tells its host so; the log goes on without.
func (l *Log) note() { _ = l.store.Note(l.notes()) }

func (l *Log) notes() Notes { return Notes{l.start, l.cleaned, l.epochs} }

// roll begins a new segment at the end.
func (l *Log) roll() error {
	if err := l.store.Create(l.end); err != nil {
		return fmt.Errorf("new segment at %d: %w", l.end, err)
	}
	l.segments = append(l.segments, segment{base: l.end, maxMs: noTimestamp})
	return nil
}

// enter notes a batch, written at the segment's end, in its figures and now and then in its index.
func (s *segment) enter(b Batch, interval int) {
	if s.size == 0 {
		s.firstMs = b.MaxTimestampMs
	}
	if len(s.index) == 0 || s.size-s.indexed >= interval {
		s.index = append(s.index, indexEntry{b.BaseOffset, s.size, s.maxMs})
		s.indexed = s.size
	}
	s.size += len(b.Bytes)
	if b.MaxTimestampMs > s.maxMs {
		s.maxMs, s.maxMsOffset = b.MaxTimestampMs, b.LastOffset()
	}
}

// Clone returns a copy that goes its own way. Bytes are shared until one of them is cut. It panics where the Store
// cannot be copied.
func (l *Log) Clone() *Log {
	c := *l
	if c.store = l.store.Clone(); c.store == nil {
		panic(fmt.Sprintf("log.Clone: a %T cannot be copied", l.store))
	}
	c.segments = make([]segment, len(l.segments))
	for i, s := range l.segments {
		s.index = slices.Clip(s.index)
		c.segments[i] = s
	}
	c.epochs = slices.Clip(l.epochs)
	c.cleaning = l.cleaning.clone()
	c.producers = maps.Clone(l.producers)
	c.open, c.ended, c.aborted = slices.Clip(l.open), slices.Clip(l.ended), slices.Clip(l.aborted)
	return &c
}
