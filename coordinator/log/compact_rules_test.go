package log

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What the cleaner keeps though its records may go, and for how long (LogCleaner.cleanInto).
func TestCompactKeepsEmptyBatches(t *testing.T) {
	plain := func(records ...Record) []byte { return Encode(NoProducer, 0, records) }
	offsets := func(epoch int16, records ...Record) []byte { // as a group coordinator writes them: without sequence numbers
		return Encode(Producer{9, epoch, -1}, Transactional, records)
	}
	end := plain(keyed(0, "end", "x"))
	for _, x := range []struct {
		name    string
		batches [][]byte
		later   [][]byte
		c       Compaction
		left    []string // after each compaction; later is appended before the second one
	}{
		{"the last batch below the active segment tells how far the log goes",
			[][]byte{plain(keyed(0, "a", "1")), offsets(0, keyed(0, "b", "1")), offsets(0, keyed(0, "c", "1")), mark(9, 1, false, 0), plain(Record{Value: []byte("no key")}), end},
			[][]byte{plain(keyed(0, "a", "2"))}, Compaction{Below: 99},
			[]string{"0 a=1, 3 marker, 4..4 empty, 5 end=x", "0 a=1, 3 marker, 5 end=x, 6 a=2", "0 a=1, 3..3 empty, 5 end=x, 6 a=2"}},
		{"the last batch of a producer's epoch, though it has no sequence numbers, until there is a newer one",
			[][]byte{offsets(0, keyed(0, "a", "1")), offsets(0, keyed(0, "a", "2")), mark(9, 0, true, 0), plain(keyed(0, "a", "3")), end},
			[][]byte{offsets(0, keyed(0, "b", "1")), mark(9, 0, true, 0), end}, Compaction{Below: 99},
			[]string{"1..1 empty, 2 marker, 3 a=3, 4 end=x", "2 marker, 3 a=3, 4 end=x, 5 b=1, 6 marker, 7 end=x",
				"2 marker, 3 a=3, 4 end=x, 5 b=1, 6 marker, 7 end=x", "3 a=3, 4 end=x, 5 b=1, 6 marker, 7 end=x"}},
		{"an aborted transaction's marker that brought the epoch, as long as the producer is remembered",
			[][]byte{offsets(0, keyed(0, "a", "1")), mark(9, 1, false, 0), end}, [][]byte{end}, Compaction{Below: 99},
			[]string{"1 marker, 2 end=x", "1 marker, 2 end=x, 3 end=x", "1..1 empty, 2 end=x, 3 end=x"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			l := small(t, x.batches...)
			for i, want := range x.left {
				if i == 1 {
					for _, b := range x.later {
						if _, err := l.Append(parsed(t, b), 0); err != nil {
							t.Fatal(err)
						}
					}
				}
				compact(t, l, x.c)
				if got := dump(t, l); got != want {
					t.Errorf("compaction %d left %q, want %q", i, got, want)
				}
			}
		})
	}
	// A producer that is forgotten needs nothing any more.
	l := small(t, offsets(0, keyed(0, "a", "1")), mark(9, 1, false, 0), end, end)
	l.ExpireProducers(1)
	for range 3 {
		compact(t, l, Compaction{Below: 99})
	}
	if got := dump(t, l); got != "2 end=x, 3 end=x" {
		t.Errorf("left %q", got)
	}
}

// A transaction whose marker lies behind what may be compacted is decided all the same; one that is open holds up what
// lies behind its beginning, whatever else its producer has written.
func TestCompactTransactionsThatEndLater(t *testing.T) {
	txn := func(producer int64, records ...Record) []byte {
		return Encode(Producer{producer, 0, -1}, Transactional, records)
	}
	plain := Encode(NoProducer, 0, []Record{keyed(0, "a", "1"), keyed(0, "b", "1"), keyed(0, "c", "1")})
	first := [][]byte{plain, txn(7, keyed(0, "a", "2")), txn(8, keyed(0, "b", "2"))}
	size := 0
	for _, b := range first {
		size += len(b)
	}
	for _, x := range []struct {
		active  [][]byte // what the segment holds that is written to
		removed string
	}{
		{[][]byte{mark(7, 0, true, 0), mark(8, 0, false, 0)}, "0 superseded by 3, 4 aborted transaction"},
		{[][]byte{mark(7, 0, true, 0), mark(8, 0, true, 0), txn(7, keyed(0, "c", "2"))}, "0 superseded by 3, 1 superseded by 4"},
		{[][]byte{mark(7, 0, false, 0), mark(8, 0, false, 0), txn(7, keyed(0, "c", "2")), txn(8, keyed(0, "c", "2"))}, "3 aborted transaction, 4 aborted transaction"},
		{[][]byte{mark(7, 0, true, 0)}, ""}, // 8 is open
	} {
		l := New(NewMemory(), Config{SegmentBytes: size})
		for _, b := range append(slices.Clone(first), x.active...) {
			if _, err := l.Append(parsed(t, b), 0); err != nil {
				t.Fatal(err)
			}
		}
		if len(l.segments) < 2 || l.segments[1].base != 5 {
			t.Fatalf("segments %+v", l.segments)
		}
		if got := compact(t, l, Compaction{Below: 5}); got != x.removed {
			t.Errorf("removed %q, want %q", got, x.removed)
		}
	}
}

// min.compaction.lag.ms is a question to what was not compacted before (LogCleanerManager.cleanableOffsets).
func TestCompactMinLagIsOfDirtySegments(t *testing.T) {
	batch := func(ms int64, key string) []byte { return Encode(NoProducer, 0, []Record{keyed(ms, key, "1")}) }
	l := small(t, batch(90, "a"), batch(10, "b"), batch(10, "a"), batch(10, "end"))
	if got := compact(t, l, Compaction{Below: 99, NowMs: 100, MinLagMs: 50}); got != "" {
		t.Errorf("too young, and gone: %s", got)
	}
	if got := compact(t, l, Compaction{Below: 99, NowMs: 100}); got != "0 superseded by 2" {
		t.Errorf("removed %q", got)
	}
	l = small(t, batch(90, "a"), batch(10, "b"), batch(10, "c"), batch(10, "b"), batch(10, "end"))
	l.cleaned = 1
	if got := compact(t, l, Compaction{Below: 99, NowMs: 100, MinLagMs: 50}); got != "1 superseded by 3" {
		t.Errorf("behind a young segment that was compacted before: %q", got)
	}
}

// Neighbours become one segment where they were small enough together before (LogCleaner.groupSegmentsBySize).
func TestCompactGroupsSegments(t *testing.T) {
	batch := func(key string) []byte { return Encode(NoProducer, 0, []Record{keyed(0, key, "1")}) }
	l := New(NewMemory(), Config{SegmentBytes: 2 * len(batch("a"))})
	for _, key := range []string{"a", "a", "a", "b", "b", "b", "c", "d", "end"} {
		if _, err := l.Append(parsed(t, batch(key)), 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"[0 2 4 6 8]", "[0 6 8]"} {
		compact(t, l, Compaction{Below: 99})
		var bases []int64
		for _, s := range l.segments {
			bases = append(bases, s.base)
		}
		if got := fmt.Sprint(bases); got != want {
			t.Errorf("segments %s, want %s: %s", got, want, dump(t, l))
		}
	}
}

// segment.ms: the time of a segment is that of its first batch, and what is older than that never begins a new one.
func TestSegmentsByTime(t *testing.T) {
	l := New(NewMemory(), Config{SegmentMs: 100})
	for _, ms := range []int64{1000, 1100, 900, 1101, 1150, 5000} {
		if _, err := l.Append(parsed(t, Encode(NoProducer, 0, []Record{keyed(ms, "a", "1")})), 0); err != nil {
			t.Fatal(err)
		}
	}
	var bases []int64
	for _, s := range l.segments {
		bases = append(bases, s.base)
	}
	if got := fmt.Sprint(bases); got != "[0 3 5]" {
		t.Errorf("segments begin at %s", got)
	}
	if got := l.Dirty(Compaction{Below: 99}).OldestMs; got != 1000 {
		t.Errorf("the oldest is of %d", got)
	}
	if err := l.Truncate(4); err != nil || l.segments[1].firstMs != 1101 {
		t.Errorf("cut, the second segment is of %d, %v", l.segments[1].firstMs, err)
	}
}

// A reader of committed records leaves out what a producer wrote from the beginning of an aborted transaction up to its
// marker. When compaction has taken both, it must not be told of that transaction: it would leave out the next one.
func TestCompactForgetsAbortedTransactions(t *testing.T) {
	txn := func(key, value string) []byte {
		return Encode(Producer{9, 0, -1}, Transactional, []Record{keyed(0, key, value)})
	}
	end := Encode(NoProducer, 0, []Record{keyed(0, "end", "x")})
	l := small(t, txn("a", "1"), mark(9, 0, false, 0), txn("b", "1"), mark(9, 0, true, 0), end)
	copied := l.Clone()
	for i, want := range []struct{ left, aborted string }{
		{"1 marker, 2 b=1, 3 marker, 4 end=x", "[{9 0}]"}, // the marker is there, and ends what is left out
		{"1 marker, 2 b=1, 3 marker, 4 end=x", "[]"},
		{"2 b=1, 3 marker, 4 end=x", "[]"},
	} {
		compact(t, l, Compaction{Below: 99})
		if got := dump(t, l); got != want.left {
			t.Errorf("compaction %d left %q, want %q", i, got, want.left)
		}
		if got := fmt.Sprint(l.Aborted(0, 99)); got != want.aborted {
			t.Errorf("after compaction %d a reader is told of %s, want %s", i, got, want.aborted)
		}
	}
	if got := fmt.Sprint(copied.Aborted(0, 99)); got != "[{9 0}]" {
		t.Errorf("a copy that was not compacted tells of %s", got)
	}
}

// failing is a store that refuses to swap, or to read, after a while.
type failing struct {
	*Memory
	swaps, reads int
}

func (f *failing) Swap(bases []int64, blocks [][]byte) (done bool, err error) {
	if f.swaps--; f.swaps < 0 {
		return false, fmt.Errorf("no room for %v", bases)
	}
	return f.Memory.Swap(bases, blocks)
}

func (f *failing) Read(base int64, from, to int) ([]byte, error) {
	if f.reads--; f.reads < 0 {
		return nil, fmt.Errorf("segment %d cannot be read", base)
	}
	return f.Memory.Read(base, from, to)
}

// A compaction that fails half way leaves what it has done and what it has not: every record that counts can be read, and
// the next one goes on from the beginning.
func TestCompactOnAFailingDisk(t *testing.T) {
	const never = 1 << 30
	plain := func(key string) []byte {
		return Encode(NoProducer, 0, []Record{keyed(0, key, "1"), keyed(0, key, "2")})
	}
	for _, trouble := range []failing{{swaps: 0, reads: never}, {swaps: 1, reads: never}, {swaps: never, reads: 0}, {swaps: never, reads: 5}, {swaps: never, reads: 8}} {
		store := &failing{NewMemory(), never, never}
		l := New(store, Config{SegmentBytes: 1})
		for _, key := range []string{"a", "b", "c", "d"} {
			if _, err := l.Append(parsed(t, plain(key)), 0); err != nil {
				t.Fatal(err)
			}
		}
		store.swaps, store.reads = trouble.swaps, trouble.reads
		if _, err := compacted(l, Compaction{Below: 99}); err == nil || !strings.Contains(err.Error(), "segment") {
			t.Errorf("%d swaps, %d reads: %v", trouble.swaps, trouble.reads, err)
		}
		store.swaps, store.reads = never, never
		left := dump(t, l)
		for _, record := range []string{"1 a=2", "3 b=2", "5 c=2", "6 d=1", "7 d=2"} {
			if !strings.Contains(left, record) {
				t.Errorf("%d swaps, %d reads: %s is not in %s", trouble.swaps, trouble.reads, record, left)
			}
		}
		if l.cleaned != 0 || len(l.segments) != 4 {
			t.Errorf("cleaned up to %d, %d segments", l.cleaned, len(l.segments))
		}
		if _, err := compacted(l, Compaction{Below: 99}); err != nil || dump(t, l) != "1 a=2, 3 b=2, 5 c=2, 6 d=1, 7 d=2" {
			t.Errorf("again: %v, %s", err, dump(t, l))
		}
	}
}
