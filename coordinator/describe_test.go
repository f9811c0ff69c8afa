package coordinator

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

func TestDESC01_UnknownAndForeign(t *testing.T) {
	b := newBench(t)
	d := b.describe(groupID, 5)
	if d.ErrorCode != 0 || d.State != "Dead" || d.ProtocolType != "" || len(d.Members) != 0 || d.ErrorMessage != nil {
		t.Fatalf("%+v", d)
	}
	d = b.describe(groupID, 6)
	if d.ErrorCode != 69 || d.State != "Dead" || *d.ErrorMessage != "Group groupId not found." {
		t.Fatalf("%+v", d)
	}
	if d = b.describe(otherGroup, 5); d.ErrorCode != 16 || d.State != "" {
		t.Fatalf("%+v", d)
	}
}

func TestDESC02_StableAndRebalancing(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{protocols: subscribed("range", "topic")})
	d := b.describe(groupID, 5)
	if d.State != "CompletingRebalance" || d.ProtocolType != "consumer" || d.Protocol != "" || len(d.Members) != 1 ||
		d.Members[0].MemberID != m || len(d.Members[0].ProtocolMetadata) != 0 || len(d.Members[0].MemberAssignment) != 0 ||
		d.Members[0].ClientID != "m" || d.Members[0].ClientHost != "/127.0.0.1" {
		t.Fatalf("%+v", d)
	}
	b.sync(m, 1, map[string]string{m: "0"})
	d = b.describe(groupID, 5)
	if d.State != "Stable" || d.Protocol != "range" || string(d.Members[0].MemberAssignment) != "0" ||
		len(d.Members[0].ProtocolMetadata) == 0 {
		t.Fatalf("%+v", d)
	}
	b.join("n", joinWith{version: 3}) // what was assigned is still told while the group rebalances
	if d = b.describe(groupID, 5); d.State != "PreparingRebalance" || d.Protocol != "" || len(d.Members[0].ProtocolMetadata) != 0 ||
		string(d.Members[0].MemberAssignment) != "0" || len(d.Members[1].MemberAssignment) != 0 {
		t.Fatalf("%+v", d)
	}
}

func TestLIST01_StateFilter(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	check := func(now string, others ...string) {
		t.Helper()
		if resp := b.list(4, now); len(resp.Groups) != 1 || resp.Groups[0].Group != groupID {
			t.Fatalf("%s: %+v", now, resp)
		}
		if resp := b.list(4, others...); len(resp.Groups) != 0 {
			t.Fatalf("%v: %+v", others, resp)
		}
	}
	check("completingREBALANCE", "Stable", "Empty", "Dead", "PreparingRebalance")
	b.sync(m, 1, nil)
	check("Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "nonsense")
	b.leave(groupID, 5, m)
	check("empty", "Stable", "Dead", "PreparingRebalance", "CompletingRebalance")
	if resp := b.list(3, "Stable"); len(resp.Groups) != 1 {
		t.Fatalf("version 3 has no filter: %+v", resp)
	}
}

func TestListTypesAndOrder(t *testing.T) {
	b := newBench(t)
	b.load(1, 0)
	for _, id := range []string{"zebra", "ant", groupID, otherGroup} {
		w := simple(1)
		w.group = ptr(id)
		b.commit(w)
	}
	q := kmsg.NewPtrListGroupsRequest()
	for filter, want := range map[string]int{"Classic": 4, "consumer": 0, "nonsense": 0} {
		q.Version, q.TypesFilter = 5, []string{filter}
		resp := answer[*kmsg.ListGroupsResponse](b, b.send("admin", q))
		if len(resp.Groups) != want {
			t.Fatalf("%s: %+v", filter, resp)
		}
		for i := 1; i < len(resp.Groups); i++ {
			if resp.Groups[i-1].Group >= resp.Groups[i].Group {
				t.Fatalf("%+v", resp.Groups)
			}
		}
	}
}

func TestFC02_TopicNotThereYet(t *testing.T) {
	n := &event.Numbers{}
	c := New(0, Config{Broker: 1, Numbers: n, Settings: caseSettings(), MemberID: func(string, int32, int64) string { return "x" }})
	find := func(version int16, keyType int8, keys ...string) (*kmsg.FindCoordinatorResponse, Output) {
		q := kmsg.NewPtrFindCoordinatorRequest()
		q.Version, q.CoordinatorType, q.CoordinatorKeys = version, keyType, keys
		if version < 4 {
			q.CoordinatorKey = keys[0]
		}
		c.Handle(0, Request{Ticket: 1, Kmsg: q})
		out := c.Take()
		checkEncodes(t, out.Replies[0].Kmsg)
		return out.Replies[0].Kmsg.(*kmsg.FindCoordinatorResponse), out
	}
	for version := int16(0); version <= 3; version++ {
		resp, out := find(version, 0, groupID)
		if resp.ErrorCode != 15 || resp.NodeID != -1 || resp.Host != "" || resp.Port != -1 || !out.CreateOffsetsTopic {
			t.Fatalf("v%d: %+v", version, resp)
		}
	}
	c.MetadataChanged(0, Metadata{Brokers: []BrokerInfo{{1, "one", 9092}, {2, "two", 9093}}, OffsetsLeaders: []int32{2, -1}})
	resp, out := find(3, 0, groupID)
	if resp.ErrorCode != 0 || resp.NodeID != 2 || resp.Host != "two" || resp.Port != 9093 || out.CreateOffsetsTopic {
		t.Fatalf("%+v", resp)
	}
	if resp, _ = find(3, 0, otherGroup); resp.ErrorCode != 15 || resp.NodeID != -1 {
		t.Fatalf("no leader: %+v", resp)
	}
	resp, _ = find(6, 0, groupID, otherGroup, "")
	if len(resp.Coordinators) != 3 || resp.Coordinators[0].ErrorCode != 0 || resp.Coordinators[1].ErrorCode != 15 ||
		resp.Coordinators[2].NodeID != 2 || resp.Coordinators[2].Key != "" {
		t.Fatalf("%+v", resp)
	}
	if resp, _ = find(6, 2, "s"); resp.Coordinators[0].ErrorCode != 42 {
		t.Fatalf("a share group: %+v", resp)
	}
	resp, out = find(3, 1, "t")
	if resp.ErrorCode != 15 || resp.NodeID != -1 || !out.CreateTransactionTopic || out.CreateOffsetsTopic {
		t.Fatalf("a transaction: %+v", resp)
	}
	c.MetadataChanged(0, Metadata{Brokers: []BrokerInfo{{1, "one", 9092}}, TransactionLeaders: []int32{1}})
	if resp, out = find(3, 1, "t"); resp.ErrorCode != 0 || resp.NodeID != 1 || out.CreateTransactionTopic {
		t.Fatalf("a transaction: %+v", resp)
	}
	c.MetadataChanged(0, Metadata{Brokers: []BrokerInfo{{1, "one", 9092}}, OffsetsLeaders: []int32{2, -1}})
	if resp, _ = find(3, 0, groupID); resp.ErrorCode != 15 {
		t.Fatalf("the leader is not alive: %+v", resp)
	}
}
