package coordinator

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// probeTicket is a ticket that no host uses.
const probeTicket Ticket = math.MinInt64

// Probe tells what a request would get at nowMs. It works on copies of the groups that the request names and changes
// nothing. Timers of those groups that are due at nowMs have run; others, and the clean-up job, have not, which ListGroups
// may show.
func (c *Coordinator) Probe(nowMs int64, r Request) Probed {
	k := c.bare()
	named, reads := namedGroups(r.Kmsg)
	if reads && (named == nil || !c.isDue(nowMs)) {
		k.groups, named = c.groups, nil
	}
	for _, id := range named {
		if k.groups[id] == nil {
			k.borrow(c, id)
		}
	}
	r.Ticket = probeTicket
	k.Handle(nowMs, r)
	return k.probed()
}

// isDue tells whether a timer would run if time moved to nowMs.
func (c *Coordinator) isDue(nowMs int64) bool {
	next := c.wheel.NextMs()
	return next >= 0 && next <= nowMs
}

// namedGroups are the groups that a request is about, and whether it leaves them as they are.
func namedGroups(r kmsg.Request) (groups []string, reads bool) {
	switch q := r.(type) {
	case *kmsg.JoinGroupRequest:
		return []string{q.Group}, false
	case *kmsg.SyncGroupRequest:
		return []string{q.Group}, false
	case *kmsg.HeartbeatRequest:
		return []string{q.Group}, false
	case *kmsg.LeaveGroupRequest:
		return []string{q.Group}, false
	case *kmsg.OffsetCommitRequest:
		return []string{q.Group}, false
	case *kmsg.TxnOffsetCommitRequest:
		return []string{q.Group}, false
	case *kmsg.OffsetDeleteRequest:
		return []string{q.Group}, false
	case *kmsg.DeleteGroupsRequest:
		return q.Groups, false
	case *kmsg.DescribeGroupsRequest:
		return q.Groups, true
	case *kmsg.OffsetFetchRequest:
		groups = append(groups, q.Group)
		for i := range q.Groups {
			groups = append(groups, q.Groups[i].Group)
		}
	}
	return groups, true
}

// bare is a copy without groups and timers.
func (c *Coordinator) bare() *Coordinator {
	k := *c
	k.cfg.Numbers = c.cfg.Numbers.Clone()
	k.groups, k.lastGroup, k.groupSlots, k.freeGroups = map[string]*group{}, nil, nil, nil
	k.memberSlots, k.freeMembers = nil, nil
	k.appends, k.freeAppends, k.room = map[int64]*inflight{}, nil, batchRoom{}
	k.openTxns, k.verifications, k.deletions = maps.Clone(c.openTxns), map[int64]*verification{}, map[int64]*deletion{}
	k.cleanup = purgatory.None
	k.out, k.taken = Output{}, false
	k.wheel = purgatory.NewWheel(c.nowMs)
	k.sessions = purgatory.New[int32, operation](k.wheel, ownerSessions, sessions{&k})
	k.rebalances = purgatory.New[int64, operation](k.wheel, ownerRebalances, rebalances{&k})
	k.cascaded = nil
	return &k
}

// borrow takes a copy of a group, with its waiting operations.
func (c *Coordinator) borrow(from *Coordinator, id string) {
	original := from.groups[id]
	if original == nil {
		return
	}
	if c.groupSlots == nil {
		c.memberSlots, c.groupSlots = make([]*member, len(from.memberSlots)), make([]*group, len(from.groupSlots))
	}
	slots := c.memberSlots
	copyMember := func(m *member) {
		k := *m
		k.beats = beats{} // nothing is told quietly
		slots[m.slot] = &k
	}
	for _, m := range original.members {
		copyMember(m)
	}
	for _, m := range slices.Concat(original.pending, original.departed) {
		copyMember(m)
	}
	g := original.clone(slots)
	c.groupSlots[g.slot], c.groups[id], c.lastGroup = g, g, nil
	c.borrowTimers(from, g)
}

// borrowTimers puts the waiting operations of a copied group into the copy's purgatories, in the order in which their timers
// were armed: of those due in one millisecond the first may end the others.
func (c *Coordinator) borrowTimers(from *Coordinator, g *group) {
	type waiting struct {
		armed int64
		watch func()
	}
	var all []waiting
	for _, t := range []*timer{&g.joinOp, &g.syncOp} {
		if d, waits := from.rebalances.Get(t.op); waits {
			all = append(all, waiting{d.Armed, func() {
				t.op, _ = c.rebalances.TryCompleteElseWatch(d.StartMs, d.Value, d.DeadlineMs, d.Keys...)
			}})
		}
	}
	for _, m := range slices.Concat(g.members, g.pending, g.departed) {
		if d, waits := from.sessions.Get(m.session.op); waits {
			all = append(all, waiting{d.Armed, func() {
				m.session.op, _ = c.sessions.TryCompleteElseWatch(d.StartMs, d.Value, d.DeadlineMs, d.Keys...)
			}})
		}
	}
	slices.SortFunc(all, func(a, b waiting) int { return cmp.Compare(a.armed, b.armed) })
	for _, w := range all {
		w.watch()
	}
}

// probed reads the answer out of what a probe has put out.
func (c *Coordinator) probed() (p Probed) {
	for _, r := range c.out.Replies {
		if r.Ticket == probeTicket {
			p.Reply, p.Code = r.Kmsg, r.Code
		}
	}
	p.Parked = p.Reply == nil
	for _, e := range c.out.Events {
		switch b := e.Body.(type) {
		case event.ReplySent:
			if b.Ticket == probeTicket {
				p.Guard = b.Guard
			}
		case event.ReplyParked:
			if b.Ticket == probeTicket && p.Parked {
				p.Until = b.Until
			}
		}
	}
	return p
}
