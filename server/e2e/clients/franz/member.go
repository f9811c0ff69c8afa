package main

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/e2e/clients/agent"
)

// member is a consumer in a group.
type member struct {
	client *kgo.Client
	topic  string

	mu               sync.Mutex
	owned            map[int]bool
	assigns, revoked int
	seen             int
}

func (s *steps) join(q agent.Request) (*member, error) {
	m := &member{topic: q.Topic, owned: map[int]bool{}}
	opts := []kgo.Opt{kgo.ConsumerGroup(q.Group), kgo.ConsumeTopics(q.Topic), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(time.Duration(q.SessionMs) * time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, some map[string][]int32) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.assigns++
			for _, p := range some[m.topic] {
				m.owned[int(p)] = true
			}
		}),
		kgo.OnPartitionsRevoked(m.lose), kgo.OnPartitionsLost(m.lose)}
	if q.Instance != "" {
		opts = append(opts, kgo.InstanceID(q.Instance))
	}
	if q.Assignor == "cooperative-sticky" {
		opts = append(opts, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	}
	client, err := s.client(opts...)
	if err != nil {
		return nil, err
	}
	m.client = client
	go func() {
		for {
			some := client.PollFetches(context.Background())
			if some.IsClientClosed() {
				return
			}
			m.mu.Lock()
			m.seen += some.NumRecords()
			m.mu.Unlock()
		}
	}()
	return m, nil
}

func (m *member) lose(_ context.Context, _ *kgo.Client, some map[string][]int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range some[m.topic] {
		delete(m.owned, int(p))
		m.revoked++
	}
}

func (m *member) assignment() agent.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	return agent.Reply{Partitions: slices.Sorted(maps.Keys(m.owned)), Assigns: m.assigns, Revoked: m.revoked, Seen: m.seen}
}

func (m *member) commit(ctx context.Context, q agent.Request) error {
	var all []*kgo.Record
	for _, p := range m.assignment().Partitions {
		all = append(all, &kgo.Record{Topic: m.topic, Partition: int32(p), Offset: q.Offset - 1})
	}
	return m.client.CommitRecords(ctx, all...)
}
