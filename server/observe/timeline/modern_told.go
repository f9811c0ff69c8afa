package timeline

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// tellChange tells of a step of a KIP-848 group.
func (t *Timeline) tellChange(g *group, c *change, atMs int64) {
	x, w := g.modern, exactly(atMs)
	why, cause := t.whyBumped(g, c, atMs), int64(0)
	if c.bumped {
		g.generation = x.epoch
		cause = t.emit(g, w, g.steadySeq, event.EpochBumped{Epoch: x.epoch, Why: why.Why, Member: why.Member, Confidence: why.Confidence})
		g.cause = why
		t.emit(g, when{atMs, atMs, event.Inferred}, cause, why)
	}
	t.tellModernMembers(g, c, w, cause)
	t.syncMembers(g)
	state := x.state()
	if c.bumped && c.targeted && state != event.Empty { // both in one append: it passed through Assigning
		t.changeState(g, w, cause, event.StateChanged{To: event.Assigning, Why: why.Why, Member: why.Member})
	}
	if c.targeted {
		moved := 0
		for tp, owner := range x.targets() {
			if c.targets[tp] != owner {
				moved++
			}
		}
		cause = t.emit(g, w, cause, event.TargetAssigned{Epoch: x.target, Assignments: t.targetsOf(g), Moved: moved})
	}
	t.tellReconciled(g, c.moved, w, cause)
	t.changeState(g, w, cause, event.StateChanged{To: state, Why: whyModern(state, why)})
	if state == event.Stable || state == event.Empty {
		g.steadySeq = cause
	}
}

func whyModern(s event.State, c event.CauseInferred) event.Why {
	switch s {
	case event.Stable:
		return event.WhyTargetReached
	case event.Empty:
		return event.WhyNoMembers
	}
	return c.Why
}

// tellModernMembers tells who came and went. A static member that comes back under a new id takes its place.
func (t *Timeline) tellModernMembers(g *group, c *change, w when, cause int64) {
	replaced := map[string]bool{}
	for _, m := range c.fresh {
		i := slices.IndexFunc(c.gone, func(o *modernMember) bool { return m.instance != "" && o.instance == m.instance })
		if i < 0 {
			t.emit(g, w, cause, m.added(false))
			continue
		}
		replaced[c.gone[i].id] = true
		t.emit(g, w, cause, event.MemberReplaced{Old: c.gone[i].id, Member: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.host})
	}
	for _, m := range c.updated {
		t.emit(g, w, cause, m.member.updated(true))
	}
	for _, m := range c.gone {
		if !replaced[m.id] {
			why, _, _ := t.whyModernWent(g, m, w.lo)
			t.emit(g, when{w.lo, w.hi, event.Inferred}, cause, event.MemberRemoved{Member: m.id, Why: why, ClientReason: t.clientReason(g, m.member)})
		}
	}
}

// whyModernWent concludes why a member went: a heartbeat that leaves and a timer that runs out write the same records.
func (t *Timeline) whyModernWent(g *group, m *modernMember, atMs int64) (event.Why, event.Confidence, string) {
	if r := g.removal(m.id); r != nil {
		return r.why, "", "a line of the broker's log"
	}
	name, session := event.Name(m.id), int64(m.sessionMs)
	silent := atMs - max(g.seen(m.member), m.currentMs)
	switch {
	case silent < 0: // it is history, and its partitions have been committed since
		return event.WhyMembersGone, event.Low, name + " went: whether it left or its session ran out cannot be told any more"
	case m.last.Epoch == awayEpoch || m.current.Epoch == awayEpoch:
		return event.WhySessionExpired, event.Medium, name + " was away as a static member and has not come back"
	case max(m.last.State, m.current.State) == record.MemberUnrevokedPartitions && m.rebalanceMs > 0 && atMs-m.currentMs >= int64(m.rebalanceMs):
		return event.WhyNotRevoked, event.Medium, fmt.Sprintf("%s had been told to give partitions up for its rebalance timeout of %s", name, event.Duration(int64(m.rebalanceMs)))
	case silent >= session:
		return event.WhySessionExpired, event.Medium, fmt.Sprintf("%s went, and nothing of it was seen for %s: its session of %s may have run out", name,
			event.Duration(silent), event.Duration(session))
	}
	return event.WhyMemberLeft, event.Medium, fmt.Sprintf("%s went, and was seen %s before: its session of %s cannot have run out", name,
		event.Duration(silent), event.Duration(session))
}

// whyBumped concludes why the epoch rose, from what else is in the append.
func (t *Timeline) whyBumped(g *group, c *change, atMs int64) event.CauseInferred {
	why := event.CauseInferred{Generation: g.modern.epoch, Confidence: event.High}
	one := func(list []*modernMember) {
		if len(list) == 1 {
			why.Member = list[0].id
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(c.fresh), func(m *modernMember) bool {
		return slices.ContainsFunc(c.gone, func(o *modernMember) bool { return m.instance != "" && o.instance == m.instance })
	})
	switch {
	case len(fresh) > 0:
		why.Why, why.Evidence = event.WhyNewMember, "the member's record lies in the same append"
		if known(g.modern.members) == len(c.fresh) {
			why.Why = event.WhyFirstMember
		}
		one(fresh)
	case len(c.fresh) > 0:
		why.Why, why.Evidence = event.WhyStaticRestarted, "a static member's record under a new id lies in the same append"
		one(c.fresh)
	case len(c.gone) > 0:
		why.Why, why.Confidence, why.Evidence = t.whyModernWent(g, c.gone[0], atMs)
		one(c.gone)
	case len(c.updated) > 0:
		why.Why, why.Evidence = event.WhyMetadataChanged, "the member's changed record lies in the same append"
		one(c.updated)
	case c.topics, c.hash != g.modern.hash:
		why.Why, why.Evidence = event.WhyTopicsChanged, "what the group knows of its topics changed in the same append"
	case c.regex:
		why.Why, why.Evidence = event.WhyTopicsChanged, "a regular expression was resolved anew in the same append"
	default:
		why.Why, why.Confidence, why.Evidence = event.WhyTopicsChanged, event.Low, "the epoch rose and no member changed"
	}
	return why
}

func known(list []*modernMember) (n int) {
	for _, m := range list {
		if m.known {
			n++
		}
	}
	return n
}

// tellReconciled tells of the members whose records changed, and of those that now wait for others than before.
func (t *Timeline) tellReconciled(g *group, moved []*modernMember, w when, cause int64) {
	waits := g.modern.waitsFor()
	for _, m := range g.modern.members {
		changed := slices.Contains(moved, m)
		if !m.known || !changed && slices.Equal(waits[m.id], m.waitsFor) {
			continue
		}
		m.waitsFor = waits[m.id]
		truth := event.Inferred
		if changed {
			truth = w.truth
		}
		t.emit(g, when{w.lo, w.hi, truth}, cause, t.reconciled(g, m))
	}
}

func (t *Timeline) reconciled(g *group, m *modernMember) event.MemberReconciled {
	return event.MemberReconciled{Member: m.id, Epoch: m.current.Epoch, PreviousEpoch: m.current.PreviousEpoch, State: stateName(m.current.State),
		Assigned: t.partitionsOf(g, m.current.Assigned), Revoking: t.partitionsOf(g, m.current.PendingRevocation), WaitsFor: m.waitsFor}
}

func stateName(s record.ModernState) string {
	switch s {
	case record.MemberStable:
		return "stable"
	case record.MemberUnrevokedPartitions:
		return "unrevoked_partitions"
	case record.MemberUnreleasedPartitions:
		return "unreleased_partitions"
	}
	return fmt.Sprintf("state %d", s)
}

// syncMembers makes the group's members those that the records name, with what they have.
func (t *Timeline) syncMembers(g *group) {
	g.members = g.members[:0:0]
	for _, m := range g.modern.members {
		if m.known {
			m.member.assigned = t.partitionsOf(g, m.current.Assigned)
			g.members = append(g.members, m.member)
		}
	}
}

func (t *Timeline) targetsOf(g *group) (list []event.Assignment) {
	for _, m := range g.modern.members {
		if m.known {
			list = append(list, event.Assignment{Member: m.id, Topics: t.partitionsOf(g, m.target)})
		}
	}
	return list
}

// mostUnnamed bounds how many topic ids without a name are remembered.
const mostUnnamed = 10_000

// partitionsOf gives topics their names; one that has none yet is called by its id, as Kafka prints it, and told again later.
func (t *Timeline) partitionsOf(g *group, list []record.IDPartitions) []event.TopicPartitions {
	var all []event.TopicPartitions
	for _, x := range list {
		name := t.byID[x.Topic]
		if name == "" {
			name = base64.RawURLEncoding.EncodeToString(x.Topic[:])
			if t.unnamed[x.Topic] == nil && len(t.unnamed) < mostUnnamed {
				t.unnamed[x.Topic] = map[string]bool{}
			}
			if of := t.unnamed[x.Topic]; of != nil {
				of[g.name] = true
			}
		}
		numbers := slices.Clone(x.Partitions)
		slices.Sort(numbers)
		all = append(all, event.TopicPartitions{Topic: t.names.one(name), Partitions: numbers})
	}
	slices.SortFunc(all, func(a, b event.TopicPartitions) int { return strings.Compare(a.Topic, b.Topic) })
	return all
}

// named tells anew of groups that called a topic by its id until now.
func (t *Timeline) named(id record.TopicID) {
	of := t.unnamed[id]
	delete(t.unnamed, id)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if g := t.groups[name]; g != nil && g.modern != nil && g.told {
			t.syncMembers(g)
			t.tellAssignments(g, when{t.nowMs, t.nowMs, event.Inferred}, 0)
		}
	}
}

// tellModernBaseline tells of a group as the log has it.
func (t *Timeline) tellModernBaseline(g *group, cause int64) {
	x := g.modern
	x.members = slices.DeleteFunc(x.members, func(m *modernMember) bool { return !m.known })
	g.told, g.generation, g.state, g.sinceMs = true, x.epoch, x.state(), x.sinceMs
	for _, m := range x.members {
		g.sinceMs = max(g.sinceMs, m.currentMs)
	}
	t.syncMembers(g)
	t.tellModern(g, when{min(g.sinceMs, t.nowMs), 0, event.Observed}, cause)
}

func (t *Timeline) tellModern(g *group, w when, cause int64) {
	waits := g.modern.waitsFor()
	for _, m := range g.modern.members {
		m.waitsFor = waits[m.id]
	}
	for _, body := range g.modernLoaded() {
		t.emit(g, w, cause, body)
	}
	t.tellAssignments(g, w, cause)
	g.listed, g.wasListed = event.GroupListed{Type: consumerType, State: g.state, ProtocolType: "consumer"}, true
}

func (g *group) modernLoaded() []event.Body {
	assignor := ""
	for _, m := range g.modern.members {
		if m.assignor != "" {
			assignor = m.assignor
		}
	}
	list := []event.Body{event.GroupListed{Type: consumerType, State: g.state, ProtocolType: "consumer"},
		event.GroupLoaded{State: g.state, SinceMs: g.sinceMs, Generation: g.generation, ProtocolType: "consumer", Protocol: assignor, Partition: g.partition}}
	for _, m := range g.members {
		list = append(list, m.added(true))
	}
	return list
}

// tellAssignments tells of targets and of what each member has.
func (t *Timeline) tellAssignments(g *group, w when, cause int64) {
	for _, body := range t.modernAssignments(g) {
		t.emit(g, w, cause, body)
	}
}

func (t *Timeline) modernAssignments(g *group) (list []event.Body) {
	list = append(list, event.TargetAssigned{Epoch: g.modern.target, Assignments: t.targetsOf(g)})
	for _, m := range g.modern.members {
		if m.known {
			list = append(list, t.reconciled(g, m))
		}
	}
	return list
}
