package log

import (
	"fmt"
	"strings"
	"testing"
)

// long is a log of segments of a few index intervals each, with the same keys again and again.
func long(t *testing.T) *Log {
	l := New(NewMemory(), Config{SegmentBytes: 2000, IndexIntervalBytes: 1})
	for i := range 100 {
		appendTo(t, l, Encode(NoProducer, 0, []Record{keyed(0, fmt.Sprint(i%7), fmt.Sprint(i)), keyed(0, fmt.Sprint("once", i), "x")}))
	}
	return l
}

// TestCompactionInPieces: a compaction takes as many pieces as there is to read, the log is appended to and read between two of
// them, and what comes of it is the same as at one go; a copy made in the middle ends alike.
func TestCompactionInPieces(t *testing.T) {
	l := long(t)
	atOnce := l.Clone()
	done, err := compacted(atOnce, Compaction{Below: 1000})
	if err != nil || done.Count == 0 || done.To != atOnce.cleaned {
		t.Fatalf("%+v, %v", done, err)
	}
	end, added := l.EndOffset(), 0
	var copied *Log
	l.BeginCompaction(Compaction{Below: 1000})
	pieces, read, bytes := 0, 0, l.Size()
	for l.Compacting() {
		p, err := l.Compact(1)
		if err != nil || p.Waits || p.Done == l.Compacting() {
			t.Fatalf("%+v, %v", p, err)
		}
		pieces, read = pieces+1, read+p.Read
		appendTo(t, l, Encode(NoProducer, 0, []Record{keyed(0, "0", "later")}))
		added++
		if got := dump(t, l); !strings.Contains(got, " once0=x") || !strings.Contains(got, fmt.Sprintf("%d 0=later", l.EndOffset()-1)) {
			t.Fatalf("after %d pieces: %s", pieces, got)
		}
		if pieces == 5 {
			copied = l.Clone()
		}
	}
	if pieces < 3*(len(long(t).segments)-1) || int64(read) > 3*bytes {
		t.Errorf("%d pieces read %d bytes of %d", pieces, read, bytes)
	}
	want := dump(t, atOnce)
	if got := dump(t, l); !strings.HasPrefix(got, want) || l.cleaned != atOnce.cleaned || l.EndOffset() != end+int64(added) {
		t.Errorf("in pieces:\n%s\nat once:\n%s", got, want)
	}
	for copied.Compacting() {
		if _, err := copied.Compact(1); err != nil {
			t.Fatal(err)
		}
	}
	if got := dump(t, copied); !strings.HasPrefix(got, want) || copied.EndOffset() != end+5 {
		t.Errorf("the copy:\n%s\nat once:\n%s", got, want)
	}
}

// TestCompactionIsGivenUp: whatever cuts or deletes what is being compacted ends the compaction, at each of its pieces; the log
// is whole, and can be compacted again.
func TestCompactionIsGivenUp(t *testing.T) {
	for name, change := range map[string]func(l *Log) error{
		"truncate":       func(l *Log) error { return l.Truncate(50) },
		"restart":        func(l *Log) error { return l.Restart(500) },
		"delete records": func(l *Log) error { return l.DeleteBefore(60) },
		"retain":         func(l *Log) error { return l.Retain(3000, -1, 0, 1000) },
	} {
		for pieces := 0; ; pieces++ {
			l := long(t)
			l.BeginCompaction(Compaction{Below: 1000})
			for range pieces {
				if _, err := l.Compact(1); err != nil {
					t.Fatal(err)
				}
			}
			if !l.Compacting() {
				break
			}
			if err := change(l); err != nil {
				t.Fatal(err)
			}
			if l.Compacting() {
				t.Fatalf("%s after %d pieces: it goes on", name, pieces)
			}
			before := strings.Count(dump(t, l), "once")
			if _, err := compacted(l, Compaction{Below: 1000}); err != nil {
				t.Fatal(err)
			}
			if after := strings.Count(dump(t, l), "once"); after != before || l.cleaned > l.end {
				t.Fatalf("%s after %d pieces: %d keys, then %d; cleaned up to %d of %d", name, pieces, before, after, l.cleaned, l.end)
			}
		}
	}
	l := long(t)
	l.BeginCompaction(Compaction{Below: 1000})
	appendTo(t, l, Encode(NoProducer, 0, []Record{keyed(0, "a", "1")}))
	if err := l.Truncate(l.EndOffset() - 1); err != nil || !l.Compacting() {
		t.Errorf("what lies behind it was cut: %v, it goes on: %v", err, l.Compacting())
	}
}
