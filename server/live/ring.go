package live

import (
	"sort"

	"grouplab/coordinator/event"
)

// firstEvents is how many events a ring grows to piece by piece.
const firstEvents = 4096

// ring keeps the last events in the order of Seq. It grows up to its limit and then forgets the oldest. Events stay
// values here: nothing is encoded before somebody wants it.
type ring struct {
	limit   int
	buf     []event.Event
	first   int   // index of the oldest in buf, once buf is full
	last    int64 // Seq of the newest that was ever added, 0 before the first
	dropped int64 // Seq of the newest that was forgotten, 0 where none was
}

func (r *ring) len() int { return len(r.buf) }

// at returns the i-th event, 0 being the oldest.
func (r *ring) at(i int) *event.Event { return &r.buf[(r.first+i)%len(r.buf)] }

func (r *ring) add(e event.Event) {
	r.last = e.Seq
	if len(r.buf) < r.limit {
		if len(r.buf) == firstEvents { // the stream is no trickle: room for all that is ever kept, instead of copying it as it grows
			r.buf = append(make([]event.Event, 0, r.limit), r.buf...)
		}
		r.buf = append(r.buf, e)
		return
	}
	r.dropped = r.buf[r.first].Seq
	r.buf[r.first] = e
	r.first = (r.first + 1) % r.limit
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
