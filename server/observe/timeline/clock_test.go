package timeline_test

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// A broker whose clock is not ours stamps its records otherwise than we count: the page says so, a rebalance that is seen to begin after
// its last record is no earlier one, and deadlines are by our clock.
func TestABrokersClockIsAhead(t *testing.T) {
	const ahead = 30_000
	l := live(t)
	at := func(generationNumber int32, members ...who) []event.Event {
		r := generation("g", generationNumber, l.now+ahead-20, members...)
		r.TimestampMs = l.now + ahead
		return l.write(r)
	}
	l.after(1_000)
	got := at(1, who{id: "c1-a", has: []int32{0, 1}})
	s := one[event.SightChanged](t, got)
	if s.Source != "the clock of broker 1" || s.Reason != "it is about 30 s ahead of ours" || !s.Lost {
		t.Errorf("%+v", s)
	}
	l.after(2_000)
	list := timeline.PollList{Broker: 1, AskedMs: l.now - 5, AnsweredMs: l.now, Filtered: true}
	l.see(list)
	l.after(250)
	list.AskedMs, list.AnsweredMs = l.now-5, l.now
	list.Groups = []timeline.ListedGroup{{Group: "g", State: event.PreparingRebalance, Type: "classic"}}
	began := one[event.RebalanceStarted](t, l.see(list))
	got = l.see(timeline.Described{Broker: 1, AskedMs: l.now - 5, AnsweredMs: l.now, Group: "g", Type: "classic", State: event.PreparingRebalance, ProtocolType: "consumer",
		Members: []timeline.DescribedMember{{Member: "c1-a"}, {Member: "c2-a"}}})
	if a := one[event.AwaitedSeen](t, got); a.DeadlineHiMs < l.now || a.DeadlineHiMs > l.now+int64(began.RebalanceTimeoutMs) {
		t.Errorf("the deadline is %d to %d, it is %d now and at most %d ms are left", a.DeadlineMs, a.DeadlineHiMs, l.now, began.RebalanceTimeoutMs)
	}
	l.after(500)
	got = at(2, who{id: "c1-a", has: []int32{0}}, who{id: "c2-a", has: []int32{1}})
	if n := len(of[event.RebalanceStarted](got)); n != 0 {
		t.Errorf("it was told before: %s", lines(got))
	}
	for _, e := range l.all {
		if b, is := e.Body.(event.RebalanceStarted); is && b.Generation == 1 && (e.AtMs < begun+3_000+ahead-10 || e.AtHiMs > begun+3_250+ahead) {
			t.Errorf("it began between the two looks, by the broker's clock: %d to %d", e.AtMs-begun-ahead, e.AtHiMs-begun-ahead)
		}
	}
}

// A clock that is behind looks like records that are long on their way: only when all come late, for a while, it is called so; and when
// it is right again, that is told.
func TestABrokersClockIsBehind(t *testing.T) {
	l := live(t)
	at := func(skewMs int64) []event.Event {
		l.after(3_000)
		return l.write(commit("g", "orders", 0, 1, l.now+skewMs))
	}
	for i := range 4 {
		if got := of[event.SightChanged](at(-20_000)); len(got) != 0 {
			t.Fatalf("after %d reads: %+v", i+1, got)
		}
	}
	if s := one[event.SightChanged](t, at(-20_000)); !s.Lost || s.Reason != "it is about 20 s behind ours" || !strings.Contains(s.Hides, "by its clock") {
		t.Errorf("%+v", s)
	}
	for range 4 {
		at(-100)
	}
	if s := one[event.SightChanged](t, at(-100)); s.Lost || s.Source != "the clock of broker 1" {
		t.Errorf("it is right again: %+v", s)
	}
	// One read that is late, as after a pause, is no clock.
	for i := range 12 {
		late := int64(-100)
		if i%3 == 0 {
			late = -60_000
		}
		if got := of[event.SightChanged](at(late)); len(got) != 0 {
			t.Fatalf("%+v", got)
		}
	}
}
