//go:build !old

package main

import (
	"github.com/IBM/sarama"

	"grouplab/server/e2e/clients/agent"
)

var compressions = []string{"none", "gzip", "snappy", "lz4", "zstd"}

func setInstance(cfg *sarama.Config, instance string) error {
	cfg.Consumer.Group.InstanceId = instance
	return nil
}

func (s *steps) transaction(q agent.Request) error {
	cfg, err := config()
	if err != nil {
		return err
	}
	cfg.Producer.Transaction.ID = q.Topic + "-id"
	cfg.Producer.Idempotent = true
	cfg.Producer.RequiredAcks = sarama.WaitForAll
	cfg.Producer.Partitioner = sarama.NewManualPartitioner
	cfg.Producer.Return.Successes = true
	cfg.Net.MaxOpenRequests = 1
	p, err := sarama.NewSyncProducer(s.bootstrap, cfg)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.BeginTxn(); err != nil {
		return err
	}
	if err := p.SendMessages(messages(q, "committed")); err != nil {
		return err
	}
	offsets := map[string][]*sarama.PartitionOffsetMetadata{q.Topic: {{Partition: 0, Offset: q.Offset, LeaderEpoch: -1}}}
	if err := p.AddOffsetsToTxn(offsets, q.Group); err != nil {
		return err
	}
	if err := p.CommitTxn(); err != nil {
		return err
	}
	if err := p.BeginTxn(); err != nil {
		return err
	}
	if err := p.SendMessages(messages(q, "aborted")); err != nil {
		return err
	}
	return p.AbortTxn()
}
