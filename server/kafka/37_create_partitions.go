package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// CreatePartitions (37), v0 to v3 (KIP-195): more partitions for a topic that exists. This is what makes the leaders of
// its groups join again.
//
//   - v2: flexible (KIP-482)
//   - v3: THROTTLING_QUOTA_EXCEEDED (KIP-599)
var createPartitionsAPI = api{key: 37, name: "CreatePartitions", min: 0, max: 3, run: createPartitions}

func createPartitions(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.CreatePartitionsRequest)
	answer := request.ResponseKind().(*kmsg.CreatePartitionsResponse)
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
		row := kmsg.NewCreatePartitionsResponseTopic()
		row.Topic = t.Topic
		var message string
		row.ErrorCode, message = s.createPartitions(nowMs, t, times[t.Topic] > 1, request.ValidateOnly)
		if row.ErrorCode != 0 {
			row.ErrorMessage = words(message)
		}
		c.note(row.ErrorCode)
		answer.Topics = append(answer.Topics, row)
		return costOf(row.ErrorCode)
	}, func() { c.complete(answer) })
}

func (s *Server) createPartitions(nowMs int64, t kmsg.CreatePartitionsRequestTopic, twice, validateOnly bool) (int16, string) {
	topic, ok := s.cluster.Topic(t.Topic)
	switch {
	case twice:
		return kerr.InvalidRequest.Code, "the request names this topic more than once"
	case !ok:
		return kerr.UnknownTopicOrPartition.Code, "there is no such topic"
	case topic.Internal:
		return kerr.InvalidRequest.Code, "the number of an internal topic's partitions cannot be changed: groups find their partition by it"
	case int(t.Count) <= len(topic.Partitions):
		return kerr.InvalidPartitions.Code, "the topic has as many partitions, or more, and partitions cannot be taken away"
	case t.Assignment != nil && len(t.Assignment) != int(t.Count)-len(topic.Partitions):
		return kerr.InvalidReplicaAssignment.Code, "a placement by hand names the replicas of each new partition"
	case validateOnly:
		return s.checkPlaces(t)
	}
	var places [][]int32
	for _, a := range t.Assignment {
		places = append(places, a.Replicas)
	}
	return s.cluster.AddPartitions(nowMs, t.Topic, t.Count, places)
}

// checkPlaces finds what is wrong with a placement by hand that is not made.
func (s *Server) checkPlaces(t kmsg.CreatePartitionsRequestTopic) (int16, string) {
	there := append(slices.Clone(s.cluster.Brokers()), s.cluster.Fenced()...)
	for _, a := range t.Assignment {
		for i, id := range a.Replicas {
			if slices.Contains(a.Replicas[:i], id) || !slices.ContainsFunc(there, func(b Broker) bool { return b.ID == id }) {
				return kerr.InvalidReplicaAssignment.Code, "a partition's replicas are on different brokers that are there"
			}
		}
		if len(a.Replicas) == 0 {
			return kerr.InvalidReplicaAssignment.Code, "a partition has at least one replica"
		}
	}
	return 0, ""
}
