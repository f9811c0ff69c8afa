package log

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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

// compacted compacts a log to the end, telling everything.
func compacted(l *Log, c Compaction) (Compacted, error) {
	c.Tell = math.MaxInt
	l.BeginCompaction(c)
	p, err := l.Compact(math.MaxInt)
	return p.Compacted, err
}

func compact(t testing.TB, l *Log, c Compaction) string {
	t.Helper()
	done, err := compacted(l, c)
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

func appendTo(t interface{ Fatal(...any) }, l *Log, data []byte) {
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
	done, err := compacted(l, c)
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
