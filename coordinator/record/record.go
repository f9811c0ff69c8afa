// Package record reads and writes the keys and values of __consumer_offsets and the blobs of the consumer protocol
// (subscriptions and assignments), and knows which partition of __consumer_offsets a group lives in.
//
// The schemas are kmsg's. This package adds what they leave to the reader: versions that are refused by name, defaults
// of fields that a version lacks, and copies, so that nothing read keeps a whole batch in memory. Bytes may come from
// anywhere: they never panic a reader, and never make it allocate more than a small multiple of their length.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// MaxStringBytes is the longest string that a key or value can hold (its length is an int16). Kafka refuses requests
// with longer ones. The writers here panic on them: a truncated length would make the partition unreadable, so the
// host must have refused them before.
const MaxStringBytes = 32767

// Record is one record of __consumer_offsets.
type Record struct {
	Key []byte
	// Value is nil for a tombstone.
	Value       []byte
	TimestampMs int64
}

// Key says what a record is about.
type Key struct {
	// Version is 0 or 1 for an offset, 2 for a classic group, and others for records that a classic coordinator skips.
	Version int16
	Group   string
	// Topic and Partition are an offset's.
	Topic     string
	Partition int32
}

// IsOffset tells whether the record is one partition's committed offset.
func (k Key) IsOffset() bool { return k.Version == 0 || k.Version == 1 }

// IsGroup tells whether the record is a classic group's metadata.
func (k Key) IsGroup() bool { return k.Version == 2 }

// Offset is one partition's commit.
type Offset struct {
	Offset int64
	// LeaderEpoch is -1 where the client gave none.
	LeaderEpoch       int32
	Metadata          string
	CommitTimestampMs int64
	// ExpireTimestampMs is when the commit expires by the client's own wish (OffsetCommit v1 to v4); -1: none.
	ExpireTimestampMs int64
}

// Group is a generation of a classic group.
type Group struct {
	ProtocolType string
	Generation   int32
	// Protocol and Leader are nil for a group without members.
	Protocol, Leader *string
	// StateTimestampMs is when the group entered its state; -1: not known.
	StateTimestampMs int64
	Members          []Member
}

// Member is a member of a Group.
type Member struct {
	MemberID string
	// InstanceID is nil for a dynamic member.
	InstanceID           *string
	ClientID, ClientHost string
	RebalanceTimeoutMs   int32
	SessionTimeoutMs     int32
	// Subscription is the metadata of the group's protocol only.
	Subscription, Assignment []byte
}

// OffsetKey writes the key of an offset, version 1.
func OffsetKey(group, topic string, partition int32) []byte {
	checkStrings("OffsetKey", group, topic)
	k := kmsg.OffsetCommitKey{Version: 1, Group: group, Topic: topic, Partition: partition}
	return k.AppendTo(make([]byte, 0, 10+len(group)+len(topic)))
}

// OffsetValue writes an offset: version 3, or 1 where it has an expiry, as Kafka does; version 1 has no leader epoch.
func OffsetValue(v Offset) []byte {
	return AppendOffsetValue(make([]byte, 0, 28+len(v.Metadata)), v)
}

// AppendOffsetValue appends what OffsetValue writes to dst, so that the values of a batch can share one piece of memory.
func AppendOffsetValue(dst []byte, v Offset) []byte {
	if len(v.Metadata) > MaxStringBytes {
		checkStrings("OffsetValue", v.Metadata)
	}
	if v.ExpireTimestampMs <= 0 {
		// The version of nearly all, without a detour: commits are made of these.
		dst = binary.BigEndian.AppendUint64(append(dst, 0, 3), uint64(v.Offset))
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.LeaderEpoch))
		dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(v.Metadata))), v.Metadata...)
		return binary.BigEndian.AppendUint64(dst, uint64(v.CommitTimestampMs))
	}
	o := kmsg.OffsetCommitValue{Version: 1, Offset: v.Offset, Metadata: v.Metadata, CommitTimestamp: v.CommitTimestampMs,
		ExpireTimestamp: v.ExpireTimestampMs}
	return o.AppendTo(dst)
}

// GroupKey writes the key of a group, version 2.
func GroupKey(group string) []byte {
	checkStrings("GroupKey", group)
	k := kmsg.GroupMetadataKey{Version: 2, Group: group}
	return k.AppendTo(make([]byte, 0, 4+len(group)))
}

// GroupValue writes a group, version 3.
func GroupValue(g Group) []byte {
	checkStrings("GroupValue", g.ProtocolType, text(g.Protocol), text(g.Leader))
	v := kmsg.GroupMetadataValue{Version: 3, ProtocolType: g.ProtocolType, Generation: g.Generation, Protocol: g.Protocol,
		Leader: g.Leader, CurrentStateTimestamp: g.StateTimestampMs, Members: make([]kmsg.GroupMetadataValueMember, len(g.Members))}
	for i, m := range g.Members {
		checkStrings("GroupValue", m.MemberID, text(m.InstanceID), m.ClientID, m.ClientHost)
		v.Members[i] = kmsg.GroupMetadataValueMember{MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID,
			ClientHost: m.ClientHost, RebalanceTimeoutMillis: m.RebalanceTimeoutMs, SessionTimeoutMillis: m.SessionTimeoutMs,
			Subscription: m.Subscription, Assignment: m.Assignment}
	}
	return v.AppendTo(nil)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func checkStrings(what string, list ...string) {
	for _, s := range list {
		if len(s) > MaxStringBytes {
			panic(fmt.Sprintf("record: %s with a string of %d bytes (%.40q…); %d fit", what, len(s), s, MaxStringBytes))
		}
	}
}

// DecodeKey reads a key. A version that a classic coordinator does not know is no error: the Key then holds only the
// version. Bytes after the key are ignored, as Kafka does.
func DecodeKey(b []byte) (Key, error) {
	version, err := versionOf(b)
	if err != nil {
		return Key{}, fmt.Errorf("a key of __consumer_offsets: %w", err)
	}
	switch version {
	case 0, 1:
		var k kmsg.OffsetCommitKey
		if err := k.ReadFrom(b); err != nil {
			return Key{}, fmt.Errorf("an offset key of version %d and %d bytes is cut short", version, len(b))
		}
		return Key{version, k.Group, k.Topic, k.Partition}, nil
	case 2:
		var k kmsg.GroupMetadataKey
		if err := k.ReadFrom(b); err != nil {
			return Key{}, fmt.Errorf("a group key of version 2 and %d bytes is cut short", len(b))
		}
		return Key{Version: 2, Group: k.Group}, nil
	}
	return Key{Version: version}, nil
}

// DecodeOffset reads the value of an offset, versions 0 to 4. Another version is an error that names it.
func DecodeOffset(b []byte) (Offset, error) {
	if err := checkVersion("an offset value", b); err != nil {
		return Offset{}, err
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(b); err != nil {
		return Offset{}, fmt.Errorf("an offset value of version %d and %d bytes is cut short", v.Version, len(b))
	}
	o := Offset{v.Offset, v.LeaderEpoch, v.Metadata, v.CommitTimestamp, v.ExpireTimestamp}
	if v.Version < 3 {
		o.LeaderEpoch = -1
	}
	if v.Version != 1 {
		o.ExpireTimestampMs = -1
	}
	return o, nil
}

// DecodeGroup reads the value of a group, versions 0 to 4. Another version is an error that names it. A rebalance
// timeout that is missing is the session timeout. Null where Kafka's schema allows none (the members, the blobs) is
// read as empty.
func DecodeGroup(b []byte) (Group, error) {
	if err := checkVersion("a group value", b); err != nil {
		return Group{}, err
	}
	var v kmsg.GroupMetadataValue
	if err := v.ReadFrom(b); err != nil {
		return Group{}, fmt.Errorf("a group value of version %d and %d bytes is cut short", v.Version, len(b))
	}
	g := Group{v.ProtocolType, v.Generation, v.Protocol, v.Leader, v.CurrentStateTimestamp, make([]Member, len(v.Members))}
	for i, m := range v.Members {
		if m.RebalanceTimeoutMillis == -1 {
			m.RebalanceTimeoutMillis = m.SessionTimeoutMillis
		}
		g.Members[i] = Member{m.MemberID, m.InstanceID, m.ClientID, m.ClientHost, m.RebalanceTimeoutMillis,
			m.SessionTimeoutMillis, slices.Clone(m.Subscription), slices.Clone(m.Assignment)}
	}
	return g, nil
}

func versionOf(b []byte) (int16, error) {
	switch {
	case b == nil:
		return 0, errors.New("it is null, and begins with a version")
	case len(b) < 2:
		return 0, fmt.Errorf("it has %d bytes, and begins with a version of 2 bytes", len(b))
	}
	return int16(b[0])<<8 | int16(b[1]), nil
}

func checkVersion(what string, b []byte) error {
	version, err := versionOf(b)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if version < 0 || version > 4 {
		return fmt.Errorf("%s has version %d; 0 to 4 are known", what, version)
	}
	return nil
}
