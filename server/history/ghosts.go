package history

import "grouplab/coordinator/event"

// dies notes that a member's process is gone: killed where that is known, else its connection closed.
func (h *History) dies(g *group, m *member, atMs int64, killed bool) {
	m.killed = m.killed || killed
	if m.goneMs == 0 {
		m.goneMs = atMs
		h.ghosts.Add(1)
		h.touch(g, true)
	}
}

// bury takes a ghost off the count: its member is no more, or lives.
func (h *History) bury(m *member) {
	if m.goneMs > 0 {
		h.ghosts.Add(-1)
	}
}

// heard takes back that a member is a ghost: only its connection had gone.
func (h *History) heard(g *group, m *member) {
	if m == nil || m.goneMs == 0 || m.killed {
		return
	}
	h.bury(m)
	m.goneMs = 0
	h.touch(g, true)
}

// sumGhosts tells of the members whose process is gone and that are members still.
func (g *group) sumGhosts(s *event.GroupSummarized) {
	for _, m := range g.members {
		if m.goneMs == 0 {
			continue
		}
		if s.Dead++; len(s.Ghosts) < named {
			s.Ghosts = append(s.Ghosts, m.id)
		}
		if m.sessionMs > 0 {
			s.GhostsMs = max(s.GhostsMs, m.goneMs+int64(m.sessionMs))
		}
	}
}
