package coordinator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// panics returns what f panics with, "" where it does not.
func panics(f func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestMistakesOfAHostPanicByName(t *testing.T) {
	b := newBench(t)
	for what, f := range map[string]func(){
		"from 1000 ms to 999 ms":            func() { b.c.Advance(999) },
		"*kmsg.MetadataRequest":             func() { b.c.Handle(1000, Request{Kmsg: kmsg.NewPtrMetadataRequest()}) },
		"<nil>":                             func() { b.c.Handle(1000, Request{}) },
		"Appended(77)":                      func() { b.c.Appended(1000, 77, 0, 0) },
		"Numbers and Config.MemberID":       func() { New(0, Config{Broker: 4}) },
		"time is in milliseconds from 0 on": func() { New(-1, b.c.cfg) },
	} {
		if said := panics(f); !strings.Contains(said, what) {
			t.Errorf("%q does not say %q", said, what)
		}
	}
}

// A late host: timers that are due run before anything else, in order of their deadlines.
func TestTimersRunBeforeARequest(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.now += 10000
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 25)
	b.inState(event.Empty)
}

func TestTakeGivesOnce(t *testing.T) {
	b := newBench(t)
	b.c.Handle(b.now, Request{Ticket: 1, Kmsg: &kmsg.ListGroupsRequest{}})
	b.c.Handle(b.now, Request{Ticket: 2, Kmsg: &kmsg.ListGroupsRequest{}})
	if out := b.c.Take(); len(out.Replies) != 2 || out.DeadlineMs != -1 {
		t.Fatalf("%+v", out)
	}
	if out := b.c.Take(); len(out.Replies) != 0 || len(out.Events) != 0 || len(out.Appends) != 0 {
		t.Fatalf("%+v", out)
	}
}

func TestMetadataIsCopied(t *testing.T) {
	b := newBench(t)
	m := Metadata{Topics: map[string]int32{"t": 1}, OffsetsLeaders: []int32{1, 2}}
	b.c.MetadataChanged(b.now, m)
	m.Topics["t"], m.OffsetsLeaders[0] = 0, -1
	w := simple(1)
	w.topic = "t"
	wantCode(t, "commit", b.committed(b.commit(w)), 0)
}

// More partitions of __consumer_offsets must not move the groups of a running broker away from their records.
func TestOffsetsPartitionsAreCountedOnce(t *testing.T) {
	b := newBench(t)
	b.commit(simple(5))
	b.c.MetadataChanged(b.now, Metadata{OffsetsLeaders: make([]int32, 7), Topics: map[string]int32{"topic": 1}})
	if offset, code := b.fetch(groupID, "topic", 0, false); offset != 5 || code != 0 {
		t.Fatal(offset, code)
	}
}

// absurd fills requests with whatever a broken or hostile client may send.
type absurd struct{ *rand.Rand }

func (a absurd) text() string {
	return []string{"", groupID, otherGroup, "m-1", "m-2", "\x00", "\xff\xfe", "<b>&", "😀", strings.Repeat("x", 40000),
		strings.Repeat("é", 20000)}[a.IntN(11)]
}

func (a absurd) pointer() *string {
	if a.IntN(2) == 0 {
		return nil
	}
	s := a.text()
	return &s
}

func (a absurd) number() int32 {
	return []int32{math.MinInt32, -1, 0, 1, 2, 10, 500, math.MaxInt32}[a.IntN(8)]
}

func (a absurd) bytes() []byte {
	return [][]byte{nil, {}, {0}, {0, 0, 0xff, 0xff, 0xff, 0xff}, {0, 1, 0x7f, 0xff, 0xff, 0xff}}[a.IntN(5)]
}

func (a absurd) request() kmsg.Request {
	switch a.IntN(12) {
	case 9:
		q := &kmsg.DeleteGroupsRequest{Version: int16(a.IntN(3)), Groups: []string{a.text(), a.text(), a.text()}[:a.IntN(4)]}
		return q
	case 10:
		q := &kmsg.OffsetDeleteRequest{Group: a.text()}
		for range a.IntN(3) {
			q.Topics = append(q.Topics, kmsg.OffsetDeleteRequestTopic{Topic: []string{"topic", "foo", a.text()}[a.IntN(3)],
				Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: a.number()}, {Partition: a.number()}}})
		}
		return q
	case 11:
		q := &kmsg.TxnOffsetCommitRequest{Version: int16(a.IntN(6)), TransactionalID: a.text(), Group: a.text(), ProducerID: int64(a.number()),
			ProducerEpoch: int16(a.number()), Generation: a.number(), MemberID: a.text(), InstanceID: a.pointer()}
		for range a.IntN(3) {
			t := kmsg.TxnOffsetCommitRequestTopic{Topic: []string{"topic", "foo", a.text()}[a.IntN(3)]}
			for range a.IntN(3) {
				t.Partitions = append(t.Partitions, kmsg.TxnOffsetCommitRequestTopicPartition{Partition: a.number(),
					Offset: int64(a.number()), LeaderEpoch: a.number(), Metadata: a.pointer()})
			}
			q.Topics = append(q.Topics, t)
		}
		return q
	case 0:
		q := &kmsg.JoinGroupRequest{Version: int16(a.IntN(10)), Group: a.text(), SessionTimeoutMillis: a.number(),
			RebalanceTimeoutMillis: a.number(), MemberID: a.text(), ProtocolType: []string{"consumer", "", "connect"}[a.IntN(3)],
			Reason: a.pointer()}
		if a.IntN(3) == 0 {
			q.InstanceID = a.pointer()
		}
		for range a.IntN(4) {
			q.Protocols = append(q.Protocols, kmsg.JoinGroupRequestProtocol{Name: a.text(), Metadata: a.bytes()})
		}
		return q
	case 1:
		q := &kmsg.SyncGroupRequest{Version: int16(a.IntN(6)), Group: a.text(), Generation: a.number(), MemberID: a.text(),
			ProtocolType: a.pointer(), Protocol: a.pointer()}
		for range a.IntN(3) {
			q.GroupAssignment = append(q.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: a.text(), MemberAssignment: a.bytes()})
		}
		return q
	case 2:
		return &kmsg.HeartbeatRequest{Version: int16(a.IntN(7)) - 1, Group: a.text(), MemberID: a.text(), InstanceID: a.pointer(), Generation: a.number()}
	case 3:
		q := &kmsg.LeaveGroupRequest{Version: int16(a.IntN(6)), Group: a.text(), MemberID: a.text()}
		for range a.IntN(3) {
			q.Members = append(q.Members, kmsg.LeaveGroupRequestMember{MemberID: a.text(), InstanceID: a.pointer(), Reason: a.pointer()})
		}
		return q
	case 4:
		return a.commit()
	case 5:
		q := &kmsg.OffsetFetchRequest{Version: int16(a.IntN(10)), Group: a.text(), RequireStable: a.IntN(2) == 0}
		for range a.IntN(3) {
			q.Topics = append(q.Topics, kmsg.OffsetFetchRequestTopic{Topic: a.text(), Partitions: []int32{a.number()}})
			q.Groups = append(q.Groups, kmsg.OffsetFetchRequestGroup{Group: a.text(), MemberID: a.pointer()})
		}
		return q
	case 6:
		return &kmsg.FindCoordinatorRequest{Version: int16(a.IntN(7)), CoordinatorKey: a.text(), CoordinatorType: int8(a.IntN(4)) - 1,
			CoordinatorKeys: []string{a.text(), a.text()}[:a.IntN(3)]}
	case 7:
		return &kmsg.DescribeGroupsRequest{Version: int16(a.IntN(7)), Groups: []string{a.text(), a.text()}[:a.IntN(3)]}
	}
	return &kmsg.ListGroupsRequest{Version: int16(a.IntN(6)), StatesFilter: []string{a.text()}, TypesFilter: []string{a.text()}}
}

func (a absurd) commit() kmsg.Request {
	q := &kmsg.OffsetCommitRequest{Version: int16(a.IntN(11)), Group: a.text(), Generation: a.number(), MemberID: a.text(),
		RetentionTimeMillis: []int64{-1, 0, math.MaxInt64, math.MinInt64}[a.IntN(4)]}
	for range a.IntN(3) {
		t := kmsg.OffsetCommitRequestTopic{Topic: []string{"topic", "foo", a.text()}[a.IntN(3)]}
		for range a.IntN(3) {
			t.Partitions = append(t.Partitions, kmsg.OffsetCommitRequestTopicPartition{Partition: a.number(),
				Offset: int64(a.number()), Timestamp: int64(a.number()), LeaderEpoch: a.number(), Metadata: a.pointer()})
		}
		q.Topics = append(q.Topics, t)
	}
	return q
}

// Nothing that a client sends panics the machine, and nothing is left without an answer but what is parked. What it
// writes can be loaded again.
func TestAbsurdRequests(t *testing.T) {
	for seed := range uint64(8) {
		b, a := newBench(t), absurd{rand.New(rand.NewPCG(seed, 3))}
		b.load(1, 0)
		for range 200 {
			q, ok := onWire(a.request())
			if !ok {
				continue // the connection is closed
			}
			ticket := b.send(a.text(), q)
			if b.replies[ticket] == nil && !b.isParked(ticket) {
				t.Fatalf("seed %d: ticket %d is neither answered nor parked", seed, ticket)
			}
			if a.IntN(5) == 0 {
				b.advance(int64(a.IntN(2000)))
			}
			if b.c.verifications[b.c.verifyTickets] != nil && a.IntN(2) == 0 {
				b.c.Verified(b.now, b.c.verifyTickets, 0)
				b.take()
			}
		}
		for _, e := range b.events {
			if s := e.String(); strings.ContainsAny(s, "\n\x00") {
				t.Fatalf("an event is no line: %q", s)
			}
		}
		b.c.Emigrate(b.now, 0, 1)
		b.c.Emigrate(b.now, 1, 1)
		for partition := range int32(2) {
			var log []LoadedBatch
			next := int64(0)
			for _, w := range b.written {
				if w.Partition == partition {
					batch := batchAt(next, w.Records...)
					batch.Transactional, batch.ProducerID = w.Transactional, w.ProducerID
					log = append(log, batch)
					next += int64(len(w.Records))
				}
			}
			b.load(partition, 2, log...)
		}
		for _, done := range eventsOf[event.LoadFinished](b) {
			if done.Failed != "" {
				t.Fatalf("seed %d: %s", seed, done.Failed)
			}
		}
	}
}

// onWire is what is left of a request that went over a connection.
func onWire(q kmsg.Request) (kmsg.Request, bool) {
	again := kmsg.RequestForKey(q.Key())
	again.SetVersion(q.GetVersion())
	return again, again.ReadFrom(q.AppendTo(nil)) == nil
}

func (b *bench) isParked(ticket Ticket) bool {
	for _, v := range b.c.verifications {
		if v.r.Ticket == ticket {
			return true
		}
	}
	for _, g := range b.c.groups {
		for _, m := range g.members {
			if m.join.waits && m.join.ticket == ticket || m.sync.waits && m.sync.ticket == ticket {
				return true
			}
		}
	}
	return false
}

// "Why?" walks from any fact of a rebalance to where it began: the last heartbeat of a member that fell silent.
func TestCausesLeadToTheGhost(t *testing.T) {
	b := newBench(t)
	ids := threeHeartbeating(b)
	b.sync(ids[0], 1, nil)
	b.sync(ids[1], 1, nil)
	b.sync(ids[2], 1, nil)
	b.advance(400)
	wantCode(t, "0", b.heartbeat(ids[0], 1), 0)
	wantCode(t, "1", b.heartbeat(ids[1], 1), 0)
	b.advance(150)
	wantCode(t, "0", b.heartbeat(ids[0], 1), 27)
	told := b.events[len(b.events)-1]
	var kinds []string
	for e := told; ; e = b.events[e.Cause-1] {
		kinds = append(kinds, e.Body.Kind())
		if removed, ok := e.Body.(event.OperationCompleted); ok && (removed.Member != ids[2] || !removed.Expired) {
			t.Fatalf("%v", e)
		}
		if e.Cause == 0 {
			break
		}
	}
	way := strings.Join(kinds, " ")
	if !strings.HasPrefix(way, "ReplySent RebalanceStarted OperationCompleted OperationWatched") {
		t.Fatal(way)
	}
}
