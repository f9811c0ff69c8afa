package record

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TopicPartitions are partitions of one topic.
type TopicPartitions struct {
	Topic      string
	Partitions []int32
}

// Sub is what a consumer sends with JoinGroup as metadata of a protocol (Kafka: ConsumerProtocolSubscription).
type Sub struct {
	// Version is 0 to 3; fields that it does not have are not written.
	Version  int16
	Topics   []string
	UserData []byte
	// Owned are the partitions that the member has now (version 1 on).
	Owned []TopicPartitions
	// Generation is the one in which it got them, -1 for none (version 2 on).
	Generation int32
	// Rack is nil where the consumer has none (version 3 on).
	Rack *string
}

// Topics reads the topics of a subscription as the coordinator does: whatever its version, by the layout of version 0.
// It is false where the bytes are no subscription.
func Topics(metadata []byte) ([]string, bool) {
	b := kbin.Reader{Src: metadata}
	version, count := b.Int16(), b.ArrayLen()
	if !b.Ok() || version < 0 || count < 0 || int64(count)*2 > int64(len(b.Src)) {
		return nil, false
	}
	topics := make([]string, count)
	for i := range topics {
		topics[i] = b.String()
	}
	b.NullableBytes() // the user data
	return topics, b.Complete() == nil
}

// Subscription writes what a consumer of s.Version sends.
func Subscription(s Sub) []byte {
	checkStrings("Subscription", s.Topics...)
	checkStrings("Subscription", text(s.Rack))
	m := kmsg.ConsumerMemberMetadata{Version: s.Version, Topics: s.Topics, UserData: s.UserData, Generation: s.Generation, Rack: s.Rack}
	for _, t := range s.Owned {
		checkStrings("Subscription", t.Topic)
		m.OwnedPartitions = append(m.OwnedPartitions, kmsg.ConsumerMemberMetadataOwnedPartition(t))
	}
	return m.AppendTo(nil)
}

// DecodeSubscription reads a subscription with all fields of its version; one newer than 3 is read as 3. It is false
// where the bytes are no subscription.
func DecodeSubscription(metadata []byte) (Sub, bool) {
	var m kmsg.ConsumerMemberMetadata
	if m.ReadFrom(metadata) != nil || m.Version < 0 {
		return Sub{}, false
	}
	s := Sub{Version: m.Version, Topics: m.Topics, UserData: slices.Clone(m.UserData), Generation: m.Generation, Rack: m.Rack}
	for _, t := range m.OwnedPartitions {
		s.Owned = append(s.Owned, TopicPartitions(t))
	}
	return s, true
}

// StickyUserData writes what a consumer of the sticky assignor sends as user data: the partitions that it was given last
// and in which generation (Kafka: StickyAssignor, schema version 1, KIP-341).
func StickyUserData(had []TopicPartitions, generation int32) []byte {
	m := kmsg.StickyMemberMetadata{Generation: generation}
	for _, t := range had {
		checkStrings("StickyUserData", t.Topic)
		m.CurrentAssignment = append(m.CurrentAssignment, kmsg.StickyMemberMetadataCurrentAssignment(t))
	}
	return m.AppendTo(nil)
}

// DecodeStickyUserData reads it. The generation is -1 where there is none (schema version 0). It is false where the bytes
// are something else.
func DecodeStickyUserData(b []byte) (had []TopicPartitions, generation int32, ok bool) {
	var m kmsg.StickyMemberMetadata
	if m.ReadFrom(b) != nil {
		return nil, -1, false
	}
	for _, t := range m.CurrentAssignment {
		had = append(had, TopicPartitions(t))
	}
	return had, m.Generation, true
}

// EncodeAssignment writes what a leader sends for one member (Kafka: ConsumerProtocolAssignment), version 0; versions
// 1 to 3 have the same fields.
func EncodeAssignment(topics []TopicPartitions) []byte {
	var a kmsg.ConsumerMemberAssignment
	for _, t := range topics {
		checkStrings("EncodeAssignment", t.Topic)
		a.Topics = append(a.Topics, kmsg.ConsumerMemberAssignmentTopic(t))
	}
	return a.AppendTo(nil)
}

// DecodeAssignment reads an assignment of any version. It is false where the bytes are none: empty, cut short, or of
// another kind of group.
func DecodeAssignment(b []byte) ([]TopicPartitions, bool) {
	var a kmsg.ConsumerMemberAssignment
	if a.ReadFrom(b) != nil || a.Version < 0 {
		return nil, false
	}
	topics := make([]TopicPartitions, len(a.Topics))
	for i, t := range a.Topics {
		topics[i] = TopicPartitions(t)
	}
	return topics, true
}
