package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// swapping is a compacted segment on its way to the place of others. What takes long, writing it and telling the disk, is done
// beside the goroutine that owns the logs.
type swapping struct {
	cleaned, swap string // what it is called until it is whole, and then
	named         bool   // it is called swap
	ended         chan struct{}
	err           error // once ended is closed
	dropped       bool
}

// cleanedSuffix is of files that are nothing yet.
const cleanedSuffix = ".cleaned"

// Swap puts a compacted segment in the place of others (Kafka: LocalLog.replaceSegments). It is written as .cleaned, then
// renamed to .swap, whose name says from which base to which it takes their place: from there on it counts, and a start
// after a crash ends what is left to do.
func (p *partition) Swap(bases []int64, blocks [][]byte) (done bool, err error) {
	for w := p.swap; ; w = p.swap {
		switch {
		case w == nil:
			if p.unwritten(bases) {
				return false, nil
			}
			p.beginSwap(bases, blocks)
		case !w.over():
			return false, nil
		case w.dropped:
			_ = os.Remove(w.cleaned)
			p.swap = nil
		case w.err == nil && !w.named:
			if w.err = os.Rename(w.cleaned, w.swap); w.err == nil {
				w.named = true
				w.beside(p.d, func() error { return p.d.syncPath(p.dir) })
			}
		case w.err != nil:
			p.swap = nil
			_ = os.Remove(w.cleaned)
			_ = os.Remove(w.swap)
			return false, p.d.failed(p, "a compacted segment", w.err)
		default:
			p.swap = nil
			return true, p.replace(w.swap, bases, blocks)
		}
	}
}

// unwritten tells whether the writer has something to write to one of the segments.
func (p *partition) unwritten(bases []int64) bool {
	return slices.ContainsFunc(bases, func(base int64) bool {
		s := p.segment(base)
		return !p.has(s, s.size)
	})
}

func (p *partition) beginSwap(bases []int64, blocks [][]byte) {
	w := &swapping{cleaned: filepath.Join(p.dir, fmt.Sprintf("%020d%s", bases[0], cleanedSuffix)),
		swap: filepath.Join(p.dir, fmt.Sprintf("%020d-%020d.swap", bases[0], bases[len(bases)-1]))}
	p.swap = w
	w.beside(p.d, func() error { return p.d.writeWhole(w.cleaned, blocks) })
}

// beside does the next thing, where the host can be woken, on another goroutine.
func (w *swapping) beside(d *Disk, do func() error) {
	w.ended = make(chan struct{})
	work := func() {
		w.err = do()
		close(w.ended)
	}
	if d.cfg.Wake == nil {
		work()
		return
	}
	d.work.Go(work)
}

func (w *swapping) over() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// DropSwap forgets a swap that is not done. What is beside still, the next Swap waits for.
func (p *partition) DropSwap() {
	if w := p.swap; w != nil {
		w.dropped = true
		if w.named {
			_ = os.Remove(w.swap)
		}
	}
}

// writeWhole writes a new file, down to the disk itself.
func (d *Disk) writeWhole(path string, blocks [][]byte) error {
	f, err := d.io.create(path)
	if err != nil {
		return err
	}
	at := int64(0)
	for i := 0; i < len(blocks) && err == nil; i++ {
		_, err = d.io.write(f, blocks[i], at)
		at += int64(len(blocks[i]))
	}
	if err == nil {
		err = d.io.sync(f)
	}
	return errors.Join(err, f.Close())
}

// replace removes the segments whose place a .swap takes, the first one last, and gives it its name.
func (p *partition) replace(swap string, bases []int64, blocks [][]byte) error {
	first, size := p.segment(bases[0]), 0
	for _, block := range blocks {
		size += len(block)
	}
	var err error
	for _, base := range bases[1:] {
		err = errors.Join(err, p.remove(p.segment(base).path))
	}
	if err == nil {
		err = p.unlink(first.path, func() error { return os.Rename(swap, first.path) })
	}
	if err != nil {
		return p.d.failed(p, "a compacted segment", err)
	}
	p.d.touched(nil, p.dir)
	p.segments = slices.DeleteFunc(p.segments, func(s *segment) bool { return s != first && slices.Contains(bases, s.base) })
	first.size = size
	p.d.mu.Lock()
	first.kept = size
	p.d.mu.Unlock()
	return nil
}
