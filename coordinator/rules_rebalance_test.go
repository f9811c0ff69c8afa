package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

// What begins a rebalance, and what of the old generation is over when the next one begins.

// Metadata is unchanged only if its bytes are: a follower that subscribes to something else needs a new assignment.
func TestFollowerWithOtherTopicsRebalances(t *testing.T) {
	b := newBench(t)
	with := func(topics ...string) joinWith { return joinWith{protocols: subscribed("range", topics...)} }
	one, first := b.twoStep("m1", with("foo"))
	two, _ := b.twoStep("m2", with("foo"))
	b.advance(101)
	wantCode(t, "m1", b.joined(first).ErrorCode, 0)
	b.sync(one, 1, nil)
	b.sync(two, 1, nil)
	b.inState(event.Stable)
	if resp := b.joined(b.join("m2", again(two, with("foo")))); resp.ErrorCode != 0 || resp.Generation != 1 {
		t.Fatalf("the same topics: %+v", resp)
	}
	ticket := b.join("m2", again(two, with("bar")))
	b.unanswered(ticket)
	b.inState(event.PreparingRebalance)
	b.join("m1", again(one, with("foo")))
	if resp := b.joined(ticket); resp.ErrorCode != 0 || resp.Generation != 2 {
		t.Fatalf("other topics: %+v", resp)
	}
}

// Who has not sent SyncGroup in one generation is not awaited for it in the next.
func TestNobodyOfAnOldGenerationIsAwaited(t *testing.T) {
	b := newBench(t)
	one, first := b.twoStep("m1", joinWith{})
	two, _ := b.twoStep("m2", joinWith{})
	b.advance(101)
	wantCode(t, "m1", b.joined(first).ErrorCode, 0)
	b.sync(one, 1, nil) // m2 does not
	b.inState(event.Stable)
	b.join("m1", again(one, joinWith{}))
	b.inState(event.PreparingRebalance)
	if n := waiting(b.c); n != 3 { // the join phase and two sessions: the sync timer of generation 1 is over
		t.Fatalf("%d timers in the join phase, want 3", n)
	}
	b.join("m2", again(two, joinWith{}))
	b.sync(one, 2, nil)
	b.sync(two, 2, nil)
	b.inState(event.Stable)
	if g := b.c.groups[groupID]; g.generation != 2 || waiting(b.c) != 2 {
		t.Fatalf("generation %d, %d timers, want 2 and the 2 sessions", g.generation, waiting(b.c))
	}
	for range 4 {
		b.advance(250)
		wantCode(t, "m1", b.heartbeat(one, 2), 0)
		wantCode(t, "m2", b.heartbeat(two, 2), 0)
	}
}

// A static leader whose process is starting again when the time is up stays a member, but somebody must assign.
func TestJoinedMemberLeadsInsteadOfAnAbsentLeader(t *testing.T) {
	b := newBench(t)
	_, f := twoStatic(b, joinWith{session: 2000, rebalance: 500})
	w := joinWith{session: 2000, rebalance: 500}
	newcomer := b.join("n", static("newMember", w))
	rejoined := b.join("f", known(f, "follower", w))
	b.advance(501)
	if resp := b.joined(rejoined); resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != f || len(resp.Members) != 3 {
		t.Fatalf("%+v", resp)
	}
	if resp := b.joined(newcomer); resp.LeaderID != f || len(resp.Members) != 0 {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.CompletingRebalance)
}

// The outcome of a write counts for the group that asked for it, not for a new one of the same name, state and generation.
func TestAssignmentOfAnEarlierLifeHasNoEffect(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	b.hold = true
	late := b.sync(m, 1, map[string]string{m: "old"})
	b.c.Emigrate(b.now, 0, 3)
	b.take()
	wantCode(t, "the parked sync", b.synced(late).ErrorCode, 16)
	b.hold = false
	b.load(0, 4)
	n := b.one(joinWith{})
	b.release(0)
	b.inState(event.CompletingRebalance)
	if resp := b.synced(b.sync(n, 1, map[string]string{n: "new"})); resp.ErrorCode != 0 || string(resp.MemberAssignment) != "new" {
		t.Fatalf("%+v", resp)
	}
}
