package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
	"grouplab/coordinator/record"
)

// The names of cases.md: the home partition of these groups is owned, otherGroup lives on a partition that is not.
const (
	groupID    = "groupId"
	otherGroup = "otherGroup"
)

// bench is a virtual clock around one machine. Appends succeed at once unless they are held.
type bench struct {
	t       testing.TB
	c       *Coordinator
	now     int64
	tickets Ticket
	replies map[Ticket]kmsg.Response
	events  []event.Event
	held    []Append
	hold    bool
	written []Append
	failing int16            // the code that appends get
	offset  int64            // of the next batch
	asked   map[Ticket]int16 // the versions of the requests
}

func caseSettings() Settings {
	s := DefaultSettings()
	s.GroupMinSessionTimeoutMs, s.GroupMaxSessionTimeoutMs, s.GroupInitialRebalanceDelayMs = 10, 600000, 50
	return s
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, now: 1000, replies: map[Ticket]kmsg.Response{}, asked: map[Ticket]int16{}}
	b.c = New(b.now, Config{Broker: 1, Numbers: &event.Numbers{}, Settings: caseSettings(),
		MemberID: func(clientID string, _ int32, issued int64) string { return fmt.Sprintf("%s-%d", clientID, issued) }})
	b.c.MetadataChanged(b.now, Metadata{Brokers: []BrokerInfo{{1, "localhost", 9092}, {2, "localhost", 9093}},
		Topics:         map[string]int32{"topic": 10, "foo": 10, "bar": 10, "xxx": 10, "other-topic": 10},
		OffsetsLeaders: []int32{1, 2}})
	b.load(0, 0)
	b.take()
	return b
}

// load makes the machine own a partition of __consumer_offsets whose log holds the batches.
func (b *bench) load(partition, epoch int32, batches ...LoadedBatch) {
	b.t.Helper()
	end := int64(0)
	for _, batch := range batches {
		end = max(end, batch.NextOffset)
	}
	b.c.Immigrate(b.now, partition, epoch, end)
	for _, batch := range batches {
		b.c.Load(b.now, partition, epoch, batch)
	}
	b.c.Loaded(b.now, partition, epoch, "")
	b.take()
}

// take moves what came out: events are kept, replies sorted by ticket, appends answered or held.
func (b *bench) take() {
	for {
		out := b.c.Take()
		b.events = append(b.events, out.Events...)
		for _, r := range out.Replies {
			if b.replies[r.Ticket] != nil {
				b.t.Fatalf("ticket %d was answered twice", r.Ticket)
			}
			if r.Cause == 0 {
				b.t.Fatalf("the reply to ticket %d names no event", r.Ticket)
			}
			if version, known := b.asked[r.Ticket]; known && version != r.Kmsg.GetVersion() {
				b.t.Fatalf("a request of version %d is answered with %T of version %d", version, r.Kmsg, r.Kmsg.GetVersion())
			}
			b.replies[r.Ticket] = r.Kmsg
			checkEncodes(b.t, r.Kmsg)
		}
		if len(out.Appends) == 0 {
			return
		}
		appends := append([]Append(nil), out.Appends...)
		for i := range appends {
			appends[i].Records = kept(appends[i].Records)
		}
		for _, a := range appends {
			if b.hold {
				b.held = append(b.held, a)
			} else {
				b.acknowledge(a, b.failing)
			}
		}
	}
}

// kept are records that outlive the output that they came in.
func kept(records []record.Record) []record.Record {
	records = slices.Clone(records)
	for i := range records {
		records[i].Key, records[i].Value = slices.Clone(records[i].Key), slices.Clone(records[i].Value)
	}
	return records
}

// checkEncodes proves that a response survives its own encoding.
func checkEncodes(t testing.TB, resp kmsg.Response) {
	again := kmsg.ResponseForKey(resp.Key())
	again.SetVersion(resp.GetVersion())
	if err := again.ReadFrom(resp.AppendTo(nil)); err != nil {
		t.Fatalf("%T of version %d does not decode: %v", resp, resp.GetVersion(), err)
	}
}

func (b *bench) acknowledge(a Append, code int16) {
	b.written = append(b.written, a)
	offset := int64(-1)
	if code == 0 {
		offset = b.offset
		b.offset += int64(len(a.Records))
	}
	b.c.Appended(b.now, a.Ticket, offset, code)
}

// release answers the held appends with a code.
func (b *bench) release(code int16) {
	held := b.held
	b.held = nil
	for _, a := range held {
		b.acknowledge(a, code)
		b.take()
	}
}

// advance moves the clock, stopping wherever the machine asks for it.
func (b *bench) advance(ms int64) {
	b.t.Helper()
	end := b.now + ms
	for {
		b.take()
		next := b.c.Take().DeadlineMs
		if next < 0 || next > end {
			break
		}
		if next < b.now {
			b.t.Fatalf("the deadline %d is before now, %d", next, b.now)
		}
		b.now = next
		b.c.Advance(b.now)
	}
	b.now = end
	b.c.Advance(b.now)
	b.take()
}

// send hands a request over and returns its ticket.
func (b *bench) send(clientID string, q kmsg.Request) Ticket {
	b.t.Helper()
	b.tickets++
	b.asked[b.tickets] = q.GetVersion()
	b.c.Handle(b.now, Request{Ticket: b.tickets, ClientID: clientID, ClientHost: "/127.0.0.1", Kmsg: q})
	b.take()
	return b.tickets
}

// answer returns the reply to a ticket, which must be there.
func answer[R kmsg.Response](b *bench, ticket Ticket) R {
	b.t.Helper()
	resp, ok := b.replies[ticket].(R)
	if !ok {
		b.t.Fatalf("ticket %d has no answer of this kind: %v", ticket, b.replies[ticket])
	}
	return resp
}

func (b *bench) unanswered(tickets ...Ticket) {
	b.t.Helper()
	for _, ticket := range tickets {
		if b.replies[ticket] != nil {
			b.t.Fatalf("ticket %d is answered already: %+v", ticket, b.replies[ticket])
		}
	}
}

// joinWith describes a JoinGroup; zero fields get the defaults of cases.md.
type joinWith struct {
	version            int16
	group, id          string
	instance           *string
	session, rebalance int32
	kind               *string
	protocols          []kmsg.JoinGroupRequestProtocol
	reason             *string
}

func protocolList(names ...string) []kmsg.JoinGroupRequestProtocol {
	list := make([]kmsg.JoinGroupRequestProtocol, 0, len(names))
	for _, n := range names {
		list = append(list, kmsg.JoinGroupRequestProtocol{Name: n})
	}
	return list
}

func subscribed(protocol string, topics ...string) []kmsg.JoinGroupRequestProtocol {
	return []kmsg.JoinGroupRequestProtocol{{Name: protocol, Metadata: record.Subscription(record.Sub{Topics: topics})}}
}

func (b *bench) join(clientID string, w joinWith) Ticket {
	b.t.Helper()
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Reason = w.version, w.group, w.id, w.instance, w.reason
	if q.Group == "" {
		q.Group = groupID
	}
	q.SessionTimeoutMillis, q.RebalanceTimeoutMillis, q.ProtocolType = w.session, w.rebalance, "consumer"
	if q.SessionTimeoutMillis == 0 {
		q.SessionTimeoutMillis = 500
	}
	if q.RebalanceTimeoutMillis == 0 {
		q.RebalanceTimeoutMillis = 500
	}
	if w.kind != nil {
		q.ProtocolType = *w.kind
	}
	if q.Protocols = w.protocols; q.Protocols == nil {
		q.Protocols = protocolList("range")
	}
	return b.send(clientID, q)
}

func (b *bench) joined(ticket Ticket) *kmsg.JoinGroupResponse {
	b.t.Helper()
	return answer[*kmsg.JoinGroupResponse](b, ticket)
}

// direct joins without an id, as version 3 and older did.
func (b *bench) direct(clientID string, w joinWith) Ticket {
	b.t.Helper()
	w.version = 3
	return b.join(clientID, w)
}

// issued takes the first step of KIP-394 and returns the id.
func (b *bench) issued(clientID string, w joinWith) string {
	b.t.Helper()
	w.version = 9
	resp := b.joined(b.join(clientID, w))
	wantCode(b.t, "first step", resp.ErrorCode, codeMemberIDRequired)
	if resp.MemberID == "" || resp.Generation != -1 {
		b.t.Fatalf("first step: id %q, generation %d", resp.MemberID, resp.Generation)
	}
	return resp.MemberID
}

// twoStep takes both steps of KIP-394.
func (b *bench) twoStep(clientID string, w joinWith) (id string, ticket Ticket) {
	b.t.Helper()
	w.id = b.issued(clientID, w)
	w.version = 9
	return w.id, b.join(clientID, w)
}

// one is the group ONE of cases.md: one member, generation 1, CompletingRebalance.
func (b *bench) one(w joinWith) string {
	b.t.Helper()
	id, ticket := b.twoStep("m", w)
	b.advance(51)
	resp := b.joined(ticket)
	if resp.ErrorCode != 0 || resp.Generation != 1 || resp.LeaderID != id || len(resp.Members) != 1 {
		b.t.Fatalf("ONE: %+v", resp)
	}
	b.inState(event.CompletingRebalance)
	return id
}

// oneStable is ONE-STABLE.
func (b *bench) oneStable(w joinWith) string {
	b.t.Helper()
	id := b.one(w)
	wantCode(b.t, "leader sync", b.synced(b.sync(id, 1, map[string]string{id: "0"})).ErrorCode, 0)
	b.inState(event.Stable)
	return id
}

func (b *bench) sync(id string, generation int32, assignment map[string]string) Ticket {
	b.t.Helper()
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 4, groupID, id, generation
	for member, data := range assignment {
		q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: member,
			MemberAssignment: []byte(data)})
	}
	return b.send("m", q)
}

func (b *bench) synced(ticket Ticket) *kmsg.SyncGroupResponse {
	b.t.Helper()
	return answer[*kmsg.SyncGroupResponse](b, ticket)
}

func (b *bench) heartbeat(id string, generation int32) int16 {
	b.t.Helper()
	return b.heartbeatOf(groupID, id, generation)
}

func (b *bench) heartbeatOf(group, id string, generation int32) int16 {
	b.t.Helper()
	q := kmsg.NewPtrHeartbeatRequest()
	q.Version, q.Group, q.MemberID, q.Generation = 4, group, id, generation
	return answer[*kmsg.HeartbeatResponse](b, b.send("m", q)).ErrorCode
}

func (b *bench) leave(group string, version int16, ids ...string) *kmsg.LeaveGroupResponse {
	b.t.Helper()
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Version, q.Group = version, group
	if version < 3 {
		q.MemberID = ids[0]
	} else {
		for _, id := range ids {
			q.Members = append(q.Members, kmsg.LeaveGroupRequestMember{MemberID: id})
		}
	}
	return answer[*kmsg.LeaveGroupResponse](b, b.send("m", q))
}

// commitWith describes an OffsetCommit of partitions of one topic.
type commitWith struct {
	version    int16
	group, id  *string
	generation int32
	instance   *string
	topic      string
	offsets    map[int32]int64
	metadata   *string
	epoch      int32
	retention  int64
}

func (b *bench) commit(w commitWith) Ticket {
	b.t.Helper()
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.Generation, q.InstanceID = w.version, groupID, w.generation, w.instance
	q.RetentionTimeMillis = -1
	if w.retention != 0 {
		q.RetentionTimeMillis = w.retention
	}
	if w.version == 0 {
		q.Version = 8
	}
	if w.group != nil {
		q.Group = *w.group
	}
	if w.id != nil {
		q.MemberID = *w.id
	}
	t := kmsg.NewOffsetCommitRequestTopic()
	if t.Topic = w.topic; t.Topic == "" {
		t.Topic = "topic"
	}
	for partition := int32(0); partition < 20; partition++ {
		if offset, ok := w.offsets[partition]; ok {
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.Metadata, p.LeaderEpoch = partition, offset, w.metadata, w.epoch
			t.Partitions = append(t.Partitions, p)
		}
	}
	q.Topics = append(q.Topics, t)
	return b.send("m", q)
}

// committed returns the code of the first partition.
func (b *bench) committed(ticket Ticket) int16 {
	b.t.Helper()
	return answer[*kmsg.OffsetCommitResponse](b, ticket).Topics[0].Partitions[0].ErrorCode
}

// fetch returns one partition's offset and code.
func (b *bench) fetch(group, topic string, partition int32, stable bool) (offset int64, code int16) {
	b.t.Helper()
	g := b.fetchGroup(group, stable, topic, partition)
	if g.ErrorCode != 0 {
		return -1, g.ErrorCode
	}
	p := g.Topics[0].Partitions[0]
	return p.Offset, p.ErrorCode
}

func (b *bench) fetchGroup(group string, stable bool, topic string, partitions ...int32) kmsg.OffsetFetchResponseGroup {
	b.t.Helper()
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version, q.RequireStable = 8, stable
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	if topic != "" {
		g.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, Partitions: partitions}}
	}
	q.Groups = append(q.Groups, g)
	return answer[*kmsg.OffsetFetchResponse](b, b.send("m", q)).Groups[0]
}

func (b *bench) describe(group string, version int16) kmsg.DescribeGroupsResponseGroup {
	b.t.Helper()
	q := kmsg.NewPtrDescribeGroupsRequest()
	q.Version, q.Groups = version, []string{group}
	return answer[*kmsg.DescribeGroupsResponse](b, b.send("admin", q)).Groups[0]
}

func (b *bench) list(version int16, states ...string) *kmsg.ListGroupsResponse {
	b.t.Helper()
	q := kmsg.NewPtrListGroupsRequest()
	q.Version, q.StatesFilter = version, states
	return answer[*kmsg.ListGroupsResponse](b, b.send("admin", q))
}

func (b *bench) inState(state event.State) {
	b.t.Helper()
	if g := b.c.groups[groupID]; g == nil || g.state != state {
		b.t.Fatalf("the group is not %s: %+v", state, g)
	}
}

func (b *bench) members(want int) {
	b.t.Helper()
	g := b.c.groups[groupID]
	if g == nil && want == 0 {
		return // the clean-up job has been there
	}
	if n := len(g.members); n != want {
		b.t.Fatalf("%d members, want %d", n, want)
	}
}

func wantCode(t testing.TB, what string, got, want int16) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %d %s, want %d %s", what, got, event.CodeName(got), want, event.CodeName(want))
	}
}

func ptr[T any](v T) *T { return &v }

// eventsOf lists the bodies of one kind.
func eventsOf[B event.Body](b *bench) (list []B) {
	for _, e := range b.events {
		if body, ok := e.Body.(B); ok {
			list = append(list, body)
		}
	}
	return list
}

func (b *bench) joinEmptyGroup() Ticket {
	b.t.Helper()
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version, q.SessionTimeoutMillis, q.ProtocolType, q.Protocols = 9, 500, "consumer", protocolList("range")
	return b.send("c", q)
}

// leaver is one entry of a LeaveGroup.
type leaver struct {
	id       string
	instance *string
}

func (b *bench) leaveEntries(group string, leavers ...leaver) *kmsg.LeaveGroupResponse {
	b.t.Helper()
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Version, q.Group = 5, group
	for _, l := range leavers {
		q.Members = append(q.Members, kmsg.LeaveGroupRequestMember{MemberID: l.id, InstanceID: l.instance})
	}
	return answer[*kmsg.LeaveGroupResponse](b, b.send("m", q))
}

// waiting counts the timers without that of the clean-up job.
func waiting(c *Coordinator) int {
	if c.cleanup != purgatory.None {
		return c.wheel.Size() - 1
	}
	return c.wheel.Size()
}
