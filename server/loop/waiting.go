package loop

// waiting finds the receiver of a reply by its ticket. Nearly every request is answered in the turn that it came in, so
// the last tickets have places of their own; whoever waits longer than it takes to hand out recent tickets is moved
// into the map.
type waiting struct {
	last   int64
	places [recent]place
	more   map[int64]Receiver
}

// recent is a power of two.
const recent = 1024

type place struct {
	ticket int64
	to     Receiver
}

func (w *waiting) next() int64 { w.last++; return w.last }

func (w *waiting) put(ticket int64, to Receiver) {
	p := &w.places[ticket&(recent-1)]
	if p.to != nil {
		w.more[p.ticket] = p.to
	}
	*p = place{ticket, to}
}

// take returns the receiver and forgets it; nil where there is none.
func (w *waiting) take(ticket int64) Receiver {
	p := &w.places[ticket&(recent-1)]
	if p.ticket == ticket {
		to := p.to
		*p = place{}
		return to
	}
	to := w.more[ticket]
	delete(w.more, ticket)
	return to
}
