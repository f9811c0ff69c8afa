package coordinator

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// Which check comes first decides what a client with several faults is told. Each test breaks two rules or more at once,
// in the order in which Kafka 4.0 looks at them.

// loading makes the partition of otherGroup load for ever.
func loading(b *bench) {
	b.c.Immigrate(b.now, 1, 5, 100)
	b.take()
}

func TestFirstFaultOfAJoin(t *testing.T) {
	// refused joins with session, protocols and type that would be refused, too.
	refused := func(b *bench, group, id string, instance *string, session int32) int16 {
		q := kmsg.NewPtrJoinGroupRequest()
		q.Version, q.Group, q.MemberID, q.InstanceID, q.SessionTimeoutMillis = 9, group, id, instance, session
		return b.joined(b.send("c", q)).ErrorCode
	}
	b := newBench(t)
	wantCode(t, "the group id before the session", refused(b, "", "x", nil, 1), 24)
	wantCode(t, "the session before ownership", refused(b, otherGroup, "x", nil, 1), 26)
	wantCode(t, "ownership before membership", refused(b, otherGroup, "x", nil, 500), 16)
	loading(b)
	wantCode(t, "the session before loading", refused(b, otherGroup, "x", nil, 1), 26)
	wantCode(t, "loading before membership", refused(b, otherGroup, "x", nil, 500), 14)
	wantCode(t, "membership before protocols, where there is no group", refused(b, groupID, "x", nil, 500), 25)
	wantCode(t, "protocols before the id that a client needs", refused(b, groupID, "", nil, 500), 23)

	b = newSmall(t, 2)
	_, f := twoStatic(b, joinWith{})
	wantCode(t, "room before protocols", refused(b, groupID, "", nil, 500), 81)
	wantCode(t, "room before membership", refused(b, groupID, "x", nil, 500), 81)
	wantCode(t, "room before fencing", refused(b, groupID, "x", ptr("leader"), 500), 81)
	wantCode(t, "protocols before fencing", refused(b, groupID, f, ptr("leader"), 500), 23)

	b = newBench(t)
	b.oneStable(joinWith{})
	x := b.issued("x", joinWith{})
	wantCode(t, "protocols before an issued id with an instance", refused(b, groupID, x, ptr("i"), 500), 23)
	wantCode(t, "protocols before membership", refused(b, groupID, "stranger", nil, 500), 23)
}

// A JoinGroup that is refused for room, with an id that was issued, costs the id, even where it carries an instance id.
func TestRoomIsCheckedBeforeAnIssuedIDWithAnInstance(t *testing.T) {
	b := newSmall(t, 1)
	x := b.issued("x", joinWith{})
	b.oneStable(joinWith{})
	resp := b.joined(b.join("x", known(x, "i", joinWith{})))
	if resp.ErrorCode != 81 || resp.MemberID != "" || len(b.c.groups[groupID].pending) != 0 {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
	b.members(1)
}

func TestFirstFaultOfASync(t *testing.T) {
	b := newBench(t)
	loading(b)
	try := func(group, id string, instance *string, generation int32, kind, name *string) int16 {
		q := kmsg.NewPtrSyncGroupRequest()
		q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation, q.ProtocolType, q.Protocol = 5, group, id, instance, generation, kind, name
		return b.synced(b.send("m", q)).ErrorCode
	}
	other := ptr("other")
	wantCode(t, "null fields before the group id", try("", "x", nil, 9, nil, other), 23)
	wantCode(t, "null fields before loading", try(otherGroup, "x", nil, 9, other, nil), 23)
	wantCode(t, "the group id", try("", "x", nil, 9, other, other), 24)
	wantCode(t, "loading before membership", try(otherGroup, "x", nil, 9, other, other), 14)
	_, f := twoStatic(b, joinWith{})
	wantCode(t, "fencing before the generation", try(groupID, f, ptr("leader"), 9, other, other), 82)
	wantCode(t, "an unknown instance before the generation", try(groupID, f, ptr("nowhere"), 9, other, other), 25)
	wantCode(t, "membership before the generation", try(groupID, "x", nil, 9, other, other), 25)
	wantCode(t, "the generation before the protocol", try(groupID, f, nil, 9, other, other), 22)
	b.direct("d", joinWith{protocols: p2})
	b.inState(event.PreparingRebalance)
	wantCode(t, "the protocol type before the state", try(groupID, f, nil, 1, other, ptr("range")), 23)
	wantCode(t, "the protocol before the state", try(groupID, f, nil, 1, ptr("consumer"), other), 23)
	wantCode(t, "the state", try(groupID, f, nil, 1, ptr("consumer"), ptr("range")), 27)
}

func TestFirstFaultOfAHeartbeat(t *testing.T) {
	b := newBench(t)
	wantCode(t, "the group id", b.heartbeatOf("", "x", 9), 24)
	wantCode(t, "ownership before membership", b.heartbeatOf(otherGroup, "x", 9), 16)
	loading(b)
	wantCode(t, "the group id while another loads", b.heartbeatOf("", "x", 9), 24)
	wantCode(t, "loading before membership", b.heartbeatOf(otherGroup, "x", 9), 0)
	// The empty group id is a simple consumer's group, but no member's.
	w := simple(1)
	w.group = ptr("")
	wantCode(t, "commit", b.committed(b.commit(w)), 0)
	wantCode(t, "the group id of a group that is there", b.heartbeatOf("", "x", 9), 24)
	_, f := twoStatic(b, joinWith{})
	b.direct("d", joinWith{protocols: p2})
	b.inState(event.PreparingRebalance)
	wantCode(t, "fencing before the generation", b.heartbeatStatic(f, "leader", 9), 82)
	wantCode(t, "membership before the generation", b.heartbeat("x", 9), 25)
	wantCode(t, "the generation before the state", b.heartbeat(f, 9), 22)
	wantCode(t, "the state", b.heartbeat(f, 1), 27)
}

// The empty group id may have offsets, but nobody joins, syncs or leaves there, and single offsets are not deleted.
func TestEmptyGroupIDHasNoMembers(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	w.group = ptr("")
	wantCode(t, "commit", b.committed(b.commit(w)), 0)
	wantCode(t, "join", b.joined(b.joinEmptyGroup()).ErrorCode, 24)
	q := kmsg.NewPtrSyncGroupRequest()
	wantCode(t, "sync", b.synced(b.send("m", q)).ErrorCode, 24)
	wantCode(t, "leave", b.leave("", 5, "x").ErrorCode, 24)
	wantCode(t, "offset delete", b.deleteOffsets("", at{"topic", 0}).ErrorCode, 24)
	if offset, code := b.fetch("", "topic", 0, false); offset != 1 || code != 0 {
		t.Fatal(offset, code)
	}
}

func TestFirstFaultOfALeave(t *testing.T) {
	b := newBench(t)
	loading(b)
	if resp := b.leave(otherGroup, 5, "x"); resp.ErrorCode != 14 || len(resp.Members) != 0 {
		t.Fatalf("%+v", resp)
	}
	_, f := twoStatic(b, joinWith{})
	x := b.issued("x", joinWith{protocols: p2})
	resp := b.leaveEntries(groupID, leaver{x, ptr("leader")}, leaver{f, ptr("leader")}, leaver{f, ptr("nowhere")}, leaver{"y", nil},
		leaver{"", nil}, leaver{f, ptr("follower")}, leaver{f, ptr("follower")})
	for i, want := range []int16{0, 82, 25, 25, 25, 0, 25} {
		wantCode(t, fmt.Sprint("entry ", i), resp.Members[i].ErrorCode, want)
	}
	if resp := b.leaveEntries(groupID); resp.ErrorCode != 0 || len(resp.Members) != 0 {
		t.Fatalf("nobody: %+v", resp)
	}
}

func TestFirstFaultOfACommit(t *testing.T) {
	b := newBench(t)
	loading(b)
	commit := func(group, id string, instance *string, generation int32, topics ...string) []int16 {
		q := kmsg.NewPtrOffsetCommitRequest()
		q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = 9, group, id, instance, generation
		for _, name := range topics {
			one := kmsg.NewOffsetCommitRequestTopic()
			one.Topic = name
			one.Partitions = append(one.Partitions, kmsg.NewOffsetCommitRequestTopicPartition())
			if name == "foo" {
				one.Partitions[0].Metadata = ptr(string(make([]byte, 5000)))
			}
			q.Topics = append(q.Topics, one)
		}
		var codes []int16
		for _, one := range answer[*kmsg.OffsetCommitResponse](b, b.send("m", q)).Topics {
			codes = append(codes, one.Partitions[0].ErrorCode)
		}
		return codes
	}
	want := func(what string, got []int16, want ...int16) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	want("topics before everything", commit(otherGroup, "x", nil, 9, "nowhere"), 3)
	want("a partition that is not known keeps its code", commit(otherGroup, "x", nil, 9, "topic", "nowhere", "foo"), 14, 3, 14)
	want("the group before membership", commit(groupID, "x", nil, 9, "topic", "nowhere", "foo"), 69, 3, 69)
	want("nothing", commit(otherGroup, "x", nil, 9))
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.Generation = 9, groupID, -1
	q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "topic"}, {Topic: "nowhere"}}
	if resp := answer[*kmsg.OffsetCommitResponse](b, b.send("m", q)); len(resp.Topics) != 0 || b.c.groups[groupID] != nil {
		t.Fatalf("topics without partitions: %+v", resp)
	}
	told := eventsOf[event.ReplySent](b)
	wantCode(t, "topics without partitions", told[len(told)-1].Code, 0)
	m := b.one(joinWith{})
	ticket := b.join("i", static("i", joinWith{protocols: protocolList("range")}))
	b.join("m", joinWith{version: 9, id: m})
	i := b.joined(ticket).MemberID
	b.inState(event.CompletingRebalance)
	want("fencing before the generation", commit(groupID, m, ptr("i"), 9, "topic", "foo"), 82, 82)
	want("membership before the generation", commit(groupID, "x", nil, 9, "topic"), 25)
	want("the generation before the state", commit(groupID, i, ptr("i"), 9, "topic"), 22)
	want("the state before the metadata's length", commit(groupID, i, ptr("i"), 2, "topic", "foo", "nowhere"), 27, 27, 3)
}

func TestFirstFaultOfDeletions(t *testing.T) {
	b := newBench(t)
	loading(b)
	if resp := b.deleteOffsets(otherGroup, at{"nowhere", 0}); resp.ErrorCode != 14 || len(resp.Topics) != 0 {
		t.Fatalf("loading before topics: %+v", resp)
	}
	if resp := b.deleteOffsets(groupID, at{"nowhere", 0}); resp.ErrorCode != 69 || len(resp.Topics) != 0 {
		t.Fatalf("the group before topics: %+v", resp)
	}
	b.oneStable(joinWith{protocols: subscribed("range", "topic", "nowhere")})
	resp := b.deleteOffsets(groupID, at{"topic", 99}, at{"topic", 1}, at{"nowhere", 0}, at{"foo", 1})
	for i, want := range []int16{3, 86, 3, 0} {
		wantCode(t, fmt.Sprint("partition ", i), resp.Topics[i].Partitions[0].ErrorCode, want)
	}
	deleted := b.deleteGroups(groupID, otherGroup, "missing-2", groupID, otherGroup)
	if len(deleted.Groups) != 3 {
		t.Fatalf("%+v", deleted)
	}
	for i, want := range []int16{68, 14, 14} {
		wantCode(t, deleted.Groups[i].Group, deleted.Groups[i].ErrorCode, want)
	}
}

// Of groups in one request each has its own answer.
func TestFirstFaultOfLooks(t *testing.T) {
	b := newBench(t)
	b.commit(simple(7))
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version = 9
	for _, id := range []string{otherGroup, groupID, "deadGroupId", groupID} {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.Topics = id, []kmsg.OffsetFetchRequestGroupTopic{{Topic: "topic", Partitions: []int32{0, 400}}, {Topic: "nowhere", Partitions: []int32{0}}}
		q.Groups = append(q.Groups, g)
	}
	q.Groups[3].Topics = nil
	got := ""
	for _, g := range answer[*kmsg.OffsetFetchResponse](b, b.send("m", q)).Groups {
		got += fmt.Sprintf("%s %d", g.Group, g.ErrorCode)
		for _, topic := range g.Topics {
			for _, p := range topic.Partitions {
				got += fmt.Sprintf(" %s-%d=%d/%d", topic.Topic, p.Partition, p.Offset, p.ErrorCode)
			}
		}
		got += "; "
	}
	if want := "otherGroup 16; groupId 0 topic-0=7/0 topic-400=-1/0 nowhere-0=-1/0; " +
		"deadGroupId 0 topic-0=-1/0 topic-400=-1/0 nowhere-0=-1/0; groupId 0 topic-0=7/0; "; got != want {
		t.Fatalf("%s\nwant %s", got, want)
	}
	d := kmsg.NewPtrDescribeGroupsRequest()
	d.Version, d.Groups = 6, []string{otherGroup, groupID, "deadGroupId"}
	for i, want := range []int16{16, 0, 69} {
		wantCode(t, d.Groups[i], answer[*kmsg.DescribeGroupsResponse](b, b.send("m", d)).Groups[i].ErrorCode, want)
	}
}
