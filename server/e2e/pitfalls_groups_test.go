package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/record"
	"grouplab/server/app"
)

// Pitfalls 26 to 41: groups.

// groupServer is a broker that coordinates, and a connection to it.
func groupServer(t testing.TB, set ...string) (*app.Server, *wire) {
	t.Helper()
	s := kafkaServer(t, 1, append(slices.Clone(quick), set...)...)
	w := dial(t, s.KafkaAddrs()[0])
	findFirst(t, w, "g")
	return s, w
}

// joinAs is a JoinGroup of a version, for an id that may be empty, and a static member's instance that may be, too.
func joinAs(version int16, member, instance string) *kmsg.JoinGroupRequest {
	r := joinOf("g")
	r.Version, r.MemberID = version, member
	if instance != "" {
		r.InstanceID = &instance
	}
	return r
}

// enter joins as the newest clients do, with the id of a first answer.
func enter(w *wire, version int16, instance string) *kmsg.JoinGroupResponse {
	w.t.Helper()
	r := joinAs(version, "", instance)
	got := ask[*kmsg.JoinGroupResponse](w, r)
	if got.ErrorCode == kerr.MemberIDRequired.Code {
		r.MemberID = got.MemberID
		got = ask[*kmsg.JoinGroupResponse](w, r)
	}
	if got.ErrorCode != 0 {
		w.t.Fatalf("joining: %s", name(got.ErrorCode))
	}
	return got
}

// syncAs is a leader's SyncGroup that gives bytes to members.
func syncAs(version int16, joined *kmsg.JoinGroupResponse, parts map[string]string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version, r.Group, r.Generation, r.MemberID = version, "g", joined.Generation, joined.MemberID
	kind, protocol := "consumer", "range"
	r.ProtocolType, r.Protocol = &kind, &protocol
	for member, bytes := range parts {
		r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: member, MemberAssignment: []byte(bytes)})
	}
	return r
}

func beatAs(version int16, generation int32, member string) *kmsg.HeartbeatRequest {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version, r.Group, r.Generation, r.MemberID = version, "g", generation, member
	return r
}

func beatCode(w *wire, generation int32, member string) int16 {
	w.t.Helper()
	return ask[*kmsg.HeartbeatResponse](w, beatAs(4, generation, member)).ErrorCode
}

func commitCode(w *wire, r *kmsg.OffsetCommitRequest) int16 {
	w.t.Helper()
	return ask[*kmsg.OffsetCommitResponse](w, r).Topics[0].Partitions[0].ErrorCode
}

func TestPitfall26_OffsetsOfAnUnknownGroup(t *testing.T) {
	_, w := groupServer(t)
	for version := int16(1); version <= 9; version++ {
		for _, all := range []bool{false, true} {
			if all && version < 2 {
				continue
			}
			r := kmsg.NewPtrOffsetFetchRequest()
			r.Version, r.Group = version, "nobody"
			if !all {
				r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0, 1}}}
			}
			one := kmsg.NewOffsetFetchRequestGroup()
			one.Group = "nobody"
			if !all {
				one.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: "orders", Partitions: []int32{0, 1}}}
			}
			r.Groups = []kmsg.OffsetFetchRequestGroup{one}
			got := ask[*kmsg.OffsetFetchResponse](w, r)
			var offsets []string
			for _, topic := range got.Topics {
				for _, p := range topic.Partitions {
					offsets = append(offsets, fmt.Sprint(p.Offset, p.ErrorCode))
				}
			}
			for _, g := range got.Groups {
				if g.ErrorCode != 0 {
					t.Errorf("v%d: the group has %s", version, name(g.ErrorCode))
				}
				for _, topic := range g.Topics {
					for _, p := range topic.Partitions {
						offsets = append(offsets, fmt.Sprint(p.Offset, p.ErrorCode))
					}
				}
			}
			want := "[-1 0 -1 0]"
			if all {
				want = "[]"
			}
			if got.ErrorCode != 0 || fmt.Sprint(offsets) != want {
				t.Errorf("v%d, all %v: %s, %v; want %s", version, all, name(got.ErrorCode), offsets, want)
			}
		}
	}
}

func TestPitfall27_MemberIDRequired(t *testing.T) {
	_, w := groupServer(t)
	for version := int16(4); version <= 9; version++ {
		r := joinAs(version, "", "")
		r.SessionTimeoutMillis = 1000 // so long an issued id holds up the next phase
		got := ask[*kmsg.JoinGroupResponse](w, r)
		if got.ErrorCode != kerr.MemberIDRequired.Code || got.MemberID == "" {
			t.Errorf("v%d: %s, id %q", version, name(got.ErrorCode), got.MemberID)
		}
	}
	static := ask[*kmsg.JoinGroupResponse](w, joinAs(9, "", "anchor")) // the issued ids would hold it up; none of them came back
	if static.ErrorCode != 0 || static.SkipAssignment || len(static.Members) != 1 {
		t.Fatalf("a static member: %s, %+v", name(static.ErrorCode), static)
	}
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, static, map[string]string{static.MemberID: "all"}))
	again := ask[*kmsg.JoinGroupResponse](w, joinAs(9, "", "anchor"))
	if again.ErrorCode != 0 || !again.SkipAssignment || again.Generation != static.Generation || again.MemberID == static.MemberID || again.LeaderID != again.MemberID {
		t.Errorf("the static leader comes again: %+v", again)
	}
	if code := beatCode(w, again.Generation, again.MemberID); code != 0 {
		t.Errorf("its heartbeat: %s", name(code))
	}
	old := joinAs(8, again.MemberID, "anchor")
	if got := ask[*kmsg.JoinGroupResponse](w, old); got.ErrorCode != 0 {
		t.Errorf("v8, which knows no such flag: %s", name(got.ErrorCode))
	}
}

func TestPitfall28_ProtocolNames(t *testing.T) {
	_, w := groupServer(t)
	if got := ask[*kmsg.JoinGroupResponse](w, joinAs(9, "stranger", "")); got.ErrorCode != kerr.UnknownMemberID.Code || got.Protocol != nil {
		t.Errorf("an error in v9: %s, protocol %v", name(got.ErrorCode), got.Protocol)
	}
	if got := ask[*kmsg.JoinGroupResponse](w, joinAs(5, "stranger", "")); got.Protocol == nil || *got.Protocol != "" {
		t.Errorf("an error in v5: protocol %v", got.Protocol)
	}
	joined := enter(w, 9, "")
	if joined.Protocol == nil || *joined.Protocol != "range" || joined.ProtocolType == nil || *joined.ProtocolType != "consumer" {
		t.Errorf("joined with %v of %v", joined.Protocol, joined.ProtocolType)
	}
	wrong := "other"
	for what, change := range map[string]func(*kmsg.SyncGroupRequest){
		"another type": func(r *kmsg.SyncGroupRequest) { r.ProtocolType = &wrong },
		"another name": func(r *kmsg.SyncGroupRequest) { r.Protocol = &wrong },
	} {
		r := syncAs(5, joined, nil)
		change(r)
		if got := ask[*kmsg.SyncGroupResponse](w, r); got.ErrorCode != kerr.InconsistentGroupProtocol.Code {
			t.Errorf("%s: %s", what, name(got.ErrorCode))
		}
	}
	right := ask[*kmsg.SyncGroupResponse](w, syncAs(5, joined, map[string]string{joined.MemberID: "x"}))
	if right.ErrorCode != 0 || *right.Protocol != "range" || *right.ProtocolType != "consumer" {
		t.Errorf("the right ones: %+v", right)
	}
}

func TestPitfall29_LeavingTogether(t *testing.T) {
	_, w := groupServer(t)
	joined := enter(w, 9, "")
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, joined, nil))
	for version := int16(3); version <= 5; version++ {
		r := kmsg.NewPtrLeaveGroupRequest()
		r.Version, r.Group = version, "g"
		r.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "stranger"}, {InstanceID: kmsg.StringPtr("nobody")}}
		got := ask[*kmsg.LeaveGroupResponse](w, r)
		if got.ErrorCode != 0 || len(got.Members) != 2 || got.Members[0].ErrorCode != kerr.UnknownMemberID.Code || got.Members[1].ErrorCode != kerr.UnknownMemberID.Code {
			t.Errorf("v%d: %s, %+v", version, name(got.ErrorCode), got.Members)
		}
	}
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version, r.Group, r.MemberID = 2, "g", "stranger"
	if got := ask[*kmsg.LeaveGroupResponse](w, r); got.ErrorCode != kerr.UnknownMemberID.Code {
		t.Errorf("v2: %s", name(got.ErrorCode))
	}
	static := kmsg.NewPtrLeaveGroupRequest()
	static.Version, static.Group = 5, "g"
	other := dial(t, w.RemoteAddr().String())
	waiting := other.send(joinAs(9, "", "anchor"))
	eventually(t, 5*time.Second, func() error {
		if code := beatCode(w, joined.Generation, joined.MemberID); code != kerr.RebalanceInProgress.Code {
			return fmt.Errorf("no rebalance: %s", name(code))
		}
		return nil
	})
	static.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "old id", InstanceID: kmsg.StringPtr("anchor")}, {MemberID: joined.MemberID}}
	got := ask[*kmsg.LeaveGroupResponse](w, static)
	if got.Members[0].ErrorCode != kerr.FencedInstanceID.Code || got.Members[1].ErrorCode != 0 {
		t.Errorf("a fenced one and a right one: %+v", got.Members)
	}
	if left := receive[*kmsg.JoinGroupResponse](other, waiting, joinAs(9, "", "anchor")); left.ErrorCode != 0 || len(left.Members) != 1 {
		t.Errorf("who is left: %+v", left)
	}
}

func TestPitfall30_HeartbeatsByState(t *testing.T) {
	_, w := groupServer(t)
	if code := beatCode(w, 1, "m"); code != kerr.UnknownMemberID.Code {
		t.Errorf("no group: %s", name(code))
	}
	joined := enter(w, 9, "")
	if code := beatCode(w, joined.Generation, joined.MemberID); code != 0 {
		t.Errorf("CompletingRebalance: %s", name(code))
	}
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, joined, nil))
	if code := beatCode(w, joined.Generation, joined.MemberID); code != 0 {
		t.Errorf("Stable: %s", name(code))
	}
	if code := beatCode(w, joined.Generation+1, joined.MemberID); code != kerr.IllegalGeneration.Code {
		t.Errorf("another generation: %s", name(code))
	}
	other := dial(t, w.RemoteAddr().String())
	other.send(joinAs(3, "", ""))
	eventually(t, 5*time.Second, func() error {
		if code := beatCode(w, joined.Generation, joined.MemberID); code != kerr.RebalanceInProgress.Code {
			return fmt.Errorf("PreparingRebalance: %s", name(code))
		}
		return nil
	})
	other.Close()
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = "g", joined.MemberID
	ask[*kmsg.LeaveGroupResponse](w, leave)
	if code := beatCode(w, joined.Generation, joined.MemberID); code != kerr.UnknownMemberID.Code {
		t.Errorf("after leaving: %s", name(code))
	}
}

func TestPitfall31_CommitsByState(t *testing.T) {
	_, w := groupServer(t)
	if code := commitCode(w, commitOf("g", -1, "", 8)); code != 0 {
		t.Errorf("a simple consumer, without a group: %s", name(code))
	}
	joined := enter(w, 9, "")
	if code := commitCode(w, commitOf("g", -1, "", 8)); code != kerr.UnknownMemberID.Code {
		t.Errorf("a simple consumer, where there are members: %s", name(code))
	}
	if code := commitCode(w, commitOf("g", joined.Generation, joined.MemberID, 8)); code != kerr.RebalanceInProgress.Code {
		t.Errorf("CompletingRebalance: %s", name(code))
	}
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, joined, nil))
	if code := commitCode(w, commitOf("g", joined.Generation+1, joined.MemberID, 8)); code != kerr.IllegalGeneration.Code {
		t.Errorf("another generation: %s", name(code))
	}
	long := commitOf("g", joined.Generation, joined.MemberID, 8)
	text := string(bytes.Repeat([]byte("x"), 4097))
	long.Topics[0].Partitions[0].Metadata = &text
	if code := commitCode(w, long); code != kerr.OffsetMetadataTooLarge.Code {
		t.Errorf("4097 bytes of metadata: %s", name(code))
	}
	text = text[1:]
	if code := commitCode(w, long); code != 0 {
		t.Errorf("4096 bytes of metadata: %s", name(code))
	}
	dial(t, w.RemoteAddr().String()).send(joinAs(3, "", ""))
	eventually(t, 5*time.Second, func() error {
		if code := beatCode(w, joined.Generation, joined.MemberID); code != kerr.RebalanceInProgress.Code {
			return fmt.Errorf("no rebalance: %s", name(code))
		}
		return nil
	})
	if code := commitCode(w, commitOf("g", joined.Generation, joined.MemberID, 8)); code != 0 {
		t.Errorf("PreparingRebalance: %s", name(code))
	}
	for version := int16(2); version <= 4; version++ {
		r := commitOf("h", -1, "", version)
		r.RetentionTimeMillis = 60_000
		if code := commitCode(w, r); code != 0 {
			t.Errorf("v%d with a retention time: %s", version, name(code))
		}
	}
}

func TestPitfall32_DescribingGroups(t *testing.T) {
	_, w := groupServer(t)
	describe := func(version int16, group string) kmsg.DescribeGroupsResponseGroup {
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Version, r.Groups = version, []string{group}
		return ask[*kmsg.DescribeGroupsResponse](w, r).Groups[0]
	}
	for version := int16(0); version <= 5; version++ {
		if got := describe(version, "nobody"); got.ErrorCode != 0 || got.State != "Dead" {
			t.Errorf("v%d of an unknown group: %s, %s", version, name(got.ErrorCode), got.State)
		}
	}
	if got := describe(6, "nobody"); got.ErrorCode != kerr.GroupIDNotFound.Code || got.ErrorMessage == nil {
		t.Errorf("v6 of an unknown group: %s", name(got.ErrorCode))
	}
	joined := enter(w, 9, "")
	if got := describe(6, "g"); got.State != "CompletingRebalance" || len(got.Members) != 1 || len(got.Members[0].ProtocolMetadata)+len(got.Members[0].MemberAssignment) != 0 || got.Protocol != "" {
		t.Errorf("not Stable: %+v", got)
	}
	ask[*kmsg.SyncGroupResponse](w, syncAs(5, joined, map[string]string{joined.MemberID: "all"}))
	if got := describe(6, "g"); got.State != "Stable" || string(got.Members[0].MemberAssignment) != "all" || len(got.Members[0].ProtocolMetadata) == 0 || got.Protocol != "range" {
		t.Errorf("Stable: %+v", got)
	}
}

func TestPitfall33_EachBrokerListsItsOwn(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	for i := range 12 {
		if code := commitCodeOf(t, s, fmt.Sprintf("group-%d", i)); code != 0 {
			t.Fatal(name(code))
		}
	}
	list := func(w *wire, version int16, states, types []string) (ids []string) {
		r := kmsg.NewPtrListGroupsRequest()
		r.Version, r.StatesFilter, r.TypesFilter = version, states, types
		for _, g := range ask[*kmsg.ListGroupsResponse](w, r).Groups {
			if version >= 5 && g.GroupType != "classic" || version >= 4 && g.GroupState != "Empty" {
				t.Errorf("v%d: %+v", version, g)
			}
			ids = append(ids, g.Group)
		}
		return ids
	}
	seen := map[string]int{}
	for _, at := range s.KafkaAddrs() {
		w := dial(t, at)
		own := list(w, 5, nil, nil)
		for _, id := range own {
			seen[id]++
		}
		for what, n := range map[string]int{"Empty": len(own), "Stable": 0, "empty": len(own)} {
			if got := list(w, 4, []string{what}, nil); len(got) != n {
				t.Errorf("in state %s: %v, want %d", what, got, n)
			}
		}
		for what, n := range map[string]int{"classic": len(own), "consumer": 0, "Classic": len(own)} {
			if got := list(w, 5, nil, []string{what}); len(got) != n {
				t.Errorf("of type %s: %v, want %d", what, got, n)
			}
		}
	}
	for i := range 12 {
		if n := seen[fmt.Sprintf("group-%d", i)]; n != 1 {
			t.Errorf("group-%d is listed by %d brokers", i, n)
		}
	}
}

// coordinatorOf connects to a group's coordinator.
func coordinatorOf(t testing.TB, s *app.Server, group string) (w *wire, broker int32) {
	t.Helper()
	w = dial(t, s.KafkaAddrs()[0])
	findFirst(t, w, group)
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 3, group
	broker = ask[*kmsg.FindCoordinatorResponse](w, find).NodeID
	return dial(t, s.KafkaAddrs()[broker-1]), broker
}

func commitCodeOf(t testing.TB, s *app.Server, group string) (code int16) {
	t.Helper()
	w, _ := coordinatorOf(t, s, group)
	eventually(t, 5*time.Second, func() error { // its log may still be loading
		code = commitCode(w, commitOf(group, -1, "", 8))
		if code == kerr.CoordinatorLoadInProgress.Code {
			return kerr.CoordinatorLoadInProgress
		}
		return nil
	})
	return code
}

func TestPitfall34_FindingManyCoordinators(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	findFirst(t, w, "g")
	for version := int16(4); version <= 6; version++ {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.Version, r.CoordinatorKeys = version, []string{"g", "h", ""}
		got := ask[*kmsg.FindCoordinatorResponse](w, r)
		if len(got.Coordinators) != 3 || got.Coordinators[0].Key != "g" || got.Coordinators[0].NodeID < 1 || got.Coordinators[1].ErrorCode != 0 {
			t.Errorf("v%d: %+v", version, got.Coordinators)
		}
	}
	for version := int16(0); version <= 3; version++ {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.Version, r.CoordinatorKey = version, "g"
		if got := ask[*kmsg.FindCoordinatorResponse](w, r); got.ErrorCode != 0 || got.NodeID < 1 || len(got.Coordinators) != 0 {
			t.Errorf("v%d: %+v", version, got)
		}
	}
	for kind, want := range map[int8]int16{1: 0, 2: kerr.InvalidRequest.Code, 9: kerr.InvalidRequest.Code} {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.Version, r.CoordinatorKeys, r.CoordinatorType = 6, []string{"g"}, kind
		eventually(t, 5*time.Second, func() error {
			code := ask[*kmsg.FindCoordinatorResponse](w, r).Coordinators[0].ErrorCode
			if code != want {
				return fmt.Errorf("type %d: %s, want %s", kind, name(code), name(want))
			}
			return nil
		})
	}
}

func TestPitfall35_TheInitialDelayIsAKnob(t *testing.T) {
	for delay, bounds := range map[string][2]time.Duration{"0": {0, 2 * time.Second}, "700": {650 * time.Millisecond, 2500 * time.Millisecond}} {
		s := kafkaServer(t, 1, "group.initial.rebalance.delay.ms="+delay)
		w := dial(t, s.KafkaAddrs()[0])
		n := 0
		eventually(t, 5*time.Second, func() error { // a busy machine may be late, but not each time
			n++
			group := fmt.Sprint("g", n)
			findFirst(t, w, group)
			start := time.Now()
			ask[*kmsg.JoinGroupResponse](w, joinOf(group))
			took := time.Since(start)
			if took < bounds[0] {
				t.Fatalf("group.initial.rebalance.delay.ms=%s: %v", delay, took)
			}
			if took > bounds[1] {
				return fmt.Errorf("group.initial.rebalance.delay.ms=%s: %v", delay, took)
			}
			return nil
		})
	}
}

func TestPitfall36_MetadataIsOpaque(t *testing.T) {
	_, w := groupServer(t)
	odd := [][]byte{{}, {0xff}, {0, 7, 1, 2, 3}, record.Subscription(record.Sub{Topics: []string{"orders"}}), bytes.Repeat([]byte{0, 3}, 500)}
	for i, metadata := range odd {
		r := joinAs(3, "", "")
		r.Group = fmt.Sprintf("odd-%d", i)
		r.Protocols[0].Metadata = metadata
		got := ask[*kmsg.JoinGroupResponse](w, r)
		if got.ErrorCode != 0 || len(got.Members) != 1 || !bytes.Equal(got.Members[0].ProtocolMetadata, metadata) {
			t.Errorf("metadata % .20x: %s, % .20x", metadata, name(got.ErrorCode), got.Members)
		}
	}
}

func TestPitfall37_AnEmptyAssignmentStaysEmpty(t *testing.T) {
	_, w := groupServer(t)
	joined := enter(w, 9, "")
	if got := ask[*kmsg.SyncGroupResponse](w, syncAs(5, joined, nil)); got.ErrorCode != 0 || len(got.MemberAssignment) != 0 {
		t.Errorf("left out by the leader: %s, %d bytes", name(got.ErrorCode), len(got.MemberAssignment))
	}
}

// TestPitfalls38To41_TheNewProtocolIsNotPromised: KIP-848 is not advertised before it is whole, and its requests are
// refused before anything is decoded.
func TestPitfalls38To41_TheNewProtocolIsNotPromised(t *testing.T) {
	s, w := groupServer(t)
	at := advertised(t, s)
	for _, key := range []int16{68, 69, 76, 77, 78, 79, 88, 89} {
		if _, there := at[key]; there {
			t.Errorf("%s is advertised", kmsg.NameForKey(key))
		}
		for version := int16(0); version <= 1; version++ {
			stranger := dial(t, s.KafkaAddrs()[0])
			stranger.raw(frameOf(append(headerOf(key, version), 0, 2, 'g', 2, 'm', 0)))
			stranger.closed()
		}
	}
	w.alive()
}
