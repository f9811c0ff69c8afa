package record

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// redpanda-data/kminion#314: offset values of Kafka 4.1 have compact strings and tags, which old readers took for lengths.
func TestB82_OffsetCommitValueOfAllVersions(t *testing.T) {
	for _, length := range []int{0, 1, 126, 127, 128, 300, 16384} {
		metadata := strings.Repeat("m", length)
		for version := int16(0); version <= 4; version++ {
			v := kmsg.OffsetCommitValue{Version: version, Offset: 42, LeaderEpoch: 7, Metadata: metadata, CommitTimestamp: 1000, ExpireTimestamp: 2000}
			if version == 4 {
				v.UnknownTags.Set(9, []byte("what is this"))
			}
			want := Offset{42, -1, metadata, 1000, -1}
			if version == 1 {
				want.ExpireTimestampMs = 2000
			}
			if version >= 3 {
				want.LeaderEpoch = 7
			}
			got, err := DecodeOffset(v.AppendTo(nil))
			if err != nil {
				t.Errorf("version %d, metadata of %d: %v", version, length, err)
			}
			same(t, "value", got, want)
		}
	}
}

// linkedin/Burrow#313: subscriptions and assignments of newer versions are read as far as they are known.
func TestB83_NewerConsumerProtocol(t *testing.T) {
	owned := []TopicPartitions{{"t", []int32{0}}}
	for version := int16(0); version <= 7; version++ {
		k := kmsg.ConsumerMemberMetadata{Version: min(version, 3), Topics: []string{"t", "u"}, Generation: 5, Rack: ptr("r"),
			OwnedPartitions: []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: "t", Partitions: []int32{0}}}}
		b := k.AppendTo(nil)
		if b[1] = byte(version); version > 3 {
			b = append(b, "extra"...)
		}
		want := Sub{Version: version, Topics: []string{"t", "u"}, Generation: -1}
		if version >= 1 {
			want.Owned = owned
		}
		if version >= 2 {
			want.Generation = 5
		}
		if version >= 3 {
			want.Rack = ptr("r")
		}
		got, ok := DecodeSubscription(b)
		if !ok {
			t.Errorf("version %d is not read", version)
		}
		same(t, "subscription", got, want)
		if topics, ok := Topics(b); !ok || strings.Join(topics, " ") != "t u" {
			t.Errorf("version %d: topics %v", version, topics)
		}
		a := EncodeAssignment(owned)
		if a[1] = byte(version); version > 3 {
			a = append(a, "extra"...)
		}
		assigned, ok := DecodeAssignment(a)
		if !ok {
			t.Errorf("an assignment of version %d is not read", version)
		}
		same(t, "assignment", assigned, owned)
	}
}

// redpanda-data/redpanda#386: Java's hash over UTF-16, then its absolute value: not UTF-8, no mask.
func TestB90_GroupToPartition(t *testing.T) {
	for group, want := range map[string]int32{"test-group": 12, "g1": 42, "polygenelubricants": 0, "группа-1": 0, "lab😀": 22} {
		if got := Partition(group, 50); got != want {
			t.Errorf("%s lives in %d, want %d", group, got, want)
		}
	}
}
