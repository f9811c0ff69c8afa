package coordinator

import (
	"slices"
	"strconv"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// Kafka has two purgatories: one for the sessions of members, one for joins and syncs. Both wait in one wheel, and with
// them the clean-up job.
const (
	ownerSessions uint8 = iota
	ownerRebalances
	ownerCleanup
)

// PurgatorySize are the two figures that Kafka's metrics give of a purgatory.
type PurgatorySize struct {
	// Name is Kafka's: "Heartbeat" for the sessions of members, "Rebalance" for joins and syncs.
	Name string
	// PurgatorySize counts entries of watch lists: an operation under several keys counts several times, and one that is
	// over counts until somebody knocks there, or more than 1 000 are. NumDelayedOperations counts those with a timer.
	PurgatorySize, NumDelayedOperations int
}

// Purgatories tells how large the two purgatories are.
func (c *Coordinator) Purgatories() [2]PurgatorySize {
	return [2]PurgatorySize{{"Heartbeat", c.sessions.Watched(), c.sessions.Delayed()}, {"Rebalance", c.rebalances.Watched(), c.rebalances.Delayed()}}
}

// operation is a delayed operation as a plain value: what it is and whose.
type operation struct {
	kind event.OpKind
	// slot is the group's, or for a DelayedHeartbeat the member's.
	slot int32
	// generation binds a DelayedSync to the members that it waits for.
	generation int32
	// delayMs and remainingMs are an InitialDelayedJoin's: this round, and what is left for more.
	delayMs, remainingMs int64
	// pending: the timer of an id that has not joined. isNew: the five-minute timer of a first join.
	pending, isNew bool
}

// sessions is the behaviour of DelayedHeartbeat.
type sessions struct{ c *Coordinator }

// rebalances is the behaviour of DelayedJoin, InitialDelayedJoin and DelayedSync.
type rebalances struct{ c *Coordinator }

func joinKey(g *group) int64 { return int64(g.slot) << 1 }
func syncKey(g *group) int64 { return int64(g.slot)<<1 | 1 }

// keyName is how Kafka prints its keys (GroupJoinKey, GroupSyncKey, MemberKey).
func keyName(key int64, id string) string {
	if key&1 == 0 {
		return "join-" + id
	}
	return "sync-" + id
}

// keyNames is the one key of a member's timer, in a list that its events share.
func (m *member) keyNames() []string {
	if m.keys == nil || m.keys[0][len(memberKey):] != m.id { // a static member's id changes
		m.keys = []string{memberKey + m.id}
	}
	return m.keys
}

const memberKey = "member-"

// runTimers ends what is due. Each expiry begins at the OperationWatched that set it; its OperationCompleted is the cause
// of what it leads to.
func (c *Coordinator) runTimers() {
	cause := c.cause
	for {
		x, due := c.wheel.Advance(c.nowMs, c.cascaded)
		if !due {
			break
		}
		switch x.Owner {
		case ownerSessions:
			c.sessions.Expire(x)
		case ownerRebalances:
			c.rebalances.Expire(x)
		case ownerCleanup:
			c.cleanUp()
		}
	}
	c.sessions.Purge()
	c.rebalances.Purge()
	c.cause = cause
}

// timerCascaded tells that a timer dropped to a finer wheel. The clean-up job is no operation, so nobody is told of it.
func (c *Coordinator) timerCascaded(x purgatory.Cascade) {
	if x.Owner == ownerCleanup {
		return
	}
	told := event.TimerCascaded{From: x.From, Level: x.To, CellMs: x.CellMs}
	if x.Owner == ownerSessions {
		op := c.sessions.At(x.Ref)
		d, _ := c.sessions.Get(op)
		m := c.memberSlots[d.Value.slot]
		c.tellMoved(m)
		c.cause, told.Op = m.session.seq, m.session.name
		c.emit(m.groupID, told)
		return
	}
	op := c.rebalances.At(x.Ref)
	d, _ := c.rebalances.Get(op)
	g := c.groupSlots[d.Value.slot]
	c.cause, told.Op = g.timerOf(d.Value.kind).seq, op.Number
	c.emit(g.id, told)
}

// watch lets an operation of a group wait, unless its condition holds already.
func (c *Coordinator) watch(g *group, v operation, key int64, afterMs int64) {
	startMs := c.nowMs
	op, completed := c.rebalances.TryCompleteElseWatch(startMs, v, startMs+max(afterMs, 0), key)
	if completed {
		return
	}
	d, _ := c.rebalances.Get(op)
	t := g.timerOf(v.kind)
	*t = timer{op: op}
	if v.kind != event.InitialDelayedJoin {
		_, t.of = g.rebalanceTimeoutMs()
	}
	t.seq = c.emit(g.id, c.groupWatched(g, op, d))
}

// groupWatched tells of an operation of a group that waits.
func (c *Coordinator) groupWatched(g *group, op purgatory.Op, d purgatory.Details[int64, operation]) event.OperationWatched {
	v := d.Value
	w := event.OperationWatched{Op: op.Number, Type: v.kind, StartMs: d.StartMs, DeadlineMs: d.DeadlineMs,
		RemainingMs: v.remainingMs, Generation: v.generation, Level: d.Placement.Level, CellMs: d.Placement.CellMs,
		DeadlineOf: g.timerOf(v.kind).of, Unswept: c.rebalances.Unswept(), Over: c.rebalances.Over()}
	for _, k := range d.Keys {
		w.Keys = append(w.Keys, keyName(k, g.id))
	}
	switch v.kind {
	case event.DelayedJoin:
		w.Until = untilRejoined
	case event.DelayedSync:
		w.Until = "everyone has sent SyncGroup"
	}
	return w
}

func (g *group) timerOf(kind event.OpKind) *timer {
	if kind == event.DelayedSync {
		return &g.syncOp
	}
	return &g.joinOp
}

// TryComplete tests the condition of a DelayedHeartbeat (Kafka: tryCompleteHeartbeat).
func (s sessions) TryComplete(_ purgatory.Op, v operation) bool {
	m := s.c.memberSlots[v.slot]
	if v.pending {
		return !m.pending
	}
	return m.gone || m.heartbeatSatisfied()
}

// OnComplete tells that a session timer is over, and lets the member's slot go if only the timer was left of it.
func (s sessions) OnComplete(_ purgatory.Op, v operation, expired bool) {
	c, m := s.c, s.c.memberSlots[v.slot]
	done := event.OperationCompleted{Op: m.session.name, Type: v.kind, Expired: expired, Member: m.id, How: c.how}
	if expired {
		c.tellMoved(m)
		c.cause = m.session.seq
		done.How, done.Unswept, done.Over = "time is up", c.sessions.Unswept(), c.sessions.Over()
		done.Excused = !v.pending && !m.gone && m.heartbeatSatisfied()
	}
	if m.session.op.Number != 0 && !c.quiet {
		seq := c.emit(m.groupID, done)
		if expired {
			c.cause = seq
		}
	}
	m.session.op = purgatory.Op{}
	if m.gone {
		if g := c.groupSlots[m.group]; len(g.departed) > 0 {
			g.departed = slices.DeleteFunc(g.departed, func(o *member) bool { return o == m })
		}
		c.releaseMember(m)
	}
}

// OnExpiration removes whoever did not come back in time (Kafka: onExpireHeartbeat).
func (s sessions) OnExpiration(_ purgatory.Op, v operation) {
	if m := s.c.memberSlots[v.slot]; m != nil && !m.gone {
		s.c.sessionExpired(m, v)
	}
}

// StayedIncomplete tells of a knock in vain.
func (s sessions) StayedIncomplete(_ purgatory.Op, _ int32, v operation) {
	m := s.c.memberSlots[v.slot]
	s.c.emit(m.groupID, event.OperationTested{Op: m.session.name, Key: m.keyNames()[0], Lacks: "no heartbeat"})
}

// TryComplete tests the condition of a join or sync operation (Kafka: tryCompleteJoin, tryCompletePendingSync).
func (r rebalances) TryComplete(_ purgatory.Op, v operation) bool {
	g := r.c.groupSlots[v.slot]
	switch {
	case g.state == event.Dead:
		return true
	case v.kind == event.DelayedJoin:
		return g.awaiting == len(g.members) && len(g.pending) == 0
	case v.kind == event.DelayedSync:
		rebalancing := g.state == event.PreparingRebalance || g.state == event.Empty
		return v.generation != g.generation || rebalancing || g.pendingSync == 0
	}
	return false // InitialDelayedJoin: only time ends it
}

// OnComplete ends the join phase, or extends it. Of a DelayedSync nothing is left to do but to tell that it is over.
func (r rebalances) OnComplete(op purgatory.Op, v operation, expired bool) {
	c, g := r.c, r.c.groupSlots[v.slot]
	cause := c.cause
	t := g.timerOf(v.kind)
	done := event.OperationCompleted{Op: op.Number, Type: v.kind, Expired: expired, How: c.how}
	switch {
	case expired:
		done.How, done.Unswept, done.Over = "time is up", c.rebalances.Unswept(), c.rebalances.Over()
		c.cause = t.seq
	case g.state == event.Dead:
		done.How = string(event.WhyNotCoordinator)
	case v.kind == event.DelayedJoin && len(g.members) == 0:
		done.How = string(event.WhyNoMembers)
	case v.kind == event.DelayedJoin:
		done.How = string(event.WhyAllRejoined)
	case c.how == "":
		done.How = "everyone has sent SyncGroup"
	}
	*t = timer{}
	c.cause = c.emit(g.id, done)
	if v.kind != event.DelayedSync && g.state != event.Dead {
		c.joinPhaseOver(g, v, expired)
	}
	if !expired { // what OnExpiration does is an effect of this one
		c.cause = cause
	}
}

// OnExpiration removes those who did not sync in time.
func (r rebalances) OnExpiration(_ purgatory.Op, v operation) {
	if v.kind == event.DelayedSync {
		r.c.syncExpired(r.c.groupSlots[v.slot])
	}
}

// StayedIncomplete tells of a knock in vain, and what was missing.
func (r rebalances) StayedIncomplete(op purgatory.Op, key int64, v operation) {
	g := r.c.groupSlots[v.slot]
	r.c.emit(g.id, event.OperationTested{Op: op.Number, Key: keyName(key, g.id), Lacks: g.lacks(v.kind)})
}

const untilRejoined = "everyone has rejoined and no issued id is pending"

// lacks names the clause of an operation's condition that does not hold.
func (g *group) lacks(kind event.OpKind) string {
	switch kind {
	case event.DelayedJoin:
		s := countOf(g.awaiting, len(g.members), " rejoined")
		s = appendMissing(s, g.members, len(g.members)-g.awaiting, func(m *member) bool { return !m.join.waits }, ", missing ")
		return string(appendMissing(s, g.pending, len(g.pending), func(*member) bool { return true }, ", pending "))
	case event.DelayedSync:
		s := countOf(len(g.members)-g.pendingSync, len(g.members), " synced")
		return string(appendMissing(s, g.members, g.pendingSync, func(m *member) bool { return m.pendingSync }, ", missing "))
	}
	return "only time ends the initial delay"
}

func countOf(n, all int, what string) []byte {
	s := strconv.AppendInt(make([]byte, 0, 256), int64(n), 10)
	return append(strconv.AppendInt(append(s, " of "...), int64(all), 10), what...)
}

// appendMissing names up to three of the n in the list that the test picks, and counts the rest. It looks no further
// than it must: this is told of each knock of each member.
func appendMissing(s []byte, list []*member, n int, picks func(*member) bool, label string) []byte {
	named := 0
	for _, m := range list {
		if named == min(n, 3) {
			break
		}
		if picks(m) {
			s = append(append(s, label...), event.Name(m.id)...)
			label = " "
			named++
		}
	}
	if n > named {
		s = append(strconv.AppendInt(append(s, " and "...), int64(n-named), 10), " more"...)
	}
	return s
}
