package coordinator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// A string that no record can hold is refused, whatever it is; one byte less is not. Member ids are longer than what they
// are made of.
func TestStringsThatNoRecordCanHold(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	const most, ofID = record.MaxStringBytes, record.MaxStringBytes - 128
	for _, c := range []struct {
		what string
		want int16
		set  func(q *kmsg.JoinGroupRequest, r *Request)
	}{
		{"client id", 42, func(_ *kmsg.JoinGroupRequest, r *Request) { r.ClientID = long(ofID + 1) }},
		{"client id", 79, func(_ *kmsg.JoinGroupRequest, r *Request) { r.ClientID = long(ofID) }},
		{"instance id", 42, func(q *kmsg.JoinGroupRequest, _ *Request) { q.InstanceID = ptr(long(ofID + 1)) }},
		{"group id", 42, func(q *kmsg.JoinGroupRequest, _ *Request) { q.Group = ownedID(t, most+1) }},
		{"group id", 79, func(q *kmsg.JoinGroupRequest, _ *Request) { q.Group = ownedID(t, most) }},
		{"host", 42, func(_ *kmsg.JoinGroupRequest, r *Request) { r.ClientHost = long(most + 1) }},
		{"protocol type", 42, func(q *kmsg.JoinGroupRequest, _ *Request) { q.ProtocolType = long(most + 1) }},
		{"protocol", 42, func(q *kmsg.JoinGroupRequest, _ *Request) { q.Protocols = protocolList("range", long(most+1)) }},
		{"protocol", 79, func(q *kmsg.JoinGroupRequest, _ *Request) { q.Protocols = protocolList("range", long(most)) }},
	} {
		b := newBench(t)
		q := kmsg.NewPtrJoinGroupRequest()
		q.Version, q.Group, q.SessionTimeoutMillis, q.ProtocolType, q.Protocols = 9, groupID, 500, "consumer", protocolList("range")
		r := Request{Ticket: 1, ClientID: "c", ClientHost: "/h", Kmsg: q}
		c.set(q, &r)
		b.c.Handle(b.now, r)
		b.take()
		wantCode(t, c.what, b.joined(1).ErrorCode, c.want)
		if c.want == 42 && len(b.c.groups) != 0 {
			t.Fatalf("%s: a group was created", c.what)
		}
	}
	b := newBench(t)
	w := simple(1)
	w.group = ptr(ownedID(t, most+1))
	wantCode(t, "commit", b.committed(b.commit(w)), 42)
	w.group = ptr(ownedID(t, most))
	wantCode(t, "commit", b.committed(b.commit(w)), 0)
}

// ownedID is a group id of a length whose partition is owned by a bench.
func ownedID(t *testing.T, length int) string {
	for c := 'a'; c <= 'z'; c++ {
		if id := strings.Repeat("x", length-1) + string(c); record.Partition(id, 2) == 0 {
			return id
		}
	}
	t.Fatal("none found")
	return ""
}

// Generation 0 is a generation: only a negative one says that there is none.
func TestCommitWithGenerationZero(t *testing.T) {
	b := newBench(t)
	w := commitWith{id: ptr(""), generation: 0, offsets: map[int32]int64{0: 1}}
	wantCode(t, "no group", b.committed(b.commit(w)), 22)
	if b.c.groups[groupID] != nil {
		t.Fatal("a group was created")
	}
	b.commit(simple(1))
	b.inState(event.Empty)
	wantCode(t, "Empty", b.committed(b.commit(w)), 25)
	b.oneStable(joinWith{})
	wantCode(t, "Stable", b.committed(b.commit(w)), 25)
}

// A commit of which the broker knows no partition is answered without a look for the group: none is created.
func TestCommitOfUnknownPartitionsCreatesNoGroup(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	w.topic = "nowhere"
	wantCode(t, "commit", b.committed(b.commit(w)), 3)
	if len(b.c.groups) != 0 {
		t.Fatal("a group was created")
	}
}

// Several groups live in one machine, in slots that are used again. What happens to one does not touch the others: each
// session ends in its own group.
func TestGroupsAreApart(t *testing.T) {
	b := newBench(t)
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	owned := ids[:0]
	for _, id := range ids {
		if record.Partition(id, 2) == 0 {
			owned = append(owned, id)
		}
	}
	for round := range 3 {
		b.now += 7
		tickets := map[string]Ticket{}
		for i, id := range owned {
			tickets[id] = b.direct("m", joinWith{group: id, session: int32(1000 + 100*i), rebalance: 1000})
			b.issuedIn(id)
		}
		b.advance(51)
		for _, id := range owned {
			if resp := b.joined(tickets[id]); resp.ErrorCode != 0 || len(resp.Members) != 1 || len(b.c.groups[id].members) != 1 {
				t.Fatalf("%s: %+v", id, resp)
			}
			wantCode(t, "a member of another group", b.heartbeatOf(owned[0], b.joined(tickets[owned[1]]).MemberID, int32(1+2*round)), 25)
			q := kmsg.NewPtrSyncGroupRequest()
			q.Version, q.Group, q.MemberID, q.Generation = 4, id, b.joined(tickets[id]).MemberID, b.joined(tickets[id]).Generation
			wantCode(t, "sync", b.synced(b.send("m", q)).ErrorCode, 0)
		}
		b.advance(999)
		for i, id := range owned {
			if n := len(b.c.groups[id].members); n != 1 {
				t.Fatalf("%s has %d members", id, n)
			}
			b.advance(1)
			if n := len(b.c.groups[id].members); n != 0 {
				t.Fatalf("%s has %d members after its session", id, n)
			}
			b.advance(99)
			if i == 1 && round == 1 { // its slot goes to another group
				b.deleteGroups(id)
				b.commit(commitWith{group: ptr(owned[0]), generation: -1, offsets: map[int32]int64{0: 1}})
			}
		}
	}
	if err := b.c.Invariants(); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) issuedIn(group string) {
	b.t.Helper()
	wantCode(b.t, "first step", b.joined(b.join("x", joinWith{version: 9, group: group, session: 60})).ErrorCode, codeMemberIDRequired)
}

// A replacement that is being written comes to nothing where the member has left, or has been replaced again, meanwhile.
func TestReplacementOvertaken(t *testing.T) {
	for _, code := range []int16{0, 10} {
		b := newBench(t)
		twoStatic(b, joinWith{})
		b.hold = true
		ticket := b.join("f", static("follower", joinWith{}))
		b.leaveEntries(groupID, leaver{"", ptr("follower")})
		wantCode(t, "who left", b.joined(ticket).ErrorCode, 25)
		b.release(code)
		b.members(1)

		b = newBench(t)
		twoStatic(b, joinWith{})
		b.hold = true
		first := b.join("f", static("follower", joinWith{}))
		second := b.join("f", static("follower", joinWith{}))
		wantCode(t, "the first of two", b.joined(first).ErrorCode, 82)
		held := b.held
		b.held = nil
		b.acknowledge(held[0], code)
		b.take()
		b.unanswered(second)
		b.acknowledge(held[1], 0)
		b.take()
		resp := b.joined(second)
		if resp.ErrorCode != 0 || b.c.groups[groupID].byInstance["follower"].id != resp.MemberID {
			t.Fatalf("%+v", resp)
		}
		b.members(2)
	}
}

// Assignments are described as long as they hold: while the next generation is awaited, but not when a rebalance begins
// before all of them were told, nor when they could not be written.
func TestAssignmentsThatNoLongerHold(t *testing.T) {
	assigned := func(b *bench) (list []string) {
		for _, m := range b.describe(groupID, 5).Members {
			list = append(list, string(m.MemberAssignment))
		}
		return list
	}
	want := func(b *bench, what, list string) {
		t.Helper()
		if got := fmt.Sprintf("%q", assigned(b)); got != list {
			t.Fatalf("%s: %s, want %s", what, got, list)
		}
	}
	b := newBench(t)
	leader, follower := twoMembers(b)
	b.sync(leader, 2, map[string]string{leader: "L", follower: "F"})
	want(b, "Stable", `["L" "F"]`)
	b.join("m", joinWith{version: 9, id: leader})
	want(b, "PreparingRebalance", `["L" "F"]`)
	b.join("f", joinWith{version: 9, id: follower})
	b.inState(event.CompletingRebalance)
	want(b, "CompletingRebalance", `["L" "F"]`)
	b.failing = 6
	wantCode(t, "sync", b.synced(b.sync(leader, 3, map[string]string{leader: "L2"})).ErrorCode, 16)
	want(b, "after a record that was not written", `["" ""]`)

	b = newBench(t)
	leader, follower = twoMembers(b)
	b.sync(leader, 2, map[string]string{leader: "L", follower: "F"})
	b.join("m", joinWith{version: 9, id: leader})
	b.join("f", joinWith{version: 9, id: follower})
	b.join("m", joinWith{version: 9, id: leader, protocols: protocolList("range", "x")})
	b.inState(event.PreparingRebalance)
	want(b, "after CompletingRebalance", `["" ""]`)
}

// Where a dynamic leader has not joined again, and nobody else has either, a static member leads from now on, and the
// phase goes on.
func TestDynamicLeaderGoesAndNobodyCame(t *testing.T) {
	b := newBench(t)
	l := b.direct("l", joinWith{session: 5000, rebalance: 300, protocols: p2})
	i := b.join("i", static("i", joinWith{session: 5000, rebalance: 300}))
	b.advance(101)
	leader, kept := b.joined(l).MemberID, b.joined(i).MemberID
	b.sync(leader, 1, nil)
	b.sync(kept, 1, nil)
	x := b.direct("x", joinWith{session: 5000, rebalance: 300, protocols: p2})
	id := b.c.groups[groupID].members[2].id
	b.leave(groupID, 5, id)
	wantCode(t, "x", b.joined(x).ErrorCode, 25)
	b.advance(300)
	g := b.c.groups[groupID]
	if b.inState(event.PreparingRebalance); g.leader != kept || g.generation != 1 || len(g.members) != 1 {
		t.Fatalf("%q leads generation %d", g.leader, g.generation)
	}
	ticket := b.join("i", known(kept, "i", joinWith{session: 5000, rebalance: 300}))
	if resp := b.joined(ticket); resp.Generation != 2 || resp.LeaderID != kept {
		t.Fatalf("%+v", resp)
	}
}

// Deletions that are under way together are answered apart.
func TestDeletionsUnderWayTogether(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{groupID, "deadGroupId"} {
		w := simple(1)
		w.group = ptr(id)
		b.commit(w)
	}
	b.hold = true
	first := b.askDeleteGroups(groupID)
	second := b.askDeleteOffsets("deadGroupId", at{"topic", 0})
	third := b.askDeleteGroups("deadGroupId")
	held := b.held
	b.held = nil
	b.acknowledge(held[1], 7)
	b.take()
	b.unanswered(first, third)
	wantCode(t, "offsets", answer[*kmsg.OffsetDeleteResponse](b, second).ErrorCode, 15)
	b.acknowledge(held[0], 0)
	b.acknowledge(held[2], 6)
	b.take()
	wantCode(t, "the first", answer[*kmsg.DeleteGroupsResponse](b, first).Groups[0].ErrorCode, 0)
	wantCode(t, "the third", answer[*kmsg.DeleteGroupsResponse](b, third).Groups[0].ErrorCode, 16)
}

// The outcome of an append of an earlier life of a group touches no commit of the present one.
func TestAppendOfAnEarlierLifeAndANewCommit(t *testing.T) {
	b := newBench(t)
	b.hold = true
	old := b.commit(simple(5))
	b.c.Emigrate(b.now, 0, 3)
	b.load(0, 4, batchAt(0, offsetRecord("topic", 0, 1)))
	b.commit(simple(9))
	held := b.held
	b.held, b.offset = nil, 7
	b.acknowledge(held[0], 0)
	b.take()
	wantCode(t, "the old commit", b.committed(old), 0)
	b.wantFetch(groupID, false, 1, 0)
	b.wantFetch(groupID, true, -1, 88)
	b.acknowledge(held[1], 0)
	b.take()
	b.wantFetch(groupID, true, 9, 0)
}

// Nor does the outcome of an assignment, though generation and state are the same again.
func TestAssignmentOfAnEarlierLife(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	log := batchAt(0, b.written[0].Records...)
	rejoin := func() {
		t.Helper()
		if resp := b.joined(b.join("m", joinWith{version: 9, id: m})); resp.ErrorCode != 0 || resp.Generation != 2 {
			t.Fatalf("%+v", resp)
		}
		b.inState(event.CompletingRebalance)
	}
	rejoin()
	b.hold = true
	parked := b.sync(m, 2, map[string]string{m: "old"})
	b.c.Emigrate(b.now, 0, 3)
	b.take()
	wantCode(t, "the parked sync", b.synced(parked).ErrorCode, 16)
	b.load(0, 4, log)
	rejoin()
	b.release(0)
	b.inState(event.CompletingRebalance)
	if got := b.c.groups[groupID].byID[m].assignment; string(got) == "old" {
		t.Fatal("it has the assignment of the earlier life")
	}
}

// What is not there is not told to be removed.
func TestDeletionOfNothingIsNoFact(t *testing.T) {
	b := newBench(t)
	b.commit(simple(1))
	wantCode(t, "delete", b.deleteOffsets(groupID, at{"foo", 0}).Topics[0].Partitions[0].ErrorCode, 0)
	if n := len(eventsOf[event.OffsetsRemoved](b)); n != 0 {
		t.Fatalf("%d facts", n)
	}
}

// A look that finds offsets which may be overtaken says by what, in every shape of the request.
func TestWhyAnOffsetMayBeOvertaken(t *testing.T) {
	b := newBench(t)
	b.commit(simple(5))
	b.hold = true
	b.commit(simple(6))
	some := []kmsg.OffsetFetchRequestGroupTopic{{Topic: "topic", Partitions: []int32{1, 0}}}
	for what, q := range map[string]*kmsg.OffsetFetchRequest{
		"named":      {Version: 9, RequireStable: true, Groups: []kmsg.OffsetFetchRequestGroup{{Group: groupID, Topics: some}}},
		"all":        {Version: 9, RequireStable: true, Groups: []kmsg.OffsetFetchRequestGroup{{Group: groupID}}},
		"all, as v7": {Version: 7, RequireStable: true, Group: groupID},
	} {
		if p := b.c.Probe(b.now, Request{Kmsg: q}); p.Guard != "a commit of topic-0 is being written" || p.Code != 0 {
			t.Errorf("%s: %+v", what, p)
		}
	}
	if p := b.c.Probe(b.now, Request{Kmsg: &kmsg.OffsetFetchRequest{Version: 7, RequireStable: true, Group: otherGroup}}); p.Code != 16 {
		t.Errorf("%+v", p)
	}
}

// What decided is said in words with the code, for whoever looks at the request: see Probed.Guard.
func TestGuardsSayWhatDecided(t *testing.T) {
	b := newSmall(t, 3)
	l, f := twoStatic(b, joinWith{})
	b.commit(commitWith{id: &l, generation: 1, offsets: map[int32]int64{0: 1}})
	x := b.issued("x", joinWith{protocols: p2})
	join := func(w joinWith) kmsg.Request {
		q := kmsg.NewPtrJoinGroupRequest()
		q.Version, q.Group, q.MemberID, q.InstanceID, q.SessionTimeoutMillis, q.ProtocolType, q.Protocols = 9, groupID, w.id, w.instance, 500, "consumer", w.protocols
		if w.kind != nil {
			q.ProtocolType = *w.kind
		}
		if w.session != 0 {
			q.SessionTimeoutMillis = w.session
		}
		return q
	}
	beat := func(group, id string, instance *string, generation int32) kmsg.Request {
		return &kmsg.HeartbeatRequest{Version: 4, Group: group, MemberID: id, InstanceID: instance, Generation: generation}
	}
	sync := func(kind, name *string) kmsg.Request {
		return &kmsg.SyncGroupRequest{Version: 4, Group: groupID, MemberID: f, Generation: 1, ProtocolType: kind, Protocol: name}
	}
	commit := func(topic, id string, generation int32, metadata string) kmsg.Request {
		q := &kmsg.OffsetCommitRequest{Version: 8, Group: groupID, MemberID: id, Generation: generation}
		q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Metadata: &metadata}}}}
		return q
	}
	for _, c := range []struct {
		q    kmsg.Request
		code int16
		want string
	}{
		{join(joinWith{session: 7}), 26, "session timeout 7 ms is not within 10 and 600000"},
		{join(joinWith{id: l, protocols: p2, kind: ptr("")}), 23, "the protocol type is empty"},
		{join(joinWith{id: l}), 23, "the protocol list is empty"},
		{join(joinWith{id: l, protocols: p2, kind: ptr("connect")}), 23, `protocol type "connect" is not the group's "consumer"`},
		{join(joinWith{id: l, protocols: protocolList("sticky")}), 23, "no protocol is supported by all members"},
		{join(joinWith{protocols: p2}), 79, "it must join with the id that it was given"},
		{join(known(x, "i", joinWith{})), -1, "an issued id is never a static member's"},
		{beat("", l, nil, 1), 24, "the group id is empty"},
		{beat(otherGroup, l, nil, 1), 16, "__consumer_offsets-1 is not led by this broker"},
		{beat("deadGroupId", l, nil, 1), 25, "the group does not exist here"},
		{beat(groupID, "y", nil, 1), 25, "the id is not a member of the group"},
		{beat(groupID, "", nil, 1), 25, "the id is not a member of the group"},
		{beat(groupID, x, nil, 1), 25, "the id was issued but has not joined"},
		{beat(groupID, l, ptr("nowhere"), 1), 25, "the instance id is not known to the group"},
		{beat(groupID, l, ptr("follower"), 1), 82, "the instance id belongs to another member id"},
		{beat(groupID, l, nil, 9), 22, "generation 9 is not the group's 1"},
		{sync(ptr("connect"), nil), 23, `protocol type "connect" is not the group's "consumer"`},
		{sync(nil, ptr("sticky")), 23, `protocol "sticky" is not the elected "range"`},
		{&kmsg.SyncGroupRequest{Version: 5, Group: groupID, MemberID: f, Generation: 1}, 23, "the protocol type or name is null"},
		{commit("topic", "", -1, ""), 25, "the group has members, and the commit names none"},
		{commit("nowhere", f, 1, ""), 3, "the broker knows no such topic or partition"},
		{commit("topic", f, 1, strings.Repeat("m", 4097)), 12, "the metadata is longer than 4096"},
		{&kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{groupID}}, 68, "the group has members"},
		{&kmsg.DeleteGroupsRequest{Version: 2, Groups: []string{"deadGroupId"}}, 69, "the group does not exist here"},
		{&kmsg.DescribeGroupsRequest{Version: 6, Groups: []string{groupID, "deadGroupId"}}, 69, "the group does not exist here"},
		{&kmsg.LeaveGroupRequest{Version: 5, Group: groupID, Members: []kmsg.LeaveGroupRequestMember{{MemberID: l}, {MemberID: "y"}}}, 25,
			"the id is not a member of the group"},
		{&kmsg.OffsetDeleteRequest{Group: groupID, Topics: []kmsg.OffsetDeleteRequestTopic{{Topic: "nowhere",
			Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}}, 3, "the broker knows no such topic or partition"},
		{&kmsg.OffsetFetchRequest{Version: 9, Groups: []kmsg.OffsetFetchRequestGroup{{Group: groupID}, {Group: otherGroup}}}, 16,
			"__consumer_offsets-1 is not led by this broker"},
		{&kmsg.FindCoordinatorRequest{Version: 6, CoordinatorType: 2, CoordinatorKeys: []string{"k"}}, 42,
			"key type 2: only 0, a group, and 1, a transactional id, have a coordinator here"},
	} {
		p := b.c.Probe(b.now, Request{Kmsg: c.q, ClientID: "c"})
		if p.Code != c.code || p.Guard != c.want {
			t.Errorf("%T: %d %q, want %d %q", c.q, p.Code, p.Guard, c.code, c.want)
		}
	}
	reader := newBench(t)
	reader.oneStable(joinWith{protocols: subscribed("range", "foo")})
	p := reader.c.Probe(reader.now, Request{Kmsg: &kmsg.OffsetDeleteRequest{Group: groupID, Topics: []kmsg.OffsetDeleteRequestTopic{{Topic: "foo",
		Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}}})
	if p.Code != 86 || p.Guard != "the group subscribes to foo" {
		t.Errorf("%+v", p)
	}
	third := b.direct("third", joinWith{protocols: p2})
	p = b.c.Probe(b.now, Request{Kmsg: beat(groupID, f, nil, 1)})
	if p.Code != 27 || p.Guard != "the group is rebalancing" {
		t.Errorf("%+v", p)
	}
	b.join("l", known(l, "leader", joinWith{}))
	b.join("f", known(f, "follower", joinWith{}))
	b.leave(groupID, 5, x)
	wantCode(t, "third", b.joined(third).ErrorCode, 0)
	if p = b.c.Probe(b.now, Request{Kmsg: commit("topic", f, 2, "")}); p.Code != 27 || p.Guard != "the group waits for its assignment" {
		t.Errorf("%+v", p)
	}
	if p = b.c.Probe(b.now, Request{Kmsg: join(joinWith{protocols: p2})}); p.Code != 81 || p.Guard != "the group has its group.max.size of 3" {
		t.Errorf("%+v", p)
	}
}
