package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"grouplab/server/e2e/clients/agent"
)

// secured are the options for brokers that are locked.
func secured() ([]kgo.Opt, error) {
	sec, on := agent.Secured()
	if !on {
		return nil, nil
	}
	cfg, err := sec.TLS()
	if err != nil {
		return nil, err
	}
	opts := []kgo.Opt{kgo.DialTLSConfig(cfg)}
	switch sec.Mechanism {
	case "PLAIN":
		opts = append(opts, kgo.SASL(plain.Auth{User: sec.User, Pass: sec.Password}.AsMechanism()))
	case "SCRAM-SHA-256":
		opts = append(opts, kgo.SASL(scram.Auth{User: sec.User, Pass: sec.Password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		opts = append(opts, kgo.SASL(scram.Auth{User: sec.User, Pass: sec.Password}.AsSha512Mechanism()))
	}
	return opts, nil
}

// knock asks for nothing but whether somebody is there.
func (s *steps) knock() (r agent.Reply, err error) {
	client, err := s.client()
	if err != nil {
		return r, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		r.State = err.Error()
	}
	return r, nil
}
