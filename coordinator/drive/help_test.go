package drive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

const group = "orders-svc"

// world is a drive and its network in a test: messages between brokers take latencyMs.
type world struct {
	t         testing.TB
	d         *Drive
	nowMs     int64
	latencyMs int64
	wire      []flying
	events    []event.Event
	replies   map[int64]BrokerReply
	produced  map[int64]cluster.Appended
	lastMs    int64 // the drive's deadline
	ticket    int64
}

type flying struct {
	atMs int64
	m    cluster.Message
}

func memberID(clientID string, broker int32, issued int64) string {
	return fmt.Sprintf("%s-%d-%d", clientID, broker, issued)
}

func newWorld(t testing.TB, cfg Config) *world {
	if cfg.MemberID == nil {
		cfg.MemberID = memberID
	}
	if cfg.Settings == (coordinator.Settings{}) {
		cfg.Settings = coordinator.DefaultSettings()
	}
	w := &world{t: t, d: New(1000, cfg), nowMs: 1000, latencyMs: 2, replies: map[int64]BrokerReply{}, produced: map[int64]cluster.Appended{}}
	w.take()
	return w
}

func (w *world) take() {
	out := w.d.Take()
	for _, e := range out.Events {
		if n := len(w.events); n > 0 && (e.Seq != w.events[n-1].Seq+1 || e.AtMs < w.events[n-1].AtMs) {
			w.t.Fatalf("event %d at %d ms follows on event %d at %d ms", e.Seq, e.AtMs, w.events[n-1].Seq, w.events[n-1].AtMs)
		}
		w.events = append(w.events, e)
	}
	for _, r := range out.Replies {
		if old, twice := w.replies[r.Ticket]; twice {
			w.t.Fatalf("request %d is answered twice: %+v, %+v", r.Ticket, old, r)
		}
		w.replies[r.Ticket] = r
	}
	for _, a := range out.Produced {
		w.produced[a.Ticket] = a
	}
	for _, m := range out.Messages {
		w.wire = append(w.wire, flying{w.nowMs + w.latencyMs, m})
	}
	w.lastMs = out.DeadlineMs
}

func (w *world) nextMs() int64 {
	next := w.lastMs
	for _, f := range w.wire {
		if next < 0 || f.atMs < next {
			next = f.atMs
		}
	}
	return next
}

// run lets ms milliseconds pass.
func (w *world) run(ms int64) {
	until := w.nowMs + ms
	for next := w.nextMs(); next >= 0 && next <= until; next = w.nextMs() {
		w.nowMs = max(w.nowMs, next)
		if w.lastMs >= 0 && w.lastMs <= w.nowMs {
			w.d.Advance(w.nowMs)
			w.take()
			if w.lastMs >= 0 && w.lastMs <= w.nowMs {
				w.t.Fatalf("at %d ms the drive still has something due at %d ms", w.nowMs, w.lastMs)
			}
			continue
		}
		for i, f := range w.wire {
			if f.atMs <= w.nowMs {
				w.wire = append(w.wire[:i:i], w.wire[i+1:]...)
				w.d.Deliver(w.nowMs, f.m)
				w.take()
				break
			}
		}
	}
	w.nowMs = until
}

// send gives a request to a broker and returns its ticket.
func (w *world) send(broker int32, clientID string, q kmsg.Request) int64 {
	w.ticket++
	w.d.Handle(w.nowMs, broker, coordinator.Request{Ticket: w.ticket, ClientID: clientID, ClientHost: "/10.0.0.1", Kmsg: q})
	w.take()
	return w.ticket
}

// ask sends a request and waits for its answer.
func ask[R kmsg.Response](w *world, broker int32, clientID string, q kmsg.Request) R {
	w.t.Helper()
	return answer[R](w, w.send(broker, clientID, q))
}

func answer[R kmsg.Response](w *world, ticket int64) R {
	w.t.Helper()
	for waited := 0; waited < 60000; waited++ {
		if r, ok := w.replies[ticket]; ok {
			return r.Kmsg.(R)
		}
		w.run(1)
	}
	w.t.Fatalf("request %d is not answered at %d ms", ticket, w.nowMs)
	panic("unreachable")
}

// coordinator finds the group's coordinator as clients do, trying again while it is told to.
func (w *world) coordinator() int32 {
	w.t.Helper()
	for range 600 {
		q := kmsg.NewPtrFindCoordinatorRequest()
		q.Version, q.CoordinatorKey = 3, group
		for broker := int32(1); broker <= w.d.Cluster().Brokers(); broker++ {
			if !w.d.Cluster().Running(broker) {
				continue
			}
			if r := ask[*kmsg.FindCoordinatorResponse](w, broker, "finder", q); r.ErrorCode == 0 && w.d.Cluster().Running(r.NodeID) {
				return r.NodeID
			}
			break
		}
		w.run(100)
	}
	w.t.Fatalf("no coordinator at %d ms", w.nowMs)
	panic("unreachable")
}

func joinRequest(member string) *kmsg.JoinGroupRequest {
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version, q.Group, q.MemberID, q.ProtocolType = 5, group, member, "consumer"
	q.SessionTimeoutMillis, q.RebalanceTimeoutMillis = 45000, 60000
	q.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: record.Subscription(record.Sub{Topics: []string{"orders"}})}}
	return q
}

// member is a member of the group, joined and synced.
type member struct {
	id         string
	generation int32
}

// join brings one client into a group that nobody else is in.
func (w *world) join(broker int32, clientID string) member {
	w.t.Helper()
	first := ask[*kmsg.JoinGroupResponse](w, broker, clientID, joinRequest(""))
	if first.ErrorCode != 79 {
		w.t.Fatalf("first JoinGroup: code %d, want 79 MEMBER_ID_REQUIRED", first.ErrorCode)
	}
	joined := ask[*kmsg.JoinGroupResponse](w, broker, clientID, joinRequest(first.MemberID))
	if joined.ErrorCode != 0 {
		w.t.Fatalf("second JoinGroup: code %d", joined.ErrorCode)
	}
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 3, group, joined.MemberID, joined.Generation
	q.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID,
		MemberAssignment: record.EncodeAssignment([]record.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1}}})}}
	if r := ask[*kmsg.SyncGroupResponse](w, broker, clientID, q); r.ErrorCode != 0 {
		w.t.Fatalf("SyncGroup: code %d", r.ErrorCode)
	}
	return member{joined.MemberID, joined.Generation}
}

func commitRequest(m member, offset int64) *kmsg.OffsetCommitRequest {
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 7, group, m.id, m.generation
	q.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: offset, LeaderEpoch: -1}}}}
	return q
}

func (w *world) commit(broker int32, m member, offset int64) int16 {
	w.t.Helper()
	return ask[*kmsg.OffsetCommitResponse](w, broker, "c1", commitRequest(m, offset)).Topics[0].Partitions[0].ErrorCode
}

func (w *world) committed(broker int32) int64 {
	w.t.Helper()
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version, q.Group = 5, group
	q.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
	r := ask[*kmsg.OffsetFetchResponse](w, broker, "c1", q)
	if r.ErrorCode != 0 {
		w.t.Fatalf("OffsetFetch: code %d", r.ErrorCode)
	}
	return r.Topics[0].Partitions[0].Offset
}

func heartbeatRequest(m member) *kmsg.HeartbeatRequest {
	q := kmsg.NewPtrHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 3, group, m.id, m.generation
	return q
}

func (w *world) heartbeat(broker int32, m member) int16 {
	w.t.Helper()
	return ask[*kmsg.HeartbeatResponse](w, broker, "c1", heartbeatRequest(m)).ErrorCode
}

func (w *world) topic() {
	w.t.Helper()
	if code, message := w.d.CreateTopic(w.nowMs, "orders", 2, -1, nil); code != 0 {
		w.t.Fatalf("CreateTopic: %d %s", code, message)
	}
	w.take()
}

// text prints the events of some kinds.
func (w *world) text(kinds ...string) string {
	var b strings.Builder
	for _, e := range w.events {
		for _, k := range kinds {
			if e.Body.Kind() == k {
				b.WriteString(e.String() + "\n")
			}
		}
	}
	return b.String()
}

func (w *world) count(kind string) int { return strings.Count(w.text(kind), "\n") }
