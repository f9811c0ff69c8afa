package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/app"
)

// TestExactlyOnce moves numbers from one topic to another with two franz-go transaction sessions, aborting now and then,
// while the brokers are killed and started one after the other. A reader of committed records sees each number once.
func TestExactlyOnce(t *testing.T) {
	t.Parallel()
	const numbers = 400
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 3, Topics: []app.Topic{{Name: "orders", Partitions: 6}, {Name: "moved", Partitions: 3}},
		Set: append([]string{"group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=500"}, "broker.session.timeout.ms=500", "replica.fetch.backoff.ms=100")})
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	moving, done := context.WithCancel(ctx)
	var movers sync.WaitGroup
	cl := client(t, s)
	movers.Go(func() { // an idempotent producer, for as long as brokers die
		defer func() { // the last number may be through before its producer has heard that it was written
			if err := cl.Flush(ctx); err != nil {
				t.Errorf("flushing: %v", err)
			}
		}()
		for i := range numbers {
			cl.Produce(ctx, &kgo.Record{Topic: "orders", Value: []byte(strconv.Itoa(i))}, func(_ *kgo.Record, err error) {
				if err != nil {
					t.Errorf("producing %d: %v", i, err)
				}
			})
			if sleep(moving, 15*time.Millisecond) != nil {
				return
			}
		}
	})
	for i := range 2 {
		movers.Go(func() { move(moving, t, s, fmt.Sprintf("mover-%d", i)) })
	}
	movers.Go(func() {
		for id := int32(1); id <= 3; id++ {
			if sleep(moving, 700*time.Millisecond) != nil || s.KillBroker(id) != nil || sleep(moving, 1200*time.Millisecond) != nil {
				return
			}
			if err := s.RestartBroker(id); err != nil {
				t.Errorf("starting broker %d: %v", id, err)
			}
		}
	})
	reader := client(t, s, kgo.ConsumeTopics("moved"), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	seen := map[string]int{}
	for len(seen) < numbers && ctx.Err() == nil {
		reader.PollFetches(ctx).EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++ })
	}
	done()
	movers.Wait()
	for i := range numbers {
		if n := seen[strconv.Itoa(i)]; n != 1 {
			t.Errorf("%d was seen %d times", i, n)
		}
	}
	if len(seen) != numbers {
		t.Errorf("%d different numbers arrived, want %d", len(seen), numbers)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// move is one process that consumes, transforms and produces. Every fifth transaction is given up.
func move(ctx context.Context, t *testing.T, s *app.Server, id string) {
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(s.KafkaAddrs()...), kgo.TransactionalID(id), kgo.ConsumerGroup("movers"),
		kgo.ConsumeTopics("orders"), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.SessionTimeout(30*time.Second),
		kgo.FetchMaxWait(200*time.Millisecond), kgo.MetadataMinAge(50*time.Millisecond), kgo.TransactionTimeout(time.Minute),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Error(err)
		return
	}
	defer session.Close()
	for round := 1; ctx.Err() == nil; round++ {
		fetches := session.PollRecords(ctx, 20)
		if fetches.NumRecords() == 0 {
			continue
		}
		if err := session.Begin(); err != nil {
			t.Errorf("%s: beginning: %v", id, err)
			return
		}
		var failed error
		fetches.EachRecord(func(r *kgo.Record) {
			session.Produce(ctx, &kgo.Record{Topic: "moved", Value: r.Value}, func(_ *kgo.Record, err error) {
				failed = errors.Join(failed, err)
			})
		})
		if err := session.Client().Flush(ctx); err != nil {
			failed = err
		}
		commit := kgo.TransactionEndTry(failed == nil && round%5 != 0)
		if _, err := session.End(ctx, commit); err != nil && ctx.Err() == nil {
			t.Logf("%s: ending round %d: %v", id, round, err)
		}
	}
}
