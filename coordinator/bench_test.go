package coordinator

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// thousand is a machine with one Stable group of 1 000 members, whose output is thrown away.
func thousand(t testing.TB) (c *Coordinator, ids []string) {
	c = New(0, Config{Broker: 1, Numbers: &event.Numbers{}, Settings: DefaultSettings(),
		MemberID: func(clientID string, _ int32, issued int64) string { return fmt.Sprintf("%s-%d", clientID, issued) }})
	c.MetadataChanged(0, Metadata{Brokers: []BrokerInfo{{1, "localhost", 9092}}, Topics: map[string]int32{"orders": 10},
		OffsetsLeaders: []int32{1}})
	v := record.Group{ProtocolType: "consumer", Generation: 1, Protocol: ptr("range"), StateTimestampMs: 0}
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf("consumer-%d-01234567-89ab-cdef-0123-456789abcdef", i))
		v.Members = append(v.Members, record.Member{MemberID: ids[i], SessionTimeoutMs: 45000, RebalanceTimeoutMs: 300000})
	}
	v.Leader = &ids[0]
	c.Immigrate(0, 0, 0, 1)
	c.Load(0, 0, 0, batchAt(0, record.Record{Key: record.GroupKey("orders-svc"), Value: record.GroupValue(v)}))
	c.Loaded(0, 0, 0, "")
	c.Take()
	if g := c.groups["orders-svc"]; g == nil || len(g.members) != 1000 {
		t.Fatal("no group")
	}
	return c, ids
}

// BenchmarkHeartbeat: a heartbeat of one of 1 000 members. The time moves by 1 ms each 2 000 heartbeats, so each member
// sends twice in a millisecond and one in 200 is told; at 3 s intervals each would be. Budget: 500 ns.
func BenchmarkHeartbeat(b *testing.B) {
	c, ids := thousand(b)
	requests := make([]*kmsg.HeartbeatRequest, len(ids))
	for i, id := range ids {
		requests[i] = &kmsg.HeartbeatRequest{Version: 4, Group: "orders-svc", MemberID: id, Generation: 1}
	}
	now := int64(1)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%2000 == 0 {
			now++
		}
		c.Handle(now, Request{Ticket: int64(i), ClientID: "c", Kmsg: requests[i%len(requests)]})
		if out := c.Take(); len(out.Replies) != 1 || out.Replies[0].Code != 0 {
			b.Fatalf("%+v", out)
		}
	}
}

// BenchmarkHeartbeatTold: the same where each heartbeat is told, with its two facts of the timer.
func BenchmarkHeartbeatTold(b *testing.B) {
	c, ids := thousand(b)
	requests := make([]*kmsg.HeartbeatRequest, len(ids))
	for i, id := range ids {
		requests[i] = &kmsg.HeartbeatRequest{Version: 4, Group: "orders-svc", MemberID: id, Generation: 1}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		c.Handle(int64(i), Request{Ticket: int64(i), ClientID: "c", Kmsg: requests[i%len(requests)]})
		c.Take()
	}
}

// BenchmarkCommit10: a commit of ten partitions by one of 1 000 members, from the request to the reply. Budget: 3.3 us.
func BenchmarkCommit10(b *testing.B) {
	c, ids := thousand(b)
	requests := make([]*kmsg.OffsetCommitRequest, len(ids))
	for i, id := range ids {
		q := &kmsg.OffsetCommitRequest{Version: 8, Group: "orders-svc", MemberID: id, Generation: 1}
		t := kmsg.OffsetCommitRequestTopic{Topic: "orders"}
		for p := range int32(10) {
			t.Partitions = append(t.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: p, Offset: int64(i), LeaderEpoch: -1})
		}
		q.Topics = append(q.Topics, t)
		requests[i] = q
	}
	now := int64(1)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if i%300 == 0 {
			now++
		}
		c.Handle(now, Request{Ticket: int64(i), ClientID: "c", Kmsg: requests[i%len(requests)]})
		out := c.Take()
		c.Appended(now, out.Appends[0].Ticket, int64(i)*10, 0)
		if out = c.Take(); len(out.Replies) != 1 || out.Replies[0].Code != 0 {
			b.Fatalf("%+v", out)
		}
	}
}

// BenchmarkRebalance: the leader of 1 000 members joins again, then all others do; the leader assigns, all sync, and the
// record is written. 2 000 requests from the first to the last reply. Budget: 20 ms.
func BenchmarkRebalance(b *testing.B) {
	c, ids := thousand(b)
	bytes := subscriptionOf("orders")
	joins, syncs := make([]*kmsg.JoinGroupRequest, len(ids)), make([]*kmsg.SyncGroupRequest, len(ids))
	for i, id := range ids {
		joins[i] = kmsg.NewPtrJoinGroupRequest()
		joins[i].Version, joins[i].Group, joins[i].MemberID, joins[i].ProtocolType = 9, "orders-svc", id, "consumer"
		joins[i].SessionTimeoutMillis, joins[i].RebalanceTimeoutMillis = 45000, 300000
		joins[i].Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: bytes}}
		syncs[i] = kmsg.NewPtrSyncGroupRequest()
		syncs[i].Version, syncs[i].Group, syncs[i].MemberID = 5, "orders-svc", id
		syncs[i].ProtocolType, syncs[i].Protocol = ptr("consumer"), ptr("range")
	}
	for i, id := range ids {
		a := kmsg.ConsumerMemberAssignment{Version: 1, Topics: []kmsg.ConsumerMemberAssignmentTopic{{Topic: "orders", Partitions: []int32{int32(i)}}}}
		syncs[0].GroupAssignment = append(syncs[0].GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: id, MemberAssignment: a.AppendTo(nil)})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		now, answered := int64(i)*1000, 0
		for j := range joins {
			c.Handle(now, Request{Ticket: int64(j), ClientID: "c", Kmsg: joins[j]})
			answered += len(c.Take().Replies)
		}
		for j := range syncs {
			syncs[j].Generation = int32(i) + 2
			c.Handle(now+1, Request{Ticket: int64(j), ClientID: "c", Kmsg: syncs[j]})
			out := c.Take()
			for _, a := range out.Appends {
				c.Appended(now+1, a.Ticket, int64(i), 0)
				out = c.Take()
			}
			answered += len(out.Replies)
		}
		if g := c.groups["orders-svc"]; answered != 2000 || g.state != event.Stable || g.generation != int32(i)+2 {
			b.Fatalf("%d answers, %s in generation %d", answered, g.state, g.generation)
		}
	}
}

// BenchmarkMemory is what lives on the heap for each member and each stored offset, by the difference that 10 000 members
// in ten groups make, and 100 000 offsets in 1 000 groups, loaded or committed. Budgets: 2 000 and 64 bytes.
func BenchmarkMemory(b *testing.B) {
	per := func(b *testing.B, n int, unit string, fill func(*Coordinator)) {
		for range b.N {
			c := New(0, Config{Broker: 1, Numbers: &event.Numbers{}, Settings: DefaultSettings(),
				MemberID: func(clientID string, _ int32, issued int64) string {
					return fmt.Sprintf("%s-01234567-89ab-cdef-0123-%012d", clientID, issued)
				}})
			c.MetadataChanged(0, Metadata{Brokers: []BrokerInfo{{1, "localhost", 9092}}, Topics: map[string]int32{"orders": 1000}, OffsetsLeaders: []int32{1}})
			c.Immigrate(0, 0, 0, 1)
			before := liveHeap()
			fill(c)
			c.Advance(c.nowMs) // what was handed out is no longer the machine's
			b.ReportMetric(float64(liveHeap()-before)/float64(n), unit)
			runtime.KeepAlive(c)
		}
	}
	b.Run("members", func(b *testing.B) {
		per(b, 10_000, "B/member", func(c *Coordinator) {
			c.Loaded(0, 0, 0, "")
			c.Take()
			for i := range 10_000 {
				q := kmsg.NewPtrJoinGroupRequest()
				q.Version, q.Group, q.ProtocolType = 3, fmt.Sprintf("group-%d", i%10), "consumer"
				q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = 45000, 300000
				q.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscriptionOf("orders")}, {Name: "cooperative-sticky", Metadata: subscriptionOf("orders")}}
				c.Handle(0, Request{ClientID: fmt.Sprintf("consumer-%d", i), ClientHost: "/127.0.0.1", Kmsg: q})
				c.Take()
			}
			for _, ms := range []int64{3000, 6000, 9000} {
				c.Advance(ms)
				c.Take()
			}
			for i := range 10 {
				g := c.groups[fmt.Sprintf("group-%d", i)]
				for _, m := range g.members {
					q := &kmsg.SyncGroupRequest{Version: 3, Group: g.id, MemberID: m.id, Generation: g.generation}
					if m.id == g.leader {
						for _, o := range g.members {
							q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: o.id, MemberAssignment: make([]byte, 40)})
						}
					}
					c.Handle(9000, Request{Kmsg: q})
					for _, a := range c.Take().Appends {
						c.Appended(9000, a.Ticket, 0, 0)
						c.Take()
					}
				}
				if g.state != event.Stable || len(g.members) != 1000 {
					b.Fatalf("%d members, %s", len(g.members), g.state)
				}
			}
		})
	})
	b.Run("loaded", func(b *testing.B) {
		per(b, 100_000, "B/offset", func(c *Coordinator) {
			for i := range int64(1000) {
				var records []record.Record
				for p := range int32(100) {
					records = append(records, record.Record{Key: record.OffsetKey(fmt.Sprintf("group-%d", i), "orders", p),
						Value: record.OffsetValue(record.Offset{Offset: i, LeaderEpoch: -1, ExpireTimestampMs: -1})})
				}
				c.Load(0, 0, 0, batchAt(i*100, records...))
			}
			c.Loaded(0, 0, 0, "")
			c.Take()
		})
	})
	b.Run("committed", func(b *testing.B) {
		per(b, 100_000, "B/offset", func(c *Coordinator) {
			c.Loaded(0, 0, 0, "")
			c.Take()
			for i := range 1000 {
				q := &kmsg.OffsetCommitRequest{Version: 8, Group: fmt.Sprintf("group-%d", i), Generation: -1}
				t := kmsg.OffsetCommitRequestTopic{Topic: "orders"}
				for p := range int32(100) {
					t.Partitions = append(t.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: p, Offset: int64(i), LeaderEpoch: -1})
				}
				q.Topics = append(q.Topics, t)
				c.Handle(0, Request{Kmsg: q})
				c.Appended(0, c.Take().Appends[0].Ticket, int64(i), 0)
				c.Take()
			}
		})
	})
}

func subscriptionOf(topic string) []byte {
	m := kmsg.ConsumerMemberMetadata{Version: 1, Topics: []string{topic}}
	return m.AppendTo(nil)
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkLoad: a load of 100 000 offset records, 10 a batch, of 1 000 groups that committed ten times. Budget: 1 us.
func BenchmarkLoad(b *testing.B) {
	var batches []LoadedBatch
	for i := range int64(10000) {
		group := fmt.Sprintf("group-%d", i%1000)
		var records []record.Record
		for p := range int32(10) {
			records = append(records, record.Record{Key: record.OffsetKey(group, "orders", p),
				Value: record.OffsetValue(record.Offset{Offset: i, LeaderEpoch: -1, ExpireTimestampMs: -1})})
		}
		batches = append(batches, batchAt(i*10, records...))
	}
	c, _ := thousand(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		c.Emigrate(0, 0, int32(2*i+1))
		b.StartTimer()
		c.Immigrate(0, 0, int32(2*i+2), 100000)
		for _, batch := range batches {
			c.Load(0, 0, int32(2*i+2), batch)
		}
		c.Loaded(0, 0, int32(2*i+2), "")
		c.Take()
	}
	b.ReportMetric(float64(b.N)*100000/b.Elapsed().Seconds(), "records/s")
}
