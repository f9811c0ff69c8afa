package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Metadata (3), v0 to v13.
//
//   - v0: an empty list asks for all topics; from v1 a null list does, and an empty one asks for none
//   - v1: controller, racks, internal topics
//   - v2: cluster id
//   - v3: throttle time
//   - v4: the client may forbid the creation of topics
//   - v5: offline replicas (KIP-112)
//   - v7: leader epochs (KIP-320)
//   - v8: authorized operations (KIP-430); those of the cluster go again with v11
//   - v9: flexible (KIP-482)
//   - v10: topic ids (KIP-516); v12: topics by id
//   - v13: an error for the whole answer (KIP-1102)
//
// A missing topic is created where both the request and auto.create.topics.enable allow it, and is told of at once;
// Kafka first answers UNKNOWN_TOPIC_OR_PARTITION and has it a moment later.
var metadataAPI = api{key: 3, name: "Metadata", min: 0, max: 13, run: metadata}

// Authorized operations as bits: 1 << AclOperation. Nobody is kept from anything on a listener without authentication.
const (
	allTopicOperations   int32 = 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11
	allClusterOperations int32 = 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12
)

func metadata(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.MetadataRequest)
	answer := request.ResponseKind().(*kmsg.MetadataResponse)
	if c.version < 12 && slices.ContainsFunc(request.Topics, func(t kmsg.MetadataRequestTopic) bool { return t.Topic == nil || t.TopicID != [16]byte{} }) {
		refuseIDs(c, request, answer)
		return
	}
	if c.version == 0 && len(request.Topics) == 0 || c.version > 0 && request.Topics == nil {
		for _, name := range s.cluster.TopicNames() {
			t, _ := s.cluster.Topic(name)
			answer.Topics = append(answer.Topics, s.describeTopic(c.version, t))
		}
		s.finishMetadata(c, request, answer)
		return
	}
	seen, known := map[string]bool{}, map[[16]byte]bool{}
	s.inTurns(c, nowMs, len(request.Topics), func(nowMs int64, i int) int {
		t := request.Topics[i]
		if t.Topic != nil && seen[*t.Topic] || t.Topic == nil && known[t.TopicID] {
			return 1
		}
		known[t.TopicID] = true
		if t.Topic != nil {
			seen[*t.Topic] = true
		}
		row, cost := s.findTopic(nowMs, c.version, t, c.version < 4 || request.AllowAutoTopicCreation)
		answer.Topics = append(answer.Topics, row)
		return cost
	}, func() { s.finishMetadata(c, request, answer) })
}

// finishMetadata adds what does not depend on topics.
func (s *Server) finishMetadata(c *call, request *kmsg.MetadataRequest, answer *kmsg.MetadataResponse) {
	for _, t := range answer.Topics {
		c.note(t.ErrorCode)
	}
	for _, b := range s.cluster.Brokers() {
		row := kmsg.NewMetadataResponseBroker()
		row.NodeID, row.Host, row.Port = b.ID, b.Host, b.Port
		answer.Brokers = append(answer.Brokers, row)
	}
	answer.ClusterID = kmsg.StringPtr(s.cluster.ClusterID())
	answer.ControllerID = s.cluster.Controller()
	if request.IncludeClusterAuthorizedOperations {
		answer.AuthorizedOperations = allClusterOperations
	}
	if request.IncludeTopicAuthorizedOperations {
		for i := range answer.Topics {
			if answer.Topics[i].ErrorCode != kerr.UnknownTopicID.Code { // names that are none have some too, as in Kafka
				answer.Topics[i].AuthorizedOperations = allTopicOperations
			}
		}
	}
	c.complete(answer)
}

// refuseIDs answers versions that have a place for topic ids but no use for them.
func refuseIDs(c *call, request *kmsg.MetadataRequest, answer *kmsg.MetadataResponse) {
	c.code = kerr.InvalidRequest.Code
	for _, t := range request.Topics {
		row := topicError(t, c.code)
		if row.Topic == nil {
			row.Topic = kmsg.StringPtr("")
		}
		answer.Topics = append(answer.Topics, row)
	}
	answer.ControllerID = -1
	c.complete(answer)
}

// findTopic answers for one topic that was asked for, by name or by id, and says what that cost (inTurns).
func (s *Server) findTopic(nowMs int64, version int16, asked kmsg.MetadataRequestTopic, mayCreate bool) (row kmsg.MetadataResponseTopic, cost int) {
	if asked.TopicID != [16]byte{} || asked.Topic == nil {
		name, ok := s.cluster.TopicName(asked.TopicID)
		if !ok {
			return topicError(asked, kerr.UnknownTopicID.Code), 1
		}
		t, _ := s.cluster.Topic(name)
		return s.describeTopic(version, t), 1
	}
	if t, ok := s.cluster.Topic(*asked.Topic); ok {
		return s.describeTopic(version, t), 1
	}
	if !validTopic(*asked.Topic) {
		return topicError(asked, kerr.InvalidTopicException.Code), 1
	}
	if !mayCreate || !s.cfg.AutoCreateTopics {
		return topicError(asked, kerr.UnknownTopicOrPartition.Code), 1
	}
	if code, _ := s.cluster.CreateTopic(nowMs, NewTopic{Name: *asked.Topic, Partitions: -1, Replicas: -1}); code != 0 {
		return topicError(asked, code), costTry
	}
	t, ok := s.cluster.Topic(*asked.Topic)
	if !ok {
		return topicError(asked, kerr.LeaderNotAvailable.Code), costChange
	}
	return s.describeTopic(version, t), costChange
}

func topicError(asked kmsg.MetadataRequestTopic, code int16) kmsg.MetadataResponseTopic {
	row := kmsg.NewMetadataResponseTopic()
	row.Topic, row.TopicID, row.ErrorCode = asked.Topic, asked.TopicID, code
	return row
}

func (s *Server) describeTopic(version int16, t Topic) kmsg.MetadataResponseTopic {
	row := kmsg.NewMetadataResponseTopic()
	row.Topic, row.TopicID, row.IsInternal = kmsg.StringPtr(t.Name), t.ID, t.Internal
	for i, p := range t.Partitions {
		part := kmsg.NewMetadataResponseTopicPartition()
		part.Partition, part.Leader, part.LeaderEpoch = int32(i), p.Leader, p.Epoch
		part.Replicas, part.ISR, part.OfflineReplicas = p.Replicas, p.ISR, p.Offline
		if p.Leader < 0 {
			part.ErrorCode = kerr.LeaderNotAvailable.Code
		}
		if version == 0 {
			onlyOnline(&part, p)
		}
		row.Partitions = append(row.Partitions, part)
	}
	return row
}

// onlyOnline leaves brokers out that the answer does not list, which clients of v0 could not bear (Kafka:
// errorUnavailableEndpoints).
func onlyOnline(part *kmsg.MetadataResponseTopicPartition, p Partition) {
	offline := func(id int32) bool { return slices.Contains(p.Offline, id) }
	if len(p.Offline) == 0 {
		return
	}
	part.Replicas = slices.DeleteFunc(slices.Clone(p.Replicas), offline)
	part.ISR = slices.DeleteFunc(slices.Clone(p.ISR), offline)
	if part.ErrorCode == 0 {
		part.ErrorCode = kerr.ReplicaNotAvailable.Code
	}
}

// validTopic is Kafka's rule for names (Topic.validate): 1 to 249 letters, digits, '.', '_', '-', and not "." or "..".
func validTopic(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	for _, r := range []byte(name) {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return true
}
