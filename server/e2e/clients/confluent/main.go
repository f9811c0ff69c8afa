// Command confluent plays the scenario with confluent-kafka-go: librdkafka under Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"grouplab/server/e2e/clients/agent"
)

func main() { agent.Serve((&steps{}).do) }

type steps struct {
	bootstrap string
	admin     *kafka.AdminClient
	member    *member
}

func (s *steps) do(q agent.Request) (r agent.Reply, err error) {
	if q.Bootstrap != "" {
		s.bootstrap = q.Bootstrap
	}
	switch q.Do {
	case "hello":
		_, native := kafka.LibraryVersion()
		return agent.Reply{Version: agent.ModuleVersion("github.com/confluentinc/confluent-kafka-go/v2") + " (librdkafka " + native + ")",
			Compressions: []string{"none", "gzip", "snappy", "lz4", "zstd"}}, nil
	case "knock":
		return s.knock()
	case "produce":
		return r, s.produce(q)
	case "read":
		return s.read(q)
	case "join":
		s.member, err = s.join(q)
		return r, err
	case "assignment":
		return s.member.ask(func(m *member) (agent.Reply, error) { return m.assignment() })
	case "commit":
		return s.member.ask(func(m *member) (agent.Reply, error) { return r, m.commit(q) })
	case "leave":
		return s.member.ask(func(m *member) (agent.Reply, error) { m.left = true; return r, m.consumer.Close() })
	case "transaction":
		return r, s.transaction(q)
	}
	if s.admin == nil {
		if s.admin, err = kafka.NewAdminClient(s.with(kafka.ConfigMap{})); err != nil {
			return r, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return s.administer(ctx, q)
}

func (s *steps) administer(ctx context.Context, q agent.Request) (r agent.Reply, err error) {
	switch q.Do {
	case "create":
		done, err := s.admin.CreateTopics(ctx, []kafka.TopicSpecification{{Topic: q.Topic, NumPartitions: q.N}})
		return r, first(done, err)
	case "delete-topic":
		done, err := s.admin.DeleteTopics(ctx, []string{q.Topic})
		return r, first(done, err)
	case "committed":
		got, err := s.admin.ListConsumerGroupOffsets(ctx, []kafka.ConsumerGroupTopicPartitions{{Group: q.Group, Partitions: partitions(q, 0)}})
		if err != nil {
			return r, err
		}
		r.Offsets = map[string]int64{}
		for _, p := range got.ConsumerGroupsTopicPartitions[0].Partitions {
			if p.Offset >= 0 {
				r.Offsets[fmt.Sprint(p.Partition)] = int64(p.Offset)
			}
		}
		return r, nil
	case "describe":
		got, err := s.admin.DescribeConsumerGroups(ctx, []string{q.Group})
		if err != nil {
			return r, err
		}
		d := got.ConsumerGroupDescriptions[0]
		return agent.Reply{State: d.State.String(), Members: len(d.Members)}, noError(d.Error)
	case "groups":
		got, err := s.admin.ListConsumerGroups(ctx)
		for _, g := range got.Valid {
			r.Groups = append(r.Groups, g.GroupID)
		}
		return r, errors.Join(append(got.Errors, err)...)
	case "reset":
		got, err := s.admin.AlterConsumerGroupOffsets(ctx, []kafka.ConsumerGroupTopicPartitions{{Group: q.Group, Partitions: partitions(q, q.Offset)}})
		for _, g := range got.ConsumerGroupsTopicPartitions {
			for _, p := range g.Partitions {
				err = errors.Join(err, p.Error)
			}
		}
		return r, err
	case "delete-group":
		got, err := s.admin.DeleteConsumerGroups(ctx, []string{q.Group})
		for _, g := range got.ConsumerGroupResults {
			err = errors.Join(err, noError(g.Error))
		}
		return r, err
	}
	return r, fmt.Errorf("no step is called %q", q.Do)
}

func noError(e kafka.Error) error {
	if e.Code() == kafka.ErrNoError {
		return nil
	}
	return e
}

func first(done []kafka.TopicResult, err error) error {
	for _, d := range done {
		err = errors.Join(err, noError(d.Error))
	}
	return err
}

func partitions(q agent.Request, offset int64) (all []kafka.TopicPartition) {
	for p := range q.Partitions {
		all = append(all, kafka.TopicPartition{Topic: &q.Topic, Partition: int32(p), Offset: kafka.Offset(offset)})
	}
	return all
}

func (s *steps) produce(q agent.Request) error {
	p, err := kafka.NewProducer(s.with(kafka.ConfigMap{"compression.type": q.Compression}))
	if err != nil {
		return err
	}
	defer p.Close()
	return send(p, q, q.Compression)
}

// send sends the records and waits until all were delivered.
func send(p *kafka.Producer, q agent.Request, kind string) error {
	delivered := make(chan kafka.Event, q.N)
	for i := range q.N {
		where := kafka.TopicPartition{Topic: &q.Topic, Partition: int32(i % q.Partitions)}
		if err := p.Produce(&kafka.Message{TopicPartition: where, Value: []byte(agent.Value(kind, i))}, delivered); err != nil {
			return err
		}
	}
	for range q.N {
		if m := (<-delivered).(*kafka.Message); m.TopicPartition.Error != nil {
			return m.TopicPartition.Error
		}
	}
	return nil
}

func (s *steps) read(q agent.Request) (r agent.Reply, err error) {
	cfg := kafka.ConfigMap{"group.id": "unused", "enable.auto.commit": false}
	if q.Isolation != "" {
		cfg["isolation.level"] = q.Isolation
	}
	c, err := kafka.NewConsumer(s.with(cfg))
	if err != nil {
		return r, err
	}
	defer c.Close()
	if err := c.Assign(partitions(q, 0)); err != nil {
		return r, err
	}
	for end := time.Now().Add(20 * time.Second); len(r.Values) < q.N && time.Now().Before(end); {
		m, err := c.ReadMessage(500 * time.Millisecond)
		var ke kafka.Error
		switch {
		case err == nil:
			r.Values = append(r.Values, agent.Name(m.Value))
		case !errors.As(err, &ke) || !ke.IsTimeout():
			return r, err
		}
	}
	return r, nil
}

func (s *steps) transaction(q agent.Request) error {
	p, err := kafka.NewProducer(s.with(kafka.ConfigMap{"transactional.id": q.Topic + "-id"}))
	if err != nil {
		return err
	}
	defer p.Close()
	c, err := kafka.NewConsumer(s.with(kafka.ConfigMap{"group.id": q.Group}))
	if err != nil {
		return err
	}
	defer c.Close()
	group, err := c.GetConsumerGroupMetadata()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	q1 := q
	q1.Partitions = 1
	for _, step := range []func() error{
		func() error { return p.InitTransactions(ctx) },
		p.BeginTransaction,
		func() error { return send(p, q, "committed") },
		func() error { return p.SendOffsetsToTransaction(ctx, partitions(q1, q.Offset), group) },
		func() error { return p.CommitTransaction(ctx) },
		p.BeginTransaction,
		func() error { return send(p, q, "aborted") },
		func() error { return p.AbortTransaction(ctx) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// member is a consumer in a group, used by its own goroutine alone.
type member struct {
	consumer         *kafka.Consumer
	tasks            chan func()
	assigns, revoked int
	seen             int
	left             bool
	failure          error
}

func (s *steps) join(q agent.Request) (*member, error) {
	cfg := kafka.ConfigMap{"group.id": q.Group, "session.timeout.ms": q.SessionMs, "enable.auto.commit": false}
	if q.Instance != "" {
		cfg["group.instance.id"] = q.Instance
	}
	if q.Assignor != "" {
		cfg["partition.assignment.strategy"] = q.Assignor
	}
	c, err := kafka.NewConsumer(s.with(cfg))
	if err != nil {
		return nil, err
	}
	m := &member{consumer: c, tasks: make(chan func())}
	rebalanced := func(_ *kafka.Consumer, e kafka.Event) error {
		switch e := e.(type) {
		case kafka.AssignedPartitions:
			m.assigns++
		case kafka.RevokedPartitions:
			m.revoked += len(e.Partitions)
		}
		return nil
	}
	if err := c.Subscribe(q.Topic, rebalanced); err != nil {
		return nil, err
	}
	go m.run()
	return m, nil
}

func (m *member) run() {
	for {
		select {
		case task := <-m.tasks:
			task()
			continue
		default:
		}
		if m.left {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		switch e := m.consumer.Poll(100).(type) {
		case *kafka.Message:
			m.seen++
		case kafka.Error: // told for information, unless it is fatal or a member of no use
			if m.failure == nil && (e.IsFatal() || e.Code() == kafka.ErrUnsupportedFeature) {
				m.failure = e
			}
		}
	}
}

func (m *member) ask(do func(*member) (agent.Reply, error)) (r agent.Reply, err error) {
	done := make(chan struct{})
	m.tasks <- func() {
		r, err = do(m)
		close(done)
	}
	<-done
	return r, errors.Join(err, m.failure)
}

func (m *member) assignment() (r agent.Reply, err error) {
	owned, err := m.consumer.Assignment()
	for _, p := range owned {
		r.Partitions = append(r.Partitions, int(p.Partition))
	}
	r.Assigns, r.Revoked, r.Seen = m.assigns, m.revoked, m.seen
	return r, err
}

func (m *member) commit(q agent.Request) error {
	owned, err := m.consumer.Assignment()
	if err != nil {
		return err
	}
	for i := range owned {
		owned[i].Offset = kafka.Offset(q.Offset)
	}
	_, err = m.consumer.CommitOffsets(owned)
	return err
}
