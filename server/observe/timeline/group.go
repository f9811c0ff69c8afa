package timeline

import (
	"slices"

	"grouplab/coordinator/event"
)

const (
	classicType  = "classic"
	consumerType = "consumer"
)

// group is what is known of one group.
type group struct {
	name      string
	partition int32 // of __consumer_offsets, -1: not known
	// typ is classicType, consumerType, another type of ListGroups, or "".
	typ string
	// told is set when the group has been told of: by GroupLoaded or GroupCreated.
	told bool
	// listed is what ListGroups said last; answeredBy the broker that listed or described it.
	listed     event.GroupListed
	wasListed  bool
	listedMs   int64
	answeredBy int32
	// describedAsk to describedMs is the last look that showed it settled, 0 before.
	describedAsk, describedMs int64

	state        event.State
	sinceMs      int64
	protocolType string
	protocol     string
	leader       string
	generation   int32 // -1: not known
	members      []*member

	// hasRecord is set where the log holds a classic group's record; record is what is left of the last one.
	hasRecord bool
	record    settled
	motion    *motion
	modern    *modern

	offsets []topicOffsets
	txns    []*txn

	// sampled is set where only answers tell of the group; lastModern is the last one of a KIP-848 group, offsetsAsked tells
	// that its offsets were asked for before.
	sampled      bool
	lastModern   *Described
	offsetsAsked bool
	// becameClassic is set between a downgrade and its classic record.
	becameClassic bool

	// reasons are what the broker's log said lately, for records that are still to come.
	reasons []reason
	past    []pastGeneration
	cause   event.CauseInferred
	// steadySeq is the last event that settled a generation, for the cause of the next.
	steadySeq int64
}

// settled is a classic group's record.
type settled struct {
	offset   int64
	atMs     int64 // its timestamp
	readMs   int64 // when it was read: then it was replicated
	joinedMs int64 // the end of the join phase, -1: not known
	members  []*member
	// startMs is from when on its rebalance can have begun; unassigned are partitions that it took from somebody and gave to
	// nobody, byWhom from whom: the first step of a cooperative rebalance.
	unassigned int
	byWhom     []string
}

// pastGeneration is kept so that a line of a broker's log that comes late finds what it is about.
type pastGeneration struct {
	generation int32
	start      when
	joinedMs   int64
	seq        int64 // of its RebalanceStarted
	first      bool  // nobody was in the one before
}

const mostPast = 4

func (g *group) remember(p pastGeneration) {
	if len(g.past) >= mostPast {
		g.past = slices.Clone(g.past[1:])
	}
	g.past = append(g.past, p)
}

// member is one member. Members are never changed once they are part of a settled generation; a changed one is a new one.
type member struct {
	id, instance, clientID, host string
	sessionMs, rebalanceMs       int32
	// protocols are the elected one (classic) or the assignor; topics what it subscribes to.
	protocols []string
	topics    []string
	// subscription is a hash over the bytes that it joined with; userData one over those without topics and owned partitions.
	subscription uint64
	owned        bool // it told owned partitions: a cooperative assignor
	assigned     []event.TopicPartitions
	opaque       bool
	bytes        int
	seenMs       int64 // when it joined as far as that is known
	// bare is set where it is known only from DescribeGroups in a rebalance: timeouts and topics are still to come.
	bare bool
}

func (g *group) member(id string) *member { return find(g.members, id) }

func find(list []*member, id string) *member {
	for _, m := range list {
		if m.id == id {
			return m
		}
	}
	return nil
}

func findInstance(list []*member, instance string) *member {
	for _, m := range list {
		if instance != "" && m.instance == instance {
			return m
		}
	}
	return nil
}

func (m *member) added(loaded bool) event.MemberAdded {
	return event.MemberAdded{Member: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.host, SessionTimeoutMs: m.sessionMs,
		RebalanceTimeoutMs: m.rebalanceMs, Protocols: m.protocols, Topics: m.topics, Loaded: loaded}
}

func (m *member) updated(changed bool) event.MemberUpdated {
	return event.MemberUpdated{Member: m.id, SessionTimeoutMs: m.sessionMs, RebalanceTimeoutMs: m.rebalanceMs, Protocols: m.protocols,
		Topics: m.topics, Changed: changed}
}

func (m *member) assignment() event.Assignment {
	return event.Assignment{Member: m.id, Topics: m.assigned, Opaque: m.opaque, Bytes: m.bytes}
}

func (g *group) assignments() []event.Assignment {
	list := make([]event.Assignment, len(g.members))
	for i, m := range g.members {
		list[i] = m.assignment()
	}
	return list
}

// seen is when something of a member was seen last: a commit of a partition that it owns, or its joining. Only the owner
// commits a partition, and a commit of an earlier generation is refused.
func (g *group) seen(m *member) int64 {
	ms := m.seenMs
	for _, tp := range m.assigned {
		table := g.topicOffsets(tp.Topic)
		if table == nil {
			continue
		}
		for _, number := range tp.Partitions {
			if o := table.find(number); o != nil && o.commitMs > ms {
				ms = o.commitMs
			}
		}
	}
	return ms
}

// longest is the largest rebalance timeout of members.
func longest(lists ...[]*member) (ms int64) {
	for _, list := range lists {
		for _, m := range list {
			ms = max(ms, int64(m.rebalanceMs))
		}
	}
	return ms
}

func ids(list []*member) []string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.id
	}
	return names
}

// inMotion tells whether a state is one of a rebalance.
func inMotion(s event.State) bool {
	switch s {
	case event.PreparingRebalance, event.CompletingRebalance, event.Assigning, event.Reconciling:
		return true
	}
	return false
}
