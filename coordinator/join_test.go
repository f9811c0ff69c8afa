package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

func TestJOIN01_WrongCoordinatorOrBadGroupID(t *testing.T) {
	b := newBench(t)
	wantCode(t, "otherGroup", b.joined(b.join("c", joinWith{version: 9, group: otherGroup})).ErrorCode, 16)
	wantCode(t, "otherGroup, static", b.joined(b.join("c", static("i", joinWith{group: otherGroup}))).ErrorCode, 16)
	wantCode(t, "empty group id", b.joined(b.joinEmptyGroup()).ErrorCode, 24)
}

func TestJOIN02_SessionBounds(t *testing.T) {
	b := newBench(t)
	for session, want := range map[int32]int16{9: 26, 600001: 26, 10: 79, 600000: 79, -5: 26} {
		wantCode(t, "session", b.joined(b.join("c", joinWith{version: 9, session: session})).ErrorCode, want)
	}
}

func TestJOIN03_IDsThatWereNeverIssued(t *testing.T) {
	b := newBench(t)
	for _, w := range []joinWith{{version: 9, id: "memberId"}, known("memberId", "i", joinWith{})} {
		resp := b.joined(b.join("c", w))
		wantCode(t, "missing group", resp.ErrorCode, 25)
		if resp.ProtocolType != nil || resp.MemberID != "memberId" {
			t.Fatalf("%+v", resp)
		}
		if b.c.groups[groupID] != nil {
			t.Fatal("the group was created")
		}
	}
	b.one(joinWith{})
	wantCode(t, "ONE", b.joined(b.join("c", joinWith{version: 9, id: "memberId"})).ErrorCode, 25)
}

func TestJOIN04_FirstMember(t *testing.T) {
	b := newBench(t)
	id, ticket := b.twoStep("c", joinWith{})
	b.unanswered(ticket)
	b.advance(51)
	resp := b.joined(ticket)
	wantCode(t, "join", resp.ErrorCode, 0)
	if resp.Generation != 1 || resp.MemberID != id || resp.LeaderID != id || len(resp.Members) != 1 ||
		resp.Members[0].MemberID != id || *resp.ProtocolType != "consumer" || *resp.Protocol != "range" {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.CompletingRebalance)
}

func TestJOIN05_ProtocolTypeAndEmptiness(t *testing.T) {
	b := newBench(t)
	b.one(joinWith{})
	resp := b.joined(b.direct("d", joinWith{kind: ptr("connect")}))
	wantCode(t, "another type", resp.ErrorCode, 23)
	if resp.MemberID != "" || resp.Protocol == nil || *resp.Protocol != "" {
		t.Fatalf("%+v", resp)
	}
	wantCode(t, "no type", b.joined(b.join("d", joinWith{version: 9, group: "deadGroupId", kind: ptr("")})).ErrorCode, 23)
	wantCode(t, "no protocol", b.joined(b.direct("d", joinWith{group: "deadGroupId", protocols: protocolList()})).ErrorCode, 23)
}

func TestJOIN06_NoCommonProtocol(t *testing.T) {
	b := newBench(t)
	one := b.direct("1", joinWith{})
	two := b.direct("2", joinWith{protocols: protocolList("roundrobin")})
	wantCode(t, "roundrobin", b.joined(two).ErrorCode, 23)
	b.advance(51)
	wantCode(t, "range", b.joined(one).ErrorCode, 0)
}

func TestJOIN08_LeaderRejoinsInStable(t *testing.T) {
	b := newBench(t)
	id := b.oneStable(joinWith{})
	resp := b.joined(b.join("m", joinWith{version: 9, id: id}))
	wantCode(t, "rejoin", resp.ErrorCode, 0)
	if resp.Generation != 2 {
		t.Fatalf("generation %d", resp.Generation)
	}
	b.inState(event.CompletingRebalance)
}

func TestJOIN09_ChangedMetadataInCompletingRebalance(t *testing.T) {
	b := newBench(t)
	id := b.one(joinWith{})
	resp := b.joined(b.join("m", joinWith{version: 9, id: id, protocols: protocolList("range", "roundrobin")}))
	if resp.ErrorCode != 0 || resp.Generation != 2 || len(b.written) != 0 {
		t.Fatalf("%+v, %d appends", resp, len(b.written))
	}
	if got := names(b.c.groups[groupID].members[0].protocols); len(got) != 2 || got[1] != "roundrobin" {
		t.Fatal(got)
	}
	b.inState(event.CompletingRebalance)
}

// twoMembers is a group with a leader and a follower at generation 2 in CompletingRebalance.
func twoMembers(b *bench) (leader, follower string) {
	b.t.Helper()
	leader = b.oneStable(joinWith{})
	f := b.direct("f", joinWith{})
	l := b.join("m", joinWith{version: 9, id: leader})
	for _, ticket := range []Ticket{f, l} {
		resp := b.joined(ticket)
		if resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != leader {
			b.t.Fatalf("%+v", resp)
		}
	}
	if n := len(b.joined(l).Members); n != 2 || len(b.joined(f).Members) != 0 {
		b.t.Fatalf("the leader was told of %d members, the follower of %d", n, len(b.joined(f).Members))
	}
	return leader, b.joined(f).MemberID
}

func TestJOIN10_UnchangedFollowerDoesNotRebalance(t *testing.T) {
	b := newBench(t)
	leader, follower := twoMembers(b)
	resp := b.joined(b.join("f", joinWith{version: 9, id: follower}))
	if resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != leader || len(resp.Members) != 0 {
		t.Fatalf("%+v", resp)
	}
	if resp := b.joined(b.join("m", joinWith{version: 9, id: leader})); len(resp.Members) != 2 || resp.Generation != 2 {
		t.Fatalf("the leader: %+v", resp)
	}
	b.inState(event.CompletingRebalance)
}

func TestJOIN11_NewMemberLimitEndsWithTheJoinPhase(t *testing.T) {
	b := newBench(t)
	ticket := b.direct("m", joinWith{session: 305000})
	b.advance(51)
	id := b.joined(ticket).MemberID
	if b.c.groups[groupID].members[0].isNew {
		t.Fatal("still new")
	}
	wantCode(t, "sync", b.synced(b.sync(id, 1, map[string]string{id: "0"})).ErrorCode, 0)
	b.advance(300100)
	b.members(1)
	b.advance(305001)
	b.members(0)
}

func TestJOIN12_SessionExpiryAfterTheJoinPhase(t *testing.T) {
	b := newBench(t)
	twoMembers(b)
	b.advance(501)
	b.inState(event.Empty)
	b.members(0)
}

func TestJOIN14_SecondStepWithBadProtocols(t *testing.T) {
	b := newBench(t)
	id := b.issued("m", joinWith{})
	wantCode(t, "empty list", b.joined(b.join("m", joinWith{version: 9, id: id, protocols: protocolList()})).ErrorCode, 23)
	ticket := b.join("m", joinWith{version: 9, id: id})
	b.advance(51)
	wantCode(t, "P1", b.joined(ticket).ErrorCode, 0)
}

func TestDELAY01_PlainDelay(t *testing.T) {
	b := newBench(t)
	ticket := b.direct("m", joinWith{})
	b.advance(25)
	b.unanswered(ticket)
	b.advance(26)
	wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
}

func TestDELAY02_ExtensionByALateJoiner(t *testing.T) {
	b := newBench(t)
	one := b.direct("1", joinWith{rebalance: 150})
	b.advance(49)
	two := b.direct("2", joinWith{rebalance: 150})
	b.advance(28)
	b.unanswered(one, two)
	b.advance(24)
	wantCode(t, "1", b.joined(one).ErrorCode, 0)
	wantCode(t, "2", b.joined(two).ErrorCode, 0)
}

func TestDELAY03_DelayLongerThanRebalanceTimeout(t *testing.T) {
	b := newBench(t)
	one := b.direct("1", joinWith{rebalance: 20})
	b.advance(30)
	two := b.direct("2", joinWith{rebalance: 20})
	b.unanswered(one)
	b.advance(19)
	b.unanswered(one)
	b.advance(2)
	wantCode(t, "1", b.joined(one).ErrorCode, 0)
	wantCode(t, "2", b.joined(two).ErrorCode, 0)
}

// A group that became empty again waits and extends, too (KIP-134; apache/kafka#13870).
func TestInitialDelayOfAReformedGroup(t *testing.T) {
	b := newBench(t)
	id := b.oneStable(joinWith{})
	b.leave(groupID, 3, id)
	b.inState(event.Empty)
	var tickets []Ticket
	for range 3 {
		tickets = append(tickets, b.direct("x", joinWith{rebalance: 300}))
		b.advance(40)
	}
	b.unanswered(tickets...)
	b.advance(60)
	for _, ticket := range tickets {
		if resp := b.joined(ticket); resp.ErrorCode != 0 || resp.Generation != 3 {
			t.Fatalf("%+v", resp)
		}
	}
}

// With steady arrivals the wait ends when the largest rebalance timeout is used up.
func TestInitialDelayIsBounded(t *testing.T) {
	b := newBench(t)
	first := b.direct("0", joinWith{rebalance: 120})
	for range 11 {
		b.advance(10)
		b.direct("x", joinWith{rebalance: 120})
	}
	b.unanswered(first)
	b.advance(11)
	wantCode(t, "first", b.joined(first).ErrorCode, 0)
	b.members(12)
}

func TestInitialDelayOfZero(t *testing.T) {
	b := newBench(t)
	s := caseSettings()
	s.GroupInitialRebalanceDelayMs = 0
	b.c.ConfigChanged(b.now, s)
	ticket := b.direct("m", joinWith{})
	b.advance(0)
	wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
}

// pending3 is PENDING3 of cases.md.
func pending3(b *bench) (a, bb, x string, tickets []Ticket) {
	b.t.Helper()
	a, bb = twoMembers(b)
	ta := b.join("m", joinWith{version: 9, id: a, protocols: protocolList("range", "roundrobin")})
	x = b.issued("x", joinWith{session: 100})
	tb := b.join("f", joinWith{version: 9, id: bb})
	b.inState(event.PreparingRebalance)
	b.unanswered(ta, tb)
	return a, bb, x, []Ticket{ta, tb}
}

func TestPEND01_HalfJoinThatNeverFinishes(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.issued("x", joinWith{})
	b.pending(1)
	b.members(1)
	b.advance(300)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 0)
	b.advance(300)
	b.pending(0)
	b.members(1)
	b.inState(event.Stable)
	if b.c.groups[groupID].generation != 1 {
		t.Fatal("a rebalance happened")
	}
}

func TestPEND02_PendingMemberJoins(t *testing.T) {
	b := newBench(t)
	_, _, x, tickets := pending3(b)
	tx := b.join("x", joinWith{version: 9, id: x})
	for _, ticket := range append(tickets, tx) {
		wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
	}
	b.inState(event.CompletingRebalance)
	b.members(3)
	b.pending(0)
}

func TestPEND03_PendingMemberTimesOut(t *testing.T) {
	b := newBench(t)
	_, _, _, tickets := pending3(b)
	b.advance(120)
	for _, ticket := range tickets {
		wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
	}
	b.inState(event.CompletingRebalance)
	b.members(2)
	b.pending(0)
}

func (b *bench) pending(want int) {
	b.t.Helper()
	if n := len(b.c.groups[groupID].pending); n != want {
		b.t.Fatalf("%d ids are pending, want %d", n, want)
	}
}

func TestPEND04_PendingBookkeeping(t *testing.T) {
	b := newBench(t)
	g := b.c.createGroup(groupID, 0)
	m := &member{id: "a"}
	b.c.addPending(g, m)
	if g.byID["a"] != nil || g.findPending("a") != m {
		t.Fatal("not pending")
	}
	b.c.addMember(g, m, "consumer")
	if g.byID["a"] != m || g.findPending("a") != nil {
		t.Fatal("not a member")
	}
	n := &member{id: "b"}
	b.c.addPending(g, n)
	b.c.forgetPending(g, n, event.WhyMemberLeft)
	if g.byID["b"] != nil || g.findPending("b") != nil {
		t.Fatal("an id that was forgotten is there")
	}
	defer func() {
		if recover() == nil {
			t.Fatal("a member was made pending")
		}
	}()
	b.c.addPending(g, &member{id: "a"})
}

func TestPEND05_BatchLeaveWithPending(t *testing.T) {
	b := newBench(t)
	_, _, x, tickets := pending3(b)
	resp := b.leaveEntries(groupID, leaver{"", ptr("unknown-instance")}, leaver{x, nil})
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 25 || resp.Members[1].ErrorCode != 0 {
		t.Fatalf("%+v", resp)
	}
	for _, ticket := range tickets {
		wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
	}
}

func TestPEND06_OtherAPIsWithAPendingID(t *testing.T) {
	b := newBench(t)
	_, _, x, _ := pending3(b)
	wantCode(t, "heartbeat", b.heartbeat(x, 2), 25)
	wantCode(t, "sync", b.synced(b.sync(x, 2, nil)).ErrorCode, 25)
	wantCode(t, "commit", b.committed(b.commit(commitWith{id: &x, generation: 2, offsets: map[int32]int64{0: 1}})), 25)
}

// Five minutes are the limit for a first join that waits; the group goes on without it (KAFKA-9752).
func TestNewMemberWaitsFiveMinutesAtMost(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{session: 100000, rebalance: 599000})
	x := b.direct("x", joinWith{session: 500, rebalance: 500})
	for range 5 {
		b.advance(60000)
		b.heartbeat(m, 1)
	}
	resp := b.joined(x)
	wantCode(t, "x", resp.ErrorCode, 25)
	removed := eventsOf[event.MemberRemoved](b)
	if resp.MemberID != "" || len(removed) != 1 || removed[0].Why != event.WhyNewMemberTimeout {
		t.Fatalf("%q, %+v", resp.MemberID, removed)
	}
	b.inState(event.PreparingRebalance)
	again := b.joined(b.join("m", joinWith{version: 9, id: m, session: 100000, rebalance: 599000}))
	if again.ErrorCode != 0 || again.Generation != 2 || len(again.Members) != 1 {
		t.Fatalf("%+v", again)
	}
}

// A member that joins again while its first reply is parked gets one answer, on its last request.
func TestJoinAgainDropsTheParkedReply(t *testing.T) {
	b := newBench(t)
	id, first := b.twoStep("m", joinWith{})
	second := b.join("m", joinWith{version: 9, id: id})
	b.advance(51)
	b.unanswered(first)
	wantCode(t, "second", b.joined(second).ErrorCode, 0)
	if dropped := eventsOf[event.ReplyDropped](b); len(dropped) != 1 || dropped[0].Ticket != first {
		t.Fatalf("%+v", dropped)
	}
	if g := b.c.groups[groupID]; g.awaiting != 0 {
		t.Fatalf("%d are awaited", g.awaiting)
	}
}

// JoinGroup version 0 has no rebalance timeout: the session timeout is used (KAFKA-8653).
func TestJoinVersion0(t *testing.T) {
	b := newBench(t)
	b.join("m", joinWith{version: 0, session: 10000, rebalance: -1})
	if m := b.c.groups[groupID].members[0]; m.rebalanceTimeoutMs != 10000 {
		t.Fatalf("rebalance timeout %d", m.rebalanceTimeoutMs)
	}
}
