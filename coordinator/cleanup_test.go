package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

const checkEveryMs = 600000

// withRetention is a bench whose retention is so many minutes, with sessions that last.
func withRetention(b *bench, minutes int32) *bench {
	s := caseSettings()
	s.OffsetsRetentionMinutes = minutes
	b.c.ConfigChanged(b.now, s)
	return b
}

// runCleanup moves the clock to the next run of the job.
func (b *bench) runCleanup() {
	b.t.Helper()
	b.advance(checkEveryMs - (b.now-b.c.startMs)%checkEveryMs)
	if ran := eventsOf[event.CleanupRan](b); len(ran) == 0 {
		b.t.Fatal("the job did not run")
	}
}

// cleanNow runs the job at once.
func (b *bench) cleanNow() {
	b.t.Helper()
	b.c.disarmCleanup()
	b.c.enter(b.now, 0)
	b.c.cleanUp()
	b.take()
}

func TestEXP01_Boundary(t *testing.T) {
	explicit, plain := &offsetValue{expireMs: 1500}, &offsetValue{expireMs: -1}
	for _, c := range []struct {
		v       *offsetValue
		nowMs   int64
		expired bool
	}{{explicit, 1500, true}, {explicit, 499, false}, {explicit, 1499, false}, {plain, 1000, true}, {plain, 999, false}} {
		if got := c.v.expired(c.nowMs, 500, 500); got != c.expired {
			t.Errorf("%+v at %d: %v", c.v, c.nowMs, got)
		}
	}
	b := newBench(t)
	for partition, ms := range map[int32]int64{0: 1, 1: 3} {
		b.commit(commitWith{version: 4, generation: -1, retention: ms, offsets: map[int32]int64{partition: 5}})
	}
	b.now += 2
	b.cleanNow()
	b.wantOffsets(map[string]int64{"topic-1": 5})
}

func TestEXP02_Tombstones(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, batchAt(0, groupRecord(5)))
	b.inState(event.Empty)
	b.runCleanup()
	b.wantTombstones("[group groupId]")
	if n := len(b.written[0].Records); n != 1 || b.c.groups[groupID] != nil {
		t.Fatalf("%d records", n)
	}
	if record := b.written[0].Records[0]; record.TimestampMs != b.now {
		t.Fatalf("%+v", record)
	}
	// A simple group, of generation 0: Kafka 4.0 writes the group's tombstone too.
	b = newBench(t)
	b.commit(commitWith{version: 4, generation: -1, retention: 1, offsets: map[int32]int64{0: 5, 1: 6}})
	b.written = nil
	b.runCleanup()
	b.wantTombstones("[group groupId topic-0 topic-1]")
	if b.c.groups[groupID] != nil {
		t.Fatal("the group is there")
	}
	if b.c.Take().DeadlineMs != -1 {
		t.Fatal("an idle machine is woken")
	}
}

func TestEXP03_ActiveVersusEmpty(t *testing.T) {
	b := withRetention(newBench(t), 20)
	m := b.oneStable(joinWith{kind: ptr("protocolType"), session: 600000, rebalance: 600000})
	for partition, ms := range map[int32]int64{0: 1, 1: 3, 2: -1} {
		b.commit(commitWith{version: 4, id: &m, generation: 1, retention: ms, offsets: map[int32]int64{partition: 5}})
	}
	b.join("m", joinWith{version: 9, id: m, kind: ptr("protocolType"), session: 600000, rebalance: 600000})
	b.inState(event.CompletingRebalance)
	b.now += 2
	b.cleanNow()
	all := map[string]int64{"topic-0": 5, "topic-1": 5, "topic-2": 5}
	b.wantOffsets(all)
	b.leave(groupID, 5, m)
	emptyMs := b.now
	b.cleanNow()
	delete(all, "topic-0")
	b.wantOffsets(all)
	b.now += 2
	b.cleanNow()
	delete(all, "topic-1")
	b.wantOffsets(all)
	b.now = emptyMs + 20*60000 - 1
	b.cleanNow()
	b.wantOffsets(all)
	b.now++
	b.cleanNow()
	if b.c.groups[groupID] != nil {
		t.Fatal("the group is there")
	}
}

// An active consumer group keeps the topics that it reads; what it has left expires, only while it is Stable (B25,
// KAFKA-13636), and not where nobody knows what it reads.
func TestB25_ExpiryOfAnActiveGroup(t *testing.T) {
	b := withRetention(newBench(t), 1)
	w := joinWith{session: 600000, rebalance: 600000, protocols: subscribed("range", "foo")}
	m := b.oneStable(w)
	for _, topic := range []string{"foo", "bar"} {
		b.commit(commitWith{id: &m, generation: 1, topic: topic, offsets: map[int32]int64{0: 7}})
	}
	b.advance(61000)
	d := b.direct("d", joinWith{session: 600000, rebalance: 600000, protocols: subscribed("range", "foo")})
	b.inState(event.PreparingRebalance)
	b.cleanNow()
	b.wantOffsets(map[string]int64{"foo-0": 7, "bar-0": 7})
	b.join("m", again(m, w))
	b.inState(event.CompletingRebalance)
	b.cleanNow()
	b.wantOffsets(map[string]int64{"foo-0": 7, "bar-0": 7})
	b.sync(m, 2, nil)
	b.sync(b.joined(d).MemberID, 2, nil)
	b.inState(event.Stable)
	b.cleanNow()
	b.wantOffsets(map[string]int64{"foo-0": 7})
}

// What is being written, or is part of an open transaction, does not expire.
func TestExpirySparesWhatIsUnderWay(t *testing.T) {
	b := withRetention(newBench(t), 1)
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{0: 1, 1: 1, 2: 1}})
	b.txnDone(b.txnCommit(txnWith{offsets: map[int32]int64{1: 2}}))
	b.hold = true
	b.commit(simple(2))
	b.advance(61000)
	b.cleanNow()
	b.wantOffsets(map[string]int64{"topic-0": 1, "topic-1": 1})
	b.hold = false
	b.release(0)
	b.c.TxnMarker(b.now, Marker{ProducerID: 1000})
	b.cleanNow() // both commits are as old as the first now
	if b.c.groups[groupID] != nil {
		t.Fatalf("%+v", b.c.groups[groupID])
	}
}

// The state's time of a loaded Empty group counts where the record has one; otherwise each commit's own (old records).
func TestExpiryAfterALoad(t *testing.T) {
	for since, left := range map[int64]int{500: 0, 100000: 1, -1: 0} {
		b := withRetention(unloaded(t), 1)
		v := record.Group{ProtocolType: "consumer", Generation: 3, StateTimestampMs: since}
		old := record.Record{Key: record.OffsetKey(groupID, "foo", 0), Value: record.OffsetValue(record.Offset{Offset: 1,
			LeaderEpoch: -1, CommitTimestampMs: 600, ExpireTimestampMs: -1})}
		b.load(0, 2, batchAt(0, record.Record{Key: record.GroupKey(groupID), Value: record.GroupValue(v)}, old))
		b.advance(100000)
		b.cleanNow()
		if n := len(b.c.groups); n != left {
			t.Fatalf("Empty since %d: %d groups are left", since, n)
		}
	}
}

// The job runs at multiples of its interval, however late a group comes, and a late host runs it once.
func TestCleanupInterval(t *testing.T) {
	b := newBench(t)
	b.advance(checkEveryMs + 1000)
	if next := b.c.Take().DeadlineMs; next != -1 {
		t.Fatalf("an idle machine is woken at %d", next)
	}
	b.commit(simple(1))
	b.advance(checkEveryMs)
	if ran := eventsOf[event.CleanupRan](b); len(ran) != 1 || ran[0].Groups != 1 {
		t.Fatalf("%+v", ran)
	}
	b.now += 10 * checkEveryMs
	b.c.Advance(b.now)
	b.take()
	if ran := eventsOf[event.CleanupRan](b); len(ran) != 2 {
		t.Fatalf("%+v", ran)
	}
	b.advance(checkEveryMs)
	if ran := eventsOf[event.CleanupRan](b); len(ran) != 3 {
		t.Fatalf("%+v", ran)
	}
	s := caseSettings()
	s.OffsetsRetentionCheckIntervalMs = 0
	b = newBench(t)
	b.c.ConfigChanged(b.now, s)
	b.commit(simple(1))
	b.advance(checkEveryMs)
	if ran := eventsOf[event.CleanupRan](b); len(ran) != 0 {
		t.Fatalf("%+v", ran)
	}
}

// A refused join leaves an Empty group, and issued ids do not hold it: the job removes both, and no timer is left.
func TestCleanupOfAGroupThatNeverWas(t *testing.T) {
	b := newBench(t)
	wantCode(t, "join", b.joined(b.join("m", joinWith{version: 3, protocols: protocolList()})).ErrorCode, 23)
	b.advance(checkEveryMs - 300)
	id := b.issued("m", joinWith{})
	b.runCleanup()
	if b.c.groups[groupID] != nil || b.c.wheel.Size() != 0 {
		t.Fatalf("%d timers", b.c.wheel.Size())
	}
	wantCode(t, "second step", b.joined(b.join("m", joinWith{version: 9, id: id})).ErrorCode, 25)
	b.wantTombstones("[group groupId]")
}

// kop#303: a retention of -1 is the broker's; another one counts from the commit (value version 1).
func TestB27_RetentionOfOldCommits(t *testing.T) {
	for _, version := range []int16{2, 3, 4} {
		b := newBench(t)
		m := b.oneStable(joinWith{session: 600000, rebalance: 600000})
		w := commitWith{version: version, id: &m, generation: 1, retention: -1, offsets: map[int32]int64{0: 1}}
		b.commit(w)
		w.retention, w.offsets = 60000, map[int32]int64{1: 1}
		b.commit(w)
		b.leave(groupID, 5, m)
		b.advance(59999)
		b.cleanNow()
		b.wantOffsets(map[string]int64{"topic-0": 1, "topic-1": 1})
		b.advance(1)
		b.cleanNow()
		b.wantOffsets(map[string]int64{"topic-0": 1})
		b.advance(15 * 60000)
		b.wantOffsets(map[string]int64{"topic-0": 1})
	}
}
