package coordinator

import (
	"fmt"
	"slices"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
)

// Invariants looks at the whole machine between two doors and returns what is wrong with it, nil where nothing is: a
// count that differs from what it counts, a wait that nothing will end, a timer that nobody needs, something that was
// left behind. It is for tests and for hosts that want to know before their users do; it changes nothing, and costs a
// look at every group and member.
func (c *Coordinator) Invariants() error {
	var timers, heldSlots int
	for id, g := range c.groups {
		p := c.partitions[g.partition]
		if g.id != id || c.groupSlots[g.slot] != g || p == nil || !p.owned || g.state == event.Dead {
			return fmt.Errorf("group %q (%s) is in the cache as %q, and %s", g.id, g.state, id, p.string())
		}
		if err := c.checkGroup(g); err != nil {
			return fmt.Errorf("group %q in %s, generation %d: %w", g.id, g.state, g.generation, err)
		}
		timers += waits(c, g.joinOp) + waits(c, g.syncOp)
	}
	for _, m := range c.memberSlots {
		if m == nil {
			continue
		}
		heldSlots++
		if err := c.checkSession(m); err != nil {
			return fmt.Errorf("%q of group %q: %w", m.id, m.groupID, err)
		}
	}
	return c.checkTotals(timers, heldSlots)
}

// string describes what a broker knows of a partition.
func (p *partition) string() string {
	switch {
	case p == nil:
		return "its partition is not known"
	case p.load != nil:
		return "its partition is loading"
	case !p.owned:
		return "its partition is not owned"
	}
	return "its partition is owned"
}

// waits counts a group's timer: 1 where it waits.
func waits(c *Coordinator, t timer) int {
	if c.rebalances.Place(t.op).Level >= 0 {
		return 1
	}
	return 0
}

// checkGroup compares what a group counts with its members, and its state with its timers.
func (c *Coordinator) checkGroup(g *group) error {
	awaiting, joins, syncs, pendingSync := 0, 0, 0, 0
	for _, m := range g.members {
		if g.byID[m.id] != m || m.gone || m.pending || c.memberSlots[m.slot] != m || m.group != g.slot {
			return fmt.Errorf("member %q is listed, but gone %t, pending %t, or found otherwise by its id or slot", m.id, m.gone, m.pending)
		}
		if m.instanceID != nil && g.byInstance[*m.instanceID] != m {
			return fmt.Errorf("member %q is not what its instance %q leads to", m.id, *m.instanceID)
		}
		awaiting += count(m.join.waits)
		joins += count(m.join.waits && m.join.until != untilReplaced)
		syncs += count(m.sync.waits)
		pendingSync += count(m.pendingSync)
	}
	static := 0
	for _, m := range g.members {
		static += count(m.instanceID != nil)
	}
	switch {
	case len(g.byID) != len(g.members) || len(g.byInstance) != static:
		return fmt.Errorf("%d members, %d of them static, but %d ids and %d instances", len(g.members), static, len(g.byID), len(g.byInstance))
	case awaiting != g.awaiting:
		return fmt.Errorf("%d are counted as awaiting a join, %d are parked", g.awaiting, awaiting)
	case pendingSync != g.pendingSync:
		return fmt.Errorf("%d are counted as not synced, %d are", g.pendingSync, pendingSync)
	case g.leader != "" && g.byID[g.leader] == nil:
		return fmt.Errorf("the leader %q is no member", g.leader)
	}
	for _, m := range g.pending {
		if !m.pending || m.gone || g.byID[m.id] != nil || c.sessions.Place(m.session.op).Level < 0 {
			return fmt.Errorf("the issued id %q is a member, or its timer does not run", m.id)
		}
	}
	for _, m := range g.departed {
		if !m.gone || m.group != g.slot || c.sessions.Place(m.session.op).Level < 0 {
			return fmt.Errorf("the id %q that left has not gone, or its timer does not run", m.id)
		}
	}
	if err := c.checkState(g, joins, syncs); err != nil {
		return err
	}
	return c.checkTransactions(g)
}

// checkState compares a group's state with what waits in it: whoever waits has something that will end it, and no timer
// runs that the state has no use for.
func (c *Coordinator) checkState(g *group, joins, syncs int) error {
	join, sync := waits(c, g.joinOp), waits(c, g.syncOp)
	wrong := func(what string) error {
		return fmt.Errorf("%s: %d join timers, %d sync timers, %d parked joins, %d parked syncs, %d not synced", what, join, sync, joins, syncs, g.pendingSync)
	}
	switch g.state {
	case event.Empty:
		if len(g.members) > 0 || join+sync+g.pendingSync > 0 {
			return wrong(fmt.Sprintf("%d members", len(g.members)))
		}
	case event.PreparingRebalance:
		if join != 1 || sync+syncs+g.pendingSync > 0 {
			return wrong("a join phase has a join timer and nothing of a sync phase")
		}
	case event.CompletingRebalance:
		if join+joins > 0 || sync != count(g.pendingSync > 0) || g.leader == "" {
			return wrong("a sync phase has a leader, nothing of a join phase, and a sync timer while somebody has not synced")
		}
		if leader := g.byID[g.leader]; !leader.pendingSync && !c.writes(g, storesAssignment) {
			return wrong("the leader has synced, and no assignment is being written")
		}
	case event.Stable:
		if join+joins+syncs > 0 || sync != count(g.pendingSync > 0) {
			return wrong("in Stable nobody waits but for its new id, and a sync timer runs while somebody has not synced")
		}
		if g.awaiting > joins && !c.writes(g, storesReplacement) {
			return wrong("a join waits for its new id, and none is being written")
		}
	}
	return nil
}

// writes tells whether an append of a kind is under way for this generation of a group.
func (c *Coordinator) writes(g *group, kind appendKind) bool {
	for _, a := range c.appends {
		if a.kind == kind && a.group == g.number && a.generation == g.generation {
			return true
		}
	}
	return false
}

// checkTransactions sees to it that the markers of open transactions will find the group.
func (c *Coordinator) checkTransactions(g *group) error {
	for _, t := range g.txns {
		if !t.any() {
			return fmt.Errorf("the transaction of producer %d holds nothing", t.producerID)
		}
		if open := c.openTxns[txnKey{g.partition, t.producerID}]; !slices.Contains(open.groups, g.id) {
			return fmt.Errorf("the marker of producer %d would not find the group", t.producerID)
		}
	}
	return nil
}

// checkSession looks at a member's timer, or at that of an issued id, or at what is left of one that has gone.
func (c *Coordinator) checkSession(m *member) error {
	live := c.sessions.Place(m.session.op).Level >= 0
	switch {
	case live != (m.session.op.Number != 0):
		return fmt.Errorf("its timer is noted as operation %d, which runs: %t", m.session.op.Number, live)
	case m.gone && !live:
		return fmt.Errorf("it has gone, and its timer too, but its slot is kept")
	case m.gone:
		return nil
	case !live && (m.pending || m.isNew || !m.join.waits && !m.sync.waits):
		return fmt.Errorf("it waits for nothing, and no session timer runs")
	case m.isNew && !m.join.waits:
		return fmt.Errorf("it is new, and its join is not parked")
	case c.groupSlots[m.group] == nil:
		return fmt.Errorf("it outlives its group")
	}
	return nil
}

// checkTotals compares the purgatories, the slots and the appends with those whose they are.
func (c *Coordinator) checkTotals(timers, heldSlots int) error {
	sessions, groups := 0, 0
	for _, m := range c.memberSlots {
		sessions += count(m != nil && m.session.op.Number != 0)
	}
	for _, g := range c.groupSlots {
		groups += count(g != nil)
	}
	loading := 0
	for _, p := range c.partitions {
		loading += count(p.load != nil)
	}
	armed := c.cleanup != purgatory.None
	switch {
	case timers != c.rebalances.Delayed() || sessions != c.sessions.Delayed():
		return fmt.Errorf("%d join and sync timers run for %d, %d session timers for %d", c.rebalances.Delayed(), timers, c.sessions.Delayed(), sessions)
	case c.wheel.Size() != timers+sessions+count(armed):
		return fmt.Errorf("%d timers are in the wheel, %d are accounted for", c.wheel.Size(), timers+sessions+count(armed))
	case armed != (len(c.groups) > 0) && c.cfg.Settings.OffsetsRetentionCheckIntervalMs >= 1:
		return fmt.Errorf("there are %d groups, and the clean-up job is armed: %t", len(c.groups), armed)
	case groups != len(c.groups) || len(c.freeGroups)+groups != len(c.groupSlots) || len(c.freeMembers)+heldSlots != len(c.memberSlots):
		return fmt.Errorf("%d groups in %d slots, %d free; %d members in %d slots, %d free", len(c.groups), len(c.groupSlots), len(c.freeGroups),
			heldSlots, len(c.memberSlots), len(c.freeMembers))
	case loading != c.loading:
		return fmt.Errorf("%d partitions are counted as loading, %d are", c.loading, loading)
	}
	for number, d := range c.deletions {
		awaited := 0
		for _, a := range c.appends {
			awaited += count(a.kind == storesTombstones && a.deletion == number)
		}
		if d.left < 1 || d.left != awaited {
			return fmt.Errorf("deletion %d waits for %d appends, %d are under way", number, d.left, awaited)
		}
	}
	return nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
