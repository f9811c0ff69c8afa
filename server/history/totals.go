package history

import (
	"cmp"
	"maps"
	"slices"

	"grouplab/coordinator/event"
)

// Totals count since the fold began.
type Totals struct {
	// Rebalances that are over, by what began them as it was known when they were told first; "" where it was not.
	Rebalances map[event.Why]int64
	// LostMs is the time that partitions stood still, by the part of a rebalance: partitions times milliseconds.
	LostMs map[event.Why]int64
	// Records are the generations that are remembered, Untracked the facts of groups beyond the most that are followed.
	Records   int
	Untracked int64
	// States are the groups that are there, by state.
	States map[event.State]StateTotal
	// Loops is how many groups are in a loop: the same client brought about three rebalances or more that changed nothing.
	Loops int
}

// StateTotal is about one state.
type StateTotal struct {
	// Groups is how many are in it now, Ms the time that groups have spent in it together, up to now.
	Groups int
	Ms     int64
}

// loopRounds is from when on a loop counts as one.
const loopRounds = 3

func newTotals() Totals {
	return Totals{Rebalances: map[event.Why]int64{}, LostMs: map[event.Why]int64{}}
}

// stateTime adds up how long groups are in one state.
type stateTime struct {
	groups   int
	sinceSum int64 // of when those that are in it entered it
	ms       int64 // of those that have left
}

func (t *stateTime) enter(atMs int64) { t.groups, t.sinceSum = t.groups+1, t.sinceSum+atMs }

func (t *stateTime) leave(sinceMs, atMs int64) {
	if t != nil && t.groups > 0 {
		t.groups, t.sinceSum, t.ms = t.groups-1, t.sinceSum-sinceMs, t.ms+max(atMs-sinceMs, 0)
	}
}

// Totals reads the counts.
func (h *History) Totals(nowMs int64) Totals {
	h.advance(nowMs)
	t := Totals{Rebalances: maps.Clone(h.totals.Rebalances), LostMs: maps.Clone(h.totals.LostMs), Records: h.all.Len(), Untracked: h.Untracked,
		States: map[event.State]StateTotal{}}
	for s, of := range h.states {
		t.States[s] = StateTotal{of.groups, of.ms + int64(of.groups)*h.nowMs - of.sinceSum}
	}
	for _, g := range h.groups {
		if !g.gone && g.loop.rounds >= loopRounds {
			t.Loops++
		}
	}
	return t
}

// Wait is a group that does not serve: it rebalances, or has no coordinator.
type Wait struct {
	Group string
	State event.State
	// SinceMs is when it stopped serving, however many rebalances it has begun since.
	SinceMs int64
	// Awaited are the first members that it waits for, of Waiting in all; DeadlineMs is as in event.GroupSummarized.
	Awaited    []string
	Waiting    int
	DeadlineMs int64
	// Why and Member brought the last rebalance about; ClientReason is the client's own word for it.
	Why          event.Why
	Member       string
	ClientReason string
	Coordinator  int32
	Generation   int32
}

// Waits lists the groups that do not serve, the longest first, those that began together by name.
func (h *History) Waits() []Wait {
	list := make([]Wait, 0, len(h.moving))
	for g := range h.moving {
		w := h.waiting(g)
		list = append(list, Wait{Group: g.name, State: g.state, SinceMs: g.restlessMs, Awaited: w.members, Waiting: len(w.members) + w.more,
			DeadlineMs: w.deadlineMs, Why: g.last.why, Member: g.last.member, ClientReason: g.last.said, Coordinator: g.coordinator, Generation: g.generation})
	}
	slices.SortFunc(list, func(a, b Wait) int { return cmp.Or(cmp.Compare(a.SinceMs, b.SinceMs), cmp.Compare(a.Group, b.Group)) })
	return list
}
