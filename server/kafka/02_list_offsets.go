package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ListOffsets (2), v1 to v10.
//
//   - v2: isolation level, throttle time. For read_committed everything ends at the last stable offset.
//   - v4: leader epochs (KIP-320)
//   - v6: flexible (KIP-482)
//   - v7: -3, the largest timestamp (KIP-734)
//   - v8: -4, the earliest offset on this broker (KIP-405): the earliest, as nothing is stored elsewhere
//   - v9: -5, the latest offset in tiered storage (KIP-1005): none
//   - v10: time-out for remote storage (KIP-1075)
//
// v0 gave a list of segments' offsets; Kafka 4.0 does not serve it (KIP-896).
var listOffsetsAPI = api{key: 2, name: "ListOffsets", min: 1, max: 10, decodeFrom: 1, run: listOffsets}

// Timestamps that are none, by Kafka's ListOffsetsRequest, and the first version that may use each.
const (
	latestTimestamp        int64 = -1
	earliestTimestamp      int64 = -2
	maxTimestamp           int64 = -3
	earliestLocalTimestamp int64 = -4
	latestTieredTimestamp  int64 = -5
)

func listOffsets(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.ListOffsetsRequest)
	answer := request.ResponseKind().(*kmsg.ListOffsetsResponse)
	type place struct {
		topic     string
		partition int32
	}
	times := map[place]int{}
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			times[place{t.Topic, p.Partition}]++
		}
	}
	at, told := map[string]int{}, map[place]bool{}
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			if told[place{t.Topic, p.Partition}] {
				continue
			}
			told[place{t.Topic, p.Partition}] = true
			row := kmsg.NewListOffsetsResponseTopicPartition()
			row.Partition = p.Partition
			found := ListedOffset{Offset: -1, TimestampMs: -1, LeaderEpoch: -1, Code: kerr.InvalidRequest.Code}
			if times[place{t.Topic, p.Partition}] == 1 {
				found = s.listOffset(c, t.Topic, p, request.IsolationLevel == 1)
			}
			row.Offset, row.Timestamp, row.LeaderEpoch, row.ErrorCode = found.Offset, found.TimestampMs, found.LeaderEpoch, found.Code
			c.note(found.Code)
			if _, begun := at[t.Topic]; !begun {
				at[t.Topic] = len(answer.Topics)
				topic := kmsg.NewListOffsetsResponseTopic()
				topic.Topic = t.Topic
				answer.Topics = append(answer.Topics, topic)
			}
			topic := &answer.Topics[at[t.Topic]]
			topic.Partitions = append(topic.Partitions, row)
		}
	}
	c.complete(answer)
}

func (s *Server) listOffset(c *call, topic string, p kmsg.ListOffsetsRequestTopicPartition, committed bool) ListedOffset {
	at := p.Timestamp
	q := OffsetQuestion{Broker: c.conn.broker, Topic: topic, Partition: p.Partition, Epoch: p.CurrentLeaderEpoch, TimestampMs: at, Committed: committed}
	switch {
	case at >= 0, at == latestTimestamp, at == earliestTimestamp, at == maxTimestamp && c.version >= 7:
	case at == earliestLocalTimestamp && c.version >= 8:
		q.TimestampMs = earliestTimestamp
	case at == latestTieredTimestamp && c.version >= 9:
		// Asked all the same, so that a wrong leader or epoch is told of.
		q.TimestampMs = latestTimestamp
		found := s.askOffset(q)
		return ListedOffset{Offset: -1, TimestampMs: -1, LeaderEpoch: -1, Code: found.Code}
	default:
		return ListedOffset{Offset: -1, TimestampMs: -1, LeaderEpoch: -1, Code: kerr.UnsupportedVersion.Code}
	}
	return s.askOffset(q)
}

// askOffset takes an epoch below -1, which is none, for one that is over, as Kafka does.
func (s *Server) askOffset(q OffsetQuestion) ListedOffset {
	over := q.Epoch < -1
	if over {
		q.Epoch = -1
	}
	found := s.cluster.ListOffset(q)
	if over && found.Code == 0 {
		return ListedOffset{Offset: -1, TimestampMs: -1, LeaderEpoch: -1, Code: kerr.FencedLeaderEpoch.Code}
	}
	return found
}
