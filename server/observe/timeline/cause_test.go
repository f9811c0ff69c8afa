package timeline_test

import (
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// rests is an answer to ListGroups that came now, tookMs after the question, and names no group in motion; moves one that names g.
func (l *offsetsLog) rests(tookMs int64) timeline.PollList {
	return timeline.PollList{Broker: 1, AskedMs: l.now - tookMs, AnsweredMs: l.now, Filtered: true}
}

func (l *offsetsLog) moves(state event.State, tookMs int64) timeline.PollList {
	p := l.rests(tookMs)
	p.Groups = []timeline.ListedGroup{{Group: "g", State: state, Type: "classic", ProtocolType: "consumer"}}
	return p
}

func describedAs(state event.State, askedMs, answeredMs int64, members ...string) timeline.Described {
	d := timeline.Described{Broker: 1, AskedMs: askedMs, AnsweredMs: answeredMs, Group: "g", Type: "classic", State: state, ProtocolType: "consumer"}
	for _, m := range members {
		d.Members = append(d.Members, timeline.DescribedMember{Member: m})
	}
	return d
}

// As seen with Apache Kafka 4.0.2: the assignment's record is written, ListGroups is asked 4 ms later and still answers
// CompletingRebalance, for the record is not replicated yet, and it is read 21 ms after it was written. That is no second
// rebalance, whichever of the two is known first, and the next one has its own time and cause.
func TestARecordThatIsBeingReplicatedIsNoRebalance(t *testing.T) {
	for _, pollFirst := range []bool{false, true} {
		l := live(t)
		l.after(1_000).write(generation("g", 1, l.now-4, who{id: "a-1", has: []int32{0, 1}}))
		second := generation("g", 2, l.now+127, who{id: "a-1", has: []int32{0}}, who{id: "b-1", has: []int32{1}})
		second.TimestampMs = l.now + 130
		l.after(144)
		moves := l.moves(event.CompletingRebalance, 10)
		l.all = nil
		if pollFirst {
			l.see(moves)
			l.after(7).write(second)
		} else {
			l.after(7).write(second)
			l.see(moves)
		}
		if n := len(of[event.RebalanceStarted](l.all)); n != 1 || len(l.tl.InMotion()) != 0 {
			t.Errorf("poll first %t: %d rebalances began, %v in motion:\n%s", pollFirst, n, l.tl.InMotion(), lines(l.all))
		}
		l.see(describedAs(event.Stable, l.now+147, l.now+149, "a-1", "b-1"))
		for range 6 {
			l.after(333).see(l.rests(3))
		}
		l.all = nil
		l.after(60).write(generation("g", 3, l.now-2, who{id: "a-1", has: []int32{0}}, who{id: "b-1", has: []int32{1}}, who{id: "c-1"}))
		for _, e := range l.all {
			if c, is := e.Body.(event.CauseInferred); is && (c.Why != event.WhyNewMember || c.Member != "c-1" || e.AtMs != l.now-63 || e.AtHiMs != l.now-2) {
				t.Errorf("poll first %t: %s", pollFirst, e)
			}
		}
		one[event.RebalanceStarted](t, l.all)
	}
}

// A killed member goes when its session is over, however its last generation was seen to settle. It was told as one that had
// left by itself before it was killed.
func TestAKillIsNotTakenForTheRebalanceBefore(t *testing.T) {
	l := live(t)
	first := generation("g", 1, l.now+997, who{id: "a-1", has: []int32{0}, sessionMs: 2_000}, who{id: "b-1", has: []int32{1}, sessionMs: 2_000})
	first.TimestampMs = l.now + 1_000
	l.after(1_014)
	moves := l.moves(event.CompletingRebalance, 10)
	l.after(7).write(first)
	l.see(moves)
	for range 6 {
		l.after(333).see(l.rests(3))
	}
	rested := l.now - 3
	l.all = nil
	l.after(62).write(generation("g", 2, l.now-2, who{id: "a-1", has: []int32{0, 1}, sessionMs: 2_000}))
	for _, e := range l.all {
		if c, is := e.Body.(event.CauseInferred); is && (c.Why != event.WhySessionExpired || c.Member != "b-1" || e.AtMs != rested) {
			t.Errorf("%s", e)
		}
	}
	one[event.CauseInferred](t, l.all)
	one[event.RebalanceStarted](t, l.all)
}

// A rebalance that was seen to be over without a record is not the one of the next record: that began after the group
// was seen at rest, where it was seen to begin if it was.
func TestARestLiesBetweenTwoRebalances(t *testing.T) {
	for _, seen := range []bool{false, true} {
		l := live(t)
		l.after(1_000).write(generation("g", 1, l.now-3, who{id: "a-1", has: []int32{0}}))
		l.after(400).see(l.moves(event.CompletingRebalance, 10))
		l.after(250).see(l.rests(10))
		rested := l.now - 10
		hi := l.now + 340
		if seen {
			hi = l.after(250).now
			l.see(l.moves(event.PreparingRebalance, 10))
		}
		l.now = rested + 10 + 345
		l.all = nil
		l.write(generation("g", 2, l.now-5, who{id: "a-1", has: []int32{0}}, who{id: "c-1", has: []int32{1}}))
		for _, e := range l.all {
			if c, is := e.Body.(event.CauseInferred); is && (e.AtMs != rested || e.AtHiMs != hi || c.Why != event.WhyNewMember || c.Member != "c-1") {
				t.Errorf("seen %t: not from %d to %d: %s", seen, rested, hi, e)
			}
		}
		one[event.RebalanceStarted](t, l.all)
		one[event.CauseInferred](t, l.all)
		s := of[event.StateChanged](l.all)
		if s[0].From != event.CompletingRebalance || s[0].To != event.Stable || s[len(s)-1].To != event.Stable || len(l.tl.InMotion()) != 0 {
			t.Errorf("seen %t: %s", seen, lines(l.all))
		}
	}
}

// Where a group was seen completing and then preparing and the number rises by one, what completed was the generation before.
func TestWhatCompletedWasTheGenerationBefore(t *testing.T) {
	l := live(t)
	l.after(1_000).write(generation("g", 1, l.now-3, who{id: "a-1", has: []int32{0}}))
	l.after(400).see(l.moves(event.CompletingRebalance, 10))
	l.see(describedAs(event.CompletingRebalance, l.now+1, l.now+2, "a-1"))
	l.after(250).see(l.moves(event.PreparingRebalance, 10))
	l.see(describedAs(event.PreparingRebalance, l.now+1, l.now+2, "a-1", "c-1"))
	lo, hi := l.now-249, l.now
	l.all = nil
	l.after(100).write(generation("g", 2, l.now-5, who{id: "a-1", has: []int32{0}}, who{id: "c-1", has: []int32{1}}))
	for _, e := range l.all {
		if c, is := e.Body.(event.CauseInferred); is && (e.AtMs != lo || e.AtHiMs != hi || c.Why != event.WhyNewMember || c.Confidence != event.High) {
			t.Errorf("not from %d to %d: %s", lo, hi, e)
		}
	}
	one[event.CauseInferred](t, l.all)
	if len(of[event.RebalanceStarted](l.all)) != 0 || len(l.tl.InMotion()) != 0 {
		t.Errorf("it was told when it was seen: %s", lines(l.all))
	}
}

// Who is first seen in a rebalance long after that was under way may have joined one that another began.
func TestAJoinThatWasSeenLateIsNotSure(t *testing.T) {
	for _, x := range []struct {
		lookMs int64 // after the rebalance was seen; 0: never
		want   event.Confidence
	}{{5, event.High}, {2_500, event.Medium}, {0, event.Medium}} {
		l := live(t)
		l.after(1_000).write(generation("g", 1, l.now-3, who{id: "a-1", has: []int32{0}}))
		l.after(5_000).see(l.rests(10))
		l.after(250).see(l.moves(event.PreparingRebalance, 10))
		seen := l.now
		if x.lookMs > 0 {
			l.after(x.lookMs).see(describedAs(event.PreparingRebalance, l.now-4, l.now, "a-1", "c-1"))
		}
		l.now, l.all = seen+3_000, nil
		l.write(generation("g", 2, l.now-5, who{id: "a-1", has: []int32{0}}, who{id: "c-1", has: []int32{1}}))
		if c := one[event.CauseInferred](t, l.all); c.Why != event.WhyNewMember || c.Member != "c-1" || c.Confidence != x.want {
			t.Errorf("looked after %d ms: %+v", x.lookMs, c)
		}
	}
}
