package log

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// Read returns whole batches, beginning with the one that holds offset or, where compaction has removed that one, with
// the first one behind, that lie below upTo. It stops at maxBytes, but
// where minOne is set the first batch comes whole all the same (KIP-74). It reads within one segment, so less than
// maxBytes does not mean that there is no more. An offset at the end gives nothing. An offset outside of the log panics:
// the caller answers OFFSET_OUT_OF_RANGE.
func (l *Log) Read(offset, upTo int64, maxBytes int, minOne bool) ([]byte, error) {
	if offset < l.start || offset > l.end {
		panic(fmt.Sprintf("log.Read at %d: the log has %d to %d", offset, l.start, l.end))
	}
	if offset == l.end || offset >= upTo {
		return nil, nil
	}
	s, position, length, err := l.find(offset)
	if s == nil || err != nil {
		return nil, err
	}
	size := min(max(maxBytes, 0), s.size-position)
	if size < length {
		if !minOne {
			return nil, nil
		}
		size = length
	}
	data, err := l.store.Read(s.base, position, position+size)
	if err != nil {
		return nil, fmt.Errorf("read segment %d at %d: %w", s.base, position, err)
	}
	return wholeBelow(data, upTo), nil
}

// wholeBelow cuts data behind its last whole batch below upTo.
func wholeBelow(data []byte, upTo int64) []byte {
	end := 0
	for {
		rest := data[end:]
		if len(rest) < HeaderBytes {
			return data[:end:end]
		}
		size := sizeOf(rest)
		if size > len(rest) || nextOffset(rest) > upTo {
			return data[:end:end]
		}
		end += size
	}
}

func sizeOf(batch []byte) int { return int(binary.BigEndian.Uint32(batch[atLength:])) + lengthCounts }

func nextOffset(batch []byte) int64 {
	return int64(binary.BigEndian.Uint64(batch)) + int64(int32(binary.BigEndian.Uint32(batch[atLastDelta:]))) + 1
}

// EndOf is the offset behind the last of whole batches; there is at least one.
func EndOf(batches []byte) (end int64) {
	for len(batches) >= HeaderBytes {
		end = nextOffset(batches)
		batches = batches[sizeOf(batches):]
	}
	return end
}

// find returns the segment, position and length of the batch that holds an offset below the end, or of the first one
// behind it; the segment is nil where there is none.
func (l *Log) find(offset int64) (found *segment, position, length int, err error) {
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].base > offset }) - 1
	for i = max(i, 0); i < len(l.segments); i++ {
		s := &l.segments[i]
		entry := sort.Search(len(s.index), func(i int) bool { return s.index[i].offset > offset }) - 1
		for entry = max(entry, 0); entry < len(s.index); entry++ {
			err = l.between(s, entry, func(at int, batch []byte) bool {
				if nextOffset(batch) > offset {
					found, position, length = s, at, len(batch)
				}
				return found == nil
			})
			if err != nil || found != nil {
				return found, position, length, err
			}
		}
	}
	return nil, 0, 0, nil
}

// between visits the batches from one index entry up to the next, until visit returns false.
func (l *Log) between(s *segment, entry int, visit func(position int, batch []byte) bool) error {
	return l.span(s, entry, entry+1, visit)
}

// endOf is where the batches of an index entry end.
func (s *segment) endOf(entry int) (position int) {
	if entry+1 < len(s.index) {
		return s.index[entry+1].position
	}
	return s.size
}

// span visits the batches from one index entry up to another, until visit returns false.
func (l *Log) span(s *segment, entry, upTo int, visit func(position int, batch []byte) bool) error {
	from, to := s.index[entry].position, s.endOf(upTo-1)
	data, err := l.store.Read(s.base, from, to)
	if err != nil {
		return fmt.Errorf("read segment %d at %d: %w", s.base, from, err)
	}
	for len(data) >= HeaderBytes {
		size := sizeOf(data)
		if size < HeaderBytes || size > len(data) {
			return fmt.Errorf("segment %d is damaged at %d: a batch says that it has %d bytes, %d are there", s.base, from, size, len(data))
		}
		if !visit(from, data[:size:size]) {
			return nil
		}
		data, from = data[size:], from+size
	}
	return nil
}

// Each visits the batches that hold offsets from up to to, until visit returns false.
func (l *Log) Each(from, to int64, visit func(Batch) bool) error {
	from, to = max(from, l.start), min(to, l.end)
	for from < to {
		data, err := l.Read(from, l.end, 1<<20, true)
		if err != nil || len(data) == 0 {
			return err
		}
		for len(data) > 0 {
			b, rest, err := Parse(data)
			if err != nil {
				return fmt.Errorf("a batch at or behind %d: %w", from, err)
			}
			if b.BaseOffset >= to || !visit(b) {
				return nil
			}
			from, data = b.NextOffset(), rest
		}
	}
	return nil
}

// OffsetForTime finds the first record below upTo whose timestamp is at least timestampMs (ListOffsets). ok is false
// where there is none. In a compressed batch that unpack cannot open it names the batch's first offset, so that no such
// record is missed.
func (l *Log) OffsetForTime(timestampMs, upTo int64, unpack Decompress) (offset, foundMs int64, ok bool, err error) {
	for i := range l.segments {
		s := &l.segments[i]
		if s.size == 0 || s.maxMs < timestampMs {
			continue
		}
		// Batches before the entry behind which the largest time is late enough are too early.
		entry := sort.Search(len(s.index), func(i int) bool { return s.index[i].beforeMs >= timestampMs }) - 1
		offset, foundMs, ok, err = l.timeIn(s, max(entry, 0), timestampMs, upTo, unpack)
		if ok || err != nil {
			return offset, foundMs, ok, err
		}
	}
	return -1, -1, false, nil
}

func (l *Log) timeIn(s *segment, entry int, timestampMs, upTo int64, unpack Decompress) (offset, foundMs int64, ok bool, err error) {
	visit := func(_ int, data []byte) bool {
		b := header(data)
		if b.NextOffset() > upTo {
			return false
		}
		if b.MaxTimestampMs >= timestampMs && b.LastOffset() >= l.start {
			offset, foundMs, ok, err = firstSince(b, timestampMs, l.start, unpack)
		}
		return !ok && err == nil
	}
	for ; entry < len(s.index) && !ok && err == nil; entry++ {
		if e := l.between(s, entry, visit); e != nil {
			return -1, -1, false, e
		}
	}
	return offset, foundMs, ok, err
}

func firstSince(b Batch, timestampMs, start int64, unpack Decompress) (offset, foundMs int64, ok bool, err error) {
	if b.Codec() != None && unpack == nil {
		return max(b.BaseOffset, start), b.MaxTimestampMs, true, nil
	}
	err = b.Each(unpack, func(r Record) bool {
		if r.TimestampMs >= timestampMs && r.Offset >= start {
			offset, foundMs, ok = r.Offset, r.TimestampMs, true
		}
		return !ok
	})
	return offset, foundMs, ok, err
}

// Newest finds the first record that has the largest timestamp of the whole log (ListOffsets with MAX_TIMESTAMP,
// KIP-734). ok is false where the log is empty.
func (l *Log) Newest(unpack Decompress) (offset, foundMs int64, ok bool, err error) {
	maxMs := noTimestamp
	for i := range l.segments {
		maxMs = max(maxMs, l.segments[i].maxMs)
	}
	if maxMs == noTimestamp {
		return -1, -1, false, nil
	}
	return l.OffsetForTime(maxMs, l.end, unpack)
}
