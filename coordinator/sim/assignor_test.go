package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// three is a world of consumers c1 to c3 of one group over six partitions, started one after the other and settled.
func three(t *testing.T, assignors ...[]string) *World {
	t.Helper()
	w, err := New(Config{Seed: 3, Set: []Setting{{"group.initial.rebalance.delay.ms", "0"}, {"offsets.topic.num.partitions", "1"}}})
	must(t, err)
	must(t, w.CreateTopic("orders", 6))
	for i, list := range assignors {
		name := fmt.Sprintf("c%d", i+1)
		must(t, w.AddConsumer(ConsumerConfig{Name: name, Group: "g", Topics: []string{"orders"}, SessionTimeoutMs: 10_000, Assignors: list}))
		must(t, w.Start(name))
		w.AdvanceTo(w.NowMs() + 20_000)
	}
	return w
}

// owners prints who has what.
func owners(w *World) string {
	var parts []string
	for _, c := range w.consumers {
		var list []int32
		for _, p := range c.assigned {
			list = append(list, p.partition)
		}
		parts = append(parts, fmt.Sprintf("%s %v", c.cfg.Name, list))
	}
	return strings.Join(parts, ", ")
}

func TestAssignorsOfAGroup(t *testing.T) {
	one := func(name string) [][]string { return [][]string{{name}, {name}, {name}} }
	for _, x := range []struct {
		name            string
		assignors       [][]string
		protocol        string
		want, afterKill string
	}{
		{"by default", [][]string{nil, nil, nil}, "range", "c1 [0 1], c2 [2 3], c3 [4 5]", "c1 [0 1 2], c2 [], c3 [3 4 5]"},
		{"roundrobin", one("roundrobin"), "roundrobin", "c1 [0 3], c2 [1 4], c3 [2 5]", "c1 [0 2 4], c2 [], c3 [1 3 5]"},
		{"sticky", one("sticky"), "sticky", "c1 [0 1], c2 [3 4], c3 [2 5]", "c1 [0 1 3], c2 [], c3 [2 4 5]"},
		{"cooperative-sticky", one("cooperative-sticky"), "cooperative-sticky", "c1 [0 1], c2 [3 4], c3 [2 5]", "c1 [0 1 3], c2 [], c3 [2 4 5]"},
		{"what all have in common", [][]string{{"cooperative-sticky", "roundrobin"}, {"range", "roundrobin"}, {"sticky", "roundrobin"}}, "roundrobin",
			"c1 [0 3], c2 [1 4], c3 [2 5]", "c1 [0 2 4], c2 [], c3 [1 3 5]"},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := three(t, x.assignors...)
			for _, c := range w.consumers {
				if c.protocol != x.protocol {
					t.Errorf("%s has the protocol %q, want %q", c.cfg.Name, c.protocol, x.protocol)
				}
			}
			got := owners(w)
			must(t, w.Kill("c2"))
			w.AdvanceTo(w.NowMs() + 30_000)
			if after := owners(w); got != x.want || after != x.afterKill {
				t.Errorf("owners are %s and after a death %s; want %s and %s", got, after, x.want, x.afterKill)
			}
		})
	}
}

// A cooperative consumer gives up what it must and nothing else, and goes on with the rest: the positions of what it
// keeps grow all through a rebalance.
func TestACooperativeConsumerGoesOn(t *testing.T) {
	w := three(t, []string{"cooperative-sticky"})
	w.Take()
	must(t, w.AddConsumer(ConsumerConfig{Name: "c2", Group: "g", Topics: []string{"orders"}, Assignors: []string{"cooperative-sticky"}}))
	must(t, w.Start("c2"))
	c := w.find("c1")
	before, from := c.assigned[0], w.nowMs
	w.AdvanceTo(from + 20_000)
	if p := c.assigned[0]; p.at(w.nowMs, 1) != before.at(from, 1)+20 {
		t.Errorf("orders-0 stood still: from %d to %d in 20 s", before.at(from, 1), p.at(w.nowMs, 1))
	}
	var told []string
	for _, e := range w.Take() {
		switch b := e.Body.(type) {
		case event.ClientRevoked, event.ClientAssigned:
			told = append(told, strings.TrimPrefix(e.String(), "00:00:"))
		case event.RequestSent:
			if b.Client == "c1" && b.API == joinGroupKey {
				told = append(told, "c1 joins")
			}
		}
	}
	want := []string{
		"c1 joins", "ClientRevoked c1: orders-3,4,5", "ClientAssigned c1 generation 2: orders-0,1,2 new: none", "ClientAssigned c2 generation 2: none new: none",
		"c1 joins", "ClientAssigned c1 generation 3: orders-0,1,2 new: none", "ClientAssigned c2 generation 3: orders-3,4,5 new: orders-3,4,5",
	}
	if len(told) != len(want) {
		t.Fatalf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	for i := range want {
		if !strings.HasSuffix(told[i], want[i]) {
			t.Errorf("told %q, want %q", told[i], want[i])
		}
	}
}

// A cooperative consumer that is no member any more has lost everything, and takes part again like a new one.
func TestACooperativeConsumerLosesEverythingWithItsMembership(t *testing.T) {
	w := three(t, []string{"cooperative-sticky"}, []string{"cooperative-sticky"})
	must(t, w.Pause("c2"))
	w.AdvanceTo(w.NowMs() + 30_000)
	w.Take()
	must(t, w.Resume("c2"))
	w.AdvanceTo(w.NowMs() + 30_000)
	if !slices.ContainsFunc(w.Take(), func(e event.Event) bool {
		b, ok := e.Body.(event.ClientRevoked)
		return ok && b.Lost && b.Client == "c2" && len(b.Topics[0].Partitions) == 3
	}) {
		t.Error("c2 did not lose its partitions")
	}
	if got := owners(w); got != "c1 [0 1 2], c2 [3 4 5]" {
		t.Errorf("owners are %s", got)
	}
}

func TestStaticMembersSayNothingWhenTheyLeave(t *testing.T) {
	w, c := stable(t)
	c.cfg.InstanceID, c.cfg.AutoCommitMs = "i1", -1
	must(t, w.Stop("c1"))
	w.AdvanceTo(w.NowMs() + 100)
	events := w.Take()
	for _, e := range events {
		if b, ok := e.Body.(event.RequestSent); ok && b.API == leaveGroupKey {
			t.Error("it sent LeaveGroup")
		}
	}
	if !has(events, "ClientStopped") {
		t.Error("it did not end")
	}
}

func TestAssignorAndInstanceErrors(t *testing.T) {
	for _, x := range []struct {
		cfg  ConsumerConfig
		want string
	}{
		{ConsumerConfig{Assignors: []string{"stick"}}, `no assignor is called "stick"; there are range, roundrobin, sticky, cooperative-sticky`},
		{ConsumerConfig{Assignors: []string{"range", "range"}}, "it has the assignor range twice"},
		{ConsumerConfig{InstanceID: "a b"}, `no instance can be called "a b"`},
		{ConsumerConfig{TransactionalID: "a b"}, `no transactional id can be "a b"`},
		{ConsumerConfig{TransactionalID: "tx", AutoCommitMs: -1}, "a transactional consumer needs an interval"},
		{ConsumerConfig{InstanceID: "i", JoinVersion: 4}, "JoinGroup v4 cannot carry an instance id"},
	} {
		x.cfg.Name, x.cfg.Group, x.cfg.Topics = "c1", "g", []string{"orders"}
		if _, err := x.cfg.withDefaults(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}
