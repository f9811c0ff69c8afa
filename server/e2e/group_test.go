package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/app"
)

// quick are settings for tests that should not wait for people's patience.
var quick = []string{"group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=500", "broker.session.timeout.ms=1000"}

// client is a franz-go client that ends with the test.
func client(t testing.TB, s *app.Server, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(s.KafkaAddrs()...), kgo.MetadataMinAge(50 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond })}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// fill produces so many records to each of the six partitions.
func fill(t testing.TB, cl *kgo.Client, topic string, each int) {
	t.Helper()
	var records []*kgo.Record
	for i := range each {
		for p := range int32(6) {
			records = append(records, &kgo.Record{Topic: topic, Partition: p, Value: fmt.Appendf(nil, "%d-%d", p, i)})
		}
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func byHand() kgo.Opt { return kgo.RecordPartitioner(kgo.ManualPartitioner()) }

// committed demands what a group has committed, partition by partition.
func committed(t testing.TB, cl *kgo.Client, group, topic string, want map[int]int) error {
	t.Helper()
	got, err := kadm.NewClient(cl).FetchOffsets(t.Context(), group)
	if err != nil {
		return err
	}
	for p, offset := range want {
		if o, ok := got.Lookup(topic, int32(p)); !ok || o.Err != nil || o.At != int64(offset) {
			return fmt.Errorf("%s-%d: committed %d (%v), want %d", topic, p, o.At, o.Err, offset)
		}
	}
	return nil
}

func allAt(n int) map[int]int {
	ends := map[int]int{}
	for p := range 6 {
		ends[p] = n
	}
	return ends
}

// TestKilledConsumerIsAGhostUntilItsSessionEnds is the scene that the lab exists for, with librdkafka: two members share
// six partitions, one is killed with SIGKILL, and the other has nothing of it until the session is over, and then all.
func TestKilledConsumerIsAGhostUntilItsSessionEnds(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 3, quick...)
	cl := client(t, s, byHand())
	fill(t, cl, "orders", 20)
	const session = 8 * time.Second
	a := joinKcat(t, s.KafkaAddrs(), "shared", "orders", "session.timeout.ms=8000")
	b := joinKcat(t, s.KafkaAddrs(), "shared", "orders", "session.timeout.ms=8000")
	eventually(t, 20*time.Second, func() error {
		all := append(a.assignment(), b.assignment()...)
		if slices.Sort(all); len(a.assignment()) != 3 || !slices.Equal(all, []int{0, 1, 2, 3, 4, 5}) {
			return fmt.Errorf("a has %v, b has %v", a.assignment(), b.assignment())
		}
		return missing(allAt(20), a, b)
	})
	killed := time.Now()
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	fill(t, cl, "orders", 20)
	eventually(t, 20*time.Second, func() error {
		if got := b.assignment(); len(got) != 6 {
			return fmt.Errorf("the survivor has %v", got)
		}
		return nil
	})
	// Its last heartbeat was up to one interval before the kill, and more where the machine is busy.
	if waited := time.Since(killed); waited < session/2 {
		t.Errorf("the ghost's partitions went after %v, before its session of %v was over", waited, session)
	}
	eventually(t, 20*time.Second, func() error {
		if err := missing(allAt(40), a, b); err != nil {
			return err
		}
		return committed(t, cl, "shared", "orders", allAt(40))
	})
}

// TestLeavingHandsOverAtOnce: with LeaveGroup nobody waits for a session.
func TestLeavingHandsOverAtOnce(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 3, quick...)
	a := joinKcat(t, s.KafkaAddrs(), "polite", "orders", "session.timeout.ms=240000")
	b := joinKcat(t, s.KafkaAddrs(), "polite", "orders", "session.timeout.ms=240000")
	eventually(t, 20*time.Second, func() error {
		if len(a.assignment()) != 3 || len(b.assignment()) != 3 {
			return fmt.Errorf("a has %v, b has %v", a.assignment(), b.assignment())
		}
		return nil
	})
	if err := a.cmd.Process.Signal(terminate); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, func() error {
		if got := b.assignment(); len(got) != 6 {
			return fmt.Errorf("the one who stayed has %v", got)
		}
		return nil
	})
}

// TestBrokersDieAndNothingAcknowledgedIsLost kills the group's coordinator, and then the next one, while records are
// produced with acks=all and consumed by a group of a franz-go and a librdkafka member. Every record that was acknowledged is consumed, and what is committed
// at the end covers all of it.
func TestBrokersDieAndNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 3, quick...)
	producer := client(t, s, byHand(), kgo.ProducerLinger(0))
	admin := kadm.NewClient(producer)
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	sink := newSink()
	consume(t, s, "orders-svc", sink, kgo.SessionTimeout(20*time.Second), kgo.HeartbeatInterval(200*time.Millisecond))
	rdkafka := joinKcat(t, s.KafkaAddrs(), "orders-svc", "orders", "session.timeout.ms=20000", "partition.assignment.strategy=cooperative-sticky")
	acknowledged := make([]int, 6) // records each partition must give back
	produceSome := func() {
		for i := range 60 {
			p := int32(i % 6)
			r := &kgo.Record{Topic: "orders", Partition: p, Value: fmt.Appendf(nil, "%d-%d", p, acknowledged[p])}
			if err := producer.ProduceSync(ctx, r).FirstErr(); err != nil {
				t.Fatal(err)
			}
			acknowledged[p]++
		}
	}
	whole := func() error {
		for p, n := range acknowledged {
			for i := range n {
				// The idempotent producer writes nothing twice, so a record's number is its offset.
				if v := fmt.Sprintf("%d-%d", p, i); !sink.has(v) && !rdkafka.saw(p, i) {
					return fmt.Errorf("record %s was acknowledged and nobody has consumed it", v)
				}
			}
		}
		return nil
	}
	produceSome()
	eventually(t, 30*time.Second, whole)
	for range 2 {
		found := admin.FindGroupCoordinators(ctx, "orders-svc")
		node := found["orders-svc"].NodeID
		if found["orders-svc"].Err != nil || node < 1 {
			t.Fatalf("no coordinator: %v", found)
		}
		if err := s.KillBroker(node); err != nil {
			t.Fatal(err)
		}
		if err := s.KillBroker(node); err == nil || !strings.Contains(err.Error(), "does not run") {
			t.Fatalf("killing a dead broker: %v", err)
		}
		produceSome()
		eventually(t, 30*time.Second, whole)
		eventually(t, 30*time.Second, func() error {
			if now := admin.FindGroupCoordinators(ctx, "orders-svc")["orders-svc"]; now.Err != nil || now.NodeID == node {
				return fmt.Errorf("the coordinator is still %v", now)
			}
			return nil
		})
		if err := s.RestartBroker(node); err != nil {
			t.Fatal(err)
		}
		if err := s.RestartBroker(node); err == nil || !strings.Contains(err.Error(), "runs") {
			t.Fatalf("restarting a running broker: %v", err)
		}
		produceSome()
		eventually(t, 30*time.Second, whole)
		inSync(t, s, admin)
	}
	eventually(t, 30*time.Second, func() error {
		want := map[int]int{}
		for p, n := range acknowledged {
			want[p] = n
		}
		return committed(t, producer, "orders-svc", "orders", want)
	})
}

// inSync waits until every partition has all its replicas in sync, so that the next kill takes nothing away.
func inSync(t *testing.T, s *app.Server, admin *kadm.Client) {
	t.Helper()
	eventually(t, 30*time.Second, func() error {
		topics, err := admin.ListTopicsWithInternal(t.Context())
		if err != nil {
			return err
		}
		for name, topic := range topics {
			for _, p := range topic.Partitions {
				if len(p.ISR) != len(p.Replicas) || p.Leader < 1 {
					return fmt.Errorf("%s-%d: leader %d, in sync %v of %v", name, p.Partition, p.Leader, p.ISR, p.Replicas)
				}
			}
		}
		return nil
	})
}
