package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// DescribeLogDirs (35), v0 to v4 (KIP-113): how large this broker's copies are, and how far behind. A broker has one
// directory.
//
//   - v2: flexible (KIP-482)
//   - v3: an error for the whole answer (KIP-784)
//   - v4: size of the volume (KIP-827); -1 where it is not known
var describeLogDirsAPI = api{key: 35, name: "DescribeLogDirs", min: 0, max: 4, run: describeLogDirs}

func describeLogDirs(s *Server, c *call, _ int64) {
	request := c.request.(*kmsg.DescribeLogDirsRequest)
	answer := request.ResponseKind().(*kmsg.DescribeLogDirsResponse)
	dir := kmsg.NewDescribeLogDirsResponseDir()
	path, copies := s.cluster.LogDir(c.conn.broker)
	dir.Dir = path
	asked := map[place]bool{}
	for _, t := range request.Topics {
		for _, p := range t.Partitions {
			asked[place{t.Topic, p}] = true
		}
	}
	for _, held := range copies {
		if request.Topics != nil && !asked[place{held.Topic, held.Partition}] {
			continue
		}
		if n := len(dir.Topics); n == 0 || dir.Topics[n-1].Topic != held.Topic {
			topic := kmsg.NewDescribeLogDirsResponseDirTopic()
			topic.Topic = held.Topic
			dir.Topics = append(dir.Topics, topic)
		}
		row := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		row.Partition, row.Size, row.OffsetLag = held.Partition, held.Bytes, held.Lag
		topic := &dir.Topics[len(dir.Topics)-1]
		topic.Partitions = append(topic.Partitions, row)
	}
	answer.Dirs = append(answer.Dirs, dir)
	c.complete(answer)
}
