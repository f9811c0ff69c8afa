//go:build !old

package main

import "github.com/confluentinc/confluent-kafka-go/kafka"

func setAssignor(cfg kafka.ConfigMap, assignor string) error {
	if assignor != "" {
		cfg["partition.assignment.strategy"] = assignor
	}
	return nil
}
