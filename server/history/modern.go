package history

import (
	"slices"

	"grouplab/coordinator/event"
)

// Words of event.MemberReconciled.State.
const (
	reconciled = "stable"
	unrevoked  = "unrevoked_partitions"
)

// applyModern folds what only consumer groups (KIP-848) and observers tell.
func (h *History) applyModern(g *group, e *event.Event) {
	switch b := e.Body.(type) {
	case event.GroupListed:
		h.list(g, e, b)
	case event.AwaitedSeen:
		g.seen = b
	case event.CauseInferred:
		h.inferred(g, b)
	case event.EpochBumped:
		h.bump(g, e, b)
	case event.TargetAssigned:
		h.target(g, e, b)
	case event.MemberReconciled:
		h.reconcile(g, e, b)
	case event.MemberRemoved:
		if m := g.left; g.kind == "consumer" && m != nil && m.id == b.Member {
			h.release(g, m.assigned, e.AtMs)
			h.release(g, m.revoking, e.AtMs)
			h.finishEpoch(g, e.AtMs)
		}
	default:
		return
	}
	h.touch(g, false)
}

func (h *History) list(g *group, e *event.Event, b event.GroupListed) {
	if b.Type != "" {
		g.kind = b.Type
	}
	switch {
	case b.State == event.Dead:
		h.gone(g)
	case b.State != "" && b.State != g.state:
		h.enter(g, b.State, e.AtMs)
		h.touch(g, true)
	}
	if b.State != event.Dead {
		g.gone, g.unseen = false, false
	}
}

// inferred puts a cause where none, or a worse one, was known: in the rebalance under way, or in a record.
func (h *History) inferred(g *group, b event.CauseInferred) {
	c := cause{why: b.Why, member: b.Member, said: b.ClientReason, confidence: b.Confidence}
	h.identify(g, &c)
	if r := g.rebalance; r != nil && (r.generation == b.Generation || r.generation < 0 && b.Generation == g.generation+1) {
		r.cause, g.last = c, c
		return
	}
	for i := len(g.records) - 1; i >= 0; i-- {
		r := g.records[i]
		if r.body.Generation != b.Generation {
			continue
		}
		r.body.Why, r.body.Member, r.body.ClientID, r.body.ClientReason, r.body.Confidence = c.why, c.member, c.client, c.said, c.confidence
		h.tell(r)
		if i == len(g.records)-1 && g.rebalance == nil {
			g.last = c
		}
		return
	}
}

// bump begins an epoch; one under way that never settled is told as it is.
func (h *History) bump(g *group, e *event.Event, b event.EpochBumped) {
	g.kind, g.gone, g.unseen = "consumer", false, false
	c := cause{why: b.Why, member: b.Member, confidence: b.Confidence}
	h.identify(g, &c)
	if g.rebalance != nil {
		h.closeEpoch(g, e.AtMs, false)
	}
	r := newRebalance(e.AtMs, c)
	r.startedHi, r.generation = e.AtHiMs, b.Epoch
	g.rebalance, g.last, g.generation = r, c, b.Epoch
	g.hour(e.AtMs).rebalances++
}

func (h *History) target(g *group, e *event.Event, b event.TargetAssigned) {
	g.kind, g.gone, g.unseen = "consumer", false, false
	g.targetEpoch, g.assigned = b.Epoch, b.Assignments
	if r := g.rebalance; r != nil && r.generation == b.Epoch {
		r.joinedMs, r.moved = e.AtMs, b.Moved
		r.members = nil
		for _, m := range g.members {
			r.members = append(r.members, m.id)
		}
		h.finishEpoch(g, e.AtMs)
	}
}

func (h *History) reconcile(g *group, e *event.Event, b event.MemberReconciled) {
	g.kind, g.gone, g.unseen = "consumer", false, false
	m := g.member(b.Member)
	if m == nil {
		m = &member{id: b.Member}
		h.addMember(g, m)
	}
	had := slices.Concat(m.assigned, m.revoking)
	has := slices.Concat(b.Assigned, b.Revoking)
	h.release(g, minus(had, has), e.AtMs)
	for _, t := range minus(b.Assigned, m.assigned) {
		for _, p := range t.Partitions {
			at := place{t.Topic, p}
			if sinceMs, free := g.freed[at]; free {
				delete(g.freed, at)
				if r := g.rebalance; r != nil {
					r.lost = addLost(r.lost, event.WhyReconciled, m.id, e.AtMs-sinceMs)
				}
			}
		}
	}
	if m.state != b.State || m.stateMs == 0 {
		m.stateMs = e.AtMs
	}
	m.epoch, m.state, m.assigned, m.revoking = b.Epoch, b.State, b.Assigned, b.Revoking
	m.partitions, m.served = countOf(b.Assigned), true
	h.finishEpoch(g, e.AtMs)
}

// release notes partitions that nobody has from now on.
func (h *History) release(g *group, topics []event.TopicPartitions, atMs int64) {
	for _, t := range topics {
		for _, p := range t.Partitions {
			if g.freed == nil {
				g.freed = map[place]int64{}
			}
			g.freed[place{t.Topic, p}] = atMs
		}
	}
}

// finishEpoch tells of an epoch when every member has reached its target.
func (h *History) finishEpoch(g *group, atMs int64) {
	r := g.rebalance
	if r == nil || r.joinedMs == 0 || g.targetEpoch != r.generation {
		return
	}
	for _, m := range g.members {
		if m.epoch != staticAway && (m.epoch < g.targetEpoch || m.state != reconciled) {
			return
		}
	}
	h.closeEpoch(g, atMs, true)
}

// staticAway is the epoch of a static member that left for a while.
const staticAway = -2

// closeEpoch makes a record of a consumer group's epoch.
func (h *History) closeEpoch(g *group, atMs int64, settled bool) {
	r := g.rebalance
	g.rebalance = nil
	rec := event.GenerationRecorded{Generation: r.generation, StartedMs: r.startedMs, StartedHiMs: r.startedHi, JoinedMs: r.joinedMs,
		Why: r.why, Member: r.member, ClientID: r.client, ClientReason: r.said, Confidence: r.confidence,
		Moved: r.moved, Partitions: count(g.assigned), Lost: append(r.lost, g.died...)}
	g.died = nil
	if r.joinedMs > 0 {
		h.compareMembers(g, r, &rec)
	}
	if settled {
		rec.SettledMs = atMs
		if g.lastGeneration >= 0 && r.generation > g.lastGeneration+1 {
			rec.Unsettled = int(r.generation - g.lastGeneration - 1)
		}
		h.own(g, g.assigned)
		for _, m := range g.members { // what they have, not what they are to have
			m.partitions = countOf(m.assigned)
		}
		g.loop.settled(r.key, signature(g))
		g.freed = nil
	}
	g.lastGeneration = r.generation
	h.remember(g, rec)
}

// minus takes partitions away from a list.
func minus(list, gone []event.TopicPartitions) (left []event.TopicPartitions) {
	drop := map[place]bool{}
	for _, t := range gone {
		for _, p := range t.Partitions {
			drop[place{t.Topic, p}] = true
		}
	}
	for _, t := range list {
		kept := slices.DeleteFunc(slices.Clone(t.Partitions), func(p int32) bool { return drop[place{t.Topic, p}] })
		if len(kept) > 0 {
			left = append(left, event.TopicPartitions{Topic: t.Topic, Partitions: kept})
		}
	}
	return left
}
