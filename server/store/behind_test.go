package store

import (
	"os"
	"strings"
	"testing"

	"grouplab/coordinator/log"
)

// TestBehind: a writer that hangs holds nobody up: what waits for it is read from memory, whatever of it, appends are taken, and
// the host is told that there are too many.
func TestBehind(t *testing.T) {
	d, moved := besides(t, t.TempDir(), Never, &lines{})
	d.cfg.MostWaiting = 20 << 20
	l := d.New(orders, log.Config{SegmentBytes: 3 << 20})
	add(t, l, "first")
	d.drain()
	held, begun := make(chan struct{}), make(chan struct{}, 1000)
	d.io.write = func(f *os.File, data []byte, at int64) (int, error) {
		begun <- struct{}{}
		<-held
		return f.WriteAt(data, at)
	}
	value := strings.Repeat("x", 400_000) // twice, as key and as value
	for i := 0; !d.Behind(); i++ {
		add(t, l, value)
		if d.Start(); i == 0 {
			<-begun // it hangs with this one in hand
		}
	}
	add(t, l, "staged")
	count, bytes := 0, 0
	if err := l.Each(0, l.EndOffset(), func(b log.Batch) bool {
		count, bytes = count+1, bytes+len(b.Bytes)
		return b.CheckCRC() == nil
	}); err != nil || count != int(l.EndOffset()) || bytes < d.cfg.MostWaiting {
		t.Errorf("while the writer hangs %d of %d batches are read, %d bytes: %v", count, l.EndOffset(), bytes, err)
	}
	if err := l.Keep(); err != nil || l.KeptOffset() != 1 {
		t.Errorf("kept to %d: %v", l.KeptOffset(), err)
	}
	close(held)
	d.Start()
	for d.Behind() || l.KeptOffset() < l.EndOffset() {
		<-moved
		if err := l.Keep(); err != nil {
			t.Fatal(err)
		}
	}
}
