package sim_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// checks is a fold over events that knows what must never happen. What it keeps is bounded: everything that it notes is
// forgotten when it is over, or when it is old.
type checks struct {
	events  int
	lastSeq int64
	nowMs   int64
	scene   *scene
	commits *commits
	picture *picture
	marks   *tally

	sent     map[int64]sentRequest // those that wait for an answer
	received recent[int64]
	atBroker map[int64]asked // requests that a broker has not answered
	loose    []int64         // of them, those that came or moved in this moment

	ops     map[opID]event.OperationWatched
	appends map[opID]underway
	failed  failedAppend // the append that ended last, if it failed

	// generation is that of a group at a broker, since it has it; stored the newest one that is known to be in the log.
	generation map[groupAt]int32
	stored     map[string]int32
	owners     recentOwners
}

type opID struct {
	broker int32
	id     int64
}

type groupAt struct {
	broker int32
	group  string
}

// underway is an append whose outcome is awaited.
type underway struct {
	group, what string
	written     bool
	seq         int64 // of its AppendStarted
	// ofGroup is set where it says what the group is, or that it is gone.
	ofGroup bool
}

// failedAppend is an append and its error.
type failedAppend struct {
	id   opID
	code int16
}

// told is what a client is told of an append's error (section 5 of the specification, by the answers of Kafka 4.0).
func (f failedAppend) told(what string) int16 {
	switch f.code {
	case 13:
		if what == "offsets" {
			return 14
		}
	case 3, 7, 19, 20:
		return 15
	case 6, 56:
		return 16
	case 4, 10, 18:
		return -1
	}
	return f.code
}

type sentRequest struct {
	client     string
	deadlineMs int64
}

// asked is a request at a broker.
type asked struct {
	broker  int32
	api     int16
	group   string
	member  string
	parked  bool
	sinceMs int64
}

func newChecks() *checks {
	c := &checks{
		marks: newTally(), picture: newPicture(),
		sent: map[int64]sentRequest{}, received: newRecent[int64](5000), atBroker: map[int64]asked{},
		ops: map[opID]event.OperationWatched{}, appends: map[opID]underway{}, generation: map[groupAt]int32{}, stored: map[string]int32{},
		owners: newOwners(),
	}
	c.scene = newScene()
	c.commits = newCommits(c)
	return c
}

// recent is a set that forgets what is old.
type recent[K comparable] struct {
	set  map[K]bool
	ring []K
	next int
}

func newRecent[K comparable](size int) recent[K] {
	return recent[K]{map[K]bool{}, make([]K, 0, size), 0}
}

func (r *recent[K]) add(k K) {
	if r.set[k] {
		return
	}
	r.set[k] = true
	if len(r.ring) < cap(r.ring) {
		r.ring = append(r.ring, k)
		return
	}
	delete(r.set, r.ring[r.next])
	r.ring[r.next] = k
	r.next = (r.next + 1) % len(r.ring)
}

// apply looks at one event and says what is wrong, "" where nothing is.
func (c *checks) apply(e event.Event) string {
	c.events++
	switch {
	case e.Seq != c.lastSeq+1:
		return fmt.Sprintf("Seq %d follows %d", e.Seq, c.lastSeq)
	case e.AtMs < c.nowMs:
		return fmt.Sprintf("time goes back from %d ms", c.nowMs)
	case e.Cause >= e.Seq:
		return fmt.Sprintf("event %d has the cause %d, which is not earlier", e.Seq, e.Cause)
	}
	c.lastSeq, c.nowMs = e.Seq, e.AtMs
	c.marks.note(c.scene, e)
	wrong := cmp.Or(c.request(e), c.broker(e), c.purgatory(e), c.generations(e), c.assign(e), c.commits.apply(e))
	c.scene.apply(e)
	c.picture.apply(e)
	return wrong
}

// request: every request of a client is answered at most once, and not after it was given up.
func (c *checks) request(e event.Event) string {
	switch b := e.Body.(type) {
	case event.RequestSent:
		deadlineMs := b.DeadlineMs
		if b.CopyOf != 0 {
			deadlineMs = math.MaxInt64 // the client does not know of it, and so does not give it up
		}
		c.sent[b.Request] = sentRequest{b.Client, deadlineMs}
	case event.ReplyReceived:
		if _, waits := c.sent[b.Request]; !waits && b.API != 12 {
			return fmt.Sprintf("request #%d was answered, and nobody waits for that", b.Request)
		}
		c.received.add(b.Request)
		delete(c.sent, b.Request)
	case event.RequestFailed:
		if c.received.set[b.Request] && b.Reason != "UnjoinedGroupException: the client is no longer joining" {
			return fmt.Sprintf("request #%d failed after it was answered", b.Request)
		}
		delete(c.sent, b.Request)
	case event.ClientStopped:
		maps.DeleteFunc(c.sent, func(_ int64, s sentRequest) bool { return s.client == b.Client })
	}
	return ""
}

// groupAPIs are answered by a group coordinator: at once, or out of a shelf.
var groupAPIs = []int16{8, 9, 10, 11, 13, 14, 15, 16, 28, 42, 47}

// broker: every request that reaches a group coordinator is answered exactly once, or dropped in so many words, unless
// the broker dies; a moment later it is answered or parked.
func (c *checks) broker(e event.Event) string {
	switch b := e.Body.(type) {
	case event.RequestReceived:
		if !slices.Contains(groupAPIs, b.API) {
			return ""
		}
		c.atBroker[b.Ticket] = asked{broker: e.Broker, api: b.API, group: e.Group, member: b.Member, sinceMs: e.AtMs}
		c.loose = append(c.loose, b.Ticket)
	case event.ReplyParked:
		a, open := c.atBroker[b.Ticket]
		if !open {
			return fmt.Sprintf("request #%d is parked, and no broker has it", b.Ticket)
		}
		a.parked, a.member = true, b.Member
		c.atBroker[b.Ticket] = a
	case event.OffsetsRefused:
		if want := c.failed.told("offsets"); b.Append != 0 && (c.failed.id != opID{e.Broker, b.Append} || b.Code != want) {
			return fmt.Sprintf("append %d failed with %d; its commit is to be told %d, not %d", b.Append, c.failed.code, want, b.Code)
		}
	case event.ReplySent:
		if _, why, failed := strings.Cut(b.Guard, " was not written: "); failed && (b.API == 11 || b.API == 14) && (b.Code != c.failed.told("group") || why != event.CodeName(c.failed.code)) {
			return fmt.Sprintf("a group record failed with %d (%s); who waits for it is to be told %d, not %d", c.failed.code, why, c.failed.told("group"), b.Code)
		}
		return c.over(e.Broker, b.Ticket, b.API)
	case event.ReplyDropped:
		return c.over(e.Broker, b.Ticket, b.API)
	case event.BrokerStopped:
		maps.DeleteFunc(c.atBroker, func(_ int64, a asked) bool { return a.broker == b.ID })
	}
	return ""
}

// over ends a request at its broker. A broker that stops cleanly answers what is parked just after it is told to have
// stopped.
func (c *checks) over(broker int32, ticket int64, api int16) string {
	if !slices.Contains(groupAPIs, api) || c.scene.isDown(broker) {
		return ""
	}
	if _, open := c.atBroker[ticket]; !open {
		return fmt.Sprintf("request #%d was answered twice by its broker", ticket)
	}
	delete(c.atBroker, ticket)
	return ""
}

// purgatory follows operations and appends: what will end whoever waits.
func (c *checks) purgatory(e event.Event) string {
	switch b := e.Body.(type) {
	case event.OperationWatched:
		if b.DeadlineMs < e.AtMs {
			return fmt.Sprintf("operation %d is watched when it is due already", b.Op)
		}
		c.ops[opID{e.Broker, opKey(b.Op, b.Type)}] = b
	case event.OperationCompleted:
		id := opID{e.Broker, opKey(b.Op, b.Type)}
		if w, watched := c.ops[id]; watched && b.Expired && (e.AtMs < w.DeadlineMs || e.AtMs > w.DeadlineMs+slack(w)) {
			return fmt.Sprintf("operation %d expired at %d ms, its deadline was %d ms", b.Op, e.AtMs, w.DeadlineMs)
		}
		delete(c.ops, id)
	case event.AppendStarted:
		c.appends[opID{e.Broker, b.Append}] = underway{group: e.Group, what: b.What, seq: e.Seq,
			ofGroup: b.What == "group" || b.What == "tombstones" && c.scene.at(e.Broker, e.Group) == nil}
	case event.AppendFinished:
		id := opID{e.Broker, b.Append}
		u, waits := c.appends[id]
		if !waits && !c.scene.isDown(e.Broker) {
			return fmt.Sprintf("append %d has an outcome, and is not under way", b.Append)
		}
		c.failed = failedAppend{id, b.Code}
		c.commits.finished(e, b, u)
		delete(c.appends, id)
	case event.BrokerStopped:
		maps.DeleteFunc(c.ops, func(id opID, _ event.OperationWatched) bool { return id.broker == b.ID })
		maps.DeleteFunc(c.appends, func(id opID, _ underway) bool { return id.broker == b.ID })
		maps.DeleteFunc(c.generation, func(at groupAt, _ int32) bool { return at.broker == b.ID })
	}
	return ""
}

// opKey keeps the numbers of the two purgatories apart.
func opKey(op int64, kind event.OpKind) int64 {
	if kind == event.DelayedHeartbeat {
		return -op
	}
	return op
}

// slack is how far a deadline may be off: heartbeats that come within 100 ms of each other are told as one.
func slack(op event.OperationWatched) int64 {
	if op.Type == event.DelayedHeartbeat {
		return 100
	}
	return 0
}

// moment looks at the whole between two moments: no timer is overdue; whoever asked is answered or parked; whatever is
// parked has something that will end it; no client waits beyond its deadline.
func (c *checks) moment(nowMs int64) string {
	for id, op := range c.ops {
		if op.DeadlineMs+slack(op) < nowMs {
			return fmt.Sprintf("broker %d: %s op %d was due at %d ms and has not run", id.broker, op.Type, op.Op, op.DeadlineMs)
		}
	}
	for _, ticket := range c.loose {
		if a, open := c.atBroker[ticket]; open && !a.parked {
			return fmt.Sprintf("request #%d (API %d of %s) at broker %d is neither answered nor parked", ticket, a.api, a.member, a.broker)
		}
	}
	c.loose = c.loose[:0]
	for ticket, a := range c.atBroker {
		if !c.ends(a) {
			return fmt.Sprintf("request #%d (API %d of %s) is parked at broker %d, and nothing there will ever end it", ticket, a.api, a.member, a.broker)
		}
	}
	for r, s := range c.sent {
		if s.deadlineMs < nowMs && !c.scene.frozen(s.client, nowMs) {
			return fmt.Sprintf("request #%d of %s should have been answered or given up at %d ms", r, s.client, s.deadlineMs)
		}
	}
	return ""
}

// ends tells whether a parked request waits for something that is under way.
func (c *checks) ends(a asked) bool {
	writes := map[int16]string{8: "offsets", 28: "transactional offsets", 42: "tombstones", 47: "tombstones", 11: "group", 14: "group"}[a.api]
	for id, u := range c.appends {
		if id.broker == a.broker && u.what == writes && (u.group == a.group || a.group == "") {
			return true
		}
	}
	if a.api == 28 {
		return c.scene.verifies(a.broker, a.group)
	}
	for id, op := range c.ops {
		if id.broker == a.broker && len(op.Keys) > 0 && (a.api == 11 && op.Keys[0] == "join-"+a.group || a.api == 14 && op.Keys[0] == "sync-"+a.group) {
			return true
		}
	}
	return false
}

// generations: as long as a broker has a group, its generation grows by one; one broker has it at a time; what a load
// brings back is not older than what was known to be in the log.
func (c *checks) generations(e event.Event) string {
	at := groupAt{e.Broker, e.Group}
	switch b := e.Body.(type) {
	case event.GroupCreated:
		return c.gained(at, 0)
	case event.GroupLoaded:
		if b.Generation < c.stored[e.Group] {
			return fmt.Sprintf("group %s comes back in generation %d, and %d was written", e.Group, b.Generation, c.stored[e.Group])
		}
		return c.gained(at, b.Generation)
	case event.GroupRemoved:
		delete(c.generation, at)
		if b.Why != event.WhyNotCoordinator {
			delete(c.stored, e.Group)
		}
	case event.GenerationStarted:
		if was := c.generation[at]; b.Generation != was+1 {
			return fmt.Sprintf("generation %d follows generation %d", b.Generation, was)
		}
		c.generation[at] = b.Generation
	case event.AssignmentStored:
		c.stored[e.Group] = max(c.stored[e.Group], b.Generation)
	}
	return ""
}

func (c *checks) gained(at groupAt, generation int32) string {
	for other := range c.generation {
		if other.group == at.group {
			return fmt.Sprintf("brokers %d and %d both have group %s", other.broker, at.broker, at.group)
		}
	}
	c.generation[at] = generation
	return ""
}

// assign: in one generation a partition has one owner, as the coordinator tells it and as the clients take it.
func (c *checks) assign(e event.Event) string {
	switch b := e.Body.(type) {
	case event.AssignmentStored:
		owner := map[string]string{}
		for _, a := range b.Assignments {
			for _, t := range a.Topics {
				for _, p := range t.Partitions {
					name := fmt.Sprintf("%s-%d", t.Topic, p)
					if other, taken := owner[name]; taken {
						return fmt.Sprintf("generation %d gives %s to %s and to %s", b.Generation, name, other, a.Member)
					}
					owner[name] = a.Member
				}
			}
		}
	case event.MemberAdded:
		c.owners.member(e.Group, b.Member, b.InstanceID)
	case event.MemberReplaced:
		c.owners.member(e.Group, b.Member, b.InstanceID)
	case event.GroupRemoved:
		if b.Why != event.WhyNotCoordinator {
			c.owners.life[e.Group]++ // generations begin anew
		}
	case event.ClientAssigned:
		return c.owners.take(e.Group, b)
	}
	return ""
}

// recentOwners knows who took what over in the newest generations.
type recentOwners struct {
	life map[string]int
	who  map[string]ownerName // by member id
	ids  recent[string]
	took map[generationOf]map[string]string
	old  []generationOf
}

// ownerName is a member over its life: static members keep their name when their id changes.
type ownerName struct {
	name string
	life int
}

type generationOf struct {
	group      string
	life       int
	generation int32
}

func newOwners() recentOwners {
	return recentOwners{map[string]int{}, map[string]ownerName{}, newRecent[string](4000), map[generationOf]map[string]string{}, nil}
}

func (o *recentOwners) member(group, id, instance string) {
	o.ids.add(id)
	o.who[id] = ownerName{cmp.Or(instance, id), o.life[group]}
	if len(o.who) > 2*cap(o.ids.ring) {
		maps.DeleteFunc(o.who, func(id string, _ ownerName) bool { return !o.ids.set[id] })
	}
}

// take notes what a client took over.
func (o *recentOwners) take(group string, b event.ClientAssigned) string {
	who, known := o.who[b.Member]
	if !known {
		return fmt.Sprintf("%s took partitions over as %s, which was never a member", b.Client, b.Member)
	}
	key := generationOf{group, who.life, b.Generation}
	taken := o.took[key]
	if taken == nil {
		taken = map[string]string{}
		o.took[key] = taken
		if o.old = append(o.old, key); len(o.old) > 64 {
			delete(o.took, o.old[0])
			o.old = o.old[1:]
		}
	}
	for _, t := range b.Topics {
		for _, p := range t.Partitions {
			name := fmt.Sprintf("%s-%d", t.Topic, p)
			if other := taken[name]; other != "" && other != who.name {
				return fmt.Sprintf("in generation %d both %s and %s took %s over", b.Generation, other, who.name, name)
			}
			taken[name] = who.name
		}
	}
	return ""
}

// settled: where everything is healthy, nothing is parked for long and nothing is left behind.
func (c *checks) settled(nowMs int64) string {
	for _, t := range slices.Sorted(maps.Keys(c.atBroker)) {
		if a := c.atBroker[t]; nowMs-a.sinceMs > 10_000 {
			return fmt.Sprintf("request #%d (API %d of %s) is parked since %d ms", t, a.api, a.member, a.sinceMs)
		}
	}
	for id, u := range c.appends {
		return fmt.Sprintf("append %d of broker %d (%s of %s) has no outcome yet", id.id, id.broker, u.what, u.group)
	}
	return ""
}
