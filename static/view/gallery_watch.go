package view

import (
	"fmt"

	"grouplab/coordinator/event"
)

// hourMs is an hour; these pictures begin at a wall clock's time, so that a day lies behind them.
const (
	hourMs    = 3600 * 1000
	watchFrom = 1796007600000 // 2026-11-30 03:00 UTC
)

// newWatchStory is a story on the page of a running cluster.
func newWatchStory(group, topic string, width int32) *story {
	s := newStory(group, topic, width)
	s.m.watcher = &Watch{Groups: map[string]*Watched{}}
	s.at(watchFrom)
	return s
}

// told is a fact that an observer tells.
func (s *story) told(truth event.Truth, atMs, hiMs int64, group string, b event.Body) {
	if atMs > s.nowMs {
		s.at(atMs)
	}
	broker := int32(0)
	if group == s.group {
		broker = s.broker
	}
	s.m.Apply(event.Event{Seq: s.numbers.Next(), AtMs: atMs, AtHiMs: hiMs, Broker: broker, Group: group, Truth: truth, Body: b})
}

// incident is a loop: payments-3 is killed for each max.poll.interval that it misses, comes back under a new id, and gets the
// partitions that it had. Now its old id keeps everybody waiting.
func incident() *Model {
	s := newWatchStory("payments", "payments", 6)
	s.past()
	c1 := s.consumer("payments-1", "payments-1-5b7e0c1d", 45000)
	c2 := s.consumer("payments-2", "payments-2-90ab3f77", 45000)
	c3 := s.consumer("payments-3", "payments-3-4e1f82aa", 45000)
	s.gen = 410
	s.here(event.GroupCreated{})
	s.join(c1, event.WhyFirstMember)
	s.at(watchFrom + 400)
	s.join(c2, event.WhyNewMember)
	s.join(c3, event.WhyNewMember)
	s.at(watchFrom + 3000)
	s.round(event.WhyInitialDelayOver)
	for at := int64(6000); at < 60000; at += 3000 {
		s.at(watchFrom + at)
		s.heartbeats(0, c1, c2, c3)
	}
	s.commit(c1, 812)
	s.commit(c2, 640)
	s.here(event.OffsetsRefused{Member: "payments-3-11aa0c77", Generation: 409, GroupGeneration: s.gen, State: event.Stable, Code: 22,
		Offsets: []event.OffsetValue{{Topic: "payments", Partition: 4, Offset: 99120}, {Topic: "payments", Partition: 5, Offset: 98700}}})
	s.at(watchFrom + 61000)
	s.there(event.ClientStopped{Client: c3.client, Killed: true})
	again := s.consumer("payments-3", "payments-3-d07735f9", 45000)
	s.at(watchFrom + 62500)
	s.join(again, event.WhyNewMember)
	s.at(watchFrom + 63000)
	s.rejoin(c1)
	s.rejoin(c2)
	s.others(52)
	s.told(event.Observed, s.nowMs, 0, s.group, event.GroupSummarized{Type: typeClassic, State: s.state, SinceMs: s.nowMs, Generation: s.gen, Members: 4,
		Partition: s.part, Coordinator: s.broker, Rebalances: 38, LostPartitionMs: 1626000, Loops: 12, Member: "payments-3-4e1f82aa", Why: event.WhySessionExpired})
	s.m.SetNow(watchFrom + 78204)
	return s.m
}

// past are the generations of a day: a deploy in the morning, a member that was too slow, then a loop.
func (s *story) past() {
	generation := int32(371)
	tell := func(agoMs int64, why event.Why, client, reason string, moved int, lost ...event.Lost) {
		at := watchFrom - agoMs
		r := event.GenerationRecorded{Generation: generation, StartedMs: at, JoinedMs: at + 2100, SettledMs: at + 2300, Why: why, ClientID: client,
			Member: client + "-4e1f82aa", ClientReason: reason, Members: 3, Partitions: 6, Moved: moved, Lost: lost}
		if why == event.WhySessionExpired {
			r.SettledMs, r.JoinedMs = at+47000, at+46800
		}
		generation++
		s.told(event.Observed, s.nowMs, 0, s.group, r)
	}
	wait := func(member string, ms int64) event.Lost {
		return event.Lost{Why: event.WhySessionExpired, Member: member, PartitionMs: ms}
	}
	for i := int64(0); i < 6; i++ {
		tell(21*hourMs-i*40000, event.WhyMemberLeft, fmt.Sprintf("payments-%d", i%3+1), "the consumer is being closed", int(i%2)*2, event.Lost{Why: event.WhyAllRejoined, PartitionMs: 9000})
		tell(21*hourMs-i*40000-15000, event.WhyNewMember, fmt.Sprintf("payments-%d", i%3+1), "", 2, event.Lost{Why: event.WhyInitialDelayOver, PartitionMs: 14000})
	}
	tell(14*hourMs, event.WhyMetadataChanged, "payments-1", "cached metadata has changed", 0, event.Lost{Why: event.WhyAllRejoined, PartitionMs: 6000})
	tell(9*hourMs, event.WhyNotRejoined, "payments-2", "", 3, event.Lost{Why: event.WhyRebalanceTimeout, Member: "payments-2-90ab3f77", PartitionMs: 310000})
	for i := int64(0); i < 12; i++ {
		tell(6*hourMs-i*29*60000, event.WhySessionExpired, "payments-3", "", 0, wait("payments-3-4e1f82aa", 84000))
		tell(6*hourMs-i*29*60000-80000, event.WhyNewMember, "payments-3", "", 0, event.Lost{Why: event.WhyAllRejoined, PartitionMs: 4000})
	}
}

// others are the lines of the groups beside the one on stage.
func (s *story) others(n int) {
	states := []event.State{event.Stable, event.Stable, event.Empty, event.Stable, event.Stable, event.Stable, event.Stable}
	services := []string{"billing", "search-index", "mailer", "fraud", "audit", "thumbnails", "loyalty", "warehouse"}
	for i := 0; i < n; i++ {
		g := fmt.Sprintf("%s-%s", services[i%len(services)], []string{"eu", "us", "ap", "sa", "staging", "eu-2", "us-2"}[i/len(services)])
		b := event.GroupSummarized{Type: typeClassic, State: states[i%len(states)], SinceMs: s.nowMs - int64(1+i*i)*61000, Partition: partitionOf(g, 50),
			Generation: int32(1 + i*i%31), Members: i % 5, Topics: []string{services[i%len(services)]}, Rebalances: i % 4, LostPartitionMs: int64(i%4) * 7300,
			Why: event.WhyNewMember, Member: g + "-1-5b7e0c1d"}
		b.Coordinator = storyLeader(b.Partition)
		switch {
		case i == 9:
			b.State, b.SinceMs, b.Members, b.Awaited, b.Waiting, b.DeadlineMs = event.PreparingRebalance, s.nowMs-12000, 6, []string{"search-index-us-4-77aa01bc"}, 2, s.nowMs+33000
		case i == 11:
			b.Type, b.State, b.SinceMs, b.Bench, b.Members = typeConsumer, event.Reconciling, s.nowMs-4000, 1, 4
		case i == 13:
			b.Loops, b.Rebalances, b.LostPartitionMs, b.Members = 6, 14, 96000, 4
		case b.State == event.Empty:
			b.Members, b.ExpiresMs = 0, s.nowMs+int64(1+i)*9*hourMs
		case i == 20:
			b.Gone = true
		case b.Members == 0:
			b.Members = 2
		}
		s.told(event.Observed, s.nowMs, 0, g, b)
	}
}

// attachedCluster is somebody else's cluster, seen from outside: bounds instead of moments, causes that were concluded, and
// what is not seen.
func attachedCluster() *Model {
	s := newWatchStory("orders-svc", "orders", 6)
	now := int64(watchFrom)
	s.told(event.Observed, now, 0, "", event.ClusterAttached{ClusterID: "MkU3OEVBNTcwNTJENDM2Qk", Mode: "log", Partitions: 50, PollMs: 1000})
	members := []string{"orders-1-5b7e0c1d", "orders-2-90ab3f77", "orders-3-4e1f82aa"}
	s.told(event.Observed, now, 0, s.group, event.GroupListed{Type: typeClassic, State: event.Stable, ProtocolType: "consumer"})
	s.say(s.broker, s.group, event.GroupLoaded{State: event.Stable, SinceMs: now - 3*hourMs, Generation: 41, ProtocolType: "consumer", Protocol: "range", Leader: members[0], Partition: s.part})
	var shares []event.Assignment
	for i, id := range members {
		s.say(s.broker, s.group, event.MemberAdded{Member: id, ClientID: id[:8], ClientHost: "/10.0.4.1" + num(i), SessionTimeoutMs: 45000, RebalanceTimeoutMs: 300000,
			Protocols: []string{"range"}, Topics: []string{"orders"}, Loaded: true})
		shares = append(shares, event.Assignment{Member: id, Topics: []event.TopicPartitions{{Topic: "orders", Partitions: []int32{int32(2 * i), int32(2*i + 1)}}}})
	}
	s.here(event.AssignmentStored{Assignments: shares})
	for i := int32(0); i < 5; i++ {
		at := now - int64(5-i)*33*60000
		r := event.GenerationRecorded{Generation: 37 + i, StartedMs: at, StartedHiMs: at + 900, SettledMs: at + 3100, Why: event.WhyMembersGone, ClientID: "orders-3", Confidence: event.Medium,
			Members: 3, Partitions: 6, Moved: int(i%2) * 2, Joined: members[2:], Lost: []event.Lost{{Why: event.WhyAllRejoined, Member: members[1], PartitionMs: 18000}}}
		s.told(event.Inferred, now, 0, s.group, r)
	}
	s.told(event.Sampled, now+20000, now+21000, s.group, event.StateChanged{From: event.Stable, To: event.PreparingRebalance, Why: event.WhyMembersGone, Member: members[2]})
	s.told(event.Inferred, now+21000, 0, s.group, event.CauseInferred{Generation: 42, Why: event.WhySessionExpired, Member: members[2], Confidence: event.High,
		Evidence: "its last commit is 46 s old, its session timeout 45 s"})
	s.told(event.Inferred, now+21000, 0, s.group, event.AwaitedSeen{State: event.PreparingRebalance, DeadlineMs: now + 320000, DeadlineHiMs: now + 321000,
		Awaited: []event.Awaited{{Member: members[1], SeenMs: now + 18500, ExpiresMs: now + 63500, ExpiresHiMs: now + 66000}}})
	s.told(event.Observed, now+21500, 0, s.group, event.LagMeasured{Topic: "orders", Partitions: []event.PartitionLag{{Partition: 0, Committed: 88120, End: 88164},
		{Partition: 1, Committed: 87014, End: 87014}, {Partition: 2, Committed: 90211, End: -1}, {Partition: 3, Committed: -1, End: 412, Words: "no commit"},
		{Partition: 4, Committed: 100240, End: 100229}, {Partition: 5, Committed: 4410, End: 4412, Words: "only markers are left"}}})
	s.others(30)
	for _, x := range []event.SightChanged{
		{Source: "broker 3", Lost: true, Reason: "connection refused by 10.0.4.23:9092", SinceMs: now - 190000, Hides: "the groups that it coordinates"},
		{Source: "group billing-us", Lost: true, Code: 30, Reason: "the group is not authorized", SinceMs: now - 2*hourMs, Right: "Describe on Group billing-us", Hides: "its members and its lag"}} {
		s.told(event.Observed, now+21600, 0, "", x)
	}
	s.told(event.Observed, now+22000, 0, "", event.CostMeasured{IntervalMs: 5000, Brokers: []event.BrokerCost{{Broker: 1, Requests: 9, Bytes: 41000, RoundTripUs: 900}, {Broker: 2, Requests: 7, Bytes: 22000, RoundTripUs: 1100}}})
	s.m.SetNow(now + 24300)
	return s.m
}

// reconciling is a consumer group (KIP-848): one member gives up, one waits for it, the others go on.
func reconciling() *Model {
	s := newWatchStory("shipping", "parcels", 8)
	now := int64(watchFrom)
	parts := func(p ...int32) []event.TopicPartitions {
		return []event.TopicPartitions{{Topic: "parcels", Partitions: p}}
	}
	members := []string{"q8mV2kXbRs6pQ7sTt69fA1", "Zq81nLw0RjGm3uYc5hEb7d", "9aQwP4xZrT2bKs8vNd1mUe"}
	s.told(event.Observed, now-hourMs, 0, s.group, event.GroupListed{Type: typeConsumer, State: event.Stable, ProtocolType: "consumer"})
	s.say(s.broker, s.group, event.GroupLoaded{State: event.Stable, SinceMs: now - hourMs, Generation: 7, ProtocolType: "consumer", Protocol: "uniform", Partition: s.part})
	for i, id := range members {
		b := event.MemberAdded{Member: id, ClientID: "parcel-" + string(rune('a'+i)), ClientHost: "/10.0.7.2", RebalanceTimeoutMs: 300000, Topics: []string{"parcels"}, Loaded: true}
		if i == 1 {
			b.InstanceID = "parcel-b"
		}
		s.say(s.broker, s.group, b)
	}
	s.told(event.Observed, now+1000, 0, s.group, event.EpochBumped{Epoch: 8, Why: event.WhyNewMember, Member: members[2], Confidence: event.High})
	s.say(s.broker, s.group, event.StateChanged{From: event.Stable, To: event.Assigning, Why: event.WhyNewMember, Member: members[2]})
	s.told(event.Observed, now+1040, 0, s.group, event.TargetAssigned{Epoch: 8, Moved: 2, Assignments: []event.Assignment{{Member: members[0], Topics: parts(0, 1, 2)},
		{Member: members[1], Topics: parts(4, 5, 6)}, {Member: members[2], Topics: parts(3, 7)}}})
	s.say(s.broker, s.group, event.StateChanged{From: event.Assigning, To: event.Reconciling, Why: event.WhyAssignmentWritten})
	s.told(event.Observed, now+1100, 0, s.group, event.MemberReconciled{Member: members[0], Epoch: 7, PreviousEpoch: 6, State: stateUnrevoked, Assigned: parts(0, 1, 2), Revoking: parts(3)})
	s.told(event.Observed, now+1200, 0, s.group, event.MemberReconciled{Member: members[1], Epoch: 8, PreviousEpoch: 7, State: "stable", Assigned: parts(4, 5, 6)})
	s.told(event.Observed, now+1300, 0, s.group, event.MemberReconciled{Member: members[2], Epoch: 8, PreviousEpoch: 0, State: stateUnreleased, Assigned: parts(7), WaitsFor: members[:1]})
	s.told(event.Observed, now+1300, 0, s.group, event.GenerationRecorded{Generation: 7, StartedMs: now - hourMs, SettledMs: now - hourMs + 1500, Why: event.WhyMembersJoin, Members: 2, Partitions: 8, Moved: 8,
		Joined: members[:2]})
	s.others(18)
	s.m.SetNow(now + 9300)
	return s.m
}

func watchOptions(group, selected string) func() Options {
	return func() Options {
		o := liveOptions()
		o.Group, o.Selected = group, selected
		return o
	}
}

func attachedOptions() Options {
	o := liveOptions()
	o.Live = &LiveState{Connected: true, Demo: -1}
	return o
}
