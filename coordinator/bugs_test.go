package coordinator

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Public faults of coordinators, as regression inputs. Times are the faults' own: session 10 s, rebalance 30 s, initial
// delay 3 s.

func newBugBench(t *testing.T) *bench {
	b := newBench(t)
	s := DefaultSettings()
	b.c.ConfigChanged(b.now, s)
	return b
}

var usual = joinWith{session: 10000, rebalance: 30000}

// stablePair is M1, the leader, and M2, Stable at generation 1.
func stablePair(b *bench) (one, two string) {
	b.t.Helper()
	one, first := b.twoStep("m1", usual)
	two, _ = b.twoStep("m2", usual)
	b.advance(6001)
	if resp := b.joined(first); resp.ErrorCode != 0 || resp.LeaderID != one || resp.Generation != 1 {
		b.t.Fatalf("%+v", resp)
	}
	b.sync(one, 1, map[string]string{one: "1", two: "2"})
	b.sync(two, 1, nil)
	b.inState(event.Stable)
	return one, two
}

// keep lets time pass while members send a heartbeat each 3 s.
func (b *bench) keep(ms int64, generation int32, ids ...string) {
	b.t.Helper()
	for ; ms > 0; ms -= 3000 {
		b.advance(min(ms, 3000))
		for _, id := range ids {
			b.heartbeat(id, generation)
		}
	}
}

func again(id string, w joinWith) joinWith {
	w.version, w.id = 9, id
	return w
}

// redpanda-data/redpanda#3300: a group whose members have all lost their connections stays in PreparingRebalance.
func TestB01_EverybodyIsGone(t *testing.T) {
	b := newBugBench(t)
	stablePair(b)
	third := b.direct("m3", usual)
	b.inState(event.PreparingRebalance)
	b.advance(10001)
	if resp := b.joined(third); resp.ErrorCode != 0 || resp.Generation != 2 || len(resp.Members) != 1 {
		t.Fatalf("%+v", resp)
	}
	b.advance(10001)
	b.inState(event.Empty)
	if g := b.c.groups[groupID]; g.generation != 3 || waiting(b.c) != 0 {
		t.Fatalf("generation %d, %d timers", g.generation, waiting(b.c))
	}
}

// redpanda-data/redpanda#3761: a client that took an id and vanished blocks every later rebalance.
func TestB03_PendingIDExpires(t *testing.T) {
	b := newBugBench(t)
	one, _ := b.twoStep("m1", usual)
	b.advance(3001)
	b.sync(one, 1, nil)
	b.issued("x", usual)
	rejoin := b.join("m1", again(one, usual))
	b.advance(9999)
	b.unanswered(rejoin)
	b.advance(2)
	if resp := b.joined(rejoin); resp.ErrorCode != 0 || resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
}

// apache/kafka#10863: a leader that heartbeats but never syncs must not hold the group in CompletingRebalance.
func TestB08_LeaderNeverSyncs(t *testing.T) {
	b := newBugBench(t)
	one, _ := b.twoStep("m1", usual)
	two, _ := b.twoStep("m2", usual)
	b.advance(6001)
	parked := b.sync(two, 1, nil)
	b.keep(27000, 1, one)
	b.unanswered(parked)
	b.keep(3000, 1, one)
	wantCode(t, "M2's sync", b.synced(parked).ErrorCode, 27)
	wantCode(t, "M1's heartbeat", b.heartbeat(one, 1), 25)
	b.inState(event.PreparingRebalance)
}

// redpanda-data/redpanda#22749: an old member that waits is excused, a new one is not beyond five minutes.
func TestB11_WhoMayBeExpiredWhileParked(t *testing.T) {
	b := newBugBench(t)
	long := joinWith{session: 10000, rebalance: 590000}
	one, first := b.twoStep("m1", long)
	two, _ := b.twoStep("m2", long)
	b.advance(6001)
	b.joined(first)
	b.sync(one, 1, nil)
	b.sync(two, 1, nil)
	x := b.direct("x", long)
	rejoin := b.join("m1", again(one, long))
	b.keep(60000, 1, two)
	b.members(3)
	b.keep(240001, 1, two)
	wantCode(t, "X", b.joined(x).ErrorCode, 25)
	b.members(2)
	b.keep(290000, 1, two)
	resp := b.joined(rejoin)
	if resp.ErrorCode != 0 || len(resp.Members) != 1 || resp.Members[0].MemberID != one {
		t.Fatalf("%+v", resp)
	}
	removed := eventsOf[event.MemberRemoved](b)
	if last := removed[len(removed)-1]; last.Member != two || last.Why != event.WhyNotRejoined {
		t.Fatalf("%+v", last)
	}
}

// seaweedfs/seaweedfs#9162: a member that joins after the leader got its list is never given partitions.
func TestB21_LateJoiner(t *testing.T) {
	b := newBugBench(t)
	one, two := stablePair(b)
	rejoin := b.join("m1", again(one, usual))
	b.join("m2", again(two, usual))
	if resp := b.joined(rejoin); resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	third := b.direct("m3", usual)
	wantCode(t, "the leader's sync", b.synced(b.sync(one, 2, map[string]string{one: "1", two: "2"})).ErrorCode, 27)
	rejoin = b.join("m1", again(one, usual))
	b.join("m2", again(two, usual))
	if resp := b.joined(rejoin); resp.Generation != 3 || len(resp.Members) != 3 {
		t.Fatalf("%+v", resp)
	}
	id := b.joined(third).MemberID
	b.sync(one, 3, map[string]string{one: "1", two: "2", id: "3"})
	for id, want := range map[string]string{one: "1", two: "2", id: "3"} {
		if resp := b.synced(b.sync(id, 3, nil)); string(resp.MemberAssignment) != want {
			t.Fatalf("%+v", resp)
		}
	}
}

// apache/kafka#7072: version 0 has no rebalance timeout; with 0 or -1 the others would be thrown out at once.
func TestB33_JoinGroupVersion0(t *testing.T) {
	b := newBugBench(t)
	old := joinWith{session: 10000, rebalance: -1}
	t1, t2 := b.join("m1", old), b.join("m2", old)
	b.advance(10001)
	one, two := b.joined(t1).MemberID, b.joined(t2).MemberID
	b.sync(one, 1, nil)
	b.sync(two, 1, nil)
	t3 := b.join("m3", old)
	b.advance(3000)
	b.unanswered(t3)
	for _, id := range []string{one, two} {
		w := old
		w.id = id
		b.join("m", w)
	}
	if resp := b.joined(t3); resp.ErrorCode != 0 || resp.Generation != 2 {
		t.Fatalf("%+v", resp)
	}
	b.members(3)
}

// redpanda-data/redpanda#3732: a failover must not cost a rebalance; who stays silent goes then.
func TestB38_RecoveryWithoutRebalance(t *testing.T) {
	b := newBugBench(t)
	one, two := stablePair(b)
	var log []LoadedBatch
	for i, a := range b.written {
		log = append(log, batchAt(int64(i), a.Records...))
	}
	before := b.describe(groupID, 5)
	b.c.Emigrate(b.now, 0, 1)
	b.advance(9000)
	b.load(0, 2, log...)
	after := b.describe(groupID, 5)
	if after.State != "Stable" || len(after.Members) != 2 || string(after.Members[0].MemberAssignment) != string(before.Members[0].MemberAssignment) {
		t.Fatalf("%+v, before %+v", after, before)
	}
	b.advance(9000)
	wantCode(t, "M1", b.heartbeat(one, 1), 0)
	if b.c.groups[groupID].leader != one {
		t.Fatal(b.c.groups[groupID].leader)
	}
	b.advance(1001)
	wantCode(t, "M2", b.heartbeat(two, 1), 25)
}

// segmentio/kafka-go#1432: only version 4 and later take the two steps.
func TestB39_VersionGate(t *testing.T) {
	for version := int16(0); version <= 9; version++ {
		b := newBugBench(t)
		ticket := b.join("m", joinWith{version: version, session: 10000, rebalance: 30000})
		if version >= 4 {
			wantCode(t, "join", b.joined(ticket).ErrorCode, 79)
			continue
		}
		b.unanswered(ticket)
		b.advance(3001)
		if resp := b.joined(ticket); resp.ErrorCode != 0 || resp.MemberID == "" {
			t.Fatalf("v%d: %+v", version, resp)
		}
	}
}

// confluentinc/librdkafka#4908: a refused commit takes nothing from the member.
func TestB41_CommitOfAnOldGeneration(t *testing.T) {
	b := newBugBench(t)
	one, two := stablePair(b)
	rejoin := b.join("m1", again(one, usual))
	b.join("m2", again(two, usual))
	b.joined(rejoin)
	late := commitWith{id: &one, generation: 1, offsets: map[int32]int64{0: 7}}
	wantCode(t, "in CompletingRebalance", b.committed(b.commit(late)), 22)
	wantCode(t, "sync", b.synced(b.sync(one, 2, nil)).ErrorCode, 0)
	wantCode(t, "in Stable", b.committed(b.commit(late)), 22)
	wantCode(t, "heartbeat", b.heartbeat(one, 2), 0)
	if b.c.groups[groupID].hasOffsets() {
		t.Fatal("something was stored")
	}
}

// confluentinc/librdkafka#4533: new partitions start no rebalance by themselves; a follower that joins again unchanged
// gets what it has, the leader starts one.
func TestB58_PartitionGrowth(t *testing.T) {
	b := newBugBench(t)
	one, two := stablePair(b)
	b.c.MetadataChanged(b.now, Metadata{Topics: map[string]int32{"topic": 20}, OffsetsLeaders: []int32{1, 2}})
	b.inState(event.Stable)
	if resp := b.joined(b.join("m2", again(two, usual))); resp.Generation != 1 {
		t.Fatalf("%+v", resp)
	}
	b.inState(event.Stable)
	b.join("m1", again(one, usual))
	b.inState(event.PreparingRebalance)
}

// aklivity/zilla#653: a broker that does not lead the group's partition says so in the field that the version has, and
// creates nothing.
func TestB62_WrongBroker(t *testing.T) {
	b := newBugBench(t)
	other := otherGroup
	wantCode(t, "fetch", b.fetchGroup(other, false, "topic", 0).ErrorCode, 16)
	wantCode(t, "commit", b.committed(b.commit(commitWith{group: &other, generation: -1, offsets: map[int32]int64{0: 1}})), 16)
	wantCode(t, "describe", b.describe(other, 6).ErrorCode, 16)
	wantCode(t, "heartbeat", b.heartbeatOf(other, "m", 1), 16)
	wantCode(t, "leave", b.leave(other, 5, "m").ErrorCode, 16)
	q := kmsg.NewPtrJoinGroupRequest()
	q.Version, q.Group, q.SessionTimeoutMillis = 9, other, 10000
	wantCode(t, "join", b.joined(b.send("m", q)).ErrorCode, 16)
	if len(b.c.groups) != 0 || len(b.list(5).Groups) != 0 {
		t.Fatal("a group was created")
	}
}

// apache/kafka#2455: a group id that was deleted and is used again only to store offsets.
func TestB88_ReuseOfADeletedGroup(t *testing.T) {
	deleted := []record.Record{offsetRecord("foo", 0, 5), groupRecord(3, "m")}
	rest := []record.Record{tombstone(record.OffsetKey(groupID, "foo", 0)), tombstone(record.GroupKey(groupID)), offsetRecord("foo", 0, 9)}
	for _, log := range [][]record.Record{append(deleted, rest...), rest} {
		b := unloaded(t)
		b.load(0, 2, batchAt(0, log...))
		b.inState(event.Empty)
		b.wantOffsets(map[string]int64{"foo-0": 9})
		if g := b.c.groups[groupID]; g.protocolType != "" || g.generation != 0 {
			t.Fatalf("%+v", g)
		}
	}
}
