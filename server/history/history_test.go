package history

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// records folds a story and prints what is remembered of the group, a generation a line.
func records(events []event.Event, group string) (lines []string) {
	h := New(Config{})
	for i := range events {
		h.Apply(&events[i])
	}
	for _, e := range h.Records(nil, group) {
		lines = append(lines, brief(e.Body.(event.GenerationRecorded)))
	}
	return lines
}

// brief says what a test compares: times in milliseconds, lost time in partition-milliseconds, ids without what is random.
func brief(r event.GenerationRecorded) string {
	short := func(id string) string { name, _, _ := strings.Cut(id, "-"); return name }
	line := fmt.Sprintf("%d %d-%d-%d %s by %s", r.Generation, r.StartedMs, r.JoinedMs, r.SettledMs, r.Why, short(r.Member))
	line += fmt.Sprintf(", %d members +%d -%d, %d moved of %d", r.Members, len(r.Joined), len(r.Left), r.Moved, r.Partitions)
	for _, l := range r.Lost {
		line += fmt.Sprintf("; %s %s %d", l.Why, short(l.Member), l.PartitionMs)
	}
	if r.UnownedPartitionMs > 0 {
		line += fmt.Sprintf("; not yet owned %d", r.UnownedPartitionMs)
	}
	return line
}

// TestRecordsOfTheGoldenStories: what the golden transcripts tell is remembered as people would sum it up.
func TestRecordsOfTheGoldenStories(t *testing.T) {
	stories := scripts(t)
	for name, want := range map[string][]string{
		// Everybody waits 30 s for the ghost, and six partitions stand still.
		"unclean_restart": {
			"1 114-6114-6122 first member by c1, 3 members +3 -0, 0 moved of 6; not yet owned 36048",
			"2 16134-46126-46134 new member by c3, 3 members +1 -1, 2 moved of 6; session expired c3 179972; the leader sent its assignment c1 24; assignment was written  24"},
		// Only what is taken away stands still, from the first generation's end to the second's.
		"cooperative_rebalance": {
			"1 114-3114-3122 first member by c1, 1 members +1 -0, 0 moved of 4; not yet owned 12032",
			"2 7132-9138-9146 new member by c2, 2 members +1 -0, 0 moved of 2",
			"3 9158-12154-12162 leader rejoined by c1, 2 members +0 -0, 2 moved of 4; everyone has rejoined c2 6016; the leader sent its assignment c1 8; assignment was written  8",
			"4 27166-27178-27186 session expired by c2, 1 members +0 -1, 2 moved of 4; everyone has rejoined c1 24; the leader sent its assignment c1 8; assignment was written  8; session expired c2 20004"},
		// The first generation never settled: how long partitions waited for a first owner is told with the second.
		"sync_timeout": {
			"1 114-6114-0 first member by c1, 2 members +2 -0, 0 moved of 0",
			"2 16114-16118-16126 did not sync in time by c1, 1 members +0 -1, 0 moved of 4; not yet owned 64048"},
		"slow_member_rebalance_timeout": {
			"1 114-6114-6122 first member by c1, 2 members +2 -0, 0 moved of 4; not yet owned 24032",
			"2 8134-18134-18142 new member by c3, 2 members +1 -1, 2 moved of 4; rebalance timeout c2 40000; the leader sent its assignment c1 16; assignment was written  16",
			"3 18154-21162-21170 new member by c2, 3 members +1 -0, 1 moved of 4; everyone has rejoined c3 12032; the leader sent its assignment c1 16; assignment was written  16"},
		// The coordinator is stopped in the middle: its successor has forgotten the rebalance.
		"broker_stopped": {
			"1 114-3114-3122 first member by c1, 1 members +1 -0, 0 moved of 4; not yet owned 12032",
			"2 3134-0-0 new member by c2, 0 members +0 -0, 0 moved of 0; loaded from the log  80",
			"2 3354-6138-6146 new member by c2, 2 members +1 -0, 2 moved of 4; everyone has rejoined c1 11136; the leader sent its assignment c1 16; assignment was written  16"},
	} {
		if got := records(stories[name], "orders-svc"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is remembered as\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// teller makes facts by hand.
type teller struct {
	h   *History
	seq int64
}

func (s *teller) at(ms int64, group string, bodies ...event.Body) {
	for _, b := range bodies {
		s.seq++
		s.h.Apply(&event.Event{Seq: s.seq, AtMs: ms, Broker: 1, Group: group, Body: b})
	}
}

func added(id, client string) event.MemberAdded {
	return event.MemberAdded{Member: id, ClientID: client, ClientHost: "/10.0.0.1", RebalanceTimeoutMs: 60_000, Topics: []string{"orders"}}
}

func assigned(generation int32, members ...string) event.AssignmentStored {
	a := event.AssignmentStored{Generation: generation}
	for i, m := range members {
		a.Assignments = append(a.Assignments, event.Assignment{Member: m, Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{int32(i)}}}})
	}
	return a
}

// rebalance is one that takes 20 ms, from the facts of a join phase to a stored assignment.
func (s *teller) rebalance(ms int64, generation int32, why event.Why, who string, a event.AssignmentStored) {
	var members []string
	for _, x := range a.Assignments {
		members = append(members, x.Member)
	}
	s.at(ms, "g", event.RebalanceStarted{Why: why, Member: who, Generation: generation - 1, RebalanceTimeoutMs: 60_000},
		event.StateChanged{From: event.Stable, To: event.PreparingRebalance, Why: why, Member: who})
	s.at(ms+10, "g", event.GenerationStarted{Generation: generation, Protocol: "range", Leader: members[0], Members: members, Why: event.WhyAllRejoined},
		event.StateChanged{From: event.PreparingRebalance, To: event.CompletingRebalance, Why: event.WhyAllRejoined})
	s.at(ms+20, "g", a, event.StateChanged{From: event.CompletingRebalance, To: event.Stable, Why: event.WhyAssignmentWritten})
}

// TestLoop: a client that leaves and rejoins, and gets the same partition each time, is counted until another one steps in.
func TestLoop(t *testing.T) {
	s := &teller{h: New(Config{})}
	s.at(0, "g", event.GroupCreated{}, added("a-1", "a"), added("b-1", "b"))
	s.rebalance(10, 1, event.WhyFirstMember, "a-1", assigned(1, "a-1", "b-1"))
	loops := func() int { g, _ := s.h.Summary("g"); return g.Loops }
	for i := range 6 {
		at, old, new := int64(1000*(i+1)), fmt.Sprintf("b-%d", i+1), fmt.Sprintf("b-%d", i+2)
		s.at(at, "g", event.MemberRemoved{Member: old, Why: event.WhyMemberLeft})
		s.rebalance(at, int32(2*i+2), event.WhyMemberLeft, old, assigned(int32(2*i+2), "a-1"))
		s.at(at+500, "g", added(new, "b"))
		s.rebalance(at+500, int32(2*i+3), event.WhyNewMember, new, assigned(int32(2*i+3), "a-1", new))
		if loops() != i+1 {
			t.Fatalf("after round %d the loop counts %d", i+1, loops())
		}
	}
	if n := s.h.Totals(9000).Loops; n != 1 {
		t.Errorf("%d groups are in a loop", n)
	}
	s.at(9000, "g", added("c-1", "c"))
	s.rebalance(9000, 14, event.WhyNewMember, "c-1", assigned(14, "a-1", "b-7", "c-1"))
	if loops() != 0 {
		t.Errorf("another client's rebalance leaves a loop of %d", loops())
	}
}

// TestEpochOfAConsumerGroup: a partition stands still from its release to its next owner; who has to give up is awaited.
func TestEpochOfAConsumerGroup(t *testing.T) {
	s := &teller{h: New(Config{})}
	p := func(list ...int32) []event.TopicPartitions {
		return []event.TopicPartitions{{Topic: "orders", Partitions: list}}
	}
	s.h.Apply(&event.Event{Body: event.ClusterAttached{ClusterID: "x", Mode: "log"}})
	s.at(0, "g", added("a", "ca"), event.EpochBumped{Epoch: 1, Why: event.WhyNewMember, Member: "a"},
		event.TargetAssigned{Epoch: 1, Assignments: []event.Assignment{{Member: "a", Topics: p(0, 1)}}})
	s.at(10, "g", event.MemberReconciled{Member: "a", Epoch: 1, State: "stable", Assigned: p(0, 1)}, event.StateChanged{To: event.Stable})
	s.at(1000, "g", added("b", "cb"), event.EpochBumped{Epoch: 2, Why: event.WhyNewMember, Member: "b", Confidence: event.High},
		event.TargetAssigned{Epoch: 2, Moved: 1, Assignments: []event.Assignment{{Member: "a", Topics: p(0)}, {Member: "b", Topics: p(1)}}},
		event.StateChanged{To: event.Reconciling})
	s.at(1100, "g", event.MemberReconciled{Member: "a", Epoch: 1, State: "unrevoked_partitions", Assigned: p(0), Revoking: p(1)},
		event.MemberReconciled{Member: "b", Epoch: 2, State: "unreleased_partitions", WaitsFor: []string{"a"}})
	g, _ := s.h.Summary("g")
	if g.Type != "consumer" || g.Waiting != 1 || g.Awaited[0] != "a" || g.DeadlineMs != 61_100 {
		t.Errorf("while a gives up: %+v", g)
	}
	s.at(4100, "g", event.MemberReconciled{Member: "a", Epoch: 2, State: "stable", Assigned: p(0)})
	s.at(4600, "g", event.MemberReconciled{Member: "b", Epoch: 2, State: "stable", Assigned: p(1)}, event.StateChanged{To: event.Stable})
	var got []string
	for _, e := range s.h.Records(nil, "g") {
		got = append(got, brief(e.Body.(event.GenerationRecorded)))
	}
	want := []string{"1 0-0-10 new member by a, 0 members +0 -0, 0 moved of 2", "2 1000-1000-4600 new member by b, 2 members +2 -0, 1 moved of 2; the member reached its target b 500"}
	if !reflect.DeepEqual(got[1:], want[1:]) || len(got) != 2 {
		t.Errorf("remembered as %q", got)
	}
	if g, _ = s.h.Summary("g"); g.Waiting != 0 || g.State != event.Stable || g.Confidence != event.High {
		t.Errorf("in the end: %+v", g)
	}
}

// TestInferredCauseReplacesWhatWasThought, in the record, the summary and the counts; a line of a log knows better than a guess.
func TestInferredCauseReplacesWhatWasThought(t *testing.T) {
	s := &teller{h: New(Config{})}
	s.h.Apply(&event.Event{Body: event.ClusterAttached{ClusterID: "x", Mode: "log"}})
	s.at(0, "g", event.GroupListed{Type: "classic", State: event.Stable}, added("a", "ca"))
	s.at(5000, "g", event.GenerationStarted{Generation: 7, Members: []string{"a"}, Leader: "a", DurationMs: 3000}, assigned(7, "a"),
		event.StateChanged{To: event.Stable})
	s.h.Take(nil, 5000)
	s.at(5001, "g", event.CauseInferred{Generation: 7, Why: event.WhyNewMember, Member: "a", Confidence: event.High, Evidence: "a is new"})
	told := s.h.Take(nil, 6001)
	if len(told) != 2 {
		t.Fatalf("told %v", told)
	}
	r, _ := told[0].Body.(event.GenerationRecorded)
	g, _ := told[1].Body.(event.GroupSummarized)
	if r.StartedMs != 2000 || r.Why != event.WhyNewMember || r.ClientID != "ca" || r.Confidence != event.High || g.Why != event.WhyNewMember || len(g.Awaited) != 0 {
		t.Errorf("told %+v and %+v", r, g)
	}
	if n := s.h.Totals(6001).Rebalances; n[""] != 1 || len(n) != 1 {
		t.Errorf("a count fell, or rose twice: %v", n)
	}
}

// TestSummariesAreToldOnceASecond unless the state changed, and only when they say something new.
func TestSummariesAreToldOnceASecond(t *testing.T) {
	s := &teller{h: New(Config{})}
	told := func(ms int64) int { return len(s.h.Take(nil, ms)) }
	s.at(0, "g", event.GroupCreated{})
	if n := told(0); n != 1 {
		t.Errorf("a new group is told %d times", n)
	}
	s.at(100, "g", added("a", "ca"))
	if n := told(150); n != 0 || !s.h.Pending() {
		t.Errorf("a member is told %d times within a second", n)
	}
	if n := told(1001); n != 1 || s.h.Pending() {
		t.Errorf("after a second it is told %d times", n)
	}
	s.at(1010, "g", event.StateChanged{From: event.Empty, To: event.PreparingRebalance})
	if n := told(1011); n != 1 {
		t.Errorf("a state is told %d times", n)
	}
	s.at(3000, "g", event.StateChanged{From: event.PreparingRebalance, To: event.PreparingRebalance})
	s.at(3000, "g", event.GroupRemoved{Why: event.WhyGroupDeleted})
	last := s.h.Take(nil, 3001)
	if len(last) != 1 || !last[0].Body.(event.GroupSummarized).Gone || len(s.h.groups) != 0 {
		t.Errorf("the end is told as %v; %d groups are kept", last, len(s.h.groups))
	}
}

// TestMemoryIsBounded: rings, their sum, their age and the number of groups.
func TestMemoryIsBounded(t *testing.T) {
	s := &teller{h: New(Config{Generations: 50, GroupGenerations: 20, Groups: 5})}
	s.at(0, "g", added("a-1", "a"))
	for i := range 30 {
		s.rebalance(int64(i*100), int32(i+1), event.WhyLeaderRejoined, "a-1", assigned(int32(i+1), "a-1"))
	}
	if n := len(s.h.Records(nil, "g")); n != 20 {
		t.Errorf("%d generations of a group are kept", n)
	}
	g, _ := s.h.Summary("g")
	if g.Rebalances != 30 {
		t.Errorf("%d rebalances of the last day, of 30", g.Rebalances)
	}
	for _, name := range []string{"b", "c", "d", "e", "f", "h"} {
		s.at(5000, name, event.GroupCreated{})
	}
	if len(s.h.groups) != 5 || s.h.Untracked != 2 {
		t.Errorf("%d groups are followed, %d facts were not", len(s.h.groups), s.h.Untracked)
	}
	s.h.Take(nil, 5000)
	if s.h.Take(nil, 5000+dayMs); s.h.all.Len() != 0 {
		t.Errorf("%d generations are older than a day", s.h.all.Len())
	}
	if g, _ = s.h.Summary("g"); g.Rebalances != 0 {
		t.Errorf("a day later %d rebalances are of the last day", g.Rebalances)
	}
	for range 10 {
		s.at(6000, "b", event.GroupRemoved{Why: event.WhyNothingLeft}, event.GroupCreated{})
	}
	if len(s.h.memberOf) != 1 {
		t.Errorf("%d members are indexed, there is one", len(s.h.memberOf))
	}
}

// TestFactsReplaceThePresent: after a gap the present is the facts', and what is remembered stays.
func TestFactsReplaceThePresent(t *testing.T) {
	s := &teller{h: New(Config{})}
	s.at(0, "g", added("a-1", "a"))
	s.rebalance(10, 1, event.WhyFirstMember, "a-1", assigned(1, "a-1"))
	s.at(50, "old", event.GroupCreated{})
	s.h.Take(nil, 60)
	s.at(1000, "", event.FactsBegan{NowMs: 1000}, event.BrokerStarted{ID: 1},
		event.LeaderChanged{Topic: offsetsTopic, Partition: 3, Leader: 1}, event.LoadFinished{Partition: 3, RetentionMs: 5000})
	s.at(1000, "g", event.GroupLoaded{State: event.PreparingRebalance, SinceMs: 900, Generation: 8, Protocol: "range", Leader: "b-1", Partition: 3,
		Began: event.WhyNewMember, BeganMember: "b-1", BeganMs: 900}, added("a-1", "a"), added("b-1", "b"),
		event.ReplyParked{Ticket: 4, API: 11, Member: "b-1"}, event.OperationWatched{Op: 7, Type: event.DelayedJoin, StartMs: 900, DeadlineMs: 60_900})
	s.at(1000, "", event.FactsEnded{})
	g, _ := s.h.Summary("g")
	if g.State != event.PreparingRebalance || g.SinceMs != 900 || g.Waiting != 1 || g.Awaited[0] != "a-1" || g.DeadlineMs != 60_900 || g.Why != event.WhyNewMember {
		t.Errorf("after facts: %+v", g)
	}
	if w := s.h.Waits(); len(w) != 1 || w[0].SinceMs != 900 || w[0].Member != "b-1" {
		t.Errorf("waits %+v", w)
	}
	if _, there := s.h.Summary("old"); there || len(s.h.Records(nil, "g")) != 1 {
		t.Errorf("a group that the facts do not name: %v; %d generations are remembered", there, len(s.h.Records(nil, "g")))
	}
}

// TestExpiryForecast: a group that was Empty for offsets.retention.minutes, a simple group by its oldest commit.
func TestExpiryForecast(t *testing.T) {
	s := &teller{h: New(Config{})}
	s.at(0, "", event.BrokerStarted{ID: 1}, event.CleanupRan{RetentionMs: 10_000})
	s.at(0, "simple", event.GroupCreated{}, event.OffsetsCommitted{Offsets: []event.OffsetValue{{Topic: "t", Partition: 0, Offset: 1}}})
	s.at(500, "simple", event.OffsetsCommitted{Offsets: []event.OffsetValue{{Topic: "t", Partition: 1, Offset: 1}}})
	if g, _ := s.h.Summary("simple"); g.ExpiresMs != 10_000 {
		t.Errorf("the oldest of two commits expires at %d", g.ExpiresMs)
	}
	s.at(900, "simple", event.OffsetsCommitted{Offsets: []event.OffsetValue{{Topic: "t", Partition: 0, Offset: 2}}})
	if g, _ := s.h.Summary("simple"); g.ExpiresMs != 10_500 {
		t.Errorf("after a commit the oldest expires at %d", g.ExpiresMs)
	}
	s.at(0, "g", added("a-1", "a"))
	s.rebalance(1000, 1, event.WhyFirstMember, "a-1", assigned(1, "a-1"))
	s.at(1500, "g", event.OffsetsCommitted{Offsets: []event.OffsetValue{{Topic: "orders", Offset: 1}}})
	if g, _ := s.h.Summary("g"); g.ExpiresMs != 0 {
		t.Errorf("offsets of a group that serves expire at %d", g.ExpiresMs)
	}
	s.at(2000, "g", event.MemberRemoved{Member: "a-1", Why: event.WhyMemberLeft}, event.RebalanceStarted{Why: event.WhyMemberLeft, Member: "a-1"},
		event.StateChanged{To: event.PreparingRebalance}, event.GenerationStarted{Generation: 2, Why: event.WhyNoMembers}, event.StateChanged{To: event.Empty})
	if g, _ := s.h.Summary("g"); g.ExpiresMs != 12_000 || g.State != event.Empty {
		t.Errorf("the group is Empty since 2000: %+v", g)
	}
}

// TestTimeInState adds up over groups, those that are still in it included.
func TestTimeInState(t *testing.T) {
	s := &teller{h: New(Config{})}
	s.at(1000, "g", event.GroupCreated{})
	s.at(2000, "h", event.GroupCreated{})
	s.at(4000, "g", event.StateChanged{From: event.Empty, To: event.PreparingRebalance})
	s.at(5000, "g", event.GroupRemoved{Why: event.WhyGroupDeleted})
	got := s.h.Totals(10_000).States
	if got[event.Empty] != (StateTotal{1, 11_000}) || got[event.PreparingRebalance] != (StateTotal{0, 1000}) {
		t.Errorf("times %v", got)
	}
}

// TestSameStoryTwiceSaysTheSame: no order of a map reaches what is told.
func TestSameStoryTwiceSaysTheSame(t *testing.T) {
	for name, events := range scripts(t) {
		tell := func() (all []event.Event) {
			h := New(Config{})
			for i := range events {
				h.Apply(&events[i])
				all = h.Take(all, events[i].AtMs)
			}
			return all
		}
		if a, b := tell(), tell(); !reflect.DeepEqual(a, b) || len(a) == 0 {
			t.Errorf("%s: told %d and %d facts, or different ones", name, len(a), len(b))
		}
	}
}

// TestGhostsAreToldOf: a member whose connection closed is a ghost until its session has run out, or until it is heard again; of
// a client that was killed, what is heard was under way.
func TestGhostsAreToldOf(t *testing.T) {
	h := New(Config{})
	s := &teller{h: h}
	s.at(1000, "g", event.GroupCreated{}, event.MemberAdded{Member: "a-1", ClientID: "a", SessionTimeoutMs: 10_000},
		event.MemberAdded{Member: "b-1", ClientID: "b", SessionTimeoutMs: 30_000}, event.StateChanged{From: event.PreparingRebalance, To: event.Stable})
	want := func(what string, dead int, untilMs int64, ghosts ...string) {
		t.Helper()
		if sum, _ := h.Summary("g"); sum.Dead != dead || sum.GhostsMs != untilMs || !slices.Equal(sum.Ghosts, ghosts) {
			t.Errorf("%s: %d dead until %d: %q; want %d until %d: %q", what, sum.Dead, sum.GhostsMs, sum.Ghosts, dead, untilMs, ghosts)
		}
	}
	heartbeat := &event.Event{Group: "g", Body: event.HeartbeatReceived{Member: "a-1"}}
	if h.Wants(heartbeat) {
		t.Error("heartbeats are wanted though nobody is a ghost")
	}
	want("at first", 0, 0)
	s.at(5000, "", event.ConnectionClosed{Members: []string{"a-1", "b-1"}})
	want("after both connections closed", 2, 35_000, "a-1", "b-1")
	if !h.Wants(heartbeat) {
		t.Error("a ghost's heartbeat is not wanted")
	}
	s.at(6000, "g", event.HeartbeatReceived{Member: "a-1"})
	want("after a was heard", 1, 35_000, "b-1")
	s.at(7000, "g", event.ClientStopped{Client: "b", Killed: true}, event.HeartbeatReceived{Member: "b-1"})
	want("after b was killed", 1, 35_000, "b-1")
	s.at(35_000, "g", event.MemberRemoved{Member: "b-1", Why: event.WhySessionExpired})
	want("after b's session", 0, 0)
	if h.Wants(heartbeat) {
		t.Error("heartbeats are wanted though nobody is a ghost any more")
	}
}
