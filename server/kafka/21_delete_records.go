package kafka

import (
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
	type place struct {
		topic     string
		partition int32
	}
	last := map[place]int64{} // of a partition that is named twice the last word counts
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			last[place{t.Topic, p.Partition}] = p.Offset
		}
	}
	at := map[string]int{}
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			offset, first := last[place{t.Topic, p.Partition}]
			if !first {
				continue
			}
			delete(last, place{t.Topic, p.Partition})
			row := kmsg.NewDeleteRecordsResponseTopicPartition()
			row.Partition = p.Partition
			row.LowWatermark, row.ErrorCode = s.cluster.DeleteRecords(nowMs, c.conn.broker, t.Topic, p.Partition, offset)
			c.note(row.ErrorCode)
			if _, begun := at[t.Topic]; !begun {
				at[t.Topic] = len(answer.Topics)
				topic := kmsg.NewDeleteRecordsResponseTopic()
				topic.Topic = t.Topic
				answer.Topics = append(answer.Topics, topic)
			}
			topic := &answer.Topics[at[t.Topic]]
			topic.Partitions = append(topic.Partitions, row)
		}
	}
	c.complete(answer)
}
