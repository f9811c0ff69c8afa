package record

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
)

// The records of KIP-848 groups (Kafka: type "consumer"). A coordinator of classic groups skips them; who watches a real
// cluster from outside reads them. kmsg has no schemas for them; these are those of Kafka's group-coordinator module, 3.7 to
// 4.3, whose values are all of version 0 and have tags behind for what later versions add.

// ModernKind is what the key of a KIP-848 record says that it is about: the number that the key begins with.
type ModernKind int16

// The kinds by their names in Kafka (CoordinatorRecordType).
const (
	ConsumerGroupMetadata                 ModernKind = 3
	ConsumerGroupPartitionMetadata        ModernKind = 4 // up to 4.0; 4.1 writes only its tombstone
	ConsumerGroupMemberMetadata           ModernKind = 5
	ConsumerGroupTargetAssignmentMetadata ModernKind = 6
	ConsumerGroupTargetAssignmentMember   ModernKind = 7
	ConsumerGroupCurrentMemberAssignment  ModernKind = 8
	ConsumerGroupRegularExpression        ModernKind = 16
)

// ModernKey is the key of a KIP-848 record.
type ModernKey struct {
	Kind  ModernKind
	Group string
	// Member is of kinds 5, 7 and 8, Regex of kind 16.
	Member, Regex string
}

// TopicID is a topic's id as Kafka writes it (Uuid), most significant byte first.
type TopicID [16]byte

// IDPartitions are partitions of one topic, by its id.
type IDPartitions struct {
	Topic      TopicID
	Partitions []int32
	// Epochs are those in which each partition was assigned (KIP-1251, kind 8 of 4.3 on); nil where they are not said.
	Epochs []int32
}

// ModernGroup is the value of kind 3. A new Epoch is what begins a rebalance.
type ModernGroup struct {
	Epoch int32
	// MetadataHash is over the subscribed topics, from 4.1 on; 0: not said.
	MetadataHash int64
	// CreationTimeMs is when the group was first there (KIP-1282); -1: not said.
	CreationTimeMs int64
}

// ModernTopic is one topic of kind 4, what the group knew of it in Kafka 3.7 to 4.0.
type ModernTopic struct {
	ID         TopicID
	Name       string
	Partitions int32
}

// ModernMember is the value of kind 5: what a member said of itself.
type ModernMember struct {
	// InstanceID, RackID, Regex and Assignor are nil where the member gave none.
	InstanceID, RackID   *string
	ClientID, ClientHost string
	Topics               []string
	Regex                *string
	// RebalanceTimeoutMs is how long it may take to give partitions back; -1: not said.
	RebalanceTimeoutMs int32
	Assignor           *string
	// Classic tells that the member speaks the classic protocol (JoinGroup) to a KIP-848 group; SessionTimeoutMs and
	// Protocols are its own then.
	Classic          bool
	SessionTimeoutMs int32
	Protocols        []string
}

// ModernTarget is the value of kind 6: for which epoch the target assignment (kind 7) was computed.
type ModernTarget struct {
	Epoch int32
	// ComputedMs is when that ended (KIP-1263, 4.3 on); 0: not said.
	ComputedMs int64
}

// ModernState says how far a member is on its way to the target assignment (Kafka: MemberState).
type ModernState int8

// The states of a member.
const (
	MemberStable               ModernState = 0
	MemberUnrevokedPartitions  ModernState = 1 // it is awaited: it has partitions to give back
	MemberUnreleasedPartitions ModernState = 2 // it waits: others have not given back what it shall get
)

// ModernCurrent is the value of kind 8: what a member has.
type ModernCurrent struct {
	// Epoch is the member's; -2: a static member that is away for a while; -1: one that left.
	Epoch, PreviousEpoch int32
	State                ModernState
	Assigned             []IDPartitions
	// PendingRevocation is what the member was told to give back.
	PendingRevocation []IDPartitions
}

// ModernRegex is the value of kind 16: the topics that a regular expression was found to mean.
type ModernRegex struct {
	Topics []string
	// Version is that of the metadata image it was resolved against, TimestampMs when.
	Version, TimestampMs int64
}

// DecodeModernKey reads the key of a KIP-848 record. Another kind is no error: known is false.
func DecodeModernKey(b []byte) (k ModernKey, known bool, err error) {
	version, err := versionOf(b)
	if err != nil {
		return k, false, fmt.Errorf("a key of __consumer_offsets: %w", err)
	}
	kind := ModernKind(version)
	if (kind < 3 || kind > 8) && kind != ConsumerGroupRegularExpression {
		return k, false, nil
	}
	r := kbin.Reader{Src: b[2:]}
	k = ModernKey{Kind: kind, Group: r.String()}
	switch kind {
	case ConsumerGroupMemberMetadata, ConsumerGroupTargetAssignmentMember, ConsumerGroupCurrentMemberAssignment:
		k.Member = r.String()
	case ConsumerGroupRegularExpression:
		k.Regex = r.String()
	}
	if !r.Ok() {
		return ModernKey{}, true, fmt.Errorf("a key of kind %d and %d bytes is cut short", kind, len(b))
	}
	return k, true, nil
}

// DecodeModernGroup reads a value of kind 3.
func DecodeModernGroup(b []byte) (ModernGroup, error) {
	g := ModernGroup{CreationTimeMs: -1}
	err := decodeModern(b, ConsumerGroupMetadata, func(r *kbin.Reader) {
		g.Epoch = r.Int32()
		tags(r, func(tag uint32, r *kbin.Reader) {
			switch tag {
			case 0:
				g.MetadataHash = r.Int64()
			case 1:
				g.CreationTimeMs = r.Int64()
			}
		})
	})
	return orZero(g, err)
}

// DecodeModernTopics reads a value of kind 4.
func DecodeModernTopics(b []byte) ([]ModernTopic, error) {
	var list []ModernTopic
	err := decodeModern(b, ConsumerGroupPartitionMetadata, func(r *kbin.Reader) {
		each(r, func() {
			list = append(list, ModernTopic{r.Uuid(), r.CompactString(), r.Int32()})
			each(r, func() { // which racks hold which partition: not ours to show
				r.Int32()
				each(r, func() { r.CompactString() })
				tags(r, nil)
			})
			tags(r, nil)
		})
		tags(r, nil)
	})
	return orZero(list, err)
}

// DecodeModernMember reads a value of kind 5.
func DecodeModernMember(b []byte) (ModernMember, error) {
	var m ModernMember
	err := decodeModern(b, ConsumerGroupMemberMetadata, func(r *kbin.Reader) {
		m.InstanceID, m.RackID = r.CompactNullableString(), r.CompactNullableString()
		m.ClientID, m.ClientHost = r.CompactString(), r.CompactString()
		m.Topics = stringsOf(r)
		m.Regex = r.CompactNullableString()
		m.RebalanceTimeoutMs = r.Int32()
		m.Assignor = r.CompactNullableString()
		tags(r, func(tag uint32, r *kbin.Reader) {
			if tag == 0 && r.Int8() == 1 { // a struct that may be null begins with 1, or -1 for null
				m.Classic = true
				m.SessionTimeoutMs = r.Int32()
				each(r, func() {
					m.Protocols = append(m.Protocols, r.CompactString())
					r.CompactBytes()
					tags(r, nil)
				})
				tags(r, nil)
			}
		})
	})
	return orZero(m, err)
}

// DecodeModernTarget reads a value of kind 6.
func DecodeModernTarget(b []byte) (ModernTarget, error) {
	var t ModernTarget
	err := decodeModern(b, ConsumerGroupTargetAssignmentMetadata, func(r *kbin.Reader) {
		t.Epoch = r.Int32()
		tags(r, func(tag uint32, r *kbin.Reader) {
			if tag == 0 {
				t.ComputedMs = r.Int64()
			}
		})
	})
	return orZero(t, err)
}

// DecodeModernAssignment reads a value of kind 7: what a member shall have.
func DecodeModernAssignment(b []byte) ([]IDPartitions, error) {
	var list []IDPartitions
	err := decodeModern(b, ConsumerGroupTargetAssignmentMember, func(r *kbin.Reader) {
		list = idPartitions(r)
		tags(r, nil)
	})
	return orZero(list, err)
}

// DecodeModernCurrent reads a value of kind 8.
func DecodeModernCurrent(b []byte) (ModernCurrent, error) {
	var c ModernCurrent
	err := decodeModern(b, ConsumerGroupCurrentMemberAssignment, func(r *kbin.Reader) {
		c.Epoch, c.PreviousEpoch, c.State = r.Int32(), r.Int32(), ModernState(r.Int8())
		c.Assigned, c.PendingRevocation = idPartitions(r), idPartitions(r)
		tags(r, nil)
	})
	return orZero(c, err)
}

// DecodeModernRegex reads a value of kind 16.
func DecodeModernRegex(b []byte) (ModernRegex, error) {
	var x ModernRegex
	err := decodeModern(b, ConsumerGroupRegularExpression, func(r *kbin.Reader) {
		x.Topics, x.Version, x.TimestampMs = stringsOf(r), r.Int64(), r.Int64()
		tags(r, nil)
	})
	return orZero(x, err)
}

// decodeModern reads a value whose version must be 0. Bytes behind it are ignored, as Kafka does.
func decodeModern(b []byte, kind ModernKind, read func(*kbin.Reader)) error {
	version, err := versionOf(b)
	if err != nil {
		return fmt.Errorf("a value of kind %d: %w", kind, err)
	}
	if version != 0 {
		return fmt.Errorf("a value of kind %d has version %d; only 0 is known", kind, version)
	}
	r := kbin.Reader{Src: b[2:]}
	if read(&r); !r.Ok() {
		return fmt.Errorf("a value of kind %d and %d bytes is cut short", kind, len(b))
	}
	return nil
}

func orZero[T any](v T, err error) (T, error) {
	if err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

// each reads a compact array. It grows with what is read, not with the length that the bytes claim.
func each(r *kbin.Reader, one func()) {
	for n := r.CompactArrayLen(); n > 0 && r.Ok(); n-- {
		one()
	}
}

func stringsOf(r *kbin.Reader) (list []string) {
	each(r, func() { list = append(list, r.CompactString()) })
	return list
}

func int32s(r *kbin.Reader) (list []int32) {
	each(r, func() { list = append(list, r.Int32()) })
	return list
}

func idPartitions(r *kbin.Reader) (list []IDPartitions) {
	each(r, func() {
		p := IDPartitions{Topic: r.Uuid(), Partitions: int32s(r)}
		tags(r, func(tag uint32, r *kbin.Reader) {
			if tag == 0 {
				p.Epochs = int32s(r)
			}
		})
		list = append(list, p)
	})
	return list
}

// tags reads the tagged fields at the end of a struct and gives each to one; what it does not know is skipped. A field
// that is shorter than it should be makes the whole value one that is cut short.
func tags(r *kbin.Reader, one func(tag uint32, field *kbin.Reader)) {
	for n := r.Uvarint(); n > 0 && r.Ok(); n-- {
		tag := r.Uvarint()
		field := kbin.Reader{Src: r.Span(int(r.Uvarint()))}
		if !r.Ok() || one == nil {
			continue
		}
		if one(tag, &field); !field.Ok() {
			r.Span(len(r.Src) + 1)
		}
	}
}
