package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Public faults about offsets and the log; see bugs_test.go.

// redpanda-data/redpanda#2597: while a coordinator loads, nobody is told that there is no offset.
func TestB24_OffsetFetchWhileLoading(t *testing.T) {
	b := unloaded(t)
	b.c.Immigrate(b.now, 0, 2, 1)
	b.take()
	b.wantFetch(groupID, false, -1, 14)
	wantCode(t, "commit", b.committed(b.commit(simple(1))), 14)
	wantCode(t, "join", b.joined(b.join("m", joinWith{version: 9})).ErrorCode, 14)
	wantCode(t, "heartbeat", b.heartbeat("m", 1), 0)
	b.c.Load(b.now, 0, 2, batchAt(0, offsetRecord("topic", 0, 42)))
	b.wantFetch(groupID, false, -1, 14)
	b.c.Loaded(b.now, 0, 2, "")
	b.take()
	b.wantFetch(groupID, false, 42, 0)
	b.wantFetch("deadGroupId", false, -1, 0)
}

// deviceinsight/kafkactl#217: a group whose last member left is Empty, not Dead.
func TestB29_EmptyVersusDead(t *testing.T) {
	b := newBugBench(t)
	one, two := stablePair(b)
	b.commit(commitWith{id: &one, generation: 1, offsets: map[int32]int64{0: 4}})
	b.leave(groupID, 5, one)
	b.leave(groupID, 5, two)
	d := b.describe(groupID, 5)
	if d.State != "Empty" || d.ProtocolType != "consumer" || d.ErrorCode != 0 {
		t.Fatalf("%+v", d)
	}
	if g := b.c.groups[groupID]; g.generation != 2 {
		t.Fatalf("generation %d", g.generation)
	}
	list := b.list(5)
	if len(list.Groups) != 1 || list.Groups[0].GroupState != "Empty" || list.Groups[0].ProtocolType != "consumer" {
		t.Fatalf("%+v", list)
	}
	wantCode(t, "reset by a tool", b.committed(b.commit(simple(0))), 0)
}

// apache/kafka#6894: member first, generation second, state last.
func TestB36_OrderOfChecksOfACommit(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	for what, c := range map[string]struct {
		id         string
		generation int32
		want       int16
	}{
		"unknown id":             {"x", 1, 25},
		"member, old generation": {m, 0, 22},
		"member, its generation": {m, 1, 27},
		"no id, no generation":   {"", -1, 25},
	} {
		w := commitWith{id: &c.id, generation: c.generation, offsets: map[int32]int64{0: 1}}
		wantCode(t, what, b.committed(b.commit(w)), c.want)
	}
}

// apache/kafka#13511: records of a newer broker are skipped, one warning a kind; a key that cannot be read ends the load.
func TestB86_UnknownKeyVersions(t *testing.T) {
	newer := func(version byte) record.Record {
		return record.Record{Key: []byte{0, version, 0, 1, 'g'}, Value: []byte{0, 0}}
	}
	old := offsetRecord("foo", 1, 6)
	old.Key = append([]byte{0, 0}, old.Key[2:]...) // keys of version 0 and 1 are both offset commits
	list := []record.Record{offsetRecord("foo", 0, 5), newer(42), old}
	for version := byte(3); version <= 16; version++ {
		list = append(list, newer(version))
	}
	list = append(list, newer(42), groupRecord(7, "m"), offsetRecord("foo", 2, 7))
	b := unloaded(t)
	b.load(0, 2, batchAt(0, list...))
	b.inState(event.Stable)
	b.wantOffsets(map[string]int64{"foo-0": 5, "foo-1": 6, "foo-2": 7})
	if n := len(eventsOf[event.LoadSkipped](b)); n != 15 {
		t.Fatalf("%d warnings for 15 kinds", n)
	}
	for _, key := range [][]byte{nil, {1}} {
		b = unloaded(t)
		b.load(0, 2, batchAt(0, offsetRecord("foo", 0, 5), record.Record{Key: key, Value: []byte{0, 1}}))
		done := eventsOf[event.LoadFinished](b)
		if done[len(done)-1].Failed == "" || len(b.c.groups) != 0 {
			t.Fatalf("%v: %+v", key, done)
		}
	}
}

// redpanda-data/kminion#5: tombstones count, each for itself: that of a group does not delete its offsets.
func TestB92_Tombstones(t *testing.T) {
	log := []record.Record{offsetRecord("foo", 0, 1), offsetRecord("bar", 0, 2), groupRecord(3),
		tombstone(record.OffsetKey(groupID, "foo", 0)), tombstone(record.GroupKey(groupID)), tombstone(record.OffsetKey(groupID, "bar", 0))}
	for n, want := range map[int]map[string]int64{3: {"foo-0": 1, "bar-0": 2}, 4: {"bar-0": 2}, 5: {"bar-0": 2}} {
		b := unloaded(t)
		b.load(0, 2, batchAt(0, log[:n]...))
		b.wantOffsets(want)
		if g := b.c.groups[groupID]; (g.generation == 3) != (n < 5) {
			t.Fatalf("after %d records: %+v", n, g)
		}
	}
	b := unloaded(t)
	b.load(0, 2, batchAt(0, log...))
	if len(b.c.groups) != 0 {
		t.Fatal("the group is there")
	}
}

// LOAD-13: who asks whether a group exists is told so only by its coordinator.
func TestLOAD13_ExistenceTest(t *testing.T) {
	b := unloaded(t)
	wantCode(t, "not owned", b.deleteGroups(groupID).Groups[0].ErrorCode, 16)
	b.load(0, 2)
	wantCode(t, "absent", b.deleteGroups(groupID).Groups[0].ErrorCode, 69)
	if d := b.describe(groupID, 5); d.State != "Dead" {
		t.Fatalf("%+v", d)
	}
	b.commit(simple(1))
	if d := b.describe(groupID, 5); d.State != "Empty" {
		t.Fatalf("%+v", d)
	}
	wantCode(t, "present", b.deleteGroups(groupID).Groups[0].ErrorCode, 0)
	if d := b.describe(groupID, 5); d.State != "Dead" {
		t.Fatalf("%+v", d)
	}
	wantCode(t, "dead", b.deleteGroups(groupID).Groups[0].ErrorCode, 69)
}
