package coordinator

import (
	"math"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

func simple(offset int64) commitWith {
	return commitWith{generation: -1, offsets: map[int32]int64{0: offset}}
}

func TestOC01_GroupCreationRule(t *testing.T) {
	b := newBench(t)
	w := commitWith{id: ptr("memberId"), generation: 1, offsets: map[int32]int64{0: 1}}
	wantCode(t, "generation 1", b.committed(b.commit(w)), 22)
	w.version = 9
	wantCode(t, "generation 1, v9", b.committed(b.commit(w)), 69)
	if b.c.groups[groupID] != nil {
		t.Fatal("the group was created")
	}
	wantCode(t, "generation -1", b.committed(b.commit(simple(1))), 0)
	b.inState(event.Empty)
}

func TestOC02_CommitAfterTheGroupEmpties(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	b.leave(groupID, 5, m)
	wantCode(t, "commit", b.committed(b.commit(simple(0))), 0)
	if offset, code := b.fetch(groupID, "topic", 0, true); offset != 0 || code != 0 {
		t.Fatal(offset, code)
	}
}

func TestOC03_CompletingRebalance(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	wantCode(t, "commit", b.committed(b.commit(commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 1}})), 27)
}

func TestOC04_IDsIgnoredOnAnEmptyGroup(t *testing.T) {
	b := newBench(t)
	w := simple(2)
	w.instance = ptr("instance-id")
	wantCode(t, "instance", b.committed(b.commit(w)), 0)
	w = simple(2)
	w.id = ptr("unknown")
	wantCode(t, "unknown", b.committed(b.commit(w)), 0)
}

func TestOC05_ValuesComeBack(t *testing.T) {
	b := newBench(t)
	w := simple(97)
	w.metadata, w.epoch = ptr("some metadata"), 15
	b.commit(w)
	g := b.fetchGroup(groupID, true, "topic", 0)
	p := g.Topics[0].Partitions[0]
	if p.Offset != 97 || *p.Metadata != "some metadata" || p.LeaderEpoch != 15 || p.ErrorCode != 0 {
		t.Fatalf("%+v", p)
	}
}

func TestOC06_EmptyGroupIDIsLegal(t *testing.T) {
	b := newBench(t)
	w := simple(5)
	w.group = ptr("")
	wantCode(t, "commit", b.committed(b.commit(w)), 0)
	if offset, code := b.fetch("", "topic", 0, false); offset != 5 || code != 0 {
		t.Fatal(offset, code)
	}
	if d := b.describe("", 5); d.State != "Empty" || d.ErrorCode != 0 {
		t.Fatalf("%+v", d)
	}
	wantCode(t, "delete", b.deleteGroups("").Groups[0].ErrorCode, 0)
	if offset, code := b.fetch("", "topic", 0, false); offset != -1 || code != 0 {
		t.Fatal(offset, code)
	}
}

func TestOC07_OversizedMetadataAlone(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	w.metadata = ptr(strings.Repeat("x", 4097))
	wantCode(t, "commit", b.committed(b.commit(w)), 12)
	if len(b.written) != 0 || b.c.groups[groupID].hasOffsets() {
		t.Fatal("something was written")
	}
	if offset, code := b.fetch(groupID, "topic", 0, true); offset != -1 || code != 0 {
		t.Fatal(offset, code)
	}
	if n := len(eventsOf[event.OffsetsCommitted](b)) + len(eventsOf[event.OffsetsPending](b)); n != 0 {
		t.Fatalf("%d commits are told", n)
	}
	// The limit counts UTF-16 units: 4096 letters of two bytes fit, 2049 characters of two units do not.
	w.metadata = ptr(strings.Repeat("é", 4096))
	wantCode(t, "é", b.committed(b.commit(w)), 0)
	w.metadata = ptr(strings.Repeat("😀", 2049))
	wantCode(t, "😀", b.committed(b.commit(w)), 12)
}

func TestOC08_AppendErrorMapping(t *testing.T) {
	for code, want := range map[int16]int16{3: 15, 19: 15, 20: 15, 6: 16, 56: 16, 13: 14, 7: 15, 10: -1, 18: -1, 4: -1, 2: 2} {
		b := newBench(t)
		b.hold = true
		ticket := b.commit(simple(1))
		if !b.c.groups[groupID].hasOffsets() {
			t.Fatal("nothing is pending")
		}
		b.release(code)
		wantCode(t, "commit", b.committed(ticket), want)
		if b.c.groups[groupID].hasOffsets() {
			t.Fatal("something is left")
		}
		if offset, code := b.fetch(groupID, "topic", 0, true); offset != -1 || code != 0 {
			t.Fatal(offset, code)
		}
	}
	b := newBench(t)
	w := simple(1)
	w.group = ptr(otherGroup)
	wantCode(t, "not owned", b.committed(b.commit(w)), 16)
}

func TestOC09_VisibleOnlyAfterTheAck(t *testing.T) {
	b := newBench(t)
	b.hold = true
	ticket := b.commit(simple(37))
	b.unanswered(ticket)
	if !b.c.groups[groupID].hasOffsets() {
		t.Fatal("nothing is pending")
	}
	if offset, code := b.fetch(groupID, "topic", 0, false); offset != -1 || code != 0 {
		t.Fatal(offset, code)
	}
	b.release(0)
	wantCode(t, "commit", b.committed(ticket), 0)
	if offset, code := b.fetch(groupID, "topic", 0, true); offset != 37 || code != 0 {
		t.Fatal(offset, code)
	}
}

func TestOC10_TwoCommitsInFlight(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.commit(simple(37))
	b.commit(simple(57))
	p := b.c.groups[groupID].find("topic", 0)
	if p.pending == nil || p.pending.offset != 57 {
		t.Fatalf("%+v", p)
	}
	first, second := b.held[0], b.held[1]
	b.held = nil
	b.acknowledge(first, 0)
	b.take()
	if p.offset != 37 || p.pending == nil || p.pending.offset != 57 {
		t.Fatalf("%+v", p)
	}
	b.acknowledge(second, 0)
	b.take()
	if p.offset != 57 || p.pending != nil {
		t.Fatalf("%+v", p)
	}
}

// The position in the log decides, not the order of the acknowledgements.
func TestCommitsAcknowledgedOutOfOrder(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.commit(simple(37))
	b.commit(simple(57))
	b.c.Appended(b.now, b.held[1].Ticket, 5, 0)
	b.c.Appended(b.now, b.held[0].Ticket, 4, 0)
	b.take()
	if p := b.c.groups[groupID].find("topic", 0); p.offset != 57 || p.baseOffset != 5 || p.pending != nil {
		t.Fatalf("%+v", p)
	}
}

func TestOC11_NonMemberIntoALiveGroup(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	wantCode(t, "no id", b.committed(b.commit(simple(1))), 25)
	w := simple(1)
	w.id = &m
	wantCode(t, "generation -1", b.committed(b.commit(w)), 22)
}

func TestOC12_CompletingRebalanceWithBadIdentity(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	w := commitWith{id: ptr(""), generation: 1, offsets: map[int32]int64{0: 1}}
	wantCode(t, "no id", b.committed(b.commit(w)), 25)
	w = commitWith{id: &m, generation: 2, offsets: map[int32]int64{0: 1}}
	wantCode(t, "generation 2", b.committed(b.commit(w)), 22)
}

// During PreparingRebalance a commit with the old generation is stored: members commit before they join again.
func TestCommitWhileTheGroupPreparesARebalance(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.direct("d", joinWith{})
	wantCode(t, "commit", b.committed(b.commit(commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 7}})), 0)
}

func TestCommitOfUnknownAndOversizedPartitions(t *testing.T) {
	b := newBench(t)
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.Generation = 8, groupID, -1
	add := func(topic string, partition int32, metadata *string) {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = topic
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = partition, int64(partition)+100, metadata
		t.Partitions = append(t.Partitions, p)
		q.Topics = append(q.Topics, t)
	}
	add("topic", 3, nil)
	add("topic", 10, nil)
	add("topic", -1, nil)
	add("nowhere", 0, nil)
	add("foo", 1, ptr(strings.Repeat("x", 5000)))
	add("foo", 2, ptr("m"))
	b.hold = true
	ticket := b.send("m", q)
	b.unanswered(ticket)
	b.release(0)
	resp := answer[*kmsg.OffsetCommitResponse](b, ticket)
	for i, want := range []int16{0, 3, 3, 3, 12, 0} {
		wantCode(t, resp.Topics[i].Topic, resp.Topics[i].Partitions[0].ErrorCode, want)
	}
	if n := len(b.written[0].Records); n != 2 {
		t.Fatalf("%d records", n)
	}
	// Where no partition is known, the group is not even looked for.
	q.Topics, q.Group = q.Topics[1:4], otherGroup
	resp = answer[*kmsg.OffsetCommitResponse](b, b.send("m", q))
	wantCode(t, "unknown", resp.Topics[0].Partitions[0].ErrorCode, 3)
}

// A retention of -1 is none; another one is written with the value (B27).
func TestRetentionOfAnOldCommit(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	w.version, w.retention = 2, -1
	b.commit(w)
	w.version, w.retention = 4, 60000
	b.commit(w)
	for i, want := range []int64{-1, b.now + 60000} {
		v, err := record.DecodeOffset(b.written[i].Records[0].Value)
		if err != nil || v.ExpireTimestampMs != want || v.CommitTimestampMs != b.now {
			t.Fatalf("%+v, %v", v, err)
		}
	}
}

func TestOF01_UnknownAndNotOwned(t *testing.T) {
	b := newBench(t)
	if offset, code := b.fetch(groupID, "topic", 0, false); offset != -1 || code != 0 {
		t.Fatal(offset, code)
	}
	g := b.fetchGroup(otherGroup, false, "topic", 0)
	if g.ErrorCode != 16 || len(g.Topics) != 0 {
		t.Fatalf("%+v", g)
	}
}

func TestOF02_AllTopics(t *testing.T) {
	b := newBench(t)
	if g := b.fetchGroup(groupID, false, ""); g.ErrorCode != 0 || len(g.Topics) != 0 {
		t.Fatalf("%+v", g)
	}
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{0: 15, 1: 16}})
	b.commit(commitWith{generation: -1, topic: "other-topic", offsets: map[int32]int64{0: 17}})
	b.hold = true
	b.commit(commitWith{generation: -1, topic: "foo", offsets: map[int32]int64{0: 99}}) // only pending: not listed
	g := b.fetchGroup(groupID, false, "")
	want := "topic: 0=15/0 epoch 0 \"\", 1=16/0; other-topic: 0=17/0 epoch 0 \"\"; "
	if got := fetchedText(g); g.ErrorCode != 0 || got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

func TestOF03_InFlightPlainCommit(t *testing.T) {
	b := newBench(t)
	b.commit(simple(5))
	b.hold = true
	b.commit(simple(6))
	if offset, code := b.fetch(groupID, "topic", 0, true); offset != -1 || code != 88 {
		t.Fatal(offset, code)
	}
	if offset, code := b.fetch(groupID, "topic", 0, false); offset != 5 || code != 0 {
		t.Fatal(offset, code)
	}
}

// The shapes of old versions: one group, errors at the top from version 2, in the partitions before.
func TestOffsetFetchOldVersions(t *testing.T) {
	b := newBench(t)
	b.commit(simple(5))
	for version := int16(1); version <= 7; version++ {
		q := kmsg.NewPtrOffsetFetchRequest()
		q.Version, q.Group = version, groupID
		q.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "topic", Partitions: []int32{0, 1}}}
		resp := answer[*kmsg.OffsetFetchResponse](b, b.send("m", q))
		if p := resp.Topics[0].Partitions; p[0].Offset != 5 || p[1].Offset != -1 || p[1].ErrorCode != 0 {
			t.Fatalf("v%d: %+v", version, resp)
		}
		q.Group = otherGroup
		resp = answer[*kmsg.OffsetFetchResponse](b, b.send("m", q))
		if version < 2 && resp.Topics[0].Partitions[1].ErrorCode != 16 || version >= 2 && (resp.ErrorCode != 16 || len(resp.Topics) != 0) {
			t.Fatalf("v%d: %+v", version, resp)
		}
		if version < 2 {
			continue
		}
		q.Group, q.Topics = groupID, nil
		resp = answer[*kmsg.OffsetFetchResponse](b, b.send("m", q))
		if len(resp.Topics) != 1 || resp.Topics[0].Partitions[0].Offset != 5 {
			t.Fatalf("v%d, all: %+v", version, resp)
		}
	}
}

// Partitions far apart and out of order lie in one ascending slice.
func TestOffsetsOfManyPartitions(t *testing.T) {
	g := newGroup("g", 0, 0)
	for _, p := range []int32{7, 3, 2147483647, 0, 5, 3, 9} {
		g.make("t", p).commit(&offsetValue{offset: int64(p) * 2, expireMs: -1}, 0)
	}
	last := int32(-1)
	for _, p := range g.topics[0].partitions {
		if p.partition <= last {
			t.Fatalf("%d after %d", p.partition, last)
		}
		last = p.partition
		if o := g.find("t", p.partition); o.offset != int64(p.partition)*2 {
			t.Fatalf("%+v", o)
		}
	}
	if g.find("t", 4) != nil || g.find("u", 0) != nil || len(g.topics[0].partitions) != 6 {
		t.Fatal("found what is not there")
	}
}

// Partitions come from requests: a number that no partition has is one without an offset, whatever else the topic holds.
// Partition 2 exists and has none.
func TestPartitionsThatCannotBe(t *testing.T) {
	b := newBench(t)
	b.commit(commitWith{generation: -1, offsets: map[int32]int64{0: 15, 1: 16}})
	for _, partition := range []int32{-1, -2, math.MinInt32, math.MaxInt32, 2} {
		for _, stable := range []bool{false, true} {
			if offset, code := b.fetch(groupID, "topic", partition, stable); offset != -1 || code != 0 {
				t.Fatalf("partition %d: %d, code %d", partition, offset, code)
			}
		}
		q := kmsg.NewPtrOffsetDeleteRequest()
		q.Group = groupID
		q.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "topic", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: partition}}}}
		deleted := answer[*kmsg.OffsetDeleteResponse](b, b.send("m", q))
		if code := deleted.Topics[0].Partitions[0].ErrorCode; deleted.ErrorCode != 0 || (code != 3) != (partition == 2) {
			t.Fatalf("deleting partition %d: codes %d and %d", partition, deleted.ErrorCode, code)
		}
	}
	if offset, code := b.fetch(groupID, "topic", 1, false); offset != 16 || code != 0 {
		t.Fatalf("%d, code %d", offset, code)
	}
}
