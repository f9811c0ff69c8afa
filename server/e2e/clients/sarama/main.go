// Command sarama plays the scenario with IBM's sarama.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/IBM/sarama"

	"grouplab/server/e2e/clients/agent"
)

func main() { agent.Serve((&steps{}).do) }

type steps struct {
	bootstrap []string
	admin     sarama.ClusterAdmin
	member    *member
}

var codecs = map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}

func (s *steps) do(q agent.Request) (r agent.Reply, err error) {
	if q.Bootstrap != "" {
		s.bootstrap = agent.Addresses(q.Bootstrap)
	}
	switch q.Do {
	case "hello":
		return agent.Reply{Version: agent.ModuleVersion("github.com/IBM/sarama"), Compressions: compressions}, nil
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
		return s.member.assignment()
	case "commit":
		return r, s.member.commit(q)
	case "leave":
		return r, s.member.leave()
	case "transaction":
		return r, s.transaction(q)
	}
	return s.administer(q)
}

func (s *steps) administer(q agent.Request) (r agent.Reply, err error) {
	if s.admin == nil {
		cfg, err := config()
		if err != nil {
			return r, err
		}
		if s.admin, err = sarama.NewClusterAdmin(s.bootstrap, cfg); err != nil {
			return r, err
		}
	}
	switch q.Do {
	case "create":
		return r, s.admin.CreateTopic(q.Topic, &sarama.TopicDetail{NumPartitions: int32(q.N), ReplicationFactor: -1}, false)
	case "delete-topic":
		return r, s.admin.DeleteTopic(q.Topic)
	case "committed":
		got, err := s.admin.ListConsumerGroupOffsets(q.Group, map[string][]int32{q.Topic: numbers(q.Partitions)})
		if err != nil {
			return r, err
		}
		r.Offsets = map[string]int64{}
		for p, block := range got.Blocks[q.Topic] {
			if block.Offset >= 0 {
				r.Offsets[fmt.Sprint(p)] = block.Offset
			}
		}
		return r, nil
	case "describe":
		all, err := s.admin.DescribeConsumerGroups([]string{q.Group})
		if err != nil {
			return r, err
		}
		return agent.Reply{State: all[0].State, Members: len(all[0].Members)}, nil
	case "groups":
		all, err := s.admin.ListConsumerGroups()
		for group := range all {
			r.Groups = append(r.Groups, group)
		}
		return r, err
	case "reset":
		return r, s.reset(q)
	case "delete-group":
		if err = s.admin.DeleteConsumerGroup(q.Group); errors.Is(err, sarama.ErrUnsupportedVersion) {
			err = agent.Missing("deleting groups, unless its Version is set")
		}
		return r, err
	}
	return r, fmt.Errorf("no step is called %q", q.Do)
}

func numbers(n int) (all []int32) {
	for p := range n {
		all = append(all, int32(p))
	}
	return all
}

// reset uses the offset manager of a consumer that is in no group.
func (s *steps) reset(q agent.Request) error {
	cfg, err := config()
	if err != nil {
		return err
	}
	client, err := sarama.NewClient(s.bootstrap, cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	m, err := sarama.NewOffsetManagerFromClient(q.Group, client)
	if err != nil {
		return err
	}
	defer m.Close()
	for p := range q.Partitions {
		one, err := m.ManagePartition(q.Topic, int32(p))
		if err != nil {
			return err
		}
		one.ResetOffset(q.Offset, "")
		defer one.Close()
	}
	m.Commit()
	return nil
}

func (s *steps) produce(q agent.Request) error {
	cfg, err := config()
	if err != nil {
		return err
	}
	cfg.Producer.Compression = codecs[q.Compression]
	cfg.Producer.Partitioner = sarama.NewManualPartitioner
	cfg.Producer.Return.Successes = true
	p, err := sarama.NewSyncProducer(s.bootstrap, cfg)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.SendMessages(messages(q, q.Compression))
}

func messages(q agent.Request, kind string) (all []*sarama.ProducerMessage) {
	for i := range q.N {
		all = append(all, &sarama.ProducerMessage{Topic: q.Topic, Partition: int32(i % q.Partitions), Value: sarama.StringEncoder(agent.Value(kind, i))})
	}
	return all
}

func (s *steps) read(q agent.Request) (r agent.Reply, err error) {
	cfg, err := config()
	if err != nil {
		return r, err
	}
	if q.Isolation == "read_committed" {
		cfg.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	c, err := sarama.NewConsumer(s.bootstrap, cfg)
	if err != nil {
		return r, err
	}
	defer c.Close()
	all := make(chan string)
	done := make(chan struct{})
	defer close(done)
	for p := range q.Partitions {
		one, err := c.ConsumePartition(q.Topic, int32(p), sarama.OffsetOldest)
		if err != nil {
			return r, err
		}
		defer one.AsyncClose()
		go func() {
			for m := range one.Messages() {
				select {
				case all <- agent.Name(m.Value):
				case <-done:
				}
			}
		}()
	}
	end := time.After(20 * time.Second)
	for len(r.Values) < q.N {
		select {
		case name := <-all:
			r.Values = append(r.Values, name)
		case <-end:
			return r, nil
		}
	}
	return r, nil
}

// member is a consumer in a group.
type member struct {
	topic  string
	group  sarama.ConsumerGroup
	cancel context.CancelFunc
	ended  chan struct{}

	mu              sync.Mutex
	session         sarama.ConsumerGroupSession
	owned           []int32
	assigns, revoke int
	seen            int
}

func (s *steps) join(q agent.Request) (*member, error) {
	cfg, err := config()
	if err != nil {
		return nil, err
	}
	cfg.Consumer.Group.Session.Timeout = time.Duration(q.SessionMs) * time.Millisecond
	if err := setInstance(cfg, q.Instance); err != nil {
		return nil, err
	}
	cfg.Consumer.Offsets.AutoCommit.Enable = false
	if q.Assignor != "" {
		return nil, agent.Missing("cooperative-sticky; its sticky assignor is eager")
	}
	group, err := sarama.NewConsumerGroup(s.bootstrap, q.Group, cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{topic: q.Topic, group: group, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		for ctx.Err() == nil {
			// An error ends one session; as its documentation has it, the user begins the next.
			err := group.Consume(ctx, []string{q.Topic}, m)
			if errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}()
	return m, nil
}

// Setup is called when the member was given partitions.
func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.session, m.owned = session, session.Claims()[m.topic]
	m.assigns++
	return nil
}

// Cleanup is called when they were taken.
func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revoke += len(m.owned)
	m.owned = nil
	return nil
}

// ConsumeClaim reads one partition until it is taken.
func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message := <-claim.Messages():
			if message != nil {
				m.mu.Lock()
				m.seen++
				m.mu.Unlock()
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func (m *member) assignment() (r agent.Reply, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.owned {
		r.Partitions = append(r.Partitions, int(p))
	}
	r.Assigns, r.Revoked, r.Seen = m.assigns, m.revoke, m.seen
	return r, nil
}

func (m *member) commit(q agent.Request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.owned {
		m.session.MarkOffset(m.topic, p, q.Offset, "")
	}
	m.session.Commit()
	return nil
}

func (m *member) leave() error {
	m.cancel()
	<-m.ended
	return m.group.Close()
}
