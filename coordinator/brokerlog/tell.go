package brokerlog

import "grouplab/coordinator/event"

// Bounds of what a teller remembers.
const (
	maxGroups  = 20_000
	maxMembers = 10_000 // a group
	maxClients = 10_000 // a group
)

// teller folds sayings into facts.
type teller struct {
	out     []event.Event
	numbers event.Numbers
	tickets int64
	groups  map[string]*group
	now     *saying
}

// group is what was said of one so far.
type group struct {
	name       string
	broker     int32
	state      event.State // "" while nothing was said of it
	generation int32
	// byBroker is set once a broker spoke: then clients' lines do not move the state.
	byBroker bool
	members  map[string]*member
	order    []*member // in the order of joining
	leader   string
	clients  map[string]*client
	startMs  int64 // of the rebalance under way
	joinedMs int64 // when its join phase ended
	began    reason
	size     int // how many members the last generation has, by its line
	joined   []string
	left     []string
	late     bool // somebody did not rejoin in time
	lastSeq  int64
	modern   bool
	trigger  reason            // of the next epoch
	replaced map[string]string // old member ids by instance id, where the new one is not known yet
}

type member struct {
	id      string
	ticket  int64 // of its parked JoinGroup; 0 where none is known
	op      int64 // of its session's timer, where its end is known
	epoch   int32
	settled bool
}

func newTeller() teller { return teller{groups: map[string]*group{}} }

// tell folds one saying; what follows from it is in out.
func (t *teller) tell(s *saying) {
	t.now = s
	if s.kind == groupsDeleted {
		for _, name := range membersIn(s.Text) {
			if g := t.groups[name]; g != nil {
				t.emit(g, event.GroupRemoved{Why: event.WhyGroupDeleted})
				delete(t.groups, name)
			}
		}
		return
	}
	if t.tape(s) || s.Group == "" {
		return
	}
	g := t.groups[s.Group]
	if g == nil {
		if len(t.groups) >= maxGroups {
			return
		}
		g = &group{name: s.Group, members: map[string]*member{}, clients: map[string]*client{}}
		t.groups[s.Group] = g
	}
	if s.kind >= clientSubscribed {
		t.client(g, s)
		return
	}
	g.byBroker = true
	if s.Broker != 0 {
		g.broker = s.Broker
	}
	if !t.classic(g, s) {
		t.consumer(g, s)
	}
}

// emit says a fact.
func (t *teller) emit(g *group, body event.Body) {
	t.say(event.Event{AtMs: t.now.AtMs, Broker: g.broker, Group: g.name, Cause: g.lastSeq, Body: body})
	g.lastSeq = t.numbers.Last()
}

func (t *teller) say(e event.Event) {
	e.Seq, e.Truth = t.numbers.Next(), event.Inferred
	if e.Cause >= e.Seq {
		e.Cause = 0
	}
	t.out = append(t.out, e)
}

// enter moves a group to a state.
func (t *teller) enter(g *group, to event.State, why event.Why, who string) {
	from := g.state
	if from == to {
		return
	}
	if from == "" {
		if from = event.Stable; to == event.Stable {
			from = event.CompletingRebalance
		}
	}
	g.state = to
	t.emit(g, event.StateChanged{From: from, To: to, Why: why, Member: who})
}

// begin makes a group known that is mentioned for the first time: it was there before the lines begin.
func (t *teller) begin(g *group, state event.State, generation int32) {
	if g.state != "" {
		return
	}
	g.state, g.generation = state, generation
	partition := t.now.partitionOf()
	if h := t.now.hind; h != nil && partition < 0 {
		partition = h.partition
	}
	t.emit(g, event.GroupLoaded{State: state, Generation: generation, Partition: partition})
	if h := t.now.hind; h != nil {
		for _, id := range h.before {
			t.add(g, id, "", true)
		}
	}
}

// add makes a member known, and returns it.
func (t *teller) add(g *group, id, instance string, loaded bool) *member {
	if m := g.members[id]; m != nil || id == "" || len(g.members) >= maxMembers {
		return m
	}
	client := clientIDOf(id)
	if old, ok := g.replaced[client]; ok && old != id {
		delete(g.replaced, client)
		if m := t.becomes(g, old, id, client); m != nil {
			return m
		}
	}
	m := &member{id: id}
	g.members[id] = m
	g.order = append(g.order, m)
	if c := g.clientOf(id); c != "" {
		client = c
	}
	if !loaded {
		g.joined = append(g.joined, id)
	}
	t.emit(g, event.MemberAdded{Member: id, InstanceID: instance, ClientID: client, Loaded: loaded})
	return m
}

// remove tells that a member is gone; one that was not known was a member all the same.
func (t *teller) remove(g *group, id string, why event.Why, says string) {
	if id == "" {
		return
	}
	m := g.members[id]
	if m == nil {
		if g.gone(id) {
			return
		}
		if m = t.add(g, id, "", true); m == nil {
			return
		}
	}
	if m.op != 0 {
		t.emit(g, event.OperationCompleted{Op: m.op, Type: event.DelayedHeartbeat, Expired: why == event.WhySessionExpired, Member: id, How: "time is up"})
	}
	t.answer(g, m, 0, event.WhyMemberLeft)
	delete(g.members, id)
	for i, o := range g.order {
		if o == m {
			g.order = append(g.order[:i:i], g.order[i+1:]...)
			break
		}
	}
	if g.left = append(g.left, id); len(g.left) > 2*maxLeft {
		g.left = append(g.left[:0:0], g.left[maxLeft:]...)
	}
	if g.leader == id {
		g.leader = ""
	}
	t.emit(g, event.MemberRemoved{Member: id, Why: why, ClientReason: says})
}

// maxLeft bounds how many of those that left are remembered.
const maxLeft = 64

// gone tells whether a member's leaving was told already: brokers say it twice.
func (g *group) gone(id string) bool {
	for i := len(g.left) - 1; i >= 0; i-- {
		if g.left[i] == id {
			return true
		}
	}
	return false
}

// Keys of requests, and the code of a first JoinGroup that is to be repeated with an id (KIP-394).
const (
	apiJoin          int16 = 11
	apiSync          int16 = 14
	memberIDRequired int16 = 79
)

// park tells that a member's JoinGroup waits at the coordinator.
func (t *teller) park(g *group, m *member) {
	if m == nil || m.ticket != 0 {
		return
	}
	t.tickets++
	m.ticket = t.tickets
	t.emit(g, event.RequestReceived{Ticket: m.ticket, API: apiJoin, ClientID: clientIDOf(m.id), Member: m.id, Generation: g.generation})
	t.emit(g, event.ReplyParked{Ticket: m.ticket, API: apiJoin, Member: m.id, SinceMs: t.now.AtMs, Until: "everyone has rejoined"})
}

// answer tells that a parked JoinGroup was answered, or will never be where the member went.
func (t *teller) answer(g *group, m *member, generation int32, gone event.Why) {
	if m.ticket == 0 {
		return
	}
	if gone != "" {
		t.emit(g, event.ReplyDropped{Ticket: m.ticket, API: apiJoin, Member: m.id, Reason: string(gone)})
	} else {
		t.emit(g, event.ReplySent{Ticket: m.ticket, API: apiJoin, Member: m.id, Generation: generation})
	}
	m.ticket = 0
}

func (g *group) ids() []string {
	list := make([]string, len(g.order))
	for i, m := range g.order {
		list[i] = m.id
	}
	return list
}
