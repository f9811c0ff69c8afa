//go:build interop

package differ

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func listOffsetsOf(v int16, topic string, timestamp int64, partitions ...int32) *kmsg.ListOffsetsRequest {
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version, r.ReplicaID = v, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for _, n := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = n, timestamp, -1
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	return r
}

func epochEndOf(v int16, topic string, current, epoch int32, partitions ...int32) *kmsg.OffsetForLeaderEpochRequest {
	r := kmsg.NewPtrOffsetForLeaderEpochRequest()
	r.Version, r.ReplicaID = v, -1
	t := kmsg.NewOffsetForLeaderEpochRequestTopic()
	t.Topic = topic
	for _, n := range partitions {
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = n, current, epoch
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	return r
}

func deleteRecordsOf(v int16, topic string, partition int32, offset int64) *kmsg.DeleteRecordsRequest {
	r := kmsg.NewPtrDeleteRecordsRequest()
	r.Version, r.TimeoutMillis = v, 10_000
	r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: offset}}}}
	return r
}

// moments are timestamps that are asked for, by name: Kafka's special ones, and some around the shared records.
func moments() map[string]int64 {
	all := map[string]int64{"long ago": 0, "1": 1, "for ever": 1<<63 - 1}
	for special := int64(-8); special < 0; special++ {
		all[fmt.Sprint(special)] = special
	}
	for _, after := range []int64{-1, 0, 1, 10, 30, 31, 499, 500, 501, 1000, 1001, 1200, 1600, 2600, 2601, 100_000_000} {
		all[fmt.Sprintf("%d ms after the first record", after)] = born + after
	}
	return all
}

func offsetQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	times := moments()
	for _, name := range slices.Sorted(maps.Keys(times)) {
		at := times[name]
		for isolation := range int8(2) {
			add(2, 0, fmt.Sprintf("%s, isolation %d", name, isolation), func(s *side, v int16) {
				r := listOffsetsOf(v, sharedData, at, 0, 1)
				r.Topics = append(r.Topics, listOffsetsOf(v, "shared-deleted", at, 0).Topics...)
				r.IsolationLevel = isolation
				s.tell("c", r)
			})
		}
	}
	for _, epoch := range []int32{-5, 0, 1, 7} {
		for _, at := range []int64{-1, -2, -3, -4, -5, -99, born} {
			add(2, 4, fmt.Sprintf("leader epoch %d, time %d", epoch, at-born*min(1, max(0, at))), func(s *side, v int16) {
				r := listOffsetsOf(v, sharedData, at, 0, 1)
				r.Topics[0].Partitions[0].CurrentLeaderEpoch = epoch
				s.tell("c", r)
			})
		}
	}
	add(2, 0, "what is not there", func(s *side, v int16) {
		r := listOffsetsOf(v, sharedData, -1, 0, 3, -1)
		for _, name := range []string{s.group + "-absent", "a b", "", "__consumer_offsets"} {
			r.Topics = append(r.Topics, listOffsetsOf(v, name, -1, 0).Topics...)
		}
		s.tell("c", r)
		s.tell("c", listOffsetsOf(v, s.group+"-absent", -9, 0))
	})
	add(2, 0, "twice", func(s *side, v int16) {
		r := listOffsetsOf(v, sharedData, -1, 0, 0, 1)
		s.tell("c", r)
		r.Topics = append(r.Topics, listOffsetsOf(v, sharedData, -2, 2, 1).Topics...)
		s.tell("c", r)
	})
	add(2, 0, "nothing", func(s *side, v int16) {
		r := listOffsetsOf(v, sharedData, -1)
		s.tell("c", r)
		r.Topics = nil
		s.tell("c", r)
	})
	for _, id := range []int32{-2, 0, 1, 9} {
		add(2, 0, fmt.Sprintf("as replica %d", id), func(s *side, v int16) {
			r := listOffsetsOf(v, sharedData, -1, 0)
			r.ReplicaID = id
			s.tell("c", r)
		})
	}
	for _, current := range []int32{-5, -1, 0, 1, 7} {
		for _, epoch := range []int32{-5, -1, 0, 1, 7} {
			add(23, 0, fmt.Sprintf("epoch %d, current %d", epoch, current), func(s *side, v int16) {
				s.tell("c", epochEndOf(v, sharedData, current, epoch, 0, 1))
			})
		}
	}
	add(23, 0, "what is not there", func(s *side, v int16) {
		r := epochEndOf(v, sharedData, -1, 0, 0, 3, -1, 0)
		for _, name := range []string{s.group + "-absent", "a b", "", "__consumer_offsets"} {
			r.Topics = append(r.Topics, epochEndOf(v, name, -1, 0, 0).Topics...)
		}
		s.tell("c", r)
		r.Topics = nil
		s.tell("c", r)
	})
	for _, id := range []int32{-2, 0, 1} {
		add(23, 3, fmt.Sprintf("as replica %d", id), func(s *side, v int16) {
			r := epochEndOf(v, sharedData, -1, 0, 0)
			r.ReplicaID = id
			s.tell("c", r)
		})
	}
	for _, offset := range []int64{-5, -2, -1, 0, 3, 7, 8, 9, 1 << 40} {
		add(21, 0, fmt.Sprintf("before %d of 8", offset), func(s *side, v int16) {
			topic := s.topic("t", 1)
			s.write(topic, batch{values: values(4, 8)}, batch{values: values(4, 8), afterMs: 1000})
			s.tell("a", deleteRecordsOf(v, topic, 0, offset))
			s.tell("a", deleteRecordsOf(v, topic, 0, 2))
			s.tell("a", listOffsetsOf(5, topic, -2, 0))
			s.tell("a", listOffsetsOf(5, topic, born, 0))
			s.tell("a", fetchOf(11, topic, [16]byte{}, max(offset, 2)))
		})
	}
	add(21, 0, "of what is not there", func(s *side, v int16) {
		topic := s.topic("t", 1)
		r := deleteRecordsOf(v, topic, 0, 0)
		for _, name := range []string{topic, s.group + "-absent", "a b", "", "__consumer_offsets"} {
			r.Topics = append(r.Topics, deleteRecordsOf(v, name, 7, 0).Topics...)
		}
		s.tell("a", r)
		s.tell("a", deleteRecordsOf(v, topic, -1, 0))
		r.Topics = nil
		s.tell("a", r)
	})
	add(21, 0, "a partition twice", func(s *side, v int16) {
		topic := s.topic("t", 1)
		s.write(topic, batch{values: values(4, 8)})
		r := deleteRecordsOf(v, topic, 0, 1)
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, kmsg.DeleteRecordsRequestTopicPartition{Offset: 2})
		s.tell("a", r)
	})
	add(21, 0, "of a compacted topic", func(s *side, v int16) {
		topic := s.topic("t", 1, "cleanup.policy", "compact")
		s.write(topic, batch{values: values(4, 8)})
		s.tell("a", deleteRecordsOf(v, topic, 0, 1))
		s.tell("a", deleteRecordsOf(v, "__consumer_offsets", 0, 0))
	})
	return all
}
