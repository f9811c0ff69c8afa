package view

import (
	"fmt"

	"grouplab/coordinator/event"
)

// story tells facts in the order in which a coordinator would, for the pictures of the gallery. It decides nothing: each
// call says what happened next.
type story struct {
	m       *Model
	numbers event.Numbers
	nowMs   int64
	group   string
	broker  int32 // the coordinator
	part    int32
	topic   string
	width   int32 // partitions of topic
	members []*actor
	gen     int32
	state   event.State
	op      int64
	ticket  int64
	appends int64
	endAt   int64 // log end of the group's offsets partition
	joinOp  int64
	syncOp  int64
	cause   int64  // of the facts that follow
	waiting string // how the waiting join phase is called
}

// actor is one member id and the consumer behind it.
type actor struct {
	client, id       string
	sessionMs        int32
	rebalanceMs      int32
	heartbeat        int64 // its DelayedHeartbeat, 0 while none runs
	joinAt, syncAt   int64 // parked tickets
	fresh            bool
	partitions       []int32
	lastOfPartitions map[int32]int64
}

const storyBrokers = 3

// newStory begins with three brokers, a topic and an empty offsets topic.
func newStory(group, topic string, width int32) *story {
	s := &story{m: NewModel(), group: group, topic: topic, width: width, state: event.Empty}
	s.part = partitionOf(group, 50)
	s.broker = storyLeader(s.part)
	for id := int32(1); id <= storyBrokers; id++ {
		s.say(0, "", event.BrokerStarted{ID: id, Host: "127.0.0.1", Port: 9091 + id})
	}
	s.say(0, "", event.TopicCreated{Topic: topic, Partitions: width, Replicas: storyBrokers})
	s.say(0, "", event.TopicCreated{Topic: offsetsTopic, Partitions: 50, Replicas: storyBrokers, Internal: true})
	for p := int32(0); p < 50; p++ {
		leader := storyLeader(p)
		s.say(0, "", event.LeaderChanged{Topic: offsetsTopic, Partition: p, Leader: leader, Epoch: 1,
			Replicas: others(leader), ISR: others(leader)})
		s.say(leader, "", event.LoadStarted{Partition: p, Epoch: 1})
		s.say(leader, "", event.LoadFinished{Partition: p, Epoch: 1})
	}
	return s
}

func others(leader int32) []int32 {
	list := []int32{leader}
	for id := int32(1); id <= storyBrokers; id++ {
		if id != leader {
			list = append(list, id)
		}
	}
	return list
}

func (s *story) at(ms int64) *story {
	s.nowMs, s.cause = max(s.nowMs, ms), 0
	return s
}

func (s *story) say(broker int32, group string, b event.Body) int64 {
	e := event.Event{Seq: s.numbers.Next(), AtMs: s.nowMs, Broker: broker, Group: group, Cause: s.cause, Body: b}
	s.m.Apply(e)
	return e.Seq
}

// here is a fact of the group's coordinator, there one of a client.
func (s *story) here(b event.Body)  { s.say(s.broker, s.group, b) }
func (s *story) there(b event.Body) { s.say(0, s.group, b) }

func (s *story) input(text string) { s.cause = s.say(0, "", event.InputGiven{Text: text}) }

// consumer starts a process and gives it a member id.
func (s *story) consumer(client, id string, sessionMs int32) *actor {
	s.there(event.ClientStarted{Client: client, Topics: []string{s.topic}, SessionTimeoutMs: sessionMs, RebalanceTimeoutMs: 60000, HeartbeatMs: 3000})
	s.there(event.CoordinatorFound{Client: client, ID: s.broker})
	return &actor{client: client, id: id, sessionMs: sessionMs, rebalanceMs: 60000, lastOfPartitions: map[int32]int64{}}
}

// send is a request's way to the coordinator: 2 ms.
func (s *story) send(a *actor, api int16) int64 {
	s.ticket++
	s.cause = s.say(0, s.group, event.RequestSent{Client: a.client, Request: s.ticket, API: api, To: s.broker, ArrivesMs: s.nowMs + 2,
		DeadlineMs: s.nowMs + 30000, Member: a.id})
	s.nowMs += 2
	s.cause = s.say(s.broker, s.group, event.RequestReceived{Ticket: s.ticket, API: api, Version: 9, ClientID: a.client, ClientHost: "/127.0.0.1", Member: a.id, Generation: s.gen})
	return s.ticket
}

// answer lets a reply leave; it is on the wire until arrive.
func (s *story) answer(a *actor, ticket int64, api, code int16, heldMs int64) {
	s.here(event.ReplySent{Ticket: ticket, API: api, Code: code, Member: a.id, Generation: s.gen, HeldMs: heldMs})
	s.there(event.ReplyOnWire{Client: a.client, Request: ticket, API: api, From: s.broker, Code: code, ArrivesMs: s.nowMs + 2})
}

func (s *story) arrive(a *actor, ticket int64, api, code int16) {
	s.there(event.ReplyReceived{Client: a.client, Request: ticket, API: api, Code: code})
}

func (s *story) move(to event.State, why event.Why, member string) {
	s.here(event.StateChanged{From: s.state, To: to, Why: why, Member: member})
	s.state = to
}

// watch puts an operation into purgatory, in the cell that a wheel of 20 cells of 1 ms gives it.
func (s *story) watch(b event.OperationWatched) int64 {
	s.op++
	b.Op, b.StartMs = s.op, s.nowMs
	tick := int64(1)
	for b.DeadlineMs >= s.nowMs-s.nowMs%tick+20*tick {
		b.Level, tick = b.Level+1, tick*20
	}
	b.CellMs = b.DeadlineMs - b.DeadlineMs%tick
	s.here(b)
	return s.op
}

// beat arms a member's session timer anew.
func (s *story) beat(a *actor) {
	s.stopBeat(a, "heartbeat")
	a.heartbeat = s.watch(event.OperationWatched{Type: event.DelayedHeartbeat, Keys: []string{s.group + "-" + a.id}, Member: a.id,
		DeadlineMs: s.nowMs + int64(a.sessionMs), Until: "a heartbeat of " + a.id})
}

func (s *story) stopBeat(a *actor, how string) {
	if a.heartbeat != 0 {
		s.here(event.OperationCompleted{Op: a.heartbeat, Type: event.DelayedHeartbeat, Member: a.id, How: how})
		a.heartbeat = 0
	}
}

// heartbeats come from every member that is not parked.
func (s *story) heartbeats(code int16, list ...*actor) {
	for _, a := range list {
		s.here(event.HeartbeatReceived{Member: a.id, Code: code})
		s.beat(a)
	}
}

// join is a JoinGroup that is parked: the first begins the rebalance.
func (s *story) join(a *actor, why event.Why) {
	s.there(event.ClientStateChanged{Client: a.client, From: event.Unjoined, To: event.Rebalancing, Member: a.id, Generation: s.gen, Reason: string(why)})
	ticket := s.send(a, apiJoinGroup)
	known := false
	for _, x := range s.members {
		known = known || x == a
	}
	if known {
		s.here(event.MemberUpdated{Member: a.id, SessionTimeoutMs: a.sessionMs, RebalanceTimeoutMs: a.rebalanceMs, Protocols: []string{"range"}, Topics: []string{s.topic}})
	} else {
		a.fresh = true
		s.members = append(s.members, a)
		s.here(event.MemberAdded{Member: a.id, ClientID: a.client, ClientHost: "/127.0.0.1", SessionTimeoutMs: a.sessionMs,
			RebalanceTimeoutMs: a.rebalanceMs, Protocols: []string{"range"}, Topics: []string{s.topic}, New: true})
	}
	if s.state != event.PreparingRebalance {
		s.here(event.RebalanceStarted{Why: why, Member: a.id, Generation: s.gen, RebalanceTimeoutMs: 60000})
		s.move(event.PreparingRebalance, why, a.id)
	}
	if a.fresh && a.heartbeat == 0 {
		a.heartbeat = s.watch(event.OperationWatched{Type: event.DelayedHeartbeat, Keys: []string{s.group + "-" + a.id}, Member: a.id,
			DeadlineMs: s.nowMs + 300000, New: true, Until: "the join phase ends"})
	}
	a.joinAt = ticket
	s.here(event.ReplyParked{Ticket: ticket, API: apiJoinGroup, Member: a.id, ClientID: a.client, SinceMs: s.nowMs, Until: "everyone has rejoined"})
	s.waitJoin(why, a)
}

func (s *story) waitJoin(why event.Why, a *actor) {
	if s.joinOp != 0 {
		s.here(event.OperationTested{Op: s.joinOp, Key: s.group, Lacks: s.lacks()})
		return
	}
	if why == event.WhyFirstMember {
		s.joinOp = s.watch(event.OperationWatched{Type: event.InitialDelayedJoin, Keys: []string{s.group}, DeadlineMs: s.nowMs + 3000, RemainingMs: 57000})
		s.waiting = string(event.InitialDelayedJoin)
		return
	}
	s.joinOp = s.watch(event.OperationWatched{Type: event.DelayedJoin, Keys: []string{s.group}, DeadlineMs: s.nowMs + 60000,
		DeadlineOf: s.members[0].id, Until: "everyone has rejoined"})
	s.waiting = string(event.DelayedJoin)
	s.here(event.OperationTested{Op: s.joinOp, Key: s.group, Lacks: s.lacks()})
}

func (s *story) lacks() string {
	here, missing := 0, ""
	for _, a := range s.members {
		if a.joinAt != 0 {
			here++
		} else {
			missing += " " + a.id
		}
	}
	return fmt.Sprintf("%d of %d rejoined, missing%s", here, len(s.members), missing)
}

// joined ends the join phase: everybody gets an answer, the first member leads.
func (s *story) joined(why event.Why) {
	s.here(event.OperationCompleted{Op: s.joinOp, Type: event.OpKind(s.waiting), Expired: why == event.WhyInitialDelayOver, How: string(why)})
	s.joinOp = 0
	s.gen++
	ids := make([]string, len(s.members))
	for i, a := range s.members {
		ids[i] = a.id
	}
	s.here(event.GenerationStarted{Generation: s.gen, Protocol: "range", Leader: ids[0], Members: ids, Why: why, DurationMs: s.nowMs - s.m.Groups[s.group].Began.AtMs})
	s.move(event.CompletingRebalance, why, "")
	for _, a := range s.members {
		if a.joinAt != 0 {
			s.answer(a, a.joinAt, apiJoinGroup, 0, s.nowMs-s.m.Groups[s.group].Began.AtMs)
			s.beat(a)
		}
	}
	s.syncOp = s.watch(event.OperationWatched{Type: event.DelayedSync, Keys: []string{s.group}, Generation: s.gen, DeadlineMs: s.nowMs + 60000,
		DeadlineOf: ids[0], Until: "every member has sent SyncGroup"})
	s.nowMs += 2
	for _, a := range s.members {
		if a.joinAt != 0 {
			s.arrive(a, a.joinAt, apiJoinGroup, 0)
			a.joinAt = 0
		}
	}
}

// sync is a SyncGroup that is parked.
func (s *story) sync(a *actor) {
	a.syncAt = s.send(a, apiSyncGroup)
	s.here(event.ReplyParked{Ticket: a.syncAt, API: apiSyncGroup, Member: a.id, ClientID: a.client, SinceMs: s.nowMs, Until: "the assignment is written"})
}

// assign shares the partitions out and hands the group record to the log.
func (s *story) assign() []event.Assignment {
	var list []event.Assignment
	n := int32(len(s.members))
	next := int32(0)
	for i, a := range s.members {
		share := s.width / n
		if int32(i) < s.width%n {
			share++
		}
		a.partitions = nil
		for ; share > 0; share-- {
			a.partitions = append(a.partitions, next)
			next++
		}
		list = append(list, event.Assignment{Member: a.id, Topics: s.topics(a)})
	}
	s.here(event.AssignmentReceived{Member: s.members[0].id, Generation: s.gen, Assignments: list})
	return list
}

func (s *story) topics(a *actor) []event.TopicPartitions {
	if len(a.partitions) == 0 {
		return nil
	}
	return []event.TopicPartitions{{Topic: s.topic, Partitions: a.partitions}}
}

func storyLeader(partition int32) int32 { return (partition+1)%storyBrokers + 1 }
