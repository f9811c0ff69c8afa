package live

import "grouplab/coordinator/event"

// flood notices that more happens than any viewer could be sent, and than the ring would keep for a second. The clock is the
// events' own.
type flood struct {
	// perSecond is how many events in a second are one; it is over when a second brings less than half of them.
	perSecond int
	fromMs    int64
	seen      int
	on        bool
}

// saw counts a batch and tells whether there is a flood.
func (f *flood) saw(batch []event.Event) bool {
	atMs := batch[len(batch)-1].AtMs
	if atMs-f.fromMs >= 1000 {
		f.on = f.on && f.seen >= f.perSecond/2 && atMs-f.fromMs < 2000
		f.fromMs, f.seen = atMs, 0
	}
	f.seen += len(batch)
	f.on = f.on || f.seen > f.perSecond
	return f.on
}

// sieve keeps of a batch of a flood what somebody waits for: the fold, and the viewers of an overview, who follow single groups. All
// others are given facts at most once a FactsInterval, as they would be without it: what is copied for nobody costs the loop.
func (h *Hub) sieve(batch []event.Event) []event.Event {
	now := h.followed.now.Load()
	kept, hole := h.sieved[:0], int64(0)
	for i := range batch {
		if e := &batch[i]; (e.Group == "" || now.some()) && concerns(now, e) || h.cfg.Fold != nil && h.cfg.Fold.Needs(e) {
			kept = append(kept, *e)
		} else {
			hole = e.Seq
		}
	}
	if hole > 0 {
		h.stats.leftOut.Add(int64(len(batch) - len(kept)))
		h.hole.Store(hole)
	}
	h.sieved = kept
	return kept
}

// whole is the Seq after which every event is kept, as far as the ring has come: those before may be gone, or were left out in a
// flood. Whoever reads the ring asks while it is locked.
func (h *Hub) whole(r *ring) int64 { return max(r.dropped, h.hole.Load()) }
