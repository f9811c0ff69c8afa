package main

import (
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"grouplab/server/e2e/clients/agent"
)

// with is a configuration for the brokers, also where they are locked.
func (s *steps) with(set kafka.ConfigMap) *kafka.ConfigMap {
	set["bootstrap.servers"] = s.bootstrap
	if sec, on := agent.Secured(); on {
		for name, value := range sec.Librdkafka() {
			set[name] = value
		}
	}
	return &set
}

// knock asks for the cluster. What is wrong comes as events beside the answer, which is that it took too long.
func (s *steps) knock() (r agent.Reply, err error) {
	p, err := kafka.NewProducer(s.with(kafka.ConfigMap{}))
	if err != nil {
		return r, err
	}
	defer p.Close()
	if _, err = p.GetMetadata(nil, false, 5000); err == nil {
		return r, nil
	}
	var said []string
	for {
		select {
		case e := <-p.Events():
			if e, ok := e.(kafka.Error); ok {
				said = append(said, e.Error())
			}
		default:
			return agent.Reply{State: strings.Join(append(said, err.Error()), "; ")}, nil
		}
	}
}
