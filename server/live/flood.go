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

// hush is what Publish and its caller know of events that are not even made, while nobody would be sent them.
type hush struct {
	on bool
	// till is the last number that was handed out when it ended. Facts that were asked for until then may lack what happened
	// next, so the hole ends behind the first event after it.
	till    int64
	pending bool
}

// Spares tells whether, at nowMs, nobody would be sent the events of single batches: there is a flood, and no group is followed. The
// caller of Publish asks, and may leave them out from the next event on when it has told Hush so.
func (h *Hub) Spares(nowMs int64) bool {
	if nowMs-h.flood.fromMs >= 2000 { // nothing at all has come since
		h.flood.on = false
	}
	return h.flood.on && !h.followed.now.Load().some()
}

// Hush notes that events are left out from now on, or that all are made again; last is the last number that was handed out. It is
// called as Publish is. Whoever comes back at that number begins with facts: the next batch may lack what its group wants.
func (h *Hub) Hush(on bool, last int64) {
	h.hush = hush{on: on, till: last, pending: true}
	h.hole.Store(max(h.hole.Load(), last))
}

// hushed moves the hole behind a batch of which something may have been left out.
func (h *Hub) hushed(last int64) {
	if h.hush.pending {
		h.hole.Store(last)
		h.hush.pending = h.hush.on || last <= h.hush.till
	}
}

// whole is the Seq after which every event is kept, as far as the ring has come: those before may be gone, or were left out in a
// flood. Whoever reads the ring asks while it is locked.
func (h *Hub) whole(r *ring) int64 { return max(r.dropped, h.hole.Load()) }
