package history

import "grouplab/coordinator/event"

// Needs is Wants for a stream that is faster than anybody could follow: of what Wants it leaves out the commits that, as far as
// the facts were applied, change nothing. It may be called at any time. A commit that comes while a group becomes one whose
// commits count may be missed; that group's next one is soon enough.
func (h *History) Needs(e *event.Event) bool {
	if _, commit := e.Body.(event.OffsetsCommitted); commit {
		if _, steady := h.steady.Load(e.Group); steady {
			return false
		}
	}
	return h.Wants(e)
}

// steadies keeps whether another commit can change anything of a group: one with members, whose offsets expire when it has been
// Empty for long enough, is known to have offsets (KIP-211), and none of these expires by its own time.
func (h *History) steadies(g *group) {
	steady := g.hasOffsets && !g.simple && len(g.offsets) == 0
	if steady == g.steady {
		return
	}
	if g.steady = steady; steady {
		h.steady.Store(g.name, struct{}{})
	} else {
		h.steady.Delete(g.name)
	}
}
