package coordinator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// onTheWire is a response as a client of its version reads it.
func onTheWire[R kmsg.Response](t *testing.T, resp R) R {
	t.Helper()
	again := kmsg.ResponseForKey(resp.Key())
	again.SetVersion(resp.GetVersion())
	if err := again.ReadFrom(resp.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	return again.(R)
}

// text is a nullable string in words.
func text(s *string) string {
	if s == nil {
		return "null"
	}
	return fmt.Sprintf("%q", *s)
}

// KIP-559: the protocol type is answered from version 7 on, where the protocol may be null, too.
func TestJoinAnswersOfEveryVersion(t *testing.T) {
	for version := int16(0); version <= 9; version++ {
		b := newBench(t)
		w := joinWith{version: version, protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("r")}, {Name: "x", Metadata: []byte("x")}}}
		refused := onTheWire(t, b.joined(b.join("m", joinWith{version: version, session: 1})))
		if version >= 4 {
			w.id = b.joined(b.join("m", w)).MemberID
		}
		ticket := b.join("m", w)
		b.advance(51)
		resp := onTheWire(t, b.joined(ticket))
		got := fmt.Sprintf("%s %s %v, %s %s", text(resp.ProtocolType), text(resp.Protocol), resp.SkipAssignment, text(refused.ProtocolType), text(refused.Protocol))
		want := `null "range" false, null ""`
		if version >= 7 {
			want = `"consumer" "range" false, null null`
		}
		if got != want || resp.ThrottleMillis != 0 || refused.ErrorCode != 26 || refused.Generation != -1 {
			t.Fatalf("v%d: %s", version, got)
		}
		if len(resp.Members) != 1 || resp.Members[0].MemberID != resp.MemberID || string(resp.Members[0].ProtocolMetadata) != "r" || resp.LeaderID != resp.MemberID {
			t.Fatalf("v%d: %+v", version, resp)
		}
	}
}

// A protocol whose name is empty is a protocol; its name is null where it may be (Kafka: JoinGroupResponse).
func TestProtocolWithoutAName(t *testing.T) {
	for version, want := range map[int16]string{3: `""`, 6: `""`, 7: "null", 9: "null"} {
		b := newBench(t)
		w := joinWith{version: version, protocols: protocolList("")}
		if version >= 4 {
			w.id = b.joined(b.join("m", w)).MemberID
		}
		ticket := b.join("m", w)
		b.advance(51)
		if got := text(b.joined(ticket).Protocol); got != want {
			t.Fatalf("v%d: %s", version, got)
		}
	}
	b := newBench(t)
	g := withProtocols(b, event.PreparingRebalance, []string{"", "range"}, []string{"", "range"}, []string{"range", ""})
	if got := g.electProtocol(); got != "" {
		t.Fatalf("%q was elected against two votes", got)
	}
}

// Which id the answer to a refused JoinGroup names: the request's where Kafka's service refuses, none where its runtime
// does.
func TestMemberIDOfARefusedJoin(t *testing.T) {
	b := newBench(t)
	for version := int16(0); version <= 9; version++ {
		w := joinWith{version: version, id: "x"}
		for _, c := range []struct {
			name, group string
			session     int32
			code        int16
			id          string
		}{{"session", groupID, 1, 26, "x"}, {"not owned", otherGroup, 500, 16, ""}, {"no group", groupID, 500, 25, "x"}} {
			w.group, w.session = c.group, c.session
			resp := b.joined(b.join("m", w))
			if resp.ErrorCode != c.code || resp.MemberID != c.id || resp.Generation != -1 {
				t.Fatalf("%s, v%d: %+v", c.name, version, resp)
			}
		}
	}
	loading(b)
	if resp := b.joined(b.join("m", joinWith{version: 9, group: otherGroup, id: "x"})); resp.ErrorCode != 14 || resp.MemberID != "" {
		t.Fatalf("%+v", resp)
	}
}

// KIP-814: from version 9 on a leader that started again is told that it leads, whom, and that it must not assign.
// Before, it is told the id that it had, so that it takes itself for a follower.
func TestStaticRestartOfEveryVersion(t *testing.T) {
	for version := int16(5); version <= 9; version++ {
		for _, who := range []string{"leader", "follower"} {
			b := newBench(t)
			l, _ := twoStatic(b, joinWith{})
			resp := onTheWire(t, b.joined(b.join("r", static(who, joinWith{version: version}))))
			leads := who == "leader" && version >= 9
			leader := l
			if leads {
				leader = resp.MemberID
			}
			if resp.ErrorCode != 0 || resp.Generation != 1 || resp.LeaderID != leader || resp.SkipAssignment != leads || (len(resp.Members) == 2) != leads ||
				!leads && len(resp.Members) != 0 || !strings.HasPrefix(resp.MemberID, who) {
				t.Fatalf("%s, v%d: %+v", who, version, resp)
			}
		}
	}
}

func TestSyncAnswersOfEveryVersion(t *testing.T) {
	for version := int16(0); version <= 5; version++ {
		b := newBench(t)
		m := b.one(joinWith{})
		q := kmsg.NewPtrSyncGroupRequest()
		q.Version, q.Group, q.MemberID, q.Generation = version, groupID, m, 1
		if version >= 5 {
			q.ProtocolType, q.Protocol = ptr("consumer"), ptr("range")
		}
		q.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: m, MemberAssignment: []byte("A")}}
		resp := onTheWire(t, b.synced(b.send("m", q)))
		q.MemberID = "x"
		refused := onTheWire(t, b.synced(b.send("m", q)))
		got := fmt.Sprintf("%s %s, %s %s", text(resp.ProtocolType), text(resp.Protocol), text(refused.ProtocolType), text(refused.Protocol))
		want := "null null, null null"
		if version >= 5 {
			want = `"consumer" "range", null null`
		}
		if got != want || string(resp.MemberAssignment) != "A" || refused.ErrorCode != 25 || len(refused.MemberAssignment) != 0 {
			t.Fatalf("v%d: %s, %+v", version, got, resp)
		}
	}
}

// What an OffsetCommit of each version says beyond its offsets, as it is written: a commit time (1), a retention time (2
// to 4), a leader epoch (6 on).
func TestCommitsOfEveryVersion(t *testing.T) {
	for version := int16(1); version <= 9; version++ {
		b := newBench(t)
		q := kmsg.NewPtrOffsetCommitRequest()
		q.Version, q.Group, q.Generation, q.RetentionTimeMillis = version, groupID, -1, 5000
		topic := kmsg.NewOffsetCommitRequestTopic()
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		topic.Topic, p.Offset, p.LeaderEpoch, p.Timestamp, p.Metadata = "topic", 7, 3, 400, nil
		topic.Partitions = append(topic.Partitions, p)
		q.Topics = append(q.Topics, topic)
		wantCode(t, "commit", b.committed(b.send("m", q)), 0)
		v, err := record.DecodeOffset(b.written[0].Records[0].Value)
		want := record.Offset{Offset: 7, LeaderEpoch: -1, CommitTimestampMs: b.now, ExpireTimestampMs: -1}
		switch {
		case version == 1:
			want.CommitTimestampMs = 400
		case version <= 4:
			want.ExpireTimestampMs = b.now + 5000
		case version >= 6:
			want.LeaderEpoch = 3
		}
		if err != nil || v != want {
			t.Fatalf("v%d: %+v, want %+v, %v", version, v, want, err)
		}
	}
}

// A commit that names a partition twice: the last one counts, at once and after a load.
func TestCommitOfAPartitionTwice(t *testing.T) {
	b := newBench(t)
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.Generation = 9, groupID, -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = "topic"
	for _, offset := range []int64{5, 6} {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset = offset
		topic.Partitions = append(topic.Partitions, p)
	}
	q.Topics = append(q.Topics, topic)
	resp := answer[*kmsg.OffsetCommitResponse](b, b.send("m", q))
	if len(resp.Topics[0].Partitions) != 2 {
		t.Fatalf("%+v", resp)
	}
	for range 2 {
		if offset, code := b.fetch(groupID, "topic", 0, true); offset != 6 || code != 0 {
			t.Fatal(offset, code)
		}
		b.c.Emigrate(b.now, 0, 1)
		b.load(0, 2, batchAt(0, b.written[0].Records...))
	}
}

// Null topics are all topics, from version 2 on; no topics are none. KIP-447's flag counts from version 7 on.
func TestOffsetFetchOfEveryVersion(t *testing.T) {
	for version := int16(1); version <= 9; version++ {
		b := newBench(t)
		b.commit(commitWith{generation: -1, offsets: map[int32]int64{0: 5, 1: 6}, epoch: 4, metadata: ptr("m")})
		b.hold = true
		b.commit(commitWith{generation: -1, offsets: map[int32]int64{1: 7}})
		fetch := func(group string, topics []kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroup {
			return b.fetchOf(version, group, topics)
		}
		if g := fetch(groupID, []kmsg.OffsetFetchRequestGroupTopic{}); g.ErrorCode != 0 || len(g.Topics) != 0 {
			t.Fatalf("v%d, no topics: %+v", version, g)
		}
		epoch, unstable := int32(-1), "6/0"
		if version >= 5 {
			epoch = 4
		}
		if version >= 7 {
			unstable = "-1/88"
		}
		want := fmt.Sprintf("topic: 0=5/0 epoch %d %q, 1=%s; ", epoch, "m", unstable)
		some := []kmsg.OffsetFetchRequestGroupTopic{{Topic: "topic", Partitions: []int32{0, 1}}}
		any := &kmsg.OffsetFetchRequest{Version: version, Group: groupID, Groups: []kmsg.OffsetFetchRequestGroup{{Group: groupID, Topics: some}},
			Topics: []kmsg.OffsetFetchRequestTopic{{Topic: "topic", Partitions: []int32{0, 1}}}}
		if code, offset := firstFetched(answer[*kmsg.OffsetFetchResponse](b, b.send("m", any)), 1); code != 0 || offset != 6 {
			t.Fatalf("v%d, what may be overtaken: %d, %d", version, code, offset)
		}
		if got := fetchedText(fetch(groupID, some)); got != want {
			t.Fatalf("v%d: %s, want %s", version, got, want)
		}
		if g := fetch("deadGroupId", some); fetchedText(g) != "topic: 0=-1/0 epoch -1 \"\", 1=-1/0; " || g.ErrorCode != 0 {
			t.Fatalf("v%d, no group: %+v", version, g)
		}
		g := fetch(otherGroup, some)
		if version == 1 && fetchedText(g) != "topic: 0=-1/16 epoch -1 \"\", 1=-1/16; " || version > 1 && (g.ErrorCode != 16 || len(g.Topics) != 0) {
			t.Fatalf("v%d, not owned: %+v", version, g)
		}
		if version == 1 {
			continue
		}
		if got := fetchedText(fetch(groupID, nil)); got != want {
			t.Fatalf("v%d, all: %s, want %s", version, got, want)
		}
		if g := fetch("deadGroupId", nil); g.ErrorCode != 0 || len(g.Topics) != 0 {
			t.Fatalf("v%d, all of no group: %+v", version, g)
		}
	}
}

// fetchOf sends an OffsetFetch over the wire, with requireStable, and puts the old shape of the answer into the new one.
func (b *bench) fetchOf(version int16, group string, topics []kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroup {
	b.t.Helper()
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version, q.Group, q.RequireStable = version, group, true
	one := kmsg.NewOffsetFetchRequestGroup()
	one.Group, one.Topics = group, topics
	q.Groups = append(q.Groups, one)
	if topics != nil {
		q.Topics = []kmsg.OffsetFetchRequestTopic{}
	}
	for _, topic := range topics {
		q.Topics = append(q.Topics, kmsg.OffsetFetchRequestTopic{Topic: topic.Topic, Partitions: topic.Partitions})
	}
	sent, ok := onWire(q)
	if !ok {
		b.t.Fatal("the request cannot be sent")
	}
	ticket := b.send("m", sent)
	resp := answer[*kmsg.OffsetFetchResponse](b, ticket)
	again := kmsg.NewPtrOffsetFetchResponse()
	again.Version = version
	if err := again.ReadFrom(resp.AppendTo(nil)); err != nil {
		b.t.Fatal(err)
	}
	if version >= 8 {
		return again.Groups[0]
	}
	g := kmsg.OffsetFetchResponseGroup{Group: group, ErrorCode: again.ErrorCode}
	for _, topic := range again.Topics {
		answer := kmsg.OffsetFetchResponseGroupTopic{Topic: topic.Topic}
		for _, p := range topic.Partitions {
			answer.Partitions = append(answer.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition(p))
		}
		g.Topics = append(g.Topics, answer)
	}
	return g
}

// firstFetched is what was fetched of the i-th partition of the first topic, in either shape.
func firstFetched(resp *kmsg.OffsetFetchResponse, i int) (code int16, offset int64) {
	if resp.Version >= 8 {
		p := resp.Groups[0].Topics[0].Partitions[i]
		return p.ErrorCode, p.Offset
	}
	p := resp.Topics[0].Partitions[i]
	return p.ErrorCode, p.Offset
}

// fetchedText tells what was fetched; epoch and metadata of the first partition only.
func fetchedText(g kmsg.OffsetFetchResponseGroup) (s string) {
	for _, topic := range g.Topics {
		s += topic.Topic + ":"
		for i, p := range topic.Partitions {
			if i > 0 {
				s += ","
			}
			s += fmt.Sprintf(" %d=%d/%d", p.Partition, p.Offset, p.ErrorCode)
			if i == 0 {
				s += fmt.Sprintf(" epoch %d %q", p.LeaderEpoch, *p.Metadata)
			}
		}
		s += "; "
	}
	return s
}

// KIP-430: who asks is told what may be done with the groups that could be looked at. KIP-1043: version 6 does not call
// a group Dead that is not there without an error.
func TestDescribeOfEveryVersion(t *testing.T) {
	const all = 1<<3 | 1<<6 | 1<<8 | 1<<10 | 1<<11
	for version := int16(0); version <= 6; version++ {
		b := newBench(t)
		m := b.join("m", static("i", joinWith{version: 5}))
		b.advance(51)
		b.syncStatic(b.joined(m).MemberID, "i", 1, nil)
		for _, asks := range []bool{false, true} {
			q := kmsg.NewPtrDescribeGroupsRequest()
			q.Version, q.Groups, q.IncludeAuthorizedOperations = version, []string{groupID, otherGroup, "deadGroupId"}, asks
			sent, _ := onWire(q)
			resp := onTheWire(t, answer[*kmsg.DescribeGroupsResponse](b, b.send("admin", sent)))
			got, foreign, missing := resp.Groups[0], resp.Groups[1], resp.Groups[2]
			operations := int32(-2147483648)
			if asks && version >= 3 {
				operations = all
			}
			if got.Group != groupID || foreign.Group != otherGroup || missing.Group != "deadGroupId" || got.AuthorizedOperations != operations || foreign.AuthorizedOperations != -2147483648 || got.State != "Stable" || got.Protocol != "range" ||
				got.ProtocolType != "consumer" || (got.Members[0].InstanceID != nil) != (version >= 4) || foreign.ErrorCode != 16 || foreign.State != "" {
				t.Fatalf("v%d: %+v", version, resp)
			}
			if missing.State != "Dead" || (missing.ErrorCode == 69) != (version >= 6) || (missing.ErrorMessage != nil) != (version >= 6) ||
				(missing.AuthorizedOperations == all) != (operations == all && version < 6) {
				t.Fatalf("v%d: %+v", version, missing)
			}
		}
	}
}

// KIP-518 and KIP-848: the filters that each version has.
func TestListOfEveryVersion(t *testing.T) {
	for version := int16(0); version <= 5; version++ {
		b := newBench(t)
		w := simple(1)
		w.group = ptr("deadGroupId")
		b.commit(w)
		b.oneStable(joinWith{})
		for _, c := range []struct {
			states, types []string
			want          string // from version 5 on; before 4 there is no filter
			four          string
		}{
			{nil, nil, "deadGroupId groupId", "deadGroupId groupId"},
			{[]string{" sTable "}, nil, "groupId", "groupId"},
			{[]string{"Empty", "Stable"}, []string{"CLASSIC"}, "deadGroupId groupId", "deadGroupId groupId"},
			{[]string{"nonsense", "empty"}, []string{"nonsense", "classic"}, "deadGroupId", "deadGroupId"},
			{[]string{"nonsense"}, nil, "", ""},
			{[]string{"Stable "}, []string{"consumer", "share"}, "", "groupId"},
			{nil, []string{" classic"}, "", "deadGroupId groupId"},
		} {
			q := kmsg.NewPtrListGroupsRequest()
			q.Version, q.StatesFilter, q.TypesFilter = version, c.states, c.types
			resp := onTheWire(t, answer[*kmsg.ListGroupsResponse](b, b.send("admin", q)))
			want := c.want
			if version < 5 {
				want = c.four
			}
			if version < 4 {
				want = "deadGroupId groupId"
			}
			var got []string
			for _, g := range resp.Groups {
				got = append(got, g.Group)
				if (g.GroupState != "") != (version >= 4) || (g.GroupType == "classic") != (version >= 5) || (g.ProtocolType == "consumer") != (g.Group == groupID) {
					t.Fatalf("v%d: %+v", version, g)
				}
			}
			if strings.Join(got, " ") != want || resp.ErrorCode != 0 {
				t.Fatalf("v%d, states %q, types %q: %q, want %q", version, c.states, c.types, got, want)
			}
		}
		loading(b)
		if resp := b.list(version); resp.ErrorCode != 14 || len(resp.Groups) != 0 {
			t.Fatalf("v%d: a list that is not whole: %+v", version, resp)
		}
	}
}

// KIP-699: from version 4 on there is an answer for each key, with its own error.
func TestFindCoordinatorOfEveryVersion(t *testing.T) {
	b := newBench(t)
	b.c.MetadataChanged(b.now, Metadata{Brokers: []BrokerInfo{{1, "one", 9092}}, OffsetsLeaders: []int32{1, 2}})
	for version := int16(0); version <= 6; version++ {
		for key, want := range map[string]int16{groupID: 0, otherGroup: 15, "": 0} {
			q := kmsg.NewPtrFindCoordinatorRequest()
			if q.Version = version; version >= 4 {
				q.CoordinatorKeys = []string{key}
			} else {
				q.CoordinatorKey = key
			}
			resp := onTheWire(t, answer[*kmsg.FindCoordinatorResponse](b, b.send("m", q)))
			got := kmsg.FindCoordinatorResponseCoordinator{Key: key, NodeID: resp.NodeID, Host: resp.Host, Port: resp.Port, ErrorCode: resp.ErrorCode,
				ErrorMessage: resp.ErrorMessage}
			if version >= 4 {
				if len(resp.Coordinators) != 1 {
					t.Fatalf("v%d: %+v", version, resp)
				}
				got = resp.Coordinators[0]
			}
			node, host, port := int32(1), "one", int32(9092)
			if want != 0 {
				node, host, port = -1, "", -1
			}
			if got.ErrorCode != want || got.Key != key || got.NodeID != node || got.Host != host || got.Port != port {
				t.Fatalf("v%d %q: %+v", version, key, got)
			}
			message := "NONE"
			if want != 0 {
				message = "__consumer_offsets-1 has no leader that is alive"
			} else if version >= 4 {
				message = ""
			}
			if version >= 1 && (got.ErrorMessage == nil || *got.ErrorMessage != message) {
				t.Fatalf("v%d %q says %s", version, key, text(got.ErrorMessage))
			}
		}
		for keyType := int8(2); keyType < 4; keyType++ {
			if version == 0 {
				continue // it knows no types
			}
			q := kmsg.NewPtrFindCoordinatorRequest()
			q.Version, q.CoordinatorType, q.CoordinatorKey, q.CoordinatorKeys = version, keyType, groupID, []string{groupID, "x"}
			resp := answer[*kmsg.FindCoordinatorResponse](b, b.send("m", q))
			if version < 4 && resp.ErrorCode != 42 || version >= 4 && (resp.Coordinators[0].ErrorCode != 42 || resp.Coordinators[1].ErrorCode != 42) {
				t.Fatalf("v%d, type %d: %+v", version, keyType, resp)
			}
		}
	}
}

// KIP-800: a reason is told with what it leads to, cut to the 255 characters that clients keep to.
func TestReasonsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 300)
	cut := strings.Repeat("é", 255)
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.join("m", joinWith{version: 9, id: m, reason: &long})
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Version, q.Group, q.Members = 5, groupID, []kmsg.LeaveGroupRequestMember{{MemberID: m, Reason: &long}}
	b.send("m", q)
	asked, removed, began := eventsOf[event.RequestReceived](b), eventsOf[event.MemberRemoved](b), eventsOf[event.RebalanceStarted](b)
	if asked[len(asked)-1].Reason != cut || asked[len(asked)-2].Reason != cut || removed[0].ClientReason != cut ||
		began[1].ClientReason != cut || began[2].ClientReason != cut {
		t.Fatalf("%+v %+v %+v", asked, removed, began)
	}
	for _, short := range []*string{nil, ptr(""), ptr("bye"), &cut} {
		if got := reasonOf(short); short != nil && got != *short || short == nil && got != "" {
			t.Fatalf("%q", got)
		}
	}
}
