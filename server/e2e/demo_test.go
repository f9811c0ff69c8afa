package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"grouplab/server/app"
	"grouplab/server/demo"
)

// TestDemo: its consumers are a group like any other; a killed one stays a ghost, a stopped one leaves, and a name is
// taken again by the next.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 3, Demo: 2,
		Set: []string{"group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=500", "group.max.session.timeout.ms=8000", "broker.session.timeout.ms=1000"}})
	admin := kadm.NewClient(client(t, s))
	// members waits until the group is stable with these clients, and all partitions are given out.
	members := func(want ...string) {
		t.Helper()
		eventually(t, 20*time.Second, func() error {
			got, state, partitions, err := describe(t, admin)
			if err != nil || state != "Stable" || !slices.Equal(got, want) || partitions != demo.Partitions {
				return fmt.Errorf("the group is %s with %v and %d partitions, %v; want %v", state, got, partitions, err, want)
			}
			return nil
		})
	}
	members("demo-1", "demo-2")
	if names, err := s.Demo().Start(1); err != nil || !slices.Equal(names, []string{"demo-3"}) {
		t.Fatalf("starting one more: %v, %v", names, err)
	}
	members("demo-1", "demo-2", "demo-3")
	if err := s.Demo().Kill("demo-2"); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if got, _, _, err := describe(t, admin); err != nil || !slices.Contains(got, "demo-2") {
		t.Errorf("the ghost is gone at once: %v, %v", got, err)
	}
	members("demo-1", "demo-3")
	if gone := time.Since(killed); gone < 4*time.Second {
		t.Errorf("the ghost was gone after %v; its session is 8 s", gone)
	}
	want := []demo.Client{{Name: "demo-1", Running: true}, {Name: "demo-2", Killed: true}, {Name: "demo-3", Running: true}, {Name: "demo-producer", Running: true}}
	if got := s.Demo().List(); !slices.Equal(got, want) {
		t.Errorf("the list is %+v, want %+v", got, want)
	}
	if err := s.Demo().Stop("demo-1"); err != nil {
		t.Fatal(err)
	}
	if got, _, _, err := describe(t, admin); err != nil || slices.Contains(got, "demo-1") {
		t.Errorf("the one that left is still there: %v, %v", got, err)
	}
	for _, err := range []error{s.Demo().Kill("demo-1"), s.Demo().Stop("demo-2")} {
		if err == nil {
			t.Error("an ended consumer was ended again")
		}
	}
	if err := s.Demo().Kill("demo-producer"); !errors.Is(err, demo.ErrUnknown) {
		t.Errorf("killing the producer: %v", err)
	}
	if names, err := s.Demo().Start(2); err != nil || !slices.Equal(names, []string{"demo-1", "demo-2"}) {
		t.Fatalf("starting two again: %v, %v", names, err)
	}
	members("demo-1", "demo-2", "demo-3")
	eventually(t, 20*time.Second, func() error {
		lag, err := admin.FetchOffsets(t.Context(), demo.Group)
		if err != nil {
			return err
		}
		for p := range int32(demo.Partitions) {
			if o, ok := lag.Lookup(demo.Topic, p); !ok || o.At < 1 {
				return fmt.Errorf("nothing of demo-%d is committed", p)
			}
		}
		return nil
	})
	if _, err := s.Demo().Start(demo.Most); err == nil {
		t.Error("more than the most were started")
	}
}

// describe returns the group's client ids, sorted, its state, and how many partitions its members have.
func describe(t *testing.T, admin *kadm.Client) (clients []string, state string, partitions int, err error) {
	groups, err := admin.DescribeGroups(t.Context(), demo.Group)
	if err != nil {
		return nil, "", 0, err
	}
	g := groups[demo.Group]
	for _, m := range g.Members {
		clients = append(clients, m.ClientID)
		if a, ok := m.Assigned.AsConsumer(); ok {
			for _, topic := range a.Topics {
				partitions += len(topic.Partitions)
			}
		}
	}
	slices.Sort(clients)
	return clients, g.State, partitions, g.Err
}
