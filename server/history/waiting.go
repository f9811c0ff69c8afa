package history

import "grouplab/coordinator/event"

// waiting is who a group waits for and until when at the latest, 0 for never or not known. static/view says the same of its
// picture (Model.Waiting); a test holds both to the same runs.
type waiting struct {
	members    []string // the first of them
	more       int
	sinceMs    int64
	deadlineMs int64
	// waits is set where there is anything to wait for, if only for time.
	waits bool
}

func (w *waiting) await(id string) {
	if len(w.members) < named {
		w.members = append(w.members, id)
	} else {
		w.more++
	}
}

func (h *History) waiting(g *group) waiting {
	w := waiting{sinceMs: g.sinceMs}
	switch {
	case g.gone:
	case h.waitingForCoordinator(g, &w):
	case g.kind == "consumer":
		h.waitingForMembers(g, &w)
	case g.state == event.PreparingRebalance:
		w.waits, w.deadlineMs = true, g.joinOp.deadlineMs
		g.seenAwaited(&w)
		if !g.joinOp.initial && !h.attached {
			for _, m := range g.members {
				if m.join == 0 {
					w.await(m.id)
				}
			}
			for _, p := range g.pending {
				w.await(p.id)
			}
		}
	case g.state == event.CompletingRebalance:
		w.waits, w.deadlineMs = true, g.syncOp.deadlineMs
		g.seenAwaited(&w)
		if len(g.appending) == 0 && g.member(g.leader) != nil && !h.attached {
			w.await(g.leader)
		}
	case g.state == event.Stable && g.syncOp.number != 0:
		for _, m := range g.members {
			if m.awaitsSync {
				w.await(m.id)
			}
		}
		if w.waits = len(w.members) > 0; w.waits {
			w.deadlineMs = g.syncOp.deadlineMs
		}
	}
	return w
}

// seenAwaited takes what an observer says of whom the present phase of a rebalance waits for.
func (g *group) seenAwaited(w *waiting) {
	if g.seen.State != g.state {
		return
	}
	for _, a := range g.seen.Awaited {
		w.await(a.Member)
	}
	if ms := max(g.seen.DeadlineMs, g.seen.DeadlineHiMs); ms > 0 {
		w.deadlineMs = ms
	}
}

// waitingForCoordinator tells whether nobody coordinates the group, or whoever does still reads the log.
func (h *History) waitingForCoordinator(g *group, w *waiting) bool {
	t := h.tapes[g.partition]
	if t == nil || h.attached {
		return false
	}
	if t.leader > 0 {
		if sinceMs, loads := t.loading[t.leader]; loads {
			w.waits, w.sinceMs = true, sinceMs
			return true
		}
		if k := h.brokers[t.leader]; k == nil || k.up {
			return false
		}
	}
	w.waits = true
	for _, id := range t.replicas {
		if k := h.brokers[id]; k != nil && !k.up && k.killed && !k.fenced {
			if w.sinceMs = k.sinceMs; k.noticedBy > h.nowMs {
				w.deadlineMs = k.noticedBy
			}
		}
	}
	return true
}

// waitingForMembers names those of a consumer group that have to give something up; where nobody has to, those that have not
// reached the target.
func (h *History) waitingForMembers(g *group, w *waiting) {
	if g.rebalance == nil && (g.state == event.Stable || g.state == event.Empty) {
		return
	}
	w.waits = true
	revoking := false
	for _, m := range g.members {
		revoking = revoking || m.state == unrevoked
	}
	for _, m := range g.members {
		if m.epoch == staticAway || revoking && m.state != unrevoked || !revoking && m.epoch >= g.targetEpoch && m.state == reconciled {
			continue
		}
		w.await(m.id)
		if m.rebalanceMs > 0 && m.stateMs > 0 {
			w.deadlineMs = max(w.deadlineMs, m.stateMs+int64(m.rebalanceMs))
		}
	}
}
