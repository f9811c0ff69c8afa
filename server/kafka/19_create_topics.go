package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreateTopics (19), v0 to v7.
//
//   - v1: validate only; error messages
//   - v2: throttle time
//   - v4: -1 for the broker's default number of partitions and replicas (KIP-464)
//   - v5: flexible (KIP-482); the created topic's shape in the answer (KIP-525)
//   - v7: topic id (KIP-516)
//
// Any broker takes the request, as in a KRaft cluster, where brokers forward it to the controller.
var createTopicsAPI = api{key: 19, name: "CreateTopics", min: 0, max: 7, run: createTopics}

func createTopics(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.CreateTopicsRequest)
	answer := request.ResponseKind().(*kmsg.CreateTopicsResponse)
	times := map[string]int{}
	for _, t := range request.Topics {
		times[t.Topic]++
	}
	told := map[string]bool{}
	s.inTurns(c, nowMs, len(request.Topics), func(nowMs int64, i int) int {
		t := request.Topics[i]
		if told[t.Topic] {
			return 1
		}
		told[t.Topic] = true
		row := kmsg.NewCreateTopicsResponseTopic()
		row.Topic, row.NumPartitions, row.ReplicationFactor = t.Topic, -1, -1
		code, message := kerr.InvalidRequest.Code, "the request names this topic more than once"
		if times[t.Topic] == 1 {
			code, message = s.createTopic(nowMs, t, request.ValidateOnly)
		}
		if row.ErrorCode = code; code != 0 {
			row.ErrorMessage = words(message)
		} else {
			s.describeCreated(&row, t)
		}
		c.note(code)
		answer.Topics = append(answer.Topics, row)
		return costOf(code)
	}, func() { c.complete(answer) })
}

// describeCreated tells the shape and the settings of a topic that was created, or would have been (KIP-525).
func (s *Server) describeCreated(row *kmsg.CreateTopicsResponseTopic, t kmsg.CreateTopicsRequestTopic) {
	var list []Setting
	row.NumPartitions, row.ReplicationFactor, list = s.cluster.Planned(newTopicOf(t))
	if created, ok := s.cluster.Topic(t.Topic); ok {
		row.TopicID, row.NumPartitions = created.ID, int32(len(created.Partitions))
		row.ReplicationFactor = int16(len(created.Partitions[0].Replicas))
	}
	row.Configs = make([]kmsg.CreateTopicsResponseTopicConfig, len(list))
	for i := range list {
		row.Configs[i].Name, row.Configs[i].Value, row.Configs[i].Source = list[i].Name, &list[i].Value, list[i].Source
	}
}

// newTopicOf is what a request asks for, without a placement by hand.
func newTopicOf(t kmsg.CreateTopicsRequestTopic) NewTopic {
	spec := NewTopic{Name: t.Topic, Partitions: t.NumPartitions, Replicas: t.ReplicationFactor}
	if n := len(t.ReplicaAssignment); n > 0 {
		spec.Partitions, spec.Replicas = int32(n), int16(len(t.ReplicaAssignment[0].Replicas))
	}
	for _, cfg := range t.Configs {
		if cfg.Value != nil {
			spec.Configs = append(spec.Configs, TopicConfig{Name: cfg.Name, Value: *cfg.Value})
		}
	}
	return spec
}

func (s *Server) createTopic(nowMs int64, t kmsg.CreateTopicsRequestTopic, validateOnly bool) (code int16, message string) {
	spec := NewTopic{Name: t.Topic, Partitions: t.NumPartitions, Replicas: t.ReplicationFactor, ValidateOnly: validateOnly}
	if !validTopic(t.Topic) {
		return kerr.InvalidTopicException.Code, "a topic's name has 1 to 249 letters, digits, '.', '_' or '-', and is not \".\" or \"..\""
	}
	if len(t.ReplicaAssignment) > 0 {
		if t.NumPartitions != -1 || t.ReplicationFactor != -1 {
			return kerr.InvalidRequest.Code, "a request with a replica assignment leaves partitions and replication factor at -1"
		}
		spec.Assignment = make([][]int32, len(t.ReplicaAssignment))
		for _, a := range t.ReplicaAssignment {
			if a.Partition < 0 || int(a.Partition) >= len(spec.Assignment) || spec.Assignment[a.Partition] != nil {
				return kerr.InvalidReplicaAssignment.Code, fmt.Sprintf("a replica assignment names each partition from 0 to %d once", len(spec.Assignment)-1)
			}
			if len(a.Replicas) == 0 {
				return kerr.InvalidReplicaAssignment.Code, fmt.Sprintf("partition %d has no replica", a.Partition)
			}
			spec.Assignment[a.Partition] = a.Replicas
		}
	}
	for _, cfg := range t.Configs {
		if cfg.Value == nil {
			return kerr.InvalidConfig.Code, "the setting " + cfg.Name + " has no value"
		}
		spec.Configs = append(spec.Configs, TopicConfig{Name: cfg.Name, Value: *cfg.Value})
	}
	return s.cluster.CreateTopic(nowMs, spec)
}
