package timeline_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kbin"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/server/observe/timeline"
)

// begun is when the observer of these tests attached.
const begun = 1_700_000_000_000

// log is a partition 0 of __consumer_offsets that a test writes and a timeline reads.
type offsetsLog struct {
	t    *testing.T
	tl   *timeline.Timeline
	now  int64
	next int64
	all  []event.Event
}

// live is a log whose first reading is over: it was empty.
func live(t *testing.T) *offsetsLog {
	l := attach(t)
	l.see(timeline.ReadFrom{Partition: 0})
	l.all = nil
	return l
}

func attach(t *testing.T) *offsetsLog {
	l := &offsetsLog{t: t, tl: timeline.New(timeline.Config{Numbers: &event.Numbers{}}), now: begun}
	l.see(timeline.Attached{ClusterID: "c", Mode: "log", Partitions: 1, PollMs: 250, ConsumerSessionTimeoutMs: 45_000})
	l.see(timeline.Metadata{Brokers: []timeline.Broker{{ID: 1, Host: "h", Port: 9092}},
		Topics: []timeline.Topic{{Name: "__consumer_offsets", Internal: true, Partitions: []timeline.Partition{{Number: 0, Leader: 1, Epoch: 3}}}}})
	return l
}

func (l *offsetsLog) see(o timeline.Observation) []event.Event {
	l.t.Helper()
	events := l.tl.Observe(l.now, o)
	l.all = append(l.all, events...)
	return events
}

// write appends records with one timestamp, now, and lets the timeline read them.
func (l *offsetsLog) write(records ...timeline.Record) []event.Event {
	l.t.Helper()
	for i := range records {
		r := &records[i]
		r.Offset, l.next = l.next, l.next+1
		if r.TimestampMs == 0 {
			r.TimestampMs = l.now
		}
	}
	return l.see(timeline.Records{Partition: 0, Next: l.next, Records: records})
}

func (l *offsetsLog) after(ms int64) *offsetsLog { l.now += ms; return l }

func commit(group, topic string, partition int32, offset, atMs int64) timeline.Record {
	return timeline.Record{Key: record.OffsetKey(group, topic, partition), Value: record.OffsetValue(record.Offset{Offset: offset, LeaderEpoch: -1, CommitTimestampMs: atMs}),
		TimestampMs: atMs, ProducerID: -1, ProducerEpoch: -1}
}

func uncommit(group, topic string, partition int32) timeline.Record {
	return timeline.Record{Key: record.OffsetKey(group, topic, partition), ProducerID: -1}
}

func within(r timeline.Record, producer int64, epoch int16) timeline.Record {
	r.Transactional, r.ProducerID, r.ProducerEpoch = true, producer, epoch
	return r
}

func marker(producer int64, epoch int16, committed bool) timeline.Record {
	key := []byte{0, 0, 0, 0}
	if committed {
		key[3] = 1
	}
	return timeline.Record{Control: true, Transactional: true, ProducerID: producer, ProducerEpoch: epoch, Key: key, Value: []byte{0, 0, 0, 0, 0, 0}}
}

// who is a member of a classic group: "c1 orders:0,1" with its session of 10 s, if not another is given, and rebalance timeout of 30 s.
type who struct {
	id, instance string
	topics       []string
	has          []int32
	sessionMs    int32
}

func generation(group string, number int32, joinedMs int64, members ...who) timeline.Record {
	g := record.Group{ProtocolType: "consumer", Generation: number, StateTimestampMs: joinedMs}
	protocol := "range"
	for _, m := range members {
		if g.Leader == nil {
			g.Protocol, g.Leader = &protocol, &m.id
		}
		topics := m.topics
		if topics == nil {
			topics = []string{"orders"}
		}
		x := record.Member{MemberID: m.id, ClientID: strings.Split(m.id, "-")[0], ClientHost: "/h", SessionTimeoutMs: 10_000, RebalanceTimeoutMs: 30_000,
			Subscription: record.Subscription(record.Sub{Version: 1, Topics: slices.Clone(topics)})}
		x.SessionTimeoutMs = cmp.Or(m.sessionMs, x.SessionTimeoutMs)
		if m.instance != "" {
			x.InstanceID = &m.instance
		}
		if m.has != nil {
			x.Assignment = record.EncodeAssignment([]record.TopicPartitions{{Topic: "orders", Partitions: slices.Clone(m.has)}})
		} else {
			x.Assignment = record.EncodeAssignment(nil)
		}
		g.Members = append(g.Members, x)
	}
	return timeline.Record{Key: record.GroupKey(group), Value: record.GroupValue(g), ProducerID: -1}
}

func groupGone(group string) timeline.Record {
	return timeline.Record{Key: record.GroupKey(group), ProducerID: -1}
}

// of are the events of a kind, printed.
func of[B event.Body](events []event.Event) (list []B) {
	for _, e := range events {
		if b, is := e.Body.(B); is {
			list = append(list, b)
		}
	}
	return list
}

func one[B event.Body](t *testing.T, events []event.Event) B {
	t.Helper()
	list := of[B](events)
	if len(list) != 1 {
		var zero B
		t.Fatalf("%d of %s, want 1 in:\n%s", len(list), zero.Kind(), lines(events))
	}
	return list[0]
}

func lines(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, e.String())
	}
	return b.String()
}

func kinds(events []event.Event) string {
	var list []string
	for _, e := range events {
		list = append(list, e.Body.Kind())
	}
	return strings.Join(list, " ")
}

// Keys and values of KIP-848, as Kafka writes them.

func modernKey(kind int16, group string, member ...string) []byte {
	b := kbin.AppendString(kbin.AppendInt16(nil, kind), group)
	for _, m := range member {
		b = kbin.AppendString(b, m)
	}
	return b
}

func tombstone(key []byte) timeline.Record { return timeline.Record{Key: key, ProducerID: -1} }

func epoch(group string, n int32, hash int64) timeline.Record {
	v := kbin.AppendInt32([]byte{0, 0}, n)
	v = kbin.AppendInt64(append(v, 1, 0, 8), hash)
	return timeline.Record{Key: modernKey(3, group), Value: v, ProducerID: -1}
}

func modernMember(group, id, instance, topic string) timeline.Record {
	v := []byte{0, 0}
	if instance == "" {
		v = append(v, 0)
	} else {
		v = kbin.AppendCompactString(v, instance)
	}
	v = append(v, 0)
	v = kbin.AppendCompactString(kbin.AppendCompactString(v, "app"), "/h")
	v = kbin.AppendCompactString(append(v, 2), topic)
	v = append(v, 0)
	v = kbin.AppendInt32(v, 60_000)
	return timeline.Record{Key: modernKey(5, group, id), Value: append(v, 0, 0), ProducerID: -1}
}

func targetEpoch(group string, n int32) timeline.Record {
	return timeline.Record{Key: modernKey(6, group), Value: append(kbin.AppendInt32([]byte{0, 0}, n), 0), ProducerID: -1}
}

var ordersID = record.TopicID{0: 1, 15: 7}

func parts(v []byte, numbers []int32) []byte {
	if len(numbers) == 0 {
		return append(v, 1)
	}
	v = append(append(v, 2), ordersID[:]...)
	v = append(v, byte(len(numbers)+1))
	for _, n := range numbers {
		v = kbin.AppendInt32(v, n)
	}
	return append(v, 0)
}

func target(group, id string, numbers ...int32) timeline.Record {
	return timeline.Record{Key: modernKey(7, group, id), Value: append(parts([]byte{0, 0}, numbers), 0), ProducerID: -1}
}

func current(group, id string, epoch, previous int32, state byte, has, revokes []int32) timeline.Record {
	v := kbin.AppendInt32(kbin.AppendInt32([]byte{0, 0}, epoch), previous)
	v = parts(parts(append(v, state), has), revokes)
	return timeline.Record{Key: modernKey(8, group, id), Value: append(v, 0), ProducerID: -1}
}
