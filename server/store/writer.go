package store

import (
	"fmt"
	"slices"
	"sort"

	"grouplab/coordinator/log"
)

// Where the host has a Wake, appends are written beside the goroutine that owns the logs, by one writer. It takes everything
// that gathered while it wrote the last: neighbours in one write, then, with Always, one fsync for all (group commit). What
// came of it is told by Moved.

// write is a batch for the writer: a part of a tail's block, whose place in the segment is at.
type write struct {
	s        *segment
	at       int
	block    []byte
	from, to int
}

// Behind tells whether so much waits for the writer that the host should append no more for clients until Moved tells of
// something: what is appended all the same is taken.
func (d *Disk) Behind() bool {
	if d.cfg.Wake == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting+d.stagedBytes > d.cfg.MostWaiting
}

// stage keeps an append, which is the end of the tail already, for the next Start.
func (p *partition) stage(s *segment, data []byte) {
	d, last := p.d, &p.tail.blocks[len(p.tail.blocks)-1]
	if len(p.staged) == 0 {
		d.staged = append(d.staged, p)
	}
	p.given++
	p.staged = append(p.staged, write{s, s.size, last.data, len(last.data) - len(data), len(last.data)})
	s.size += len(data)
	d.stagedBytes += len(data)
}

// Start hands the writer what was appended. The host calls it when it has nothing more to append for now.
func (d *Disk) Start() {
	if len(d.staged) == 0 {
		return
	}
	d.mu.Lock()
	for _, p := range d.staged {
		if len(p.queue) == 0 {
			d.queue = append(d.queue, p)
			p.queue, p.staged = p.staged, p.queue
		} else {
			p.queue = append(p.queue, p.staged...)
		}
		clear(p.staged)
		p.staged = p.staged[:0]
	}
	d.waiting += d.stagedBytes
	d.mu.Unlock()
	clear(d.staged)
	d.staged, d.stagedBytes = d.staged[:0], 0
	select {
	case d.ring <- struct{}{}:
	default:
	}
}

// drain waits until the writer has nothing to do.
func (d *Disk) drain() {
	if d.cfg.Wake == nil {
		return
	}
	d.Start()
	d.mu.Lock()
	for d.waiting > 0 {
		d.written.Wait()
	}
	d.mu.Unlock()
}

// await waits until the writer has nothing to do for a partition.
func (p *partition) await() {
	if p.d.cfg.Wake == nil {
		return
	}
	if len(p.staged) > 0 {
		p.d.Start()
	}
	p.d.mu.Lock()
	for len(p.queue) > 0 || p.writing {
		p.d.written.Wait()
	}
	p.d.mu.Unlock()
}

// has tells whether a segment's file has everything up to a position.
func (p *partition) has(s *segment, to int) bool {
	if p.d.cfg.Wake == nil {
		return true
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	return to <= s.kept
}

// pending copies what the writer has not written yet of a part of a segment into data, which begins at from, and returns how
// much of data comes before that, and must be read. Where an append has failed, that is all: what follows is nowhere.
func (p *partition) pending(s *segment, from int, data []byte) (unread int) {
	if p.d.cfg.Wake == nil {
		return len(data)
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	at, end := max(from, min(s.kept, from+len(data))), from+len(data)
	unread = at - from
	for _, list := range [][]write{p.inHand, p.queue, p.staged} { // in the order of the log
		i := sort.Search(len(list), func(i int) bool { return list[i].s.base > s.base || list[i].s == s && list[i].end() > at })
		for ; i < len(list) && list[i].s == s && list[i].at <= at && at < end; i++ {
			w := &list[i]
			at += copy(data[at-from:], w.block[w.from+at-w.at:w.to])
		}
	}
	if at < end {
		return len(data)
	}
	return unread
}

// end is where a write ends in its segment.
func (w *write) end() int { return w.at + w.to - w.from }

// Moved tells the replicas whose appends were written, or could not be, since it was asked last.
func (d *Disk) Moved(visit func(at log.Replica)) {
	d.mu.Lock()
	moved := d.moved
	d.moved = nil
	for _, p := range moved {
		p.moved = false
	}
	d.mu.Unlock()
	for _, p := range moved {
		if d.parts[placeOf(p.at)] == p {
			visit(p.at)
		}
	}
}

// writeOn is the writer's life. It ends with nothing left to write.
func (d *Disk) writeOn() {
	for {
		select {
		case <-d.ring:
		case <-d.stop:
			return
		}
		for d.writeAll() {
		}
	}
}

// handful is what the writer has in hand of one partition.
type handful struct {
	p      *partition
	writes []write
	done   int
	err    error
}

// writeAll writes everything that has gathered, and tells of it. It reports false where there was nothing.
func (d *Disk) writeAll() bool {
	d.mu.Lock()
	hands, bytes := make([]handful, len(d.queue)), 0
	for i, p := range d.queue {
		hands[i] = handful{p: p, writes: p.queue, err: p.failure}
		p.queue, p.inHand, p.writing = nil, p.queue, true
	}
	d.queue = d.queue[:0]
	broken := d.broken
	d.mu.Unlock()
	if len(hands) == 0 {
		return false
	}
	for i := range hands {
		h := &hands[i]
		for _, w := range h.writes {
			bytes += w.to - w.from
		}
		if h.err == nil {
			h.err = broken
		}
		if h.err == nil {
			h.write()
		}
	}
	if d.cfg.Flush == Always {
		if err := d.Sync(); err != nil { // nobody knows which of them are on the disk
			for i := range hands {
				hands[i].done, hands[i].err = 0, err
			}
		}
	}
	d.mu.Lock()
	for i := range hands {
		d.settled(&hands[i])
	}
	d.waiting -= bytes
	d.written.Broadcast()
	d.mu.Unlock()
	d.cfg.Wake()
	return true
}

// write writes what is in hand, neighbours together; where that fails, one by one up to the first that does not fit.
func (h *handful) write() {
	for h.done < len(h.writes) && h.err == nil {
		first, n := h.writes[h.done], h.done+1
		to := first.to
		for ; n < len(h.writes) && h.writes[n].follows(first, to); n++ {
			to = h.writes[n].to
		}
		block := h.writes[n-1].block
		err := h.p.put(first.s, first.at, block[first.from:to])
		if err != nil && n > h.done+1 {
			n = h.done + 1
			err = h.p.put(first.s, first.at, first.block[first.from:first.to])
		}
		if h.err = err; err == nil {
			h.done = n
			h.p.d.touched(first.s, "")
		}
	}
	if h.err != nil {
		h.err = h.p.d.failed(h.p, "append", h.err)
	} else {
		h.p.d.works()
	}
}

// follows tells whether a write goes on where another one in the same block ended.
func (w *write) follows(first write, to int) bool {
	return w.s == first.s && w.from == to && w.at == first.at+to-first.from && &w.block[0] == &first.block[0]
}

// settled notes what came of what was in hand. Disk.mu is held.
func (d *Disk) settled(h *handful) {
	p := h.p
	for _, w := range h.writes[:h.done] {
		w.s.kept = w.end()
	}
	p.writing, p.inHand = false, nil
	p.kept += int64(h.done)
	if h.err != nil && p.failure == nil {
		p.failure = h.err
	}
	if !p.moved {
		p.moved = true
		d.moved = append(d.moved, p)
	}
}

// beside is a partition whose appends are written beside the goroutine that owns its log.
type beside struct{ *partition }

var _ log.Beside = beside{}

// Kept tells how many appends are written, and why no more will be.
func (p beside) Kept() (appends int64, err error) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	return p.kept, p.failure
}

// Await waits for the writer.
func (p beside) Await() { p.await() }

// Undo forgets what could not be written, and what was to follow it.
func (p beside) Undo() {
	p.await()
	p.d.mu.Lock()
	p.failure, p.kept = nil, p.given
	for _, s := range p.segments {
		s.size = s.kept
	}
	p.d.mu.Unlock()
	p.tail = tail{}
}

// Size is how long a segment is.
func (p beside) Size(base int64) int {
	i := slices.IndexFunc(p.segments, func(s *segment) bool { return s.base == base })
	if i < 0 {
		panic(fmt.Sprintf("store: no segment of %s begins at %d", p.name, base))
	}
	return p.segments[i].size
}
