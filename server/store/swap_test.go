package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"grouplab/coordinator/log"
)

// compactable is a log of four segments on a disk that writes beside, all of it written, and its compaction, ready to swap.
func compactable(t *testing.T, said *lines) (*Disk, *log.Log, string) {
	dir := t.TempDir()
	d, _ := besides(t, dir, Never, said)
	l := d.New(orders, log.Config{SegmentBytes: 2 * len(batchOf("a").Bytes)})
	for _, v := range []string{"a", "b", "a", "b", "a", "c", "d", "e"} {
		add(t, l, v)
	}
	d.drain()
	if err := l.Keep(); err != nil {
		t.Fatal(err)
	}
	l.BeginCompaction(log.Compaction{Below: l.EndOffset()})
	return d, l, filepath.Join(dir, "brokers/1/orders-0")
}

// compact goes on until the compaction is done or waits.
func compact(t *testing.T, l *log.Log) log.Progress {
	t.Helper()
	p, err := l.Compact(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func offsets(l *log.Log) (list []int64) {
	l.Each(l.StartOffset(), l.EndOffset(), func(b log.Batch) bool { list = append(list, b.BaseOffset); return true })
	return list
}

// TestSwapWaitsForNobody: while the disk takes a compacted segment, the log is read as it was, and appended to; then the segment
// is there.
func TestSwapWaitsForNobody(t *testing.T) {
	d, l, _ := compactable(t, &lines{})
	held, begun := make(chan struct{}), make(chan struct{}, 100)
	d.io.sync = func(f *os.File) error { begun <- struct{}{}; <-held; return f.Sync() }
	if p := compact(t, l); !p.Waits || p.Done {
		t.Fatalf("%+v, and the disk has it not yet", p)
	}
	<-begun
	for range 3 {
		if p := compact(t, l); !p.Waits {
			t.Fatalf("%+v, and the disk has it not yet", p)
		}
		add(t, l, "later")
	}
	if got := offsets(l); len(got) != 11 {
		t.Errorf("meanwhile there are batches at %v", got)
	}
	close(held)
	for l.Compacting() {
		compact(t, l)
	}
	if got := offsets(l); len(got) != 8 || got[0] != 3 {
		t.Errorf("left are batches at %v", got)
	}
}

// TestSwapIsDropped: a log that is cut while the disk takes a compacted segment keeps nothing of that, also over a start, and can
// be compacted again, whenever the cut comes.
func TestSwapIsDropped(t *testing.T) {
	for syncs := range 2 {
		d, l, folder := compactable(t, &lines{})
		held, begun := make(chan struct{}), make(chan struct{}, 100)
		d.io.sync = func(f *os.File) error {
			if len(begun) == syncs {
				begun <- struct{}{}
				<-held
			} else {
				begun <- struct{}{}
			}
			return f.Sync()
		}
		for len(begun) <= syncs {
			if p := compact(t, l); p.Done {
				t.Fatal("it is done")
			}
		}
		if err := l.Truncate(3); err != nil || l.Compacting() {
			t.Fatalf("%v, goes on: %v", err, l.Compacting())
		}
		for _, v := range []string{"x", "y", "x", "y"} {
			add(t, l, v)
		}
		d.drain()
		if err := l.Keep(); err != nil {
			t.Fatal(err)
		}
		l.BeginCompaction(log.Compaction{Below: l.EndOffset()})
		if p := compact(t, l); !p.Waits {
			t.Errorf("%+v, and the old one is beside still", p)
		}
		close(held)
		for l.Compacting() {
			compact(t, l)
		}
		want := offsets(l)
		if len(want) >= 7 {
			t.Errorf("after both there are batches at %v", want)
		}
		d.crash()
		again := opened(t, filepath.Dir(filepath.Dir(filepath.Dir(folder))), nil).mustOpen(t, orders, log.Config{})
		if got := offsets(again); len(got) != len(want) || again.EndOffset() != l.EndOffset() {
			t.Errorf("after a start there are batches at %v, not %v", got, want)
		}
	}
}

// TestSwapFails: a disk that does not take a compacted segment leaves the log as it was.
func TestSwapFails(t *testing.T) {
	said := &lines{}
	d, l, folder := compactable(t, said)
	d.io.sync = func(*os.File) error { return errors.New("no") }
	var err error
	for l.Compacting() {
		_, err = l.Compact(1 << 30)
	}
	if got := offsets(l); err == nil || len(got) != 8 {
		t.Errorf("%v; there are batches at %v", err, got)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*[np]")); len(left) != 0 { // .cleaned and .swap
		t.Errorf("left over: %v", left)
	}
	said.holds(t, 1, "a compacted segment: no")
}
