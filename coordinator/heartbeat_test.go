package coordinator

import (
	"testing"

	"grouplab/coordinator/event"
)

func TestHB01_GateAndMembership(t *testing.T) {
	b := newBench(t)
	wantCode(t, "otherGroup", b.heartbeatOf(otherGroup, "m", 1), 16)
	wantCode(t, "missing group", b.heartbeat("m", 1), 25)
	wantCode(t, "empty group id", b.heartbeatOf("", "m", 1), 24)
	b.oneStable(joinWith{})
	wantCode(t, "unknown id", b.heartbeat("x", 1), 25)
}

func TestHB02_StatesAndGeneration(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	wantCode(t, "CompletingRebalance", b.heartbeat(m, 1), 0)
	b.sync(m, 1, nil)
	wantCode(t, "Stable", b.heartbeat(m, 1), 0)
	wantCode(t, "generation 2", b.heartbeat(m, 2), 22)
}

func TestHB04_SessionExpiry(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{})
	b.advance(600)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 25)
	b.inState(event.Empty)
}

func TestHB05_CommitKeepsTheSession(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{session: 1000, rebalance: 1000})
	b.advance(500)
	wantCode(t, "commit", b.committed(b.commit(commitWith{id: &m, generation: 1, offsets: map[int32]int64{0: 1}})), 0)
	b.advance(600)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 0)
}

func TestHB06_ExpiryDuringARebalance(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{session: 1000, rebalance: 2000})
	second := b.direct("s", joinWith{})
	b.advance(500)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 27)
	b.advance(1100)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 25)
	wantCode(t, "second", b.joined(second).ErrorCode, 0)
}

func TestHB07_RebalanceSignal(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	b.direct("d", joinWith{})
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 27)
}

// Who waits for an answer is not expired by its session; the next timer starts with the answer.
func TestParkedMemberIsExcused(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{session: 500, rebalance: 5000})
	second := b.direct("s", joinWith{session: 500, rebalance: 5000})
	third := b.issued("t", joinWith{session: 5000})
	rejoin := b.join("m", joinWith{version: 9, id: m, session: 500, rebalance: 5000})
	b.advance(2000)
	b.unanswered(second, rejoin)
	b.members(2)
	if done := eventsOf[event.OperationCompleted](b); !done[len(done)-1].Excused {
		t.Fatalf("%+v", done[len(done)-1])
	}
	b.leave(groupID, 3, third)
	wantCode(t, "rejoin", b.joined(rejoin).ErrorCode, 0)
	b.advance(501)
	b.members(0)
}

// A timer of a member that was dropped at the end of a join phase does nothing later (KAFKA-7196).
func TestStaleTimerOfADroppedMember(t *testing.T) {
	b := newBench(t)
	m, f := twoMembers(b)
	b.sync(f, 2, nil)
	b.sync(m, 2, nil)
	d := b.direct("d", joinWith{session: 60000, rebalance: 100})
	rejoin := b.join("m", joinWith{version: 9, id: m, session: 60000, rebalance: 100})
	b.advance(501)
	wantCode(t, "m", b.joined(rejoin).ErrorCode, 0)
	wantCode(t, "d", b.joined(d).ErrorCode, 0)
	b.members(2)
	b.sync(m, 3, nil)
	b.sync(b.joined(d).MemberID, 3, nil)
	n := len(eventsOf[event.RebalanceStarted](b))
	b.advance(10000)
	b.inState(event.Stable)
	if len(eventsOf[event.RebalanceStarted](b)) != n {
		t.Fatal("a rebalance began")
	}
}

// Unchanged heartbeats are told once each 100 ms, with their timers; a new code is told at once.
func TestHeartbeatsAreCoalesced(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{session: 1000, rebalance: 1000})
	n := len(b.events)
	for range 30 {
		b.advance(10)
		b.heartbeat(m, 1)
	}
	beats, watched := 0, 0
	for _, e := range b.events[n:] {
		switch body := e.Body.(type) {
		case event.HeartbeatReceived:
			beats++
		case event.OperationWatched:
			watched++
		case event.OperationCompleted:
			if body.How != "heartbeat" {
				t.Fatal(e)
			}
		}
	}
	if beats != 3 || watched != 3 {
		t.Fatalf("%d heartbeats, %d timers told", beats, watched)
	}
	last := b.c.memberSlots[b.c.groups[groupID].members[0].slot].session.deadlineMs
	if last != b.now+1000 {
		t.Fatalf("deadline %d at %d", last, b.now)
	}
	b.direct("d", joinWith{})
	n = len(b.events)
	wantCode(t, "heartbeat", b.heartbeat(m, 1), 27)
	if got := b.events[n].Body.(event.HeartbeatReceived); got.Code != 27 || got.Merged == 0 {
		t.Fatalf("%+v", got)
	}
}

// Every operation that was told to wait is told to be over once, and every operation that is over was told before: also
// those whose timers coalesced heartbeats have moved.
func TestOperationsAreToldOnce(t *testing.T) {
	b := newBench(t)
	m := b.oneStable(joinWith{session: 3000, rebalance: 1000})
	for range 7 {
		b.advance(33)
		b.heartbeat(m, 1)
	}
	b.direct("d", joinWith{session: 400, rebalance: 300})
	b.advance(10000)
	open := map[int64]event.OperationWatched{}
	for _, e := range b.events {
		switch body := e.Body.(type) {
		case event.OperationWatched:
			open[body.Op] = body
		case event.OperationCompleted:
			w, was := open[body.Op]
			if !was && body.Type != event.DelayedJoin {
				t.Fatalf("%v was never told to wait", e)
			}
			if was && body.Expired && e.AtMs != w.DeadlineMs {
				t.Fatalf("%v, but its deadline was told as %d", e, w.DeadlineMs)
			}
			delete(open, body.Op)
		case event.TimerCascaded:
			if _, was := open[body.Op]; !was {
				t.Fatalf("%v does not wait", e)
			}
		}
	}
	if len(open) != 0 {
		t.Fatalf("left: %v", open)
	}
	if n := waiting(b.c); n != 0 {
		t.Fatalf("%d timers are left", n)
	}
}
