package coordinator

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// newMemberTimeoutMs is how long a member's first JoinGroup may be parked. It may not know its id yet and its connection
// is muted, so nothing else tells that it is gone (Kafka: ClassicGroup's newMemberJoinTimeoutMs, KAFKA-7610).
const newMemberTimeoutMs = 300000

// beatEveryMs is how often the unchanged heartbeats of one member are told at most.
const beatEveryMs = 100

// session is a member's DelayedHeartbeat.
type session struct {
	op  purgatory.Op // zero where none waits
	seq int64        // of the OperationWatched that told of it
	// name is the number under which it was told. A timer that a coalesced heartbeat moved is a new operation in
	// purgatory and keeps the told name.
	name                int64
	startMs, deadlineMs int64
	toldMs              int64 // when it was told
	// pending and isNew are the operation's.
	pending, isNew bool
	// moved is set while the deadline is a later one than was told.
	moved bool
}

// beats is what was told of a member's heartbeats last.
type beats struct {
	seq    int64 // of its HeartbeatReceived, 0 before the first
	ms     int64
	code   int16
	merged int
}

// heartbeatSatisfied tells whether the member counts as alive without a heartbeat: while its reply is parked it cannot
// send one. A new member must be satisfied in the narrow sense, so that its five minutes can run out while it is parked.
func (m *member) heartbeatSatisfied() bool {
	return m.satisfied || !m.isNew && (m.join.waits || m.sync.waits)
}

// knock tests the member's timer.
func (c *Coordinator) knock(m *member, how string) {
	before := c.how
	c.how = how
	c.sessions.CheckAndComplete(m.slot)
	c.how = before
}

// resetSession ends the member's timer and starts the next (Kafka: completeAndScheduleNextHeartbeatExpiration). A quiet
// reset is not told: the running timer's picture is then up to beatEveryMs early, and is put right when it matters.
func (c *Coordinator) resetSession(m *member, how string, quiet bool) {
	c.armSession(m, operation{kind: event.DelayedHeartbeat, slot: m.slot}, int64(m.sessionTimeoutMs), how, quiet)
}

func (c *Coordinator) armSession(m *member, v operation, afterMs int64, how string, quiet bool) {
	// Quiet is only what changes nothing but the deadline: not another timeout, nor that it ends because a reply is parked.
	quiet = quiet && m.session.op.Number != 0 && m.session.isNew == v.isNew && !m.heartbeatSatisfied() &&
		m.session.deadlineMs-m.session.startMs == afterMs
	deadlineMs := c.nowMs + max(afterMs, 0)
	if quiet && m.session.startMs == c.nowMs && m.session.deadlineMs == deadlineMs {
		c.wheel.PassOver() // another one in the same millisecond moves nothing
		return
	}
	c.quiet = quiet
	m.satisfied = true
	c.knock(m, how)
	m.satisfied = false
	op, completed := c.sessions.TryCompleteElseWatch(c.nowMs, v, deadlineMs, m.slot)
	c.quiet = false
	if completed { // its reply is parked, so it needs none
		return
	}
	m.session.op, m.session.pending, m.session.isNew = op, v.pending, v.isNew
	m.session.startMs, m.session.deadlineMs, m.session.moved = c.nowMs, deadlineMs, quiet
	if !quiet {
		m.session.name, m.session.toldMs = op.Number, c.nowMs
		m.session.seq = c.emit(m.groupID, c.sessionWatched(m))
	}
}

// tellMoved puts the picture of a timer right that quiet resets have moved.
func (c *Coordinator) tellMoved(m *member) {
	if !m.session.moved {
		return
	}
	m.session.moved = false
	c.cause = m.session.seq
	m.session.seq = c.emit(m.groupID, c.sessionWatched(m))
}

// sessionWatched tells of a session timer that waits.
func (c *Coordinator) sessionWatched(m *member) event.OperationWatched {
	at := c.sessions.Place(m.session.op)
	w := event.OperationWatched{Op: m.session.name, Type: event.DelayedHeartbeat, Keys: m.keyNames(),
		Member: m.id, StartMs: m.session.startMs, DeadlineMs: m.session.deadlineMs, Pending: m.session.pending,
		New:   m.session.isNew,
		Level: at.Level, CellMs: at.CellMs, DeadlineOf: m.id, Until: "it sends a heartbeat or a commit",
		Unswept: c.sessions.Unswept(), Over: c.sessions.Over()}
	switch {
	case m.session.pending:
		w.Until = "it joins with its id"
	case m.session.isNew:
		w.DeadlineOf, w.Until = "", "the join phase ends"
	}
	return w
}

// sessionExpired removes a member or forgets an id whose time is up (Kafka: onExpireHeartbeat). A member whose reply is
// parked is excused: nothing happens to it, and the next timer starts when it is answered.
func (c *Coordinator) sessionExpired(m *member, v operation) {
	g := c.groupSlots[m.group]
	if v.pending {
		c.forgetPending(g, m, event.WhyPendingExpired)
		if g.state == event.PreparingRebalance {
			c.tryCompleteJoin(g)
		}
		return
	}
	if m.heartbeatSatisfied() {
		return
	}
	why := event.WhySessionExpired
	if m.isNew {
		why = event.WhyNewMemberTimeout
	}
	c.removeMember(g, m, why, "")
	c.replaceLeader(g, event.WhyLeaderGone)
	c.membersRemoved(g, why, m.id, "")
}

// membersRemoved lets the group go on without those who were removed: by a rebalance, or by having nobody left to wait
// for.
func (c *Coordinator) membersRemoved(g *group, why event.Why, member, clientReason string) {
	switch g.state {
	case event.Stable, event.CompletingRebalance:
		c.prepareRebalance(g, why, member, clientReason)
	case event.PreparingRebalance:
		c.tryCompleteJoin(g)
	}
}
