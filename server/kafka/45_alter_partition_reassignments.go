package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// AlterPartitionReassignments (45), v0 and v1 (KIP-455): a partition goes to other brokers, or, with null replicas, what is
// under way is taken back. The answer comes when it has begun.
//
//   - v1: the number of replicas may be kept from changing (KIP-860)
var alterPartitionReassignmentsAPI = api{key: 45, name: "AlterPartitionReassignments", min: 0, max: 1, run: alterPartitionReassignments}

func alterPartitionReassignments(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.AlterPartitionAssignmentsRequest)
	answer := request.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	mayResize := c.version < 1 || request.AllowReplicationFactorChange
	answer.AllowReplicationFactorChange = mayResize
	if len(request.Topics) == 0 {
		answer.ErrorMessage = words("") // Kafka answers this before it has set the message to null
	}
	for _, t := range request.Topics {
		topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			row := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			row.Partition = p.Partition
			code, message := s.cluster.Reassign(nowMs, t.Topic, p.Partition, p.Replicas, mayResize)
			if row.ErrorCode = code; code != 0 {
				row.ErrorMessage = words(message)
			}
			c.note(code)
			topic.Partitions = append(topic.Partitions, row)
		}
		answer.Topics = append(answer.Topics, topic)
	}
	c.complete(answer)
}
