package log

import (
	"fmt"
	"slices"
	"sort"
)

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
	// Swap puts one segment with the given bytes in the place of consecutive ones, none of which is the newest. It begins
	// at the first of bases; a batch lies in one block. After a crash either the old ones or the new one are there (Kafka:
	// .cleaned and .swap files). done is false where the store still writes beside the machine: the old ones are there until
	// Swap was called again, with the same, and is done. DropSwap forgets one that is not done, if there is any.
	Swap(bases []int64, blocks [][]byte) (done bool, err error)
	DropSwap()
	// Note keeps what the segments do not say. It is called whenever that has changed; what it was given last comes back to
	// Open. Without it a log is poorer, not wrong.
	Note(n Notes) error
	// Clone returns a copy that goes its own way. A Store that cannot be copied returns nil.
	Clone() Store
}

// Replica names one broker's copy of a partition, for a host that keeps copies apart.
type Replica struct {
	Broker    int32
	Topic     string
	TopicID   [16]byte
	Partition int32
}

// Notes are what a log knows beside its segments.
type Notes struct {
	// Start is the first offset that is kept: DeleteRecords may put it into the middle of a segment. Cleaned is up to where
	// the log has been compacted.
	Start, Cleaned int64
	// Epochs are the leader epochs and where each began, in order. Those in which nothing was written are told only here.
	Epochs []EpochStart
}

// Memory is a Store in memory. A segment is a list of blocks that double in size; a batch lies in one block. A copy shares
// the blocks of its original.
type Memory struct {
	segments []memorySegment
}

type memorySegment struct {
	base   int64
	size   int
	blocks []block
}

// block is a run of bytes that begins at a position of its segment. Its capacity beyond its length is nobody else's.
type block struct {
	at   int
	data []byte
}

const (
	smallestBlock = 512
	largestBlock  = 256 << 10
)

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
	need := len(head) + len(rest)
	last := len(s.blocks) - 1
	if last < 0 || cap(s.blocks[last].data)-len(s.blocks[last].data) < need {
		room := smallestBlock
		if last >= 0 {
			room = min(2*max(cap(s.blocks[last].data), smallestBlock), largestBlock)
		}
		s.blocks = append(s.blocks, block{at: s.size, data: make([]byte, 0, max(room, need))})
		last++
	}
	b := &s.blocks[last]
	b.data = append(append(b.data, head...), rest...)
	s.size += need
	return nil
}

// Read returns a part of a segment: without copying where it lies in one block.
func (m *Memory) Read(base int64, from, to int) ([]byte, error) {
	s := m.segment(base)
	if from < 0 || from > to || to > s.size {
		panic(fmt.Sprintf("log.Memory: segment %d has %d bytes, asked for %d to %d", base, s.size, from, to))
	}
	if from == to {
		return nil, nil
	}
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].at > from }) - 1
	if b := &s.blocks[i]; to <= b.at+len(b.data) {
		return b.data[from-b.at : to-b.at : to-b.at], nil
	}
	all := make([]byte, 0, to-from)
	for at := from; at < to; i++ {
		b := &s.blocks[i]
		part := b.data[at-b.at : min(to-b.at, len(b.data))]
		all, at = append(all, part...), at+len(part)
	}
	return all, nil
}

// Truncate cuts a segment. The capacity of the block that is cut goes too, so that nothing is written over bytes that
// somebody still reads.
func (m *Memory) Truncate(base int64, size int) error {
	s := m.segment(base)
	keep := len(s.blocks)
	for keep > 0 && s.blocks[keep-1].at >= size {
		keep--
	}
	s.blocks, s.size = slices.Clone(s.blocks[:keep]), size
	if keep > 0 {
		b := &s.blocks[keep-1]
		b.data = b.data[: size-b.at : size-b.at]
	}
	return nil
}

// Remove forgets a segment.
func (m *Memory) Remove(base int64) error {
	m.segments = slices.DeleteFunc(m.segments, func(s memorySegment) bool { return s.base == base })
	return nil
}

// Swap puts one segment in the place of others. Bytes of theirs that were given out stay as they are.
func (m *Memory) Swap(bases []int64, blocks [][]byte) (done bool, err error) {
	first := slices.IndexFunc(m.segments, func(s memorySegment) bool { return s.base == bases[0] })
	if first < 0 || first+len(bases) > len(m.segments) || m.segments[first+len(bases)-1].base != bases[len(bases)-1] {
		panic(fmt.Sprintf("log.Memory: %v are not consecutive segments", bases))
	}
	swapped := memorySegment{base: bases[0]}
	for _, data := range blocks {
		swapped.blocks = append(swapped.blocks, block{swapped.size, slices.Clip(data)})
		swapped.size += len(data)
	}
	m.segments = slices.Replace(slices.Clone(m.segments), first, first+len(bases), swapped)
	return true, nil
}

// DropSwap has nothing to forget.
func (m *Memory) DropSwap() {}

// Note keeps nothing: a log in memory is never opened again.
func (m *Memory) Note(Notes) error { return nil }

// Clone shares all bytes. The copy's blocks have no spare capacity, so it begins a fresh one before it writes; the
// original goes on writing behind what the copy sees.
func (m *Memory) Clone() Store {
	c := &Memory{segments: slices.Clone(m.segments)}
	for i := range c.segments {
		s := &c.segments[i]
		s.blocks = slices.Clone(s.blocks)
		if n := len(s.blocks); n > 0 {
			s.blocks[n-1].data = slices.Clip(s.blocks[n-1].data)
		}
	}
	return c
}
