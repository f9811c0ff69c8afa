package coordinator

import (
	"maps"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// probeTicket is a ticket that no host uses.
const probeTicket Ticket = math.MinInt64

// Probe tells what a request would get now. It works on a copy of one group and changes nothing. Timers of that group
// that are due at nowMs have run.
func (c *Coordinator) Probe(nowMs int64, r Request) Probed {
	k := c.bare()
	switch q := r.Kmsg.(type) {
	case *kmsg.JoinGroupRequest:
		k.borrow(c, q.Group)
	case *kmsg.SyncGroupRequest:
		k.borrow(c, q.Group)
	case *kmsg.HeartbeatRequest:
		k.borrow(c, q.Group)
	case *kmsg.LeaveGroupRequest:
		k.borrow(c, q.Group)
	case *kmsg.OffsetCommitRequest:
		k.borrow(c, q.Group)
	case *kmsg.TxnOffsetCommitRequest:
		k.borrow(c, q.Group)
	case *kmsg.OffsetDeleteRequest:
		k.borrow(c, q.Group)
	case *kmsg.DeleteGroupsRequest:
		for _, id := range q.Groups {
			if k.groups[id] == nil {
				k.borrow(c, id)
			}
		}
	default:
		k.groups = c.groups // these only read
	}
	r.Ticket = probeTicket
	k.Handle(nowMs, r)
	return k.probed()
}

// bare is a copy without groups and timers.
func (c *Coordinator) bare() *Coordinator {
	k := *c
	k.cfg.Numbers = c.cfg.Numbers.Clone()
	k.groups, k.groupSlots, k.freeGroups = map[string]*group{}, nil, nil
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
	for _, m := range original.pending {
		copyMember(m)
	}
	g := original.clone(slots)
	c.groupSlots[g.slot], c.groups[id] = g, g
	for _, t := range []*timer{&g.joinOp, &g.syncOp} {
		if d, waits := from.rebalances.Get(t.op); waits {
			t.op, _ = c.rebalances.TryCompleteElseWatch(d.StartMs, d.Value, d.DeadlineMs, d.Keys...)
		}
	}
	for _, m := range slices.Concat(g.members, g.pending) {
		if d, waits := from.sessions.Get(m.session.op); waits {
			m.session.op, _ = c.sessions.TryCompleteElseWatch(d.StartMs, d.Value, d.DeadlineMs, d.Keys...)
		}
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
