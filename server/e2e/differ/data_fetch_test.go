//go:build interop

package differ

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func fetchPartition(partition int32, offset int64) kmsg.FetchRequestTopicPartition {
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = partition, offset, 1<<20, -1
	return p
}

// fetchOf reads partition 0 of a topic without a session, by its name or id.
func fetchOf(v int16, topic string, id [16]byte, offset int64) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.SessionEpoch = v, 0, 1, 10<<20, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID, t.Partitions = topic, id, []kmsg.FetchRequestTopicPartition{fetchPartition(0, offset)}
	r.Topics = append(r.Topics, t)
	return r
}

func (s *side) fetchShared(v int16, offset int64) *kmsg.FetchRequest {
	s.shared()
	return fetchOf(v, sharedData, s.ids[sharedData], offset)
}

func fetchQuestions() (all []dataQuestion) {
	add := func(since int16, name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: 1, since: since, name: name, ask: ask})
	}
	// one is asked as it stands, with something changed.
	one := func(since int16, name string, change func(s *side, r *kmsg.FetchRequest)) {
		add(since, name, func(s *side, v int16) {
			r := s.fetchShared(v, 0)
			change(s, r)
			s.tell("c", r)
		})
	}
	first := func(r *kmsg.FetchRequest) *kmsg.FetchRequestTopicPartition { return &r.Topics[0].Partitions[0] }
	for _, offset := range []int64{-5, -1, 0, 1, 4, 5, 8, 11, 12, 13, 1 << 40} {
		one(0, fmt.Sprintf("from %d of 12", offset), func(_ *side, r *kmsg.FetchRequest) { first(r).FetchOffset = offset })
		one(0, fmt.Sprintf("committed, from %d of 12", offset), func(_ *side, r *kmsg.FetchRequest) {
			first(r).FetchOffset, r.IsolationLevel = offset, 1
		})
	}
	for _, offset := range []int64{0, 2, 3, 4, 8, 9} {
		one(0, fmt.Sprintf("from %d where records were deleted", offset), func(s *side, r *kmsg.FetchRequest) {
			r.Topics[0].Topic, r.Topics[0].TopicID = "shared-deleted", s.ids["shared-deleted"]
			first(r).FetchOffset = offset
		})
	}
	for _, n := range []int32{-1, 0, 1, 100, 200, 300, 1000, 5000} {
		one(0, fmt.Sprintf("%d bytes at most", n), func(_ *side, r *kmsg.FetchRequest) { r.MaxBytes = n })
		one(0, fmt.Sprintf("%d bytes of a partition at most", n), func(_ *side, r *kmsg.FetchRequest) { first(r).PartitionMaxBytes = n })
		one(0, fmt.Sprintf("%d bytes at least", n), func(_ *side, r *kmsg.FetchRequest) { r.MinBytes, r.MaxWaitMillis = n, 100 })
	}
	one(0, "three partitions and not so many bytes", func(s *side, r *kmsg.FetchRequest) {
		first(r).FetchOffset = 8
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, fetchPartition(1, 0), fetchPartition(2, 0))
		deleted := fetchOf(r.Version, "shared-deleted", s.ids["shared-deleted"], 4)
		r.Topics = append(r.Topics, deleted.Topics...)
		r.MaxBytes = 100
	})
	one(0, "a partition twice", func(_ *side, r *kmsg.FetchRequest) {
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, fetchPartition(0, 8))
	})
	one(0, "a topic twice", func(_ *side, r *kmsg.FetchRequest) {
		again := r.Topics[0]
		again.Partitions = []kmsg.FetchRequestTopicPartition{fetchPartition(1, 0)}
		r.Topics = append(r.Topics, again)
	})
	one(0, "partitions that are not there", func(_ *side, r *kmsg.FetchRequest) {
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, fetchPartition(3, 0), fetchPartition(-1, 0))
	})
	one(0, "topics that are not there", func(s *side, r *kmsg.FetchRequest) {
		for i, name := range []string{s.group + "-absent", "a b", ""} {
			more := fetchOf(r.Version, name, [16]byte{1, 2, byte(i)}, 0)
			r.Topics = append(r.Topics, more.Topics...)
		}
	})
	one(0, "only a topic that is not there", func(s *side, r *kmsg.FetchRequest) {
		r.Topics = fetchOf(r.Version, s.group+"-absent", [16]byte{7}, 0).Topics
		r.MaxWaitMillis = 100
	})
	one(13, "an id of zeros", func(s *side, r *kmsg.FetchRequest) { r.Topics[0].TopicID = [16]byte{} })
	one(0, "nothing", func(_ *side, r *kmsg.FetchRequest) { r.Topics, r.MaxWaitMillis = nil, 100 })
	one(0, "a topic without partitions", func(_ *side, r *kmsg.FetchRequest) { r.Topics[0].Partitions = nil })
	one(0, "nothing new, and some patience", func(_ *side, r *kmsg.FetchRequest) { first(r).FetchOffset, r.MaxWaitMillis = 12, 200 })
	one(0, "a negative patience", func(_ *side, r *kmsg.FetchRequest) { first(r).FetchOffset, r.MaxWaitMillis = 12, -1 })
	one(0, "an isolation that is none", func(_ *side, r *kmsg.FetchRequest) { r.IsolationLevel = 7 })
	for _, epoch := range []int32{-5, -1, 0, 1, 9} {
		one(9, fmt.Sprintf("leader epoch %d", epoch), func(_ *side, r *kmsg.FetchRequest) { first(r).CurrentLeaderEpoch = epoch })
		one(12, fmt.Sprintf("last fetched epoch %d", epoch), func(_ *side, r *kmsg.FetchRequest) {
			first(r).LastFetchedEpoch, first(r).FetchOffset = epoch, 4
		})
	}
	one(12, "last fetched epoch 0 and more than there is", func(_ *side, r *kmsg.FetchRequest) {
		first(r).LastFetchedEpoch, first(r).FetchOffset = 0, 40
	})
	one(5, "a log start offset", func(_ *side, r *kmsg.FetchRequest) { first(r).LogStartOffset = 3 })
	one(11, "a rack", func(_ *side, r *kmsg.FetchRequest) { r.Rack = "elsewhere" })
	one(12, "the cluster's name", func(_ *side, r *kmsg.FetchRequest) { r.ClusterID = kmsg.StringPtr("another") })
	for _, id := range []int32{-2, 0, 1, 9} {
		one(0, fmt.Sprintf("as replica %d", id), func(_ *side, r *kmsg.FetchRequest) {
			if r.Version < 15 {
				r.ReplicaID = id
			} else {
				r.ReplicaState.ID = id
			}
		})
	}
	add(0, "records that come while it waits", func(s *side, v int16) {
		topic := s.topic("t", 1)
		r := fetchOf(v, topic, s.ids[topic], 0)
		r.MaxWaitMillis = 15_000
		s.send("c", r)
		s.write(topic, batch{values: values(4, 8)})
		s.asked["c"] = r
		s.end("c")
	})
	return append(all, fetchSessionQuestions()...)
}

func fetchSessionQuestions() (all []dataQuestion) {
	add := func(name string, ask func(s *side, v int16)) {
		all = append(all, dataQuestion{api: 1, since: 7, name: "session: " + name, ask: ask})
	}
	// next asks incrementally, with the topics given.
	next := func(s *side, v int16, session, epoch int32, topics ...kmsg.FetchRequestTopic) kmsg.Response {
		r := fetchOf(v, "", [16]byte{}, 0)
		r.Topics, r.SessionID, r.SessionEpoch = topics, session, epoch
		return s.tell("c", r)
	}
	open := func(s *side, v int16, topic string) int32 {
		r := fetchOf(v, topic, s.ids[topic], 0)
		r.SessionEpoch = 0
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, fetchPartition(1, 0))
		a, ok := s.tell("c", r).(*kmsg.FetchResponse)
		if !ok {
			s.stop("no session")
		}
		return a.SessionID
	}
	add("what is new", func(s *side, v int16) {
		topic := s.topic("t", 2)
		s.write(topic, batch{values: values(4, 8)})
		id := open(s, v, topic)
		behind := kmsg.FetchRequestTopic{Topic: topic, TopicID: s.ids[topic], Partitions: []kmsg.FetchRequestTopicPartition{fetchPartition(0, 4)}}
		next(s, v, id, 1, behind)
		next(s, v, id, 2)
		s.write(topic, batch{values: values(2, 8)})
		next(s, v, id, 3)
		next(s, v, id, 4) // not fetched on: the same again
	})
	add("wrong ids and epochs", func(s *side, v int16) {
		id := open(s, v, s.topic("t", 2))
		next(s, v, id, 5)
		next(s, v, id, 1)
		next(s, v, id+1_000_003, 1)
		next(s, v, id, 2)
		next(s, v, 0, 4)
		next(s, v, id, -7)
	})
	add("closed", func(s *side, v int16) {
		topic := s.topic("t", 2)
		id := open(s, v, topic)
		next(s, v, id, -1)
		next(s, v, id, 1)
	})
	add("begun anew", func(s *side, v int16) {
		topic := s.topic("t", 2)
		id := open(s, v, topic)
		r := fetchOf(v, topic, s.ids[topic], 0)
		r.SessionID, r.SessionEpoch = id, 0
		s.tell("c", r)
		next(s, v, id, 1)
	})
	add("partitions forgotten", func(s *side, v int16) {
		topic := s.topic("t", 2)
		id := open(s, v, topic)
		r := fetchOf(v, "", [16]byte{}, 0)
		r.Topics, r.SessionID, r.SessionEpoch = nil, id, 1
		r.ForgottenTopics = []kmsg.FetchRequestForgottenTopic{{Topic: topic, TopicID: s.ids[topic], Partitions: []int32{0, 7}}, {Topic: "absent", TopicID: [16]byte{3}, Partitions: []int32{0}}}
		s.tell("c", r)
		s.write(topic, batch{values: values(2, 8)})
		next(s, v, id, 2)
	})
	add("what is not there, and comes", func(s *side, v int16) {
		topic := s.topic("t", 2)
		r := fetchOf(v, topic, s.ids[topic], 0)
		r.SessionEpoch = 0
		r.Topics = append(r.Topics, fetchOf(v, s.group+"-later", [16]byte{5}, 0).Topics...)
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, fetchPartition(9, 0))
		if a, ok := s.tell("c", r).(*kmsg.FetchResponse); ok && a.SessionID != 0 {
			next(s, v, a.SessionID, 1)
			s.topic("later", 1)
			s.write(s.group+"-later", batch{values: values(2, 8)})
			next(s, v, a.SessionID, 2)
		}
	})
	add("a topic that is deleted", func(s *side, v int16) {
		topic := s.topic("t", 2)
		id := open(s, v, topic)
		s.ask("admin", deleteTopicsOf(4, topic))
		s.awaitGone(topic)
		next(s, v, id, 1)
		next(s, v, id, 2)
	})
	add("an offset that is out of range", func(s *side, v int16) {
		topic := s.topic("t", 2)
		id := open(s, v, topic)
		next(s, v, id, 1, kmsg.FetchRequestTopic{Topic: topic, TopicID: s.ids[topic], Partitions: []kmsg.FetchRequestTopicPartition{fetchPartition(0, 44)}})
		next(s, v, id, 2)
	})
	add("of nothing", func(s *side, v int16) {
		r := fetchOf(v, "", [16]byte{}, 0)
		r.Topics, r.SessionEpoch = nil, 0
		s.tell("c", r)
	})
	return all
}
