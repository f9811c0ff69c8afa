package main

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"grouplab/server/e2e/clients/agent"
)

// secured is what brokers that are locked want; both are nil for others.
func secured() (cfg *tls.Config, mechanism sasl.Mechanism, err error) {
	sec, on := agent.Secured()
	if !on {
		return nil, nil, nil
	}
	if cfg, err = sec.TLS(); err != nil {
		return nil, nil, err
	}
	switch sec.Mechanism {
	case "PLAIN":
		mechanism = plain.Mechanism{Username: sec.User, Password: sec.Password}
	case "SCRAM-SHA-256":
		mechanism, err = scram.Mechanism(scram.SHA256, sec.User, sec.Password)
	case "SCRAM-SHA-512":
		mechanism, err = scram.Mechanism(scram.SHA512, sec.User, sec.Password)
	}
	return cfg, mechanism, err
}

// transport is for clients and writers; nil, which is the default's, where the brokers are open.
func transport() (kafka.RoundTripper, error) {
	cfg, mechanism, err := secured()
	if cfg == nil || err != nil {
		return nil, err
	}
	return &kafka.Transport{TLS: cfg, SASL: mechanism}, nil
}

// dialer is for readers and groups; nil, which is the default, where the brokers are open.
func dialer() (*kafka.Dialer, error) {
	cfg, mechanism, err := secured()
	if cfg == nil || err != nil {
		return nil, err
	}
	return &kafka.Dialer{Timeout: kafka.DefaultDialer.Timeout, DualStack: true, TLS: cfg, SASLMechanism: mechanism}, nil
}

// knock asks for the cluster.
func (s *steps) knock(ctx context.Context) (r agent.Reply, err error) {
	c, err := s.client()
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := c.Metadata(ctx, &kafka.MetadataRequest{}); err != nil {
		r.State = err.Error()
	}
	return r, nil
}
