package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

// Public faults about who is a member; see bugs_test.go.

// apache/kafka#8354: the five minutes of a new member run out during a long rebalance, and nothing must wait for it.
func TestB05_NewMemberTimeoutInALongRebalance(t *testing.T) {
	b := newBugBench(t)
	long := joinWith{session: 10000, rebalance: 600000}
	one, _ := b.twoStep("m1", long)
	b.advance(3001)
	b.sync(one, 1, nil)
	x := b.direct("x", long)
	b.keep(300001, 1, one)
	resp := b.joined(x)
	if resp.ErrorCode != 25 || resp.MemberID != "" {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.PreparingRebalance)
	if resp := b.joined(b.join("m1", again(one, long))); resp.Generation != 2 || len(resp.Members) != 1 {
		t.Fatalf("%+v", resp)
	}
	b.sync(one, 2, nil)
	b.direct("x", long)
	b.inState(event.PreparingRebalance)
	b.members(2)
}

// apache/kafka#5556: the timer of a member that was dropped must not start another rebalance.
func TestB07_StaleTimer(t *testing.T) {
	b := newBugBench(t)
	w := joinWith{session: 60000, rebalance: 30000}
	one, first := b.twoStep("m1", w)
	two, _ := b.twoStep("m2", w)
	b.advance(6001)
	b.joined(first)
	b.sync(one, 1, nil)
	b.sync(two, 1, nil)
	third := b.direct("m3", w)
	rejoin := b.join("m1", again(one, w))
	b.advance(30000)
	if resp := b.joined(rejoin); resp.Generation != 2 || len(resp.Members) != 2 {
		t.Fatalf("%+v", resp)
	}
	three := b.joined(third).MemberID
	b.sync(one, 2, nil)
	b.sync(three, 2, nil)
	b.keep(33000, 2, one, three)
	b.inState(event.Stable)
	if g := b.c.groups[groupID]; g.generation != 2 || g.byID[two] != nil {
		t.Fatalf("%+v", g)
	}
}

// apache/kafka#8525: two-step joiners walked past group.max.size.
func TestB13_MaxSizeAndPendingMembers(t *testing.T) {
	b := newBugBench(t)
	s := DefaultSettings()
	s.GroupMaxSize = 2
	b.c.ConfigChanged(b.now, s)
	var ids []string
	for _, name := range []string{"x", "y", "z"} {
		ids = append(ids, b.issued(name, usual))
	}
	x, y := b.join("x", again(ids[0], usual)), b.join("y", again(ids[1], usual))
	resp := b.joined(b.join("z", again(ids[2], usual)))
	if resp.ErrorCode != 81 || resp.MemberID != "" || len(b.c.groups[groupID].pending) != 0 {
		t.Fatalf("%+v", resp)
	}
	b.advance(6001)
	wantCode(t, "x", b.joined(x).ErrorCode, 0)
	wantCode(t, "y", b.joined(y).ErrorCode, 0)
}

// After a restart with a lower limit only the excess is refused: the last to join again.
func TestB13_RestartWithALowerLimit(t *testing.T) {
	b := unloaded(t)
	s := caseSettings()
	s.GroupMaxSize = 2
	b.c.ConfigChanged(b.now, s)
	b.load(0, 2, batchAt(0, groupRecord(7, "a", "b", "c")))
	w := joinWith{session: 4000, rebalance: 30000}
	c, a := b.join("c", again("c", w)), b.join("a", again("a", w))
	wantCode(t, "b", b.joined(b.join("b", again("b", w))).ErrorCode, 81)
	if resp := b.joined(c); resp.ErrorCode != 0 || resp.Generation != 8 {
		t.Fatalf("%+v", resp)
	}
	if resp := b.joined(a); resp.ErrorCode != 0 || resp.LeaderID != "a" || len(resp.Members) != 2 {
		t.Fatalf("%+v", resp)
	}
}

// apache/kafka#6899: two processes with one group.instance.id must not both be members.
func TestB15_StaticMemberFencing(t *testing.T) {
	b := newBugBench(t)
	one, _ := b.twoStep("m1", usual)
	b.advance(3001)
	b.sync(one, 1, nil)
	w := static("a", joinWith{session: 10000, rebalance: 30000, protocols: protocolList("range")})
	first := b.join("a", w)
	b.unanswered(first)
	second := b.join("a", w)
	wantCode(t, "the first", b.joined(first).ErrorCode, 82)
	resp := b.joined(b.join("m1", again(one, usual)))
	if len(resp.Members) != 2 || resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	id := b.joined(second).MemberID
	parked := b.syncStatic(id, "a", 2, nil)
	b.unanswered(parked)
	b.join("a", w)
	wantCode(t, "the parked sync", b.synced(parked).ErrorCode, 82)
	b.members(2)
}

// apache/kafka#9270: the new id of a static member must survive a change of the coordinator.
func TestB17_StaticRejoinIsPersisted(t *testing.T) {
	b := newBugBench(t)
	w := static("a", joinWith{session: 10000, rebalance: 30000, protocols: protocolList("range")})
	a := b.join("a", w)
	two, _ := b.twoStep("m2", usual)
	b.advance(6001)
	one := b.joined(a).MemberID
	b.syncStatic(one, "a", 1, map[string]string{one: "1", two: "2"})
	b.sync(two, 1, nil)
	b.hold = true
	a = b.join("a", w)
	b.unanswered(a)
	b.release(0)
	again := b.joined(a).MemberID
	var log []LoadedBatch
	for i, a := range b.written {
		log = append(log, batchAt(int64(i), a.Records...))
	}
	b.hold = false
	b.c.Emigrate(b.now, 0, 1)
	b.load(0, 2, log...)
	wantCode(t, "a-2", b.heartbeatStatic(again, "a", 1), 0)
	wantCode(t, "a-1", b.heartbeatStatic(one, "a", 1), 82)
	wantCode(t, "M2", b.heartbeat(two, 1), 0)
	b.inState(event.Stable)
}

// apache/kafka#6714: one error for each who leaves, and one rebalance for all.
func TestB20_BatchLeaveGroup(t *testing.T) {
	b := newBugBench(t)
	w := joinWith{session: 10000, rebalance: 30000, protocols: protocolList("range")}
	a, c := b.join("a", static("a", w)), b.join("b", static("b", w))
	three, _ := b.twoStep("m3", usual)
	b.advance(9001)
	one, two := b.joined(a).MemberID, b.joined(c).MemberID
	b.syncStatic(one, "a", 1, nil)
	b.syncStatic(two, "b", 1, nil)
	b.sync(three, 1, nil)
	b.inState(event.Stable)
	began := len(eventsOf[event.RebalanceStarted](b))
	resp := b.leaveEntries(groupID, leaver{"", ptr("a")}, leaver{"", ptr("zz")}, leaver{three, nil})
	if resp.ErrorCode != 0 || len(resp.Members) != 3 {
		t.Fatalf("%+v", resp)
	}
	for i, want := range []int16{0, 25, 0} {
		wantCode(t, "entry", resp.Members[i].ErrorCode, want)
	}
	if got := len(eventsOf[event.RebalanceStarted](b)); got != began+1 {
		t.Fatalf("%d rebalances", got-began)
	}
	resp = b.leaveEntries("deadGroupId", leaver{"", ptr("a")}, leaver{"x", nil})
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 25 || resp.Members[1].ErrorCode != 25 {
		t.Fatalf("%+v", resp)
	}
	wantCode(t, "version 2", b.leave("deadGroupId", 2, "x").ErrorCode, 25)
}

// apache/kafka#13870: the initial delay, with its extensions, is for a group that became empty again, too.
func TestB32_InitialDelayOfAReformedGroup(t *testing.T) {
	b := unloaded(t)
	b.c.ConfigChanged(b.now, DefaultSettings())
	b.load(0, 2, batchAt(0, groupRecord(7)))
	one := b.direct("m1", usual)
	b.advance(2000)
	two := b.direct("m2", usual)
	b.advance(2000)
	three := b.direct("m3", usual)
	b.unanswered(one, two, three)
	b.advance(5001)
	for _, ticket := range []Ticket{one, two, three} {
		if resp := b.joined(ticket); resp.ErrorCode != 0 || resp.Generation != 8 {
			t.Fatalf("%+v", resp)
		}
	}
	b.members(3)
}
