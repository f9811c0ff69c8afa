package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// OffsetForLeaderEpoch (23), v2 to v4 (KIP-101, KIP-320): where a leader epoch ended. A consumer asks after a change of
// leader, to see whether what it read was cut off.
//
//   - v3: replica id
//   - v4: flexible (KIP-482)
var offsetForLeaderEpochAPI = api{key: 23, name: "OffsetForLeaderEpoch", min: 2, max: 4, decodeFrom: 2, run: offsetForLeaderEpoch}

func offsetForLeaderEpoch(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.OffsetForLeaderEpochRequest)
	answer := request.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	for _, t := range request.Topics {
		topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			row := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			row.Partition = p.Partition
			row.LeaderEpoch, row.EndOffset, row.ErrorCode = s.cluster.EpochEnd(c.conn.broker, t.Topic, p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch)
			if p.CurrentLeaderEpoch < -1 && row.ErrorCode == 0 { // no epoch, but not "none" either: one that is over
				row.LeaderEpoch, row.EndOffset, row.ErrorCode = -1, -1, kerr.FencedLeaderEpoch.Code
			}
			c.note(row.ErrorCode)
			topic.Partitions = append(topic.Partitions, row)
		}
		answer.Topics = append(answer.Topics, topic)
	}
	c.complete(answer)
}
