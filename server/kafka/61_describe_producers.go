package kafka

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// DescribeProducers (61), v0 (KIP-664): the producers that a partition's leader remembers, and where their transactions
// began. It is how an operator finds a transaction that hangs.
var describeProducersAPI = api{key: 61, name: "DescribeProducers", min: 0, max: 0, run: describeProducers}

func describeProducers(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.DescribeProducersRequest)
	answer := request.ResponseKind().(*kmsg.DescribeProducersResponse)
	for _, t := range request.Topics {
		topic := kmsg.NewDescribeProducersResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			row := kmsg.NewDescribeProducersResponseTopicPartition()
			row.Partition = p
			list, code := s.cluster.Producers(c.conn.broker, t.Topic, p)
			if !validTopic(t.Topic) {
				code = kerr.InvalidTopicException.Code
			}
			if row.ErrorCode = code; code != 0 {
				row.ErrorMessage = kmsg.StringPtr(kerr.TypedErrorForCode(code).Description)
			}
			c.note(code)
			for _, found := range list {
				one := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
				one.ProducerID, one.ProducerEpoch = found.ID, int32(found.Epoch)
				one.LastSequence, one.LastTimestamp = found.LastSequence, found.LastTimestampMs
				one.CoordinatorEpoch, one.CurrentTxnStartOffset = found.CoordinatorEpoch, found.TransactionStart
				row.ActiveProducers = append(row.ActiveProducers, one)
			}
			topic.Partitions = append(topic.Partitions, row)
		}
		answer.Topics = append(answer.Topics, topic)
	}
	c.complete(answer)
}
