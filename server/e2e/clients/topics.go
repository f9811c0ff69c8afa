package main

import (
	"strings"

	"github.com/IBM/sarama"
)

// withAdmin does for a client without administration what it needs done.
func (s *scene) withAdmin(do func(sarama.ClusterAdmin) error) error {
	cfg, err := s.sarama()
	if err != nil {
		return err
	}
	admin, err := sarama.NewClusterAdmin(strings.Split(s.bootstrap, ","), cfg)
	if err != nil {
		return err
	}
	defer admin.Close()
	return do(admin)
}

func (s *scene) createTopic() error {
	return s.withAdmin(func(admin sarama.ClusterAdmin) error {
		return admin.CreateTopic(s.topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: -1}, false)
	})
}

func (s *scene) deleteTopic() error {
	return s.withAdmin(func(admin sarama.ClusterAdmin) error { return admin.DeleteTopic(s.topic) })
}
