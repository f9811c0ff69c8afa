// Command franz plays the scenario with franz-go.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/server/e2e/clients/agent"
)

func main() { agent.Serve((&steps{}).do) }

type steps struct {
	bootstrap []string
	admin     *kadm.Client
	member    *member
}

var codecs = map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}

func (s *steps) client(opts ...kgo.Opt) (*kgo.Client, error) {
	locked, err := secured()
	if err != nil {
		return nil, err
	}
	return kgo.NewClient(append(append(opts, locked...), kgo.SeedBrokers(s.bootstrap...))...)
}

func (s *steps) do(q agent.Request) (r agent.Reply, err error) {
	if q.Bootstrap != "" {
		s.bootstrap = agent.Addresses(q.Bootstrap)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	switch q.Do {
	case "hello":
		return agent.Reply{Version: agent.ModuleVersion("github.com/twmb/franz-go"), Compressions: []string{"none", "gzip", "snappy", "lz4", "zstd"}}, nil
	case "knock":
		return s.knock()
	case "produce":
		return r, s.produce(ctx, q)
	case "read":
		return s.read(ctx, q)
	case "join":
		s.member, err = s.join(q)
		return r, err
	case "assignment":
		return s.member.assignment(), nil
	case "commit":
		return r, s.member.commit(ctx, q)
	case "leave":
		s.member.client.Close()
		return r, nil
	case "transaction":
		r.State = "records alone; offsets in transactions are among its own tests, which are a row of their own"
		return r, s.transaction(ctx, q)
	}
	if s.admin == nil {
		client, err := s.client()
		if err != nil {
			return r, err
		}
		s.admin = kadm.NewClient(client)
	}
	return s.administer(ctx, q)
}

func (s *steps) administer(ctx context.Context, q agent.Request) (r agent.Reply, err error) {
	switch q.Do {
	case "create":
		_, err := s.admin.CreateTopic(ctx, int32(q.N), -1, nil, q.Topic)
		return r, err
	case "delete-topic":
		_, err := s.admin.DeleteTopic(ctx, q.Topic)
		return r, err
	case "committed":
		got, err := s.admin.FetchOffsets(ctx, q.Group)
		r.Offsets = map[string]int64{}
		for p, o := range got[q.Topic] {
			r.Offsets[fmt.Sprint(p)] = o.At
		}
		return r, err
	case "describe":
		got, err := s.admin.DescribeGroups(ctx, q.Group)
		if err != nil {
			return r, err
		}
		return agent.Reply{State: got[q.Group].State, Members: len(got[q.Group].Members)}, got[q.Group].Err
	case "groups":
		got, err := s.admin.ListGroups(ctx)
		return agent.Reply{Groups: got.Groups()}, err
	case "reset":
		offsets := kadm.Offsets{}
		for p := range q.Partitions {
			offsets.AddOffset(q.Topic, int32(p), q.Offset, -1)
		}
		return r, s.admin.CommitAllOffsets(ctx, q.Group, offsets)
	case "delete-group":
		_, err := s.admin.DeleteGroup(ctx, q.Group)
		return r, err
	}
	return r, fmt.Errorf("no step is called %q", q.Do)
}

func records(q agent.Request, kind string) (all []*kgo.Record) {
	for i := range q.N {
		all = append(all, &kgo.Record{Topic: q.Topic, Partition: int32(i % q.Partitions), Value: []byte(agent.Value(kind, i))})
	}
	return all
}

func (s *steps) produce(ctx context.Context, q agent.Request) error {
	p, err := s.client(kgo.ProducerBatchCompression(codecs[q.Compression]), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer p.Close()
	return p.ProduceSync(ctx, records(q, q.Compression)...).FirstErr()
}

func (s *steps) read(ctx context.Context, q agent.Request) (r agent.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	from := map[int32]kgo.Offset{}
	for p := range q.Partitions {
		from[int32(p)] = kgo.NewOffset().AtStart()
	}
	opts := []kgo.Opt{kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{q.Topic: from})}
	if q.Isolation == "read_committed" {
		opts = append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	c, err := s.client(opts...)
	if err != nil {
		return r, err
	}
	defer c.Close()
	for len(r.Values) < q.N && ctx.Err() == nil {
		c.PollFetches(ctx).EachRecord(func(record *kgo.Record) { r.Values = append(r.Values, agent.Name(record.Value)) })
	}
	return r, nil
}

func (s *steps) transaction(ctx context.Context, q agent.Request) error {
	p, err := s.client(kgo.TransactionalID(q.Topic+"-id"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer p.Close()
	for _, end := range []struct {
		kind string
		how  kgo.TransactionEndTry
	}{{"committed", kgo.TryCommit}, {"aborted", kgo.TryAbort}} {
		if err := p.BeginTransaction(); err != nil {
			return err
		}
		sent := p.ProduceSync(ctx, records(q, end.kind)...).FirstErr()
		if err := errors.Join(sent, p.EndTransaction(ctx, end.how)); err != nil {
			return err
		}
	}
	return nil
}
