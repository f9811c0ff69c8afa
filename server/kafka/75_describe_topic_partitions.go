package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeTopicPartitions (75), v0 (KIP-966): topics, page by page. Eligible leader replicas are not kept here; their lists
// are empty, never null, which Kafka's own admin client could not bear.
var describeTopicPartitionsAPI = api{key: 75, name: "DescribeTopicPartitions", min: 0, max: 0, run: describeTopicPartitions}

// maxPartitionsPerPage is max.request.partition.size.limit.
const maxPartitionsPerPage = 2000

func describeTopicPartitions(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.DescribeTopicPartitionsRequest)
	answer := request.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	names := s.cluster.TopicNames()
	if len(request.Topics) > 0 {
		names = names[:0:0]
		for _, t := range request.Topics {
			names = append(names, t.Topic)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	first := int32(0)
	if from := request.Cursor; from != nil {
		if from.Partition < 0 || len(request.Topics) > 0 && !slices.Contains(names, from.Topic) {
			refusePage(c, request, answer)
			return
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name < from.Topic })
		if len(names) > 0 && names[0] == from.Topic {
			first = max(from.Partition, 0)
		}
	}
	room := int(request.ResponsePartitionLimit)
	room = max(1, min(room, maxPartitionsPerPage))
	for _, name := range names {
		t, ok := s.cluster.Topic(name)
		if ok && room == 0 {
			answer.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name}
			break
		}
		row, next := pageOf(name, t, ok, first, room)
		first = 0
		room -= len(row.Partitions)
		c.note(row.ErrorCode)
		answer.Topics = append(answer.Topics, row)
		if next >= 0 {
			answer.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name, Partition: next}
			break
		}
	}
	c.complete(answer)
}

// refusePage answers a cursor that points to nothing that was asked for.
func refusePage(c *call, request *kmsg.DescribeTopicPartitionsRequest, answer *kmsg.DescribeTopicPartitionsResponse) {
	c.code = kerr.InvalidRequest.Code
	for _, t := range request.Topics {
		row := kmsg.NewDescribeTopicPartitionsResponseTopic()
		row.Topic, row.ErrorCode = kmsg.StringPtr(t.Topic), c.code
		row.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
		answer.Topics = append(answer.Topics, row)
	}
	c.complete(answer)
}

// pageOf describes a topic from one partition on, room partitions at most; next is where the rest begins, -1 where there is
// none.
func pageOf(name string, t Topic, known bool, first int32, room int) (row kmsg.DescribeTopicPartitionsResponseTopic, next int32) {
	row = kmsg.NewDescribeTopicPartitionsResponseTopic()
	row.Topic, row.TopicID, row.IsInternal = &name, t.ID, t.Internal
	row.AuthorizedOperations = allTopicOperations
	row.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
	if !known {
		row.ErrorCode = kerr.UnknownTopicOrPartition.Code
		if !validTopic(name) {
			row.ErrorCode = kerr.InvalidTopicException.Code
		}
		return row, -1
	}
	for i := int(first); i < len(t.Partitions); i++ {
		if len(row.Partitions) == room {
			return row, int32(i)
		}
		p := t.Partitions[i]
		part := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		part.Partition, part.LeaderID, part.LeaderEpoch = int32(i), p.Leader, p.Epoch
		part.Replicas, part.ISR, part.OfflineReplicas = p.Replicas, p.ISR, p.Offline
		part.EligibleLeaderReplicas, part.LastKnownELR = []int32{}, []int32{}
		if p.Leader < 0 {
			part.ErrorCode = kerr.LeaderNotAvailable.Code
		}
		row.Partitions = append(row.Partitions, part)
	}
	return row, -1
}
