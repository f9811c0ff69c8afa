//go:build interop

package differ

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func topicsOf(v int16, topics ...string) *kmsg.MetadataRequest {
	r := kmsg.NewPtrMetadataRequest()
	r.Version, r.AllowAutoTopicCreation = v, false
	r.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		r.Topics = append(r.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(name)})
	}
	return r
}

func deleteTopicsOf(v int16, topics ...string) *kmsg.DeleteTopicsRequest {
	r := kmsg.NewPtrDeleteTopicsRequest()
	r.Version, r.TimeoutMillis, r.TopicNames = v, 10_000, topics
	if v >= 6 {
		for i := range topics {
			r.Topics = append(r.Topics, kmsg.DeleteTopicsRequestTopic{Topic: &topics[i]})
		}
	}
	return r
}

// awaitGone waits until a topic is not known any more; awaitThere until all its partitions are.
func (s *side) awaitGone(topic string) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		a := s.ask("admin", topicsOf(9, topic)).(*kmsg.MetadataResponse).Topics[0]
		b := s.ask("admin", listOffsetsOf(1, topic, -1, 0)).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
		if a.ErrorCode == 3 && b.ErrorCode == 3 {
			return
		}
		if time.Now().After(deadline) {
			s.stop("%s does not go", topic)
		}
	}
}

// own tells whether a topic belongs to this question, or to all.
func (s *side) own(topic string) bool {
	return strings.HasPrefix(topic, s.group+"-") || strings.HasPrefix(topic, "shared-")
}

// onlyOwn leaves out of an answer what other questions have made meanwhile.
func (s *side) onlyOwn(a kmsg.Response) {
	if !s.all {
		return
	}
	switch a := a.(type) {
	case *kmsg.MetadataResponse:
		a.Topics = slices.DeleteFunc(a.Topics, func(t kmsg.MetadataResponseTopic) bool { return t.Topic == nil || !s.own(*t.Topic) })
	case *kmsg.DescribeTopicPartitionsResponse:
		a.NextCursor = nil // a page holds so many partitions of others, too
		a.Topics = slices.DeleteFunc(a.Topics, func(t kmsg.DescribeTopicPartitionsResponseTopic) bool { return t.Topic == nil || !s.own(*t.Topic) })
	case *kmsg.DescribeLogDirsResponse:
		for i := range a.Dirs {
			a.Dirs[i].Topics = slices.DeleteFunc(a.Dirs[i].Topics, func(t kmsg.DescribeLogDirsResponseDirTopic) bool { return !s.own(t.Topic) })
		}
	case *kmsg.ElectLeadersResponse:
		a.Topics = slices.DeleteFunc(a.Topics, func(t kmsg.ElectLeadersResponseTopic) bool { return !s.own(t.Topic) })
	case *kmsg.ListTransactionsResponse:
		a.TransactionStates = slices.DeleteFunc(a.TransactionStates, func(t kmsg.ListTransactionsResponseTransactionState) bool {
			return !strings.HasSuffix(t.TransactionalID, s.group)
		})
	}
}

func metadataQuestions() (all []dataQuestion) {
	add := func(since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: 3, since: since, name: name, ask: ask})
	}
	add(0, "all topics", func(s *side, v int16) {
		s.shared()
		s.topic("t", 2)
		s.all = true
		r := topicsOf(v)
		if v > 0 {
			r.Topics = nil
		}
		s.tell("c", r)
		r.IncludeClusterAuthorizedOperations, r.IncludeTopicAuthorizedOperations = true, true
		s.tell("c", r)
	})
	add(1, "no topics", func(s *side, v int16) { s.tell("c", topicsOf(v)) })
	add(0, "some topics", func(s *side, v int16) {
		s.shared()
		s.tell("c", topicsOf(v, sharedData, "shared-deleted"))
		s.tell("c", topicsOf(v, sharedData, sharedData))
		r := topicsOf(v, sharedData)
		r.AllowAutoTopicCreation, r.IncludeClusterAuthorizedOperations, r.IncludeTopicAuthorizedOperations = true, true, true
		s.tell("c", r)
	})
	add(4, "what is not there", func(s *side, v int16) {
		r := topicsOf(v, s.group+"-absent", "a b", "", ".", "..", strings.Repeat("x", 249), strings.Repeat("x", 250), s.group+"-absent")
		s.tell("c", r)
		r.IncludeTopicAuthorizedOperations = true
		s.tell("c", r)
	})
	add(0, "a bad name, and creation allowed", func(s *side, v int16) {
		r := topicsOf(v, "a b", "", "..", strings.Repeat("x", 250))
		r.AllowAutoTopicCreation = true
		s.tell("c", r)
	})
	add(0, "a topic that is created", func(s *side, v int16) {
		r := topicsOf(v, s.group+"-new", "shared_data")
		r.AllowAutoTopicCreation = true
		s.ask("c", r)
		s.awaitTopic(s.group+"-new", 2)
		a := s.ask("admin", topicsOf(12, s.group+"-new")).(*kmsg.MetadataResponse)
		s.topicIDs[a.Topics[0].TopicID] = "<its id>"
		s.tell("c", topicsOf(max(v, 4), s.group+"-new"))
	})
	add(0, "a topic that is created at once", func(s *side, v int16) {
		r := topicsOf(v, s.group+"-new", "shared_data")
		r.AllowAutoTopicCreation = true
		for _, t := range s.ask("c", r).(*kmsg.MetadataResponse).Topics {
			s.told = append(s.told, fmt.Sprintf("  %s: error %d, %d partitions", s.text(*t.Topic), t.ErrorCode, len(t.Partitions)))
		}
	})
	add(4, "internal topics", func(s *side, v int16) {
		a := s.ask("admin", topicsOf(12, "__consumer_offsets")).(*kmsg.MetadataResponse)
		s.topicIDs[a.Topics[0].TopicID] = "<its id>"
		r := topicsOf(v, "__consumer_offsets")
		r.AllowAutoTopicCreation = true
		s.tell("c", r)
	})
	add(10, "ids", func(s *side, v int16) {
		s.shared()
		id := s.ids[sharedData]
		for _, topics := range [][]kmsg.MetadataRequestTopic{
			{{TopicID: id}}, {{TopicID: id}, {TopicID: id}}, {{TopicID: [16]byte{9}}}, {{TopicID: id}, {TopicID: [16]byte{9}}}, {{Topic: kmsg.StringPtr(sharedData), TopicID: id}},
			{{TopicID: id}, {Topic: kmsg.StringPtr("shared-deleted")}}, {{Topic: kmsg.StringPtr(sharedData)}, {TopicID: [16]byte{9}}}, {{TopicID: s.ids["shared-deleted"]}, {TopicID: id}},
		} {
			r := topicsOf(v)
			r.Topics = topics
			s.tell("c", r)
		}
	})
	add(10, "neither name nor id", func(s *side, v int16) {
		r := topicsOf(v)
		r.Topics = []kmsg.MetadataRequestTopic{{}}
		s.tell("c", r)
	})
	return all
}

func createTopicsOf(v int16, topics ...kmsg.CreateTopicsRequestTopic) *kmsg.CreateTopicsRequest {
	r := kmsg.NewPtrCreateTopicsRequest()
	r.Version, r.TimeoutMillis, r.Topics = v, 15_000, topics
	return r
}

func placed(name string, places ...[]int32) kmsg.CreateTopicsRequestTopic {
	t := newTopic(name, -1, -1)
	for i, replicas := range places {
		t.ReplicaAssignment = append(t.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(i), Replicas: replicas})
	}
	return t
}

func configured(name string, pairs ...string) kmsg.CreateTopicsRequestTopic {
	t := newTopic(name, 1, 1)
	for i := 0; i+1 < len(pairs); i += 2 {
		t.Configs = append(t.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: pairs[i], Value: &pairs[i+1]})
	}
	return t
}

// newTopics are topics that are asked for, right and wrong; n is the question's own name.
func newTopics(n string) map[string][]kmsg.CreateTopicsRequestTopic {
	twisted := placed(n, []int32{1}, []int32{1})
	twisted.ReplicaAssignment[0].Partition = 1
	twisted.ReplicaAssignment[1].Partition = 0
	gap, twice, negative := placed(n, []int32{1}, []int32{1}), placed(n, []int32{1}, []int32{1}), placed(n, []int32{1})
	gap.ReplicaAssignment[1].Partition, twice.ReplicaAssignment[1].Partition, negative.ReplicaAssignment[0].Partition = 2, 0, -1
	both, half := placed(n, []int32{1}), placed(n, []int32{1})
	both.NumPartitions, both.ReplicationFactor, half.ReplicationFactor = 1, 1, 1
	null := configured(n, "retention.ms", "")
	null.Configs[0].Value = nil
	return map[string][]kmsg.CreateTopicsRequestTopic{
		"a topic": {newTopic(n, 3, 1)}, "defaults": {newTopic(n, -1, -1)}, "the default of partitions": {newTopic(n, -1, 1)}, "the default of replicas": {newTopic(n, 1, -1)},
		"0 partitions": {newTopic(n, 0, 1)}, "-2 partitions": {newTopic(n, -2, 1)}, "0 replicas": {newTopic(n, 1, 0)}, "-2 replicas": {newTopic(n, 1, -2)},
		"more replicas than brokers": {newTopic(n, 1, 2)}, "many more replicas": {newTopic(n, 1, 32767)}, "neither": {newTopic(n, 0, 0)},
		"too many partitions": {newTopic(n, 10_001, 1)},
		"a space":             {newTopic("a b", 1, 1)}, "no name": {newTopic("", 1, 1)}, "a dot": {newTopic(".", 1, 1)}, "two dots": {newTopic("..", 1, 1)}, "a long name": {newTopic(strings.Repeat("x", 250), 1, 1)},
		"umlauts": {newTopic("Gruppenübung", 1, 1)}, "a slash": {newTopic("a/b", 1, 1)}, "one that is there": {newTopic(sharedData, 1, 1)}, "one that is there, wrongly": {newTopic(sharedData, 0, 7)},
		"a name that collides": {newTopic("shared_data", 1, 1)}, "names that collide": {newTopic(n+".x", 1, 1), newTopic(n+"_x", 1, 1)},
		"an internal one": {newTopic("__consumer_offsets", 1, 1)}, "one twice": {newTopic(n, 1, 1), newTopic(n, 2, 1)}, "one three times and another": {newTopic(n, 1, 1), newTopic(n, 1, 1), newTopic(n, 1, 1), newTopic(n+"b", 1, 1)},
		"none": nil, "several": {newTopic(n+"a", 1, 1), newTopic(n+"b", 0, 1), newTopic("a b", 1, 1)},
		"placed": {placed(n, []int32{1}, []int32{1})}, "placed in another order": {twisted}, "placed with a gap": {gap}, "placed twice": {twice}, "placed at -1": {negative},
		"placed nowhere": {placed(n, []int32{})}, "placed on who is not there": {placed(n, []int32{7})}, "placed on one twice": {placed(n, []int32{1, 1})}, "placed unevenly": {placed(n, []int32{1}, []int32{1, 7})},
		"placed on -1": {placed(n, []int32{-1})}, "placed and counted": {both}, "placed and half counted": {half},
		"settings": {configured(n, "retention.ms", "100000", "cleanup.policy", "compact,delete")}, "a setting that is none": {configured(n, "colour", "red")},
		"a value that is none": {configured(n, "retention.ms", "long")}, "a value out of bounds": {configured(n, "segment.bytes", "1")}, "a policy that is none": {configured(n, "cleanup.policy", "keep")},
		"a null value": {null}, "a setting twice": {configured(n, "retention.ms", "100000", "retention.ms", "200000")}, "an empty value": {configured(n, "retention.ms", "")},
		"no policy": {configured(n, "cleanup.policy", "")}, "min.insync.replicas 0": {configured(n, "min.insync.replicas", "0")}, "min.insync.replicas 5": {configured(n, "min.insync.replicas", "5")},
		"max.message.bytes -1": {configured(n, "max.message.bytes", "-1")}, "compression that is none": {configured(n, "compression.type", "rar")}, "compression in capitals": {configured(n, "compression.type", "GZIP")},
		"retention.ms -2": {configured(n, "retention.ms", "-2")}, "segment.ms 0": {configured(n, "segment.ms", "0")}, "a ratio of 2": {configured(n, "min.cleanable.dirty.ratio", "2")},
		"message.format.version": {configured(n, "message.format.version", "2.0")}, "a boolean that is none": {configured(n, "preallocate", "maybe")}, "a value with blanks": {configured(n, "retention.ms", " 100000 ")},
		"remote storage": {configured(n, "remote.storage.enable", "true")}, "local retention beyond retention": {configured(n, "local.retention.ms", "200000", "retention.ms", "1000")},
		"index bytes of 1": {configured(n, "segment.index.bytes", "1")}, "a timestamp type that is none": {configured(n, "message.timestamp.type", "Now")}, "lags crossed": {configured(n, "min.compaction.lag.ms", "5000", "max.compaction.lag.ms", "1000")},
		"a level of gzip": {configured(n, "compression.gzip.level", "99")}, "a level of lz4": {configured(n, "compression.lz4.level", "0")}, "a level of zstd": {configured(n, "compression.zstd.level", "99")},
		"flush.messages 0": {configured(n, "flush.messages", "0")}, "throttled replicas": {configured(n, "leader.replication.throttled.replicas", "x:y")}, "all throttled": {configured(n, "follower.replication.throttled.replicas", "*")},
	}
}

func topicQuestions() (all []dataQuestion) {
	add := func(api, since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: api, since: since, name: name, ask: ask})
	}
	for _, name := range slices.Sorted(maps.Keys(newTopics("n"))) {
		for _, only := range []bool{false, true} {
			title := name
			if only {
				title += ", validated"
			}
			add(19, int16(map[bool]int{true: 1}[only]), title, func(s *side, v int16) {
				r := createTopicsOf(v, newTopics(s.group + "-n")[name]...)
				r.ValidateOnly = only
				s.tell("a", r)
				look := topicsOf(9)
				for _, t := range r.Topics {
					if s.own(t.Topic) {
						look.Topics = append(look.Topics, kmsg.MetadataRequestTopic{Topic: &t.Topic})
					}
				}
				if !only {
					s.awaitMade(r)
				}
				s.tell("c", look)
			})
		}
	}
	for i, ask := range deletions() {
		add(20, ask.since, fmt.Sprintf("%d: %s", i, ask.name), ask.ask)
	}
	return slices.Concat(all, partitionQuestions(), pageQuestions())
}

// awaitMade waits until what a request has made is known everywhere.
func (s *side) awaitMade(r *kmsg.CreateTopicsRequest) {
	for _, t := range r.Topics {
		if n := s.made[t.Topic]; n > 0 && s.own(t.Topic) {
			s.awaitTopic(t.Topic, n)
		}
	}
}

type deletion struct {
	since int16
	name  string
	ask   func(s *side, v int16)
}

func deletions() []deletion {
	gone := func(s *side, topics ...string) {
		for _, t := range topics {
			s.awaitGone(t)
		}
	}
	return []deletion{
		{0, "a topic", func(s *side, v int16) {
			t := s.topic("t", 2)
			s.tell("a", deleteTopicsOf(v, t))
			gone(s, t)
			s.tell("a", deleteTopicsOf(v, t))
			s.topic("t", 1) // may come again
		}},
		{0, "what is not there", func(s *side, v int16) {
			s.tell("a", deleteTopicsOf(v, s.group+"-absent", "a b", "", ".."))
		}},
		{0, "one twice", func(s *side, v int16) {
			t := s.topic("t", 2)
			s.tell("a", deleteTopicsOf(v, t, t, s.group+"-absent"))
			s.tell("c", topicsOf(9, t))
		}},
		{0, "nothing", func(s *side, v int16) { s.tell("a", deleteTopicsOf(v)) }},
		{6, "by id", func(s *side, v int16) {
			t, u := s.topic("t", 2), s.topic("u", 1)
			r := deleteTopicsOf(v)
			r.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: s.ids[t]}, {TopicID: [16]byte{7}}, {Topic: &u}}
			s.tell("a", r)
			gone(s, t, u)
		}},
		{6, "by id and name", func(s *side, v int16) {
			t := s.topic("t", 2)
			r := deleteTopicsOf(v)
			r.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &t, TopicID: s.ids[t]}}
			s.tell("a", r)
			r.Topics = []kmsg.DeleteTopicsRequestTopic{{}}
			s.tell("a", r)
			r.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &t}, {TopicID: s.ids[t]}}
			s.tell("a", r)
			r.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: s.ids[t]}, {TopicID: s.ids[t]}}
			s.tell("a", r)
		}},
	}
}

func createPartitionsOf(v int16, topic string, count int32, places ...[]int32) *kmsg.CreatePartitionsRequest {
	r := kmsg.NewPtrCreatePartitionsRequest()
	r.Version, r.TimeoutMillis = v, 10_000
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, count
	for _, p := range places {
		t.Assignment = append(t.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: p})
	}
	r.Topics = append(r.Topics, t)
	return r
}

func partitionQuestions() (all []dataQuestion) {
	for _, q := range []struct {
		name   string
		count  int32
		places [][]int32
	}{
		{"more", 4, nil}, {"as many", 2, nil}, {"fewer", 1, nil}, {"none", 0, nil}, {"a negative number", -1, nil},
		{"placed", 4, [][]int32{{1}, {1}}}, {"placed too few", 4, [][]int32{{1}}}, {"placed too many", 3, [][]int32{{1}, {1}}}, {"placed on who is not there", 3, [][]int32{{7}}},
		{"placed on two", 3, [][]int32{{1, 7}}}, {"placed on one twice", 3, [][]int32{{1, 1}}}, {"placed nowhere", 3, [][]int32{{}}}, {"placed on -1", 3, [][]int32{{-1}}}, {"an empty placement", 3, [][]int32{}},
	} {
		for _, only := range []bool{false, true} {
			all = append(all, dataQuestion{api: 37, name: fmt.Sprintf("%s, only validated %v", q.name, only), ask: func(s *side, v int16) {
				t := s.topic("t", 2)
				r := createPartitionsOf(v, t, q.count, q.places...)
				if q.places != nil && len(q.places) == 0 {
					r.Topics[0].Assignment = []kmsg.CreatePartitionsRequestTopicAssignment{}
				}
				r.ValidateOnly = only
				if a, ok := s.tell("a", r).(*kmsg.CreatePartitionsResponse); ok && a.Topics[0].ErrorCode == 0 && !only {
					s.awaitTopic(t, q.count)
				}
				s.tell("c", topicsOf(9, t))
			}})
		}
	}
	all = append(all, dataQuestion{api: 37, name: "of what is not there", ask: func(s *side, v int16) {
		r := createPartitionsOf(v, s.group+"-absent", 3)
		for _, name := range []string{"a b", "", ".."} {
			r.Topics = append(r.Topics, createPartitionsOf(v, name, 3).Topics...)
		}
		s.tell("a", r)
		r.Topics = nil
		s.tell("a", r)
	}}, dataQuestion{api: 37, name: "of one twice", ask: func(s *side, v int16) {
		t := s.topic("t", 2)
		r := createPartitionsOf(v, t, 3)
		r.Topics = append(r.Topics, createPartitionsOf(v, t, 4).Topics...)
		s.tell("a", r)
		s.tell("c", topicsOf(9, t))
	}})
	return all
}

func pageQuestions() (all []dataQuestion) {
	add := func(name string, topics []string, limit int32, cursor *kmsg.DescribeTopicPartitionsRequestCursor) {
		all = append(all, dataQuestion{api: 75, name: name, ask: func(s *side, v int16) {
			s.shared()
			if topics == nil {
				s.all = true
			}
			r := kmsg.NewPtrDescribeTopicPartitionsRequest()
			r.Version, r.ResponsePartitionLimit, r.Cursor = v, limit, cursor
			for _, t := range topics {
				r.Topics = append(r.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: t})
			}
			s.tell("c", r)
		}})
	}
	pair := []string{"shared-deleted", sharedData}
	at := func(topic string, partition int32) *kmsg.DescribeTopicPartitionsRequestCursor {
		return &kmsg.DescribeTopicPartitionsRequestCursor{Topic: topic, Partition: partition}
	}
	add("two topics", pair, 2000, nil)
	for limit := int32(-1); limit <= 5; limit++ {
		add(fmt.Sprintf("%d partitions a page", limit), pair, limit, nil)
	}
	for partition := int32(-1); partition <= 4; partition++ {
		add(fmt.Sprintf("from partition %d", partition), pair, 2000, at(sharedData, partition))
		add(fmt.Sprintf("from partition %d, one a page", partition), pair, 1, at(sharedData, partition))
	}
	add("from what is not asked for", pair, 2000, at("shared-da", 2))
	add("from behind everything", pair, 2000, at("z", 0))
	add("from an absent one that is asked for", []string{"shared-absent", "shared-deleted"}, 2000, at("shared-absent", 0))
	add("one twice", []string{sharedData, sharedData}, 2000, nil)
	add("what is not there", []string{"shared-absent", "a b", sharedData}, 2000, nil)
	add("no name", []string{sharedData, ""}, 2000, nil)
	add("what is not there, one a page", []string{"shared-absent", "shared-b", sharedData, "shared-z"}, 1, nil)
	add("all", nil, 2000, nil)
	return all
}
