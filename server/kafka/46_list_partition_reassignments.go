package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// ListPartitionReassignments (46), v0 (KIP-455): the partitions that are on their way to other brokers.
var listPartitionReassignmentsAPI = api{key: 46, name: "ListPartitionReassignments", min: 0, max: 0, run: listPartitionReassignments}

func listPartitionReassignments(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.ListPartitionReassignmentsRequest)
	answer := request.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	asked := map[place]bool{}
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			asked[place{t.Topic, p}] = true
		}
	}
	for _, r := range s.cluster.Reassignments() {
		if request.Topics != nil && !asked[place{r.Topic, r.Partition}] {
			continue
		}
		if n := len(answer.Topics); n == 0 || answer.Topics[n-1].Topic != r.Topic {
			topic := kmsg.NewListPartitionReassignmentsResponseTopic()
			topic.Topic = r.Topic
			answer.Topics = append(answer.Topics, topic)
		}
		row := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
		row.Partition, row.Replicas, row.AddingReplicas, row.RemovingReplicas = r.Partition, r.Replicas, r.Adding, r.Removing
		topic := &answer.Topics[len(answer.Topics)-1]
		topic.Partitions = append(topic.Partitions, row)
	}
	c.complete(answer)
}
