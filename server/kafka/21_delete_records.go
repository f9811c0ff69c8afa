package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteRecords (21), v0 to v2 (KIP-107): a partition begins at a later offset; -1 stands for its high watermark. Only the
// leader answers.
//
//   - v2: flexible (KIP-482)
var deleteRecordsAPI = api{key: 21, name: "DeleteRecords", min: 0, max: 2, run: deleteRecords}

func deleteRecords(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.DeleteRecordsRequest)
	answer := request.ResponseKind().(*kmsg.DeleteRecordsResponse)
	for _, t := range request.Topics {
		topic := kmsg.NewDeleteRecordsResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			row := kmsg.NewDeleteRecordsResponseTopicPartition()
			row.Partition = p.Partition
			row.LowWatermark, row.ErrorCode = s.cluster.DeleteRecords(nowMs, c.conn.broker, t.Topic, p.Partition, p.Offset)
			if !validTopic(t.Topic) {
				row.LowWatermark, row.ErrorCode = -1, kerr.InvalidTopicException.Code
			}
			c.note(row.ErrorCode)
			topic.Partitions = append(topic.Partitions, row)
		}
		answer.Topics = append(answer.Topics, topic)
	}
	c.complete(answer)
}
