package timeline_test

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/server/observe/timeline"
)

func classicMember(id string, has ...int32) timeline.DescribedMember {
	return timeline.DescribedMember{Member: id, ClientID: "c", ClientHost: "/h", Subscription: record.Subscription(record.Sub{Topics: []string{"orders"}}),
		Assignment: record.EncodeAssignment([]record.TopicPartitions{{Topic: "orders", Partitions: has}})}
}

// Where the log cannot be read a rebalance is told from answers, with the times between them.
func TestSampledClassicGroup(t *testing.T) {
	l := &offsetsLog{t: t, tl: timeline.New(timeline.Config{Numbers: &event.Numbers{}}), now: begun}
	l.see(timeline.Attached{ClusterID: "c", Mode: "poll", PollMs: 250})
	l.see(timeline.Metadata{Brokers: []timeline.Broker{{ID: 1}}})
	describe := func(state event.State, members ...timeline.DescribedMember) []event.Event {
		return l.see(timeline.Described{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Group: "g", Type: "classic", State: state, ProtocolType: "consumer", Protocol: "range", Members: members})
	}
	list := func(state event.State) []event.Event {
		return l.see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Groups: []timeline.ListedGroup{{Group: "g", State: state, Type: "classic"}}})
	}
	list(event.Stable)
	got := describe(event.Stable, classicMember("c1-a", 0, 1))
	if b := one[event.GroupLoaded](t, got); b.Generation != -1 || b.State != event.Stable || got[0].Truth != event.Sampled {
		t.Errorf("the generation is not known: %s", lines(got))
	}
	l.after(250)
	if got := describe(event.Stable, classicMember("c1-a", 0, 1)); len(got) != 0 {
		t.Errorf("nothing changed: %s", lines(got))
	}
	l.after(250)
	list(event.PreparingRebalance)
	got = describe(event.PreparingRebalance, timeline.DescribedMember{Member: "c1-a"}, timeline.DescribedMember{Member: "c2-a"})
	if a := one[event.AwaitedSeen](t, got); strings.Join(a.Joined, " ") != "c2-a" || a.Awaited[0].Member != "c1-a" {
		t.Errorf("%s", lines(got))
	}
	l.after(250)
	got = describe(event.Stable, classicMember("c1-a", 0), classicMember("c2-a", 1))
	c := one[event.CauseInferred](t, got)
	a := one[event.AssignmentStored](t, got)
	if c.Why != event.WhyNewMember || c.Member != "c2-a" || c.Confidence != event.Medium || len(a.Assignments) != 2 || len(l.tl.InMotion()) != 0 {
		t.Errorf("%s", lines(got))
	}
	for _, e := range got {
		if e.Truth == event.Observed && e.Body.Kind() != "MemberUpdated" {
			t.Errorf("nothing is exact: %v", e)
		}
	}
	// A rebalance that no look has shown lies anywhere since the last description, however many looks at those in motion lay between.
	l.after(4_000)
	l.see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Filtered: true})
	l.after(1_000)
	got = describe(event.Stable, classicMember("c1-a", 0, 1))
	if kinds(got) != "RebalanceStarted StateChanged MemberRemoved GenerationStarted StateChanged AssignmentStored StateChanged CauseInferred" || got[0].AtMs != l.now-5_000 {
		t.Errorf("%s", lines(got))
	}
	l.after(60_000)
	got = l.see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5})
	if len(of[event.GroupRemoved](got)) != 1 || len(l.tl.Groups()) != 0 {
		t.Errorf("no broker lists it any more: %s", lines(got))
	}
}

func TestSampledConsumerGroup(t *testing.T) {
	l := &offsetsLog{t: t, tl: timeline.New(timeline.Config{Numbers: &event.Numbers{}}), now: begun}
	l.see(timeline.Attached{ClusterID: "c", Mode: "poll", PollMs: 250})
	orders := func(numbers ...int32) []event.TopicPartitions {
		if numbers == nil {
			return nil
		}
		return []event.TopicPartitions{{Topic: "orders", Partitions: numbers}}
	}
	describe := func(state event.State, epoch int32, members ...timeline.DescribedMember) []event.Event {
		return l.see(timeline.Described{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Group: "g", Type: "consumer", State: state, Epoch: epoch, TargetEpoch: epoch, Members: members})
	}
	describe(event.Stable, 1, timeline.DescribedMember{Member: "m1", Epoch: 1, Assigned: orders(0, 1), Target: orders(0, 1)})
	l.after(250)
	got := describe(event.Reconciling, 2, timeline.DescribedMember{Member: "m1", Epoch: 1, Assigned: orders(0, 1), Target: orders(0)},
		timeline.DescribedMember{Member: "m2", Epoch: 2, Target: orders(1)})
	if b := one[event.EpochBumped](t, got); b.Why != event.WhyNewMember || b.Member != "m2" || b.Confidence != event.Medium {
		t.Errorf("%+v", b)
	}
	if a := one[event.TargetAssigned](t, got); a.Moved != 1 {
		t.Errorf("%+v", a)
	}
	r := of[event.MemberReconciled](got)
	if len(r) != 2 || r[0].State != "unrevoked_partitions" || r[1].State != "unreleased_partitions" || one[event.StateChanged](t, got).To != event.Reconciling {
		t.Errorf("%+v", r)
	}
	if m := l.tl.InMotion(); len(m) != 1 {
		t.Errorf("%v", m)
	}
	if f := l.tl.GroupFacts(l.now, "g"); one[event.GroupLoaded](t, f).Generation != 2 || len(of[event.MemberAdded](f)) != 2 {
		t.Errorf("%s", lines(f))
	}
}

func TestSampledOffsets(t *testing.T) {
	l := &offsetsLog{t: t, tl: timeline.New(timeline.Config{Numbers: &event.Numbers{}}), now: begun}
	l.see(timeline.Attached{ClusterID: "c", Mode: "poll"})
	ask := func(offsets ...event.OffsetValue) []event.Event {
		l.after(5_000)
		return l.see(timeline.Committed{Group: "g", AskedMs: l.now, AnsweredMs: l.now + 5, All: true, Offsets: offsets})
	}
	if c := one[event.OffsetsCommitted](t, ask(event.OffsetValue{Topic: "orders", Offset: 5}, event.OffsetValue{Topic: "orders", Partition: 1, Offset: -1})); !c.Loaded || len(c.Offsets) != 1 {
		t.Errorf("%+v", c)
	}
	if got := ask(event.OffsetValue{Topic: "orders", Offset: 5}); len(got) != 0 {
		t.Errorf("%s", lines(got))
	}
	if got := ask(event.OffsetValue{Topic: "orders", Offset: 6}); got[0].Truth != event.Sampled || one[event.OffsetsCommitted](t, got).Offsets[0].Offset != 6 {
		t.Errorf("%s", lines(got))
	}
	if got := ask(); kinds(got) != "OffsetsRemoved" {
		t.Errorf("%s", lines(got))
	}
}
