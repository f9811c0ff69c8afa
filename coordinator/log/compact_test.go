package log

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// keyed is a record of a key and a value; a value of "" is a tombstone.
func keyed(ms int64, key, value string) Record {
	r := Record{TimestampMs: ms, Key: []byte(key), Value: []byte(value)}
	if value == "" {
		r.Value = nil
	}
	return r
}

// mark is a batch that ends a transaction.
func mark(producer int64, epoch int16, commit bool, ms int64) []byte {
	key := binary.BigEndian.AppendUint16(nil, 0)
	kind := uint16(0)
	if commit {
		kind = 1
	}
	key = binary.BigEndian.AppendUint16(key, kind)
	return Encode(Producer{producer, epoch, -1}, Transactional|Control, []Record{{TimestampMs: ms, Key: key, Value: make([]byte, 6)}})
}

// small is a log with one batch a segment.
func small(t testing.TB, batches ...[]byte) *Log {
	t.Helper()
	l := New(NewMemory(), Config{SegmentBytes: 1})
	for _, b := range batches {
		if _, err := l.Append(parsed(t, b), 0); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// dump prints what is in a log, record by record.
func dump(t testing.TB, l *Log) string {
	t.Helper()
	var out []string
	err := l.Each(l.StartOffset(), l.EndOffset(), func(b Batch) bool {
		if err := b.CheckCRC(); err != nil {
			t.Fatal(err)
		}
		if b.Count == 0 {
			out = append(out, fmt.Sprintf("%d..%d empty", b.BaseOffset, b.LastOffset()))
		}
		records, err := b.Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			switch {
			case b.Control():
				out = append(out, fmt.Sprintf("%d marker", r.Offset))
			case r.Value == nil:
				out = append(out, fmt.Sprintf("%d -%s", r.Offset, r.Key))
			default:
				out = append(out, fmt.Sprintf("%d %s=%s", r.Offset, r.Key, r.Value))
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}

func compact(t testing.TB, l *Log, c Compaction) string {
	t.Helper()
	done, err := l.Compact(c)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range done.Removed {
		s := fmt.Sprintf("%d %s", r.Record.Offset, r.Why)
		if r.By >= 0 {
			s += fmt.Sprintf(" by %d", r.By)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestCompact(t *testing.T) {
	plain := func(records ...Record) []byte { return Encode(NoProducer, 0, records) }
	txn := func(sequence int32, records ...Record) []byte {
		return Encode(Producer{9, 0, sequence}, Transactional, records)
	}
	end := plain(keyed(0, "end", "x"))
	for _, x := range []struct {
		name          string
		batches       [][]byte
		c             Compaction
		removed, left string
	}{
		{"the newest of each key stays", [][]byte{plain(keyed(0, "a", "1"), keyed(0, "b", "1")), plain(keyed(0, "a", "2")), end}, Compaction{Below: 99},
			"0 superseded by 2", "1 b=1, 2 a=2, 3 end=x"},
		{"within a batch too", [][]byte{plain(keyed(0, "a", "1"), keyed(0, "a", "2"), keyed(0, "b", "1")), end}, Compaction{Below: 99},
			"0 superseded by 1", "1 a=2, 2 b=1, 3 end=x"},
		{"the active segment is neither cleaned nor counted", [][]byte{plain(keyed(0, "a", "1")), plain(keyed(0, "a", "2"))}, Compaction{Below: 99},
			"", "0 a=1, 1 a=2"},
		{"nothing at or behind the high watermark", [][]byte{plain(keyed(0, "a", "1")), plain(keyed(0, "a", "2")), end}, Compaction{Below: 1}, "", "0 a=1, 1 a=2, 2 end=x"},
		{"nothing that is too young", [][]byte{plain(keyed(0, "a", "1")), plain(keyed(60, "a", "2")), end}, Compaction{Below: 99, NowMs: 100, MinLagMs: 50},
			"", "0 a=1, 1 a=2, 2 end=x"},
		{"a tombstone removes the older and stays for a while", [][]byte{plain(keyed(0, "a", "1")), plain(keyed(0, "a", "")), end},
			Compaction{Below: 99, DeleteRetentionMs: 10}, "0 superseded by 1", "1 -a, 2 end=x"},
		{"records without a key go", [][]byte{plain(Record{Value: []byte("v")}, keyed(0, "a", "1")), end}, Compaction{Below: 99}, "0 no key", "1 a=1, 2 end=x"},
		{"an empty key is a key", [][]byte{plain(Record{Key: []byte{}, Value: []byte("1")}), plain(Record{Key: []byte{}, Value: []byte("2")}), end}, Compaction{Below: 99},
			"0 superseded by 1", "1 =2, 2 end=x"},
		{"an aborted transaction supersedes nothing, and goes", [][]byte{plain(keyed(0, "a", "1")), txn(0, keyed(0, "a", "2")), mark(9, 0, false, 0), txn(1, keyed(0, "b", "1")), mark(9, 0, true, 0), end},
			Compaction{Below: 99}, "1 aborted transaction", "0 a=1, 2 marker, 3 b=1, 4 marker, 5 end=x"},
		{"a committed one supersedes", [][]byte{plain(keyed(0, "a", "1")), txn(0, keyed(0, "a", "2")), mark(9, 0, true, 0), end},
			Compaction{Below: 99}, "0 superseded by 1", "1 a=2, 2 marker, 3 end=x"},
		{"an open one holds everything behind it up", [][]byte{plain(keyed(0, "a", "1")), plain(keyed(0, "a", "2")), txn(0, keyed(0, "a", "3")), plain(keyed(0, "a", "4")), end},
			Compaction{Below: 99}, "0 superseded by 1", "1 a=2, 2 a=3, 3 a=4, 4 end=x"},
		{"the newest batch of a producer stays without records", [][]byte{Encode(Producer{5, 0, 0}, 0, []Record{keyed(0, "a", "1"), keyed(0, "a", "2")}), plain(keyed(0, "a", "3")), end},
			Compaction{Below: 99}, "0 superseded by 2, 1 superseded by 2", "0..1 empty, 2 a=3, 3 end=x"},
		{"an older one does not", [][]byte{Encode(Producer{5, 0, 0}, 0, []Record{keyed(0, "a", "1")}), Encode(Producer{5, 0, 1}, 0, []Record{keyed(0, "a", "2")}), end},
			Compaction{Below: 99}, "0 superseded by 1", "1 a=2, 2 end=x"},
	} {
		t.Run(x.name, func(t *testing.T) {
			l := small(t, x.batches...)
			if got := compact(t, l, x.c); got != x.removed {
				t.Errorf("removed %q, want %q", got, x.removed)
			}
			if got := dump(t, l); got != x.left {
				t.Errorf("left %q, want %q", got, x.left)
			}
			if got := compact(t, l, x.c); got != "" {
				t.Errorf("a second time removed %q", got)
			}
		})
	}
}

// A tombstone may go delete.retention.ms after the first compaction that met it, whatever its own time; so may a marker
// that has nothing before it any more.
func TestCompactDeleteHorizon(t *testing.T) {
	l := small(t, Encode(NoProducer, 0, []Record{keyed(0, "a", "1")}), Encode(NoProducer, 0, []Record{keyed(3, "a", ""), keyed(5, "b", "1")}),
		Encode(Producer{9, 0, 0}, Transactional, []Record{keyed(0, "b", "2")}), mark(9, 0, false, 7), Encode(Producer{9, 0, 1}, 0, []Record{keyed(0, "c", "1")}),
		Encode(NoProducer, 0, []Record{keyed(0, "end", "x")}))
	for _, step := range []struct {
		nowMs         int64
		removed, left string
	}{
		{1000, "0 superseded by 1, 3 aborted transaction", "1 -a, 2 b=1, 4 marker, 5 c=1, 6 end=x"},
		{1099, "", "1 -a, 2 b=1, 4 marker, 5 c=1, 6 end=x"},
		{1100, "1 tombstone's time is over", "2 b=1, 4 marker, 5 c=1, 6 end=x"},
		{1198, "", "2 b=1, 4 marker, 5 c=1, 6 end=x"},
		{1199, "4 nothing else is left of its transaction", "2 b=1, 5 c=1, 6 end=x"},
	} {
		if got := compact(t, l, Compaction{NowMs: step.nowMs, Below: 99, DeleteRetentionMs: 100}); got != step.removed {
			t.Errorf("at %d: removed %q, want %q", step.nowMs, got, step.removed)
		}
		if got := dump(t, l); got != step.left {
			t.Errorf("at %d: left %q, want %q", step.nowMs, got, step.left)
		}
	}
	b := first(t, l, 2)
	records, _ := b.Records(nil)
	if ms, ok := b.DeleteHorizonMs(); !ok || ms != 1100 || records[0].TimestampMs != 5 || b.MaxTimestampMs != 5 || b.LastOffset() != 2 {
		t.Errorf("the batch has the horizon %d, %v, its record the time %d, its largest %d, its end %d", ms, ok, records[0].TimestampMs, b.MaxTimestampMs, b.LastOffset())
	}
}

// first is the batch that a read at an offset begins with.
func first(t testing.TB, l *Log, offset int64) Batch {
	t.Helper()
	data, err := l.Read(offset, l.EndOffset(), 1, true)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Compressed batches that nothing opens stay, and with them every tombstone.
func TestCompactWhatCannotBeOpened(t *testing.T) {
	packed := slices.Clone(Encode(NoProducer, 0, []Record{keyed(0, "a", "1")}))
	packed[atAttributes+1] = byte(Gzip)
	l := small(t, packed, Encode(NoProducer, 0, []Record{keyed(0, "a", "")}), Encode(NoProducer, 0, []Record{keyed(0, "b", "1")}), Encode(NoProducer, 0, []Record{keyed(0, "b", "2")}),
		Encode(NoProducer, 0, []Record{keyed(0, "end", "x")}))
	opens := func(_ Codec, data []byte, _ int) ([]byte, error) { return data, nil }
	for _, nowMs := range []int64{0, 1000} {
		want := map[int64]string{0: "2 superseded by 3"}[nowMs]
		if got := compact(t, l, Compaction{Below: 99, NowMs: nowMs, DeleteRetentionMs: 10}); got != want {
			t.Errorf("at %d removed %q, want %q", nowMs, got, want)
		}
	}
	if got := compact(t, l, Compaction{Below: 99, NowMs: 1000, DeleteRetentionMs: 10, Unpack: opens}); got != "0 superseded by 1, 1 tombstone's time is over" {
		t.Errorf("opened, removed %q", got)
	}
}

func TestDirty(t *testing.T) {
	l := small(t, Encode(NoProducer, 0, []Record{keyed(1, "a", "1")}), Encode(NoProducer, 0, []Record{keyed(2, "b", "1")}), Encode(NoProducer, 0, []Record{keyed(3, "c", "1")}))
	size := int64(l.segments[0].size)
	check := func(c Compaction, dirty, total, oldest int64) {
		t.Helper()
		if got, want := l.Dirty(c), (Dirt{dirty * size, total * size, oldest}); got != want {
			t.Errorf("dirt is %+v, want %+v", got, want)
		}
	}
	check(Compaction{Below: 99}, 2, 2, 1)
	check(Compaction{Below: 1}, 1, 1, 1)
	check(Compaction{Below: 99, NowMs: 10, MinLagMs: 9}, 1, 1, 1)
	compact(t, l, Compaction{Below: 99})
	check(Compaction{Below: 99}, 0, 2, -1)
	if _, err := l.Append(parsed(t, Encode(NoProducer, 0, []Record{keyed(4, "d", "1")})), 0); err != nil {
		t.Fatal(err)
	}
	check(Compaction{Below: 99}, 1, 3, 3)
	if l.Closed() != size {
		t.Errorf("closed and not compacted: %d bytes, want %d", l.Closed(), size)
	}
}

// Whatever is written, compacted and cut: offsets stay, each key's newest record in the closed part stays (unless it is a
// tombstone whose time is over), everything in the open part stays; every offset can be read from; a follower that copies
// what is left has the same; a copy of the log goes its own way.
func TestCompactModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(NewMemory(), Config{SegmentBytes: rapid.SampledFrom([]int{1, 200, 500}).Draw(t, "segment"), IndexIntervalBytes: rapid.SampledFrom([]int{1, 150, 4096}).Draw(t, "index")})
		now := int64(0)
		var kept *Log
		var keptDump string
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now += 10
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			default:
				var records []Record
				for range rapid.IntRange(1, 4).Draw(t, "records") {
					records = append(records, keyed(now, rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key"), rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "value")))
				}
				appendTo(t, l, Encode(NoProducer, 0, records))
			case 0, 1:
				compactModel(t, l, Compaction{NowMs: now, Below: rapid.Int64Range(0, l.EndOffset()).Draw(t, "below"), DeleteRetentionMs: 60})
			case 2:
				to := rapid.Int64Range(l.cleaned, l.EndOffset()).Draw(t, "cut")
				if err := l.Truncate(to); err != nil {
					t.Fatal(err)
				}
				if l.EndOffset() > to {
					t.Fatalf("cut at %d, the end is %d", to, l.EndOffset())
				}
			case 3:
				kept, keptDump = l.Clone(), dumpOf(t, l)
			}
		}
		if kept != nil && dumpOf(t, kept) != keptDump {
			t.Fatalf("a copy changed with its original: %s, was %s", dumpOf(t, kept), keptDump)
		}
		follower := New(NewMemory(), Config{SegmentBytes: 300})
		for at := int64(0); at < l.EndOffset(); at++ {
			data, err := l.Read(at, l.EndOffset(), 1, true)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 || at < follower.EndOffset() {
				continue
			}
			if _, err := follower.AppendReplica(data); err != nil {
				t.Fatal(err)
			}
		}
		if dumpOf(t, follower) != dumpOf(t, l) {
			t.Fatalf("follower %s\nleader %s", dumpOf(t, follower), dumpOf(t, l))
		}
	})
}

func appendTo(t *rapid.T, l *Log, data []byte) {
	b, err := Validate(data, 1<<20)
	if err == nil {
		_, err = l.Append(b, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func all(t *rapid.T, l *Log) (records []Record) {
	err := l.Each(l.StartOffset(), l.EndOffset(), func(b Batch) bool {
		if err := b.CheckCRC(); err != nil {
			t.Fatal(err)
		}
		list, err := b.Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, list...)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func dumpOf(t *rapid.T, l *Log) string {
	var b strings.Builder
	for _, r := range all(t, l) {
		fmt.Fprintf(&b, "%d %s=%s@%d ", r.Offset, r.Key, r.Value, r.TimestampMs)
	}
	return b.String()
}

func compactModel(t *rapid.T, l *Log, c Compaction) {
	before, end, active := all(t, l), l.EndOffset(), int64(0)
	if n := len(l.segments); n > 0 {
		active = l.segments[n-1].base
	}
	done, err := l.Compact(c)
	if err != nil {
		t.Fatal(err)
	}
	after := all(t, l)
	if l.EndOffset() != end || done.To > active || done.To > max(c.Below, done.From) {
		t.Fatalf("the end went from %d to %d; compacted to %d with the watermark at %d and the open segment at %d", end, l.EndOffset(), done.To, c.Below, active)
	}
	if len(before) != len(after)+len(done.Removed) {
		t.Fatalf("%d records, then %d and %d removed", len(before), len(after), len(done.Removed))
	}
	newest := map[string]int64{}
	for _, r := range before {
		if r.Offset < done.To {
			newest[string(r.Key)] = r.Offset
		}
	}
	left := map[int64]Record{}
	for _, r := range after {
		left[r.Offset] = r
	}
	for _, r := range before {
		still, there := left[r.Offset]
		if there && (!bytes.Equal(still.Key, r.Key) || !bytes.Equal(still.Value, r.Value) || still.TimestampMs != r.TimestampMs || (still.Value == nil) != (r.Value == nil)) {
			t.Fatalf("the record at %d changed from %v to %v", r.Offset, r, still)
		}
		wanted := r.Offset >= done.To || newest[string(r.Key)] == r.Offset
		if !there && wanted && (r.Value != nil || r.Offset >= done.To) {
			t.Fatalf("the record at %d, %s=%s, is gone", r.Offset, r.Key, r.Value)
		}
		if there && !wanted && l.cleaned == done.To && done.To > 0 && done.From < done.To {
			t.Fatalf("the record at %d, %s=%s, is still there: %d is newer", r.Offset, r.Key, r.Value, newest[string(r.Key)])
		}
	}
}

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

func (f *failing) Swap(bases []int64, data []byte) error {
	if f.swaps--; f.swaps < 0 {
		return fmt.Errorf("no room for %v", bases)
	}
	return f.Memory.Swap(bases, data)
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
		if _, err := l.Compact(Compaction{Below: 99}); err == nil || !strings.Contains(err.Error(), "segment") {
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
		if _, err := l.Compact(Compaction{Below: 99}); err != nil || dump(t, l) != "1 a=2, 3 b=2, 5 c=2, 6 d=1, 7 d=2" {
			t.Errorf("again: %v, %s", err, dump(t, l))
		}
	}
}
