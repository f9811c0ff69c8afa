package sim

import (
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// path are the kinds from the last fact of a kind that fits back to its root.
func path(t *testing.T, facts []event.Event, fits func(event.Body) bool) []string {
	t.Helper()
	bySeq := map[int64]*event.Event{}
	var last *event.Event
	for i := range facts {
		bySeq[facts[i].Seq] = &facts[i]
		if fits(facts[i].Body) {
			last = &facts[i]
		}
	}
	var kinds []string
	for e := last; e != nil; e = bySeq[e.Cause] {
		if e.Cause >= e.Seq {
			t.Fatalf("%s is due to fact %d, which is not before it", e, e.Cause)
		}
		kinds = append(kinds, e.Body.Kind())
	}
	return kinds
}

// What happens to brokers, leaderships and loads is due to what was done, link by link.
func TestAChainOfCausesEndsAtWhatWasDone(t *testing.T) {
	w := group(t, 2, Config{})
	w.AdvanceTo(20_000) // the group has met
	facts := w.Take()
	dies := int32(0)
	for _, e := range facts {
		if _, ok := e.Body.(event.GroupCreated); ok {
			dies = e.Broker
		}
	}
	w.Input("kill-broker")
	if err := w.KillBroker(dies); err != nil {
		t.Fatal(err)
	}
	w.AdvanceTo(60_000)
	w.Input("restart-broker")
	if err := w.RestartBroker(dies); err != nil {
		t.Fatal(err)
	}
	w.Input("add-partitions orders 12")
	if err := w.AddPartitions("orders", 12); err != nil {
		t.Fatal(err)
	}
	facts = append(facts, w.Take()...)
	for _, c := range []struct {
		name string
		fits func(event.Body) bool
		want []string
	}{
		{"load after a failover", func(b event.Body) bool { x, ok := b.(event.LoadFinished); return ok && x.Epoch > 0 && x.Groups > 0 },
			[]string{"LoadFinished", "LoadStarted", "LeaderChanged", "BrokerFenced", "BrokerStopped", "InputGiven"}},
		{"lost coordinator", func(b event.Body) bool {
			x, ok := b.(event.CoordinatorLost)
			return ok && strings.HasSuffix(x.Reason, "is unavailable")
		},
			[]string{"CoordinatorLost", "BrokerStopped", "InputGiven"}},
		{"restart", func(b event.Body) bool { x, ok := b.(event.BrokerStarted); return ok && x.ID == dies }, []string{"BrokerStarted", "InputGiven"}},
		{"more partitions", func(b event.Body) bool { _, ok := b.(event.PartitionsAdded); return ok }, []string{"PartitionsAdded", "InputGiven"}},
	} {
		got := path(t, facts, c.fits)
		if len(got) != len(c.want) {
			t.Errorf("%s: the chain is %v, want %v", c.name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: the chain is %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}
