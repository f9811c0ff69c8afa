package coordinator

import (
	"slices"

	"grouplab/coordinator/event"
)

// prepareRebalance begins a join phase (Kafka: prepareRebalance). Parked SyncGroups are answered
// REBALANCE_IN_PROGRESS; parked JoinGroups stay parked. Out of Empty the phase is an InitialDelayedJoin, which only
// time ends (KIP-134); otherwise a DelayedJoin, which waits for every member for the largest rebalance timeout at most.
func (c *Coordinator) prepareRebalance(g *group, why event.Why, member, clientReason string) {
	cause := c.cause
	timeoutMs, _ := g.rebalanceTimeoutMs()
	c.cause = c.emit(g.id, event.RebalanceStarted{Why: why, Member: member, ClientReason: clientReason,
		Generation: g.generation, RebalanceTimeoutMs: timeoutMs})
	g.began = beginning{why, member, c.nowMs, c.cause}
	if g.state == event.CompletingRebalance {
		c.clearAssignments(g)
		c.answerSyncs(g, codeRebalanceInProgress, "a rebalance began: "+string(why))
	}
	c.endSync(g)
	g.fromEmpty = g.state == event.Empty
	c.transition(g, event.PreparingRebalance, why, member)
	if g.fromEmpty {
		delayMs := int64(c.cfg.Settings.GroupInitialRebalanceDelayMs)
		c.watch(g, operation{kind: event.InitialDelayedJoin, slot: g.slot, delayMs: delayMs,
			remainingMs: max(int64(timeoutMs)-delayMs, 0)}, joinKey(g), delayMs)
	} else {
		c.watch(g, operation{kind: event.DelayedJoin, slot: g.slot}, joinKey(g), int64(timeoutMs))
	}
	c.cause = cause
}

// endSync forgets who has not synced, and with that ends the sync timer.
func (c *Coordinator) endSync(g *group) {
	for _, m := range g.members {
		g.syncReceived(m)
	}
	how := c.how
	c.how = "a new rebalance began"
	c.rebalances.CheckAndComplete(syncKey(g))
	c.how = how
}

// tryCompleteJoin knocks on the join phase: it may be that nobody is missing any more.
func (c *Coordinator) tryCompleteJoin(g *group) { c.rebalances.CheckAndComplete(joinKey(g)) }

// joinPhaseOver runs when the join operation is over. The initial delay goes into another round where a member came
// during this one, until the largest rebalance timeout of the first round is used up. (Kafka's
// tryCompleteInitialRebalanceElseSchedule, which reduces what remains by the previous round's delay, not by the next's.)
func (c *Coordinator) joinPhaseOver(g *group, v operation, expired bool) {
	why := event.WhyAllRejoined
	switch {
	case v.kind == event.InitialDelayedJoin && g.newMemberAdded && v.remainingMs != 0:
		g.newMemberAdded = false
		delayMs := min(int64(c.cfg.Settings.GroupInitialRebalanceDelayMs), v.remainingMs)
		c.watch(g, operation{kind: event.InitialDelayedJoin, slot: g.slot, delayMs: delayMs,
			remainingMs: max(v.remainingMs-v.delayMs, 0)}, joinKey(g), delayMs)
		return
	case v.kind == event.InitialDelayedJoin:
		why = event.WhyInitialDelayOver
	case expired:
		why = event.WhyRebalanceTimeout
	}
	c.completeJoin(g, why)
}

// completeJoin begins the next generation with those who have joined again (Kafka: completeClassicGroupJoin). A static
// member that has not is kept: its process may just be starting again. But somebody must have come: where there are only
// static members and none of them waits, there is nobody to lead, and the phase goes on for another rebalance timeout.
func (c *Coordinator) completeJoin(g *group, why event.Why) {
	for _, m := range slices.Clone(g.members) {
		if !m.join.waits && m.instanceID == nil {
			c.removeMember(g, m, event.WhyNotRejoined, "")
		}
	}
	if !c.electJoinedLeader(g) {
		timeoutMs, _ := g.rebalanceTimeoutMs()
		c.watch(g, operation{kind: event.DelayedJoin, slot: g.slot}, joinKey(g), int64(timeoutMs))
		return
	}
	if len(g.members) == 0 {
		why = event.WhyNoMembers
	}
	g.generation++
	g.protocol = g.electProtocol()
	g.computeSubscribed()
	started := event.GenerationStarted{Generation: g.generation, Protocol: g.protocol, Leader: g.leader, Why: why,
		DurationMs: c.nowMs - g.began.ms}
	for _, m := range g.members {
		started.Members = append(started.Members, m.id)
	}
	c.cause = c.emit(g.id, started)
	if len(g.members) == 0 {
		c.transition(g, event.Empty, why, "")
		c.appendEmptyGroup(g)
		return
	}
	c.transition(g, event.CompletingRebalance, why, "")
	for _, m := range g.members {
		if m.join.waits {
			c.answerJoin(g, m, joinResponse(m.join.version, g, m), "")
		}
		m.isNew = false
		c.resetSession(m, "its join was answered", false)
		m.pendingSync = true
		g.pendingSync++
	}
	timeoutMs, _ := g.rebalanceTimeoutMs()
	c.watch(g, operation{kind: event.DelayedSync, slot: g.slot, generation: g.generation}, syncKey(g), int64(timeoutMs))
}

// electJoinedLeader lets a leader that has not joined again give way to the member that has and has been there for
// longest (Kafka: maybeElectNewJoinedLeader, which takes any). It tells false where there are members and none has joined.
func (c *Coordinator) electJoinedLeader(g *group) bool {
	if leader := g.byID[g.leader]; leader != nil && leader.join.waits {
		return true
	}
	for _, m := range g.members {
		if m.join.waits {
			c.electLeader(g, m, event.WhyLeaderNotRejoined)
			return true
		}
	}
	if g.byID[g.leader] == nil {
		c.replaceLeader(g, event.WhyLeaderNotRejoined)
	}
	return len(g.members) == 0
}

// syncExpired removes those who joined and did not sync in time (Kafka: onExpirePendingSync, KAFKA-12890).
func (c *Coordinator) syncExpired(g *group) {
	for _, m := range slices.Clone(g.members) {
		if m.pendingSync {
			c.removeMember(g, m, event.WhyNotSynced, "")
		}
	}
	c.replaceLeader(g, event.WhyLeaderGone)
	c.prepareRebalance(g, event.WhyNotSynced, "", "")
}
