package history

import (
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// applyGroup folds what happens to a group, in either protocol.
func (h *History) applyGroup(g *group, e *event.Event) {
	defer h.steadies(g)
	switch b := e.Body.(type) {
	case event.GroupCreated:
		h.takeOver(g, e)
		h.retention(e.Broker, b.RetentionMs)
		h.enter(g, event.Empty, e.AtMs)
		g.simple = true
	case event.GroupLoaded:
		h.load(g, e, b)
	case event.GroupRemoved:
		if b.Why == event.WhyNotCoordinator {
			h.loseCoordinator(g, e.AtMs)
			return
		}
		h.gone(g)
	case event.StateChanged:
		h.changeState(g, e, b)
	case event.RebalanceStarted:
		h.begin(g, e, b)
	case event.GenerationStarted:
		h.startGeneration(g, e, b)
	case event.LeaderElected:
		g.leader = b.Member
	case event.AssignmentStored:
		g.assigned, g.assignedGen = b.Assignments, b.Generation
		switch {
		case g.rebalance == nil: // a load, or facts
			h.own(g, b.Assignments)
			g.everOwned = len(g.owners) > 0
		case g.state == event.Stable:
			h.settle(g, e)
		}
		h.touch(g, false)
	case event.AppendStarted:
		g.partition = b.Partition
		g.appending = append(g.appending, b.Append)
		if r := g.rebalance; r != nil && g.state == event.CompletingRebalance && len(g.appending) == 1 {
			r.end(event.WhyLeaderAssigned, g.leader, e.AtMs)
		}
	case event.AppendFinished:
		if i := slices.Index(g.appending, b.Append); i >= 0 { // the others are of commits
			g.appending = slices.Delete(g.appending, i, i+1)
		}
	default:
		h.applyMember(g, e)
		h.applyShelf(g, e)
		h.applyOffsets(g, e)
	}
}

// takeOver makes the broker of a fact the group's coordinator.
func (h *History) takeOver(g *group, e *event.Event) {
	if e.Broker != 0 && g.coordinator != e.Broker {
		if g.coordinator != 0 {
			g.forget()
		}
		g.coordinator = e.Broker
		h.touch(g, true)
	}
	g.gone, g.unseen, g.lostMs = false, false, 0
	if g.kind == "" {
		g.kind = "classic"
	}
}

func (h *History) load(g *group, e *event.Event, b event.GroupLoaded) {
	if r := g.rebalance; r != nil && !g.unseen {
		r.end(event.WhyGroupLoaded, "", e.AtMs)
		h.close(g, e.AtMs, false) // the load has forgotten it
	}
	h.takeOver(g, e)
	h.dropMembers(g)
	g.partition, g.generation, g.protocol, g.leader = b.Partition, b.Generation, b.Protocol, b.Leader
	g.simple = b.Generation == 0 && b.State == event.Empty
	sinceMs := b.SinceMs
	if sinceMs == 0 || sinceMs > e.AtMs {
		sinceMs = e.AtMs
	}
	h.enter(g, b.State, sinceMs)
	g.lastGeneration = max(b.Generation-1, 0)
	switch b.State {
	case event.PreparingRebalance, event.CompletingRebalance:
		if g.rebalance == nil {
			g.rebalance = newRebalance(b.BeganMs, cause{why: b.Began, member: b.BeganMember})
			g.last = g.rebalance.cause
		}
	default:
		g.lastGeneration, g.rebalance = b.Generation, nil
	}
}

func (h *History) changeState(g *group, e *event.Event, b event.StateChanged) {
	if b.Why == event.WhyNotCoordinator {
		h.loseCoordinator(g, e.AtMs)
		return
	}
	h.takeOver(g, e)
	h.enter(g, b.To, e.AtMs)
	switch b.To {
	case event.CompletingRebalance:
		for _, m := range g.members {
			m.awaitsSync = true
		}
	case event.Stable:
		if g.rebalance != nil && g.assignedGen == g.generation {
			h.settle(g, e)
		}
	case event.Dead:
		h.gone(g)
	case event.PreparingRebalance, event.Empty:
		for _, m := range g.members {
			m.awaitsSync = false
		}
		if b.To == event.Empty && g.rebalance != nil && g.kind == "classic" {
			h.settle(g, e)
		}
	}
	h.touch(g, true)
}

// enter notes the group's state and when it was entered.
func (h *History) enter(g *group, s event.State, atMs int64) {
	if !g.gone && g.state != "" {
		h.states[g.state].leave(g.sinceMs, atMs)
	}
	if g.state, g.sinceMs = s, atMs; g.seen.State != s {
		g.seen = event.AwaitedSeen{}
	}
	if s != event.Dead {
		if h.states[s] == nil {
			h.states[s] = &stateTime{}
		}
		h.states[s].enter(atMs)
		g.gone = false
	}
	switch s {
	case event.Stable, event.Empty, event.Dead:
		g.restlessMs = 0
		delete(h.moving, g)
		if g.lostMs != 0 {
			h.restless(g, g.lostMs)
		}
	default:
		h.restless(g, atMs)
	}
	h.touch(g, true)
}

// restless notes that a group does not serve, or has no coordinator.
func (h *History) restless(g *group, atMs int64) {
	if g.restlessMs == 0 {
		g.restlessMs = atMs
	}
	h.moving[g] = struct{}{}
}

func (h *History) applyMember(g *group, e *event.Event) {
	switch b := e.Body.(type) {
	case event.MemberIDIssued:
		h.takeOver(g, e)
		g.pending = append(g.pending, pendingID{b.Member, b.ClientID, b.ClientHost})
	case event.PendingForgotten:
		g.forgetPending(b.Member)
		if r := g.rebalance; r != nil && b.Why != event.WhyPendingJoined && g.state == event.PreparingRebalance {
			r.arrived(b.Member, b.Why)
		}
	case event.MemberAdded:
		if g.kind != "consumer" {
			h.takeOver(g, e)
		}
		h.addMember(g, &member{id: b.Member, instance: b.InstanceID, client: b.ClientID, host: b.ClientHost, rebalanceMs: b.RebalanceTimeoutMs,
			sessionMs: b.SessionTimeoutMs, topics: b.Topics})
	case event.MemberUpdated:
		if m := g.member(b.Member); m != nil {
			m.rebalanceMs, m.sessionMs, m.topics = b.RebalanceTimeoutMs, b.SessionTimeoutMs, b.Topics
			h.heard(g, m)
		}
	case event.HeartbeatReceived:
		h.heard(g, g.member(b.Member))
		return
	case event.MemberReplaced:
		h.replace(g, b)
	case event.MemberRemoved:
		m := h.removeMember(g, b.Member, b.ClientReason)
		if m == nil {
			return
		}
		h.died(g, m, b.Why, e.AtMs)
		if r := g.rebalance; r != nil {
			r.arrived(b.Member, b.Why)
		}
	default:
		return
	}
	h.touch(g, false)
}

// died counts how long the partitions of a dead member stood still before anybody noticed.
func (h *History) died(g *group, m *member, why event.Why, untilMs int64) {
	if r := g.rebalance; r != nil && !g.cooperative() {
		untilMs = min(untilMs, r.startedMs) // from then on all stand still
	}
	if lost := int64(m.partitions) * (untilMs - m.goneMs); m.goneMs > 0 && lost > 0 {
		g.died = append(g.died, event.Lost{Why: why, Member: m.id, PartitionMs: lost})
	}
}

// replace gives a static member its new id: its place stays.
func (h *History) replace(g *group, b event.MemberReplaced) {
	m := g.member(b.Old)
	if m == nil {
		return
	}
	delete(h.memberOf, m.id)
	h.memberOf[b.Member] = g
	h.bury(m)
	m.id, m.goneMs, m.killed = b.Member, 0, false
	if b.ClientID != "" {
		m.client, m.host = b.ClientID, b.ClientHost
	}
	for i := range g.owners {
		if g.owners[i].member == b.Old {
			g.owners[i].member = b.Member
		}
	}
	if i := slices.Index(g.settled, b.Old); i >= 0 {
		g.settled[i] = b.Member
	}
	if g.leader == b.Old {
		g.leader = b.Member
	}
}

func (h *History) applyShelf(g *group, e *event.Event) {
	switch b := e.Body.(type) {
	case event.RequestReceived:
		if m := g.member(b.Member); m != nil {
			m.awaitsSync = false
		}
	case event.ReplyParked:
		g.park(b)
		if r := g.rebalance; r != nil && b.API == apiJoinGroup && g.state == event.PreparingRebalance {
			r.arrived(b.Member, event.WhyAllRejoined)
		}
	case event.ReplySent:
		g.unpark(b.Ticket)
	case event.ReplyDropped:
		g.unpark(b.Ticket)
	case event.OperationWatched:
		o := op{number: b.Op, broker: e.Broker, initial: b.Type == event.InitialDelayedJoin, startMs: b.StartMs, deadlineMs: b.DeadlineMs}
		if b.Type == event.DelayedSync {
			g.syncOp = o
			break
		}
		g.joinOp = o
		if r := g.rebalance; r != nil && o.initial {
			r.delayed = true
		}
	case event.OperationCompleted:
		if b.Type == event.DelayedSync {
			if g.syncOp.number == b.Op && g.syncOp.broker == e.Broker {
				g.syncOp = op{}
			}
		} else if g.joinOp.number == b.Op && g.joinOp.broker == e.Broker {
			g.joinOp = op{}
		}
	default:
		return
	}
	h.touch(g, false)
}

// applyOffsets keeps what tells when the first of an Empty group's offsets expires.
func (h *History) applyOffsets(g *group, e *event.Event) {
	switch b := e.Body.(type) {
	case event.OffsetsCommitted:
		if !g.hasOffsets {
			g.hasOffsets = true
			h.touch(g, false)
		}
		for i := range b.Offsets {
			o := &b.Offsets[i]
			if !g.simple && o.ExpireMs == 0 && len(g.offsets) == 0 {
				continue
			}
			if g.offsets == nil {
				g.offsets = map[place]stamp{}
			}
			at := o.CommitMs
			if at == 0 {
				at = e.AtMs
			}
			g.offsets[place{o.Topic, o.Partition}] = stamp{at, o.ExpireMs}
			h.touch(g, false)
		}
	case event.OffsetsRemoved:
		for i := range b.Offsets {
			delete(g.offsets, place{b.Offsets[i].Topic, b.Offsets[i].Partition})
		}
		h.touch(g, false)
	}
}

// cooperative tells whether the members keep what they own during a rebalance.
func (g *group) cooperative() bool { return strings.Contains(g.protocol, "cooperative") }
