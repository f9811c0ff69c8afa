package timeline_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
	"grouplab/static/view"
)

// seen is what the page's fold makes of events, as far as an observer says it.
func seen(events []event.Event) map[string]string {
	m := view.NewModel()
	for _, e := range events {
		m.Apply(e)
	}
	groups := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Groups)) {
		g := m.Groups[name]
		if g.Gone {
			continue
		}
		text := fmt.Sprintf("%s generation %d at broker %d leader %s", g.State, g.Generation, g.Broker, g.Leader)
		var members []string
		for _, mb := range g.Present() {
			members = append(members, fmt.Sprintf(" %s/%s %d/%d %v %s", mb.ID, mb.InstanceID, mb.SessionTimeoutMs, mb.RebalanceTimeoutMs, mb.Topics, event.Partitions(mb.Assigned)))
		}
		slices.Sort(members)
		for _, o := range g.Offsets {
			text += fmt.Sprintf(" %s-%d=%d(%v)", o.Topic, o.Partition, o.Committed, len(o.Txn))
		}
		groups[name] = text + fmt.Sprint(members)
	}
	return groups
}

// The facts rebuild for a late viewer what the events have built for those who were there, at any moment.
func TestFactsRebuildThePicture(t *testing.T) {
	for seed := range uint64(4) {
		w := newWorld(t, true)
		for i, c := range commandsOf(t, "chance", chance(seed+100)) {
			_ = w.do(c)
			if i%5 > 0 || len(w.leads) == 0 {
				continue
			}
			facts := append([]event.Event{{Body: event.FactsBegan{NowMs: w.e.NowMs()}}}, w.tl.Facts(w.e.NowMs())...)
			facts = append(facts, event.Event{Body: event.FactsEnded{}})
			got, want := seen(facts), seen(w.events)
			for name := range want {
				if got[name] != want[name] {
					t.Fatalf("seed %d after %s, %s:\nfacts  %s\nevents %s", seed, c.Raw, name, got[name], want[name])
				}
			}
		}
	}
}

// The same observations give the same events.
func TestDeterministic(t *testing.T) {
	run := func() string {
		w := newWorld(t, true)
		for _, c := range commandsOf(t, "chance", chance(5)) {
			_ = w.do(c)
		}
		return lines(w.events) + lines(w.tl.Facts(w.e.NowMs()))
	}
	if a, b := run(), run(); a != b {
		t.Error("two runs differ")
	}
}

// Every Seq is used once, in order; every event goes through JSON.
func TestEventsAreWellFormed(t *testing.T) {
	l := modernGroup(t)
	l.write(generation("c", 1, l.now, who{id: "c1-a", has: []int32{0}}), commit("c", "orders", 0, 1, l.now))
	l.see(timeline.LogEnds{Topic: "orders", AskedMs: l.now, AnsweredMs: l.now, Partitions: []timeline.LogEnd{{End: 3}}})
	last := int64(0)
	for _, e := range l.all {
		if e.Seq <= last || e.AtHiMs != 0 && e.AtHiMs <= e.AtMs {
			t.Errorf("after %d: %v", last, e)
		}
		last = e.Seq
		data, err := e.MarshalJSON()
		var back event.Event
		if err != nil || back.UnmarshalJSON(data) != nil || back.String() != e.String() {
			t.Errorf("%v: %v", e, err)
		}
	}
}
