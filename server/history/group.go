package history

import (
	"slices"

	"grouplab/coordinator/event"
)

const (
	apiJoinGroup = 11
	apiSyncGroup = 14
	// whatGroup is AppendStarted.What of a group record.
	whatGroup = "group"
)

// group is what is known of one group.
type group struct {
	name         string
	kind         string // "classic", "consumer", …; "" not known
	state        event.State
	sinceMs      int64
	gone, unseen bool
	coordinator  int32
	partition    int32
	generation   int32
	protocol     string
	leader       string
	simple       bool // it never had a generation

	members []*member
	pending []pendingID
	tickets map[int64]*member // of parked replies
	joinOp  op
	syncOp  op
	// seen is what an observer says of whom the group waits for.
	seen event.AwaitedSeen
	// appending are the appends of the group's record that are under way.
	appending []int64
	// lostMs is when the coordinator was lost, 0 where there is one.
	lostMs int64
	// restlessMs is when the group stopped serving: when it left Stable or Empty, or lost its coordinator. 0 where it serves.
	restlessMs int64
	// left is the member that was removed last.
	left           *member
	leftReason     string
	hasOffsets     bool
	steady         bool // see steadies
	offsets        map[place]stamp
	targetEpoch    int32
	freed          map[place]int64 // consumer groups: when partitions were released
	owners         []owned         // who had each partition last
	assigned       []event.Assignment
	assignedGen    int32
	settled        []string // members of the last generation that was told
	last           cause
	rebalance      *rebalance
	loop           loop
	lastGeneration int32
	lastSettledMs  int64
	// everOwned is set while partitions have been assigned since the group was Empty.
	everOwned bool
	// died is what stood still because of members whose death was noticed, for the next record.
	died []event.Lost
	// unownedMs is how long rebalances took before the first assignment.
	unownedMs int64

	records []*record
	hours   [25]hour
	// listed is set while the group is in History.changed; atOnce where its summary must not wait.
	listed, atOnce bool
	summary        event.GroupSummarized
	everTold       bool
	toldMs         int64
}

// op is an operation of the group in purgatory.
type op struct {
	number     int64 // 0 where none waits
	broker     int32
	initial    bool
	startMs    int64
	deadlineMs int64
}

// pendingID is an id that was given out and has not joined.
type pendingID struct{ id, clientID, host string }

// stamp is when an offset was committed, and when it expires where its commit said so.
type stamp struct{ commitMs, expireMs int64 }

// member is one member.
type member struct {
	id, instance, client, host string
	rebalanceMs                int32
	topics                     []string
	join, sync                 int64 // tickets of parked replies, 0 for none
	awaitsSync                 bool
	sessionMs                  int32
	goneMs                     int64 // when its process was found dead, 0 while it lives
	killed                     bool  // it is known to be dead: what is heard of it was under way
	partitions                 int
	served                     bool // it was a member when the present assignment was made
	// epoch, state and the lists are a consumer group's.
	epoch              int32
	state              string
	assigned, revoking []event.TopicPartitions
	stateMs            int64
}

// key names the process behind a member over its lives: what a loop is found by.
func (m *member) key() string {
	switch {
	case m.instance != "":
		return m.instance
	case m.client == "" && m.host == "":
		return m.id
	}
	return m.client + "@" + m.host
}

// forget drops what a coordinator has in its memory only.
func (g *group) forget() {
	for _, m := range g.members {
		m.join, m.sync, m.awaitsSync = 0, 0, false
	}
	g.pending, g.tickets, g.joinOp, g.syncOp, g.appending, g.seen = nil, nil, op{}, op{}, nil, event.AwaitedSeen{}
}

func (g *group) member(id string) *member {
	for _, m := range g.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (h *History) addMember(g *group, m *member) {
	if old := g.member(m.id); old != nil {
		h.bury(old)
	}
	g.members = append(slices.DeleteFunc(g.members, func(x *member) bool { return x.id == m.id }), m)
	h.memberOf[m.id] = g
}

// removeMember takes a member out and keeps it as the one that went last.
func (h *History) removeMember(g *group, id, reason string) *member {
	m := g.member(id)
	if m == nil {
		return nil
	}
	h.bury(m)
	g.members = slices.DeleteFunc(g.members, func(x *member) bool { return x == m })
	delete(h.memberOf, id)
	delete(g.tickets, m.join)
	delete(g.tickets, m.sync)
	g.left, g.leftReason = m, reason
	return m
}

func (h *History) dropMembers(g *group) {
	for _, m := range g.members {
		h.bury(m)
		delete(h.memberOf, m.id)
	}
	g.members, g.tickets = nil, nil
}

func (g *group) park(b event.ReplyParked) {
	m := g.member(b.Member)
	if m == nil {
		return
	}
	if g.tickets == nil {
		g.tickets = map[int64]*member{}
	}
	if b.API == apiJoinGroup {
		delete(g.tickets, m.join)
		m.join = b.Ticket
	} else {
		delete(g.tickets, m.sync)
		m.sync, m.awaitsSync = b.Ticket, false
	}
	g.tickets[b.Ticket] = m
}

func (g *group) unpark(ticket int64) {
	m := g.tickets[ticket]
	if m == nil {
		return
	}
	delete(g.tickets, ticket)
	if m.join == ticket {
		m.join = 0
	} else {
		m.sync = 0
	}
}

func (g *group) forgetPending(id string) {
	g.pending = slices.DeleteFunc(g.pending, func(p pendingID) bool { return p.id == id })
}
