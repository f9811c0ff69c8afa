package coordinator

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// Each thing that Invariants looks at is found when it is broken, and named.
func TestInvariantsFindWhatIsBroken(t *testing.T) {
	for _, x := range []struct {
		name   string
		breaks func(c *Coordinator, g *group, m *member)
		want   string
	}{
		{"a count of parked joins", func(_ *Coordinator, g *group, _ *member) { g.awaiting++ }, "awaiting a join"},
		{"a count of those who have not synced", func(_ *Coordinator, g *group, _ *member) { g.pendingSync++ }, "not synced"},
		{"a leader that is no member", func(_ *Coordinator, g *group, _ *member) { g.leader = "nobody" }, `the leader "nobody"`},
		{"an id that leads to nobody", func(_ *Coordinator, g *group, m *member) { delete(g.byID, m.id) }, "found otherwise by its id"},
		{"a group under another name", func(c *Coordinator, g *group, _ *member) { c.groups["other"] = g }, `in the cache as "other"`},
		{"a member without a session timer", func(c *Coordinator, _ *group, m *member) { c.sessions.Complete(m.session.op) }, "no session timer runs"},
		{"a timer that nobody needs", func(c *Coordinator, g *group, _ *member) {
			c.rebalances.TryCompleteElseWatch(c.nowMs, operation{kind: event.DelayedJoin, slot: g.slot}, c.nowMs+1000, joinKey(g))
		}, "join and sync timers run for 0"},
		{"a join phase without a timer", func(_ *Coordinator, g *group, _ *member) { g.state = event.PreparingRebalance }, "a join phase has a join timer"},
		{"an Empty group with members", func(_ *Coordinator, g *group, _ *member) { g.state = event.Empty }, "1 members"},
		{"an assignment that nobody writes", func(_ *Coordinator, g *group, _ *member) { g.state = event.CompletingRebalance }, "no assignment is being written"},
		{"a partition that is not owned", func(c *Coordinator, g *group, _ *member) { c.partitions[g.partition].owned = false }, "not owned"},
		{"a slot that is never given back", func(c *Coordinator, _ *group, _ *member) { c.memberSlots = append(c.memberSlots, nil) }, "slots"},
		{"a load that is not counted", func(c *Coordinator, _ *group, _ *member) { c.loading++ }, "counted as loading"},
		{"a clean-up job that is not armed", func(c *Coordinator, _ *group, _ *member) { c.disarmCleanup() }, "clean-up job"},
		{"a deletion that waits for nothing", func(c *Coordinator, _ *group, _ *member) { c.deletions[1] = &deletion{left: 1} }, "deletion 1 waits"},
		{"a transaction that its marker would not find", func(c *Coordinator, g *group, _ *member) {
			c.transaction(g, 9, 1).make("orders", 0).commit(&offsetValue{offset: 1, expireMs: -1}, 5)
		}, "marker of producer 9"},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBench(t)
			id := b.oneStable(joinWith{})
			g := b.c.groups[groupID]
			if err := b.c.Invariants(); err != nil {
				t.Fatal("before anything is broken:", err)
			}
			x.breaks(b.c, g, g.byID[id])
			if err := b.c.Invariants(); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
}
