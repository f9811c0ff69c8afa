package record

import (
	"reflect"
	"strings"
	"testing"
)

var (
	topicOne = TopicID{7: 1, 15: 2}
	topicTwo = TopicID{0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}
)

const (
	one = "00000000000000010000000000000002"
	two = "0a0b0c0d0e0f1011fffffffffffffffe"
)

// The bytes are what the classes of Apache Kafka 4.0.2 and 4.3.1 write for these values.
func TestModernKeys(t *testing.T) {
	for _, c := range []struct {
		bytes string
		want  ModernKey
	}{
		{"0003 0001 67", ModernKey{Kind: ConsumerGroupMetadata, Group: "g"}},
		{"0004 0001 67", ModernKey{Kind: ConsumerGroupPartitionMetadata, Group: "g"}},
		{"0005 0001 67 0003 6d2d31", ModernKey{Kind: ConsumerGroupMemberMetadata, Group: "g", Member: "m-1"}},
		{"0006 0001 67", ModernKey{Kind: ConsumerGroupTargetAssignmentMetadata, Group: "g"}},
		{"0007 0001 67 0003 6d2d31", ModernKey{Kind: ConsumerGroupTargetAssignmentMember, Group: "g", Member: "m-1"}},
		{"0008 0001 67 0003 6d2d31", ModernKey{Kind: ConsumerGroupCurrentMemberAssignment, Group: "g", Member: "m-1"}},
		{"0010 0001 67 0003 6f2e2a", ModernKey{Kind: ConsumerGroupRegularExpression, Group: "g", Regex: "o.*"}},
	} {
		b := unhex(t, c.bytes)
		got, known, err := DecodeModernKey(b)
		if err != nil || !known || got != c.want {
			t.Errorf("%s is read as %+v, %v, %v; want %+v", c.bytes, got, known, err, c.want)
		}
		for n := 2; n < len(b); n++ {
			if k, known, err := DecodeModernKey(b[:n]); err == nil || !known || k != (ModernKey{}) {
				t.Errorf("%d bytes of %s are read as %+v, %v, %v", n, c.bytes, k, known, err)
			}
		}
	}
	for _, other := range []string{"0000 0001 67 0001 74 00000000", "0002 0001 67", "0009 0001 67", "000f 00", "0011", "0063 00", "ffff"} {
		if k, known, err := DecodeModernKey(unhex(t, other)); known || err != nil || k != (ModernKey{}) {
			t.Errorf("%s, which is another kind's, is read as %+v, %v, %v", other, k, known, err)
		}
	}
}

// modernValues has a reader for each kind, and what Kafka writes. The second of two is what 4.3 adds.
var modernValues = []struct {
	name, bytes string
	read        func([]byte) (any, error)
	want        any
}{
	{"group", "0000 00000001 00", group, ModernGroup{Epoch: 1, CreationTimeMs: -1}},
	{"group of 4.3", "0000 00000007 01 0008 1122334455667788", group,
		ModernGroup{Epoch: 7, MetadataHash: 0x1122334455667788, CreationTimeMs: -1}},
	{"group with its time", "0000 00000007 02 0008 0000000000000003 0108 0000018bcfe5687b", group,
		ModernGroup{Epoch: 7, MetadataHash: 3, CreationTimeMs: 1700000000123}},
	{"group with a tag of the future", "0000 00000007 01 6303 beefee", group, ModernGroup{Epoch: 7, CreationTimeMs: -1}},
	{"topics", "0000 03" + one + "076f726465727300000003 02 00000000 03 0261 0262 00 00" + two + "04706179 00000001 01 00 00",
		func(b []byte) (any, error) { return DecodeModernTopics(b) },
		[]ModernTopic{{topicOne, "orders", 3}, {topicTwo, "pay", 1}}},
	{"member", "0000 04692d31 0272 04617070 0a2f31302e302e302e31 03 076f7264657273 04706179 046f2e2a 000493e0 08756e69666f726d 00", member,
		ModernMember{InstanceID: ptr("i-1"), RackID: ptr("r"), ClientID: "app", ClientHost: "/10.0.0.1",
			Topics: []string{"orders", "pay"}, Regex: ptr("o.*"), RebalanceTimeoutMs: 300000, Assignor: ptr("uniform")}},
	{"member without all", "0000 00 00 01 01 01 00 ffffffff 00 00", member, ModernMember{RebalanceTimeoutMs: -1}},
	{"classic member", "0000 00 00 0263 032f68 02 076f7264657273 00 0000ea60 00 01 0012 01 0000afc8 02 0672616e6765 04000102 00 00", member,
		ModernMember{ClientID: "c", ClientHost: "/h", Topics: []string{"orders"}, RebalanceTimeoutMs: 60000,
			Classic: true, SessionTimeoutMs: 45000, Protocols: []string{"range"}}},
	{"target epoch", "0000 00000007 00", target, ModernTarget{Epoch: 7}},
	{"target epoch of 4.3", "0000 00000007 01 0008 0000018bcfe5687b", target, ModernTarget{Epoch: 7, ComputedMs: 1700000000123}},
	{"target", "0000 03" + one + "03 00000000 00000002 00" + two + "02 0000012c 00 00",
		func(b []byte) (any, error) { return DecodeModernAssignment(b) },
		[]IDPartitions{{Topic: topicOne, Partitions: []int32{0, 2}}, {Topic: topicTwo, Partitions: []int32{300}}}},
	{"current", "0000 00000007 00000006 01 02" + one + "03 00000000 00000001 00 02" + two + "02 00000005 00 00", current,
		ModernCurrent{Epoch: 7, PreviousEpoch: 6, State: MemberUnrevokedPartitions,
			Assigned:          []IDPartitions{{Topic: topicOne, Partitions: []int32{0, 1}}},
			PendingRevocation: []IDPartitions{{Topic: topicTwo, Partitions: []int32{5}}}}},
	{"current of 4.3", "0000 00000007 00000006 01 02" + one + "03 00000000 00000001 01 0009 03 00000006 00000007 02" + two + "02 00000005 00 00", current,
		ModernCurrent{Epoch: 7, PreviousEpoch: 6, State: MemberUnrevokedPartitions,
			Assigned:          []IDPartitions{{Topic: topicOne, Partitions: []int32{0, 1}, Epochs: []int32{6, 7}}},
			PendingRevocation: []IDPartitions{{Topic: topicTwo, Partitions: []int32{5}}}}},
	{"regex", "0000 03 076f7264657273 066f74686572 000000000000000c 0000018bcfe5687b 00",
		func(b []byte) (any, error) { return DecodeModernRegex(b) },
		ModernRegex{Topics: []string{"orders", "other"}, Version: 12, TimestampMs: 1700000000123}},
}

func group(b []byte) (any, error)   { return DecodeModernGroup(b) }
func member(b []byte) (any, error)  { return DecodeModernMember(b) }
func target(b []byte) (any, error)  { return DecodeModernTarget(b) }
func current(b []byte) (any, error) { return DecodeModernCurrent(b) }

func TestModernValues(t *testing.T) {
	for _, c := range modernValues {
		b := unhex(t, c.bytes)
		got, err := c.read(b)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is read as %+v, %v; want %+v", c.name, got, err, c.want)
		}
		zero := reflect.Zero(reflect.TypeOf(c.want)).Interface()
		for n := range b {
			if got, err := c.read(b[:n]); err == nil || !reflect.DeepEqual(got, zero) {
				t.Errorf("%s, cut after %d of %d bytes, is read as %+v, %v", c.name, n, len(b), got, err)
			}
		}
		if got, err := c.read(append(b, 9, 9)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s with bytes behind is read as %+v, %v", c.name, got, err)
		}
		if _, err := c.read(append([]byte{0, 1}, b[2:]...)); err == nil || !strings.Contains(err.Error(), "version 1") {
			t.Errorf("%s of version 1: %v; want an error that names the version", c.name, err)
		}
	}
}

func FuzzDecodeModern(f *testing.F) {
	for _, c := range modernValues {
		seed(f, c.bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, _ = DecodeModernKey(b)
		var before = len(b)
		for _, c := range modernValues {
			if v, err := c.read(b); err != nil && !reflect.ValueOf(v).IsZero() {
				t.Fatalf("%s: an error, and %+v", c.name, v)
			}
		}
		if len(b) != before {
			t.Fatal("a reader changed its input")
		}
	})
}
