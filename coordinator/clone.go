package coordinator

import (
	"maps"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// Clone returns a copy that goes its own way, for a copy of the world that numbers its events with n. Timers keep their
// cells, so both go on alike if they are told alike. What Take has not handed out yet is in both.
func (c *Coordinator) Clone(n *event.Numbers) *Coordinator {
	c.room = batchRoom{} // what both still have to hand out lies in it
	k := *c
	k.cfg.Numbers = n
	k.groups, k.lastGroup = make(map[string]*group, len(c.groups)), nil
	k.groupSlots = make([]*group, len(c.groupSlots))
	k.freeGroups = slices.Clone(c.freeGroups)
	k.memberSlots = make([]*member, len(c.memberSlots))
	k.freeMembers = slices.Clone(c.freeMembers)
	for slot, m := range c.memberSlots {
		if m != nil {
			copied := *m
			k.memberSlots[slot] = &copied
		}
	}
	for slot, g := range c.groupSlots {
		if g != nil {
			k.groupSlots[slot] = g.clone(k.memberSlots)
			k.groups[g.id] = k.groupSlots[slot]
		}
	}
	k.partitions = make(map[int32]*partition, len(c.partitions))
	for number, p := range c.partitions {
		k.partitions[number] = p.clone()
	}
	k.freeAppends = nil
	k.appends = make(map[int64]*inflight, len(c.appends))
	for ticket, a := range c.appends {
		k.appends[ticket] = a.clone()
	}
	k.openTxns = maps.Clone(c.openTxns)
	k.verifications = maps.Clone(c.verifications)
	k.deletions = make(map[int64]*deletion, len(c.deletions))
	for number, d := range c.deletions {
		k.deletions[number] = d.clone()
	}
	k.bind(c.wheel.Clone(), c.sessions, c.rebalances)
	k.out.Appends, k.out.Replies = slices.Clone(c.out.Appends), slices.Clone(c.out.Replies)
	k.out.Events, k.out.Verifications = slices.Clone(c.out.Events), slices.Clone(c.out.Verifications)
	return &k
}

// bind gives a copy purgatories of its own, which act on it.
func (c *Coordinator) bind(wheel *purgatory.Wheel, s *purgatory.Purgatory[int32, operation],
	r *purgatory.Purgatory[int64, operation]) {
	c.wheel = wheel
	c.sessions, c.rebalances = s.Clone(wheel, sessions{c}), r.Clone(wheel, rebalances{c})
	c.cascaded = c.timerCascaded
}

// clone copies a group whose members were copied to the same slots.
func (g *group) clone(memberSlots []*member) *group {
	k := *g
	k.members = slices.Clone(g.members)
	k.last = nil
	k.byID = make(map[string]*member, len(g.byID))
	for i, m := range k.members {
		k.members[i] = memberSlots[m.slot]
		k.byID[m.id] = k.members[i]
	}
	k.byInstance = nil
	for _, m := range k.members {
		k.nameInstance(m)
	}
	k.supporters = maps.Clone(g.supporters)
	k.departed = slices.Clone(g.departed)
	for i, m := range k.departed {
		k.departed[i] = memberSlots[m.slot]
	}
	k.pending, k.pendingByID = slices.Clone(g.pending), maps.Clone(g.pendingByID)
	for i, m := range k.pending {
		k.pending[i] = memberSlots[m.slot]
		k.pendingByID[m.id] = k.pending[i]
	}
	k.offsetTable = g.offsetTable.clone()
	k.txns = slices.Clone(g.txns)
	for i, t := range k.txns {
		copied := *t
		copied.offsetTable = t.offsetTable.clone()
		k.txns[i] = &copied
	}
	return &k
}

func (p *partition) clone() *partition {
	k := *p
	if p.load == nil {
		return &k
	}
	l := *p.load
	l.skipped, l.markers, l.open = slices.Clone(l.skipped), slices.Clone(l.markers), maps.Clone(l.open)
	l.groups = make(map[string]*loadedGroup, len(p.load.groups))
	for id, lg := range p.load.groups {
		l.groups[id] = &loadedGroup{lg.g.clone(nil), lg.record}
	}
	k.load = &l
	return &k
}

// clone copies an append. Its response is written to when the outcome arrives, and the room of its values is used again
// then, so the copy needs its own.
func (a *inflight) clone() *inflight {
	k := *a
	k.commit.values = slices.Clone(a.commit.values)
	if a.commit.resp != nil {
		resp := *a.commit.resp
		resp.Topics = slices.Clone(resp.Topics)
		for i := range resp.Topics {
			resp.Topics[i].Partitions = slices.Clone(resp.Topics[i].Partitions)
		}
		k.commit.resp = &resp
	}
	return &k
}
