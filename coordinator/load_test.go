package coordinator

import (
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// batchAt is a plain batch; each record takes one position.
func batchAt(base int64, records ...record.Record) LoadedBatch {
	return LoadedBatch{BaseOffset: base, ProducerID: -1, Records: records, NextOffset: base + int64(len(records))}
}

func offsetRecord(topic string, partition int32, offset int64) record.Record {
	return record.Record{Key: record.OffsetKey(groupID, topic, partition),
		Value: record.OffsetValue(record.Offset{Offset: offset, LeaderEpoch: -1, ExpireTimestampMs: -1})}
}

func groupRecord(generation int32, members ...string) record.Record {
	v := record.Group{ProtocolType: "consumer", Generation: generation, StateTimestampMs: 500}
	for _, m := range members {
		v.Protocol, v.Leader = ptr("range"), &members[0]
		v.Members = append(v.Members, record.Member{MemberID: m, ClientID: "c", ClientHost: "/h", RebalanceTimeoutMs: 30000,
			SessionTimeoutMs: 4000, Subscription: record.Subscription(record.Sub{Topics: []string{"foo"}}),
			Assignment: record.EncodeAssignment([]record.TopicPartitions{{Topic: "foo", Partitions: []int32{1}}})})
	}
	return record.Record{Key: record.GroupKey(groupID), Value: record.GroupValue(v)}
}

func tombstone(key []byte) record.Record { return record.Record{Key: key} }

// unloaded is a bench whose home partition is not owned yet.
func unloaded(t testing.TB) *bench {
	b := newBench(t)
	b.c.Emigrate(b.now, 0, 1)
	b.take()
	return b
}

func (b *bench) wantOffsets(want map[string]int64) {
	b.t.Helper()
	got := map[string]int64{}
	for _, t := range b.fetchGroup(groupID, false, "").Topics {
		for _, p := range t.Partitions {
			got[fmt.Sprintf("%s-%d", t.Topic, p.Partition)] = p.Offset
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Fatalf("offsets %v, want %v", got, want)
	}
}

func TestLOAD01_AnswersWhileLoading(t *testing.T) {
	b := newBench(t)
	b.c.Immigrate(b.now, 1, 2, 0)
	b.take()
	wantCode(t, "join", b.joined(b.join("c", joinWith{version: 9, group: otherGroup})).ErrorCode, 14)
	q := kmsg.NewPtrSyncGroupRequest()
	q.Group, q.Version = otherGroup, 4
	wantCode(t, "sync", b.synced(b.send("m", q)).ErrorCode, 14)
	w := simple(1)
	w.group = ptr(otherGroup)
	wantCode(t, "commit", b.committed(b.commit(w)), 14)
	wantCode(t, "heartbeat", b.heartbeatOf(otherGroup, "m", 1), 0)
	wantCode(t, "describe", b.describe(otherGroup, 5).ErrorCode, 14)
	wantCode(t, "fetch", b.fetchGroup(otherGroup, false, "topic", 0).ErrorCode, 14)
	wantCode(t, "list", b.list(4).ErrorCode, 14)
	wantCode(t, "another partition", b.describe(groupID, 5).ErrorCode, 0)
	b.c.Loaded(b.now, 1, 2, "")
	b.take()
	wantCode(t, "describe", b.describe(otherGroup, 5).ErrorCode, 0)
	wantCode(t, "list", b.list(4).ErrorCode, 0)
}

func TestLOAD02_OffsetsOnlyAndEmptyGroupRecord(t *testing.T) {
	offsets := []record.Record{offsetRecord("foo", 0, 23), offsetRecord("foo", 1, 455), offsetRecord("bar", 0, 8992)}
	want := map[string]int64{"foo-0": 23, "foo-1": 455, "bar-0": 8992}
	b := unloaded(t)
	b.load(0, 2, batchAt(0, offsets...))
	b.inState(event.Empty)
	b.wantOffsets(want)
	if g := b.c.groups[groupID]; g.protocolType != "" || g.generation != 0 {
		t.Fatalf("%+v", g)
	}
	b = unloaded(t)
	b.load(0, 2, batchAt(0, append(offsets, groupRecord(15))...))
	b.inState(event.Empty)
	b.wantOffsets(want)
	if g := b.c.groups[groupID]; g.protocolType != "consumer" || g.generation != 15 || g.leader != "" || g.protocol != "" {
		t.Fatalf("%+v", g)
	}
}

func TestLOAD07_StableGroup(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, batchAt(0, offsetRecord("foo", 0, 23), groupRecord(935, "m")))
	b.inState(event.Stable)
	g := b.c.groups[groupID]
	if g.generation != 935 || g.leader != "m" || g.protocol != "range" || g.protocolType != "consumer" || g.stateMs != 500 {
		t.Fatalf("%+v", g)
	}
	if o := g.find("foo", 0); o.more != nil {
		t.Fatalf("%+v", o)
	}
	d := b.describe(groupID, 5)
	if d.State != "Stable" || len(d.Members) != 1 || d.Members[0].ClientHost != "/h" || len(d.Members[0].MemberAssignment) == 0 {
		t.Fatalf("%+v", d)
	}
	wantCode(t, "heartbeat", b.heartbeat("m", 935), 0)
	wantCode(t, "a newer generation that was never written", b.heartbeat("m", 936), 22)
}

func TestLOAD08_OlderEpoch(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, batchAt(0, groupRecord(1, "m")))
	b.c.Emigrate(b.now, 0, 1) // too old
	b.inState(event.Stable)
	b.c.Emigrate(b.now, 0, 2)
	b.take()
	b.load(0, 1, batchAt(0, groupRecord(1, "m")))
	if b.c.groups[groupID] != nil || b.c.partitions[0].epoch != 2 || b.c.partitions[0].owned {
		t.Fatalf("%+v", b.c.partitions[0])
	}
	b.load(0, 2, batchAt(0, groupRecord(1, "m")))
	b.inState(event.Stable)
	// An epoch is remembered of a partition that was never owned, too; no epoch (-1) is never too old.
	b.c.Emigrate(b.now, 1, 5)
	b.load(1, 4)
	if b.c.partitions[1].owned {
		t.Fatal("an older leadership was taken")
	}
	b.c.Emigrate(b.now, 0, -1)
	b.take()
	if b.c.partitions[0].owned || b.c.partitions[0].epoch != 2 {
		t.Fatalf("%+v", b.c.partitions[0])
	}
}

func TestLOAD09_Tombstones(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, batchAt(0, offsetRecord("foo", 0, 1), offsetRecord("foo", 1, 2), offsetRecord("bar", 0, 3)),
		batchAt(3, tombstone(record.OffsetKey(groupID, "foo", 1))))
	b.wantOffsets(map[string]int64{"foo-0": 1, "bar-0": 3})
	b = unloaded(t)
	b.load(0, 2, batchAt(0, groupRecord(1, "m"), tombstone(record.GroupKey(groupID))))
	if b.c.groups[groupID] != nil {
		t.Fatal("the group is there")
	}
	b = unloaded(t)
	b.load(0, 2, batchAt(0, groupRecord(1, "m"), tombstone(record.GroupKey(groupID)), offsetRecord("foo", 0, 5)))
	b.inState(event.Empty)
	b.wantOffsets(map[string]int64{"foo-0": 5})
}

func TestLOAD10_LaterRecordsOverride(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2,
		batchAt(0, offsetRecord("foo", 0, 23), offsetRecord("foo", 1, 455), offsetRecord("xxx", 0, 42), groupRecord(1, "a")),
		batchAt(4, offsetRecord("foo", 0, 33), offsetRecord("bar", 0, 8992), offsetRecord("xxx", 0, 10), groupRecord(2, "b")))
	g := b.c.groups[groupID]
	if g.leader != "b" || len(g.members) != 1 || g.generation != 2 {
		t.Fatalf("%+v", g)
	}
	b.wantOffsets(map[string]int64{"foo-0": 33, "foo-1": 455, "xxx-0": 10, "bar-0": 8992})
	if o := g.find("foo", 0); o.baseOffset != 4 {
		t.Fatalf("%+v", o)
	}
}

func TestLOAD11_UnloadWithParkedJoins(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	w.group = ptr("deadGroupId")
	b.commit(w)
	one := b.direct("1", joinWith{})
	two := b.direct("2", joinWith{})
	first, second := b.c.groups[groupID].members[0].id, b.c.groups[groupID].members[1].id
	b.c.Emigrate(b.now, 0, 3)
	b.take()
	for i, id := range []string{first, second} {
		resp := b.joined([]Ticket{one, two}[i])
		if resp.ErrorCode != 16 || resp.MemberID != id || len(resp.Members) != 0 {
			t.Fatalf("%+v", resp)
		}
	}
	if len(b.c.groups) != 0 || waiting(b.c) != 0 {
		t.Fatalf("%d groups, %d timers are left", len(b.c.groups), waiting(b.c))
	}
	wantCode(t, "heartbeat", b.heartbeat(first, 0), 16)
	for _, g := range []string{groupID, "deadGroupId"} {
		if !slices.ContainsFunc(b.events, func(e event.Event) bool {
			s, ok := e.Body.(event.StateChanged)
			return ok && e.Group == g && s.To == event.Dead
		}) {
			t.Fatalf("%s did not die", g)
		}
	}
}

// Parked syncs and commits that are being written are answered, and nothing comes back.
func TestUnloadWithWritesUnderWay(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.hold = true
	commit := b.commit(commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 5}})
	b.join("m", joinWith{version: 9, id: m})
	sync := b.sync(m, 2, map[string]string{m: "1"})
	x := b.issued("x", joinWith{})
	b.c.Emigrate(b.now, 0, 3)
	b.take()
	wantCode(t, "sync", b.synced(sync).ErrorCode, 16)
	b.unanswered(commit)
	b.release(6)
	wantCode(t, "commit", b.committed(commit), 16)
	if waiting(b.c) != 0 || len(b.c.appends) != 0 || len(b.c.freeMembers) != len(b.c.memberSlots) {
		t.Fatalf("%d timers, %d appends are left", waiting(b.c), len(b.c.appends))
	}
	b.hold = false
	b.load(0, 4, batchAt(0, groupRecord(1, m)))
	wantCode(t, "an id that was not written", b.joined(b.join("x", joinWith{version: 9, id: x})).ErrorCode, 25)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 0)
}

// A late success of a commit for a group that was unloaded and loaded again must not touch the new one.
func TestAppendOfAnEarlierLife(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.commit(simple(5))
	b.c.Emigrate(b.now, 0, 3)
	b.hold = false
	b.load(0, 4, batchAt(0, offsetRecord("foo", 0, 1)))
	b.release(0)
	b.wantOffsets(map[string]int64{"foo-0": 1})
}

func TestLOAD12_SessionsRestart(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, batchAt(0, groupRecord(1, "a", "b")))
	for _, m := range b.c.groups[groupID].members {
		if m.session.deadlineMs != b.now+4000 {
			t.Fatalf("%s until %d, now %d", m.id, m.session.deadlineMs, b.now)
		}
	}
	b.advance(3900)
	wantCode(t, "a", b.heartbeat("a", 1), 0)
	b.advance(200)
	b.members(1)
	b.inState(event.PreparingRebalance)
}

// Whatever ends a load: the partition is owned and empty.
func TestLoadThatFails(t *testing.T) {
	for what, bad := range map[string]record.Record{
		"offset value version": {Key: record.OffsetKey(groupID, "foo", 0), Value: []byte{0, 9, 0}},
		"group value version":  {Key: record.GroupKey(groupID), Value: []byte{0x80, 0}},
		"cut short":            {Key: record.GroupKey(groupID), Value: []byte{0, 3, 0}},
		"null key":             {Value: []byte{0, 1}},
		"cut key":              {Key: []byte{0, 1, 0, 99, 'x'}, Value: []byte{0, 1}},
	} {
		b := unloaded(t)
		b.load(0, 2, batchAt(0, offsetRecord("foo", 0, 1)), batchAt(1, bad), batchAt(2, groupRecord(1, "m")))
		done := eventsOf[event.LoadFinished](b)
		if last := done[len(done)-1]; last.Failed == "" || last.Groups != 0 {
			t.Fatalf("%s: %+v", what, last)
		}
		if len(b.c.groups) != 0 {
			t.Fatalf("%s: a group was loaded", what)
		}
		wantCode(t, what, b.describe(groupID, 5).ErrorCode, 0)
	}
	b := unloaded(t)
	b.c.Immigrate(b.now, 0, 2, 9)
	b.c.Load(b.now, 0, 2, batchAt(0, groupRecord(1, "m")))
	b.c.Loaded(b.now, 0, 2, "the disk is gone")
	b.take()
	if len(b.c.groups) != 0 || !b.c.partitions[0].owned {
		t.Fatal("not owned, or not empty")
	}
}

// Records of newer kinds are skipped, and counted.
func TestLoadSkipsUnknownKeyVersions(t *testing.T) {
	b := unloaded(t)
	newer := func(version byte) record.Record {
		return record.Record{Key: []byte{0, version, 0, 1, 'g'}, Value: []byte{0, 0}}
	}
	b.load(0, 2, batchAt(0, newer(3), newer(42), offsetRecord("foo", 0, 1)), batchAt(3, newer(3), groupRecord(7)))
	b.wantOffsets(map[string]int64{"foo-0": 1})
	if g := b.c.groups[groupID]; g.generation != 7 {
		t.Fatalf("%+v", g)
	}
	if got := fmt.Sprint(eventsOf[event.LoadSkipped](b)); got != "[{0 0 2 records with key version 3, which is no classic group's} "+
		"{0 0 1 records with key version 42, which is no classic group's}]" {
		t.Fatal(got)
	}
}

// Group values of all versions (behaviour.md 10.8): version 0 has no rebalance timeout.
func TestLoadOfOldGroupValues(t *testing.T) {
	for version, data := range map[int]string{
		0: "00000008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000271000000001010000000102",
		1: "00010008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000ea600000271000000001010000000102",
		2: "00020008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d3100016300022f680000ea600000271000000001010000000102",
		3: "00030008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d310002693100016300022f680000ea600000271000000001010000000102",
		4: "000409636f6e73756d6572000000030672616e6765036d3100000000000003e802036d310369310263032f680000ea6000002710020102020000",
	} {
		value, err := hex.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		b := unloaded(t)
		b.load(0, 2, batchAt(0, record.Record{Key: record.GroupKey(groupID), Value: value}))
		g := b.c.groups[groupID]
		if g == nil || g.state != event.Stable || g.leader != "m1" || g.generation != 3 {
			t.Fatalf("v%d: %+v", version, g)
		}
		want := int32(60000)
		if version == 0 {
			want = 10000
		}
		if m := g.members[0]; m.sessionTimeoutMs != 10000 || m.rebalanceTimeoutMs != want || string(m.assignment) != "\x02" {
			t.Fatalf("v%d: %+v", version, m)
		}
		if known := g.stateMs != unknownMs; known != (version >= 2) {
			t.Fatalf("v%d: state entered at %d", version, g.stateMs)
		}
	}
}

// Twice the same member in a record, a leader that is no member, timeouts below zero: loaded as far as it makes sense.
func TestLoadOfAnAbsurdGroup(t *testing.T) {
	b := unloaded(t)
	v := record.Group{ProtocolType: "", Generation: -5, Leader: ptr("nobody"), StateTimestampMs: -1, Members: []record.Member{
		{MemberID: "a", SessionTimeoutMs: -7}, {MemberID: "a"}, {MemberID: ""}}}
	b.load(0, 2, batchAt(0, record.Record{Key: record.GroupKey(groupID), Value: record.GroupValue(v)}))
	b.inState(event.Stable)
	b.members(2)
	b.advance(1)
	b.inState(event.Empty)
}

// What one machine wrote, another one loads: the same members, assignment and offsets.
func TestWhatIsWrittenIsLoaded(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{protocols: subscribed("range", "topic"), session: 1000})
	b.sync(m, 1, map[string]string{m: "the assignment"})
	w := commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 5, 3: 8}, metadata: ptr("note"), epoch: 4}
	b.commit(w)
	b.failing = 0
	var batches []LoadedBatch
	next := int64(0)
	for _, a := range b.written {
		batches = append(batches, batchAt(next, a.Records...))
		next += int64(len(a.Records))
	}
	old := b.describe(groupID, 5)
	oldOffsets := b.fetchGroup(groupID, false, "")
	b.c.Emigrate(b.now, 0, 5)
	b.load(0, 6, batches...)
	if got := b.describe(groupID, 5); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", old) {
		t.Fatalf("%+v\nwant\n%+v", got, old)
	}
	got := b.fetchGroup(groupID, false, "")
	for i, p := range got.Topics[0].Partitions {
		o := oldOffsets.Topics[0].Partitions[i]
		if p.Offset != o.Offset || *p.Metadata != *o.Metadata || p.LeaderEpoch != 4 {
			t.Fatalf("%+v, want %+v", p, o)
		}
	}
}
