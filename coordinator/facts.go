package coordinator

import (
	"maps"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// Facts returns events from which a fold rebuilds the picture of this coordinator: its partitions, groups, members,
// offsets, parked replies and waiting operations. They change nothing and use no new Seq: each carries the Seq handed
// out last, so the stream goes on after them. Bodies hold the original times.
func (c *Coordinator) Facts(nowMs int64) []event.Event {
	f := &facts{c: c, nowMs: max(nowMs, c.nowMs)}
	f.partitions()
	for _, g := range c.sortedGroups() {
		f.group(g)
	}
	f.appends("", false)
	return f.events
}

// PartitionFacts returns of Facts what concerns no group: the partitions of __consumer_offsets that this coordinator has, or
// reads.
func (c *Coordinator) PartitionFacts(nowMs int64) []event.Event {
	f := &facts{c: c, nowMs: max(nowMs, c.nowMs)}
	f.partitions()
	return f.events
}

// GroupFacts returns of Facts what concerns one group; nothing where it is not here.
func (c *Coordinator) GroupFacts(nowMs int64, group string) []event.Event {
	f := &facts{c: c, nowMs: max(nowMs, c.nowMs)}
	if g := c.groups[group]; g != nil {
		f.group(g)
	}
	f.appends(group, true)
	return f.events
}

// FactsAfter returns of Facts what concerns the groups by name behind a name, at most so many of them; last is the last
// of these, more whether there are others. What is being written is left out: AppendStarted.
func (c *Coordinator) FactsAfter(nowMs int64, after string, most int) (events []event.Event, last string, more bool) {
	f := &facts{c: c, nowMs: max(nowMs, c.nowMs)}
	names := make([]string, 0, 2*most)
	for name := range c.groups {
		if name <= after {
			continue
		}
		if names = append(names, name); len(names) == 2*most { // the smaller half is enough
			slices.Sort(names)
			names, more = names[:most], true
		}
	}
	slices.Sort(names)
	if len(names) > most {
		names, more = names[:most], true
	}
	last = after
	for _, name := range names {
		f.group(c.groups[name])
		last = name
	}
	return f.events, last, more
}

// GroupCount is how many groups there are.
func (c *Coordinator) GroupCount() int { return len(c.groups) }

// partitions tells of all.
func (f *facts) partitions() {
	c := f.c
	have := map[int32]*event.LoadFinished{} // counted in one go: all groups anew for each partition held a server up for seconds
	for _, g := range c.groups {
		if have[g.partition] == nil {
			have[g.partition] = &event.LoadFinished{}
		}
		have[g.partition].Groups++
		have[g.partition].Offsets += g.committedOffsets()
	}
	for _, number := range slices.Sorted(maps.Keys(c.partitions)) {
		f.partition(c.partitions[number], have[number])
	}
}

// appends tells of what is being written or verified, for one group where only is set.
func (f *facts) appends(group string, only bool) {
	c := f.c
	for _, ticket := range slices.Sorted(maps.Keys(c.appends)) {
		if a := c.appends[ticket]; !only || a.groupID == group {
			f.append(ticket, a)
		}
	}
	for _, ticket := range slices.Sorted(maps.Keys(c.verifications)) {
		if v := c.verifications[ticket]; !only || v.commit.Group == group {
			f.verification(ticket, v)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(c.deletions)) {
		if d := c.deletions[number]; !only || d.group == group {
			f.add(d.group, 0, event.ReplyParked{Ticket: d.ticket, API: d.sent.API, SinceMs: d.sinceMs, Until: untilTombstones})
		}
	}
}

type facts struct {
	c      *Coordinator
	nowMs  int64
	events []event.Event
}

func (f *facts) add(group string, cause int64, body event.Body) {
	f.events = append(f.events, event.Event{Seq: f.c.cfg.Numbers.Last(), AtMs: f.nowMs, Broker: f.c.cfg.Broker,
		Group: group, Cause: cause, Body: body})
}

// partition tells of one; done are its groups and offsets, nil where it has none.
func (f *facts) partition(p *partition, done *event.LoadFinished) {
	if p.load != nil {
		f.add("", 0, event.LoadStarted{Partition: p.number, Epoch: p.load.epoch, EndOffset: p.load.endOffset})
		f.add("", p.load.cause, event.LoadProgressed{Partition: p.number, Offset: p.load.next, EndOffset: p.load.endOffset,
			Records: p.load.records})
		return
	}
	if p.owned && done != nil {
		done.Partition, done.Epoch = p.number, p.epoch
		done.RetentionMs, done.CleanupMs = f.c.retention()
		f.add("", 0, *done)
	}
}

func (f *facts) group(g *group) {
	f.add(g.id, 0, g.toldLoaded())
	for _, m := range g.members {
		f.add(g.id, 0, m.toldAdded(g))
	}
	if g.leader != "" {
		f.add(g.id, 0, event.LeaderElected{Member: g.leader, Why: event.WhyGroupLoaded})
	}
	if g.state == event.Stable {
		f.add(g.id, 0, event.AssignmentStored{Generation: g.generation, Assignments: g.assignments()})
	}
	if told := g.toldOffsets(); len(told) > 0 {
		f.add(g.id, 0, event.OffsetsCommitted{BaseOffset: -1, Offsets: told, Loaded: true})
	}
	for _, m := range g.pending {
		f.add(g.id, 0, event.MemberIDIssued{Member: m.id, ClientID: m.clientID, ClientHost: m.clientHost,
			DeadlineMs: m.session.deadlineMs})
		f.session(m)
	}
	for _, m := range g.departed {
		f.session(m)
	}
	for _, m := range g.members {
		f.parked(g, m, &m.join, apiJoinGroup)
		f.parked(g, m, &m.sync, apiSyncGroup)
		f.session(m)
	}
	for _, t := range g.txns {
		for _, told := range t.toldWritten() {
			f.add(g.id, 0, told)
		}
	}
	f.operation(g, g.joinOp.op)
	f.operation(g, g.syncOp.op)
}

func (f *facts) parked(g *group, m *member, p *parked, api int16) {
	if p.waits {
		f.add(g.id, 0, event.ReplyParked{Ticket: p.ticket, API: api, Member: m.id, ClientID: m.clientID,
			SinceMs: p.sinceMs, Until: p.until})
	}
}

func (f *facts) session(m *member) {
	if m.session.op.Number != 0 {
		f.add(m.groupID, 0, f.c.sessionWatched(m))
	}
}

func (f *facts) operation(g *group, op purgatory.Op) {
	if d, waits := f.c.rebalances.Get(op); waits {
		f.add(g.id, g.began.seq, f.c.groupWatched(g, op, d))
	}
}

// append tells of what is being written, and of the commit that waits for it.
func (f *facts) append(ticket int64, a *inflight) {
	what := "group"
	switch {
	case a.kind == storesTombstones:
		what = "tombstones"
	case a.kind == storesOffsets:
		what = "offsets"
		k := &a.commit
		if k.txn != nil {
			what = "transactional offsets"
		}
		f.add(a.groupID, 0, k.toldPending(ticket, a.generation))
		f.add(a.groupID, 0, event.ReplyParked{Ticket: k.ticket, API: k.txn.api(), Member: k.member,
			SinceMs: a.startMs - k.txn.heldMs(a.startMs, a.startMs), Until: untilWritten})
	}
	f.add(a.groupID, 0, event.AppendStarted{Append: ticket, Partition: a.partition, Records: a.records, What: what,
		DeadlineMs: a.deadlineMs})
}

// verification tells of a TxnOffsetCommit that waits for the transaction coordinator.
func (f *facts) verification(ticket int64, v *verification) {
	t := v.txn
	f.add(v.commit.Group, 0, event.TxnVerificationStarted{Verification: ticket, TransactionalID: t.transactionalID,
		ProducerID: t.producerID, ProducerEpoch: t.producerEpoch, Partition: f.c.partitionOf(v.commit.Group)})
	f.add(v.commit.Group, 0, event.ReplyParked{Ticket: v.r.Ticket, API: apiTxnOffsetCommit, Member: v.commit.MemberID,
		ClientID: v.r.ClientID, SinceMs: t.sinceMs, Until: untilVerified})
}

// toldLoaded tells of a group as it is.
func (g *group) toldLoaded() event.GroupLoaded {
	e := event.GroupLoaded{State: g.state, SinceMs: max(g.stateMs, 0), Generation: g.generation,
		ProtocolType: g.protocolType, Protocol: g.protocol, Leader: g.leader, Partition: g.partition}
	if g.state == event.PreparingRebalance || g.state == event.CompletingRebalance {
		e.Began, e.BeganMember, e.BeganMs = g.began.why, g.began.member, g.began.ms
	}
	return e
}

func (m *member) toldAdded(g *group) event.MemberAdded {
	e := event.MemberAdded{Member: m.id, ClientID: m.clientID, ClientHost: m.clientHost,
		SessionTimeoutMs: m.sessionTimeoutMs, RebalanceTimeoutMs: m.rebalanceTimeoutMs, Protocols: names(m.protocols),
		Topics: topics(g.protocolType, m.protocols), Loaded: true, New: m.isNew, InstanceID: m.instance()}
	return e
}

func (g *group) assignments() []event.Assignment {
	list := make([]event.Assignment, len(g.members))
	for i, m := range g.members {
		list[i] = assignmentOf(m.id, m.assignment, g.protocolType)
	}
	return list
}

func (g *group) toldOffsets() (told []event.OffsetValue) {
	for i := range g.topics {
		t := &g.topics[i]
		for j := range t.partitions {
			if p := &t.partitions[j]; p.committed() {
				value := p.value()
				told = append(told, value.told(t.topic, p.partition))
			}
		}
	}
	return told
}

func (g *group) committedOffsets() (n int) {
	for i := range g.topics {
		for j := range g.topics[i].partitions {
			if g.topics[i].partitions[j].committed() {
				n++
			}
		}
	}
	return n
}
