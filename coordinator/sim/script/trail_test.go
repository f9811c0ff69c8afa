package script

import (
	"testing"

	"grouplab/coordinator/event"
)

// TestTrail: copies share what was there and then go their own ways; trimming keeps the newest.
func TestTrail(t *testing.T) {
	next := int64(0)
	some := func(n int) (list []event.Event) {
		for range n {
			next++
			list = append(list, event.Event{Seq: next})
		}
		return list
	}
	holds := func(what string, got trail, from, to int64) {
		t.Helper()
		want := from
		for e := range got.each {
			if e.Seq != want {
				t.Fatalf("%s holds %d where %d is due", what, e.Seq, want)
			}
			want++
		}
		if want != to+1 || got.len != int(to-from+1) {
			t.Fatalf("%s holds %d events up to %d, not %d to %d", what, got.len, want-1, from, to)
		}
	}
	var a trail
	a.add(some(pieceEvents + 10))
	b, c := a.clone(), a.clone()
	a.add(some(3))
	next = pieceEvents + 10
	b.add(some(pieceEvents))
	holds("the original", a, 1, pieceEvents+13)
	holds("the first copy", b, 1, 2*pieceEvents+10)
	holds("the second copy", c, 1, pieceEvents+10)
	next = pieceEvents + 13
	a.add(some(4 * pieceEvents))
	before := a.clone()
	a.trim(2 * pieceEvents)
	if a.len < 2*pieceEvents || a.len > 4*pieceEvents {
		t.Errorf("%d events are left", a.len)
	}
	holds("the trimmed one", a, 5*pieceEvents+13-int64(a.len)+1, 5*pieceEvents+13)
	holds("its copy of before", before, 1, 5*pieceEvents+13)
	var later trail
	later.add(some(5))
	holds("both", a.then(later), 5*pieceEvents+13-int64(a.len)+1, 5*pieceEvents+18)
	holds("the first alone", a, 5*pieceEvents+13-int64(a.len)+1, 5*pieceEvents+13)
}
