package sim_test

import (
	"maps"

	"grouplab/coordinator/event"
)

// scene is what the campaign's choices and marks are made by: a fold over the events.
type scene struct {
	clients map[string]*clientScene
	groups  map[groupAt]*groupScene
	// asked is what a request met when it came, by ticket.
	asked map[int64]met
	// verifying are verifications under way, by group at broker.
	verifying map[groupAt]map[int64]bool
	topics    map[string]int32
	// ongoing are the transactional ids with an open transaction.
	ongoing map[string]bool
	// down is since when a broker does not run.
	down map[int32]int64
	// loading are the partitions of __consumer_offsets that a broker reads.
	loading map[partitionAt]bool
	// kinds of appends under way, and how the last failure of one came, for marks.
	appends map[opID]underway
}

type partitionAt struct {
	broker, partition int32
}

type clientScene struct {
	running, paused, closing, rejoining bool
	state                               event.ClientState
}

type groupScene struct {
	state      event.State
	generation int32
	leader     string
	members    map[string]memberScene
	pending    map[string]bool
	parked     map[string]int16 // API by member
	parkedAt   map[int64]string // member by ticket
	why        event.Why        // why its rebalance began
	sinceMs    int64
	offsets    int
	replaced   int
	rounds     int // of the initial delay
	// expiredJoin is set from the end of a join timer until a generation begins.
	expiredJoin bool
}

type memberScene struct {
	instance  string
	protocols int
}

// met is what a request met when it came.
type met struct {
	broker       int32
	api, version int16
	state        event.State // "" where the broker does not have the group
	who          string      // "leader", "follower", "pending", "static", "stranger", "nobody"
	parked       bool
	reason       string
}

func newScene() *scene {
	return &scene{
		clients: map[string]*clientScene{}, groups: map[groupAt]*groupScene{}, asked: map[int64]met{}, verifying: map[groupAt]map[int64]bool{},
		topics: map[string]int32{}, ongoing: map[string]bool{}, down: map[int32]int64{}, loading: map[partitionAt]bool{}, appends: map[opID]underway{},
	}
}

func (s *scene) client(name string) *clientScene {
	c := s.clients[name]
	if c == nil {
		c = &clientScene{}
		s.clients[name] = c
	}
	return c
}

func (s *scene) isDown(broker int32) bool {
	_, down := s.down[broker]
	return down
}

// frozen tells whether a client cannot look at its deadlines now.
func (s *scene) frozen(name string, nowMs int64) bool { return s.client(name).paused }

func (s *scene) verifies(broker int32, group string) bool {
	return len(s.verifying[groupAt{broker, group}]) > 0
}

// apply learns from an event, after the checks and marks have looked at it.
func (s *scene) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.BrokerStarted:
		delete(s.down, b.ID)
	case event.BrokerStopped:
		s.down[b.ID] = e.AtMs
		maps.DeleteFunc(s.asked, func(_ int64, m met) bool { return m.broker == b.ID && b.Killed })
		maps.DeleteFunc(s.groups, func(at groupAt, _ *groupScene) bool { return at.broker == b.ID })
		maps.DeleteFunc(s.verifying, func(at groupAt, _ map[int64]bool) bool { return at.broker == b.ID })
		maps.DeleteFunc(s.loading, func(at partitionAt, _ bool) bool { return at.broker == b.ID })
		maps.DeleteFunc(s.appends, func(id opID, _ underway) bool { return id.broker == b.ID })
	case event.TopicCreated:
		s.topics[b.Topic] = b.Partitions
	case event.PartitionsAdded:
		s.topics[b.Topic] = b.To
	case event.TopicDeleted:
		delete(s.topics, b.Topic)
	case event.LoadStarted:
		s.loading[partitionAt{e.Broker, b.Partition}] = true
	case event.LoadFinished:
		delete(s.loading, partitionAt{e.Broker, b.Partition})
	case event.PartitionUnloaded:
		delete(s.loading, partitionAt{e.Broker, b.Partition})
	case event.AppendStarted:
		s.appends[opID{e.Broker, b.Append}] = underway{group: e.Group, what: b.What}
	case event.AppendFinished:
		delete(s.appends, opID{e.Broker, b.Append})
	case event.TxnStateChanged:
		if delete(s.ongoing, b.TransactionalID); b.To == event.TxnOngoing {
			s.ongoing[b.TransactionalID] = true
		}
	case event.TxnVerificationStarted:
		at := groupAt{e.Broker, e.Group}
		if s.verifying[at] == nil {
			s.verifying[at] = map[int64]bool{}
		}
		s.verifying[at][b.Verification] = true
	case event.TxnVerificationFinished:
		delete(s.verifying[groupAt{e.Broker, e.Group}], b.Verification)
	default:
		s.applyClient(e)
		s.applyGroup(e)
	}
}

// applyClient follows what clients do.
func (s *scene) applyClient(e event.Event) {
	switch b := e.Body.(type) {
	case event.ClientStarted:
		*s.client(b.Client) = clientScene{running: true, state: event.Unjoined}
	case event.ClientStopped:
		*s.client(b.Client) = clientScene{}
	case event.ClientFailed:
		s.client(b.Client).closing = true
	case event.ClientPaused:
		s.client(b.Client).paused = true
	case event.ClientResumed:
		s.client(b.Client).paused = false
	case event.ClientStateChanged:
		c := s.client(b.Client)
		c.state, c.rejoining = b.To, b.To != event.Joined
	case event.ClientRevoked: // a cooperative one joins once more
		c := s.client(b.Client)
		c.rejoining = c.rejoining || !b.Lost
	case event.ReplyReceived:
		if b.API == 12 || b.API == 8 {
			c := s.client(b.Client)
			c.rejoining = c.rejoining || b.Code != 0
		}
	case event.MetadataRefreshed:
		c := s.client(b.Client)
		c.rejoining = c.rejoining || b.Changed
	}
}

// at is a group at a broker, nil where the broker does not have it.
func (s *scene) at(broker int32, group string) *groupScene { return s.groups[groupAt{broker, group}] }

// ofGroup is a group at whichever broker has it, nil where none does.
func (s *scene) ofGroup(group string) *groupScene {
	for at, g := range s.groups {
		if at.group == group {
			return g
		}
	}
	return nil
}

func (s *scene) newGroup(e event.Event, state event.State, generation int32) *groupScene {
	g := &groupScene{state: state, generation: generation, members: map[string]memberScene{}, pending: map[string]bool{},
		parked: map[string]int16{}, parkedAt: map[int64]string{}, sinceMs: e.AtMs}
	s.groups[groupAt{e.Broker, e.Group}] = g
	return g
}

// applyGroup follows groups at their brokers.
func (s *scene) applyGroup(e event.Event) {
	switch b := e.Body.(type) {
	case event.GroupCreated:
		s.newGroup(e, event.Empty, 0)
	case event.GroupLoaded:
		s.newGroup(e, b.State, b.Generation).leader = b.Leader
	case event.GroupRemoved:
		delete(s.groups, groupAt{e.Broker, e.Group})
	case event.RequestReceived:
		s.asked[b.Ticket] = s.meets(e, b)
	case event.ReplyDropped:
		delete(s.asked, b.Ticket)
		s.unpark(e, b.Ticket)
	case event.ReplySent:
		delete(s.asked, b.Ticket)
		s.unpark(e, b.Ticket)
	case event.ReplyParked:
		m := s.asked[b.Ticket]
		m.parked = true
		s.asked[b.Ticket] = m
		if g := s.at(e.Broker, e.Group); g != nil && (b.API == 11 || b.API == 14) {
			g.parked[b.Member], g.parkedAt[b.Ticket] = b.API, b.Member
		}
	}
	g := s.at(e.Broker, e.Group)
	if g == nil {
		return
	}
	switch b := e.Body.(type) {
	case event.StateChanged:
		g.state, g.sinceMs = b.To, e.AtMs
	case event.RebalanceStarted:
		g.why, g.rounds, g.expiredJoin = b.Why, 0, false
	case event.GenerationStarted:
		g.generation, g.leader, g.expiredJoin = b.Generation, b.Leader, false
	case event.OperationCompleted:
		g.expiredJoin = g.expiredJoin || b.Expired && b.Type == event.DelayedJoin
	case event.LeaderElected:
		g.leader = b.Member
	case event.MemberIDIssued:
		g.pending[b.Member] = true
	case event.PendingForgotten:
		delete(g.pending, b.Member)
	case event.MemberAdded:
		g.members[b.Member] = memberScene{b.InstanceID, len(b.Protocols)}
	case event.MemberRemoved:
		delete(g.members, b.Member)
		delete(g.parked, b.Member)
	case event.MemberReplaced:
		g.members[b.Member] = g.members[b.Old]
		delete(g.members, b.Old)
		g.replaced++
	case event.OffsetsCommitted:
		g.offsets += len(b.Offsets)
	case event.OperationWatched:
		if b.Type == event.InitialDelayedJoin {
			g.rounds++
		}
	}
}

func (s *scene) unpark(e event.Event, ticket int64) {
	if g := s.at(e.Broker, e.Group); g != nil {
		if member, parked := g.parkedAt[ticket]; parked {
			delete(g.parkedAt, ticket)
			delete(g.parked, member)
		}
	}
}

// meets describes what a request meets.
func (s *scene) meets(e event.Event, b event.RequestReceived) met {
	m := met{broker: e.Broker, api: b.API, version: b.Version, who: "stranger", reason: b.Reason}
	g := s.at(e.Broker, e.Group)
	if g == nil {
		return m
	}
	m.state = g.state
	member, is := g.members[b.Member]
	switch {
	case b.Member == "":
		m.who = "nobody"
	case g.pending[b.Member]:
		m.who = "pending"
	case is && b.Member == g.leader:
		m.who = "leader"
	case is && member.instance != "":
		m.who = "static"
	case is:
		m.who = "follower"
	}
	return m
}
