package sim_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"grouplab/coordinator/event"
)

// sometimes must each happen at least once in a campaign of several worlds; otherwise it does not test what it should.
var sometimes = []string{
	"a session expired", "a member did not rejoin in time", "a member did not sync in time", "a pending id expired",
	"a group was loaded with members", "a client was told that it is unknown",
	"a client was told that its coordinator is elsewhere", "a coordinator was loading", "a client was no longer joining",
	"a client lost its partitions", "a request timed out", "a message was lost", "a leader rejoined for new partitions",
	"a log was compacted", "a static member came back", "a transaction was committed", "a transaction was aborted", "a client revoked what another was to get", "a client kept partitions over a rebalance",
	"a poll interval ran out", "a commit was refused", "a group became empty", "a commit survived a failover",
}

// checks is a fold over events that knows what must never happen.
type checks struct {
	events  int
	lastSeq int64
	lastMs  int64
	marks   map[string]int

	paused, closing, rejoining map[string]bool

	sent     map[int64]sentRequest // those that wait for an answer
	received map[int64]bool

	parked map[int64]parkedReply // by ticket
	ops    map[opID]event.OperationWatched
	// appends under way by broker and ticket; the value is what is written.
	appends map[opID]string

	groupAt    map[int32]bool  // brokers that have the group
	generation map[int32]int32 // of the group at a broker, since it has it
	assigned   map[int32]map[string]string
	// first is the first member id of a static member, by its later ones.
	first map[string]string

	// acknowledged is the last acknowledged commit of a partition; maybe are later ones that were not acknowledged.
	acknowledged map[string]int64
	maybe        map[string][]int64
}

type opID struct {
	broker int32
	id     int64
}

type parkedReply struct {
	broker  int32
	api     int16
	member  string
	sinceMs int64
}

type sentRequest struct {
	client     string
	deadlineMs int64
}

func newChecks() *checks {
	return &checks{
		marks: map[string]int{}, paused: map[string]bool{}, closing: map[string]bool{}, rejoining: map[string]bool{},
		sent: map[int64]sentRequest{}, received: map[int64]bool{}, parked: map[int64]parkedReply{}, ops: map[opID]event.OperationWatched{},
		appends: map[opID]string{}, groupAt: map[int32]bool{}, generation: map[int32]int32{}, assigned: map[int32]map[string]string{}, first: map[string]string{},
		acknowledged: map[string]int64{}, maybe: map[string][]int64{},
	}
}

func (c *checks) mark(name string, when bool) {
	if !when {
		return
	}
	if !slices.Contains(sometimes, name) {
		panic("no mark is called " + name)
	}
	c.marks[name]++
}

// apply looks at one event and says what is wrong, "" where nothing is.
func (c *checks) apply(e event.Event) string {
	c.events++
	if e.Seq != c.lastSeq+1 {
		return fmt.Sprintf("Seq %d follows %d", e.Seq, c.lastSeq)
	}
	if e.AtMs < c.lastMs {
		return fmt.Sprintf("time goes back from %d ms", c.lastMs)
	}
	if e.Cause >= e.Seq {
		return fmt.Sprintf("event %d has the cause %d, which is not earlier", e.Seq, e.Cause)
	}
	c.lastSeq, c.lastMs = e.Seq, e.AtMs
	c.note(e)
	for _, look := range []func(event.Event) string{c.client, c.request, c.park, c.lead, c.assign, c.commit} {
		if wrong := look(e); wrong != "" {
			return wrong
		}
	}
	return ""
}

// note counts what should sometimes happen.
func (c *checks) note(e event.Event) {
	switch b := e.Body.(type) {
	case event.MemberRemoved:
		c.mark("a session expired", b.Why == event.WhySessionExpired)
		c.mark("a member did not rejoin in time", b.Why == event.WhyNotRejoined)
		c.mark("a member did not sync in time", b.Why == event.WhyNotSynced)
		c.mark("a poll interval ran out", b.ClientReason == "consumer poll timeout has expired.")
	case event.PendingForgotten:
		c.mark("a pending id expired", b.Why == event.WhyPendingExpired)
	case event.GroupLoaded:
		c.mark("a group was loaded with members", b.State == event.Stable)
	case event.ReplyReceived:
		c.mark("a client was told that it is unknown", b.Code == 25)
		c.mark("a client was told that its coordinator is elsewhere", b.Code == 16)
		c.mark("a coordinator was loading", b.Code == 14)
	case event.RequestFailed:
		c.mark("a client was no longer joining", b.Reason == "UnjoinedGroupException: the client is no longer joining")
		c.mark("a request timed out", b.Reason == "no answer in time")
	case event.TxnOffsetsEnded:
		c.mark("a transaction was committed", b.Commit)
		c.mark("a transaction was aborted", !b.Commit)
	case event.MemberReplaced:
		c.mark("a static member came back", true)
	case event.LogCompacted:
		c.mark("a log was compacted", b.Count > 0)
	case event.ClientRevoked:
		c.mark("a client lost its partitions", b.Lost)
		c.mark("a client revoked what another was to get", !b.Lost && !c.rejoining[b.Client] && !c.closing[b.Client])
	case event.ClientAssigned:
		c.mark("a client kept partitions over a rebalance", b.Cooperative && len(b.Topics) > len(b.Added))
	case event.MessageLost:
		c.mark("a message was lost", true)
	case event.RebalanceStarted:
		c.mark("a leader rejoined for new partitions", len(b.ClientReason) > 15 && b.ClientReason[:15] == "cached metadata")
	case event.OffsetsRefused:
		c.mark("a commit was refused", true)
	case event.StateChanged:
		c.mark("a group became empty", b.To == event.Empty)
	}
}

// client follows what clients do, for the campaign's choice of actions.
func (c *checks) client(e event.Event) string {
	switch b := e.Body.(type) {
	case event.ClientStarted:
		c.paused[b.Client], c.closing[b.Client], c.rejoining[b.Client] = false, false, false
	case event.ClientStopped:
		c.paused[b.Client], c.closing[b.Client] = false, false
		for r, who := range c.sent {
			if who.client == b.Client {
				delete(c.sent, r)
			}
		}
	case event.ClientFailed:
		c.closing[b.Client] = true
	case event.ClientPaused:
		c.paused[b.Client] = true
	case event.ClientResumed:
		c.paused[b.Client] = false
	case event.ClientStateChanged:
		c.rejoining[b.Client] = b.To != event.Joined
	case event.ClientRevoked: // a cooperative one joins once more
		c.rejoining[b.Client] = c.rejoining[b.Client] || !b.Lost
	case event.ReplyReceived:
		if b.API == 12 || b.API == 8 {
			c.rejoining[b.Client] = c.rejoining[b.Client] || b.Code != 0
		}
	case event.MetadataRefreshed:
		c.rejoining[b.Client] = c.rejoining[b.Client] || b.Changed
	}
	return ""
}

// request: every request is answered at most once; settled asks for exactly once.
func (c *checks) request(e event.Event) string {
	switch b := e.Body.(type) {
	case event.RequestSent:
		c.sent[b.Request] = sentRequest{b.Client, b.DeadlineMs}
	case event.ReplyReceived:
		if c.received[b.Request] {
			return fmt.Sprintf("request #%d was answered twice", b.Request)
		}
		c.received[b.Request] = true
		delete(c.sent, b.Request)
	case event.RequestFailed:
		if c.received[b.Request] && b.Reason != "UnjoinedGroupException: the client is no longer joining" {
			return fmt.Sprintf("request #%d failed after it was answered", b.Request)
		}
		delete(c.sent, b.Request)
	}
	return ""
}

// park follows parked replies and what will end them.
func (c *checks) park(e event.Event) string {
	switch b := e.Body.(type) {
	case event.ReplyParked:
		c.parked[b.Ticket] = parkedReply{e.Broker, b.API, b.Member, e.AtMs}
	case event.ReplySent:
		delete(c.parked, b.Ticket)
	case event.ReplyDropped:
		delete(c.parked, b.Ticket)
	case event.OperationWatched:
		if b.DeadlineMs < e.AtMs {
			return fmt.Sprintf("operation %d is watched when it is due already", b.Op)
		}
		c.ops[opID{e.Broker, b.Op}] = b
	case event.OperationCompleted:
		if w, watched := c.ops[opID{e.Broker, b.Op}]; watched && b.Expired && (e.AtMs < w.DeadlineMs || e.AtMs > w.DeadlineMs+slack(w)) {
			return fmt.Sprintf("operation %d expired at %d ms, its deadline was %d ms", b.Op, e.AtMs, w.DeadlineMs)
		}
		delete(c.ops, opID{e.Broker, b.Op})
	case event.AppendStarted:
		c.appends[opID{e.Broker, b.Append}] = b.What
	case event.AppendFinished:
		delete(c.appends, opID{e.Broker, b.Append})
	case event.BrokerStopped:
		c.stopped(b.ID)
	}
	return ""
}

// stopped forgets what a dead broker knew.
func (c *checks) stopped(broker int32) {
	maps.DeleteFunc(c.parked, func(_ int64, p parkedReply) bool { return p.broker == broker })
	maps.DeleteFunc(c.ops, func(id opID, _ event.OperationWatched) bool { return id.broker == broker })
	maps.DeleteFunc(c.appends, func(id opID, _ string) bool { return id.broker == broker })
	delete(c.groupAt, broker)
	delete(c.generation, broker)
}

// moment looks at the whole between two moments: whatever is parked has something that will end it, and no timer is
// overdue.
func (c *checks) moment(nowMs int64) string {
	for id, op := range c.ops {
		if op.DeadlineMs+slack(op) < nowMs {
			return fmt.Sprintf("broker %d: %s op %d was due at %d ms and has not run", id.broker, op.Type, id.id, op.DeadlineMs)
		}
	}
	for ticket, p := range c.parked {
		if !c.ends(p) {
			return fmt.Sprintf("request #%d (API %d of %s) is parked at broker %d, and nothing there will ever end it", ticket, p.api, p.member, p.broker)
		}
	}
	return ""
}

// slack is how far a deadline may be off: heartbeats that come within 100 ms of each other are told as one.
func slack(op event.OperationWatched) int64 {
	if op.Type == event.DelayedHeartbeat {
		return 100
	}
	return 0
}

func (c *checks) ends(p parkedReply) bool {
	for id, op := range c.ops {
		if id.broker == p.broker && (p.api == 11 && (op.Type == event.DelayedJoin || op.Type == event.InitialDelayedJoin) ||
			p.api == 14 && op.Type == event.DelayedSync) {
			return true
		}
	}
	for id, what := range c.appends {
		if id.broker == p.broker && ((p.api == 14 || p.api == 11) && what == "group" || p.api == 8 && what == "offsets" || p.api == 28 && what == "transactional offsets") {
			return true
		}
	}
	return false
}

// lead: as long as a broker has the group, its generation does not fall.
func (c *checks) lead(e event.Event) string {
	switch b := e.Body.(type) {
	case event.GroupCreated:
		c.groupAt[e.Broker], c.generation[e.Broker] = true, 0
	case event.GroupLoaded:
		c.groupAt[e.Broker], c.generation[e.Broker] = true, b.Generation
	case event.GroupRemoved:
		delete(c.groupAt, e.Broker)
		delete(c.generation, e.Broker)
	case event.GenerationStarted:
		if was := c.generation[e.Broker]; b.Generation <= was {
			return fmt.Sprintf("generation %d follows generation %d", b.Generation, was)
		}
		c.generation[e.Broker] = b.Generation
	case event.RequestReceived:
		if len(c.groupAt) > 1 {
			return fmt.Sprintf("several brokers have the group: %v", slices.Sorted(maps.Keys(c.groupAt)))
		}
	}
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
	case event.MemberReplaced:
		c.first[b.Member] = cmp.Or(c.first[b.Old], b.Old)
	case event.ClientAssigned:
		who := cmp.Or(c.first[b.Member], b.Member)
		taken := c.assigned[b.Generation]
		if taken == nil {
			taken = map[string]string{}
			c.assigned[b.Generation] = taken
		}
		for _, t := range b.Topics {
			for _, p := range t.Partitions {
				name := fmt.Sprintf("%s-%d", t.Topic, p)
				if other := taken[name]; other != "" && other != who {
					return fmt.Sprintf("in generation %d both %s and %s took %s over", b.Generation, other, b.Member, name)
				}
				taken[name] = who
			}
		}
	}
	return ""
}

// commit: what was acknowledged is found again, or something later.
func (c *checks) commit(e event.Event) string {
	switch b := e.Body.(type) {
	case event.OffsetsPending:
		for _, o := range b.Offsets {
			name := fmt.Sprintf("%s-%d", o.Topic, o.Partition)
			c.maybe[name] = append(c.maybe[name], o.Offset)
		}
	case event.TxnOffsetsPending:
		for _, o := range b.Offsets {
			name := fmt.Sprintf("%s-%d", o.Topic, o.Partition)
			c.maybe[name] = append(c.maybe[name], o.Offset)
		}
	case event.OffsetsCommitted:
		if b.Loaded {
			return c.found(b.Offsets)
		}
		for _, o := range b.Offsets {
			name := fmt.Sprintf("%s-%d", o.Topic, o.Partition)
			c.acknowledged[name] = o.Offset
			if i := slices.Index(c.maybe[name], o.Offset); i >= 0 {
				c.maybe[name] = c.maybe[name][i+1:]
			}
		}
	case event.LoadFinished:
		// Everything that this partition holds has been told before; a group with acknowledged commits must be among it.
		if b.Failed != "" {
			return "a load failed: " + b.Failed
		}
	}
	return ""
}

// found compares what a load brought back with what was acknowledged.
func (c *checks) found(offsets []event.OffsetValue) string {
	there := map[string]int64{}
	for _, o := range offsets {
		there[fmt.Sprintf("%s-%d", o.Topic, o.Partition)] = o.Offset
	}
	for _, name := range slices.Sorted(maps.Keys(c.acknowledged)) {
		offset, ok := there[name]
		if !ok {
			return fmt.Sprintf("the acknowledged commit %s=%d is gone", name, c.acknowledged[name])
		}
		if offset != c.acknowledged[name] && !slices.Contains(c.maybe[name], offset) {
			return fmt.Sprintf("%s was committed at %d and is found at %d", name, c.acknowledged[name], offset)
		}
		c.acknowledged[name] = offset
	}
	c.mark("a commit survived a failover", len(c.acknowledged) > 0)
	return ""
}

// settled: where everything is healthy, no request is without an answer beyond its time, and nothing is parked for long.
func (c *checks) settled(nowMs int64) string {
	for _, r := range slices.Sorted(maps.Keys(c.sent)) {
		if s := c.sent[r]; s.deadlineMs <= nowMs {
			return fmt.Sprintf("request #%d of %s should have been answered or given up at %d ms", r, s.client, s.deadlineMs)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(c.parked)) {
		if p := c.parked[t]; nowMs-p.sinceMs > 10_000 {
			return fmt.Sprintf("request #%d is parked since %d ms", t, p.sinceMs)
		}
	}
	return ""
}
