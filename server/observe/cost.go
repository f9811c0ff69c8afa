package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// costEvery is how often the cost is told.
const costEvery = 5 * time.Second

// cost counts what is sent to the brokers and what comes back. It is a hook of the client.
type cost struct {
	mu    sync.Mutex
	since time.Time
	of    map[int32]*spent
	// total is since the start, for figures.
	requests, bytes int64
	// last is what was told last; the loop's.
	last event.CostMeasured
}

type spent struct {
	requests, bytes int64
	trips           []int64 // microseconds
}

func newCost() *cost { return &cost{since: time.Now(), of: map[int32]*spent{}} }

var _ interface {
	kgo.HookBrokerWrite
	kgo.HookBrokerRead
	kgo.HookBrokerE2E
} = (*cost)(nil)

// at is a broker's row. A seed has no number yet: it is 0.
func (c *cost) at(meta kgo.BrokerMetadata) *spent {
	id := max(meta.NodeID, 0)
	if c.of[id] == nil {
		c.of[id] = &spent{}
	}
	return c.of[id]
}

// OnBrokerWrite counts a request, those with which a connection begins included.
func (c *cost) OnBrokerWrite(meta kgo.BrokerMetadata, _ int16, n int, _, _ time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(meta)
	s.requests, s.bytes = s.requests+1, s.bytes+int64(n)
	c.requests, c.bytes = c.requests+1, c.bytes+int64(n)
}

// OnBrokerRead counts the bytes of an answer.
func (c *cost) OnBrokerRead(meta kgo.BrokerMetadata, _ int16, n int, _, _ time.Duration, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at(meta).bytes += int64(n)
	c.bytes += int64(n)
}

// OnBrokerE2E takes the time from a request to its answer. A Fetch waits at the broker until there is something.
func (c *cost) OnBrokerE2E(meta kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.at(meta); key != fetchKey && e2e.Err() == nil && len(s.trips) < 1000 {
		s.trips = append(s.trips, e2e.DurationE2E().Microseconds())
	}
}

// measure is what was spent since the last time.
func (c *cost) measure() event.CostMeasured {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	m := event.CostMeasured{IntervalMs: now.Sub(c.since).Milliseconds(), Brokers: []event.BrokerCost{}}
	for id, s := range c.of {
		b := event.BrokerCost{Broker: id, Requests: s.requests, Bytes: s.bytes}
		if len(s.trips) > 0 {
			slices.Sort(s.trips)
			b.RoundTripUs = s.trips[len(s.trips)/2]
		}
		m.Brokers = append(m.Brokers, b)
	}
	slices.SortFunc(m.Brokers, func(a, b event.BrokerCost) int { return int(a.Broker - b.Broker) })
	c.since, c.of = now, map[int32]*spent{}
	return m
}

// tellCost publishes what the observer costs.
func (o *Observer) tellCost(ctx context.Context) {
	for pause(ctx, costEvery) == nil {
		m := o.cost.measure()
		_ = o.do(ctx, func(*timeline.Timeline) {
			o.cost.last = m
			o.cfg.Publish([]event.Event{{Seq: o.numbers.Next(), AtMs: o.NowMs(), Body: m}})
		})
	}
}

// Spent is how many requests were sent since the start, and the bytes of them and of their answers.
func (o *Observer) Spent() (requests, bytes int64) {
	o.cost.mu.Lock()
	defer o.cost.mu.Unlock()
	return o.cost.requests, o.cost.bytes
}
