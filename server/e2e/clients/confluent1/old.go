//go:build old

package main

import (
	"github.com/confluentinc/confluent-kafka-go/kafka"

	"grouplab/server/e2e/clients/agent"
)

func setAssignor(_ kafka.ConfigMap, assignor string) error {
	if assignor != "" {
		return agent.Missing("cooperative-sticky, which came with 1.6")
	}
	return nil
}
