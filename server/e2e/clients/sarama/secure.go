package main

import (
	"crypto/sha256"
	"crypto/sha512"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"

	"grouplab/server/e2e/clients/agent"
)

// config has the client's defaults, and what brokers that are locked want.
func config() (*sarama.Config, error) {
	cfg := sarama.NewConfig()
	sec, on := agent.Secured()
	if !on {
		return cfg, nil
	}
	own, err := sec.TLS()
	if err != nil {
		return nil, err
	}
	cfg.Net.TLS.Enable, cfg.Net.TLS.Config = true, own
	if sec.Mechanism == "" {
		return cfg, nil
	}
	cfg.Net.SASL.Enable, cfg.Net.SASL.Mechanism = true, sarama.SASLMechanism(sec.Mechanism)
	cfg.Net.SASL.User, cfg.Net.SASL.Password = sec.User, sec.Password
	cfg.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
		if sec.Mechanism == "SCRAM-SHA-512" {
			return &conversation{hash: sha512.New}
		}
		return &conversation{hash: sha256.New}
	}
	return cfg, nil
}

// conversation is the SCRAM that sarama leaves to its user.
type conversation struct {
	hash scram.HashGeneratorFcn
	*scram.ClientConversation
}

func (c *conversation) Begin(user, password, authzID string) error {
	client, err := c.hash.NewClient(user, password, authzID)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

// knock connects.
func (s *steps) knock() (r agent.Reply, err error) {
	cfg, err := config()
	if err != nil {
		return r, err
	}
	client, err := sarama.NewClient(s.bootstrap, cfg)
	if err != nil {
		return agent.Reply{State: err.Error()}, nil
	}
	return r, client.Close()
}
