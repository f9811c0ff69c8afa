package coordinator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

var p2 = protocolList("range", "roundrobin")

// static is a join without an id by an instance.
func static(instance string, w joinWith) joinWith {
	w.instance = &instance
	if w.version == 0 {
		w.version = 9
	}
	if w.protocols == nil {
		w.protocols = p2
	}
	return w
}

func known(id, instance string, w joinWith) joinWith {
	w.id = id
	return static(instance, w)
}

// twoJoined are two static members in CompletingRebalance at generation 1.
func twoJoined(b *bench, w joinWith) (leader, follower string) {
	b.t.Helper()
	l, f := b.join("l", static("leader", w)), b.join("f", static("follower", w))
	b.advance(101)
	leader, follower = b.joined(l).MemberID, b.joined(f).MemberID
	if resp := b.joined(l); resp.ErrorCode != 0 || resp.Generation != 1 || resp.LeaderID != leader || len(resp.Members) != 2 {
		b.t.Fatalf("%+v", resp)
	}
	return leader, follower
}

// twoStatic is TWO-STATIC of cases.md.
func twoStatic(b *bench, w joinWith) (leader, follower string) {
	b.t.Helper()
	leader, follower = twoJoined(b, w)
	wantCode(b.t, "leader", b.synced(b.syncStatic(leader, "leader", 1, map[string]string{leader: "L"})).ErrorCode, 0)
	wantCode(b.t, "follower", b.synced(b.syncStatic(follower, "follower", 1, nil)).ErrorCode, 0)
	b.inState(event.Stable)
	return leader, follower
}

func (b *bench) syncStatic(id, instance string, generation int32, assignment map[string]string) Ticket {
	b.t.Helper()
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = 4, groupID, id, &instance, generation
	for member, data := range assignment {
		q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: member,
			MemberAssignment: []byte(data)})
	}
	return b.send("m", q)
}

func (b *bench) heartbeatStatic(id, instance string, generation int32) int16 {
	b.t.Helper()
	q := kmsg.NewPtrHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = 4, groupID, id, &instance, generation
	return answer[*kmsg.HeartbeatResponse](b, b.send("m", q)).ErrorCode
}

func (b *bench) instances() (list []string) {
	for _, m := range b.c.groups[groupID].members {
		list = append(list, m.instance())
	}
	return list
}

func TestSTAT01_WrongIDWithMappedInstance(t *testing.T) {
	b := newBench(t)
	ticket := b.join("m", static("groupInstanceId", joinWith{}))
	b.advance(51)
	wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
	wantCode(t, "unknown_member", b.joined(b.join("m", known("unknown_member", "groupInstanceId", joinWith{}))).ErrorCode, 82)
}

func TestSTAT02_DuplicateFencesAParkedJoin(t *testing.T) {
	b := newBench(t)
	_, f := twoStatic(b, joinWith{})
	b.direct("d", joinWith{})
	parked := b.join("f", known(f, "follower", joinWith{}))
	b.unanswered(parked)
	newcomer := b.join("f2", static("follower", joinWith{}))
	resp := b.joined(parked)
	if resp.ErrorCode != 82 || resp.Generation != -1 || len(resp.Members) != 0 || resp.ProtocolType != nil {
		t.Fatalf("%+v", resp)
	}
	b.unanswered(newcomer)
	b.inState(event.PreparingRebalance)
	b.members(3)
}

func TestSTAT03_RejoinWithKnownIDInCompletingRebalance(t *testing.T) {
	b := newBench(t)
	ticket := b.join("l", static("leader", joinWith{}))
	b.advance(51)
	id := b.joined(ticket).MemberID
	if resp := b.joined(b.join("l", known(id, "leader", joinWith{}))); resp.ErrorCode != 0 || resp.Generation != 1 {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.CompletingRebalance)
	wantCode(t, "sync", b.synced(b.syncStatic(id, "leader", 1, map[string]string{id: "0"})).ErrorCode, 0)
	b.inState(event.Stable)
}

func oldIDIsFenced(b *bench, old, instance string, w joinWith) {
	b.t.Helper()
	wantCode(b.t, "join of the old id", b.joined(b.join("m", known(old, instance, w))).ErrorCode, 82)
	wantCode(b.t, "sync of the old id", b.synced(b.syncStatic(old, instance, 1, nil)).ErrorCode, 82)
	wantCode(b.t, "sync of the old id alone", b.synced(b.sync(old, 1, nil)).ErrorCode, 25)
	wantCode(b.t, "heartbeat of the old id", b.heartbeatStatic(old, instance, 1), 82)
}

func TestSTAT04_LeaderRestartSkipCapable(t *testing.T) {
	b := newBench(t)
	l, f := twoStatic(b, joinWith{})
	resp := b.joined(b.join("l", static("leader", joinWith{})))
	if resp.ErrorCode != 0 || resp.Generation != 1 || resp.LeaderID != resp.MemberID || !resp.SkipAssignment || resp.MemberID == l ||
		len(resp.Members) != 2 || *resp.Members[0].InstanceID != "leader" || *resp.Members[1].InstanceID != "follower" {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
	oldIDIsFenced(b, l, "leader", joinWith{})
	if got := b.synced(b.syncStatic(resp.MemberID, "leader", 1, nil)); string(got.MemberAssignment) != "L" {
		t.Fatalf("%+v", got)
	}
	wantCode(t, "follower", b.heartbeatStatic(f, "follower", 1), 0)
}

func TestSTAT05_LeaderRestartNotSkipCapable(t *testing.T) {
	for _, version := range []int16{5, 8} {
		b := newBench(t)
		l, _ := twoStatic(b, joinWith{})
		resp := b.joined(b.join("l", static("leader", joinWith{version: version})))
		if resp.ErrorCode != 0 || resp.Generation != 1 || resp.LeaderID != l || resp.SkipAssignment || len(resp.Members) != 0 || resp.MemberID == l {
			t.Fatalf("v%d: %+v", version, resp)
		}
		b.inState(event.Stable)
		oldIDIsFenced(b, l, "leader", joinWith{})
	}
}

// The old protocol list comes back, as in Kafka 4.0: that the old id then offers another one is a change.
func TestSTAT06_PersistFailureRollsBack(t *testing.T) {
	b := newBench(t)
	l, f := twoStatic(b, joinWith{})
	b.failing = 10
	resp := b.joined(b.join("f", static("follower", joinWith{protocols: protocolList("range"), session: 300, rebalance: 200})))
	if resp.ErrorCode != -1 || resp.Generation != 1 || len(resp.Members) != 0 || resp.MemberID != "" || resp.LeaderID != l || *resp.Protocol != "range" {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
	b.failing = 0
	m := b.c.groups[groupID].byInstance["follower"]
	if m.id != f || len(m.protocols) != 2 || m.sessionTimeoutMs != 500 || m.rebalanceTimeoutMs != 500 || m.session.deadlineMs != b.now+500 {
		t.Fatalf("%+v", m)
	}
	wantCode(t, "the old id", b.heartbeatStatic(f, "follower", 1), 0)
	again := b.join("f", known(f, "follower", joinWith{protocols: protocolList("range")}))
	b.unanswered(again)
	b.inState(event.PreparingRebalance)
	b.join("l", known(l, "leader", joinWith{}))
	if resp := b.joined(again); resp.ErrorCode != 0 || resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	b.syncStatic(l, "leader", 2, nil)
	wantCode(t, "sync", b.synced(b.syncStatic(f, "follower", 2, nil)).ErrorCode, 0)
	replaced := eventsOf[event.MemberReplaced](b)
	if len(replaced) != 2 || replaced[0].Old != f || replaced[1].Member != f || replaced[0].Member != replaced[1].Old {
		t.Fatalf("%+v", replaced)
	}
}

func TestSTAT07_RestartUpdatesTimeouts(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	w := joinWith{session: 1000, rebalance: 1000}
	resp := b.joined(b.join("f", static("follower", w)))
	if resp.ErrorCode != 0 || resp.Generation != 1 || len(resp.Members) != 0 || resp.LeaderID != l || resp.SkipAssignment {
		t.Fatalf("%+v", resp)
	}
	resp = b.joined(b.join("l", static("leader", w)))
	if resp.ErrorCode != 0 || resp.Generation != 1 || len(resp.Members) != 2 || !resp.SkipAssignment {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
	for _, m := range b.c.groups[groupID].members {
		if m.sessionTimeoutMs != 1000 || m.rebalanceTimeoutMs != 1000 {
			t.Fatalf("%+v", m)
		}
	}
}

func TestSTAT08_ChangedListSameElectedProtocol(t *testing.T) {
	b := newBench(t)
	l, f := twoJoined(b, joinWith{})
	b.syncStatic(l, "leader", 1, map[string]string{l: "L", f: "F"})
	b.syncStatic(f, "follower", 1, nil)
	resp := b.joined(b.join("f", static("follower", joinWith{protocols: protocolList("range")})))
	if resp.ErrorCode != 0 || resp.Generation != 1 || len(resp.Members) != 0 || resp.MemberID == f {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
	oldIDIsFenced(b, f, "follower", joinWith{protocols: protocolList("range")})
	if got := b.synced(b.syncStatic(resp.MemberID, "follower", 1, nil)); got.ErrorCode != 0 || string(got.MemberAssignment) != "F" {
		t.Fatalf("%+v", got)
	}
}

// Where the elected protocol would be another one, the assignment cannot stay.
func TestRestartThatChangesTheElectedProtocol(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	ticket := b.join("f", static("follower", joinWith{protocols: protocolList("roundrobin")}))
	b.unanswered(ticket)
	b.inState(event.PreparingRebalance)
	b.join("l", known(l, "leader", joinWith{}))
	if resp := b.joined(ticket); resp.Generation != 2 || *resp.Protocol != "roundrobin" {
		t.Fatalf("%+v", resp)
	}
}

func TestSTAT09_UnchangedFollowerWithKnownID(t *testing.T) {
	b := newBench(t)
	l, f := twoStatic(b, joinWith{})
	resp := b.joined(b.join("f", known(f, "follower", joinWith{})))
	if resp.ErrorCode != 0 || resp.Generation != 1 || len(resp.Members) != 0 || resp.LeaderID != l || resp.MemberID != f {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
}

func TestSTAT10_MismatchedPairs(t *testing.T) {
	b := newBench(t)
	l, f := twoStatic(b, joinWith{})
	wantCode(t, "F as leader", b.joined(b.join("m", known(f, "leader", joinWith{}))).ErrorCode, 82)
	wantCode(t, "L as follower", b.joined(b.join("m", known(l, "follower", joinWith{}))).ErrorCode, 82)
	wantCode(t, "L as unknown", b.joined(b.join("m", known(l, "unknown_instance", joinWith{}))).ErrorCode, 25)
}

func TestSTAT11_NewIDsEveryTime(t *testing.T) {
	b := newBench(t)
	last, _ := twoStatic(b, joinWith{})
	for range 5 {
		id := b.joined(b.join("l", static("leader", joinWith{}))).MemberID
		if !strings.HasPrefix(id, "leader") || id == last {
			t.Fatalf("%q after %q", id, last)
		}
		last = id
	}
}

func TestSTAT13_StaticFollowerMissesTheJoinPhase(t *testing.T) {
	b := newBench(t)
	w := joinWith{session: 1000, rebalance: 500}
	l, f := twoStatic(b, w)
	newMember := b.join("n", static("newMember", w))
	b.inState(event.PreparingRebalance)
	leader := b.join("l", known(l, "leader", w))
	b.advance(501)
	resp := b.joined(leader)
	if resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != l || len(resp.Members) != 3 {
		t.Fatalf("%+v", resp)
	}
	if got := fmt.Sprint(b.instances()); got != "[leader follower newMember]" {
		t.Fatal(got)
	}
	b.inState(event.CompletingRebalance)
	resp = b.joined(newMember)
	if resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != l || len(resp.Members) != 0 {
		t.Fatalf("%+v", resp)
	}
	// The one that is kept has not synced either, and goes with the sync timer.
	b.syncStatic(l, "leader", 2, nil)
	b.syncStatic(resp.MemberID, "newMember", 2, nil)
	b.heartbeatStatic(l, "leader", 2)
	b.advance(501)
	wantCode(t, "follower", b.heartbeat(f, 2), 25)
	b.inState(event.PreparingRebalance)
}

// Where only static members are left and none has joined again, there is nobody to lead: the phase goes on.
func TestJoinPhaseInWhichNobodyJoins(t *testing.T) {
	b := newBench(t)
	w := joinWith{session: 2000, rebalance: 400}
	twoStatic(b, w)
	d := b.joined(b.issue("d")).MemberID
	ticket := b.join("d", joinWith{version: 9, id: d})
	b.leave(groupID, 5, d)
	wantCode(t, "d", b.joined(ticket).ErrorCode, 25)
	b.inState(event.PreparingRebalance)
	b.advance(1300)
	b.inState(event.PreparingRebalance)
	b.members(2)
	if g := b.c.groups[groupID]; g.generation != 1 {
		t.Fatalf("generation %d", g.generation)
	}
	b.advance(1000)
	b.inState(event.Empty)
}

func (b *bench) issue(client string) Ticket { return b.join(client, joinWith{version: 9}) }

func TestSTAT14_RestartInCompletingRebalance(t *testing.T) {
	b := newBench(t)
	ticket := b.join("l", static("leader", joinWith{}))
	b.advance(51)
	old := b.joined(ticket).MemberID
	resp := b.joined(b.join("l", static("leader", joinWith{})))
	if resp.ErrorCode != 0 || resp.Generation != 2 || len(resp.Members) != 1 || resp.MemberID == old || resp.LeaderID != resp.MemberID {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.CompletingRebalance)
	if len(b.written) != 0 {
		t.Fatalf("%+v", b.written)
	}
}

func TestSTAT15_WhatAStableRestartWrites(t *testing.T) {
	for _, version := range []int16{9, 7} {
		b := newBench(t)
		w := joinWith{protocols: protocolList("range")}
		ticket := b.join("l", static("leader", w))
		b.advance(51)
		old := b.joined(ticket).MemberID
		b.syncStatic(old, "leader", 1, map[string]string{old: "A"})
		b.written, b.hold = nil, true
		w = joinWith{version: version, protocols: protocolList("range", "roundrobin"), session: 6000, rebalance: 7000}
		ticket = b.join("l", static("leader", w))
		b.unanswered(ticket)
		if len(b.held) != 1 || len(b.held[0].Records) != 1 {
			t.Fatalf("%+v", b.held)
		}
		v, err := record.DecodeGroup(b.held[0].Records[0].Value)
		if err != nil || v.Generation != 1 || len(v.Members) != 1 || v.Members[0].MemberID == old || *v.Members[0].InstanceID != "leader" ||
			string(v.Members[0].Assignment) != "A" || v.Members[0].RebalanceTimeoutMs != 7000 || v.Members[0].SessionTimeoutMs != 6000 {
			t.Fatalf("%+v, %v", v, err)
		}
		id := v.Members[0].MemberID
		b.release(0)
		resp := b.joined(ticket)
		wantCode(t, "join", resp.ErrorCode, 0)
		if resp.Generation != 1 || *resp.Protocol != "range" || resp.MemberID != id {
			t.Fatalf("%+v", resp)
		}
		if version == 9 && (resp.LeaderID != id || !resp.SkipAssignment || len(resp.Members) != 1) ||
			version < 9 && (resp.LeaderID != old || resp.SkipAssignment || len(resp.Members) != 0) {
			t.Fatalf("v%d: %+v", version, resp)
		}
		if m := b.c.groups[groupID].byID[id]; m.rebalanceTimeoutMs != 7000 || m.sessionTimeoutMs != 6000 {
			t.Fatalf("%+v", m)
		}
		b.inState(event.Stable)
		b.members(1)
	}
}

func TestSTAT16_ReplacementMechanics(t *testing.T) {
	b := newBench(t)
	l, f := twoJoined(b, joinWith{})
	sync := b.syncStatic(l, "follower", 1, nil)
	wantCode(t, "a mismatched pair", b.synced(sync).ErrorCode, 82)
	parked := b.syncStatic(f, "follower", 1, nil)
	b.unanswered(parked)
	ticket := b.join("f", static("follower", joinWith{}))
	wantCode(t, "the parked sync", b.synced(parked).ErrorCode, 82)
	b.unanswered(ticket)
	b.inState(event.PreparingRebalance)
	again := b.join("f", static("follower", joinWith{}))
	wantCode(t, "the parked join", b.joined(ticket).ErrorCode, 82)
	b.join("l", static("leader", joinWith{}))
	resp := b.joined(again)
	g := b.c.groups[groupID]
	if resp.Generation != 2 || g.awaiting != 0 || g.leader != g.byInstance["leader"].id || g.byID[g.leader] == nil || g.byID[l] != nil ||
		g.byInstance["follower"].id != resp.MemberID {
		t.Fatalf("%+v, %+v", resp, g)
	}
}

// A leader whose join and sync are both parked, which no request brings about: both are fenced.
func TestSTAT16_BothRepliesAreFenced(t *testing.T) {
	b := newBench(t)
	l, _ := twoJoined(b, joinWith{})
	b.hold = true
	sync := b.syncStatic(l, "leader", 1, nil)
	g := b.c.groups[groupID]
	m := g.byInstance["leader"]
	b.c.enter(b.now, 0)
	b.c.parkJoin(&Request{Ticket: 99}, kmsg.NewPtrJoinGroupRequest(), g, m, untilJoined)
	b.unanswered(sync)
	b.c.replaceStatic(g, m, "N", &Request{})
	b.take()
	join := b.joined(99)
	if join.ErrorCode != 82 || join.MemberID != l || b.synced(sync).ErrorCode != 82 {
		t.Fatalf("%+v, %+v", join, b.synced(sync))
	}
	if m.join.waits || m.sync.waits || g.awaiting != 0 || g.leader != "N" || g.byInstance["leader"].id != "N" || g.byID["N"] != m || g.byID[l] != nil {
		t.Fatalf("%+v in %+v", m, g)
	}
}

// A rebalance that begins while the new id is being written: the outcome still answers the join, with the generation
// that ends; or, where the rebalance was faster, nothing.
func TestRebalanceWhileAReplacementIsWritten(t *testing.T) {
	for _, code := range []int16{0, 10} {
		b := newBench(t)
		_, f := twoStatic(b, joinWith{})
		b.hold = true
		ticket := b.join("f", static("follower", joinWith{}))
		b.direct("d", joinWith{})
		b.inState(event.PreparingRebalance)
		b.unanswered(ticket)
		b.release(code)
		resp := b.joined(ticket)
		g := b.c.groups[groupID]
		if resp.Generation != 1 || g.awaiting != 1 || (g.byID[f] != nil) != (code != 0) {
			t.Fatalf("%+v, %d wait", resp, g.awaiting)
		}
	}
	b := newBench(t)
	l, f := twoStatic(b, joinWith{})
	b.hold = true
	ticket := b.join("f", static("follower", joinWith{}))
	b.join("l", known(l, "leader", joinWith{}))
	resp := b.joined(ticket)
	if resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	b.release(10)
	if g := b.c.groups[groupID]; g.byID[f] != nil || g.byID[resp.MemberID] == nil {
		t.Fatal("the old id is back, though the new one was told")
	}
}

// A member whose timer was excused while its new id was written gets one when it is answered.
func TestReplacementThatTakesLong(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	b.hold = true
	ticket := b.join("f", static("follower", joinWith{}))
	for range 3 {
		b.advance(250)
		wantCode(t, "leader", b.heartbeatStatic(l, "leader", 1), 0)
	}
	b.release(0)
	id := b.joined(ticket).MemberID
	b.hold = false
	b.advance(250)
	wantCode(t, "leader", b.heartbeatStatic(l, "leader", 1), 0)
	b.advance(249)
	if b.c.groups[groupID].byID[id] == nil {
		t.Fatal("the session began before the answer")
	}
	b.advance(1)
	wantCode(t, "follower, who has sent nothing", b.heartbeatStatic(id, "follower", 1), 25)
}

func TestPendingIDWithAnInstance(t *testing.T) {
	b := newBench(t)
	id := b.issued("m", joinWith{})
	wantCode(t, "join", b.joined(b.join("m", known(id, "i", joinWith{}))).ErrorCode, -1)
}

func TestHB08_InstanceIDIsWhatFences(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	wantCode(t, "without instance", b.heartbeat(l, 1), 0)
	wantCode(t, "invalidMember", b.heartbeatStatic("invalidMember", "leader", 1), 82)
	wantCode(t, "unknown instance", b.heartbeatStatic(l, "unknown", 1), 25)
}

func TestLEAVE04_StaticEntries(t *testing.T) {
	b := newBench(t)
	ticket := b.join("l", static("leader", joinWith{}))
	b.advance(51)
	b.joined(ticket)
	wantCode(t, "some_member", b.leaveEntries(groupID, leaver{"some_member", ptr("leader")}).Members[0].ErrorCode, 82)
	wantCode(t, "by instance", b.leaveEntries(groupID, leaver{"", ptr("leader")}).Members[0].ErrorCode, 0)
	b.inState(event.Empty)
}

func TestLEAVE05_BatchOfInstances(t *testing.T) {
	b := newBench(t)
	twoStatic(b, joinWith{})
	resp := b.leaveEntries(groupID, leaver{"", ptr("leader")}, leaver{"", ptr("follower")})
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 0 || resp.Members[1].ErrorCode != 0 || *resp.Members[1].InstanceID != "follower" {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Empty)
}

func TestLEAVE06_BatchWithAFencedEntry(t *testing.T) {
	b := newBench(t)
	twoStatic(b, joinWith{})
	resp := b.leaveEntries(groupID, leaver{"", ptr("leader")}, leaver{"invalid-member", ptr("follower")})
	if resp.ErrorCode != 0 || resp.Members[0].ErrorCode != 0 || resp.Members[1].ErrorCode != 82 {
		t.Fatalf("%+v", resp)
	}
}

func (b *bench) syncNamed(version int16, id, instance string, kind, name *string) *kmsg.SyncGroupResponse {
	b.t.Helper()
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation, q.ProtocolType, q.Protocol = version, groupID, id, &instance, 1, kind, name
	return b.synced(b.send("m", q))
}

func TestSYNC06_ProtocolTypeMismatch(t *testing.T) {
	b := newBench(t)
	l, f := twoJoined(b, joinWith{})
	for id, instance := range map[string]string{l: "leader", f: "follower"} {
		if resp := b.syncNamed(4, id, instance, ptr("whatever"), nil); resp.ErrorCode != 23 || resp.ProtocolType != nil || resp.Protocol != nil {
			t.Fatalf("%+v", resp)
		}
	}
}

func TestSYNC07_TypeAndNameMatch(t *testing.T) {
	b := newBench(t)
	l, f := twoJoined(b, joinWith{})
	for _, m := range [][2]string{{l, "leader"}, {f, "follower"}} {
		resp := b.syncNamed(5, m[0], m[1], ptr("consumer"), ptr("range"))
		if resp.ErrorCode != 0 || *resp.ProtocolType != "consumer" || *resp.Protocol != "range" {
			t.Fatalf("%+v", resp)
		}
	}
}

func TestSYNC09_NameChecksOfStaticMembers(t *testing.T) {
	b := newBench(t)
	l, f := twoJoined(b, joinWith{})
	for id, instance := range map[string]string{l: "leader", f: "follower"} {
		if resp := b.syncNamed(4, id, instance, nil, ptr("whatever")); resp.ErrorCode != 23 || resp.ProtocolType != nil || resp.Protocol != nil {
			t.Fatalf("%+v", resp)
		}
	}
	for _, m := range [][2]string{{l, "leader"}, {f, "follower"}} {
		resp := b.syncNamed(4, m[0], m[1], nil, nil)
		if resp.ErrorCode != 0 || *resp.ProtocolType != "consumer" || *resp.Protocol != "range" {
			t.Fatalf("%+v", resp)
		}
	}
}

func TestDESC03_StaticMember(t *testing.T) {
	b := newBench(t)
	ticket := b.join("l", static("leader", joinWith{}))
	b.advance(51)
	id := b.joined(ticket).MemberID
	b.syncStatic(id, "leader", 1, map[string]string{id: "0"})
	d := b.describe(groupID, 5)
	if d.State != "Stable" || d.ProtocolType != "consumer" || d.Protocol != "range" || d.Members[0].MemberID != id || *d.Members[0].InstanceID != "leader" {
		t.Fatalf("%+v", d)
	}
}

// JOIN-01, 03 and 13 by static clients.
func TestJOIN13_StaticClients(t *testing.T) {
	b := newBench(t)
	w := static("i", joinWith{})
	w.group = otherGroup
	wantCode(t, "otherGroup", b.joined(b.join("m", w)).ErrorCode, 16)
	resp := b.joined(b.join("m", known("fake-id", "i", joinWith{})))
	if resp.ErrorCode != 25 || resp.ProtocolType != nil || b.c.groups[groupID] != nil {
		t.Fatalf("%+v", resp)
	}
	l, f := b.join("l", static("leader", joinWith{})), b.join("f", static("follower", joinWith{}))
	b.advance(101)
	for _, ticket := range []Ticket{l, f} {
		if resp := b.joined(ticket); resp.ErrorCode != 0 || *resp.ProtocolType != "consumer" {
			t.Fatalf("%+v", resp)
		}
	}
	kind := ""
	b = newBench(t)
	w = static("i", joinWith{kind: &kind})
	wantCode(t, "no type", b.joined(b.join("m", w)).ErrorCode, 23)
}

// What a static member commits names its instance.
func TestCommitOfAStaticMember(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	w := commitWith{id: ptr("other"), instance: ptr("leader"), generation: 1, offsets: map[int32]int64{0: 1}}
	wantCode(t, "another id", b.committed(b.commit(w)), 82)
	w.id = &l
	wantCode(t, "its own", b.committed(b.commit(w)), 0)
	w.instance = ptr("nobody")
	wantCode(t, "unknown instance", b.committed(b.commit(w)), 25)
	w = commitWith{instance: ptr("leader"), generation: -1, offsets: map[int32]int64{0: 1}}
	wantCode(t, "only an instance", b.committed(b.commit(w)), 82)
}

// A static member is static again after a load, from records of version 3 and 4; older ones know none.
func TestLoadOfStaticMembers(t *testing.T) {
	b := newBench(t)
	l, f := twoStatic(b, joinWith{})
	var log []LoadedBatch
	for i, a := range b.written {
		log = append(log, batchAt(int64(i), a.Records...))
	}
	b.c.Emigrate(b.now, 0, 1)
	b.load(0, 2, log...)
	wantCode(t, "another id", b.heartbeatStatic("x", "leader", 1), 82)
	wantCode(t, "leader", b.heartbeatStatic(l, "leader", 1), 0)
	resp := b.joined(b.join("f", static("follower", joinWith{})))
	if resp.ErrorCode != 0 || resp.MemberID == f || resp.Generation != 1 {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
}
