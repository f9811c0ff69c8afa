package live

import (
	"sort"

	"grouplab/coordinator/event"
)

// firstEvents is how many events a ring grows to piece by piece.
const firstEvents = 4096

// ring keeps the last events in the order of Seq. It grows up to its limits and then forgets the oldest. Events stay
// values here: nothing is encoded before somebody wants it.
type ring struct {
	limit    int // of events
	maxBytes int // of what they hold; the newest is kept whatever it holds
	buf      []kept
	first    int // index of the oldest in buf
	n        int
	bytes    int
	last     int64 // Seq of the newest that was ever added, 0 before the first
	dropped  int64 // Seq of the newest that was forgotten, 0 where none was
}

func (r *ring) len() int { return r.n }

// at returns the i-th event, 0 being the oldest.
func (r *ring) at(i int) *event.Event { return &r.buf[(r.first+i)%len(r.buf)].Event }

func (r *ring) add(e kept) {
	r.last = e.Seq
	for r.n == r.limit || r.n > 0 && r.bytes+e.bytes > r.maxBytes {
		r.forget()
	}
	if r.n == len(r.buf) {
		r.grow()
	}
	r.buf[(r.first+r.n)%len(r.buf)] = e
	r.n++
	r.bytes += e.bytes
}

func (r *ring) forget() {
	oldest := &r.buf[r.first]
	r.dropped = oldest.Seq
	r.bytes -= oldest.bytes
	*oldest = kept{}
	r.first = (r.first + 1) % len(r.buf)
	r.n--
}

// grow doubles a small ring. A stream that fills one is no trickle: then comes room for all that is ever kept, instead of
// copying it as it grows.
func (r *ring) grow() {
	size := r.limit
	if r.n < firstEvents {
		size = min(max(64, 2*r.n), r.limit)
	}
	larger := make([]kept, size)
	n := copy(larger, r.buf[r.first:])
	copy(larger[n:], r.buf[:r.first])
	r.buf, r.first = larger, 0
}

// after returns the place of the first event whose Seq is greater than seq; len() where there is none.
func (r *ring) after(seq int64) int {
	return sort.Search(r.len(), func(i int) bool { return r.at(i).Seq > seq })
}

// oldest returns the Seq of the oldest event kept; where none is, the one that comes next.
func (r *ring) oldest() int64 {
	if r.len() == 0 {
		return r.last + 1
	}
	return r.at(0).Seq
}
