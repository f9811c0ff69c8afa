package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

func TestLEAVE01_Gate(t *testing.T) {
	b := newBench(t)
	for _, version := range []int16{1, 2, 3, 5} {
		for group, want := range map[string]int16{otherGroup: 16, "": 24} {
			resp := b.leave(group, version, "m")
			wantCode(t, group, resp.ErrorCode, want)
			if len(resp.Members) != 0 {
				t.Fatalf("%+v", resp)
			}
		}
	}
}

func TestLEAVE02_UnknownGroupOrMember(t *testing.T) {
	b := newBench(t)
	resp := b.leave(groupID, 5, "m")
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 25 {
		t.Fatalf("%+v", resp)
	}
	b.one(joinWith{})
	resp = b.leave(groupID, 5, "consumerId")
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 25 {
		t.Fatalf("%+v", resp)
	}
}

func TestLEAVE03_OnlyMemberLeaves(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	resp := b.leave(groupID, 5, m)
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 0 || resp.Members[0].MemberID != m {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Empty)
	if g := b.c.groups[groupID]; g.generation != 2 || g.leader != "" || g.protocol != "" || g.protocolType != "consumer" {
		t.Fatalf("%+v", g)
	}
	if len(b.written) != 1 || len(b.written[0].Records) != 1 {
		t.Fatalf("%+v", b.written)
	}
	value, err := record.DecodeGroup(b.written[0].Records[0].Value)
	if err != nil || value.Generation != 2 || len(value.Members) != 0 || value.Protocol != nil || value.ProtocolType != "consumer" {
		t.Fatalf("%+v, %v", value, err)
	}
	if d := b.describe(groupID, 5); d.State != "Empty" {
		t.Fatalf("%+v", d)
	}
}

func TestLEAVE05_BatchOnAMissingGroup(t *testing.T) {
	b := newBench(t)
	resp := b.leaveEntries(groupID, leaver{"", ptr("leader")}, leaver{"", ptr("follower")})
	if resp.ErrorCode != 0 || len(resp.Members) != 2 || resp.Members[0].ErrorCode != 25 || resp.Members[1].ErrorCode != 25 {
		t.Fatalf("%+v", resp)
	}
}

func TestLEAVE07_ParkedJoinerLeaves(t *testing.T) {
	b := newBench(t)
	id, join := b.twoStep("m", joinWith{})
	wantCode(t, "leave", b.leave(groupID, 5, id).Members[0].ErrorCode, 0)
	resp := b.joined(join)
	if resp.ErrorCode != 25 || resp.MemberID != "" {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.PreparingRebalance) // only time ends the initial delay
	b.advance(51)
	b.inState(event.Empty)
}

func TestLEAVE08_OldVersions(t *testing.T) {
	b := newBench(t)
	for _, version := range []int16{0, 2} {
		resp := b.leave(groupID, version, "m")
		if resp.ErrorCode != 25 || len(resp.Members) != 0 {
			t.Fatalf("%+v", resp)
		}
	}
	m := b.one(joinWith{})
	wantCode(t, "unknown", b.leave(groupID, 2, "x").ErrorCode, 25)
	wantCode(t, "valid", b.leave(groupID, 2, m).ErrorCode, 0)
}

// A batch costs one rebalance (B20), and the leader's going gives the group another one.
func TestBatchLeaveCostsOneRebalance(t *testing.T) {
	b := newBench(t)
	ids := threeHeartbeating(b)
	b.sync(ids[0], 1, nil)
	n := len(eventsOf[event.RebalanceStarted](b))
	resp := b.leave(groupID, 5, ids[0], "zz", ids[1])
	if resp.Members[0].ErrorCode != 0 || resp.Members[1].ErrorCode != 25 || resp.Members[2].ErrorCode != 0 {
		t.Fatalf("%+v", resp)
	}
	if got := len(eventsOf[event.RebalanceStarted](b)); got != n+1 {
		t.Fatalf("%d rebalances began", got-n)
	}
	if g := b.c.groups[groupID]; g.leader != ids[2] || g.state != event.PreparingRebalance {
		t.Fatalf("leader %s in %s", g.leader, g.state)
	}
}

// The parked SyncGroup of a member that leaves is never answered; those of the others get 27.
func TestLeaveWithAParkedSync(t *testing.T) {
	b := newBench(t)
	ids := threeHeartbeating(b)
	one, two := b.sync(ids[1], 1, nil), b.sync(ids[2], 1, nil)
	b.leave(groupID, 5, ids[1])
	b.unanswered(one)
	wantCode(t, "other", b.synced(two).ErrorCode, 27)
	if dropped := eventsOf[event.ReplyDropped](b); len(dropped) != 1 || dropped[0].Ticket != one {
		t.Fatalf("%+v", dropped)
	}
}

// A pending id may leave; its timer runs out later without effect, also when the slot has a new user.
func TestPendingIDLeaves(t *testing.T) {
	b := newBench(t)
	x := b.issued("x", joinWith{session: 300})
	wantCode(t, "leave", b.leave(groupID, 5, x).Members[0].ErrorCode, 0)
	m := b.oneStable(joinWith{})
	b.advance(280)
	b.members(1)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 0)
	wantCode(t, "join", b.joined(b.join("x", joinWith{version: 9, id: x})).ErrorCode, 25)
	forgotten := 0
	for _, f := range eventsOf[event.PendingForgotten](b) {
		if f.Member == x {
			forgotten++
		}
	}
	if forgotten != 1 {
		t.Fatalf("the id was forgotten %d times", forgotten)
	}
}

// The timer of an issued id that has left is told by Facts while it runs, and ends with its group.
func TestTimerOfAnIDThatLeftEndsWithItsGroup(t *testing.T) {
	b := newBench(t)
	x := b.issued("x", joinWith{session: 60000})
	b.leave(groupID, 5, x)
	waiting := func(events []event.Event) (n int) {
		for _, e := range events {
			if w, ok := e.Body.(event.OperationWatched); ok && w.Member == x {
				n++
			}
		}
		return n
	}
	if n := waiting(b.c.Facts(b.now)); n != 1 {
		t.Errorf("Facts tell of %d timers of the id that left, its own still runs", n)
	}
	if err := b.c.Clone(&event.Numbers{}).Invariants(); err != nil {
		t.Error("a copy:", err)
	}
	wantCode(t, "delete", b.deleteGroups(groupID).Groups[0].ErrorCode, 0)
	if n := b.c.sessions.Delayed(); n != 0 {
		t.Errorf("%d session timers run on, and there is no group", n)
	}
	if err := b.c.Invariants(); err != nil {
		t.Error(err)
	}
}

// A pending id that leaves costs a rebalance, as a member does: Kafka 4.0 counts every entry that succeeded. Kafka 4.0.2 was
// asked; the Scala coordinator left the group alone.
func TestPendingIDThatLeavesStartsARebalance(t *testing.T) {
	for _, synced := range []bool{false, true} {
		b := newBench(t)
		m := b.one(joinWith{})
		if synced {
			b.sync(m, 1, nil)
		}
		x := b.issued("x", joinWith{})
		wantCode(t, "leave", b.leave(groupID, 5, x).Members[0].ErrorCode, 0)
		b.inState(event.PreparingRebalance)
		wantCode(t, "heartbeat", b.heartbeat(m, 1), 27)
	}
}
