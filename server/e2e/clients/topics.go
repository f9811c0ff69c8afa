package main

import (
	"strings"

	"github.com/IBM/sarama"
)

// withAdmin does for a client without administration what it needs done.
func withAdmin(bootstrap string, do func(sarama.ClusterAdmin) error) error {
	admin, err := sarama.NewClusterAdmin(strings.Split(bootstrap, ","), sarama.NewConfig())
	if err != nil {
		return err
	}
	defer admin.Close()
	return do(admin)
}

func createTopic(bootstrap, topic string) error {
	return withAdmin(bootstrap, func(admin sarama.ClusterAdmin) error {
		return admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: -1}, false)
	})
}

func deleteTopic(bootstrap, topic string) error {
	return withAdmin(bootstrap, func(admin sarama.ClusterAdmin) error { return admin.DeleteTopic(topic) })
}
