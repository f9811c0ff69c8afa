package timeline

import (
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

const codeGroupDenied = 30 // GROUP_AUTHORIZATION_FAILED

// described takes what a broker says of one group. Dead says only that the broker knows no such group of this kind: a group
// that was listed is never called so.
func (t *Timeline) described(o Described) {
	source := "group " + o.Group
	if o.Code == codeGroupDenied {
		t.sourceFailed(SourceFailed{Source: source, Code: o.Code, Reason: "describing it was answered " + event.CodeName(o.Code),
			Right: "Describe on Group " + o.Group, Hides: "its members while it rebalances"})
	}
	o.State = knownState(o.State)
	if o.Code != 0 || o.Group == "" || o.State == event.Dead || o.State == "" {
		return
	}
	t.sourceBack(SourceBack{Source: source})
	g := t.group(o.Group)
	if c := t.coordinator(g); c != 0 && o.Broker != 0 && c != o.Broker {
		return
	}
	g.answeredBy = o.Broker
	if g.typ == consumerType && o.Type == classicType || g.hasRecord && o.Type == consumerType {
		return // it is of the other kind: this answer is about nothing
	}
	if g.typ == "" {
		g.typ = o.Type
	}
	o.AskedMs, o.AnsweredMs = t.byClockOf(o.Broker, o.AskedMs), t.byClockOf(o.Broker, o.AnsweredMs)
	p := poll{o.AskedMs, o.AnsweredMs}
	switch {
	case g.modern != nil: // the log says more
	case o.Type == consumerType:
		t.sampleModern(g, &o, p)
	case g.hasRecord || g.motion != nil && !g.sampled:
		t.lookedAt(g, &o, p)
	default:
		t.sample(g, &o, p)
	}
}

// lookedAt takes a look at a classic group that the log knows.
func (t *Timeline) lookedAt(g *group, o *Described, p poll) {
	if !inMotion(o.State) {
		if g.motion != nil {
			t.sawClear(g, p)
		} else {
			g.describedAsk, g.describedMs = p.asked, p.answered
		}
		return
	}
	t.sawMotion(g, o.State, p)
	if m := g.motion; m != nil && m.clear == nil && p.asked >= m.asked {
		t.lookInside(g, o, p)
	}
}

// lookInside compares the members of a rebalance under way with those that were told.
func (t *Timeline) lookInside(g *group, o *Described, p poll) {
	m := g.motion
	now := m
	if m.again != nil {
		now = m.again
	}
	if now.first == nil {
		now.first, now.firstMs = make([]string, 0, len(o.Members)), p.answered
		for i := range o.Members {
			now.first = append(now.first, o.Members[i].Member)
		}
	}
	w := when{max(m.start.lo, m.lookedMs), p.answered, event.Sampled}
	m.lookedMs = p.asked
	var members []*member
	for i := range o.Members {
		d := &o.Members[i]
		if known := g.member(d.Member); known != nil {
			members = append(members, known)
			continue
		}
		bare := &member{id: d.Member, instance: d.InstanceID, clientID: t.names.one(d.ClientID), host: t.names.one(d.ClientHost), seenMs: w.lo, bare: true}
		if old := findInstance(g.members, d.InstanceID); old != nil {
			kept := *old
			kept.id, kept.clientID, kept.host, kept.seenMs = bare.id, bare.clientID, bare.host, w.lo
			bare = &kept
			t.emit(g, w, m.seq, event.MemberReplaced{Old: old.id, Member: bare.id, InstanceID: bare.instance, ClientID: bare.clientID, ClientHost: bare.host})
		} else {
			t.emit(g, w, m.seq, bare.added(false))
		}
		members = append(members, bare)
	}
	for _, old := range g.members {
		if find(members, old.id) == nil && findInstance(members, old.instance) == nil {
			why, _, _ := t.whyOneWent(g, old, w)
			t.emit(g, w, m.seq, event.MemberRemoved{Member: old.id, Why: why, ClientReason: t.clientReason(g, old)})
		}
	}
	g.members = members
	t.tellAwaited(g, p)
}

// tellAwaited tells whom the rebalance may be waiting for. In PreparingRebalance DescribeGroups lists who has joined and who
// has not alike: those of the last generation are perhaps awaited, those that are new have joined. In CompletingRebalance
// all that have to have joined, and the leader's assignment is awaited.
func (t *Timeline) tellAwaited(g *group, p poll) {
	m := g.motion
	a := event.AwaitedSeen{State: m.state}
	longestMs := longest(g.record.members, g.members)
	deadline := func(w when, leastMs, mostMs int64) {
		if w.lo > 0 && mostMs > 0 {
			a.DeadlineMs, a.DeadlineHiMs = t.ours(g, w.lo+leastMs), t.ours(g, w.hi+mostMs)
		}
	}
	switch m.state {
	case event.PreparingRebalance:
		for _, x := range g.members {
			if find(g.record.members, x.id) == nil {
				a.Joined = append(a.Joined, x.id)
			} else {
				a.Awaited = append(a.Awaited, t.awaited(g, x, p, false))
			}
		}
		if len(g.record.members) == 0 {
			deadline(m.start, t.initialDelayMs(), max(t.initialDelayMs(), longestMs))
		} else {
			deadline(m.start, longestMs, longestMs)
		}
	case event.CompletingRebalance:
		a.Joined = ids(g.members)
		leader := g.member(g.leader)
		if len(g.members) == 1 {
			leader = g.members[0]
		}
		if leader != nil { // a static one may have been passed over: it is kept although it did not come
			a.Awaited = append(a.Awaited, t.awaited(g, leader, p, leader.instance == "" || len(g.members) == 1))
		}
		deadline(m.entered, longestMs, longestMs)
	}
	if !sameAwaited(&a, &m.seen) {
		t.emit(g, when{p.asked, p.answered, event.Sampled}, m.seq, a)
	}
	m.seen = a
}

func (t *Timeline) awaited(g *group, x *member, p poll, sure bool) event.Awaited {
	a := event.Awaited{Member: x.id, Sure: sure, SeenMs: g.seen(x)}
	if x.sessionMs > 0 {
		a.ExpiresMs, a.ExpiresHiMs = t.ours(g, a.SeenMs+int64(x.sessionMs)), t.ours(g, p.answered+int64(x.sessionMs))
	}
	return a
}

// sameAwaited tells whether two looks say the same, whatever the clock says.
func sameAwaited(a, b *event.AwaitedSeen) bool {
	return a.State == b.State && slices.Equal(a.Joined, b.Joined) && slices.EqualFunc(a.Awaited, b.Awaited,
		func(x, y event.Awaited) bool { return x.Member == y.Member && x.Sure == y.Sure && x.SeenMs == y.SeenMs })
}

// sample follows a classic group that only answers tell of: the log cannot be read, or not from its beginning.
func (t *Timeline) sample(g *group, o *Described, p poll) {
	n := t.sampled(g, o, p)
	if !g.told {
		g.told, g.sampled, g.typ = true, true, classicType
		g.protocolType, g.protocol, g.members, g.state, g.sinceMs = o.ProtocolType, n.protocol, n.members, o.State, 0
		g.record = settled{atMs: p.answered, members: n.members}
		for _, body := range g.loaded() {
			t.emit(g, when{p.asked, p.answered, event.Sampled}, 0, body)
		}
		if inMotion(o.State) {
			g.motion = &motion{state: o.State, start: when{0, p.answered, event.Sampled}, asked: p.asked, lastAsked: p.asked,
				entered: when{0, p.answered, event.Sampled}}
			t.moving[g.name] = g
		} else {
			g.describedAsk, g.describedMs = p.asked, p.answered
		}
		return
	}
	g.sampled = true
	if inMotion(o.State) {
		t.sawMotion(g, o.State, p)
		if g.motion != nil {
			t.lookInside(g, o, p)
		}
		return
	}
	if g.motion == nil && o.State == g.state && !unlike(g.record.members, n.members) {
		g.describedAsk, g.describedMs = p.asked, p.answered
		return
	}
	last := g.describedAsk
	n.joined, n.stable = when{last, p.answered, event.Sampled}, when{last, p.answered, event.Sampled}
	if m := g.motion; m != nil {
		n.joined.lo, n.stable.lo = m.start.lo, m.lastAsked
		if m.state == event.CompletingRebalance {
			n.joined = m.entered
		}
	}
	t.generationStep(g, o.ProtocolType, n)
	g.hasRecord = false
	g.describedAsk, g.describedMs = p.asked, p.answered
}

// sampled makes a generation of an answer. Outside of Stable an answer holds no subscriptions and assignments: the last
// known ones are kept.
func (t *Timeline) sampled(g *group, o *Described, p poll) *next {
	n := &next{at: -1, atMs: p.answered, joinedMs: p.answered, generation: -1, protocol: t.names.one(o.Protocol), jump: 1}
	for i := range o.Members {
		d := &o.Members[i]
		r := record.Member{MemberID: d.Member, ClientID: d.ClientID, ClientHost: d.ClientHost, Subscription: d.Subscription, Assignment: d.Assignment}
		if d.InstanceID != "" {
			r.InstanceID = &d.InstanceID
		}
		m := t.memberOf(&r, o.ProtocolType, n)
		if old := find(g.record.members, d.Member); old != nil && len(d.Subscription) == 0 && len(d.Assignment) == 0 && o.State != event.Stable {
			m = old
		}
		n.members = append(n.members, m)
	}
	return n
}

// unlike tells whether two generations differ in who is there, what they subscribe to or what they have.
func unlike(before, after []*member) bool {
	return !slices.EqualFunc(sortedMembers(before), sortedMembers(after), func(a, b *member) bool {
		return a.id == b.id && !a.changed(b) && a.bytes == b.bytes && slices.EqualFunc(a.assigned, b.assigned, sameTopic)
	})
}

func sortedMembers(list []*member) []*member {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *member) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}

func sameTopic(a, b event.TopicPartitions) bool {
	return a.Topic == b.Topic && slices.Equal(a.Partitions, b.Partitions)
}

// asked takes what OffsetFetch says of a group whose log cannot be read.
func (t *Timeline) asked(o Committed) {
	source := "offsets of group " + o.Group
	if o.Code == codeGroupDenied {
		t.sourceFailed(SourceFailed{Source: source, Code: o.Code, Reason: "OffsetFetch was answered " + event.CodeName(o.Code),
			Right: "Describe on Group " + o.Group, Hides: "its committed offsets and its lag"})
	}
	if o.Code != 0 || o.Group == "" {
		return
	}
	t.sourceBack(SourceBack{Source: source})
	g := t.group(o.Group)
	if p := t.partitions[g.partition]; p != nil && !p.tail {
		return // the log says it exactly
	}
	first := !g.offsetsAsked
	g.offsetsAsked = true
	w := when{o.AskedMs, o.AnsweredMs, event.Sampled}
	var changed []event.OffsetValue
	there := map[string]map[int32]bool{}
	for _, v := range o.Offsets {
		if v.Code != 0 || v.Offset < 0 {
			continue
		}
		topic := t.names.one(v.Topic)
		if there[topic] == nil {
			there[topic] = map[int32]bool{}
		}
		there[topic][v.Partition] = true
		if old := g.committed(topic, v.Partition); old != nil && old.value == v.Offset && old.metadata == v.Metadata {
			continue
		}
		x := offset{partition: v.Partition, leaderEpoch: v.LeaderEpoch, value: v.Offset, commitMs: o.AnsweredMs, at: -1, metadata: t.names.one(v.Metadata)}
		if first {
			x.commitMs = 0 // when that was is not known
		}
		g.offsets = put(g.offsets, topic, x)
		changed = append(changed, x.told(topic))
	}
	if len(changed) > 0 {
		t.emit(g, w, 0, event.OffsetsCommitted{BaseOffset: -1, Offsets: changed, Loaded: first})
	}
	if o.All {
		t.askedGone(g, w, there)
	}
}

func (t *Timeline) askedGone(g *group, w when, there map[string]map[int32]bool) {
	var gone []event.OffsetValue
	for _, v := range told(g.offsets) {
		if !there[v.Topic][v.Partition] {
			g.offsets, _, _ = take(g.offsets, v.Topic, v.Partition)
			gone = append(gone, v)
		}
	}
	if len(gone) > 0 {
		t.emit(g, w, 0, event.OffsetsRemoved{Why: event.WhySeen, Offsets: gone})
	}
}
