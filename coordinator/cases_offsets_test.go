package coordinator

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// What the cases of commits, loads and expiry say besides what their first tests look at.

func TestLOAD01_EveryRequestWhileLoading(t *testing.T) {
	b := newBench(t)
	b.c.Immigrate(b.now, 1, 2, 0)
	b.take()
	wantCode(t, "static join", b.joined(b.join("c", joinWith{version: 9, group: otherGroup, instance: ptr("i")})).ErrorCode, 14)
	wantCode(t, "leave", b.leave(otherGroup, 5, "m").ErrorCode, 14)
	wantCode(t, "delete", b.deleteGroups(otherGroup).Groups[0].ErrorCode, 14)
	wantCode(t, "delete offsets", b.deleteOffsets(otherGroup, at{"topic", 0}).ErrorCode, 14)
	wantCode(t, "transactional commit", b.txnCode(b.txnCommit(txnWith{group: otherGroup, offsets: one(1)})), 14)
	wantCode(t, "delete in another partition", b.deleteGroups(groupID).Groups[0].ErrorCode, 69)
	if len(b.c.groups) != 0 || len(b.written) != 0 {
		t.Fatalf("%d groups, %d batches", len(b.c.groups), len(b.written))
	}
}

// A second immigration changes the epoch and nothing else: a load goes on, an owned partition stays as it is.
func TestLOAD08_ImmigrationOfWhatIsHereAlready(t *testing.T) {
	b := unloaded(t)
	b.c.Immigrate(b.now, 0, 2, 1)
	b.c.Immigrate(b.now, 0, 2, 1)
	b.c.Immigrate(b.now, 0, 3, 9)
	b.c.Load(b.now, 0, 3, batchAt(0, groupRecord(9, "x"))) // of a load that never began
	b.c.Load(b.now, 0, 2, batchAt(0, groupRecord(1, "m")))
	b.c.Loaded(b.now, 0, 3, "")
	wantCode(t, "still loading", b.describe(groupID, 5).ErrorCode, 14)
	b.c.Loaded(b.now, 0, 2, "")
	b.take()
	b.inState(event.Stable)
	if p := b.c.partitions[0]; p.epoch != 3 || len(eventsOf[event.LoadStarted](b)) != 2 { // one of them is the bench's own
		t.Fatalf("%+v, %d loads", p, len(eventsOf[event.LoadStarted](b)))
	}
	b.load(0, 4, batchAt(0, groupRecord(7, "other")))
	if g := b.c.groups[groupID]; g.generation != 1 || b.c.partitions[0].epoch != 4 {
		t.Fatalf("%+v", g)
	}
	b.c.Emigrate(b.now, 0, 3)
	b.take()
	b.inState(event.Stable) // an older resignation
}

// Offset values of all versions (behaviour.md 10.8) are loaded, plain and in a transaction: version 1 alone has an expiry of
// its own, from 3 on there is a leader epoch.
func TestLoadOfOldOffsetValues(t *testing.T) {
	for version, data := range []string{
		"0000000000000000002a00016d00000000000003e8",
		"0001000000000000002a00016d00000000000003e800000000000007d0",
		"0002000000000000002a00016d00000000000003e8",
		"0003000000000000002a0000000700016d00000000000003e8",
		"0004000000000000002a00000007026d00000000000003e800",
	} {
		value, err := hex.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		for keyVersion := byte(0); keyVersion <= 1; keyVersion++ {
			key := record.OffsetKey(groupID, "topic", 0)
			key[1] = keyVersion
			for _, transactional := range []bool{false, true} {
				b := unloaded(t)
				batch := batchAt(7, record.Record{Key: key, Value: value})
				if transactional {
					batch.Transactional, batch.ProducerID = true, 9
					b.load(0, 2, batch, markerBatch(8, 9, 1))
				} else {
					b.load(0, 2, batch)
				}
				o := b.c.groups[groupID].find("topic", 0)
				v := o.value()
				want := offsetValue{offset: 42, metadata: "m", commitMs: 1000, expireMs: -1, leaderEpoch: -1}
				if version == 1 {
					want.expireMs = 2000
				}
				if version >= 3 {
					want.leaderEpoch = 7
				}
				if v != want || o.baseOffset != 7 {
					t.Errorf("value version %d, key version %d, transactional %v: %+v at %d", version, keyVersion, transactional, v, o.baseOffset)
				}
			}
		}
	}
}

func TestOC07_NothingIsCounted(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	w.metadata = ptr(strings.Repeat("x", 4097))
	ticket := b.commit(w)
	wantCode(t, "commit", b.committed(ticket), 12)
	if p, c := eventsOf[event.OffsetsPending](b), eventsOf[event.OffsetsCommitted](b); len(p)+len(c) != 0 || len(b.c.appends) != 0 {
		t.Fatalf("pending %+v, committed %+v", p, c)
	}
	refused := eventsOf[event.OffsetsRefused](b)
	if len(refused) != 1 || refused[0].Code != 12 || len(refused[0].Offsets) != 1 {
		t.Fatalf("%+v", refused)
	}
	w.metadata = nil // null is no metadata, and as short as can be
	s := caseSettings()
	s.OffsetMetadataMaxBytes = 0
	b.c.ConfigChanged(b.now, s)
	wantCode(t, "null", b.committed(b.commit(w)), 0)
	w.metadata = ptr("x")
	wantCode(t, "one letter", b.committed(b.commit(w)), 12)
}

func TestOC09_TheGroupHasOffsetsMeanwhile(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.commit(simple(37))
	g := b.c.groups[groupID]
	if !g.hasOffsets() || g.committedOffsets() != 0 {
		t.Fatalf("%+v", g)
	}
	b.cleanNow() // a group that has offsets stays
	b.release(0)
	if b.c.groups[groupID] != g || g.committedOffsets() != 1 || g.unstable("topic", 0) != "" {
		t.Fatalf("%+v", g)
	}
}

// The positions of OC-10: 37 at 4, 57 at 5; what was pending longest does not hide the newer one.
func TestOC10_Positions(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.commit(simple(37))
	b.commit(simple(57))
	first, second := b.held[0].Ticket, b.held[1].Ticket
	b.c.Appended(b.now, first, 4, 0)
	b.take()
	b.wantFetch(groupID, false, 37, 0)
	b.wantFetch(groupID, true, -1, 88)
	b.c.Appended(b.now, second, 5, 0)
	b.take()
	b.wantFetch(groupID, true, 57, 0)
	// The newer one fails: the older one stays, and nothing is pending.
	b.held = nil
	b.commit(simple(60))
	b.commit(simple(61))
	b.c.Appended(b.now, b.held[1].Ticket, -1, 7)
	b.c.Appended(b.now, b.held[0].Ticket, 6, 0)
	b.take()
	b.wantFetch(groupID, true, 60, 0)
}

// A client that repeats its commit in the same millisecond: each outcome ends its own, in the machine and in a copy of it,
// though the room of the first is used again before the second is over.
func TestOC10_TheSameTwice(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.commit(simple(37))
	b.commit(simple(37))
	copied := b.c.Clone(b.c.cfg.Numbers.Clone())
	for _, c := range []*Coordinator{b.c, copied} {
		g := c.groups[groupID]
		c.Appended(b.now, b.held[0].Ticket, 4, 0)
		if g.find("topic", 0).offset != 37 || g.unstable("topic", 0) == "" {
			t.Fatalf("after the first: %+v", g.find("topic", 0))
		}
		q := kmsg.NewPtrOffsetCommitRequest()
		q.Version, q.Group, q.Generation = 8, groupID, -1
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = "foo"
		topic.Partitions = append(topic.Partitions, kmsg.NewOffsetCommitRequestTopicPartition())
		topic.Partitions[0].Offset = 99
		q.Topics = append(q.Topics, topic)
		c.Handle(b.now, Request{Ticket: 900, Kmsg: q})
		c.Appended(b.now, b.held[1].Ticket, 5, 0)
		if o := g.find("topic", 0); o.offset != 37 || o.baseOffset != 5 || g.unstable("topic", 0) != "" || g.unstable("foo", 0) == "" {
			t.Fatalf("after the second: %+v", o)
		}
	}
}

// A commit of a group that is deleted meanwhile is answered with what became of its record, and brings nothing back.
func TestOC09_GroupDeletedMeanwhile(t *testing.T) {
	for code, want := range map[int16]int16{0: 0, 6: 16} {
		b := newBench(t)
		b.hold = true
		commit := b.commit(simple(37))
		b.askDeleteGroups(groupID)
		b.c.Appended(b.now, b.held[0].Ticket, 3, code)
		b.take()
		wantCode(t, "commit", b.committed(commit), want)
		if b.c.groups[groupID] != nil {
			t.Fatal("the group is back")
		}
	}
}

func TestOF02_ExactlyTheseThree(t *testing.T) {
	b := newBench(t)
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{0: 15, 1: 16}})
	b.commit(commitWith{generation: -1, topic: "other-topic", offsets: map[int32]int64{0: 17}})
	for _, stable := range []bool{false, true} {
		g := b.fetchGroup(groupID, stable, "")
		got := map[at]int64{}
		for _, topic := range g.Topics {
			for _, p := range topic.Partitions {
				wantCode(t, topic.Topic, p.ErrorCode, 0)
				got[at{topic.Topic, p.Partition}] = p.Offset
			}
		}
		if g.ErrorCode != 0 || len(got) != 3 || got[at{"topic", 0}] != 15 || got[at{"topic", 1}] != 16 || got[at{"other-topic", 0}] != 17 {
			t.Fatalf("%+v", g)
		}
	}
}

// Version 8 looks up several groups at once, each by itself: one that is elsewhere does not disturb the others.
func TestOF01_SeveralGroups(t *testing.T) {
	b := newBench(t)
	b.commit(simple(5))
	q := kmsg.NewPtrOffsetFetchRequest()
	q.Version = 8
	for _, id := range []string{otherGroup, groupID, "missing-2"} {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.Topics = id, []kmsg.OffsetFetchRequestGroupTopic{{Topic: "topic", Partitions: []int32{0}}}
		q.Groups = append(q.Groups, g)
	}
	r := answer[*kmsg.OffsetFetchResponse](b, b.send("m", q))
	wantCode(t, "elsewhere", r.Groups[0].ErrorCode, 16)
	if len(r.Groups) != 3 || len(r.Groups[0].Topics) != 0 || r.Groups[1].Topics[0].Partitions[0].Offset != 5 {
		t.Fatalf("%+v", r.Groups)
	}
}

// Without a partition of its own nothing is appended: whoever waits for an assignment is told to look elsewhere.
func TestAPP01_NotLocal(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	b.c.Emigrate(b.now, 0, 3)
	b.take()
	wantCode(t, "sync", b.synced(b.sync(m, 1, map[string]string{m: "0"})).ErrorCode, 16)
	if len(b.written) != 0 || len(b.held) != 0 {
		t.Fatalf("%+v", b.written)
	}
}

func TestSER01_GroupVersionWritten(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	b.sync(m, 1, nil)
	b.commit(commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 1}, epoch: 9})
	b.commit(commitWith{version: 4, id: &m, generation: 1, offsets: map[int32]int64{1: 1}, retention: 60000})
	b.leave(groupID, 5, m)
	for i, want := range []byte{3, 3, 1, 3} {
		if got := b.written[i].Records[0].Value[1]; got != want {
			t.Errorf("record %d, of %s, has value version %d, want %d", i, b.written[i].What, got, want)
		}
	}
	v, err := record.DecodeOffset(b.written[1].Records[0].Value)
	if err != nil || v.LeaderEpoch != 9 || v.CommitTimestampMs != b.now-0 {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestEXP02_TheGroupDies(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, batchAt(0, groupRecord(5)))
	b.events = nil
	b.runCleanup()
	changed := eventsOf[event.StateChanged](b)
	removed := eventsOf[event.GroupRemoved](b)
	if len(changed) != 1 || changed[0].To != event.Dead || len(removed) != 1 || removed[0].Why != event.WhyNothingLeft {
		t.Fatalf("%+v %+v", changed, removed)
	}
	if a := b.written[0]; a.Transactional || a.Records[0].Value != nil || a.Records[0].Key == nil {
		t.Fatalf("%+v", a)
	}
}

// The first row of behaviour.md 7.2: all offsets of an Empty group go together, counted from when it became Empty, even one
// that a tool committed a moment ago. A tombstone that could not be written changes nothing here.
func TestEXP03_OffsetsOfAnEmptyGroupGoTogether(t *testing.T) {
	b := withRetention(newBench(t), 1)
	m := b.oneStable(joinWith{session: 600000, rebalance: 600000})
	b.commit(commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 5}})
	b.advance(300000)
	b.leave(groupID, 5, m)
	b.now += 59999
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{1: 6}})
	b.cleanNow()
	b.wantOffsets(map[string]int64{"topic-0": 5, "topic-1": 6})
	b.now++
	b.failing = 6
	b.cleanNow()
	b.failing = 0
	if b.c.groups[groupID] != nil {
		t.Fatal("the group is there")
	}
}

// Of a group whose members' topics nobody knows nothing expires, nor of one that is active and of another type.
func TestEXP03_UnknownSubscription(t *testing.T) {
	for kind, protocols := range map[string][]kmsg.JoinGroupRequestProtocol{
		"consumer": {{Name: "range", Metadata: []byte{1}}},
		"connect":  subscribed("range", "bar"),
	} {
		b := withRetention(newBench(t), 1)
		m := b.oneStable(joinWith{kind: &kind, session: 600000, rebalance: 600000, protocols: protocols})
		b.commit(commitWith{id: &m, generation: 1, topic: "foo", offsets: map[int32]int64{0: 5}})
		b.advance(120000)
		b.cleanNow()
		b.wantOffsets(map[string]int64{"foo-0": 5})
	}
}

// The third row: a simple consumer's offsets count from their own commits, whatever its group's state.
func TestEXP03_SimpleConsumer(t *testing.T) {
	b := withRetention(newBench(t), 1)
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{0: 5}})
	b.advance(30000)
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{1: 6}})
	b.advance(29999)
	b.cleanNow()
	b.wantOffsets(map[string]int64{"topic-0": 5, "topic-1": 6})
	b.now++
	b.cleanNow()
	b.wantOffsets(map[string]int64{"topic-1": 6})
}

// After its marker a transaction leaves nothing behind, and its offsets lie at the positions of their records.
func TestTXN08_NothingIsPendingAfterTheMarker(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.txnCommit(txnWith{offsets: map[int32]int64{0: 37, 1: 38}})
	b.commit(simple(57))
	b.c.Appended(b.now, b.held[0].Ticket, 3, 0)
	b.c.Appended(b.now, b.held[1].Ticket, 5, 0)
	b.take()
	b.marker(0, true)
	g := b.c.groups[groupID]
	if len(g.txns) != 0 || g.unstable("topic", 0) != "" || g.unstable("topic", 1) != "" {
		t.Fatalf("%+v", g)
	}
	b.wantOffsets(map[string]int64{"topic-0": 57, "topic-1": 38})
	if p, q := g.find("topic", 0), g.find("topic", 1); p.baseOffset != 5 || q.baseOffset != 3 {
		t.Fatalf("at %d and %d", p.baseOffset, q.baseOffset)
	}
}

// Settings that make no sense are Kafka's to take, and nothing hangs: a delay below nothing is over at once, and a smallest
// session above the largest lets nobody in.
func TestAbsurdSettings(t *testing.T) {
	b := newBench(t)
	s := caseSettings()
	s.GroupInitialRebalanceDelayMs, s.GroupMinSessionTimeoutMs, s.OffsetMetadataMaxBytes = -1000, -5, -1
	b.c.ConfigChanged(b.now, s)
	ticket := b.direct("m", joinWith{session: -1, rebalance: -1})
	b.advance(1)
	wantCode(t, "join", b.joined(ticket).ErrorCode, 0)
	b.advance(1)
	b.members(0)
	w := simple(1)
	w.metadata = ptr("")
	wantCode(t, "empty metadata, longer than -1", b.committed(b.commit(w)), 12)
	s.GroupMinSessionTimeoutMs, s.GroupMaxSessionTimeoutMs = 20, 10
	b.c.ConfigChanged(b.now, s)
	for _, ms := range []int32{9, 15, 21} {
		wantCode(t, "join", b.joined(b.direct("m", joinWith{session: ms})).ErrorCode, 26)
	}
}
