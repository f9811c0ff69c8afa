// Command segmentio plays the scenario with segmentio's kafka-go.
package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"grouplab/server/e2e/clients/agent"
)

func main() { agent.Serve((&steps{}).do) }

type steps struct {
	bootstrap []string
	member    *member
}

var codecs = map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}

func (s *steps) do(q agent.Request) (r agent.Reply, err error) {
	if q.Bootstrap != "" {
		s.bootstrap = agent.Addresses(q.Bootstrap)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	switch q.Do {
	case "hello":
		return agent.Reply{Version: agent.ModuleVersion("github.com/segmentio/kafka-go"), Compressions: []string{"none", "gzip", "snappy", "lz4", "zstd"}}, nil
	case "knock":
		return s.knock(ctx)
	case "produce":
		return r, s.produce(ctx, q)
	case "read":
		return s.read(ctx, q)
	case "join":
		s.member, err = s.join(q)
		return r, err
	case "assignment":
		return s.member.assignment()
	case "commit":
		return r, s.member.commit(q)
	case "leave":
		return r, s.member.group.Close()
	case "transaction":
		return r, agent.Missing("a transactional producer: it has the requests, and no way to give records a producer id")
	}
	return s.administer(ctx, q)
}

func (s *steps) client() (*kafka.Client, error) {
	through, err := transport()
	return &kafka.Client{Addr: kafka.TCP(s.bootstrap...), Transport: through}, err
}

func (s *steps) administer(ctx context.Context, q agent.Request) (r agent.Reply, err error) {
	c, err := s.client()
	if err != nil {
		return r, err
	}
	switch q.Do {
	case "create":
		got, err := c.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: q.Topic, NumPartitions: q.N, ReplicationFactor: -1}}})
		if err != nil {
			return r, err
		}
		return r, got.Errors[q.Topic]
	case "delete-topic":
		got, err := c.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{q.Topic}})
		if err != nil {
			return r, err
		}
		return r, got.Errors[q.Topic]
	case "committed":
		return committed(ctx, c, q)
	case "describe":
		got, err := c.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{q.Group}})
		if err != nil {
			return r, err
		}
		return agent.Reply{State: got.Groups[0].GroupState, Members: len(got.Groups[0].Members)}, got.Groups[0].Error
	case "groups":
		got, err := c.ListGroups(ctx, &kafka.ListGroupsRequest{})
		if err != nil {
			return r, err
		}
		for _, g := range got.Groups {
			r.Groups = append(r.Groups, g.GroupID)
		}
		return r, got.Error
	case "reset":
		return r, reset(ctx, c, q)
	case "delete-group":
		got, err := c.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{q.Group}})
		if err != nil {
			return r, err
		}
		return r, got.Errors[q.Group]
	}
	return r, fmt.Errorf("no step is called %q", q.Do)
}

func committed(ctx context.Context, c *kafka.Client, q agent.Request) (r agent.Reply, err error) {
	var all []int
	for p := range q.Partitions {
		all = append(all, p)
	}
	got, err := c.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: q.Group, Topics: map[string][]int{q.Topic: all}})
	if err != nil {
		return r, err
	}
	r.Offsets = map[string]int64{}
	for _, p := range got.Topics[q.Topic] {
		if p.CommittedOffset >= 0 {
			r.Offsets[fmt.Sprint(p.Partition)] = p.CommittedOffset
		}
	}
	return r, got.Error
}

func reset(ctx context.Context, c *kafka.Client, q agent.Request) error {
	var all []kafka.OffsetCommit
	for p := range q.Partitions {
		all = append(all, kafka.OffsetCommit{Partition: p, Offset: q.Offset})
	}
	got, err := c.OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: q.Group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{q.Topic: all}})
	if err != nil {
		return err
	}
	for _, p := range got.Topics[q.Topic] {
		err = errors.Join(err, p.Error)
	}
	return err
}

// produce keeps the writer's own acks, which are none.
func (s *steps) produce(ctx context.Context, q agent.Request) error {
	byKey := kafka.BalancerFunc(func(m kafka.Message, all ...int) int {
		i, _ := strconv.Atoi(string(m.Key))
		return i % len(all)
	})
	through, err := transport()
	if err != nil {
		return err
	}
	w := &kafka.Writer{Addr: kafka.TCP(s.bootstrap...), Transport: through, Topic: q.Topic, Compression: codecs[q.Compression], Balancer: byKey}
	if q.Acks {
		w.RequiredAcks = kafka.RequireAll
	}
	var all []kafka.Message
	for i := range q.N {
		all = append(all, kafka.Message{Key: []byte(fmt.Sprint(i)), Value: []byte(agent.Value(q.Compression, i))})
	}
	return errors.Join(w.WriteMessages(ctx, all...), w.Close())
}

func (s *steps) read(ctx context.Context, q agent.Request) (r agent.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	isolation := kafka.ReadUncommitted
	if q.Isolation == "read_committed" {
		isolation = kafka.ReadCommitted
	}
	through, err := dialer()
	if err != nil {
		return r, err
	}
	all := make(chan string)
	for p := range q.Partitions {
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: s.bootstrap, Dialer: through, Topic: q.Topic, Partition: p, IsolationLevel: isolation})
		defer reader.Close()
		go func() {
			for {
				m, err := reader.ReadMessage(ctx)
				if err != nil {
					return
				}
				select {
				case all <- agent.Name(m.Value):
				case <-ctx.Done():
				}
			}
		}()
	}
	for len(r.Values) < q.N {
		select {
		case name := <-all:
			r.Values = append(r.Values, name)
		case <-ctx.Done():
			return r, nil
		}
	}
	return r, nil
}
