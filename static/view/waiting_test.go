package view

import (
	"reflect"
	"testing"

	"grouplab/coordinator/event"
)

// told feeds bodies to a model: times in milliseconds, all at broker 1 for group g.
type told struct {
	m   *Model
	seq int64
}

func (s *told) at(ms int64, bodies ...event.Body) *told {
	for _, b := range bodies {
		s.seq++
		s.m.Apply(event.Event{Seq: s.seq, AtMs: ms, Broker: 1, Group: "g", Body: b})
	}
	return s
}

func newTold() *told { return &told{m: NewModel()} }

func added(id, client string) event.MemberAdded {
	return event.MemberAdded{Member: id, ClientID: client, ClientHost: "/10.0.0.1", SessionTimeoutMs: 10000, RebalanceTimeoutMs: 60000,
		Protocols: []string{"range"}, Topics: []string{"orders"}}
}

func session(op int64, member string, start, deadline int64) event.OperationWatched {
	return event.OperationWatched{Op: op, Type: event.DelayedHeartbeat, Member: member, StartMs: start, DeadlineMs: deadline, Keys: []string{"g-" + member}}
}

// ghostStory is the moment that the project exists for: c3 was killed, came back as c3′, and everyone waits for the ghost.
func ghostStory() *told {
	s := newTold()
	s.at(0, event.ClientStarted{Client: "c1"}, event.ClientStarted{Client: "c2"}, event.ClientStarted{Client: "c3"},
		event.TopicCreated{Topic: "orders", Partitions: 6}, event.GroupCreated{})
	s.at(10, added("c1-1", "c1"), added("c2-1", "c2"), added("c3-1", "c3"), event.LeaderElected{Member: "c1-1"},
		event.StateChanged{From: event.Empty, To: event.PreparingRebalance, Why: event.WhyFirstMember, Member: "c1-1"})
	s.at(3010, event.GenerationStarted{Generation: 4, Leader: "c1-1", Members: []string{"c1-1", "c2-1", "c3-1"}},
		event.StateChanged{From: event.PreparingRebalance, To: event.CompletingRebalance},
		session(1, "c1-1", 3010, 13010), session(2, "c2-1", 3010, 13010), session(3, "c3-1", 3010, 13010))
	s.at(3020, event.AssignmentStored{Generation: 4, Assignments: []event.Assignment{{Member: "c3-1", Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{4, 5}}}}}},
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(5000, event.ClientStopped{Client: "c3", Killed: true})
	s.at(6000, event.ClientStarted{Client: "c3"}, added("c3-2", "c3"),
		event.RebalanceStarted{Why: event.WhyNewMember, Member: "c3-2", Generation: 4, RebalanceTimeoutMs: 60000},
		event.StateChanged{From: event.Stable, To: event.PreparingRebalance, Why: event.WhyNewMember, Member: "c3-2"},
		event.ReplyParked{Ticket: 21, API: 11, Member: "c3-2", SinceMs: 6000},
		event.OperationWatched{Op: 9, Type: event.DelayedJoin, StartMs: 6000, DeadlineMs: 66000, DeadlineOf: "c1-1", Keys: []string{"join-g"}})
	s.at(7000, event.ReplyParked{Ticket: 22, API: 11, Member: "c1-1", SinceMs: 7000})
	s.at(7500, event.ReplyParked{Ticket: 23, API: 11, Member: "c2-1", SinceMs: 7500})
	return s
}

func TestWaitingNamesTheGhost(t *testing.T) {
	w := ghostStory().m.Waiting("g")
	if w.Kind != WaitJoin || w.Here != 3 || w.Of != 4 {
		t.Fatalf("waiting %q, %d of %d here; want join, 3 of 4", w.Kind, w.Here, w.Of)
	}
	if len(w.Missing) != 1 || w.Missing[0].Label != "c3" || !w.Missing[0].Gone {
		t.Fatalf("missing %+v; want the dead c3", w.Missing)
	}
	if w.EndBy != EndSession || w.EndMember != "c3" || w.EndMs != 13010 {
		t.Errorf("ends by %q of %q at %d; want the session of c3 at 13010", w.EndBy, w.EndMember, w.EndMs)
	}
	if w.HardMs != 66000 || w.HardOf != "c1" {
		t.Errorf("hard stop %d of %q; want 66000 of c1", w.HardMs, w.HardOf)
	}
	if w.Began.Why != event.WhyNewMember || w.BeganLabel != "c3′" {
		t.Errorf("began because %q %q; want a new member c3′", w.Began.Why, w.BeganLabel)
	}
}

func TestWaitingForTheLivingHasNoPromisedEnd(t *testing.T) {
	s := ghostStory()
	s.at(7600, event.ReplyDropped{Ticket: 23, API: 11, Member: "c2-1", Reason: "joined again"})
	w := s.m.Waiting("g")
	if w.EndBy != EndRejoin || w.EndMember != "c2" || w.EndMs != 0 {
		t.Errorf("ends by %q of %q at %d; want the rejoin of c2, whenever it likes", w.EndBy, w.EndMember, w.EndMs)
	}
}

func TestWaitingTheHardStopWinsOverALongSession(t *testing.T) {
	s := ghostStory()
	s.at(8000, event.OperationCompleted{Op: 3, Type: event.DelayedHeartbeat, Member: "c3-1"}, session(30, "c3-1", 8000, 90000))
	if w := s.m.Waiting("g"); w.EndBy != EndRebalanceTimeout || w.EndMs != 66000 || w.EndMember != "c1" {
		t.Errorf("ends by %q of %q at %d; want the rebalance timeout of c1 at 66000", w.EndBy, w.EndMember, w.EndMs)
	}
}

func TestWaitingInitialDelayHasALock(t *testing.T) {
	s := newTold().at(0, event.GroupCreated{}, added("c1-1", "c1"),
		event.StateChanged{From: event.Empty, To: event.PreparingRebalance, Why: event.WhyFirstMember, Member: "c1-1"},
		event.OperationWatched{Op: 1, Type: event.InitialDelayedJoin, StartMs: 0, DeadlineMs: 3000, RemainingMs: 57000},
		event.ReplyParked{Ticket: 1, API: 11, Member: "c1-1"})
	w := s.m.Waiting("g")
	if w.Kind != WaitInitialDelay || w.EndMs != 3000 || w.MaxMs != 60000 || len(w.Missing) != 0 {
		t.Errorf("%+v; want the initial delay until 3000, at most 60000, nobody missing", w)
	}
}

func TestWaitingForADeadLeaderEndsWithItsSession(t *testing.T) {
	s := ghostStory()
	s.at(13010, event.MemberRemoved{Member: "c3-1", Why: event.WhySessionExpired}, event.OperationCompleted{Op: 9, Type: event.DelayedJoin},
		event.GenerationStarted{Generation: 5, Leader: "c1-1", Members: []string{"c1-1", "c2-1", "c3-2"}},
		event.StateChanged{From: event.PreparingRebalance, To: event.CompletingRebalance},
		event.ReplySent{Ticket: 21, API: 11}, event.ReplySent{Ticket: 22, API: 11}, event.ReplySent{Ticket: 23, API: 11},
		event.OperationWatched{Op: 10, Type: event.DelayedSync, Generation: 5, StartMs: 13010, DeadlineMs: 73010, DeadlineOf: "c1-1"},
		event.OperationCompleted{Op: 1, Type: event.DelayedHeartbeat, Member: "c1-1"}, session(11, "c1-1", 13010, 23010))
	if w := s.m.Waiting("g"); w.Kind != WaitAssignment || w.EndBy != EndLeaderSync || w.EndMember != "c1" {
		t.Fatalf("%+v; want the assignment of c1", w)
	}
	s.at(13020, event.ClientStopped{Client: "c1", Killed: true})
	if w := s.m.Waiting("g"); w.EndBy != EndSession || w.EndMs != 23010 {
		t.Errorf("ends by %q at %d; want the leader's session at 23010", w.EndBy, w.EndMs)
	}
	s.at(13030, event.AppendStarted{Append: 5, What: "group", Partition: 3, Records: 1, DeadlineMs: 18030})
	if w := s.m.Waiting("g"); w.Kind != WaitAppend {
		t.Errorf("waiting %q; want the append", w.Kind)
	}
}

func TestLoadingAndLeaderlessPartitionsAreNamed(t *testing.T) {
	s := newTold()
	s.at(0, event.BrokerStarted{ID: 1}, event.BrokerStarted{ID: 2},
		event.LeaderChanged{Topic: "__consumer_offsets", Partition: 3, Leader: 1, Replicas: []int32{1, 2}, ISR: []int32{1, 2}},
		event.GroupLoaded{State: event.Stable, Generation: 2, Partition: 3})
	s.at(100, event.BrokerStopped{ID: 1, Killed: true, NoticedByMs: 9100})
	if w := s.m.Waiting("g"); w.Kind != WaitCoordinator || w.EndBy != EndFence || w.EndMs != 9100 {
		t.Fatalf("%+v; want a coordinator, noticed by 9100", w)
	}
	s.at(9100, event.BrokerFenced{ID: 1}, event.LeaderChanged{Topic: "__consumer_offsets", Partition: 3, Leader: 2, Epoch: 1, Replicas: []int32{1, 2}, ISR: []int32{2}})
	s.seq++
	s.m.Apply(event.Event{Seq: s.seq, AtMs: 9101, Broker: 2, Body: event.LoadStarted{Partition: 3, Epoch: 1, EndOffset: 10}})
	if w := s.m.Waiting("g"); w.Kind != WaitLoad || w.EndBy != EndLoad {
		t.Errorf("%+v; want the load", w)
	}
}

func TestAGhostRowStaysForOneGeneration(t *testing.T) {
	s := ghostStory()
	s.at(13010, event.MemberRemoved{Member: "c3-1", Why: event.WhySessionExpired}, event.GenerationStarted{Generation: 5})
	if s.m.Groups["g"].Member("c3-1") == nil {
		t.Fatal("the row of c3 went at once; it stays for one generation")
	}
	s.at(20000, event.GenerationStarted{Generation: 6})
	if s.m.Groups["g"].Member("c3-1") != nil {
		t.Error("the row of c3 is still there after another generation")
	}
}

func TestPausedPartitionsAreCounted(t *testing.T) {
	s := newTold()
	s.at(0, event.TopicCreated{Topic: "orders", Partitions: 6}, event.GroupCreated{}, added("a-1", "a"),
		event.AssignmentStored{Generation: 1, Assignments: []event.Assignment{{Member: "a-1", Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1, 2, 3, 4, 5}}}}}},
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(1000, event.StateChanged{From: event.Stable, To: event.PreparingRebalance})
	s.at(3000, event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.m.SetNow(9000)
	if got := s.m.Groups["g"].PausedPartitionMs; got != 12000 {
		t.Errorf("%d partition-milliseconds were lost; 6 partitions stood still for 2 s", got)
	}
}

// TestAGroupThatBeginsAnewLosesNothing: from Empty to the next assignment nobody has the partitions.
func TestAGroupThatBeginsAnewLosesNothing(t *testing.T) {
	s := newTold()
	all := []event.Assignment{{Member: "a-1", Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1}}}}}
	s.at(0, event.TopicCreated{Topic: "orders", Partitions: 2}, event.GroupCreated{}, added("a-1", "a"), event.AssignmentStored{Generation: 1, Assignments: all},
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(1000, event.MemberRemoved{Member: "a-1", Why: event.WhyMemberLeft}, event.StateChanged{From: event.PreparingRebalance, To: event.Empty})
	s.at(2000, added("a-1", "a"), event.StateChanged{From: event.Empty, To: event.PreparingRebalance})
	s.at(5000, event.AssignmentStored{Generation: 3, Assignments: all}, event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(6000, event.StateChanged{From: event.Stable, To: event.PreparingRebalance})
	s.m.SetNow(6500)
	if got := s.m.Groups["g"].PausedPartitionMs; got != 1000 {
		t.Errorf("%d partition-milliseconds were lost; 2 partitions stood still for 500 ms since they had an owner again", got)
	}
}

func TestACopyIsIndependent(t *testing.T) {
	s := ghostStory()
	c := s.m.Clone()
	before := c.Clone()
	s.at(13010, event.MemberRemoved{Member: "c3-1", Why: event.WhySessionExpired}, event.OperationCompleted{Op: 9, Type: event.DelayedJoin},
		event.ReplySent{Ticket: 21, API: 11}, event.StateChanged{From: event.PreparingRebalance, To: event.CompletingRebalance},
		event.OffsetsPending{Append: 3, Offsets: []event.OffsetValue{{Topic: "orders", Offset: 5}}})
	if !reflect.DeepEqual(c, before) {
		t.Error("what happened to the original changed the copy")
	}
}

func TestAClosedConnectionPausesItsMembersPartitions(t *testing.T) {
	s := newTold()
	s.at(0, event.TopicCreated{Topic: "orders", Partitions: 6}, event.GroupCreated{}, added("a-1", "a"), added("b-1", "b"),
		event.AssignmentStored{Generation: 1, Assignments: []event.Assignment{
			{Member: "a-1", Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1, 2}}}},
			{Member: "b-1", Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{3, 4, 5}}}}}},
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.seq++
	s.m.Apply(event.Event{Seq: s.seq, AtMs: 1000, Broker: 1, Body: event.ConnectionClosed{Connection: 7, ClientID: "b", Members: []string{"b-1"}}})
	s.m.SetNow(3000)
	if g := s.m.Groups["g"]; g.Paused != 3 || g.PausedPartitionMs != 6000 {
		t.Errorf("%d partitions stand still, %d ms in all; want 3 for 2 s", g.Paused, g.PausedPartitionMs)
	}
}
