package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ElectLeaders (43), v0 to v2 (KIP-183): the preferred replica leads again or, where nobody does, any replica that is
// alive (KIP-460), which gives up what it lacks. Without a list all partitions are meant, and those that need nothing are
// left out of the answer; their topics are not.
//
//   - v1: election type (KIP-460)
//   - v2: flexible (KIP-482)
var electLeadersAPI = api{key: 43, name: "ElectLeaders", min: 0, max: 2, run: electLeaders}

func electLeaders(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.ElectLeadersRequest)
	answer := request.ResponseKind().(*kmsg.ElectLeadersResponse)
	if request.ElectionType < 0 || request.ElectionType > 1 {
		if request.Topics == nil || len(request.Topics) > 0 { // Kafka (QuorumController.electLeaders) looks at nothing where nothing is named
			c.code = kerr.InvalidRequest.Code
		}
		answer.ErrorCode = c.code
		for _, t := range request.Topics {
			topic := kmsg.NewElectLeadersResponseTopic()
			topic.Topic = t.Topic
			for _, p := range t.Partitions {
				topic.Partitions = append(topic.Partitions, kmsg.ElectLeadersResponseTopicPartition{Partition: p, ErrorCode: c.code,
					ErrorMessage: words("an election is of type 0 (preferred) or 1 (unclean)")})
			}
			answer.Topics = append(answer.Topics, topic)
		}
		c.complete(answer)
		return
	}
	asked := request.Topics
	if asked == nil {
		for _, name := range s.cluster.TopicNames() {
			t, _ := s.cluster.Topic(name)
			one := kmsg.ElectLeadersRequestTopic{Topic: name}
			for i := range t.Partitions {
				one.Partitions = append(one.Partitions, int32(i))
			}
			asked = append(asked, one)
		}
	}
	for _, t := range asked {
		topic := kmsg.NewElectLeadersResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			row := kmsg.NewElectLeadersResponseTopicPartition()
			row.Partition = p
			code, message := s.cluster.Elect(nowMs, t.Topic, p, request.ElectionType == 1)
			if row.ErrorCode = code; code != 0 {
				row.ErrorMessage = words(message)
			}
			if request.Topics == nil && code == kerr.ElectionNotNeeded.Code {
				continue
			}
			c.note(code)
			topic.Partitions = append(topic.Partitions, row)
		}
		answer.Topics = append(answer.Topics, topic)
	}
	c.complete(answer)
}
