package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteTopics (20), v0 to v6. What groups have committed of the topic goes with it.
//
//   - v1: throttle time
//   - v3: TOPIC_DELETION_DISABLED (KIP-322), which never happens here
//   - v4: flexible (KIP-482)
//   - v5: error messages (KIP-599)
//   - v6: topics by id (KIP-516)
var deleteTopicsAPI = api{key: 20, name: "DeleteTopics", min: 0, max: 6, run: deleteTopics}

func deleteTopics(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.DeleteTopicsRequest)
	answer := request.ResponseKind().(*kmsg.DeleteTopicsResponse)
	asked := request.Topics
	for i := range request.TopicNames {
		asked = append(asked, kmsg.DeleteTopicsRequestTopic{Topic: &request.TopicNames[i]})
	}
	times := map[string]int{}
	for _, t := range asked {
		times[s.nameToDelete(t)]++
	}
	told := map[string]bool{} // a topic that is named twice has one row
	s.inTurns(c, nowMs, len(asked), func(nowMs int64, i int) int {
		t := asked[i]
		if name := s.nameToDelete(t); name != "" && times[name] > 1 {
			if told[name] {
				return 1
			}
			told[name] = true
		}
		row := kmsg.NewDeleteTopicsResponseTopic()
		row.Topic, row.TopicID = t.Topic, t.TopicID
		var message string
		name := s.nameToDelete(t)
		switch {
		case t.Topic != nil && t.TopicID != [16]byte{}:
			row.ErrorCode, message = kerr.InvalidRequest.Code, "a topic is named by its name or by its id, not by both"
		case t.Topic == nil && t.TopicID == [16]byte{}:
			row.ErrorCode, message = kerr.InvalidRequest.Code, "a topic has neither a name nor an id"
		case name == "" && t.Topic == nil:
			row.ErrorCode, message = kerr.UnknownTopicID.Code, "no topic has this id"
		case times[name] > 1:
			row.ErrorCode, message = kerr.InvalidRequest.Code, "the request names this topic more than once"
		default:
			if found, ok := s.cluster.Topic(name); ok {
				row.TopicID = found.ID
			}
			row.Topic = &name
			row.ErrorCode, message = s.cluster.DeleteTopic(nowMs, name)
		}
		if row.ErrorCode != 0 {
			row.ErrorMessage = words(message)
		}
		c.note(row.ErrorCode)
		answer.Topics = append(answer.Topics, row)
		return costOf(row.ErrorCode)
	}, func() { c.complete(answer) })
}

func (s *Server) nameToDelete(t kmsg.DeleteTopicsRequestTopic) string {
	if t.Topic != nil {
		return *t.Topic
	}
	name, _ := s.cluster.TopicName(t.TopicID)
	return name
}
