package timeline

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// reason is what a line of a broker's log said.
type reason struct {
	atMs       int64
	generation int32 // the one that ended; -1: not said
	removal    bool
	why        event.Why
	member     string
	client     string
}

const mostReasons = 16

// of is the reason as we name it: a broker's log calls a group's first member a new one like any other.
func (r *reason) of(first bool) event.Why {
	if first && r.why == event.WhyNewMember {
		return event.WhyFirstMember
	}
	return r.why
}

// began is what the broker's log said of the rebalance that ended the group's last generation, nil where it said nothing.
func (g *group) began() *reason {
	for i := range g.reasons {
		if r := &g.reasons[i]; !r.removal && r.generation == max(g.generation, 0) && r.atMs >= g.record.atMs-timerSlackMs {
			return r
		}
	}
	return nil
}

func (g *group) removal(member string) *reason {
	for i := len(g.reasons) - 1; i >= 0; i-- {
		if r := &g.reasons[i]; r.removal && r.member == member && r.why != "" {
			return r
		}
	}
	return nil
}

// difference is what differs between two records.
type difference struct {
	joined, restarted, gone, changed []*member // of the newer record, but for gone
}

func differ(before, after []*member) (d difference) {
	for _, m := range after {
		old := find(before, m.id)
		switch {
		case old != nil && old.changed(m):
			d.changed = append(d.changed, m)
		case old != nil:
		case findInstance(before, m.instance) != nil:
			d.restarted = append(d.restarted, m)
		default:
			d.joined = append(d.joined, m)
		}
	}
	for _, m := range before {
		if find(after, m.id) == nil && findInstance(after, m.instance) == nil {
			d.gone = append(d.gone, m)
		}
	}
	return d
}

// infer concludes why the rebalance began that led to a generation. The log does not say; what it leaves open is named in
// the evidence and lowers the confidence.
func (t *Timeline) infer(g *group, n *next, start when) event.CauseInferred {
	c := event.CauseInferred{Generation: n.generation}
	if r := g.began(); r != nil && r.why != "" {
		c.Why, c.Member, c.ClientReason, c.Evidence = r.of(len(g.record.members) == 0), r.member, r.client, "a line of the broker's log"
		return c
	}
	d := differ(g.record.members, n.members)
	switch {
	case len(g.record.members) == 0:
		t.inferFirst(&c, n)
	case len(d.joined) > 0 && len(d.gone)+len(d.restarted) == 0:
		t.inferJoined(&c, g, n, d, start)
	case len(d.joined) > 0:
		t.inferBoth(&c, g, n, d, start)
	case len(d.gone) > 0:
		t.inferGone(&c, g, n, d, start)
	case len(d.restarted) > 0:
		c.Why, c.Member, c.Confidence = event.WhyStaticRestarted, only(d.restarted), event.Medium
		c.Evidence = "static member " + listOf(d.restarted) + " has a new id and the generation rose"
	case len(d.changed) > 0:
		t.inferChanged(&c, g, d)
	default:
		t.inferNothing(&c, g, n, start)
	}
	if n.jump > 1 {
		if c.Confidence == event.High {
			c.Confidence = event.Medium
		}
		if n.whole || !g.hasRecord {
			c.Evidence += fmt.Sprintf("; %d attempts before it did not settle", n.jump-1)
		} else {
			c.Evidence += fmt.Sprintf("; %d generations before it are not in the log", n.jump-1)
		}
	}
	return c
}

func only(list []*member) string {
	if len(list) == 1 {
		return list[0].id
	}
	return ""
}

func listOf(list []*member) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", event.Name(list[0].id), len(list)-1)
	}
	return strings.Join(slices.Collect(func(yield func(string) bool) {
		for _, m := range list {
			if !yield(event.Name(m.id)) {
				return
			}
		}
	}), ", ")
}

// inferFirst: the group had no members. The first to join leads, unless it has gone again.
func (t *Timeline) inferFirst(c *event.CauseInferred, n *next) {
	c.Why, c.Confidence = event.WhyFirstMember, event.High
	c.Evidence = "the group had no members before"
	switch {
	case n.jump > 1: // whoever was first may be gone
	case len(n.members) == 1:
		c.Member = n.members[0].id
	default:
		c.Member, c.Confidence = n.leader, event.Medium
		c.Evidence += "; the first to join leads"
	}
}

func (t *Timeline) inferJoined(c *event.CauseInferred, g *group, n *next, d difference, start when) {
	c.Why, c.Member, c.Confidence = event.WhyNewMember, only(d.joined), event.High
	c.Evidence = listOf(d.joined) + " joined, nobody went"
	if first := firstLook(g); first != nil {
		var early []*member
		for _, m := range d.joined {
			if slices.Contains(first, m.id) {
				early = append(early, m)
			}
		}
		if len(early) == 0 {
			c.Why, c.Member, c.Confidence = event.WhyLeaderRejoined, g.leader, event.Low
			c.Evidence = "the rebalance was under way when " + listOf(d.joined) + " was not a member yet"
			return
		}
		c.Member = only(early)
	}
	t.doubtJoined(c, g, n, d, start)
	if g.secondStep(start) {
		c.Confidence = event.Medium
		c.Evidence += "; but the second step of a cooperative rebalance was due as well"
	}
	if len(d.changed) > 0 {
		c.Confidence = event.Medium
		c.Evidence += "; " + listOf(d.changed) + " subscribes to something else as well"
	}
}

// doubtJoined lowers the confidence where the rebalance was seen to be under way long before it is known that somebody had
// joined it: another may have begun it, such as the leader, which joins again without a trace.
func (t *Timeline) doubtJoined(c *event.CauseInferred, g *group, n *next, d difference, start when) {
	if start.truth != event.Sampled || g.motion == nil {
		return
	}
	known := n.joinedMs
	if g.motion.first != nil {
		known = min(known, g.motion.firstMs)
	}
	if waited := known - start.hi; waited > max(t.about.PollMs, timerSlackMs) {
		c.Confidence = event.Medium
		c.Evidence += "; but that " + listOf(d.joined) + " had joined is only known " + event.Duration(waited) + " after it was seen to be under way"
	}
}

// firstLook are the members that DescribeGroups showed first in the rebalance under way, nil where it was not asked.
func firstLook(g *group) []string {
	if g.motion == nil {
		return nil
	}
	return g.motion.first
}

// inferBoth: somebody came and somebody went, as when a process starts again. Which was first is not written.
func (t *Timeline) inferBoth(c *event.CauseInferred, g *group, n *next, d difference, start when) {
	c.Confidence = event.Low
	joinedFirst, goneFirst := true, true
	if first := firstLook(g); first != nil {
		for _, m := range d.gone {
			joinedFirst = joinedFirst && slices.Contains(first, m.id)
		}
		for _, m := range d.joined {
			joinedFirst = joinedFirst && slices.Contains(first, m.id)
			goneFirst = goneFirst && !slices.Contains(first, m.id)
		}
		if joinedFirst != goneFirst {
			c.Confidence = event.Medium
		}
	}
	cameAs := func(m *member) bool {
		return slices.ContainsFunc(d.joined, func(j *member) bool { return j.clientID == m.clientID && j.host == m.host })
	}
	again := slices.IndexFunc(d.gone, cameAs)
	if len(d.gone) == 0 {
		c.Why, c.Evidence = event.WhyNewMember, listOf(d.joined)+" joined and "+listOf(d.restarted)+" started again in one rebalance: which began it is not written"
		return
	}
	if !joinedFirst {
		t.inferGone(c, g, n, d, start)
		c.Confidence = event.Low
		c.Evidence += "; " + listOf(d.joined) + " joined in the same rebalance"
		return
	}
	c.Why, c.Member = event.WhyNewMember, only(d.joined)
	c.Evidence = listOf(d.joined) + " joined and " + listOf(d.gone) + " went in one rebalance: which began it is not written"
	if again >= 0 {
		c.Evidence += "; " + event.Name(d.gone[again].clientID) + " seems to have started again"
	}
}

// inferGone: members went. A member that committed within its session timeout cannot have expired; one of which nothing
// was seen for longer may have.
func (t *Timeline) inferGone(c *event.CauseInferred, g *group, n *next, d difference, start when) {
	if waited := n.joinedMs - start.hi; len(n.members) > 0 && start.truth != event.Inferred && waited >= longest(g.record.members, n.members)-timerSlackMs/2 {
		c.Why, c.Member, c.Confidence = event.WhyLeaderRejoined, "", event.Low
		c.Evidence = "the whole rebalance timeout was waited for " + listOf(d.gone) + ", which did not rejoin; what began it is not written"
		return
	}
	c.Member = only(d.gone)
	c.Why, c.Confidence, c.Evidence = t.whyOneWent(g, d.gone[0], start)
	for _, m := range d.gone[1:] {
		why, confidence, _ := t.whyOneWent(g, m, start)
		if why != c.Why {
			c.Why, c.Confidence, c.Evidence = event.WhyMembersGone, event.Low, listOf(d.gone)+" went, in ways that differ"
			return
		}
		if confidence == event.Low {
			c.Confidence = event.Low
		}
	}
	if len(d.gone) > 1 {
		c.Evidence = listOf(d.gone) + " went; " + c.Evidence
	}
	if len(d.changed) > 0 {
		c.Confidence = event.Low
		c.Evidence += "; " + listOf(d.changed) + " subscribes to something else as well"
	}
	// Who stays learns of a rebalance with its next heartbeat, a third of its session later at most.
	if waited := n.joinedMs - start.hi; start.truth == event.Sampled && c.Confidence != "" && waited > int64(d.gone[0].sessionMs)/3+timerSlackMs {
		c.Confidence = event.Low
		c.Evidence += "; but the join phase lasted " + event.Duration(waited) + ": it may have been begun by another and have waited for it"
	}
}

func (t *Timeline) whyOneWent(g *group, m *member, start when) (event.Why, event.Confidence, string) {
	if r := g.removal(m.id); r != nil {
		return r.why, "", "a line of the broker's log"
	}
	seen, session := g.seen(m), int64(m.sessionMs)
	name := event.Name(m.id)
	switch {
	case session == 0:
		return event.WhyMembersGone, event.Low, name + " went"
	case start.hi-seen < session:
		return event.WhyMemberLeft, event.Medium, fmt.Sprintf("%s went, and was seen %s before at most: its session of %s cannot have run out", name,
			event.Duration(max(start.hi-seen, 0)), event.Duration(session))
	case start.lo-seen >= session:
		return event.WhySessionExpired, event.Medium, fmt.Sprintf("%s went, and nothing of it was seen for %s: its session of %s may have run out", name,
			event.Duration(start.lo-seen), event.Duration(session))
	}
	return event.WhySessionExpired, event.Low, fmt.Sprintf("%s went between %s and %s after it was seen last; its session lasts %s", name,
		event.Duration(max(start.lo-seen, 0)), event.Duration(start.hi-seen), event.Duration(session))
}

func (t *Timeline) inferChanged(c *event.CauseInferred, g *group, d difference) {
	c.Why, c.Member, c.Confidence = event.WhyMetadataChanged, only(d.changed), event.High
	if c.Member == g.leader {
		c.Why = event.WhyLeaderRejoined
	}
	c.Evidence = listOf(d.changed) + " subscribes to something else; the members are the same"
	if len(d.changed) > 1 {
		c.Confidence = event.Medium
	}
}

// secondStepMs is how soon the second rebalance of a cooperative pair begins.
const secondStepMs = 5000

func (g *group) secondStep(start when) bool {
	return g.record.unassigned > 0 && start.lo-g.record.atMs < secondStepMs
}

func (t *Timeline) inferNothing(c *event.CauseInferred, g *group, n *next, start when) {
	if g.secondStep(start) {
		c.Why, c.Confidence = event.WhySecondStep, event.Medium
		if start.hi-g.record.atMs < secondStepMs && n.jump == 1 {
			c.Confidence = event.High
		}
		if len(g.record.byWhom) == 1 {
			c.Member = g.record.byWhom[0]
		}
		c.Evidence = fmt.Sprintf("the generation before left %d partitions to nobody that %s had given up", g.record.unassigned, strings.Join(g.record.byWhom, ", "))
		return
	}
	c.Why, c.Member, c.Confidence = event.WhyLeaderRejoined, g.leader, event.Low
	c.Evidence = "nothing changed but the generation: the leader joined again, or a member that lost its place for a moment"
	for _, m := range g.record.members {
		for _, name := range m.topics {
			if x := t.topics[name]; x != nil && x.grewMs > g.record.atMs {
				c.Confidence = event.Medium
				c.Evidence = "the partitions of " + event.Name(name) + " became more: the leader joins again for that"
			}
		}
	}
}

// whyWent concludes why one member went in a rebalance.
func (t *Timeline) whyWent(g *group, m *member, n *next, start when, c event.CauseInferred) event.Why {
	if r := g.removal(m.id); r != nil {
		return r.why
	}
	waited := n.joinedMs - start.hi
	switch {
	case len(n.members) > 0 && start.truth != event.Inferred && waited >= longest(g.record.members, n.members)-timerSlackMs/2:
		return event.WhyNotRejoined
	case c.Member == m.id && (c.Why == event.WhySessionExpired || c.Why == event.WhyMemberLeft):
		return c.Why
	}
	why, _, _ := t.whyOneWent(g, m, when{lo: start.lo, hi: n.joinedMs})
	return why
}

func (t *Timeline) clientReason(g *group, m *member) string {
	if r := g.removal(m.id); r != nil {
		return r.client
	}
	return ""
}

// brokerLog takes what lines of a broker's log say. It replaces what was concluded.
func (t *Timeline) brokerLog(o BrokerLog) {
	for _, e := range o.Events {
		var r reason
		switch b := e.Body.(type) {
		case event.RebalanceStarted:
			r = reason{atMs: e.AtMs, generation: b.Generation, why: b.Why, member: b.Member, client: b.ClientReason}
		case event.MemberRemoved:
			r = reason{atMs: e.AtMs, generation: -1, removal: true, why: b.Why, member: b.Member, client: b.ClientReason}
		default:
			continue
		}
		if g := t.groups[e.Group]; g != nil {
			t.toldReason(g, r)
		} else if e.Group != "" { // its first record, or the next look at the list, is still to come
			t.early = slices.DeleteFunc(t.early, func(x earlyReason) bool { return x.heardMs < t.nowMs-earlyMs })
			if len(t.early) < mostEarly {
				t.early = append(t.early, earlyReason{r, e.Group, t.nowMs})
			}
		}
	}
}

// earlyReason is what a broker's log said of a group of which nothing else was known when it was heard.
type earlyReason struct {
	reason
	group   string
	heardMs int64
}

const earlyMs, mostEarly = 60_000, 256

// takeEarly gives a group that is known now what was said of it before.
func (t *Timeline) takeEarly(g *group) {
	t.early = slices.DeleteFunc(t.early, func(x earlyReason) bool {
		mine := x.group == g.name
		if mine && x.heardMs >= t.nowMs-earlyMs {
			g.reasons = append(g.reasons, x.reason)
		}
		return mine
	})
}

func (t *Timeline) toldReason(g *group, r reason) {
	if len(g.reasons) >= mostReasons {
		g.reasons = slices.Clone(g.reasons[1:])
	}
	g.reasons = append(g.reasons, r)
	if r.removal || r.why == "" { // a line that gives no reason still says when it began
		return
	}
	for i := range g.past {
		p := &g.past[i]
		if p.generation == r.generation+1 && r.atMs <= p.joinedMs+timerSlackMs {
			c := event.CauseInferred{Generation: p.generation, Why: r.of(p.first), Member: r.member, ClientReason: r.client, Evidence: "a line of the broker's log"}
			t.emit(g, exactly(r.atMs), p.seq, c)
			if g.cause.Generation == c.Generation {
				g.cause = c
			}
			return
		}
	}
	if g.motion != nil && r.generation == max(g.generation, 0) {
		g.cause = event.CauseInferred{Generation: r.generation + 1, Why: r.of(len(g.record.members) == 0), Member: r.member, ClientReason: r.client, Evidence: "a line of the broker's log"}
		t.emit(g, exactly(r.atMs), g.motion.seq, g.cause)
	}
}
