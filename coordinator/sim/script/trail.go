package script

import (
	"slices"

	"grouplab/coordinator/event"
)

// trail is a long list of events in pieces: it grows without being copied, and copies share what they have in common.
type trail struct {
	pieces [][]event.Event
	len    int
}

const pieceEvents = 1024

// add puts events at the end.
func (t *trail) add(events []event.Event) {
	t.len += len(events)
	for len(events) > 0 {
		n := len(t.pieces) - 1
		if n < 0 || len(t.pieces[n]) == cap(t.pieces[n]) {
			t.pieces = append(t.pieces, make([]event.Event, 0, pieceEvents))
			n++
		}
		last := t.pieces[n]
		fit := min(cap(last)-len(last), len(events))
		t.pieces[n] = append(last, events[:fit]...)
		events = events[fit:]
	}
}

// trim drops the oldest pieces, as long as most events stay.
func (t *trail) trim(most int) {
	n := 0
	for n < len(t.pieces) && t.len-len(t.pieces[n]) >= most {
		t.len -= len(t.pieces[n])
		n++
	}
	t.pieces = slices.Delete(t.pieces, 0, n)
}

// clone is a copy that goes its own way: what it adds comes into pieces of its own.
func (t trail) clone() trail {
	t.pieces = slices.Clone(t.pieces)
	if n := len(t.pieces); n > 0 {
		t.pieces[n-1] = slices.Clip(t.pieces[n-1])
	}
	return t
}

// then is this trail and another one after it, for looking only.
func (t trail) then(later trail) trail {
	return trail{pieces: slices.Concat(t.pieces, later.pieces), len: t.len + later.len}
}

// each calls f with every event, oldest first, until it returns false.
func (t trail) each(f func(event.Event) bool) {
	for _, piece := range t.pieces {
		for _, e := range piece {
			if !f(e) {
				return
			}
		}
	}
}
