package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"grouplab/coordinator/log"
)

// partition is one broker's copy of a partition: a folder of segments.
type partition struct {
	d    *Disk
	at   log.Replica
	name string
	dir  string
	// made is set once the folder is there.
	made     bool
	segments []*segment // by base
	notes    log.Notes
	tail     tail // of the newest segment
	// given counts the appends; staged are those that the writer was not given yet.
	given  int64
	staged []write
	swap   *swapping // the compacted segment that is on its way, nil where none is

	// The rest is under Disk.mu: the appends that the writer was given and has not begun, those that it has in hand, whether it
	// has any, how many it is done with, why it does not write more, and whether Disk.moved has the partition.
	queue   []write
	inHand  []write
	writing bool
	kept    int64
	failure error
	moved   bool
}

var _ log.Store = (*partition)(nil)

// segment is a file of a log. size is where its log ends in it, kept, under Disk.mu, where the file does.
type segment struct {
	base  int64
	path  string
	size  int
	kept  int
	dirty bool // under Disk.mu: it is in Disk.dirty
}

func (p *partition) newSegment(base int64, size int) *segment {
	return &segment{base: base, path: filepath.Join(p.dir, segmentName(base)), size: size, kept: size}
}

func segmentName(base int64) string { return fmt.Sprintf("%020d.log", base) }

func (p *partition) segment(base int64) *segment {
	for i := len(p.segments) - 1; i >= 0; i-- {
		if p.segments[i].base == base {
			return p.segments[i]
		}
	}
	panic(fmt.Sprintf("store: no segment of %s begins at %d", p.name, base))
}

// Create begins an empty segment, and the folder with the first one.
func (p *partition) Create(base int64) error {
	err := p.d.usable()
	if err == nil {
		err = p.make()
	}
	s := p.newSegment(base, 0)
	if err == nil {
		p.d.files.drop(s.path)
		_, err = p.d.files.get(s.path, true)
	}
	if err != nil {
		return p.d.failed(p, "a new segment", err)
	}
	p.segments = append(p.segments, s)
	p.tail = tail{}
	p.d.touched(s, p.dir)
	return nil
}

// Append writes a batch behind the newest segment's last, or stages it for the writer. What is written is in the operating
// system's hands: it outlives the process, but not the machine.
func (p *partition) Append(base int64, head, rest []byte) error {
	if err := p.d.usable(); err != nil {
		return p.d.failed(p, "append", err)
	}
	s := p.segment(base)
	data := p.tail.add(s.size, head, rest)
	if p.d.cfg.Wake != nil {
		p.stage(s, data)
		return nil
	}
	if err := p.put(s, s.size, data); err != nil {
		p.tail.cut(s.size)
		return p.d.failed(p, "append", err)
	}
	s.size += len(data)
	s.kept = s.size
	p.d.works()
	p.d.touched(s, "")
	return nil
}

// put writes at the end of a segment's file.
func (p *partition) put(s *segment, at int, data []byte) error {
	return p.d.files.use(s.path, func(f *os.File) error {
		n, err := p.d.io.write(f, data, int64(at))
		if err != nil && n > 0 { // a part of a batch would be cut at the next start anyway
			_ = f.Truncate(int64(at))
		}
		return err
	})
}

// Read returns a part of a segment. What was written last, or is still to be written, comes from memory.
func (p *partition) Read(base int64, from, to int) ([]byte, error) {
	s := p.segment(base)
	if from < 0 || from > to || to > s.size {
		panic(fmt.Sprintf("store: segment %d of %s has %d bytes, asked for %d to %d", base, p.name, s.size, from, to))
	}
	if from == to {
		return nil, nil
	}
	if s == p.segments[len(p.segments)-1] {
		if data := p.tail.read(from, to); data != nil {
			return data, nil
		}
	}
	data := make([]byte, to-from)
	unread := p.pending(s, from, data)
	if unread == 0 {
		return data, nil
	}
	err := p.d.files.use(s.path, func(f *os.File) error { _, err := f.ReadAt(data[:unread], int64(from)); return err })
	if err != nil {
		return nil, p.d.failed(p, "read", err)
	}
	return data, nil
}

// Truncate cuts a segment.
func (p *partition) Truncate(base int64, size int) error {
	p.await()
	s := p.segment(base)
	if size == s.size {
		return nil
	}
	if err := p.d.files.use(s.path, func(f *os.File) error { return f.Truncate(int64(size)) }); err != nil {
		return p.d.failed(p, "cut", err)
	}
	s.size, s.kept = size, size
	p.tail.cut(size)
	p.d.touched(s, "")
	return nil
}

// Remove deletes a segment.
func (p *partition) Remove(base int64) error {
	s := p.segment(base)
	if !p.has(s, s.size) {
		p.await()
	}
	if err := p.remove(s.path); err != nil {
		return p.d.failed(p, "delete a segment", err)
	}
	if s == p.segments[len(p.segments)-1] {
		p.tail = tail{}
	}
	p.segments = slices.DeleteFunc(p.segments, func(o *segment) bool { return o == s })
	p.d.touched(nil, p.dir)
	return nil
}

// unlink does what takes a file's name away. The file itself, which may be large, goes when its last user closes it: beside the
// goroutine that owns the logs.
func (p *partition) unlink(path string, do func() error) error {
	user, _ := os.Open(path) // whoever may not read it pays for it
	p.d.files.drop(path)
	err := do()
	if user != nil {
		p.d.work.Go(func() { user.Close() })
	}
	return err
}

func (p *partition) remove(path string) error {
	err := p.unlink(path, func() error { return os.Remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Clone is not to be had: two logs cannot write to one folder.
func (p *partition) Clone() log.Store { return nil }

// make makes the folder. One that is there already is of a topic that is gone.
func (p *partition) make() error {
	if p.made {
		return nil
	}
	if p.d.cfg.Ready != nil {
		if err := p.d.cfg.Ready(); err != nil {
			return err
		}
	}
	if err := p.d.stray(p.dir); err != nil {
		return err
	}
	b := p.d.broker(p.at.Broker)
	if err := b.make(); err != nil {
		return err
	}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	err := p.d.replace(filepath.Join(p.dir, partitionMetadata), topicMetadata(p.at.TopicID))
	if err == nil {
		err = p.d.replace(filepath.Join(p.dir, leaderEpochs), epochLines(p.notes.Epochs))
	}
	if err != nil {
		_ = os.RemoveAll(p.dir)
		return err
	}
	p.made = true
	p.d.touched(nil, b.dir)
	return nil
}

// tail is the end of a segment in memory: what followers and most consumers read. Its blocks are never written over.
type tail struct {
	blocks []block
}

// block begins at a position of its segment. Its capacity beyond its length is nobody else's.
type block struct {
	at   int
	data []byte
}

const (
	smallestBlock = 1 << 10
	largestBlock  = 64 << 10
	keptBlocks    = 2
)

// add puts a batch behind what is there, at a position, and returns it as one piece.
func (t *tail) add(at int, head, rest []byte) []byte {
	need, last := len(head)+len(rest), len(t.blocks)-1
	if last >= 0 && t.blocks[last].at+len(t.blocks[last].data) != at {
		*t, last = tail{}, -1
	}
	if last < 0 || cap(t.blocks[last].data)-len(t.blocks[last].data) < need {
		room := smallestBlock
		if last >= 0 {
			room = min(2*max(cap(t.blocks[last].data), smallestBlock), largestBlock)
		}
		kept := t.blocks[max(0, len(t.blocks)-keptBlocks+1):]
		t.blocks = append(slices.Clone(kept), block{at, make([]byte, 0, max(room, need))})
		last = len(t.blocks) - 1
	}
	b := &t.blocks[last]
	from := len(b.data)
	b.data = append(append(b.data, head...), rest...)
	return b.data[from:len(b.data):len(b.data)]
}

// read returns a part of the segment, nil where not all of it is here.
func (t *tail) read(from, to int) []byte {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if b := &t.blocks[i]; from >= b.at {
			if to <= b.at+len(b.data) {
				return b.data[from-b.at : to-b.at : to-b.at]
			}
			if i+1 < len(t.blocks) && to <= t.blocks[i+1].at+len(t.blocks[i+1].data) {
				next := &t.blocks[i+1]
				return append(append(make([]byte, 0, to-from), b.data[from-b.at:]...), next.data[:to-next.at]...)
			}
			return nil
		}
	}
	return nil
}

// cut forgets what lies behind a position. Bytes that were given out stay as they are.
func (t *tail) cut(size int) {
	for n := len(t.blocks); n > 0; n-- {
		b := &t.blocks[n-1]
		if b.at < size {
			b.data = b.data[:min(size-b.at, len(b.data)):min(size-b.at, len(b.data))]
			return
		}
		t.blocks = t.blocks[:n-1]
	}
}
