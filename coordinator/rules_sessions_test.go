package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

// What restarts a member's session timer and what does not. R is longer than S everywhere, so that only sessions end.

var slow = joinWith{session: 1000, rebalance: 5000}

// slowPair are two members in CompletingRebalance at generation 1, the first of them leader.
func slowPair(b *bench) (one, two string) {
	b.t.Helper()
	one, first := b.twoStep("m1", slow)
	two, second := b.twoStep("m2", slow)
	b.advance(101)
	wantCode(b.t, "m1", b.joined(first).ErrorCode, 0)
	wantCode(b.t, "m2", b.joined(second).ErrorCode, 0)
	b.inState(event.CompletingRebalance)
	return one, two
}

// A member that is told of a rebalance by its heartbeat is alive all the same.
func TestHeartbeatDuringARebalanceRestartsTheSession(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(slow)
	b.direct("x", slow)
	for range 4 {
		b.advance(700)
		wantCode(t, "heartbeat", b.heartbeat(m, 1), 27)
	}
	b.members(2)
	b.advance(1001)
	wantCode(t, "after a silent session", b.heartbeat(m, 1), 25)
}

// The five minutes of a first join are over with the join phase: from its answer on the session counts.
func TestSessionBeginsWhenTheJoinIsAnswered(t *testing.T) {
	b := newBench(t)
	one, two := slowPair(b)
	b.advance(900)
	b.members(2)
	wantCode(t, "m1", b.heartbeat(one, 1), 0)
	b.advance(101)
	b.members(1)
	wantCode(t, "m2", b.heartbeat(two, 1), 25)
	b.inState(event.PreparingRebalance)
}

// A session that ran out while a SyncGroup was parked was excused; the answer begins the next one.
func TestSessionBeginsWhenAParkedSyncIsAnswered(t *testing.T) {
	b := newBench(t)
	one, two := slowPair(b)
	parked := b.sync(two, 1, nil)
	b.advance(900)
	wantCode(t, "m1", b.heartbeat(one, 1), 0)
	b.advance(900)
	wantCode(t, "m1 syncs", b.synced(b.sync(one, 1, map[string]string{two: "2"})).ErrorCode, 0)
	wantCode(t, "m2's sync", b.synced(parked).ErrorCode, 0)
	b.members(2)
	b.advance(999)
	b.members(2)
	wantCode(t, "m1", b.heartbeat(one, 1), 0)
	b.advance(1)
	b.members(1)
	b.inState(event.PreparingRebalance)
}

func TestSyncInStableRestartsTheSession(t *testing.T) {
	b := newBench(t)
	one, two := slowPair(b)
	b.sync(one, 1, map[string]string{two: "2"})
	b.inState(event.Stable)
	b.advance(900)
	wantCode(t, "m1", b.heartbeat(one, 1), 0)
	if resp := b.synced(b.sync(two, 1, nil)); resp.ErrorCode != 0 || string(resp.MemberAssignment) != "2" {
		t.Fatalf("%+v", resp)
	}
	b.advance(900)
	wantCode(t, "m2", b.heartbeat(two, 1), 0)
}

// A SyncGroup that comes when the leader's assignment is written already counts for the sync timer too.
func TestSyncInStableCountsForTheSyncTimer(t *testing.T) {
	b := newBench(t)
	one, two := settled(b)
	b.direct("x", joinWith{})
	b.join("m2", again(two, joinWith{}))
	third := b.joined(b.join("m1", again(one, joinWith{})))
	wantCode(t, "m1", third.ErrorCode, 0)
	b.sync(one, 2, map[string]string{one: "1"})
	b.inState(event.Stable)
	wantCode(t, "m2's sync", b.synced(b.sync(two, 2, nil)).ErrorCode, 0)
	for _, m := range third.Members {
		wantCode(t, "sync", b.synced(b.sync(m.MemberID, 2, nil)).ErrorCode, 0)
	}
	for range 3 {
		b.advance(250)
		for _, m := range third.Members {
			wantCode(t, "heartbeat of "+m.MemberID, b.heartbeat(m.MemberID, 2), 0)
		}
	}
	b.inState(event.Stable)
}

// Transactions are a producer's. That it commits does not say that the member is alive.
func TestTransactionalCommitRestartsNoSession(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(slow)
	b.advance(900)
	b.txnDone(b.txnCommit(txnWith{id: m, generation: ptr(int32(1)), offsets: one(5)}))
	b.advance(101)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 25)
}

// The timer of a static member whose replacement could not be written runs again under its old id.
func TestSessionGoesOnAfterAFailedReplacement(t *testing.T) {
	b := newBench(t)
	l, f := twoStatic(b, slow)
	b.failing = 10
	wantCode(t, "restart", b.joined(b.join("f", static("follower", slow))).ErrorCode, -1)
	b.failing = 0
	b.advance(900)
	wantCode(t, "leader", b.heartbeatStatic(l, "leader", 1), 0)
	b.members(2)
	b.advance(101)
	b.members(1)
	wantCode(t, "follower", b.heartbeatStatic(f, "follower", 1), 25)
}

// A leader that is gone is replaced at once, not only when the next generation begins.
func TestLeaderThatGoesIsReplacedAtOnce(t *testing.T) {
	t.Run("leaves", func(t *testing.T) {
		b := newBench(t)
		one, two := settled(b)
		b.leave(groupID, 5, one)
		b.wantLeader(two)
	})
	t.Run("session over", func(t *testing.T) {
		b := newBench(t)
		one, two := slowPair(b)
		b.sync(one, 1, map[string]string{two: "2"})
		b.sync(two, 1, nil)
		b.advance(900)
		b.heartbeat(two, 1)
		b.advance(101)
		b.wantLeader(two)
	})
	t.Run("not synced", func(t *testing.T) {
		b := newBench(t)
		w := joinWith{session: 5000, rebalance: 500}
		first, second := b.direct("m1", w), b.direct("m2", w)
		b.advance(101)
		b.wantLeader(b.joined(first).MemberID)
		b.sync(b.joined(second).MemberID, 1, nil)
		b.advance(501)
		b.wantLeader(b.joined(second).MemberID)
	})
}

func (b *bench) wantLeader(id string) {
	b.t.Helper()
	if g := b.c.groups[groupID]; g == nil || g.leader != id {
		b.t.Fatalf("the leader is not %q: %+v", id, g)
	}
}

// KIP-134: a newcomer asks for another round of the initial delay only while it runs. One that came to a rebalance of a
// Stable group leaves no such wish behind.
func TestNewcomerOfAnOrdinaryRebalanceExtendsNoLaterDelay(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	x := b.issued("x", joinWith{})
	b.direct("y", joinWith{}) // begins the rebalance
	b.inState(event.PreparingRebalance)
	b.join("x", again(x, joinWith{})) // comes to it
	b.leave(groupID, 5, m, x)
	g := b.c.groups[groupID]
	b.leave(groupID, 5, g.members[0].id)
	b.inState(event.Empty)
	ticket := b.direct("z", joinWith{})
	b.advance(49)
	b.unanswered(ticket)
	b.advance(2)
	wantCode(t, "z", b.joined(ticket).ErrorCode, 0)
}
