package script

import (
	"maps"
	"slices"
	"strconv"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim"
)

// facts is what conditions ask about: a fold over events, as the page's picture is.
type facts struct {
	groups  map[string]*group
	clients map[string]*client
	topics  map[string]int32
}

// group is one consumer group at its coordinator.
type group struct {
	broker     int32 // 0 while no broker has it
	state      event.State
	generation int32
	leader     string
	members    map[string]string // member id -> client id
	pending    map[string]string // id that was handed out -> client id
	parked     map[int64]parked  // by ticket
	// initialDelay is the InitialDelayedJoin under way, 0 for none: only time ends it.
	initialDelay int64
	owners       map[string]string // partition -> member id, as the coordinator has it
	committed    map[string]int64
	// askedSeq is the newest request, asker the client that it came from.
	askedSeq int64
	asker    string
}

type parked struct {
	api    int16
	member string
}

// client is one consumer as it sees itself.
type client struct {
	group   string
	topics  []string
	running bool
	state   event.ClientState
	owned   map[string]bool
}

func newFacts() *facts {
	return &facts{groups: map[string]*group{}, clients: map[string]*client{}, topics: map[string]int32{}}
}

func (f *facts) clone() *facts {
	c := newFacts()
	maps.Copy(c.topics, f.topics)
	for name, g := range f.groups {
		n := *g
		n.members, n.pending, n.parked = maps.Clone(g.members), maps.Clone(g.pending), maps.Clone(g.parked)
		n.owners, n.committed = maps.Clone(g.owners), maps.Clone(g.committed)
		c.groups[name] = &n
	}
	for name, k := range f.clients {
		n := *k
		n.owned = maps.Clone(k.owned)
		c.clients[name] = &n
	}
	return c
}

// describe notes a consumer that may run later.
func (f *facts) describe(cfg sim.ConsumerConfig) {
	f.clients[cfg.Name] = &client{group: cfg.Group, topics: slices.Clone(cfg.Topics), state: event.Unjoined, owned: map[string]bool{}}
}

// group is what is known of a group; a group that nobody has seen is without a state.
func (f *facts) group(name string) *group {
	g := f.groups[name]
	if g == nil {
		g = &group{}
		g.forget()
		f.groups[name] = g
	}
	return g
}

// groupNames are those of all groups that were seen or described, sorted.
func (f *facts) groupNames() []string {
	return slices.Sorted(maps.Keys(f.groups))
}

// forget is what happens to a group in the cache of a broker that lost it. Its log is elsewhere.
func (g *group) forget() {
	*g = group{
		members: map[string]string{}, pending: map[string]string{}, parked: map[int64]parked{},
		owners: map[string]string{}, committed: map[string]int64{},
	}
}

func partitionName(topic string, partition int32) string {
	return topic + "-" + strconv.Itoa(int(partition))
}

// apply learns from one event.
func (f *facts) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.TopicCreated:
		f.topics[b.Topic] = b.Partitions
	case event.PartitionsAdded:
		f.topics[b.Topic] = b.To
	case event.TopicDeleted:
		delete(f.topics, b.Topic)
	case event.BrokerStopped:
		for _, g := range f.groups {
			if g.broker == b.ID {
				g.forget()
			}
		}
	case event.ClientStarted:
		c := f.client(b.Client, e.Group)
		c.running, c.state, c.topics = true, event.Unjoined, b.Topics
		clear(c.owned)
	case event.ClientStopped:
		c := f.client(b.Client, e.Group)
		c.running, c.state = false, event.Unjoined
		clear(c.owned)
	case event.ClientStateChanged:
		f.client(b.Client, e.Group).state = b.To
	case event.ClientAssigned:
		f.client(b.Client, e.Group).own(b.Topics, true)
	case event.ClientRevoked:
		f.client(b.Client, e.Group).own(b.Topics, false)
	default:
		if e.Group != "" {
			f.group(e.Group).apply(e)
		}
	}
}

func (f *facts) client(name, group string) *client {
	c := f.clients[name]
	if c == nil {
		c = &client{group: group, owned: map[string]bool{}}
		f.clients[name] = c
	}
	return c
}

func (c *client) own(topics []event.TopicPartitions, yes bool) {
	for _, t := range topics {
		for _, p := range t.Partitions {
			if yes {
				c.owned[partitionName(t.Topic, p)] = true
			} else {
				delete(c.owned, partitionName(t.Topic, p))
			}
		}
	}
}

// apply learns from an event of a coordinator.
func (g *group) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.GroupCreated:
		g.broker, g.state = e.Broker, event.Empty
	case event.GroupLoaded:
		committed := g.committed
		g.forget()
		g.broker, g.state, g.generation, g.leader, g.committed = e.Broker, b.State, b.Generation, b.Leader, committed
	case event.GroupRemoved:
		if e.Broker == g.broker {
			g.forget()
		}
	case event.StateChanged:
		g.state = b.To
	case event.GenerationStarted:
		g.generation, g.leader = b.Generation, b.Leader
	case event.LeaderElected:
		g.leader = b.Member
	case event.MemberIDIssued:
		g.pending[b.Member] = b.ClientID
	case event.PendingForgotten:
		delete(g.pending, b.Member)
	case event.MemberAdded:
		g.members[b.Member] = b.ClientID
	case event.RequestReceived:
		g.askedSeq, g.asker = e.Seq, b.ClientID
	case event.MemberReplaced:
		g.replace(b.Old, b.Member, e.Cause)
	case event.MemberRemoved:
		delete(g.members, b.Member)
		maps.DeleteFunc(g.owners, func(_, member string) bool { return member == b.Member })
		if g.leader == b.Member {
			g.leader = ""
		}
	case event.AssignmentStored:
		clear(g.owners)
		for _, a := range b.Assignments {
			for _, t := range a.Topics {
				for _, p := range t.Partitions {
					g.owners[partitionName(t.Topic, p)] = a.Member
				}
			}
		}
	case event.OffsetsCommitted:
		for _, o := range b.Offsets {
			g.committed[partitionName(o.Topic, o.Partition)] = o.Offset
		}
	case event.OffsetsRemoved:
		for _, o := range b.Offsets {
			delete(g.committed, partitionName(o.Topic, o.Partition))
		}
	case event.ReplyParked:
		g.parked[b.Ticket] = parked{b.API, b.Member}
	case event.ReplySent:
		delete(g.parked, b.Ticket)
	case event.ReplyDropped:
		delete(g.parked, b.Ticket)
	case event.OperationWatched:
		if b.Type == event.InitialDelayedJoin {
			g.initialDelay = b.Op
		}
	case event.OperationCompleted:
		if b.Op == g.initialDelay {
			g.initialDelay = 0
		}
	}
}

// replace gives the place of a static member to its successor (KIP-345), which may be another client.
func (g *group) replace(old, member string, cause int64) {
	g.members[member] = g.members[old]
	if cause == g.askedSeq {
		g.members[member] = g.asker
	}
	delete(g.members, old)
	for partition, owner := range g.owners {
		if owner == old {
			g.owners[partition] = member
		}
	}
	if g.leader == old {
		g.leader = member
	}
}

// clientOf is the client of a member id, the id itself where it is not known.
func (g *group) clientOf(member string) string {
	if c, ok := g.members[member]; ok {
		return c
	}
	return member
}

// waitingFor are the clients whose request the group waits for: members and pending ids that are not parked in a join
// phase; members whose SyncGroup has not come while an assignment is awaited. During the initial delay the group waits
// for time alone.
func (g *group) waitingFor() []string {
	api := int16(joinGroupKey)
	switch {
	case g.state == event.CompletingRebalance:
		api = syncGroupKey
	case g.state != event.PreparingRebalance || g.initialDelay != 0:
		return nil
	}
	awaited := maps.Clone(g.members)
	for _, p := range g.parked {
		if p.api == api {
			delete(awaited, p.member)
		}
	}
	if g.state == event.PreparingRebalance {
		maps.Copy(awaited, g.pending)
	}
	return slices.Compact(slices.Sorted(maps.Values(awaited)))
}

const (
	joinGroupKey = 11
	syncGroupKey = 14
)

// owner is the client that owns a partition: the coordinator's assignment names it, it runs, and it has taken the
// partition over. "" where there is none.
func (f *facts) owner(groupName, partition string) string {
	g := f.group(groupName)
	member, given := g.owners[partition]
	if !given {
		return ""
	}
	name := g.clientOf(member)
	if c := f.clients[name]; c != nil && c.running && c.owned[partition] {
		return name
	}
	return ""
}

// unowned are the partitions that nobody owns, of all topics that the group's consumers subscribe to.
func (f *facts) unowned(groupName string) (free []string) {
	topics := map[string]bool{}
	for _, c := range f.clients {
		if c.group == groupName {
			for _, t := range c.topics {
				topics[t] = true
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(topics)) {
		for p := range f.topics[t] {
			if name := partitionName(t, p); f.owner(groupName, name) == "" {
				free = append(free, name)
			}
		}
	}
	return free
}
