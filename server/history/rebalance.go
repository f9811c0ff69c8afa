package history

import (
	"slices"

	"grouplab/coordinator/event"
)

// cause is who brought a rebalance about.
type cause struct {
	why                  event.Why
	member, client, said string
	key                  string // of the process
	confidence           event.Confidence
}

// rebalance is one that is under way.
type rebalance struct {
	cause
	startedMs, startedHi int64
	joinedMs             int64
	// parts are what it was spent on so far, markMs up to when.
	parts  []part
	markMs int64
	// delayed is set where an initial delay was waited for.
	delayed bool
	// late is who arrived, or was given up, last.
	late    string
	lateWhy event.Why
	// members are those of the generation, once the join phase is over.
	members    []string
	generation int32
	// lost is a consumer group's, counted partition by partition.
	lost  []event.Lost
	moved int
}

// part is time spent on one thing.
type part struct {
	why    event.Why
	member string
	ms     int64
}

func newRebalance(atMs int64, c cause) *rebalance {
	return &rebalance{cause: c, startedMs: atMs, markMs: atMs, generation: -1}
}

// end closes a part.
func (r *rebalance) end(why event.Why, member string, atMs int64) {
	ms := atMs - r.markMs
	r.markMs = max(r.markMs, atMs)
	if ms > 0 {
		r.spend(part{why, member, ms})
	}
}

func (r *rebalance) spend(p part) {
	for i := range r.parts {
		if r.parts[i].why == p.why && r.parts[i].member == p.member {
			r.parts[i].ms += p.ms
			return
		}
	}
	r.parts = append(r.parts, p)
}

// spent is how long it took up to now, all parts together.
func (r *rebalance) spent() (ms int64) {
	for i := range r.parts {
		ms += r.parts[i].ms
	}
	return ms
}

// addLost adds to what was lost for one reason.
func addLost(list []event.Lost, why event.Why, member string, partitionMs int64) []event.Lost {
	if partitionMs <= 0 {
		return list
	}
	for i := range list {
		if list[i].Why == why && list[i].Member == member {
			list[i].PartitionMs += partitionMs
			return list
		}
	}
	return append(list, event.Lost{Why: why, Member: member, PartitionMs: partitionMs})
}

// arrived notes that one less is awaited. Who is given up together is named once.
func (r *rebalance) arrived(member string, why event.Why) {
	if why == event.WhyNotRejoined || why == event.WhyNotSynced {
		if r.lateWhy == why {
			return
		}
	}
	r.late, r.lateWhy = member, why
}

// begin starts a rebalance. One that is under way and never settled is told as it is.
func (h *History) begin(g *group, e *event.Event, b event.RebalanceStarted) {
	c := cause{why: b.Why, member: b.Member, said: b.ClientReason}
	if r := g.rebalance; r != nil {
		why, who := event.WhyLeaderAssigned, g.leader
		switch b.Why {
		case event.WhyNotSynced, event.WhySyncAppendFailed, event.WhySessionExpired, event.WhyMemberLeft:
			if why, who = b.Why, b.Member; who == "" && r.lateWhy == why {
				who, c.member = r.late, r.late
			}
		}
		r.end(why, who, e.AtMs)
		h.close(g, e.AtMs, false)
	}
	h.identify(g, &c)
	r := newRebalance(e.AtMs, c)
	r.startedHi = e.AtHiMs
	// What a cooperative generation took away and nobody owns yet stands still since then.
	if f := g.lastSettledMs; g.cooperative() && f > 0 && e.AtMs-f <= followMs && h.unowned(g) > 0 {
		r.markMs = f
	}
	if h.attached && b.RebalanceTimeoutMs > 0 {
		g.joinOp = op{deadlineMs: max(e.AtMs, e.AtHiMs) + int64(b.RebalanceTimeoutMs)}
	}
	g.rebalance, g.last = r, c
	g.hour(e.AtMs).rebalances++
	h.touch(g, true)
}

// identify finds the client behind a cause, who may have left with it.
func (h *History) identify(g *group, c *cause) {
	m := g.member(c.member)
	if m == nil && g.left != nil && g.left.id == c.member {
		if m = g.left; c.said == "" {
			c.said = g.leftReason
		}
	}
	if m != nil {
		c.client, c.key = m.client, m.key()
	}
}

// followMs is how soon the second rebalance of a cooperative change follows the first.
const followMs = 5000

// startGeneration ends the join phase.
func (h *History) startGeneration(g *group, e *event.Event, b event.GenerationStarted) {
	if g.rebalance == nil { // an observer may know of the end only
		g.rebalance = newRebalance(e.AtMs-b.DurationMs, cause{})
		g.rebalance.startedHi = e.AtHiMs
		g.hour(e.AtMs).rebalances++
	}
	r := g.rebalance
	switch {
	case r.delayed:
		r.end(event.WhyInitialDelayOver, "", e.AtMs)
	case b.Why == event.WhyRebalanceTimeout:
		r.end(event.WhyRebalanceTimeout, r.late, e.AtMs)
	case r.late != "":
		r.end(r.lateWhy, r.late, e.AtMs)
	default:
		r.end(b.Why, "", e.AtMs)
	}
	r.joinedMs, r.members, r.generation = e.AtMs, b.Members, b.Generation
	r.late, r.lateWhy = "", ""
	g.generation, g.protocol, g.leader, g.simple = b.Generation, b.Protocol, b.Leader, false
	h.touch(g, true)
}

// settle ends a rebalance whose assignment took effect, or that left nobody.
func (h *History) settle(g *group, e *event.Event) {
	r := g.rebalance
	r.end(event.WhyAssignmentWritten, "", e.AtMs)
	if g.state == event.Empty {
		g.assigned = nil
	}
	h.close(g, e.AtMs, true)
	g.lastSettledMs = e.AtMs
	if g.state == event.Empty {
		g.owners, g.everOwned, g.unownedMs = nil, false, 0
	}
}

// close makes a record of the rebalance under way.
func (h *History) close(g *group, atMs int64, settled bool) {
	r := g.rebalance
	g.rebalance = nil
	if r.generation < 0 { // it never came to one
		r.generation = g.generation + 1
	}
	stood := h.standing(g)
	rec := event.GenerationRecorded{Generation: r.generation, StartedMs: r.startedMs, StartedHiMs: r.startedHi, JoinedMs: r.joinedMs,
		Why: r.why, Member: r.member, ClientID: r.client, ClientReason: r.said, Confidence: r.confidence}
	if r.joinedMs > 0 {
		h.compareMembers(g, r, &rec)
	}
	if settled {
		rec.SettledMs = atMs
		rec.Moved = h.own(g, g.assigned)
		rec.Partitions = count(g.assigned)
		if stood == 0 && !g.everOwned {
			rec.UnownedPartitionMs = (g.unownedMs + r.spent()) * int64(rec.Partitions)
		}
		g.unownedMs = 0
		g.everOwned = g.everOwned || rec.Partitions > 0
		if rec.Partitions > 0 {
			g.loop.settled(r.key, signature(g))
		}
		if g.lastGeneration >= 0 && r.generation > g.lastGeneration+1 {
			rec.Unsettled = int(r.generation - g.lastGeneration - 1)
		}
	}
	if !settled && stood == 0 && !g.everOwned {
		g.unownedMs += r.spent()
	}
	g.lastGeneration = r.generation
	for _, p := range r.parts {
		rec.Lost = addLost(rec.Lost, p.why, p.member, p.ms*int64(stood))
	}
	for _, l := range g.died {
		rec.Lost = addLost(rec.Lost, l.Why, l.Member, l.PartitionMs)
	}
	g.died = nil
	h.remember(g, rec)
}

// standing is how many partitions stand still while a rebalance lasts.
func (h *History) standing(g *group) int {
	if g.cooperative() {
		return h.unowned(g)
	}
	return len(g.owners)
}

// compareMembers says who is new and who is gone.
func (h *History) compareMembers(g *group, r *rebalance, rec *event.GenerationRecorded) {
	rec.Members = len(r.members)
	before := make(map[string]bool, len(g.settled))
	for _, id := range g.settled {
		before[id] = true
	}
	for _, id := range r.members {
		if before[id] {
			delete(before, id)
			continue
		}
		if len(rec.Joined) < named {
			rec.Joined = append(rec.Joined, id)
		} else {
			rec.MoreJoined++
		}
	}
	for _, id := range g.settled {
		if !before[id] {
			continue
		}
		if len(rec.Left) < named {
			rec.Left = append(rec.Left, id)
		} else {
			rec.MoreLeft++
		}
	}
	g.settled = slices.Clone(r.members)
}

// named is how many members, or topics, are told by name.
const named = 8
