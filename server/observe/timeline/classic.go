package timeline

import (
	"hash/fnv"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// next is a generation that the log tells of.
type next struct {
	at         int64 // its record's position
	atMs       int64 // and timestamp: the assignment was accepted
	joinedMs   int64 // the end of the join phase
	generation int32
	protocol   string
	leader     string
	members    []*member
	// jump is how far its number is from the one before, 1 where none was left out; whole tells that no record between the
	// two is missing, so that those left out never settled.
	jump  int32
	whole bool
	// joined and stable are when the join phase ended and when the assignment took effect.
	joined, stable when
}

// classic takes a record of a classic group.
func (t *Timeline) classic(p *partition, g *group, c classicRecord, atMs int64) {
	if c.value == nil {
		t.classicGone(p, g, atMs)
		return
	}
	v, err := record.DecodeGroup(c.value)
	if err != nil {
		t.skip(p, &Record{Offset: c.at}, "a group's value "+faultOf(c.value, 4))
		return
	}
	n := t.nextOf(g, &v, c, atMs)
	old := p.ready || atMs >= t.nowMs-t.cfg.HistoryMs
	switch {
	case !old || v.Generation < g.generation && g.hasRecord:
		t.settle(g, v.ProtocolType, n)
		g.told = g.told && old
		if p.ready { // the log went back: a group of the same name was made anew, and what lies between is not there
			g.told = false
			t.tellBaseline(g, 0)
		}
	case !g.told && g.hasRecord:
		t.tellBaseline(g, p.seq)
		t.follow(g, &v, n)
	case !g.told && (!p.ready || g.becameClassic || p.tail && v.Generation > 1):
		g.becameClassic = false
		t.settle(g, v.ProtocolType, n)
		t.tellBaseline(g, p.seq)
	default:
		if !g.told {
			t.create(g, n, len(v.Members) == 0)
		}
		t.follow(g, &v, n)
	}
}

// create tells of a group that has come to be. Kafka 4 writes a record without members when a group is first named.
func (t *Timeline) create(g *group, n *next, exact bool) {
	g.told, g.typ, g.generation = true, classicType, 0
	w := exactly(n.atMs)
	if !exact {
		w = when{t.clearBefore(g, n.joinedMs), n.joinedMs, event.Inferred}
		if w.lo == 0 {
			w.lo = n.joinedMs
		}
	}
	t.emit(g, w, 0, event.GroupCreated{})
}

// follow takes a record of a group that is told of.
func (t *Timeline) follow(g *group, v *record.Group, n *next) {
	protocolType := v.ProtocolType
	g.sampled = false
	switch {
	case g.hasRecord && v.Generation == g.generation:
		t.replaced(g, protocolType, n)
	case v.Generation == 0 && len(v.Members) == 0: // only created
		t.settle(g, protocolType, n)
	default:
		t.generationStep(g, protocolType, n)
	}
}

func (t *Timeline) nextOf(g *group, v *record.Group, c classicRecord, atMs int64) *next {
	n := &next{at: c.at, atMs: atMs, joinedMs: v.StateTimestampMs, generation: v.Generation, jump: v.Generation - max(g.generation, 0)}
	if n.joinedMs <= 0 || n.joinedMs > atMs {
		n.joinedMs = atMs
	}
	if v.Protocol != nil {
		n.protocol = t.names.one(*v.Protocol)
	}
	if v.Leader != nil {
		n.leader = *v.Leader
	}
	if g.sampled { // answers do not say which generation it was
		n.jump = 1
	}
	n.joined = exactly(n.joinedMs)
	n.stable = when{n.atMs, t.seenBy(g, n.atMs), event.Observed}
	n.whole = g.hasRecord && c.hole <= g.record.offset
	for i := range v.Members {
		n.members = append(n.members, t.memberOf(&v.Members[i], v.ProtocolType, n))
	}
	return n
}

func (t *Timeline) memberOf(r *record.Member, protocolType string, n *next) *member {
	m := &member{id: r.MemberID, clientID: t.names.one(r.ClientID), host: t.names.one(r.ClientHost), sessionMs: r.SessionTimeoutMs,
		rebalanceMs: r.RebalanceTimeoutMs, bytes: len(r.Assignment), seenMs: n.joinedMs}
	if r.InstanceID != nil {
		m.instance = *r.InstanceID
	}
	if n.protocol != "" {
		m.protocols = []string{n.protocol}
	}
	if protocolType != "consumer" {
		m.opaque = len(r.Assignment) > 0
		m.subscription = hash(r.Subscription)
		return m
	}
	if sub, ok := record.DecodeSubscription(r.Subscription); ok {
		m.topics, m.owned = t.names.all(sub.Topics), len(sub.Owned) > 0
		slices.Sort(m.topics)
	} else {
		m.topics, _ = record.Topics(r.Subscription)
		m.topics = t.names.all(m.topics)
	}
	if list, ok := record.DecodeAssignment(r.Assignment); ok {
		m.assigned = t.topicPartitions(list)
	} else {
		m.opaque = len(r.Assignment) > 0
	}
	return m
}

func (t *Timeline) topicPartitions(list []record.TopicPartitions) []event.TopicPartitions {
	var all []event.TopicPartitions
	for _, x := range list {
		slices.Sort(x.Partitions)
		all = append(all, event.TopicPartitions{Topic: t.names.one(x.Topic), Partitions: x.Partitions})
	}
	return all
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// settle makes a record the group's state, without a word.
func (t *Timeline) settle(g *group, protocolType string, n *next) {
	unassigned, byWhom := left(g.record.members, n.members)
	g.typ, g.hasRecord = classicType, true
	g.record = settled{offset: n.at, atMs: n.atMs, readMs: t.nowOf(g), joinedMs: n.joinedMs, members: n.members, unassigned: unassigned, byWhom: byWhom}
	g.generation, g.protocolType, g.protocol, g.leader, g.members = n.generation, t.names.one(protocolType), n.protocol, n.leader, n.members
	g.state, g.sinceMs = event.Stable, n.atMs
	if len(n.members) == 0 {
		g.state, g.sinceMs = event.Empty, n.joinedMs
	}
}

// left counts the partitions that somebody had who is still there and that nobody has now, and says who that was: the
// first step of a cooperative rebalance (KIP-429).
func left(before, after []*member) (n int, byWhom []string) {
	type tp struct {
		topic  string
		number int32
	}
	has := map[tp]bool{}
	for _, m := range after {
		for _, x := range m.assigned {
			for _, number := range x.Partitions {
				has[tp{x.Topic, number}] = true
			}
		}
	}
	for _, m := range before {
		if find(after, m.id) == nil {
			continue
		}
		lost := 0
		for _, x := range m.assigned {
			for _, number := range x.Partitions {
				if !has[tp{x.Topic, number}] {
					lost++
				}
			}
		}
		if n += lost; lost > 0 {
			byWhom = append(byWhom, m.id)
		}
	}
	return n, byWhom
}

// classicGone takes the tombstone of a group. Its offsets have tombstones of their own.
func (t *Timeline) classicGone(p *partition, g *group, atMs int64) {
	if g.modern != nil && g.typ == consumerType {
		return
	}
	members := g.members
	g.hasRecord, g.record, g.members, g.leader, g.protocol, g.protocolType = false, settled{}, nil, "", "", ""
	t.endMotion(g)
	if !g.told {
		return
	}
	for _, m := range members {
		t.emit(g, when{atMs, atMs, event.Inferred}, 0, event.MemberRemoved{Member: m.id, Why: event.WhyMembersGone})
	}
	if g.state != event.Empty {
		t.changeState(g, when{atMs, atMs, event.Inferred}, 0, event.StateChanged{To: event.Empty, Why: event.WhyNoMembers})
	}
	g.generation = 0
}

// changeState tells of a transition, unless the group is there already.
func (t *Timeline) changeState(g *group, w when, cause int64, b event.StateChanged) int64 {
	if g.state == b.To {
		return cause
	}
	b.From = g.state
	g.state, g.sinceMs = b.To, w.lo
	return t.emit(g, w, cause, b)
}

// replaced takes a record of the same generation: static members came back under new ids (KIP-345).
func (t *Timeline) replaced(g *group, protocolType string, n *next) {
	w := exactly(n.atMs)
	old := g.members
	for _, m := range n.members {
		before := find(old, m.id)
		if before == nil {
			before = findInstance(old, m.instance)
		}
		switch {
		case before == nil:
			t.emit(g, w, g.steadySeq, m.added(false))
			continue
		case before.id != m.id:
			m.seenMs = n.atMs
			t.emit(g, w, g.steadySeq, event.MemberReplaced{Old: before.id, Member: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.host})
		default:
			m.seenMs = max(m.seenMs, before.seenMs)
		}
		if changed := before.changed(m); changed || before.sessionMs != m.sessionMs || before.rebalanceMs != m.rebalanceMs {
			t.emit(g, w, g.steadySeq, m.updated(changed))
		}
	}
	for _, m := range old {
		if find(n.members, m.id) == nil && findInstance(n.members, m.instance) == nil {
			t.emit(g, w, g.steadySeq, event.MemberRemoved{Member: m.id, Why: event.WhyMembersGone})
		}
	}
	if n.leader != g.leader {
		t.emit(g, w, g.steadySeq, event.LeaderElected{Member: n.leader, Why: event.WhyLeaderReplaced})
	}
	record, state, sinceMs := g.record, g.state, g.sinceMs
	t.settle(g, protocolType, n)
	// The group was Stable before: how the generation itself came about has not changed.
	g.record.unassigned, g.record.byWhom, g.record.joinedMs = record.unassigned, record.byWhom, record.joinedMs
	g.state, g.sinceMs = state, sinceMs
}

// changed tells whether a member subscribes to something else. What an assignor keeps in its user data, and which
// partitions are owned, changes with each generation and means nothing.
func (m *member) changed(now *member) bool {
	return !slices.Equal(m.topics, now.topics) || m.subscription != now.subscription
}

// generationStep tells of a new generation: how it began as far as that is known, who came and went, and how it settled.
func (t *Timeline) generationStep(g *group, protocolType string, n *next) {
	t.earlierMotion(g, n)
	again := t.laterMotion(g, n)
	start, first := t.startOf(g, n), len(g.record.members) == 0
	why := t.infer(g, n, start)
	if g.sampled && why.Confidence == event.High { // another rebalance may lie between two looks
		why.Confidence = event.Medium
	}
	cause := t.tellStart(g, n, start, why)
	t.tellMembers(g, n, start, why, cause)
	joined := n.joined
	if n.leader != g.leader && n.leader != "" {
		t.emit(g, joined, cause, event.LeaderElected{Member: n.leader, Why: whyLeads(g, n)})
	}
	ended := endedBecause(g, n)
	seq := t.emit(g, joined, cause, event.GenerationStarted{Generation: n.generation, Protocol: n.protocol, Leader: n.leader, Members: ids(n.members),
		Why: ended, DurationMs: max(n.joinedMs-start.hi, 0)})
	g.remember(pastGeneration{n.generation, start, n.joinedMs, cause, first})
	if len(n.members) == 0 {
		t.changeState(g, joined, seq, event.StateChanged{To: event.Empty, Why: event.WhyNoMembers})
		t.settle(g, protocolType, n)
	} else {
		t.changeState(g, joined, seq, event.StateChanged{To: event.CompletingRebalance, Why: ended})
		t.settle(g, protocolType, n)
		g.state = event.CompletingRebalance
		stable := n.stable
		seq = t.emit(g, stable, seq, event.AssignmentStored{Generation: n.generation, Assignments: g.assignments()})
		t.changeState(g, stable, seq, event.StateChanged{To: event.Stable, Why: event.WhyAssignmentWritten})
	}
	g.steadySeq = seq
	g.cause = why
	t.emit(g, when{start.lo, start.hi, event.Inferred}, cause, why)
	t.endMotion(g)
	if again != nil {
		t.beginMotion(g, again.state, again.start)
	}
}

// seenBy is until when something in the log has taken effect at the latest: it can be read, so it is replicated. In the
// first reading that says nothing.
func (t *Timeline) seenBy(g *group, atMs int64) int64 {
	if p := t.partitions[g.partition]; p == nil || !p.ready || t.nowOf(g)-atMs > 60_000 {
		return atMs
	}
	return t.nowOf(g)
}

func whyLeads(g *group, n *next) event.Why {
	switch old := find(g.record.members, g.leader); {
	case g.leader == "":
		return event.WhyFirstToJoin
	case old != nil && old.instance != "" && findInstance(n.members, old.instance) != nil:
		return event.WhyLeaderReplaced
	case find(n.members, g.leader) == nil:
		return event.WhyLeaderGone
	}
	return event.WhyLeaderNotRejoined
}

// endedBecause says how a join phase ended, where the log proves it; otherwise "".
func endedBecause(g *group, n *next) event.Why {
	switch {
	case len(n.members) == 0:
		return event.WhyNoMembers
	case len(g.record.members) == 0 && n.jump == 1:
		return event.WhyInitialDelayOver
	}
	return ""
}

// tellStart tells of the rebalance's beginning, unless a poll has.
func (t *Timeline) tellStart(g *group, n *next, start when, why event.CauseInferred) int64 {
	if m := g.motion; m != nil {
		return m.seq
	}
	var before int64
	if why.Why == event.WhySecondStep || g.steadySeq > 0 {
		before = g.steadySeq
	}
	seq := t.emit(g, start, before, event.RebalanceStarted{Why: why.Why, Member: why.Member, ClientReason: why.ClientReason,
		Generation: g.ends(), RebalanceTimeoutMs: int32(longest(g.record.members, n.members))})
	t.changeState(g, start, seq, event.StateChanged{To: event.PreparingRebalance, Why: why.Why, Member: why.Member})
	return seq
}

// tellMembers tells who came, went and changed between two records, unless a poll has.
func (t *Timeline) tellMembers(g *group, n *next, start when, why event.CauseInferred, cause int64) {
	w := when{start.lo, n.joinedMs, event.Observed}
	for _, m := range g.members {
		if now := findInstance(n.members, m.instance); now != nil && now.id != m.id && find(n.members, m.id) == nil {
			t.emit(g, w, cause, event.MemberReplaced{Old: m.id, Member: now.id, InstanceID: m.instance, ClientID: now.clientID, ClientHost: now.host})
		} else if find(n.members, m.id) == nil {
			t.emit(g, when{w.lo, w.hi, event.Inferred}, cause, event.MemberRemoved{Member: m.id, Why: t.whyWent(g, m, n, start, why), ClientReason: t.clientReason(g, m)})
		}
	}
	for _, m := range n.members {
		old := find(g.members, m.id)
		if old == nil {
			old = findInstance(g.members, m.instance)
		}
		if old == nil || old.bare && old.instance != m.instance { // DescribeGroups before v4 does not say who is static
			t.emit(g, w, cause, m.added(false))
		} else if before := old; before.bare || before.changed(m) || before.sessionMs != m.sessionMs || before.rebalanceMs != m.rebalanceMs ||
			!slices.Equal(before.protocols, m.protocols) {
			t.emit(g, w, cause, m.updated(!before.bare && before.changed(m)))
		}
	}
}
