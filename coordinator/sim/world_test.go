package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

func TestAgendaIsInOrderOfTimeAndInsertion(t *testing.T) {
	var a agenda
	for i, at := range []int64{5, 3, 5, 1, 3, 5, 0, 3} {
		a.add(at, wakes, int64(i))
	}
	copied := a.clone()
	copied.drop()
	var got []string
	for {
		d, ok := a.first()
		if !ok {
			break
		}
		a.drop()
		got = append(got, fmt.Sprintf("%d:%d", d.atMs, d.ref))
	}
	if want := "0:6 1:3 3:1 3:4 3:7 5:0 5:2 5:5"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if d, _ := copied.first(); d.ref != 3 {
		t.Errorf("a copy shares its heap: first is %+v", d)
	}
}

func TestMemberIDsAreNeverGivenTwice(t *testing.T) {
	for _, seed := range []uint64{0, 1, 7, 1 << 60} {
		id := memberIDs(seed)
		seen := map[string]bool{}
		for broker := int32(1); broker <= 9; broker++ {
			for issued := int64(1); issued <= 10_000; issued++ {
				m := id("c1", broker, issued)
				if seen[m] {
					t.Fatalf("seed %d: %s was given twice", seed, m)
				}
				seen[m] = true
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, x := range []struct {
		cfg  Config
		want string
	}{
		{Config{Brokers: 10}, "there cannot be 10 brokers"},
		{Config{LatencyMs: -1}, "a latency of -1 ms is out of bounds"},
		{Config{LossPPM: 2_000_000}, "a loss of 2000000 in a million"},
		{Config{Set: []Setting{{"session.timeout.ms", "1"}}}, `no setting is called "session.timeout.ms"; there are broker.session.timeout.ms,`},
		{Config{Set: []Setting{{"min.insync.replicas", "many"}}}, `min.insync.replicas is "many"; it takes a whole number from 1 to 9`},
		{Config{Brokers: 1, Set: []Setting{{"offsets.topic.replication.factor", "2"}}}, "but there are 1 brokers"},
		{Config{Brokers: 2, Set: []Setting{{"transaction.state.log.replication.factor", "3"}}}, "but there are 2 brokers"},
	} {
		if _, err := New(x.cfg); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.cfg, err, x.want)
		}
	}
}

func TestActionErrors(t *testing.T) {
	w, _ := stable(t)
	for _, x := range []struct {
		err  error
		want string
	}{
		{w.Start("c1"), "c1 runs already"},
		{w.Start("c9"), `there is no consumer "c9"; there are c1`},
		{w.Resume("c1"), "c1 is not paused"},
		{w.KillBroker(4), "there is no broker 4; there are 1 to 3"},
		{w.RestartBroker(1), "broker 1 runs"},
		{w.AddConsumer(ConsumerConfig{Name: "c1", Group: "g", Topics: []string{"orders"}}), "there is a consumer called c1 already"},
		{w.AddConsumer(ConsumerConfig{Name: "c 2", Group: "g", Topics: []string{"orders"}}), `no consumer can be called "c 2"`},
		{w.AddConsumer(ConsumerConfig{Name: "c2", Topics: []string{"orders"}}), "has no group"},
		{w.AddConsumer(ConsumerConfig{Name: "c2", Group: "g"}), "subscribes to nothing"},
		{w.AddConsumer(ConsumerConfig{Name: "c2", Group: "g", Topics: []string{"nope"}}), `"nope", which does not exist`},
		{w.AddConsumer(ConsumerConfig{Name: "c2", Group: "g", Topics: []string{"orders"}, HeartbeatMs: 50_000}), "must be below its session timeout"},
		{w.AddConsumer(ConsumerConfig{Name: "c2", Group: "g", Topics: []string{"orders"}, JoinVersion: 10}), "it goes from 1 to 9"},
		{w.AddPartitions("orders", 1), "INVALID_PARTITIONS"},
		{w.AddPartitions("nope", 1), "UNKNOWN_TOPIC_OR_PARTITION"},
		{w.Drop("c1", heartbeatKey, -1, false), "cannot be dropped"},
		{w.SetLatency(0), "out of bounds"},
	} {
		if x.err == nil || !strings.Contains(x.err.Error(), x.want) {
			t.Errorf("%v, want %q", x.err, x.want)
		}
	}
}

// group is a world of n members in a group; each joins at its own time.
func group(t testing.TB, n int, cfg Config) *World {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.CreateTopic("orders", int32(2*n)); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := fmt.Sprintf("c%d", i+1)
		if err := w.AddConsumer(ConsumerConfig{Name: name, Group: "g", Topics: []string{"orders"}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Start(name); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// A copy taken at any time goes on identically, and what happens to one does not reach the other.
func TestCloneGoesOnIdentically(t *testing.T) {
	script := func(w *World, i int) {
		switch i {
		case 3:
			must(t, w.Kill("c1"))
		case 5:
			must(t, w.KillBroker(1))
		case 8:
			must(t, w.Restart("c1"))
			must(t, w.Pause("c2"))
		case 12:
			must(t, w.Resume("c2"))
			must(t, w.RestartBroker(1))
		}
	}
	print := func(events []event.Event) (lines []string) {
		for _, e := range events {
			lines = append(lines, fmt.Sprintf("%d %d %s", e.Seq, e.Cause, e))
		}
		return lines
	}
	w := group(t, 4, Config{Seed: 5, LossPPM: 2000})
	var copies []*World
	var want []string
	var from []int
	for i := range 20 {
		copies, from = append(copies, w.Clone()), append(from, len(want))
		copies[i].Take()
		w.Take()
		script(w, i)
		w.AdvanceTo(int64(i+1) * 4000)
		want = append(want, print(w.Take())...)
	}
	for n, c := range copies {
		var got []string
		for i := n; i < 20; i++ {
			script(c, i)
			c.AdvanceTo(int64(i+1) * 4000)
			got = append(got, print(c.Take())...)
		}
		if rest := want[from[n]:]; !slices.Equal(got, rest) {
			for i := range min(len(got), len(rest)) {
				if got[i] != rest[i] {
					t.Fatalf("copy %d differs at event %d:\n got  %s\n want %s", n, i, got[i], rest[i])
				}
			}
			t.Fatalf("copy %d has %d events, not %d", n, len(got), len(rest))
		}
	}
	if len(want) < 1000 {
		t.Errorf("only %d events: nothing happened", len(want))
	}
}

func TestFactsTellOfClientsToo(t *testing.T) {
	w, _ := stable(t)
	must(t, w.Pause("c1"))
	facts := w.Facts()
	list := kinds(facts)
	if list[0] != "FactsBegan" || list[len(list)-1] != "FactsEnded" {
		t.Errorf("facts begin with %s and end with %s", list[0], list[len(list)-1])
	}
	for _, kind := range []string{"BrokerStarted", "TopicCreated", "GroupLoaded", "ClientStarted", "CoordinatorFound", "ClientStateChanged", "ClientAssigned", "ClientPaused"} {
		if !slices.Contains(list, kind) {
			t.Errorf("there is no %s among the facts: %v", kind, list)
		}
	}
}

// What nobody uses any more is forgotten: a long life does not grow the world.
func TestNothingLeaks(t *testing.T) {
	w := group(t, 5, Config{Seed: 6, LossPPM: 20_000})
	for i := range 200 {
		switch i % 20 {
		case 3:
			must(t, w.Restart(fmt.Sprintf("c%d", i%5+1)))
		case 7:
			must(t, w.KillBroker(int32(i/20%3+1)))
		case 14:
			must(t, w.RestartBroker(int32(i/20%3+1)))
		}
		w.AdvanceTo(int64(i+1) * 5000)
		w.Take()
	}
	must(t, w.SetLoss(0))
	w.AdvanceTo(w.NowMs() + 600_000)
	if len(w.calls) > 30 || len(w.conns) > 30 || len(w.messages) > 100 || len(w.agenda.heap) > 200 {
		t.Errorf("%d calls, %d connections, %d messages and %d entries of the agenda are left", len(w.calls), len(w.conns), len(w.messages), len(w.agenda.heap))
	}
}

// The budget: a hundred members live for ten minutes in at most a second, in a tab.
func BenchmarkTenMinutesOfAHundredMembers(b *testing.B) {
	for b.Loop() {
		w := group(b, 100, Config{Seed: 1})
		for w.NowMs() < 600_000 {
			w.AdvanceTo(w.NowMs() + 1000)
			w.Take()
		}
	}
}
