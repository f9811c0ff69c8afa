package log

import "fmt"

// Store keeps the bytes of one log's segments. A segment is named by the offset at which it began; only the newest one
// grows. What Read gives out is shared and must never change afterwards, whatever is appended or cut off later.
// An error of any method means that the disk failed, and the replica with it (Kafka: KAFKA_STORAGE_ERROR).
type Store interface {
	// Create begins an empty segment.
	Create(base int64) error
	// Append writes head and rest, one batch, at the end of a segment.
	Append(base int64, head, rest []byte) error
	// Read returns the bytes of a segment from one position up to another.
	Read(base int64, from, to int) ([]byte, error)
	// Truncate cuts a segment to size bytes.
	Truncate(base int64, size int) error
	// Remove forgets a segment.
	Remove(base int64) error
	// Clone returns a copy that goes its own way. A Store that cannot be copied returns nil.
	Clone() Store
}

// Memory is a Store in memory. A copy shares the bytes of its original until one of them writes over the end.
type Memory struct {
	segments []memorySegment
}

type memorySegment struct {
	base int64
	data []byte
}

// NewMemory returns an empty Store in memory.
func NewMemory() *Memory { return &Memory{} }

func (m *Memory) segment(base int64) *memorySegment {
	for i := len(m.segments) - 1; i >= 0; i-- {
		if m.segments[i].base == base {
			return &m.segments[i]
		}
	}
	panic(fmt.Sprintf("log.Memory: no segment begins at %d", base))
}

// Create begins an empty segment.
func (m *Memory) Create(base int64) error {
	m.segments = append(m.segments, memorySegment{base: base})
	return nil
}

// Append writes at the end of a segment. Bytes that were given out stay as they are: writing goes on behind them.
func (m *Memory) Append(base int64, head, rest []byte) error {
	s := m.segment(base)
	s.data = append(append(s.data, head...), rest...)
	return nil
}

// Read returns a part of a segment, without copying.
func (m *Memory) Read(base int64, from, to int) ([]byte, error) {
	return m.segment(base).data[from:to:to], nil
}

// Truncate cuts a segment. The capacity is cut too, so that the next Append moves to fresh memory and does not write
// over bytes that somebody still reads.
func (m *Memory) Truncate(base int64, size int) error {
	s := m.segment(base)
	s.data = s.data[:size:size]
	return nil
}

// Remove forgets a segment.
func (m *Memory) Remove(base int64) error {
	for i := range m.segments {
		if m.segments[i].base == base {
			m.segments = append(m.segments[:i:i], m.segments[i+1:]...)
			return nil
		}
	}
	return nil
}

// Clone shares all bytes. The copy has no spare capacity, so it moves to fresh memory before it writes; the original
// goes on writing behind what the copy sees.
func (m *Memory) Clone() Store {
	c := &Memory{segments: make([]memorySegment, len(m.segments))}
	for i, s := range m.segments {
		c.segments[i] = memorySegment{s.base, s.data[:len(s.data):len(s.data)]}
	}
	return c
}
