package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

// Whom a join phase waits for: every member once, whatever it sends, and nobody who is gone.

// numMembersAwaitingJoin counts members, not requests: a client that sends JoinGroup again (its first one timed out) must
// not stand for somebody else.
func TestMemberThatJoinsTwiceIsAwaitedOnce(t *testing.T) {
	b := newBench(t)
	one, two := settled(b)
	x := b.direct("x", joinWith{})
	b.join("m1", again(one, joinWith{}))
	second := b.join("m1", again(one, joinWith{}))
	b.unanswered(x, second)
	third := b.join("m2", again(two, joinWith{}))
	for _, ticket := range []Ticket{x, second, third} {
		if resp := b.joined(ticket); resp.ErrorCode != 0 || resp.Generation != 2 {
			t.Fatalf("%+v", resp)
		}
	}
}

// settled are two members, Stable at generation 1, the first of them leader. All timeouts are those of cases.md.
func settled(b *bench) (one, two string) {
	b.t.Helper()
	one, first := b.twoStep("m1", joinWith{})
	two, second := b.twoStep("m2", joinWith{})
	b.advance(101)
	wantCode(b.t, "m1", b.joined(first).ErrorCode, 0)
	wantCode(b.t, "m2", b.joined(second).ErrorCode, 0)
	b.sync(one, 1, map[string]string{one: "1", two: "2"})
	b.sync(two, 1, nil)
	b.inState(event.Stable)
	return one, two
}

// A member that leaves while its join is parked is not awaited, and does not stand for another.
func TestMemberThatLeavesIsNotCountedAsJoined(t *testing.T) {
	b := newBench(t)
	one, two := settled(b)
	x := b.issued("x", joinWith{})
	parked := b.join("x", again(x, joinWith{}))
	first := b.join("m1", again(one, joinWith{}))
	wantCode(t, "leave", b.leave(groupID, 5, x).Members[0].ErrorCode, 0)
	wantCode(t, "the parked join", b.joined(parked).ErrorCode, 25)
	b.unanswered(first)
	b.inState(event.PreparingRebalance)
	second := b.join("m2", again(two, joinWith{}))
	if resp := b.joined(first); resp.ErrorCode != 0 || len(resp.Members) != 2 {
		t.Fatalf("%+v", resp)
	}
	wantCode(t, "m2", b.joined(second).ErrorCode, 0)
}

// The timer of an issued id is over when the id joins: left to run, it would forget a member.
func TestTimerOfAnIssuedIDEndsWithItsJoin(t *testing.T) {
	b := newBench(t)
	long := joinWith{session: 5000, rebalance: 5000}
	m := b.oneStable(long)
	b.heartbeat(m, 1)
	x := b.issued("x", joinWith{session: 100, rebalance: 5000})
	if n := waiting(b.c); n != 2 { // the session of m, the id of x
		t.Fatalf("%d timers with an issued id, want 2", n)
	}
	parked := b.join("x", again(x, joinWith{session: 100, rebalance: 5000}))
	if n := waiting(b.c); n != 3 { // the session of m, the five minutes of x, the join phase
		t.Fatalf("%d timers, want 3", n)
	}
	b.advance(200)
	b.unanswered(parked)
	b.members(2)
	b.join("m", again(m, long))
	if resp := b.joined(parked); resp.ErrorCode != 0 || resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
}
