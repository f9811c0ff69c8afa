package coordinator

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

func TestSYNC01_GateAndMembership(t *testing.T) {
	b := newBench(t)
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 4, otherGroup, "x", 1
	wantCode(t, "otherGroup", b.synced(b.send("m", q)).ErrorCode, 16)
	wantCode(t, "missing group", b.synced(b.sync("x", 1, nil)).ErrorCode, 25)
	id := b.one(joinWith{})
	wantCode(t, "generation 2", b.synced(b.sync(id, 2, nil)).ErrorCode, 22)
	wantCode(t, "leader", b.synced(b.sync(id, 1, nil)).ErrorCode, 0)
	wantCode(t, "blah", b.synced(b.sync("blah", 1, nil)).ErrorCode, 25)
}

func TestSYNC02_EmptyAssignmentMap(t *testing.T) {
	b := newBench(t)
	id := b.one(joinWith{})
	resp := b.synced(b.sync(id, 1, nil))
	if resp.ErrorCode != 0 || len(resp.MemberAssignment) != 0 {
		t.Fatalf("%+v", resp)
	}
	wantCode(t, "heartbeat", b.heartbeat(id, 1), 0)
}

func TestSYNC03_FollowerAfterLeader(t *testing.T) {
	b := newBench(t)
	leader, follower := twoMembers(b)
	l := b.synced(b.sync(leader, 2, map[string]string{leader: "00", follower: "01", "stranger": "02"}))
	f := b.synced(b.sync(follower, 2, nil))
	if l.ErrorCode != 0 || string(l.MemberAssignment) != "00" || f.ErrorCode != 0 || string(f.MemberAssignment) != "01" {
		t.Fatalf("%+v %+v", l, f)
	}
	if again := b.synced(b.sync(leader, 2, map[string]string{leader: "77"})); string(again.MemberAssignment) != "00" {
		t.Fatalf("a leader's late assignment was taken: %q", again.MemberAssignment)
	}
}

func TestSYNC04_LeaderAfterFollower(t *testing.T) {
	b := newBench(t)
	leader, follower := twoMembers(b)
	f := b.sync(follower, 2, nil)
	b.unanswered(f)
	l := b.sync(leader, 2, map[string]string{leader: "00", follower: "01"})
	if b.synced(l).ErrorCode != 0 || b.synced(f).ErrorCode != 0 ||
		string(b.synced(l).MemberAssignment) != "00" || string(b.synced(f).MemberAssignment) != "01" {
		t.Fatalf("%+v %+v", b.synced(l), b.synced(f))
	}
}

func TestSYNC05_LeaderDies(t *testing.T) {
	b := newBench(t)
	_, follower := twoMembers(b)
	f := b.sync(follower, 2, nil)
	b.advance(600)
	wantCode(t, "follower", b.synced(f).ErrorCode, 27)
}

// The protocol checks of SYNC-06, 07 and 09, with dynamic members.
func TestSYNC09_ProtocolTypeAndName(t *testing.T) {
	b := newBench(t)
	id := b.one(joinWith{protocols: protocolList("range", "roundrobin")})
	try := func(version int16, kind, name *string) *kmsg.SyncGroupResponse {
		q := kmsg.NewPtrSyncGroupRequest()
		q.Version, q.Group, q.MemberID, q.Generation, q.ProtocolType, q.Protocol = version, groupID, id, 1, kind, name
		return b.synced(b.send("m", q))
	}
	for _, refused := range []*kmsg.SyncGroupResponse{
		try(5, ptr("whatever"), ptr("range")), try(5, ptr("consumer"), ptr("whatever")), try(5, nil, ptr("range")),
		try(5, ptr("consumer"), nil), try(4, ptr("whatever"), nil), try(4, nil, ptr("whatever"))} {
		if refused.ErrorCode != 23 || refused.Protocol != nil || refused.ProtocolType != nil {
			t.Fatalf("%+v", refused)
		}
	}
	ok := try(5, ptr("consumer"), ptr("range"))
	if ok.ErrorCode != 0 || *ok.Protocol != "range" || *ok.ProtocolType != "consumer" {
		t.Fatalf("%+v", ok)
	}
}

func TestSYNC08_AppendCompletesTooLate(t *testing.T) {
	b := newBench(t)
	b.hold = true
	m := b.one(joinWith{})
	sync := b.sync(m, 1, map[string]string{m: "0"})
	b.unanswered(sync)
	b.direct("d", joinWith{})
	wantCode(t, "sync", b.synced(sync).ErrorCode, 27)
	b.inState(event.PreparingRebalance)
	n := len(b.events)
	b.release(0)
	b.inState(event.PreparingRebalance)
	if len(b.events) != n+1 || !b.events[n].Body.(event.AppendFinished).Ignored {
		t.Fatalf("%v", b.events[n:])
	}
	if b.c.groups[groupID].members[0].assignment != nil {
		t.Fatal("the late assignment was stored")
	}
}

// The generation alone can tell that an append is late, too: the state is CompletingRebalance again.
func TestLateAppendOfAnOlderGeneration(t *testing.T) {
	b := newBench(t)
	b.hold = true
	m := b.one(joinWith{})
	b.sync(m, 1, map[string]string{m: "0"})
	if resp := b.joined(b.join("m", joinWith{version: 9, id: m, protocols: protocolList("range", "x")})); resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	b.release(0)
	b.inState(event.CompletingRebalance)
}

func TestPSYNC01_NobodySyncs(t *testing.T) {
	b := newBench(t)
	ids := threeHeartbeating(b)
	b.advance(252)
	for _, id := range ids {
		wantCode(t, "heartbeat", b.heartbeat(id, 1), 25)
	}
}

func TestPSYNC02_OnlyTheLeaderSyncs(t *testing.T) {
	b := newBench(t)
	ids := threeHeartbeating(b)
	wantCode(t, "sync", b.synced(b.sync(ids[0], 1, nil)).ErrorCode, 0)
	b.inState(event.Stable)
	wantCode(t, "leader", b.heartbeat(ids[0], 1), 0)
	b.advance(252)
	wantCode(t, "leader", b.heartbeat(ids[0], 1), 27)
	wantCode(t, "follower", b.heartbeat(ids[1], 1), 25)
	wantCode(t, "follower", b.heartbeat(ids[2], 1), 25)
}

// threeHeartbeating are three two-step members of one generation that heartbeat 250 ms after it began.
func threeHeartbeating(b *bench) (ids []string) {
	b.t.Helper()
	var tickets []Ticket
	for _, name := range []string{"a", "b", "c"} {
		id, ticket := b.twoStep(name, joinWith{})
		ids, tickets = append(ids, id), append(tickets, ticket)
	}
	b.advance(101)
	wantCode(b.t, "join", b.joined(tickets[2]).ErrorCode, 0)
	b.advance(249)
	for _, id := range ids {
		wantCode(b.t, "heartbeat", b.heartbeat(id, 1), 0)
	}
	return ids
}

func TestAPP01_GroupRecordMapping(t *testing.T) {
	for code, want := range map[int16]int16{0: 0, 3: 15, 19: 15, 20: 15, 6: 16, 56: 16, 7: 15, 10: -1, 18: -1, 4: -1, 2: 2} {
		b := newBench(t)
		leader, follower := twoMembers(b)
		b.failing = code
		f := b.sync(follower, 2, nil)
		l := b.sync(leader, 2, map[string]string{leader: "00", follower: "01"})
		wantCode(t, "leader", b.synced(l).ErrorCode, want)
		wantCode(t, "follower", b.synced(f).ErrorCode, want)
		if code == 0 {
			b.inState(event.Stable)
			continue
		}
		b.inState(event.PreparingRebalance)
		if m := b.synced(l).MemberAssignment; m != nil {
			t.Fatalf("an assignment came with the error: %q", m)
		}
	}
}
