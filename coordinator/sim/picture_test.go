package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// picture is everything that a viewer can know: a fold over events, be it all of them since the beginning, or Facts.
type picture struct {
	brokers  map[int32]string
	topics   map[string]int32
	leaders  map[string]string
	machines map[int32]*machinePicture
	clients  map[string]string
	txns     map[string]string
}

type machinePicture struct {
	groups  map[string]*groupPicture
	appends map[int64]string
	loading map[int32]string
	verify  map[int64]string
	parked  map[int64]string // beside the groups': a group may go while a commit of it is being written
}

type groupPicture struct {
	state, protocol, leader string
	generation              int32
	members                 map[string]event.MemberAdded
	pending                 map[string]int64
	assignment              map[string]string
	offsets                 map[string]string
	txns                    map[int64]map[string]string
	ops                     map[int64]event.OperationWatched
}

func newPicture() *picture {
	return &picture{brokers: map[int32]string{}, topics: map[string]int32{}, leaders: map[string]string{}, machines: map[int32]*machinePicture{},
		clients: map[string]string{}, txns: map[string]string{}}
}

func (p *picture) machine(broker int32) *machinePicture {
	m := p.machines[broker]
	if m == nil {
		m = &machinePicture{map[string]*groupPicture{}, map[int64]string{}, map[int32]string{}, map[int64]string{}, map[int64]string{}}
		p.machines[broker] = m
	}
	return m
}

// apply learns from an event.
func (p *picture) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.BrokerStarted:
		p.brokers[b.ID] = "runs"
	case event.BrokerStopped:
		p.brokers[b.ID] = "stopped"
		delete(p.machines, b.ID)
		for id := range p.txns {
			if strings.HasPrefix(id, fmt.Sprintf("%d ", b.ID)) {
				delete(p.txns, id)
			}
		}
	case event.TopicCreated:
		p.topics[b.Topic] = b.Partitions
	case event.PartitionsAdded:
		p.topics[b.Topic] = b.To
	case event.TopicDeleted:
		delete(p.topics, b.Topic)
		maps.DeleteFunc(p.leaders, func(name, _ string) bool { return strings.HasPrefix(name, b.Topic+" ") })
	case event.LeaderChanged:
		p.leaders[fmt.Sprintf("%s %d", b.Topic, b.Partition)] = fmt.Sprintf("%d in epoch %d, in sync %v", b.Leader, b.Epoch, b.ISR)
	case event.ClientStarted:
		p.clients[b.Client] = string(event.Unjoined)
	case event.ClientStopped:
		delete(p.clients, b.Client)
	case event.ClientStateChanged:
		p.clients[b.Client] = string(b.To)
	case event.TxnStateChanged:
		p.txns[fmt.Sprintf("%d %s", e.Broker, b.TransactionalID)] = fmt.Sprintf("%s by %d in epoch %d: %v", b.To, b.ProducerID, b.ProducerEpoch, b.Partitions)
	case event.TxnFenced, event.TxnRemoved, event.TxnUnloaded:
		p.applyTxn(e)
	default:
		if e.Broker > 0 {
			p.machine(e.Broker).apply(e)
		}
	}
}

func (p *picture) applyTxn(e event.Event) {
	switch b := e.Body.(type) {
	case event.TxnRemoved:
		delete(p.txns, fmt.Sprintf("%d %s", e.Broker, b.TransactionalID))
	case event.TxnUnloaded:
		// Which ids went is not told one by one; the next load tells what there is.
		for id := range p.txns {
			if strings.HasPrefix(id, fmt.Sprintf("%d ", e.Broker)) {
				delete(p.txns, id)
			}
		}
	}
}

func (m *machinePicture) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.AppendStarted:
		m.appends[b.Append] = fmt.Sprintf("%d records of %s for %s, until %d", b.Records, b.What, e.Group, b.DeadlineMs)
	case event.AppendFinished:
		delete(m.appends, b.Append)
	case event.LoadStarted:
		m.loading[b.Partition] = fmt.Sprintf("in epoch %d up to %d", b.Epoch, b.EndOffset)
	case event.LoadFinished:
		delete(m.loading, b.Partition)
	case event.PartitionUnloaded:
		delete(m.loading, b.Partition)
	case event.TxnVerificationStarted:
		m.verify[b.Verification] = fmt.Sprintf("%s by %d", b.TransactionalID, b.ProducerID)
	case event.TxnVerificationFinished:
		delete(m.verify, b.Verification)
	case event.ReplyParked:
		m.parked[b.Ticket] = fmt.Sprintf("API %d of %s since %d", b.API, b.Member, b.SinceMs)
	case event.ReplySent:
		delete(m.parked, b.Ticket)
	case event.ReplyDropped:
		delete(m.parked, b.Ticket)
	case event.GroupCreated:
		m.groups[e.Group] = newGroupPicture(event.Empty)
	case event.GroupLoaded:
		g := newGroupPicture(b.State)
		g.generation, g.leader, g.protocol = b.Generation, b.Leader, b.Protocol
		m.groups[e.Group] = g
	case event.GroupRemoved:
		delete(m.groups, e.Group)
	default:
		if g := m.groups[e.Group]; g != nil {
			g.apply(e)
		}
	}
}

func newGroupPicture(state event.State) *groupPicture {
	return &groupPicture{state: string(state), members: map[string]event.MemberAdded{}, pending: map[string]int64{}, assignment: map[string]string{},
		offsets: map[string]string{}, txns: map[int64]map[string]string{}, ops: map[int64]event.OperationWatched{}}
}

func (g *groupPicture) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.StateChanged:
		if g.state = string(b.To); b.To != event.Stable {
			clear(g.assignment)
		}
	case event.GenerationStarted:
		g.generation, g.leader, g.protocol = b.Generation, b.Leader, b.Protocol
	case event.LeaderElected:
		g.leader = b.Member
	case event.MemberIDIssued:
		g.pending[b.Member] = b.DeadlineMs
	case event.PendingForgotten:
		delete(g.pending, b.Member)
	case event.MemberAdded:
		b.Loaded, b.New, b.ClientHost = false, false, ""
		g.members[b.Member] = b
	case event.MemberUpdated:
		m := g.members[b.Member]
		m.SessionTimeoutMs, m.RebalanceTimeoutMs, m.Protocols, m.Topics = b.SessionTimeoutMs, b.RebalanceTimeoutMs, b.Protocols, b.Topics
		g.members[b.Member] = m
	case event.MemberReplaced:
		m := g.members[b.Old]
		delete(g.members, b.Old)
		m.Member = b.Member
		g.members[b.Member] = m
		if a, given := g.assignment[b.Old]; given {
			delete(g.assignment, b.Old)
			g.assignment[b.Member] = a
		}
		if g.leader == b.Old {
			g.leader = b.Member
		}
	case event.MemberRemoved:
		delete(g.members, b.Member)
		if g.leader == b.Member {
			g.leader = ""
		}
	case event.AssignmentStored:
		clear(g.assignment)
		for _, a := range b.Assignments {
			g.assignment[a.Member] = fmt.Sprint(a.Topics)
		}
	case event.OperationWatched:
		g.ops[opKey(b.Op, b.Type)] = b
	case event.OperationCompleted:
		delete(g.ops, opKey(b.Op, b.Type))
	default:
		g.applyOffsets(e)
	}
}

func (g *groupPicture) applyOffsets(e event.Event) {
	name := func(o event.OffsetValue) string { return fmt.Sprintf("%s-%d", o.Topic, o.Partition) }
	switch b := e.Body.(type) {
	case event.OffsetsCommitted:
		for _, o := range b.Offsets {
			g.offsets[name(o)] = offsetText(o)
		}
	case event.OffsetsRemoved:
		for _, o := range b.Offsets {
			delete(g.offsets, name(o))
			for producer, t := range g.txns {
				if delete(t, name(o)); len(t) == 0 {
					delete(g.txns, producer)
				}
			}
		}
	case event.TxnOffsetsWritten:
		if g.txns[b.ProducerID] == nil {
			g.txns[b.ProducerID] = map[string]string{}
		}
		for _, o := range b.Offsets {
			g.txns[b.ProducerID][name(o)] = offsetText(o)
		}
	case event.TxnOffsetsEnded:
		delete(g.txns, b.ProducerID)
	}
}

// lines prints a picture, so that two can be compared.
func (p *picture) lines() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for id, what := range p.brokers {
		say("broker %d %s", id, what)
	}
	for name, n := range p.topics {
		say("topic %s has %d", name, n)
	}
	for name, what := range p.leaders {
		say("%s is led by %s", name, what)
	}
	for name, state := range p.clients {
		say("client %s is %s", name, state)
	}
	for id, m := range p.machines {
		for ticket, what := range m.appends {
			say("broker %d: append %d: %s", id, ticket, what)
		}
		for number, what := range m.loading {
			say("broker %d: partition %d is loaded %s", id, number, what)
		}
		for ticket, what := range m.verify {
			say("broker %d: verification %d: %s", id, ticket, what)
		}
		for ticket, what := range m.parked {
			say("broker %d: #%d is parked: %s", id, ticket, what)
		}
		for group, g := range m.groups {
			g.lines(func(format string, args ...any) {
				say("broker %d: group %s: %s", id, group, fmt.Sprintf(format, args...))
			})
		}
	}
	slices.Sort(list)
	return list
}

func (g *groupPicture) lines(say func(format string, args ...any)) {
	say("%s in generation %d with %q, led by %q", g.state, g.generation, g.protocol, g.leader)
	for _, m := range g.members {
		say("member %+v", m)
	}
	for id, ms := range g.pending {
		say("pending %s until %d", id, ms)
	}
	for id, a := range g.assignment {
		say("assigned to %s: %s", id, a)
	}
	for name, o := range g.offsets {
		say("committed %s: %s", name, o)
	}
	for producer, t := range g.txns {
		for name, o := range t {
			say("in the transaction of %d: %s: %s", producer, name, o)
		}
	}
	for _, op := range g.ops {
		if deadline := op.DeadlineMs; op.Type != event.DelayedHeartbeat { // told up to 100 ms early
			say("op %d: %s until %d", op.Op, op.Type, deadline)
		} else {
			say("op %d: %s of %s, pending %t, new %t", op.Op, op.Type, op.Member, op.Pending, op.New)
		}
	}
}

// differences are the lines that only one of two pictures has, at most so many.
func differences(a, b []string, most int) (list []string) {
	for _, one := range []struct {
		mark       string
		has, lacks []string
	}{{"-", a, b}, {"+", b, a}} {
		in := map[string]bool{}
		for _, l := range one.lacks {
			in[l] = true
		}
		for _, l := range one.has {
			if !in[l] && len(list) < most {
				list = append(list, one.mark+" "+l)
			}
		}
	}
	return list
}
