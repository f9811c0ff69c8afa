package live

import (
	"slices"

	"grouplab/coordinator/event"
)

// fewEvents is how many events are copied to the newest segment, rather than made one; a segment has room for so many.
const fewEvents = 256

// ring keeps the last events in the order of Seq. It grows up to its limits and then forgets the oldest. Events stay
// values here: nothing is encoded before somebody wants it.
type ring struct {
	limit    int  // of events
	flood    bool // what is kept in a flood is little: a quarter of limit will do, and what came before it goes
	maxBytes int  // of what they hold; the newest segment is kept whatever it holds
	segments []segment
	n        int
	bytes    int
	last     int64 // Seq of the newest that was ever added, 0 before the first
	dropped  int64 // Seq of the newest that was forgotten, 0 where none was
	// spare is a segment's room that may be used again.
	spare []event.Event
}

// segment is a run of events. It is forgotten as a whole where its events hold too much, and event by event where there are too
// many of them; what the forgotten ones of a segment hold lives on, and counts, until the last of them goes.
type segment struct {
	all   []event.Event
	first int // those before are forgotten
	bytes int // what all of them hold
}

func (s *segment) events() []event.Event { return s.all[s.first:] }

// takes tells whether there is room for so many events more. One that holds much is full.
func (s *segment) takes(events, bytes int) bool {
	return cap(s.all)-len(s.all) >= events && s.bytes+bytes <= inboxBytes
}

// add takes events and what they hold together. It keeps the slice, or returns it to be used again.
func (r *ring) add(events []event.Event, bytes int) (room []event.Event) {
	if len(events) == 0 {
		return events
	}
	r.last = events[len(events)-1].Seq
	r.n += len(events)
	r.bytes += bytes
	if len(events) >= fewEvents {
		r.segments = append(r.segments, segment{all: events, bytes: bytes})
		r.forget()
		room, r.spare = r.spare, nil
		return room
	}
	if len(r.segments) == 0 || !r.segments[len(r.segments)-1].takes(len(events), bytes) {
		r.segments = append(r.segments, segment{all: make([]event.Event, 0, fewEvents)})
	}
	s := &r.segments[len(r.segments)-1]
	s.all, s.bytes = append(s.all, events...), s.bytes+bytes
	clear(events) // what the ring forgets must not live on in it
	r.forget()
	return events[:0]
}

// forget drops the oldest events until the limits are met.
func (r *ring) forget() {
	limit := r.limit
	if r.flood {
		limit /= 4
	}
	for r.n > limit || r.bytes > r.maxBytes && len(r.segments) > 1 {
		s := &r.segments[0]
		have := len(s.events())
		if over := r.n - limit; over < have && (r.bytes <= r.maxBytes || len(r.segments) == 1) {
			s.first, r.n = s.first+over, r.n-over
			r.dropped = s.all[s.first-1].Seq
			return
		}
		r.n, r.bytes, r.dropped = r.n-have, r.bytes-s.bytes, s.all[len(s.all)-1].Seq
		if cap(s.all) > cap(r.spare) && cap(s.all) <= 2*inboxEvents {
			clear(s.all)
			r.spare = s.all[:0]
		}
		r.segments = slices.Delete(r.segments, 0, 1)
	}
}

// after visits the events whose Seq is greater than seq, the oldest first, until visit returns false.
func (r *ring) after(seq int64, visit func(e *event.Event) bool) {
	at := len(r.segments)
	for at > 0 && r.segments[at-1].all[len(r.segments[at-1].all)-1].Seq > seq { // whoever looks is mostly near the end
		at--
	}
	for ; at < len(r.segments); at++ {
		events := r.segments[at].events()
		for i := place(events, seq); i < len(events); i++ {
			if !visit(&events[i]) {
				return
			}
		}
	}
}

// place is that of the first event whose Seq is greater than seq.
func place(events []event.Event, seq int64) int {
	i, _ := slices.BinarySearchFunc(events, seq+1, func(e event.Event, want int64) int { return int(e.Seq - want) })
	return i
}

// count is how many events there are whose Seq is greater than seq.
func (r *ring) count(seq int64) (n int) {
	for at := len(r.segments) - 1; at >= 0; at-- {
		events := r.segments[at].events()
		if events[0].Seq <= seq {
			return n + len(events) - place(events, seq)
		}
		n += len(events)
	}
	return n
}

// oldest returns the Seq of the oldest event kept; where none is, the one that comes next.
func (r *ring) oldest() int64 {
	if r.n == 0 {
		return r.last + 1
	}
	return r.segments[0].events()[0].Seq
}
