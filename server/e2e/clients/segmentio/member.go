package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"grouplab/server/e2e/clients/agent"
)

// member is a consumer in a group.
type member struct {
	topic string
	group *kafka.ConsumerGroup

	mu               sync.Mutex
	generation       *kafka.Generation
	assigns, revoked int
	failure          error
}

func (s *steps) join(q agent.Request) (*member, error) {
	switch {
	case q.Instance != "":
		return nil, agent.Missing("static members")
	case q.Assignor != "":
		return nil, agent.Missing("cooperative-sticky")
	}
	through, err := dialer()
	if err != nil {
		return nil, err
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: q.Group, Brokers: s.bootstrap, Dialer: through, Topics: []string{q.Topic},
		SessionTimeout: time.Duration(q.SessionMs) * time.Millisecond})
	if err != nil {
		return nil, err
	}
	m := &member{topic: q.Topic, group: group}
	go m.run()
	return m, nil
}

func (m *member) run() {
	for {
		g, err := m.group.Next(context.Background())
		if errors.Is(err, kafka.ErrGroupClosed) {
			return
		}
		m.mu.Lock()
		if err != nil { // it tells, and tries again when it is asked again
			m.failure = err
			m.mu.Unlock()
			continue
		}
		m.generation, m.failure = g, nil
		m.assigns++
		m.mu.Unlock()
		g.Start(func(ctx context.Context) {
			<-ctx.Done()
			m.mu.Lock()
			defer m.mu.Unlock()
			m.revoked += len(g.Assignments[m.topic])
			if m.generation == g {
				m.generation = nil
			}
		})
	}
}

func (m *member) assignment() (r agent.Reply, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.Assigns, r.Revoked, r.Seen = m.assigns, m.revoked, -1
	if m.generation != nil {
		for _, p := range m.generation.Assignments[m.topic] {
			r.Partitions = append(r.Partitions, p.ID)
		}
	}
	return r, nil
}

func (m *member) commit(q agent.Request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.generation == nil {
		return fmt.Errorf("it has no generation; last it was told: %w", m.failure)
	}
	offsets := map[int]int64{}
	for _, p := range m.generation.Assignments[m.topic] {
		offsets[p.ID] = q.Offset
	}
	return m.generation.CommitOffsets(map[string]map[int]int64{m.topic: offsets})
}
