package timeline_test

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// A new group's first generation is told with the kinds, and in the order, in which our own machine tells them.
func TestFirstGeneration(t *testing.T) {
	l := live(t)
	got := l.after(5_000).write(generation("g", 1, l.now-10, who{id: "c1-a", has: []int32{0, 1}}))
	const want = "GroupCreated RebalanceStarted StateChanged MemberAdded LeaderElected GenerationStarted StateChanged AssignmentStored StateChanged CauseInferred"
	if kinds(got) != want {
		t.Errorf("got  %s\nwant %s", kinds(got), want)
	}
	g := got[5]
	if g.AtMs != l.now-10 || g.AtHiMs != 0 || g.Truth != event.Observed || g.Broker != 1 || g.Group != "g" {
		t.Errorf("the join phase ended at an exact time, which the log proves: %v", g)
	}
	if c := one[event.CauseInferred](t, got); c.Why != event.WhyFirstMember || c.Member != "c1-a" || c.Confidence != event.High || c.Generation != 1 {
		t.Errorf("cause %+v", c)
	}
	if a := one[event.AssignmentStored](t, got); event.Partitions(a.Assignments[0].Topics) != "orders-0,1" {
		t.Errorf("assignment %+v", a)
	}
}

func TestWhoCameAndWent(t *testing.T) {
	for _, c := range []struct {
		name      string
		afterMs   int64 // since the first generation
		commitMs  int64 // before the second: when c2's partition was committed last, 0 never
		second    []who
		why       event.Why
		member    string
		sure      event.Confidence
		removed   event.Why
		unsettled int32
	}{
		{name: "joined", afterMs: 60_000, second: []who{{id: "c1-a"}, {id: "c2-a"}, {id: "c3-a"}}, why: event.WhyNewMember, member: "c3-a", sure: event.High},
		{name: "left", afterMs: 60_000, commitMs: 2_000, second: []who{{id: "c1-a"}}, why: event.WhyMemberLeft, member: "c2-a", sure: event.Medium, removed: event.WhyMemberLeft},
		{name: "expired", afterMs: 60_000, commitMs: 20_000, second: []who{{id: "c1-a"}}, why: event.WhySessionExpired, member: "c2-a", sure: event.Medium, removed: event.WhySessionExpired},
		{name: "changed", afterMs: 60_000, second: []who{{id: "c1-a"}, {id: "c2-a", topics: []string{"orders", "pay"}}}, why: event.WhyMetadataChanged, member: "c2-a", sure: event.High},
		{name: "nothing", afterMs: 60_000, second: []who{{id: "c1-a"}, {id: "c2-a"}}, why: event.WhyLeaderRejoined, member: "c1-a", sure: event.Low},
		{name: "restarted and joined", afterMs: 60_000, second: []who{{id: "c1-a"}, {id: "c2-b"}}, why: event.WhyNewMember, member: "c2-b", sure: event.Low, removed: event.WhySessionExpired},
		{name: "jump", afterMs: 60_000, unsettled: 3, second: []who{{id: "c1-a"}, {id: "c2-a"}, {id: "c3-a"}}, why: event.WhyNewMember, member: "c3-a", sure: event.Medium},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := live(t)
			l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a", has: []int32{1}}))
			at := l.now + c.afterMs
			if c.commitMs > 0 {
				l.now = at - c.commitMs
				l.write(commit("g", "orders", 1, 5, l.now))
			}
			for l.now = at - 1_000; l.now < at-250; l.now += 250 { // polls that do not show the group
				l.see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Filtered: true})
			}
			l.now = at
			got := l.write(generation("g", 2+c.unsettled, at-20, c.second...))
			cause := one[event.CauseInferred](t, got)
			if cause.Why != c.why || cause.Member != c.member || cause.Confidence != c.sure || cause.Evidence == "" {
				t.Errorf("cause %+v\n%s", cause, lines(got))
			}
			if removed := of[event.MemberRemoved](got); c.removed != "" && (len(removed) != 1 || removed[0].Why != c.removed) {
				t.Errorf("removed %+v", removed)
			}
			if c.unsettled > 0 && !strings.Contains(cause.Evidence, "3 attempts before it did not settle") {
				t.Errorf("evidence %q", cause.Evidence)
			}
			start := got[0]
			if start.Body.Kind() != "RebalanceStarted" || start.Truth != event.Inferred || start.AtMs < at-1_000 || start.AtHiMs != at-20 {
				t.Errorf("the start is bounded by the last poll and the end of the join phase: %v", start)
			}
		})
	}
}

// A static member that comes back under a new id takes its own place: the same generation, no rebalance.
func TestStaticRestart(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "i1-a", instance: "i1", has: []int32{0}}, who{id: "c2-a", has: []int32{1}}))
	got := l.after(9_000).write(generation("g", 1, l.now-9_000, who{id: "i1-b", instance: "i1", has: []int32{0}}, who{id: "c2-a", has: []int32{1}}))
	if kinds(got) != "MemberReplaced LeaderElected" {
		t.Fatalf("%s", lines(got))
	}
	if m := one[event.MemberReplaced](t, got); m.Old != "i1-a" || m.Member != "i1-b" || m.InstanceID != "i1" || got[0].AtMs != l.now {
		t.Errorf("%v", got[0])
	}
}

// A cooperative rebalance is two generations: the second begins because the first left partitions to nobody.
func TestCooperativePair(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0, 1}}))
	l.after(60_000).write(generation("g", 2, l.now-4, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a"}))
	got := l.after(2_000).write(generation("g", 3, l.now-4, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a", has: []int32{1}}))
	c := one[event.CauseInferred](t, got)
	if c.Why != event.WhySecondStep || c.Member != "c1-a" || c.Confidence != event.High {
		t.Errorf("%+v", c)
	}
	if got[0].Cause == 0 {
		t.Errorf("the second is not linked with the first: %v", got[0])
	}
}

func TestEmptyAndGone(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}))
	l.write(commit("g", "orders", 0, 3, l.now))
	got := l.after(50_000).write(generation("g", 2, l.now))
	if s := of[event.StateChanged](got); s[len(s)-1].To != event.Empty || s[len(s)-1].From != event.PreparingRebalance {
		t.Errorf("%s", lines(got))
	}
	got = l.after(1_000).write(uncommit("g", "orders", 0), groupGone("g"))
	if kinds(got) != "OffsetsRemoved GroupRemoved" || one[event.OffsetsRemoved](t, got).Why != event.WhyGroupDeleted || got[0].Truth != event.Inferred {
		t.Errorf("%s", lines(got))
	}
	if len(l.tl.Groups()) != 0 {
		t.Errorf("remembered: %v", l.tl.Groups())
	}
}

// A rebalance under way: who is awaited is said with its doubt, and what a poll has told is not told again by the record.
func TestInMotion(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a", has: []int32{1}}))
	l.after(5_000).see(timeline.PollList{Broker: 1, AskedMs: l.now - 10, AnsweredMs: l.now, Filtered: true})
	moving := timeline.PollList{Broker: 1, AskedMs: l.now + 240, AnsweredMs: l.now + 250, Filtered: true,
		Groups: []timeline.ListedGroup{{Group: "g", State: event.PreparingRebalance, Type: "classic"}}}
	got := l.after(250).see(moving)
	if kinds(got) != "GroupListed RebalanceStarted StateChanged" || got[1].Truth != event.Sampled || got[1].AtMs != l.now-260 || got[1].AtHiMs != l.now {
		t.Fatalf("%s", lines(got))
	}
	if m := l.tl.InMotion(); len(m) != 1 || m[0] != "g" {
		t.Errorf("in motion: %v", m)
	}
	look := timeline.Described{Broker: 1, AskedMs: l.now + 1, AnsweredMs: l.now + 5, Group: "g", Type: "classic", State: event.PreparingRebalance, ProtocolType: "consumer",
		Members: []timeline.DescribedMember{{Member: "c1-a"}, {Member: "c2-a"}, {Member: "c3-a", ClientID: "c3"}}}
	got = l.after(5).see(look)
	a := one[event.AwaitedSeen](t, got)
	if strings.Join(a.Joined, " ") != "c3-a" || len(a.Awaited) != 2 || a.Awaited[0].Sure || a.Awaited[0].Member != "c1-a" ||
		a.DeadlineMs != l.now-265+30_000 || a.DeadlineHiMs != l.now-5+30_000 || a.Awaited[0].ExpiresMs != begun+1_000+10_000 || a.Awaited[0].ExpiresHiMs != l.now+10_000 {
		t.Errorf("%+v", a)
	}
	look.State, look.AskedMs, look.AnsweredMs = event.CompletingRebalance, l.now+100, l.now+105
	got = l.after(105).see(look)
	if a := one[event.AwaitedSeen](t, got); a.State != event.CompletingRebalance || len(a.Awaited) != 1 || !a.Awaited[0].Sure || a.Awaited[0].Member != "c1-a" {
		t.Errorf("the leader is awaited: %+v", a)
	}
	got = l.after(50).write(generation("g", 2, l.now-60, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a"}, who{id: "c3-a", has: []int32{1}}))
	if kinds(got) != "MemberUpdated GenerationStarted AssignmentStored StateChanged CauseInferred" {
		t.Errorf("%s", lines(got))
	}
	if u := of[event.MemberUpdated](got); u[0].Member != "c3-a" || u[0].SessionTimeoutMs != 10_000 {
		t.Errorf("what DescribeGroups does not say follows: %+v", u)
	}
	if len(l.tl.InMotion()) != 0 {
		t.Error("still in motion")
	}
}

// A rebalance that goes with its coordinator leaves no record: after a while the group is what its last record says.
func TestMotionWithoutRecord(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}))
	listed := []timeline.ListedGroup{{Group: "g", State: event.PreparingRebalance, Type: "classic"}}
	l.after(5_000).see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Filtered: true, Groups: listed})
	for range 20 {
		l.after(250).see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Filtered: true})
	}
	s := of[event.StateChanged](l.all)
	if last := s[len(s)-1]; last.To != event.Stable || last.From != event.PreparingRebalance || len(l.tl.InMotion()) != 0 {
		t.Errorf("%s", lines(l.all))
	}
	l.after(100).see(timeline.PollList{Broker: 1, AskedMs: l.now, AnsweredMs: l.now + 5, Filtered: true, Groups: listed})
	got := l.see(timeline.Metadata{Topics: []timeline.Topic{{Name: "__consumer_offsets", Partitions: []timeline.Partition{{Number: 0, Leader: 2, Epoch: 4}}}}})
	if kinds(got) != "LeaderChanged GroupLoaded MemberAdded AssignmentStored LoadFinished" || got[1].Broker != 2 || got[1].Truth != event.Inferred {
		t.Errorf("the new coordinator has loaded it: %s", lines(got))
	}
}

// A line of the broker's log replaces what was concluded, before or after the record.
func TestBrokerLogKnowsBetter(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a", has: []int32{1}}))
	said := func(atMs int64, generation int32, why event.Why) timeline.BrokerLog {
		return timeline.BrokerLog{Broker: 1, Events: []event.Event{{AtMs: atMs, Group: "g", Body: event.RebalanceStarted{Why: why, Member: "c2-a", Generation: generation, ClientReason: "bye"}},
			{AtMs: atMs, Group: "g", Body: event.MemberRemoved{Member: "c2-a", Why: why}}, {AtMs: atMs, Group: "unknown", Body: event.MemberRemoved{Member: "x", Why: why}}}}
	}
	l.after(40_000)
	l.see(said(l.now-30, 1, event.WhyMemberLeft))
	got := l.write(generation("g", 2, l.now-20, who{id: "c1-a", has: []int32{0, 1}}))
	if c := one[event.CauseInferred](t, got); c.Why != event.WhyMemberLeft || c.Confidence != "" || c.ClientReason != "bye" || got[0].AtMs != l.now-30 || got[0].AtHiMs != 0 {
		t.Errorf("%s", lines(got))
	}
	got = l.after(40_000).write(generation("g", 3, l.now-20, who{id: "c1-a", has: []int32{0, 1}}))
	if c := one[event.CauseInferred](t, got); c.Confidence != event.Low {
		t.Errorf("%+v", c)
	}
	got = l.after(500).see(said(l.now-530, 2, event.WhyMetadataChanged))
	if c := one[event.CauseInferred](t, got); c.Generation != 3 || c.Why != event.WhyMetadataChanged || c.Confidence != "" {
		t.Errorf("%+v", c)
	}
}

// A broker's log calls the first member of a group a new one; it is the first.
func TestBrokerLogsFirstMember(t *testing.T) {
	for _, before := range []string{"the record", "anything else", "nothing"} {
		l := live(t)
		l.after(1_000)
		said := timeline.BrokerLog{Broker: 1, Events: []event.Event{{AtMs: l.now - 500, Group: "g", Body: event.RebalanceStarted{Why: event.WhyNewMember, Member: "c1-a"}}}}
		if before == "the record" {
			l.see(timeline.PollList{Broker: 1, AskedMs: l.now - 450, AnsweredMs: l.now - 440, Filtered: true,
				Groups: []timeline.ListedGroup{{Group: "g", State: event.PreparingRebalance, Type: "classic"}}})
		}
		if before != "nothing" {
			l.see(said)
		}
		l.write(generation("g", 1, l.now, who{id: "c1-a", has: []int32{0}}))
		if before == "nothing" {
			l.see(said)
		}
		causes := of[event.CauseInferred](l.all)
		for _, c := range causes {
			if c.Why != event.WhyFirstMember || c.Member != "c1-a" {
				t.Errorf("before %s: %+v", before, c)
			}
		}
		if n := len(causes); n == 0 || causes[n-1].Evidence != "a line of the broker's log" {
			t.Errorf("before %s: %+v", before, causes)
		}
	}
}

// Generations of the last day are told with their own times when a log is read for the first time; older ones are not.
func TestHistory(t *testing.T) {
	l := attach(t)
	const day = 24 * 60 * 60 * 1000
	l.see(timeline.ReadFrom{Partition: 0, End: 3})
	l.all = nil
	records := []timeline.Record{generation("g", 1, begun-2*day, who{id: "c1-a", has: []int32{0}}), generation("g", 2, begun-2*day, who{id: "c1-a", has: []int32{0}}),
		generation("g", 3, begun-60_020, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a", has: []int32{1}})}
	for i, at := range []int64{begun - 2*day, begun - 2*day + 5, begun - 60_000} {
		records[i].TimestampMs = at
	}
	l.write(records...)
	loaded := one[event.GroupLoaded](t, l.all)
	if loaded.Generation != 2 || l.all[0].AtMs != begun-2*day+5 {
		t.Errorf("the baseline is the last record before the day: %s", lines(l.all))
	}
	if g := one[event.GenerationStarted](t, l.all); g.Generation != 3 {
		t.Errorf("%s", lines(l.all))
	}
	if !l.tl.Ready() || one[event.LoadFinished](t, l.all).Groups != 1 {
		t.Error("not ready")
	}
}
