//go:build interop

package differ

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func reassignOf(v int16, topic string, partition int32, replicas ...int32) *kmsg.AlterPartitionAssignmentsRequest {
	r := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	r.Version, r.TimeoutMillis = v, 10_000
	r.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{Topic: topic, Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: partition, Replicas: replicas}}}}
	return r
}

// placementQuestions are about leaders, replicas and the folders that they are in.
func placementQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	for kind := int8(-1); kind <= 2; kind++ {
		elect := func(v int16, topics ...kmsg.ElectLeadersRequestTopic) *kmsg.ElectLeadersRequest {
			r := kmsg.NewPtrElectLeadersRequest()
			r.Version, r.ElectionType, r.TimeoutMillis, r.Topics = v, kind, 10_000, topics
			return r
		}
		since := int16(1)
		if kind == 0 {
			since = 0
		}
		add(43, since, fmt.Sprintf("type %d, one", kind), func(s *side, v int16) {
			s.tell("a", elect(v, kmsg.ElectLeadersRequestTopic{Topic: sharedData, Partitions: []int32{0, 1}}))
		})
		add(43, since, fmt.Sprintf("type %d, what is not there", kind), func(s *side, v int16) {
			s.tell("a", elect(v, kmsg.ElectLeadersRequestTopic{Topic: "absent", Partitions: []int32{0}}, kmsg.ElectLeadersRequestTopic{Topic: sharedData, Partitions: []int32{7, -1}},
				kmsg.ElectLeadersRequestTopic{Topic: "a b", Partitions: []int32{0}}))
		})
		add(43, since, fmt.Sprintf("type %d, all", kind), func(s *side, v int16) {
			s.all = true
			s.tell("a", elect(v))
		})
		add(43, since, fmt.Sprintf("type %d, none", kind), func(s *side, v int16) {
			r := elect(v)
			r.Topics = []kmsg.ElectLeadersRequestTopic{}
			s.tell("a", r)
			s.tell("a", elect(v, kmsg.ElectLeadersRequestTopic{Topic: sharedData}))
		})
		add(43, since, fmt.Sprintf("type %d, one twice", kind), func(s *side, v int16) {
			s.tell("a", elect(v, kmsg.ElectLeadersRequestTopic{Topic: sharedData, Partitions: []int32{0, 0}}, kmsg.ElectLeadersRequestTopic{Topic: sharedData, Partitions: []int32{1}}))
		})
	}
	for _, q := range []struct {
		name     string
		replicas []int32
	}{{"where it is", []int32{1}}, {"to who is not there", []int32{7}}, {"to one twice", []int32{1, 1}}, {"to two", []int32{1, 7}}, {"to none", []int32{}}, {"back", nil}, {"to -1", []int32{-1}}} {
		add(45, 0, q.name, func(s *side, v int16) {
			t := s.topic("t", 2)
			s.tell("a", reassignOf(v, t, 0, q.replicas...))
			s.tell("c", topicsOf(9, t))
		})
		add(45, 1, q.name+", as many replicas", func(s *side, v int16) {
			t := s.topic("t", 2)
			r := reassignOf(v, t, 0, q.replicas...)
			r.Topics[0].Partitions[0].Replicas, r.AllowReplicationFactorChange = q.replicas, false
			s.tell("a", r)
		})
		add(45, 0, q.name+", of what is not there", func(s *side, v int16) {
			r := reassignOf(v, "absent", 0, q.replicas...)
			for _, name := range []string{sharedData, "a b"} {
				r.Topics = append(r.Topics, reassignOf(v, name, 9, q.replicas...).Topics...)
			}
			for i := range r.Topics {
				r.Topics[i].Partitions[0].Replicas = q.replicas
			}
			s.tell("a", r)
		})
	}
	add(45, 0, "nothing", func(s *side, v int16) {
		r := reassignOf(v, "x", 0)
		r.Topics = nil
		s.tell("a", r)
	})
	for _, q := range []struct {
		name   string
		topics []kmsg.ListPartitionReassignmentsRequestTopic
	}{{"all", nil}, {"some", []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: sharedData, Partitions: []int32{0, 9}}, {Topic: "absent", Partitions: []int32{0}}}}, {"none", []kmsg.ListPartitionReassignmentsRequestTopic{}}} {
		add(46, 0, q.name, func(s *side, v int16) {
			r := kmsg.NewPtrListPartitionReassignmentsRequest()
			r.Version, r.TimeoutMillis, r.Topics = v, 10_000, q.topics
			s.tell("a", r)
		})
	}
	for _, q := range []struct {
		name   string
		topics []kmsg.DescribeLogDirsRequestTopic
	}{
		{"all", nil}, {"none", []kmsg.DescribeLogDirsRequestTopic{}}, {"one", []kmsg.DescribeLogDirsRequestTopic{{Topic: sharedData, Partitions: []int32{0, 1}}}},
		{"what is not there", []kmsg.DescribeLogDirsRequestTopic{{Topic: "absent", Partitions: []int32{0}}, {Topic: sharedData, Partitions: []int32{9, 0}}, {Topic: "a b"}}},
		{"no partitions", []kmsg.DescribeLogDirsRequestTopic{{Topic: sharedData}}}, {"one twice", []kmsg.DescribeLogDirsRequestTopic{{Topic: sharedData, Partitions: []int32{0, 0}}, {Topic: sharedData, Partitions: []int32{1}}}},
	} {
		add(35, 0, q.name, func(s *side, v int16) {
			s.all = true
			r := kmsg.NewPtrDescribeLogDirsRequest()
			r.Version, r.Topics = v, q.topics
			s.tell("a", r)
		})
	}
	return all
}
