package coordinator

import (
	"fmt"

	"grouplab/coordinator/event"
)

// states is the whole state machine (Kafka: ClassicGroupState): for each state the ones that it may be entered from.
// The story, with what each request gets while the group's member and generation are right:
//
//	state                JoinGroup             SyncGroup       Heartbeat   OffsetCommit
//	Empty                starts a rebalance    25              25          stored, if it names no generation
//	PreparingRebalance   is parked             27              27          stored
//	CompletingRebalance  current or rebalance  is parked       0           27
//	Stable               current or rebalance  its assignment  0           stored
//	Dead                 -                     -               -           -
//
// Empty: no members, perhaps offsets. The first member starts a rebalance with the initial delay.
// PreparingRebalance: every member must send JoinGroup again; the replies wait together.
// CompletingRebalance: everyone knows the generation; all wait for the leader's assignment, and for it to be written.
// (AwaitingSync up to Kafka 1.0.)
// Stable: everyone has its assignment. A join, a leave or an expired session starts the next rebalance.
// Dead: the broker lost the group's partition, or the group was deleted. A group leaves the cache in the same step in which it dies, so no request
// meets it here; in Kafka, where a request may hold it already, that request gets COORDINATOR_NOT_AVAILABLE.
var states = map[event.State][]event.State{
	event.Empty:               {event.PreparingRebalance},
	event.PreparingRebalance:  {event.Empty, event.CompletingRebalance, event.Stable},
	event.CompletingRebalance: {event.PreparingRebalance},
	event.Stable:              {event.CompletingRebalance},
	event.Dead: {event.Empty, event.PreparingRebalance, event.CompletingRebalance, event.Stable,
		event.Dead},
}

// mayFollow tells whether a group in state from may enter state to.
func mayFollow(from, to event.State) bool {
	for _, s := range states[to] {
		if s == from {
			return true
		}
	}
	return false
}

// transition moves a group to another state. A move that the table does not know is a broken invariant of this package.
func (c *Coordinator) transition(g *group, to event.State, why event.Why, member string) {
	if !mayFollow(g.state, to) {
		panic(fmt.Sprintf("group %q: no transition leads from %s to %s", g.id, g.state, to))
	}
	from := g.state
	g.state, g.stateMs = to, c.nowMs
	c.emit(g.id, event.StateChanged{From: from, To: to, Why: why, Member: member})
}

// canRebalance tells whether a rebalance may start now: not while one collects its joins, and not in a dead group.
func (g *group) canRebalance() bool { return mayFollow(g.state, event.PreparingRebalance) }
