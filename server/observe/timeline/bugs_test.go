package timeline_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/server/observe/timeline"
)

// Public faults of tools that observe groups, as regression tests: what is decided here and not in the IO around.

func TestB63_EmptyAssignmentBytes(t *testing.T) {
	l := attach(t) // the log cannot be read: only answers tell
	stable := timeline.Described{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Group: "g", Type: "classic", State: event.Stable, ProtocolType: "consumer", Protocol: "range",
		Members: []timeline.DescribedMember{{Member: "c1-a", Subscription: record.Subscription(record.Sub{Topics: []string{"orders"}}),
			Assignment: record.EncodeAssignment([]record.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1}}})}}}
	l.see(stable)
	moving := timeline.Described{Broker: 1, AskedMs: l.now + 250, AnsweredMs: l.now + 255, Group: "g", Type: "classic", State: event.PreparingRebalance, ProtocolType: "consumer",
		Members: []timeline.DescribedMember{{Member: "c1-a"}}}
	l.all = nil
	l.after(255).see(moving)
	moving.State, moving.AskedMs, moving.AnsweredMs = event.CompletingRebalance, l.now+250, l.now+255
	l.after(255).see(moving)
	if len(of[event.SightChanged](l.all))+len(of[event.AssignmentStored](l.all))+len(of[event.MemberUpdated](l.all))+len(of[event.LoadSkipped](l.all)) != 0 {
		t.Errorf("no bytes are no news: %s", lines(l.all))
	}
	facts := l.tl.GroupFacts(l.now, "g")
	if a := one[event.AssignmentStored](t, facts); event.Partitions(a.Assignments[0].Topics) != "orders-0,1" {
		t.Errorf("the last known owner is kept: %+v", a)
	}
	if b := one[event.GroupLoaded](t, facts); b.State != event.CompletingRebalance {
		t.Errorf("%+v", b)
	}
}

func lag(t *testing.T, l *offsetsLog, ends ...timeline.LogEnd) event.LagMeasured {
	t.Helper()
	return one[event.LagMeasured](t, l.see(timeline.LogEnds{Topic: "orders", AskedMs: l.now, AnsweredMs: l.now + 5, Partitions: ends}))
}

func TestB65_PartitionsWithoutACommit(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0, 1}}, who{id: "c2-a", has: []int32{2, 3}}))
	l.write(commit("g", "orders", 0, 5, l.now), commit("g", "orders", 2, 6, l.now), commit("g", "orders", 3, 7, l.now))
	got := lag(t, l, timeline.LogEnd{Partition: 3, End: 10}, timeline.LogEnd{Partition: 2, End: 10}, timeline.LogEnd{Partition: 1, End: 10}, timeline.LogEnd{Partition: 0, End: 10})
	if len(got.Partitions) != 4 || got.Partitions[1] != (event.PartitionLag{Partition: 1, Committed: -1, End: 10, Words: "no commit"}) {
		t.Errorf("%+v", got)
	}
}

func TestB67_LagIsNeverNegative(t *testing.T) {
	l := live(t)
	l.after(1_000).write(commit("g", "orders", 0, 103, l.now), commit("g", "orders", 1, 500, l.now))
	l.after(100)
	got := lag(t, l, timeline.LogEnd{Partition: 0, End: 100}, timeline.LogEnd{Partition: 1, End: 600})
	if p := got.Partitions[0]; p.End != 103 || p.Words != "just caught up" {
		t.Errorf("%+v", p)
	}
	l.after(60_000)
	if p := lag(t, l, timeline.LogEnd{Partition: 0, End: 100}).Partitions[0]; !strings.Contains(p.Words, "beyond the log's end") {
		t.Errorf("a real negative is a warning of its own: %+v", p)
	}
}

func TestB69_ConsumerGroupIsNeverDead(t *testing.T) {
	l := live(t)
	l.see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Groups: []timeline.ListedGroup{{Group: "g", State: event.Stable, Type: "consumer"}}})
	l.all = nil
	l.see(timeline.Described{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Group: "g", Type: "classic", State: event.Dead})
	l.see(timeline.Described{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Group: "g", Type: "classic", Code: 69, State: event.Dead})
	if len(l.all) != 0 || l.tl.TypeOf("g") != "consumer" {
		t.Errorf("%s", lines(l.all))
	}
	got := l.see(timeline.Described{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Group: "g", Type: "consumer", State: event.Stable, Epoch: 4, TargetEpoch: 4,
		Members: []timeline.DescribedMember{{Member: "m1", Epoch: 4, Assigned: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{0}}}, Target: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{0}}}}}})
	if b := one[event.GroupLoaded](t, got); b.State != event.Stable || b.Generation != 4 {
		t.Errorf("%s", lines(got))
	}
}

func TestB71_ReadyAtThePositionNotAtARecord(t *testing.T) {
	l := attach(t)
	l.see(timeline.ReadFrom{Partition: 0, Start: 500, End: 500})
	if !l.tl.Ready() {
		t.Error("an empty partition that was not always empty is ready at once")
	}
	l.see(timeline.ReadFrom{Partition: 1, Start: 0, End: 100})
	r := commit("g", "orders", 0, 5, l.now)
	r.Offset = 90
	l.see(timeline.Records{Partition: 1, Next: 91, Records: []timeline.Record{r}})
	if read, all := l.tl.Progress(); l.tl.Ready() || read != 91 || all != 100 {
		t.Errorf("ready %v, %d of %d", l.tl.Ready(), read, all)
	}
	l.see(timeline.Position{Partition: 1, Next: 100})
	if !l.tl.Ready() {
		t.Error("what compaction has left out never comes")
	}
	l.see(timeline.ReadFrom{Partition: 2, Start: 0, End: 2})
	m := marker(7, 0, true)
	m.Offset = 1
	l.see(timeline.Records{Partition: 2, Next: 2, Records: []timeline.Record{m}})
	if !l.tl.Ready() {
		t.Error("the last record is a marker")
	}
}

func TestB76_GroupWithoutCommits(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}))
	l.after(1_000).write(generation("g", 2, l.now))
	l.see(timeline.Committed{Group: "g", All: true, AskedMs: l.now, AnsweredMs: l.now + 5})
	if len(of[event.OffsetsCommitted](l.all))+len(of[event.OffsetsRemoved](l.all)) != 0 {
		t.Errorf("%s", lines(l.all))
	}
	if b := one[event.GroupLoaded](t, l.tl.GroupFacts(l.now, "g")); b.State != event.Empty || b.Generation != 2 {
		t.Errorf("%+v", b)
	}
}

func TestB77_OnlyMarkersAreLeft(t *testing.T) {
	l := live(t)
	l.write(commit("g", "orders", 0, 9, l.now))
	if p := lag(t, l, timeline.LogEnd{Partition: 0, End: 10, Marker: true}).Partitions[0]; p.End-p.Committed != 1 || p.Words != "only markers are left" {
		t.Errorf("%+v", p)
	}
}

func TestB79_DeletedTopic(t *testing.T) {
	l := live(t)
	l.named()
	l.write(commit("g", "orders", 0, 100, l.now), commit("g", "pay", 0, 5, l.now))
	got := l.after(60_000).see(timeline.Metadata{Gone: []string{"orders"}})
	if one[event.TopicDeleted](t, got).Topic != "orders" {
		t.Errorf("%s", lines(got))
	}
	if p := lag(t, l, timeline.LogEnd{Partition: 0, Code: 3}).Partitions[0]; p.Words != "the topic was deleted" || p.Committed != 100 || p.End != -1 {
		t.Errorf("%+v", p)
	}
	got = l.see(timeline.LogEnds{Topic: "pay", AskedMs: l.now, AnsweredMs: l.now, Partitions: []timeline.LogEnd{{End: 9}}})
	if p := one[event.LagMeasured](t, got).Partitions[0]; p.End != 9 || p.Words != "" {
		t.Errorf("the other topic is shown normally: %+v", p)
	}
	got = l.write(uncommit("g", "orders", 0))
	if r := one[event.OffsetsRemoved](t, got); r.Why != event.WhyTopicDeleted {
		t.Errorf("%+v", r)
	}
	l.write(commit("g", "orders", 0, 100, l.now))
	l.after(60_000).named() // made anew, with fewer records
	if p := lag(t, l, timeline.LogEnd{Partition: 0, Start: 0, End: 3}).Partitions[0]; !strings.Contains(p.Words, "beyond the log's end") {
		t.Errorf("%+v", p)
	}
}

func TestB82_OffsetCommitValueV4(t *testing.T) {
	l := live(t)
	long := strings.Repeat("x", 300)
	v := []byte{0, 4, 0, 0, 0, 0, 0, 0, 0, 42, 0, 0, 0, 1, 0xad, 2} // 300 + 1 as an unsigned varint
	v = append(append(v, long...), 0, 0, 0, 0, 0, 0, 0, 9, 2, 0, 16)
	v = append(append(v, make([]byte, 16)...), 99, 1, 7)
	got := l.write(timeline.Record{Key: record.OffsetKey("g", "orders", 0), Value: v, ProducerID: -1})
	if o := one[event.OffsetsCommitted](t, got).Offsets[0]; o.Offset != 42 || o.Metadata != long || o.LeaderEpoch != 1 {
		t.Errorf("%+v", o)
	}
}

func TestB83_NewerSubscription(t *testing.T) {
	l := live(t)
	r := generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}})
	sub := record.Subscription(record.Sub{Version: 1, Topics: []string{"orders"}})
	newer := append(bytes.Clone(sub), 1, 2, 3, 4, 5)
	newer[1] = 7
	r.Value = bytes.Replace(r.Value, append([]byte{0, 0, 0, byte(len(sub))}, sub...), append([]byte{0, 0, 0, byte(len(newer))}, newer...), 1)
	if m := one[event.MemberAdded](t, l.write(r)); len(m.Topics) != 1 || m.Topics[0] != "orders" {
		t.Errorf("%+v", m)
	}
}

func TestB86_UnknownRecordsAreCountedAndToldOnce(t *testing.T) {
	l := live(t)
	cut := commit("g", "orders", 0, 5, l.now)
	cut.Value = cut.Value[:9]
	nine := commit("g", "orders", 0, 5, l.now)
	nine.Value[1] = 9
	for range 3 {
		l.write(commit("g", "orders", 1, 5, l.now), tombstone([]byte{0, 99, 1}), tombstone([]byte{0, 42}), cut, nine, tombstone(nil), tombstone([]byte{1}),
			tombstone([]byte{0, 2, 0, 9, 'g'}), tombstone([]byte{0, 10, 0, 1, 'g'}), generation("g", 1, l.now, who{id: "c1-a"}))
	}
	told := of[event.LoadSkipped](l.all)
	if len(told) != 7 {
		t.Errorf("%d kinds are told, each once: %+v", len(told), told)
	}
	counted := map[string]int64{}
	for _, s := range l.tl.Skipped() {
		counted[s.Reason] = s.Count
	}
	for reason, want := range map[string]int64{"key version 99 is not known": 3, "an offset's value has version 9, which is not known": 3,
		"an offset's value of version 3 is cut short": 3, "a key has no version": 6} {
		if counted[reason] != want {
			t.Errorf("%q: %d times, want %d of %v", reason, counted[reason], want, counted)
		}
	}
	if len(of[event.OffsetsCommitted](l.all)) != 3 || len(of[event.GenerationStarted](l.all)) != 1 {
		t.Errorf("everything else is shown: %s", lines(l.all))
	}
	for i := range 1_000 { // as many kinds as a hostile log has
		l.write(tombstone([]byte{byte(1 + i>>8), byte(i)}))
	}
	if n := len(l.tl.Skipped()); n > 64 {
		t.Errorf("%d kinds are remembered", n)
	}
}

func TestB88_ReuseOfADeletedGroup(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		l := attach(t)
		l.see(timeline.ReadFrom{Partition: 0, End: 5})
		first := []timeline.Record{commit("g", "orders", 0, 5, l.now), generation("g", 1, l.now, who{id: "c1-a"})}
		if compacted {
			l.next, first = 2, nil
		}
		l.write(append(first, groupGone("g"), uncommit("g", "orders", 0), commit("g", "orders", 0, 9, l.now))...)
		facts := l.tl.GroupFacts(l.now, "g")
		b := one[event.GroupLoaded](t, facts)
		if o := one[event.OffsetsCommitted](t, facts).Offsets; b.State != event.Empty || b.ProtocolType != "" || len(o) != 1 || o[0].Offset != 9 || len(of[event.MemberAdded](facts)) != 0 {
			t.Errorf("compacted %v: %s", compacted, lines(facts))
		}
	}
}

func TestB90_GroupsPartition(t *testing.T) {
	tl := timeline.New(timeline.Config{Numbers: &event.Numbers{}})
	tl.Observe(1, timeline.Attached{ClusterID: "c", Mode: "poll", Partitions: 50})
	m := timeline.Metadata{Topics: []timeline.Topic{{Name: "__consumer_offsets"}}}
	for n := range int32(50) {
		m.Topics[0].Partitions = append(m.Topics[0].Partitions, timeline.Partition{Number: n, Leader: 100 + n})
	}
	tl.Observe(1, m)
	for name, want := range map[string]int32{"test-group": 12, "g1": 42, "polygenelubricants": 0, "группа-1": 0, "lab😀": 22} {
		if got := tl.Coordinator(name) - 100; got != want {
			t.Errorf("%s lives in %d, want %d", name, got, want)
		}
	}
}

func TestB92_TombstonesCount(t *testing.T) {
	l := live(t)
	l.write(commit("g", "t1", 0, 5, l.now), commit("g", "t2", 0, 6, l.now))
	l.write(generation("g", 1, l.now))
	if r := one[event.OffsetsRemoved](t, l.write(uncommit("g", "t1", 0))); len(r.Offsets) != 1 || r.Offsets[0].Topic != "t1" {
		t.Errorf("%+v", r)
	}
	if got := l.after(1).write(groupGone("g")); len(of[event.OffsetsRemoved](got))+len(of[event.GroupRemoved](got)) != 0 {
		t.Errorf("a group's tombstone alone does not delete offsets: %s", lines(got))
	}
	if o := one[event.OffsetsCommitted](t, l.tl.GroupFacts(l.now, "g")).Offsets; len(o) != 1 || o[0].Topic != "t2" {
		t.Errorf("%+v", o)
	}
	if got := l.write(uncommit("g", "t2", 0)); kinds(got) != "OffsetsRemoved GroupRemoved" || len(l.tl.Groups()) != 0 {
		t.Errorf("%s", lines(got))
	}
}

func TestB74_OfManyGroupsOnlyThoseInMotionAreDescribed(t *testing.T) {
	l := live(t)
	var all []timeline.ListedGroup
	for i := range 5_000 {
		all = append(all, timeline.ListedGroup{Group: fmt.Sprintf("g%04d", i), State: event.Empty, Type: "classic"})
	}
	all[7].State = event.PreparingRebalance
	got := l.see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 50, Groups: all})
	if n := len(of[event.GroupListed](got)); n != 5_000 {
		t.Errorf("%d are listed", n)
	}
	if m := l.tl.InMotion(); len(m) != 1 || m[0] != "g0007" {
		t.Errorf("to describe: %v", m)
	}
	if got := l.after(30_000).see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 50, Groups: all}); len(of[event.GroupListed](got)) != 0 {
		t.Errorf("what is known is not told again: %d events", len(got))
	}
}
