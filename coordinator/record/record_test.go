package record

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func sameBytes(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if h := hex.EncodeToString(got); h != strings.ReplaceAll(want, " ", "") {
		t.Errorf("%s:\n got %s\nwant %s", what, h, want)
	}
}

func ptr(s string) *string { return &s }

// What is written without kmsg is what kmsg writes.
func TestOffsetValueIsKmsgs(t *testing.T) {
	for _, v := range []Offset{{ExpireTimestampMs: -1}, {1 << 62, 7, "métadonnées", 1234567890123, -1}, {-1, -1, strings.Repeat("x", MaxStringBytes), 1, 0},
		{5, 3, "m", 2, 99}} {
		k := kmsg.OffsetCommitValue{Version: 3, Offset: v.Offset, LeaderEpoch: v.LeaderEpoch, Metadata: v.Metadata, CommitTimestamp: v.CommitTimestampMs}
		if v.ExpireTimestampMs > 0 {
			k.Version, k.ExpireTimestamp = 1, v.ExpireTimestampMs
		}
		sameBytes(t, "OffsetValue", OffsetValue(v), hex.EncodeToString(k.AppendTo(nil)))
	}
}

// SER-04: keys, both directions.
func TestSER04_Keys(t *testing.T) {
	for hexed, want := range map[string]Key{
		"0000 0001 67 0001 74 00000000": {0, "g", "t", 0},
		"0001 0001 67 0001 74 00000000": {1, "g", "t", 0},
		"0002 0001 67":                  {2, "g", "", 0},
		"0003 0001 67":                  {Version: 3}, // a group of the new protocol
		"0008 0001 67 0001 6d":          {Version: 8},
		"7fff":                          {Version: 32767},
		"ffff 00":                       {Version: -1},
	} {
		got, err := DecodeKey(unhex(t, hexed))
		if err != nil {
			t.Errorf("%s: %v", hexed, err)
		}
		same(t, hexed, got, want)
		if got.IsOffset() != (want.Version == 0 || want.Version == 1) || got.IsGroup() != (want.Version == 2) {
			t.Errorf("%s: IsOffset %v, IsGroup %v", hexed, got.IsOffset(), got.IsGroup())
		}
	}
	sameBytes(t, "OffsetKey", OffsetKey("g", "t", 0), "0001 0001 67 0001 74 00000000")
	sameBytes(t, "OffsetKey", OffsetKey("é", "", 258), "0001 0002 c3a9 0000 00000102")
	sameBytes(t, "GroupKey", GroupKey("g"), "0002 0001 67")
}

// SER-04: offset values, versions 0 to 4. Reading is ours; what we do not write is written by kmsg for the other direction.
func TestSER04_OffsetValues(t *testing.T) {
	for version, v := range []struct {
		hexed string
		want  Offset
	}{
		{"0000000000000000002a00016d00000000000003e8", Offset{42, -1, "m", 1000, -1}},
		{"0001000000000000002a00016d00000000000003e800000000000007d0", Offset{42, -1, "m", 1000, 2000}},
		{"0002000000000000002a00016d00000000000003e8", Offset{42, -1, "m", 1000, -1}},
		{"0003000000000000002a0000000700016d00000000000003e8", Offset{42, 7, "m", 1000, -1}},
		{"0004000000000000002a00000007026d00000000000003e800", Offset{42, 7, "m", 1000, -1}},
	} {
		got, err := DecodeOffset(unhex(t, v.hexed))
		if err != nil {
			t.Errorf("version %d: %v", version, err)
		}
		same(t, v.hexed, got, v.want)
		k := kmsg.OffsetCommitValue{Version: int16(version), Offset: 42, LeaderEpoch: 7, Metadata: "m", CommitTimestamp: 1000, ExpireTimestamp: 2000}
		sameBytes(t, "kmsg", k.AppendTo(nil), v.hexed)
	}
}

// SER-01: without an expiry version 3 is written, with one version 1, never 4.
func TestSER01_VersionsWritten(t *testing.T) {
	sameBytes(t, "no expiry", OffsetValue(Offset{42, 7, "m", 1000, -1}), "0003000000000000002a0000000700016d00000000000003e8")
	sameBytes(t, "zero is no expiry", OffsetValue(Offset{42, 7, "m", 1000, 0}), "0003000000000000002a0000000700016d00000000000003e8")
	sameBytes(t, "an expiry", OffsetValue(Offset{42, 7, "m", 1000, 2000}), "0001000000000000002a00016d00000000000003e800000000000007d0")
	for _, v := range []Offset{{42, 7, "m", 1000, -1}, {0, -1, "", 0, -1}, {1 << 62, 1 << 30, "größe", 5, -1}} {
		got, err := DecodeOffset(OffsetValue(v))
		if err != nil {
			t.Error(err)
		}
		same(t, "read again", got, v)
	}
}

// oneMember is the group of the vectors as version 3 holds it.
func oneMember() Group {
	return Group{"consumer", 3, ptr("range"), ptr("m1"), 1000, []Member{
		{"m1", ptr("i1"), "c", "/h", 60_000, 10_000, []byte{1}, []byte{2}}}}
}

func kmsgGroup(version int16, g Group) []byte {
	v := kmsg.GroupMetadataValue{Version: version, ProtocolType: g.ProtocolType, Generation: g.Generation, Protocol: g.Protocol,
		Leader: g.Leader, CurrentStateTimestamp: g.StateTimestampMs}
	for _, m := range g.Members {
		v.Members = append(v.Members, kmsg.GroupMetadataValueMember{MemberID: m.MemberID, InstanceID: m.InstanceID,
			ClientID: m.ClientID, ClientHost: m.ClientHost, RebalanceTimeoutMillis: m.RebalanceTimeoutMs,
			SessionTimeoutMillis: m.SessionTimeoutMs, Subscription: m.Subscription, Assignment: m.Assignment})
	}
	return v.AppendTo(nil)
}

// SER-04: group values, versions 0 to 4.
func TestSER04_GroupValues(t *testing.T) {
	empty := func(g *Group) { g.Protocol, g.Leader, g.Members = nil, nil, []Member{} }
	noTime := func(g *Group) { g.StateTimestampMs = -1 }
	dynamic := func(g *Group) { g.Members[0].InstanceID = nil }
	noRebalance := func(g *Group) { g.Members[0].RebalanceTimeoutMs = g.Members[0].SessionTimeoutMs }
	for _, v := range []struct {
		hexed string
		lost  []func(*Group) // what this version cannot hold
	}{
		{"00010008636f6e73756d657200000003ffffffff00000000", []func(*Group){empty, noTime}},
		{"00030008636f6e73756d657200000003ffffffff00000000000003e800000000", []func(*Group){empty}},
		{"000409636f6e73756d657200000003000000000000000003e80100", []func(*Group){empty}},
		{"00000008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000271000000001010000000102",
			[]func(*Group){noTime, dynamic, noRebalance}},
		{"00010008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000ea600000271000000001010000000102",
			[]func(*Group){noTime, dynamic}},
		{"00020008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d3100016300022f680000ea600000271000000001010000000102",
			[]func(*Group){dynamic}},
		{"00030008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d310002693100016300022f680000ea600000271000000001010000000102", nil},
		{"000409636f6e73756d6572000000030672616e6765036d3100000000000003e802036d310369310263032f680000ea6000002710020102020000", nil},
	} {
		b := unhex(t, v.hexed)
		want := oneMember()
		for _, lose := range v.lost {
			lose(&want)
		}
		got, err := DecodeGroup(b)
		if err != nil {
			t.Errorf("%s: %v", v.hexed, err)
		}
		same(t, v.hexed, got, want)
		full := oneMember()
		if len(want.Members) == 0 {
			empty(&full)
		}
		sameBytes(t, "kmsg", kmsgGroup(int16(b[1]), full), v.hexed)
		if b[1] == 3 {
			sameBytes(t, "GroupValue", GroupValue(want), v.hexed)
		}
	}
}

func TestGroupIsReadAsWritten(t *testing.T) {
	for _, g := range []Group{
		{"", 0, nil, nil, -1, []Member{}},
		{"consumer", 7, ptr(""), ptr("a"), 9, []Member{
			{"a", nil, "", "", 1, 2, []byte{}, []byte{}},
			{"b", ptr("i"), "ü", "/10.0.0.1", 300_000, 45_000, []byte{0, 1, 2}, nil}}},
	} {
		got, err := DecodeGroup(GroupValue(g))
		if err != nil {
			t.Error(err)
		}
		for i := range g.Members {
			if g.Members[i].Assignment == nil {
				g.Members[i].Assignment = []byte{}
			}
		}
		same(t, "read again", got, g)
	}
}

func TestMissingRebalanceTimeoutIsTheSession(t *testing.T) {
	g := oneMember()
	g.Members[0].RebalanceTimeoutMs = -1
	got, _ := DecodeGroup(GroupValue(g))
	if got.Members[0].RebalanceTimeoutMs != 10_000 {
		t.Errorf("rebalance timeout %d, want the session's 10000", got.Members[0].RebalanceTimeoutMs)
	}
}

// What was read must not keep, or change with, the batch that it was read from.
func TestReadsAreCopies(t *testing.T) {
	b := GroupValue(oneMember())
	g, _ := DecodeGroup(b)
	sub := Subscription(Sub{Version: 3, Topics: []string{"t"}, UserData: []byte{9}})
	s, _ := DecodeSubscription(sub)
	key := OffsetKey("g", "t", 1)
	k, _ := DecodeKey(key)
	for _, bytes := range [][]byte{b, sub, key} {
		for i := range bytes {
			bytes[i] = 0xee
		}
	}
	same(t, "the group", g, oneMember())
	same(t, "the key", k, Key{1, "g", "t", 1})
	if s.Topics[0] != "t" || s.UserData[0] != 9 {
		t.Errorf("the subscription changed: %+v", s)
	}
}

// SER-03, and other bytes that are none of ours: the error says what is wrong.
func TestSER03_BadBytesAreNamed(t *testing.T) {
	key := func(b []byte) error { _, err := DecodeKey(b); return err }
	offset := func(b []byte) error { _, err := DecodeOffset(b); return err }
	group := func(b []byte) error { _, err := DecodeGroup(b); return err }
	for _, c := range []struct {
		read  func([]byte) error
		hexed string
		want  string
	}{
		{group, "8000", "a group value has version -32768; 0 to 4 are known"},
		{group, "0005 0008636f6e7375", "a group value has version 5; 0 to 4 are known"},
		{offset, "0005", "an offset value has version 5; 0 to 4 are known"},
		{offset, "ffff", "an offset value has version -1; 0 to 4 are known"},
		{offset, "00", "an offset value: it has 1 bytes, and begins with a version of 2 bytes"},
		{offset, "0003 000000000000002a 00000007 0001", "an offset value of version 3 and 16 bytes is cut short"},
		{offset, "0003 000000000000002a 00000007 ffff 00000000000003e8", "an offset value of version 3 and 24 bytes is cut short"}, // null metadata
		{group, "0003 0008636f6e73756d6572 00000003 ffff ffff 00000000000003e8 7fffffff", "a group value of version 3 and 32 bytes is cut short"},
		{group, "0004 09636f6e73756d6572 00000003 00 00 00000000000003e8 ffffffff0f", "a group value of version 4 and 30 bytes is cut short"},
		{key, "", "a key of __consumer_offsets: it has 0 bytes, and begins with a version of 2 bytes"},
		{key, "0001 0001", "an offset key of version 1 and 4 bytes is cut short"},
		{key, "0002 ffff", "a group key of version 2 and 4 bytes is cut short"},
	} {
		b := unhex(t, c.hexed)
		if err := c.read(b); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %q, want %q", c.hexed, err, c.want)
		}
	}
	for _, read := range []func([]byte) error{key, offset, group} {
		if err := read(nil); err == nil || !strings.Contains(err.Error(), "it is null") {
			t.Errorf("null: error %v", err)
		}
	}
}

// Newer writers may add fields at the end, or tags; Kafka ignores them.
func TestWhatFollowsIsIgnored(t *testing.T) {
	if k, err := DecodeKey(append(OffsetKey("g", "t", 3), 1, 2)); err != nil || k.Partition != 3 {
		t.Errorf("%+v, %v", k, err)
	}
	tagged := unhex(t, "0004 000000000000002a 00000007 026d 00000000000003e8 02 00 10 000102030405060708090a0b0c0d0e0f 63 02 beef")
	if o, err := DecodeOffset(tagged); err != nil || o != (Offset{42, 7, "m", 1000, -1}) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestTooLongStringsAreRefused(t *testing.T) {
	long := strings.Repeat("x", MaxStringBytes+1)
	fits := long[1:]
	if k, err := DecodeKey(OffsetKey(fits, fits, 1)); err != nil || k.Group != fits || k.Topic != fits {
		t.Errorf("a string of %d bytes does not survive: %v", len(fits), err)
	}
	for name, write := range map[string]func(){
		"OffsetKey":        func() { OffsetKey("g", long, 0) },
		"OffsetValue":      func() { OffsetValue(Offset{Metadata: long}) },
		"GroupKey":         func() { GroupKey(long) },
		"GroupValue":       func() { GroupValue(Group{Members: []Member{{InstanceID: &long}}}) },
		"Subscription":     func() { Subscription(Sub{Topics: []string{long}}) },
		"EncodeAssignment": func() { EncodeAssignment([]TopicPartitions{{Topic: long}}) },
	} {
		func() {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "record: "+name+" with a string of 32768 bytes") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			write()
		}()
	}
}

func BenchmarkDecodeOffsetRecord(b *testing.B) {
	key, value := OffsetKey("orders-svc", "orders", 17), OffsetValue(Offset{123_456, 3, "", 1_790_000_000_000, -1})
	b.ReportAllocs()
	for b.Loop() {
		k, err := DecodeKey(key)
		if err != nil || k.Partition != 17 {
			b.Fatal(err)
		}
		if o, err := DecodeOffset(value); err != nil || o.Offset != 123_456 {
			b.Fatal(err)
		}
	}
}
