package coordinator

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// Who has what it would get anyway is answered with it, and nothing else happens: no timer moves, and what the request
// says of timeouts is not kept. Who is parked has them kept.
func TestCurrentAnswerChangesNothing(t *testing.T) {
	for _, state := range []event.State{event.CompletingRebalance, event.Stable} {
		s := newScene(t, state, false)
		s.advance(70)
		before := s.timerOf(s.static)
		w := known(s.static, s.staticInstance, joinWith{session: 9000, rebalance: 9000})
		if resp := s.joined(s.join("i", w)); resp.Generation != 1 {
			t.Fatalf("%+v", resp)
		}
		m := s.c.groups[groupID].byID[s.static]
		if m.sessionTimeoutMs != 500 || m.rebalanceTimeoutMs != 500 || s.timerOf(s.static) != before {
			t.Fatalf("%s: %+v", state, m)
		}
		w.protocols = changed
		s.unanswered(s.join("i", w))
		if m.sessionTimeoutMs != 9000 || m.rebalanceTimeoutMs != 9000 || !m.sameProtocols(protocolsOf(changed)) {
			t.Fatalf("%s: %+v", state, m)
		}
		if g := s.c.groups[groupID]; g.joinOp.of != s.static {
			t.Fatalf("the phase lasts as long as %q says", g.joinOp.of)
		}
	}
}

// A lone member cannot go over to protocols of which it knew none before: its own old list counts (trap of many an
// upgrade). When it has left, it can.
func TestLoneMemberCannotSwitchProtocols(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	w := joinWith{version: 9, id: m, protocols: protocolList("cooperative-sticky")}
	wantCode(t, "disjoint", b.joined(b.join("m", w)).ErrorCode, 23)
	b.inState(event.Stable)
	b.leave(groupID, 5, m)
	w.id = ""
	w.id = b.issued("m", w)
	ticket := b.join("m", w)
	b.advance(51)
	if resp := b.joined(ticket); resp.ErrorCode != 0 || *resp.Protocol != "cooperative-sticky" {
		t.Fatalf("%+v", resp)
	}
}

// An issued id holds the join phase up, but no longer than the rebalance timeout; it stays issued, and its join begins
// the next rebalance.
func TestIssuedIDSurvivesTheJoinTimeout(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	x := b.issued("x", joinWith{session: 5000})
	rejoin := b.join("m", joinWith{version: 9, id: m})
	b.advance(499)
	b.unanswered(rejoin)
	b.advance(1)
	if resp := b.joined(rejoin); resp.ErrorCode != 0 || resp.Generation != 2 || len(resp.Members) != 1 {
		t.Fatalf("%+v", resp)
	}
	b.pending(1)
	b.inState(event.CompletingRebalance)
	b.unanswered(b.join("x", joinWith{version: 9, id: x}))
	b.inState(event.PreparingRebalance)
	b.pending(0)
}

// What the log does not know is lost with the coordinator: issued ids, parked replies, a generation whose leader has not
// synced. Its members are told that theirs is not the group's.
func TestFailoverForgetsWhatWasNotWritten(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	if resp := b.joined(b.join("m", joinWith{version: 9, id: m})); resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	x := b.issued("x", joinWith{})
	parked := b.direct("d", joinWith{})
	var log []LoadedBatch
	for i, a := range b.written {
		log = append(log, batchAt(int64(i), a.Records...))
	}
	b.c.Emigrate(b.now, 0, 1)
	b.take()
	wantCode(t, "the parked join", b.joined(parked).ErrorCode, 16)
	b.load(0, 2, log...)
	b.inState(event.Stable)
	wantCode(t, "the new generation", b.heartbeat(m, 2), 22)
	wantCode(t, "the written generation", b.heartbeat(m, 1), 0)
	wantCode(t, "the issued id", b.joined(b.join("x", joinWith{version: 9, id: x})).ErrorCode, 25)
}

// A static leader that does not join again stays a member, and hands the lead to the one that has been there for longest
// of those who did. Its session begins anew with the generation.
func TestStaticLeaderThatIsLateHandsOver(t *testing.T) {
	b := newBench(t)
	w := joinWith{session: 2000, rebalance: 400}
	l, f := twoStatic(b, w)
	third := b.join("t", static("third", w))
	b.advance(300)
	rejoin := b.join("f", known(f, "follower", w))
	b.advance(100)
	resp := b.joined(rejoin)
	if resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != f || len(resp.Members) != 3 || resp.Members[0].MemberID != l {
		t.Fatalf("%+v", resp)
	}
	if resp := b.joined(third); resp.LeaderID != f || len(resp.Members) != 0 {
		t.Fatalf("%+v", resp)
	}
	g := b.c.groups[groupID]
	if late := g.byID[l]; late.session.deadlineMs != b.now+2000 || !late.pendingSync {
		t.Fatalf("%+v", late)
	}
	elected := eventsOf[event.LeaderElected](b)
	if last := elected[len(elected)-1]; last.Member != f || last.Why != event.WhyLeaderNotRejoined {
		t.Fatalf("%+v", last)
	}
}

// A leader with an instance id that joins again under its own id wants a rebalance, like any leader.
func TestStaticLeaderThatJoinsAgainWantsARebalance(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	b.unanswered(b.join("l", known(l, "leader", joinWith{})))
	b.inState(event.PreparingRebalance)
}

// The leader's session can run out before the sync timer does: those whose SyncGroup waits are released by it.
func TestSessionOfALeaderInCompletingRebalance(t *testing.T) {
	b := newBench(t)
	one := b.direct("1", joinWith{session: 200})
	two := b.direct("2", joinWith{session: 400})
	b.advance(101)
	leader, follower := b.joined(one).MemberID, b.joined(two).MemberID
	sync := b.sync(follower, 1, nil)
	b.advance(198)
	b.unanswered(sync)
	b.advance(2)
	wantCode(t, "the parked sync", b.synced(sync).ErrorCode, 27)
	b.inState(event.PreparingRebalance)
	if g := b.c.groups[groupID]; g.byID[leader] != nil || g.leader != follower {
		t.Fatalf("the leader is %q", g.leader)
	}
}

// A leader that syncs twice before the first record is written has both written; it is answered once, on its last
// request, and the first record that is written counts.
func TestLeaderThatSyncsTwice(t *testing.T) {
	b := newBench(t)
	b.hold = true
	m := b.one(joinWith{})
	first := b.sync(m, 1, map[string]string{m: "first"})
	second := b.sync(m, 1, map[string]string{m: "second"})
	if len(b.held) != 2 {
		t.Fatalf("%d appends", len(b.held))
	}
	b.release(0)
	b.unanswered(first)
	if resp := b.synced(second); resp.ErrorCode != 0 || string(resp.MemberAssignment) != "first" {
		t.Fatalf("%+v", resp)
	}
	dropped := eventsOf[event.ReplyDropped](b)
	if len(dropped) != 1 || dropped[0].Ticket != first || dropped[0].API != apiSyncGroup {
		t.Fatalf("%+v", dropped)
	}
}

// A static member that starts again keeps what is known of the client that it took the place of (Kafka:
// ClassicGroup.replaceStaticMember), whoever asks for it now.
func TestRestartKeepsTheClient(t *testing.T) {
	b := newBench(t)
	twoStatic(b, joinWith{})
	id := b.joined(b.join("another-client", static("follower", joinWith{}))).MemberID
	for _, m := range b.describe(groupID, 5).Members {
		if m.MemberID == id && (m.ClientID != "f" || m.ClientHost != "/127.0.0.1" || *m.InstanceID != "follower") {
			t.Fatalf("%+v", m)
		}
	}
}

// group.max.size in each state: who has a place, and what it costs to have none.
func TestRoomInEveryState(t *testing.T) {
	b := newSmall(t, 1)
	x, y := b.issued("x", joinWith{session: 9000}), b.issued("y", joinWith{session: 9000})
	first := b.join("x", joinWith{version: 9, id: x})
	wantCode(t, "PreparingRebalance: an issued id", b.joined(b.join("y", joinWith{version: 9, id: y})).ErrorCode, 81)
	b.pending(0)
	wantCode(t, "PreparingRebalance: a newcomer", b.joined(b.issue("z")).ErrorCode, 81)
	wantCode(t, "PreparingRebalance: a stranger", b.joined(b.join("z", joinWith{version: 9, id: "stranger"})).ErrorCode, 81)
	second := b.join("x", joinWith{version: 9, id: x}) // who waits already has its place
	b.advance(51)
	b.unanswered(first)
	wantCode(t, "PreparingRebalance: who waits", b.joined(second).ErrorCode, 0)
	for _, state := range []event.State{event.CompletingRebalance, event.Stable} {
		b.inState(state)
		for what, w := range map[string]joinWith{"a newcomer": {version: 9}, "an old newcomer": {version: 3}, "a stranger": {version: 9, id: "stranger"},
			"an instance": static("i", joinWith{})} {
			resp := b.joined(b.join("z", w))
			if resp.ErrorCode != 81 || resp.MemberID != "" {
				t.Fatalf("%s: %s: %+v", state, what, resp)
			}
		}
		b.inState(state)
		b.members(1)
		wantCode(t, "sync", b.synced(b.sync(x, 1, nil)).ErrorCode, 0)
	}
	wantCode(t, "Stable: the member", b.joined(b.join("x", joinWith{version: 9, id: x})).ErrorCode, 0)
}

// A response that is shared or kept must not be changed by what comes after it.
func TestAnswersAreNotChangedLater(t *testing.T) {
	b := newBench(t)
	leader, follower := twoMembers(b)
	l := b.synced(b.sync(leader, 2, map[string]string{leader: "L", follower: "F"}))
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.Generation = 4, groupID, leader, 2
	h := answer[*kmsg.HeartbeatResponse](b, b.send("m", beat))
	before := string(l.AppendTo(nil)) + string(h.AppendTo(nil))
	b.join("m", joinWith{version: 9, id: leader, protocols: protocolList("range", "x")})
	wantCode(t, "heartbeat", b.heartbeat(leader, 2), 27)
	b.join("f", joinWith{version: 9, id: follower})
	b.sync(leader, 3, map[string]string{leader: "other"})
	if after := string(l.AppendTo(nil)) + string(h.AppendTo(nil)); after != before {
		t.Fatal("an answer that was given has changed")
	}
}
