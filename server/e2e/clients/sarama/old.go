//go:build old

package main

import (
	"github.com/IBM/sarama"

	"grouplab/server/e2e/clients/agent"
)

// compressions are without zstd, which needs a higher Version than the default.
var compressions = []string{"none", "gzip", "snappy", "lz4"}

func setInstance(_ *sarama.Config, instance string) error {
	if instance != "" {
		return agent.Missing("static members")
	}
	return nil
}

func (s *steps) transaction(agent.Request) error { return agent.Missing("a transactional producer") }
