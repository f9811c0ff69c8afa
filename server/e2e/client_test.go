package e2e

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/app"
)

const terminate = syscall.SIGTERM

// sink collects the values that consumers read.
type sink struct {
	mu   sync.Mutex
	seen map[string]int
}

func newSink() *sink { return &sink{seen: map[string]int{}} }

func (s *sink) add(r *kgo.Record) {
	s.mu.Lock()
	s.seen[string(r.Value)]++
	s.mu.Unlock()
}

func (s *sink) has(value string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[value] > 0
}

// consume runs a franz-go consumer of orders until the test ends.
func consume(t testing.TB, s *app.Server, group string, into *sink, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cl := client(t, s, append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics("orders"), kgo.AutoCommitInterval(200 * time.Millisecond),
		kgo.FetchMaxWait(500 * time.Millisecond)}, options...)...)
	var polling sync.WaitGroup
	polling.Go(func() {
		for ctx.Err() == nil {
			cl.PollFetches(ctx).EachRecord(into.add)
		}
	})
	t.Cleanup(func() { stop(); polling.Wait() })
	return cl
}
