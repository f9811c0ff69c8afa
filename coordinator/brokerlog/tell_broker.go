package brokerlog

import (
	"strings"

	"grouplab/coordinator/event"
)

// classic folds what a broker says of a classic group; false where it is said of a consumer group.
func (t *teller) classic(g *group, s *saying) bool {
	switch s.kind {
	case preparing:
		t.preparing(g, s)
	case stabilized:
		t.stabilized(g, s)
	case assigned:
		t.assigned(g, s)
	case issuedID:
		t.begin(g, stateOf(s.State, event.Empty), g.generation)
		t.tickets++
		client := clientIDOf(s.Member)
		t.emit(g, event.RequestReceived{Ticket: t.tickets, API: apiJoin, ClientID: client})
		t.emit(g, event.ReplySent{Ticket: t.tickets, API: apiJoin, Code: memberIDRequired, Member: s.Member, Guard: "a new member joins with an id of the coordinator's (KIP-394)"})
	case joinedNew, joinedPending, joinedStatic:
		t.begin(g, stateOf(s.State, event.Empty), g.generation)
		t.park(g, t.add(g, s.Member, s.Instance, false))
		t.awaits(g)
	case replacedStatic:
		t.begin(g, stateOf(s.State, event.Stable), g.generation)
		t.replaced(g, s)
	case failed:
		t.begin(g, event.Stable, g.generation)
		t.remove(g, s.Member, event.WhySessionExpired, "")
		t.awaits(g)
	case left:
		t.begin(g, event.Stable, g.generation)
		t.remove(g, s.Member, event.WhyMemberLeft, s.Says)
		t.awaits(g)
	case notJoined, notSynced:
		why := event.WhyNotRejoined
		if s.kind == notSynced {
			why = event.WhyNotSynced
		}
		t.begin(g, event.PreparingRebalance, g.generation)
		g.late = true
		for _, id := range membersIn(s.Text) {
			t.remove(g, id, why, "")
		}
	case becameEmpty:
		t.becameEmpty(g, s)
	case becameDead:
		t.begin(g, event.Empty, int32(s.N))
		t.enter(g, event.Dead, event.WhyNothingLeft, "")
		t.emit(g, event.GroupRemoved{Why: event.WhyNothingLeft})
		delete(t.groups, g.name)
	case loadedGroup:
		t.loaded(g, s)
	case loadedMember:
		t.add(g, s.Member, "", true)
	case unloadedGroup:
		t.emit(g, event.GroupRemoved{Why: event.WhyNotCoordinator})
		delete(t.groups, g.name)
	case offsetsGone:
		t.offsetsGone(g, s)
	case pendingFailed, pendingLeft, nobodyRejoined, cleanedUp:
	default:
		return false
	}
	return true
}

// stateOf is a state by its name, or another one where it has none.
func stateOf(name string, other event.State) event.State {
	switch s := event.State(name); s {
	case event.Empty, event.PreparingRebalance, event.CompletingRebalance, event.Stable, event.Dead, event.Assigning, event.Reconciling:
		return s
	case "AwaitingSync", "AwaitSync":
		return event.CompletingRebalance
	}
	return other
}

func (t *teller) preparing(g *group, s *saying) {
	old := event.Stable
	if s.N == 0 {
		old = event.Empty
	}
	t.begin(g, old, int32(s.N))
	r, _ := reasonOf(s.Text)
	if r.why == event.WhyNewMember && (s.N == 0 || g.state == event.Empty && len(g.members) == 0) { // before generation 1 nobody is there
		r.why = event.WhyFirstMember
	}
	g.generation = max(int32(s.N), 0)
	if r.leaves {
		for _, id := range membersIn(r.member) {
			t.remove(g, id, r.why, r.says)
		}
	}
	t.rebalance(g, r)
	if r.joins {
		t.park(g, t.add(g, r.member, "", r.why != event.WhyNewMember && r.why != event.WhyFirstMember))
	}
	t.foresee(g)
	t.awaits(g)
}

// rebalance tells that a join phase begins.
func (t *teller) rebalance(g *group, r reason) {
	g.began, g.startMs, g.joinedMs, g.late = r, t.now.AtMs, 0, false
	who := r.member
	t.emit(g, event.RebalanceStarted{Why: r.why, Member: who, ClientReason: r.says, Generation: g.generation})
	t.enter(g, event.PreparingRebalance, r.why, who)
}

// foresee tells at the beginning of a wait what later lines say of its end: whose session will run out, and when. The others were there
// by then; when each of them came is not known.
func (t *teller) foresee(g *group) {
	h := t.now.hind
	if h == nil || len(h.ends) == 0 {
		return
	}
	for _, m := range append([]*member(nil), g.order...) {
		end, awaited := h.ends[m.id]
		switch {
		case !awaited:
			t.park(g, m)
		case end.why == event.WhySessionExpired:
			t.tickets++
			m.op = t.tickets
			t.emit(g, event.OperationWatched{Op: m.op, Type: event.DelayedHeartbeat, Keys: []string{m.id}, Member: m.id, StartMs: t.now.AtMs, DeadlineMs: end.atMs})
		}
	}
}

// awaits tells whom a join phase waits for, as far as lines say.
func (t *teller) awaits(g *group) {
	if g.state != event.PreparingRebalance {
		return
	}
	seen := event.AwaitedSeen{State: g.state}
	sure := t.now.hind != nil && len(t.now.hind.ends) > 0
	for _, m := range g.order {
		if m.ticket != 0 {
			seen.Joined = append(seen.Joined, m.id)
			continue
		}
		a := event.Awaited{Member: m.id, Sure: sure || m.op != 0}
		if sure {
			a.ExpiresMs = t.now.hind.ends[m.id].atMs
			a.ExpiresHiMs = a.ExpiresMs
		}
		seen.Awaited = append(seen.Awaited, a)
	}
	t.emit(g, seen)
}

func (t *teller) stabilized(g *group, s *saying) {
	t.begin(g, event.PreparingRebalance, int32(s.N)-1)
	if g.startMs == 0 || g.state != event.PreparingRebalance {
		g.startMs = s.AtMs
	}
	g.generation, g.joinedMs, g.size = int32(s.N), s.AtMs, sizeIn(s.Text)
	for _, m := range g.order {
		t.answer(g, m, g.generation, "")
	}
	why := event.WhyAllRejoined
	if g.late {
		why = event.WhyRebalanceTimeout
	}
	t.emit(g, event.GenerationStarted{Generation: g.generation, Leader: g.leader, Members: g.ids(), Why: why, DurationMs: max(s.AtMs-g.startMs, 0)})
	t.enter(g, event.CompletingRebalance, why, "")
}

// sizeIn reads "… with 3 members", -1 where it does not stand there.
func sizeIn(text string) int {
	_, after, found := strings.Cut(text, "with ")
	number, _ := leadingNumber(after)
	n, ok := partitionNumber(number)
	if !found || !ok {
		return -1
	}
	return int(n)
}

func (t *teller) assigned(g *group, s *saying) {
	t.begin(g, event.CompletingRebalance, int32(s.N))
	g.generation = int32(s.N)
	if s.Member != "" {
		t.add(g, s.Member, "", true)
		t.lead(g, s.Member)
	}
	t.emit(g, event.AssignmentReceived{Member: s.Member, Generation: g.generation})
	t.enter(g, event.Stable, event.WhyAssignmentWritten, s.Member)
	t.record(g, s.AtMs)
}

func (t *teller) lead(g *group, id string) {
	if g.leader != id {
		g.leader = id
		t.emit(g, event.LeaderElected{Member: id, Why: event.WhyFirstToJoin})
	}
}

// record sums a generation up: how many members it has stands in the line, who they are need not.
func (t *teller) record(g *group, settledMs int64) {
	r := event.GenerationRecorded{Generation: g.generation, StartedMs: g.startMs, JoinedMs: g.joinedMs, SettledMs: settledMs, Why: g.began.why,
		Member: g.began.member, ClientID: clientIDOf(g.began.member), ClientReason: g.began.says, Members: len(g.members), Partitions: -1, Moved: -1}
	if r.StartedMs == 0 {
		r.StartedMs = settledMs
	}
	if g.size > r.Members {
		r.Members = g.size
	}
	r.Joined, r.MoreJoined = firstOf(g.joined)
	r.Left, r.MoreLeft = firstOf(g.left)
	t.emit(g, r)
	g.joined, g.left = nil, nil
}

// firstOf are the first 8 of a list, and how many there are beside these.
func firstOf(list []string) (first []string, more int) {
	if len(list) > 8 {
		return append(first, list[:8]...), len(list) - 8
	}
	return append(first, list...), 0
}

// replaced remembers that a static member's process started again: the line names its old id; the new one, which begins with the instance id, will be
// named later.
func (t *teller) replaced(g *group, s *saying) {
	if s.Instance == "" || s.Other == "" {
		return
	}
	t.add(g, s.Other, s.Instance, true)
	if g.replaced == nil {
		g.replaced = map[string]string{}
	}
	if len(g.replaced) < maxMembers {
		g.replaced[s.Instance] = s.Other
	}
}

// becomes puts a new id in the place of a static member's old one.
func (t *teller) becomes(g *group, old, id, instance string) *member {
	m := g.members[old]
	if m == nil {
		return nil
	}
	t.answer(g, m, 0, event.WhyStaticRestarted)
	delete(g.members, old)
	m.id, m.op = id, 0
	g.members[id] = m
	if g.leader == old {
		g.leader = id
	}
	t.emit(g, event.MemberReplaced{Old: old, Member: id, InstanceID: instance, ClientID: clientIDOf(id)})
	return m
}

func (t *teller) becameEmpty(g *group, s *saying) {
	t.begin(g, event.PreparingRebalance, int32(s.N)-1)
	for _, id := range g.ids() {
		t.remove(g, id, event.WhyMembersGone, "")
	}
	g.generation, g.size = int32(s.N), 0
	if g.startMs == 0 {
		g.startMs = s.AtMs
	}
	t.emit(g, event.GenerationStarted{Generation: g.generation, Why: event.WhyNoMembers, DurationMs: max(s.AtMs-g.startMs, 0)})
	t.enter(g, event.Empty, event.WhyNoMembers, "")
	t.record(g, s.AtMs)
}

func (t *teller) loaded(g *group, s *saying) {
	state := g.state
	if state == "" || state == event.Dead {
		if state = event.Stable; s.K == 0 && s.N == 0 {
			state = event.Empty
		}
	}
	if g.state == state {
		return
	}
	g.state, g.generation = state, int32(s.N)
	t.emit(g, event.GroupLoaded{State: state, Generation: g.generation, Partition: t.now.partitionOf()})
}

func (t *teller) offsetsGone(g *group, s *saying) {
	b := event.OffsetsRemoved{Why: event.WhyOffsetsExpired}
	if s.N > 0 {
		b.Why = event.WhyOffsetsDeleted
	}
	for _, tp := range partitionsIn(s.Text) {
		for _, p := range tp.Partitions {
			b.Offsets = append(b.Offsets, event.OffsetValue{Topic: tp.Topic, Partition: p, Offset: -1, LeaderEpoch: -1})
		}
	}
	if len(b.Offsets) > 0 {
		t.emit(g, b)
	}
}

// tape folds what a broker says of a partition of __consumer_offsets; false where the saying is none of these.
func (t *teller) tape(s *saying) bool {
	switch s.kind {
	case loadStarted, loadFinished, unloaded:
	default:
		return false
	}
	topics := partitionsIn(s.Text)
	if len(topics) != 1 || topics[0].Topic != "__consumer_offsets" || s.Broker == 0 {
		return true
	}
	p := topics[0].Partitions[0]
	e := event.Event{AtMs: s.AtMs, Broker: s.Broker}
	switch s.kind {
	case loadStarted:
		e.Body = event.LoadStarted{Partition: p, Epoch: int32(s.N)}
	case loadFinished:
		e.Body = event.LoadFinished{Partition: p, Epoch: int32(s.N)}
	default:
		e.Body = event.PartitionUnloaded{Partition: p, Epoch: int32(s.N)}
	}
	t.say(e)
	return true
}
