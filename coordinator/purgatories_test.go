package coordinator

import (
	"fmt"
	"testing"

	"grouplab/coordinator/event"
)

// The two figures of each purgatory (behaviour.md 11.3): what is over counts as watched until somebody knocks, or until more
// than 1 000 are over; it never counts as delayed.
func TestSizesOfThePurgatories(t *testing.T) {
	b := newBench(t)
	want := func(what, sizes string) {
		t.Helper()
		if got := fmt.Sprint(b.c.Purgatories()); got != sizes {
			t.Errorf("%s: %s, want %s", what, got, sizes)
		}
	}
	// told is what the last operation that was watched, or ran out, told of its purgatory.
	told := func(what string, unswept, over int) {
		t.Helper()
		var got [2]int
		for _, e := range b.events {
			switch o := e.Body.(type) {
			case event.OperationWatched:
				got = [2]int{o.Unswept, o.Over}
			case event.OperationCompleted:
				if o.Expired {
					got = [2]int{o.Unswept, o.Over}
				}
			}
		}
		if got != [2]int{unswept, over} {
			t.Errorf("%s: told of %d that are over and not swept, and of %d that are over; want %d and %d", what, got[0], got[1], unswept, over)
		}
	}
	want("nobody", "[{Heartbeat 0 0} {Rebalance 0 0}]")
	m, ticket := b.twoStep("m", joinWith{session: 600000, rebalance: 600000})
	want("parked in the initial delay", "[{Heartbeat 1 1} {Rebalance 1 1}]")
	b.advance(51)
	b.joined(ticket)
	want("waiting for its sync", "[{Heartbeat 1 1} {Rebalance 2 1}]") // the join is over, and lies in its list
	told("the sync is watched beside the join that is over", 1, 1)
	b.sync(m, 1, nil)
	want("stable", "[{Heartbeat 1 1} {Rebalance 1 0}]") // the knock on the sync took it off its list
	for range 3 {
		b.advance(beatEveryMs)
		b.heartbeat(m, 1)
	}
	want("after heartbeats", "[{Heartbeat 1 1} {Rebalance 1 0}]") // each knocks on the member's key first
	told("after heartbeats", 0, 6)                                // of the id, of the first join, of the new member, and three
	b.leave(groupID, 5, m)
	want("left", "[{Heartbeat 0 0} {Rebalance 1 0}]") // the initial delay, on whose key nobody has knocked since
}
