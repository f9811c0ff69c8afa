package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

// A static member that starts again with another order of preference may turn the vote, though every member still
// supports the protocol that was elected: then there is a rebalance.
func TestRestartThatTurnsTheVote(t *testing.T) {
	rangeFirst, roundrobinFirst := joinWith{}, joinWith{protocols: protocolList("roundrobin", "range")}
	b := newBench(t)
	tickets := []Ticket{b.join("a", static("a", rangeFirst)), b.join("b", static("b", rangeFirst)), b.join("c", static("c", roundrobinFirst))}
	b.advance(101)
	ids := make([]string, len(tickets))
	for i, ticket := range tickets {
		resp := b.joined(ticket)
		if resp.ErrorCode != 0 || *resp.Protocol != "range" {
			t.Fatalf("%+v", resp)
		}
		ids[i] = resp.MemberID
	}
	for i, instance := range []string{"a", "b", "c"} {
		wantCode(t, instance, b.synced(b.syncStatic(ids[i], instance, 1, nil)).ErrorCode, 0)
	}
	b.inState(event.Stable)
	if resp := b.joined(b.join("c", static("c", rangeFirst))); resp.ErrorCode != 0 || resp.Generation != 1 {
		t.Fatalf("the vote goes on as it was: %+v", resp)
	}
	if resp := b.joined(b.join("c", static("c", roundrobinFirst))); resp.ErrorCode != 0 || resp.Generation != 1 {
		t.Fatalf("two of three still want range: %+v", resp)
	}
	restarted := b.join("b", static("b", roundrobinFirst))
	b.unanswered(restarted)
	b.inState(event.PreparingRebalance)
	b.advance(501) // a and c come too late; they are kept
	if resp := b.joined(restarted); resp.ErrorCode != 0 || resp.Generation != 2 || *resp.Protocol != "roundrobin" {
		t.Fatalf("%+v", resp)
	}
}

// The outcome of a replacement answers the JoinGroup that it was written for. Where a rebalance has answered that one
// meanwhile, the member may be waiting with a later one, for a later generation.
func TestLateReplacementAnswersNoLaterJoin(t *testing.T) {
	long := joinWith{session: 5000, rebalance: 5000}
	b := newBench(t)
	l, _ := twoStatic(b, long)
	b.hold = true
	first := b.join("f", static("follower", long))
	b.unanswered(first)
	wantCode(t, "the leader joins again", b.joined(b.join("l", known(l, "leader", long))).ErrorCode, 0)
	resp := b.joined(first)
	if resp.ErrorCode != 0 || resp.Generation != 2 {
		t.Fatalf("the rebalance answers the restarted follower: %+v", resp)
	}
	b.direct("x", long)
	b.inState(event.PreparingRebalance)
	second := b.join("f", known(resp.MemberID, "follower", long))
	b.release(0)
	b.unanswered(second)
	b.hold = false
	b.join("l", known(l, "leader", long))
	if resp := b.joined(second); resp.ErrorCode != 0 || resp.Generation != 3 {
		t.Fatalf("%+v", resp)
	}
}
