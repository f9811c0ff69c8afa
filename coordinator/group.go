package coordinator

import (
	"slices"
	"sort"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
	"grouplab/coordinator/record"
)

// consumerProtocol is the protocol type of consumers: the only one whose metadata the coordinator may read.
const consumerProtocol = "consumer"

// group is one consumer group in the cache (Kafka: ClassicGroup, GroupMetadata).
type group struct {
	slot      int32 // where the machine keeps it; its keys in the purgatory are made of it
	number    int64 // unlike the slot never used again
	id        string
	partition int32 // of __consumer_offsets
	state     event.State
	stateMs   int64 // when the state was entered; unknownMs where a loaded record did not say

	protocolType string // "" none
	protocol     string // the elected one, "" none
	generation   int32
	leader       string // "" none

	members     []*member // in the order in which they were added
	byID        map[string]*member
	last        *member            // that member found last; it may have gone, or have another id by now
	byInstance  map[string]*member // static members by group.instance.id; nil before the first
	supporters  map[string]int     // how many members know a protocol (Kafka: supportedProtocols)
	pending     []*member          // ids that were issued and have not joined yet (KIP-394)
	pendingByID map[string]*member // the same; nil while there are none
	departed    []*member          // issued ids that have left, whose timers still run (as in Kafka, without effect)
	awaiting    int                // members whose JoinGroup is parked
	pendingSync int                // members that have not sent SyncGroup in this generation

	// subscribed are the topics of all members, ascending; known is false where some metadata could not be read.
	subscribed      []string
	subscribedKnown bool

	// newMemberAdded asks InitialDelayedJoin for one more round.
	newMemberAdded bool
	// fromEmpty is set while a rebalance that began in Empty collects its joins.
	fromEmpty bool
	began     beginning
	joinOp    timer
	syncOp    timer

	offsetTable
	txns []*transaction // open ones that have committed offsets, in order of their first commit
}

const unknownMs = -1

// beginning tells why the rebalance under way began.
type beginning struct {
	why    event.Why
	member string
	ms     int64
	seq    int64 // of its RebalanceStarted
}

// timer is a delayed operation that a group has in purgatory.
type timer struct {
	op  purgatory.Op
	seq int64  // of its OperationWatched, 0 where it was not told
	of  string // the member whose timeout set the deadline, "" where it is a setting
}

func newGroup(id string, partition int32, nowMs int64) *group {
	return &group{id: id, partition: partition, state: event.Empty, stateMs: nowMs,
		byID: map[string]*member{}, supporters: map[string]int{}, offsetTable: newOffsetTable(id)}
}

// rebalanceTimeoutMs is the largest rebalance timeout of the members, and whose it is.
func (g *group) rebalanceTimeoutMs() (ms int32, of string) {
	for _, m := range g.members {
		if m.rebalanceTimeoutMs > ms {
			ms, of = m.rebalanceTimeoutMs, m.id
		}
	}
	return ms, of
}

// supportsProtocols tells whether a client with this type and these protocols fits in. An Empty group takes any client
// that names a type and a protocol. The requester's own old list counts too, so a lone member cannot switch to a
// disjoint list before it has left.
func (g *group) supportsProtocols(protocolType string, protocols []protocol) bool {
	if g.state == event.Empty {
		return protocolType != "" && len(protocols) > 0
	}
	if protocolType == "" || protocolType != g.protocolType {
		return false
	}
	for _, p := range protocols {
		if g.allSupport(p.name) {
			return true
		}
	}
	return false
}

func (g *group) allSupport(name string) bool { return g.supporters[name] == len(g.members) }

// countSupporters adds what one member knows to the counts, or takes it away. A name that it lists twice counts once.
func (g *group) countSupporters(protocols []protocol, by int) {
	for i, p := range protocols {
		if slices.ContainsFunc(protocols[:i], func(o protocol) bool { return o.name == p.name }) {
			continue
		}
		if n := g.supporters[p.name] + by; n > 0 {
			g.supporters[p.name] = n
		} else {
			delete(g.supporters, p.name)
		}
	}
}

// electProtocol lets each member vote for the first name of its own list that all members support; most votes win.
// Kafka resolves a tie by the order of a hash map. Here the tied name wins that stands first in the list of the member
// that has been in the group for longest.
func (g *group) electProtocol() string {
	if len(g.members) == 0 {
		return ""
	}
	votes := map[string]int{}
	for _, p := range g.members[0].protocols {
		if g.allSupport(p.name) {
			votes[p.name] = 0
		}
	}
	for _, m := range g.members {
		for _, p := range m.protocols {
			if _, candidate := votes[p.name]; candidate {
				votes[p.name]++
				break
			}
		}
	}
	elected, most := "", -1
	for _, p := range g.members[0].protocols {
		if n, candidate := votes[p.name]; candidate && n > most {
			elected, most = p.name, n
		}
	}
	return elected
}

// computeSubscribed stores the union of the members' topics. They are read with the first layout of the consumer
// protocol, whatever version the client wrote (Kafka: ConsumerProtocol.deserializeConsumerProtocolSubscription).
func (g *group) computeSubscribed() {
	g.subscribed, g.subscribedKnown = nil, false
	if g.protocolType != consumerProtocol {
		return
	}
	if len(g.members) > 0 && g.protocol == "" {
		return
	}
	topics := map[string]bool{}
	for _, m := range g.members {
		list, ok := record.Topics(m.metadata(g.protocol))
		if !ok {
			return
		}
		for _, t := range list {
			topics[t] = true
		}
	}
	g.subscribedKnown = true
	for t := range topics {
		g.subscribed = append(g.subscribed, t)
	}
	sort.Strings(g.subscribed)
}

// createGroup puts an empty group into the cache because a request named it. It stays there even if the request is then
// refused; the clean-up job is what removes it in Kafka.
func (c *Coordinator) createGroup(id string, partition int32) *group {
	g := newGroup(id, partition, c.nowMs)
	c.addGroup(g)
	retentionMs, cleanupMs := c.retention()
	c.emit(id, event.GroupCreated{RetentionMs: retentionMs, CleanupMs: cleanupMs})
	return g
}

func (c *Coordinator) addGroup(g *group) {
	c.groupNumbers++
	g.number = c.groupNumbers
	if n := len(c.freeGroups); n > 0 {
		g.slot, c.freeGroups = c.freeGroups[n-1], c.freeGroups[:n-1]
		c.groupSlots[g.slot] = g
	} else {
		g.slot = int32(len(c.groupSlots))
		c.groupSlots = append(c.groupSlots, g)
	}
	c.groups[g.id] = g
	c.armCleanup()
}

// member returns the member with an id, nil where there is none.
func (g *group) member(id string) *member {
	if m := g.last; m != nil && m.id == id && !m.gone {
		return m
	}
	m := g.byID[id]
	g.last = m
	return m
}

// find returns a group, nil where there is none.
func (c *Coordinator) find(id string) *group {
	if g := c.lastGroup; g != nil && g.id == id {
		return g
	}
	g := c.groups[id]
	c.lastGroup = g
	return g
}

// sortedGroups lists the groups by id.
func (c *Coordinator) sortedGroups() []*group {
	list := make([]*group, 0, len(c.groups))
	for _, g := range c.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}

// electLeader makes another member the leader.
func (c *Coordinator) electLeader(g *group, m *member, why event.Why) {
	g.leader = m.id
	c.emit(g.id, event.LeaderElected{Member: m.id, Why: why})
}
