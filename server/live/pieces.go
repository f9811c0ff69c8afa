package live

import (
	"context"

	"grouplab/coordinator/event"
)

// Piece is a part of the facts of a large cluster. The pieces come in the order of Broker and After: first what concerns no
// group, then the groups of one coordinator after the other, by name.
type Piece struct {
	// Seq is the last number handed out when the piece was taken.
	Seq    int64
	NowMs  int64
	Events []event.Event
	// Broker and Group are how far the pieces have come: the coordinator, and the last of its groups that was told. Last is
	// set in the last one.
	Broker int32
	Group  string
	Last   bool
}

// reached tells whether what happens to a group is told after its facts: those of it have been taken, or it was not there
// when they would have been.
func (p *Piece) reached(e *event.Event) bool {
	return p.Last || e.Group == "" || e.Broker < p.Broker || e.Broker == p.Broker && e.Group <= p.Group
}

// refoldInPieces begins the fold anew while the loop does other things between the pieces. Each piece holds all events up
// to its Seq; before it is taken, the events up to there are applied for those groups whose facts were taken before. So each
// event counts once, and none is lost.
func (h *Hub) refoldInPieces(o *overview) bool {
	ctx, cancel := context.WithTimeout(h.ctx, 10*factsTimeout)
	defer cancel()
	var at Piece
	for first := true; !at.Last; first = false {
		p, err := h.cfg.Pieces(ctx, at.Broker, at.Group)
		if err != nil {
			return false
		}
		h.published(ctx, p.Seq)
		o.mu.Lock()
		if first {
			o.fold.Apply(&event.Event{Seq: p.Seq, AtMs: p.NowMs, Body: event.FactsBegan{NowMs: p.NowMs}})
		} else if !h.catchUp(o, &at, p.Seq) {
			o.mu.Unlock()
			return false // events are gone already: once more, from the beginning
		}
		for i := range p.Events {
			o.fold.Apply(&p.Events[i])
		}
		if p.Last {
			o.fold.Apply(&event.Event{Seq: p.Seq, AtMs: p.NowMs, Body: event.FactsEnded{}})
		}
		o.mu.Unlock()
		o.seq, at = p.Seq, p
	}
	return true
}

// catchUp applies the events up to a Seq of those groups that the pieces have reached. The caller holds o.mu.
func (h *Hub) catchUp(o *overview, at *Piece, to int64) bool {
	kept := true
	h.read(func(r *ring) {
		if kept = o.seq >= r.dropped; !kept {
			return
		}
		r.after(o.seq, func(e *event.Event) bool {
			if e.Seq > to {
				return false
			}
			if at.reached(e) && o.fold.Wants(e) {
				o.fold.Apply(e)
			}
			return true
		})
	})
	return kept
}
