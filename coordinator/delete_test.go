package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

func (b *bench) askDeleteGroups(groups ...string) Ticket {
	b.t.Helper()
	q := kmsg.NewPtrDeleteGroupsRequest()
	q.Version, q.Groups = 2, groups
	return b.send("admin", q)
}

func (b *bench) deleteGroups(groups ...string) *kmsg.DeleteGroupsResponse {
	b.t.Helper()
	return answer[*kmsg.DeleteGroupsResponse](b, b.askDeleteGroups(groups...))
}

// at is a topic and partition.
type at struct {
	topic     string
	partition int32
}

func (b *bench) askDeleteOffsets(group string, places ...at) Ticket {
	b.t.Helper()
	q := kmsg.NewPtrOffsetDeleteRequest()
	q.Group = group
	for _, p := range places {
		q.Topics = append(q.Topics, kmsg.OffsetDeleteRequestTopic{Topic: p.topic,
			Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{Partition: p.partition}}})
	}
	return b.send("admin", q)
}

func (b *bench) deleteOffsets(group string, places ...at) *kmsg.OffsetDeleteResponse {
	b.t.Helper()
	return answer[*kmsg.OffsetDeleteResponse](b, b.askDeleteOffsets(group, places...))
}

// tombstones lists what was written without a value: groups by id, offsets by topic and partition.
func (b *bench) tombstones() (list []string) {
	b.t.Helper()
	for _, a := range b.written {
		for _, r := range a.Records {
			if r.Value != nil {
				continue
			}
			k, err := record.DecodeKey(r.Key)
			if err != nil || r.TimestampMs == 0 || a.What != "tombstones" {
				b.t.Fatalf("%+v, %v", a, err)
			}
			if k.IsGroup() {
				list = append(list, "group "+k.Group)
			} else {
				list = append(list, fmt.Sprintf("%s-%d", k.Topic, k.Partition))
			}
		}
	}
	slices.Sort(list)
	return list
}

func (b *bench) wantTombstones(want string) {
	b.t.Helper()
	if got := fmt.Sprint(b.tombstones()); got != want {
		b.t.Fatalf("tombstones %s, want %s", got, want)
	}
}

func commitTo(topic string, offset int64) commitWith {
	return commitWith{topic: topic, generation: -1, offsets: map[int32]int64{0: offset}}
}

func TestOD01_NonExistingAndActiveNonConsumer(t *testing.T) {
	b := newBench(t)
	resp := b.deleteOffsets(groupID, at{"foo", 0})
	if resp.ErrorCode != 69 || len(resp.Topics) != 0 {
		t.Fatalf("%+v", resp)
	}
	wantCode(t, "not owned", b.deleteOffsets(otherGroup, at{"foo", 0}).ErrorCode, 16)
	wantCode(t, "empty id", b.deleteOffsets("", at{"foo", 0}).ErrorCode, 24)
	b.oneStable(joinWith{kind: ptr("My Protocol")})
	resp = b.deleteOffsets(groupID, at{"foo", 0})
	if resp.ErrorCode != 68 || len(resp.Topics) != 0 {
		t.Fatalf("%+v", resp)
	}
}

func TestOD02_EmptyGroup(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{kind: ptr("My Protocol")})
	for _, topic := range []string{"foo", "bar"} {
		b.commit(commitWith{id: &m, generation: 1, topic: topic, offsets: map[int32]int64{0: 37}})
	}
	b.leave(groupID, 5, m)
	b.inState(event.Empty)
	resp := b.deleteOffsets(groupID, at{"foo", 0})
	if resp.ErrorCode != 0 || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("%+v", resp)
	}
	b.wantOffsets(map[string]int64{"bar-0": 37})
	b.wantTombstones("[foo-0]")
	// What is not there is deleted without a word; what the broker does not know is told.
	resp = b.deleteOffsets(groupID, at{"foo", 0}, at{"foo", 10}, at{"nowhere", 0})
	for i, want := range []int16{0, 3, 3} {
		wantCode(t, "again", resp.Topics[i].Partitions[0].ErrorCode, want)
	}
	b.wantTombstones("[foo-0]")
	// The last offset goes, and the group stays until the clean-up job comes.
	b.deleteOffsets(groupID, at{"bar", 0})
	b.inState(event.Empty)
}

func TestOD03_StableConsumerGroup(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{protocols: subscribed("range", "bar")})
	for _, topic := range []string{"foo", "bar"} {
		b.commit(commitWith{id: &m, generation: 1, topic: topic, offsets: map[int32]int64{0: 37}})
	}
	resp := b.deleteOffsets(groupID, at{"foo", 0}, at{"bar", 0})
	wantCode(t, "foo", resp.Topics[0].Partitions[0].ErrorCode, 0)
	wantCode(t, "bar", resp.Topics[1].Partitions[0].ErrorCode, 86)
	b.wantOffsets(map[string]int64{"bar-0": 37})
}

// Where nobody knows what a group reads, it may read everything.
func TestOffsetDeleteOfAnUnknownSubscription(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{protocols: []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{1}}}})
	b.commit(commitWith{id: &m, generation: 1, topic: "foo", offsets: map[int32]int64{0: 37}})
	wantCode(t, "foo", b.deleteOffsets(groupID, at{"foo", 0}).Topics[0].Partitions[0].ErrorCode, 86)
}

// The answer comes when the tombstones are written; a commit that is being written comes to nothing.
func TestOffsetDeleteWaitsForItsTombstones(t *testing.T) {
	b := newBench(t)
	b.commit(commitTo("foo", 1))
	b.hold = true
	commit, only := b.commit(commitTo("foo", 2)), b.commit(commitTo("bar", 9))
	ticket := b.askDeleteOffsets(groupID, at{"foo", 0}, at{"bar", 0})
	b.unanswered(commit, only, ticket)
	b.release(0)
	b.wantTombstones("[bar-0 foo-0]") // bar-0's was only pending: its record lies before the tombstone
	wantCode(t, "commit", b.committed(commit), 0)
	wantCode(t, "delete", answer[*kmsg.OffsetDeleteResponse](b, ticket).Topics[0].Partitions[0].ErrorCode, 0)
	b.wantOffsets(map[string]int64{})
	b.commit(commitTo("foo", 3))
	b.release(0)
	ticket = b.askDeleteOffsets(groupID, at{"foo", 0})
	b.release(6)
	resp := answer[*kmsg.OffsetDeleteResponse](b, ticket)
	if resp.ErrorCode != 16 || len(resp.Topics) != 0 {
		t.Fatalf("%+v", resp)
	}
}

func TestDG01_RefusalsAndSuccess(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	resp := b.deleteGroups(groupID, otherGroup, "missing-2", groupID)
	if len(resp.Groups) != 3 {
		t.Fatalf("%+v", resp)
	}
	wantCode(t, "active", resp.Groups[0].ErrorCode, 68)
	wantCode(t, "otherGroup", resp.Groups[1].ErrorCode, 16)
	b.leave(groupID, 5, m)
	b.hold = true
	ticket := b.askDeleteGroups(groupID)
	b.unanswered(ticket)
	if b.c.groups[groupID] != nil {
		t.Fatal("the group is there")
	}
	b.release(0)
	wantCode(t, "delete", answer[*kmsg.DeleteGroupsResponse](b, ticket).Groups[0].ErrorCode, 0)
	b.wantTombstones("[group groupId]")
	b.hold = false
	wantCode(t, "again", b.deleteGroups(groupID).Groups[0].ErrorCode, 69)
	if b.c.cleanup >= 0 || b.c.Take().DeadlineMs != -1 {
		t.Fatal("an idle machine is woken")
	}
}

// Several groups in one request are answered together, each with its own code.
func TestDeleteGroupsTogether(t *testing.T) {
	b := newBench(t)
	w := simple(1)
	for _, id := range []string{groupID, "deadGroupId"} {
		w.group = ptr(id)
		b.commit(w)
	}
	b.hold = true
	ticket := b.askDeleteGroups(groupID, "deadGroupId")
	first, second := b.held[0], b.held[1]
	b.held = nil
	b.acknowledge(first, 0)
	b.take()
	b.unanswered(ticket)
	b.acknowledge(second, 7)
	b.take()
	resp := answer[*kmsg.DeleteGroupsResponse](b, ticket)
	if resp.Groups[0].ErrorCode != 0 || resp.Groups[1].ErrorCode != 15 {
		t.Fatalf("%+v", resp)
	}
	if len(b.c.deletions) != 0 {
		t.Fatal("something is left")
	}
}

// A group with very many offsets is deleted in several batches.
func TestDeletionInBatches(t *testing.T) {
	b := newBench(t)
	b.c.MetadataChanged(b.now, Metadata{Topics: map[string]int32{"wide": 5000}, OffsetsLeaders: []int32{1, 2}})
	q := kmsg.NewPtrOffsetCommitRequest()
	q.Version, q.Group, q.Generation = 8, groupID, -1
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = "wide"
	for p := range int32(2500) {
		one := kmsg.NewOffsetCommitRequestTopicPartition()
		one.Partition = p
		topic.Partitions = append(topic.Partitions, one)
	}
	q.Topics = append(q.Topics, topic)
	b.send("m", q)
	b.written = nil
	wantCode(t, "delete", b.deleteGroups(groupID).Groups[0].ErrorCode, 0)
	if len(b.written) != 3 || len(b.tombstones()) != 2501 {
		t.Fatalf("%d batches, %d tombstones", len(b.written), len(b.tombstones()))
	}
}

func TestTopicsDeleted(t *testing.T) {
	b := newBench(t)
	b.commit(commitTo("foo", 1))
	b.commit(commitTo("bar", 2))
	b.hold = true
	b.commit(commitTo("foo", 3))
	b.c.TopicsDeleted(b.now, []string{"foo", "xxx"})
	b.take()
	b.release(0)
	b.wantOffsets(map[string]int64{"bar-0": 2})
	b.wantTombstones("[foo-0]")
	removed := eventsOf[event.OffsetsRemoved](b)
	if len(removed) != 1 || removed[0].Why != event.WhyTopicDeleted || removed[0].Offsets[0].Offset != 1 {
		t.Fatalf("%+v", removed)
	}
}
