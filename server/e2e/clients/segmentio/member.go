package main

import (
	"context"
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
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{ID: q.Group, Brokers: s.bootstrap, Topics: []string{q.Topic},
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
		m.mu.Lock()
		if err != nil {
			m.failure = err
			m.mu.Unlock()
			return
		}
		m.generation = g
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
	r.Assigns, r.Revoked = m.assigns, m.revoked
	if m.generation != nil {
		for _, p := range m.generation.Assignments[m.topic] {
			r.Partitions = append(r.Partitions, p.ID)
		}
	}
	return r, m.failure
}

func (m *member) commit(q agent.Request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	offsets := map[int]int64{}
	for _, p := range m.generation.Assignments[m.topic] {
		offsets[p.ID] = q.Offset
	}
	return m.generation.CommitOffsets(map[string]map[int]int64{m.topic: offsets})
}
