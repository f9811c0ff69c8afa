package record

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

var ownsT0 = []TopicPartitions{{"t", []int32{0}}}

// SER-04: subscriptions, versions 0 to 3, both directions.
func TestSER04_Subscriptions(t *testing.T) {
	for version, hexed := range []string{
		"000000000001000174ffffffff",
		"000100000001000174ffffffff000000010001740000000100000000",
		"000200000001000174ffffffff00000001000174000000010000000000000005",
		"000300000001000174ffffffff00000001000174000000010000000000000005ffff",
	} {
		s := Sub{Version: int16(version), Topics: []string{"t"}, Owned: ownsT0, Generation: 5}
		sameBytes(t, "Subscription", Subscription(s), hexed)
		if version < 1 {
			s.Owned = nil
		}
		if version < 2 {
			s.Generation = -1
		}
		got, ok := DecodeSubscription(unhex(t, hexed))
		if !ok {
			t.Errorf("version %d is not read", version)
		}
		same(t, hexed, got, s)
		if topics, ok := Topics(unhex(t, hexed)); !ok || fmt.Sprint(topics) != "[t]" {
			t.Errorf("version %d: topics %v, %v", version, topics, ok)
		}
	}
}

func TestSubscriptionOfTheFuture(t *testing.T) {
	b := unhex(t, "000900000001000174ffffffff00000001000174000000010000000000000005 0001 72 dead")
	got, ok := DecodeSubscription(b)
	if !ok {
		t.Fatal("not read")
	}
	same(t, "version 9", got, Sub{Version: 9, Topics: []string{"t"}, Owned: ownsT0, Generation: 5, Rack: ptr("r")})
}

func TestNoSubscription(t *testing.T) {
	for _, hexed := range []string{"", "0000", "ffff00000001000174ffffffff", "000100000001000174ffffffff", "0000000000010001",
		"0003000000010001 74ffffffff 7fffffff 0001"} {
		if got, ok := DecodeSubscription(unhex(t, hexed)); ok {
			t.Errorf("%q was read as %+v", hexed, got)
		}
	}
}

// The coordinator reads topics by the layout of version 0, whatever follows, as Kafka's does.
func TestTopicsAreReadLeniently(t *testing.T) {
	for hexed, want := range map[string]string{
		"0003 00000002 0001 61 0001 62 00000002 beef 00": "[a b] true", // what follows version 0 is broken
		"0000 00000000 ffffffff":                         "[] true",
		"0000 00000001 0001 74 00000000":                 "[t] true",
		"0000 00000001 0001 74":                          "false", // no user data
		"0000 00000001 0001 74 00000005 01":              "false", // user data cut short
		"0000 7fffffff 0001 74 ffffffff":                 "false",
		"0000 ffffffff ffffffff":                         "false", // null topics
		"0000 00000001 ffff ffffffff":                    "false", // a null topic
		"ffff 00000001 0001 74 ffffffff":                 "false", // a version below 0
		"00":                                             "false",
		"":                                               "false",
		"7b226d6f6465223a22636f6e6e656374227d":           "false", // another kind of group
	} {
		topics, ok := Topics(unhex(t, hexed))
		got := fmt.Sprint(ok)
		if ok {
			got = fmt.Sprint(topics, ok)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", hexed, got, want)
		}
	}
}

// SER-04: assignments.
func TestSER04_Assignments(t *testing.T) {
	const hexed = "000000000001000174000000020000000000000001ffffffff"
	want := []TopicPartitions{{"t", []int32{0, 1}}}
	sameBytes(t, "EncodeAssignment", EncodeAssignment(want), hexed)
	for _, version := range []string{"0000", "0001", "0002", "0003", "0009"} {
		got, ok := DecodeAssignment(unhex(t, version+hexed[4:]))
		if !ok {
			t.Errorf("version %s is not read", version)
		}
		same(t, version, got, want)
	}
	for _, bad := range []string{"", "0000", "ffff" + hexed[4:], hexed[:len(hexed)-8], "000000000001000174 7fffffff", "0000 7fffffff 0001"} {
		if got, ok := DecodeAssignment(unhex(t, bad)); ok {
			t.Errorf("%q was read as %+v", bad, got)
		}
	}
	if got, ok := DecodeAssignment(EncodeAssignment(nil)); !ok || len(got) != 0 {
		t.Errorf("an empty assignment: %+v, %v", got, ok)
	}
}

func TestConsumerBlobsAreReadAsWritten(t *testing.T) {
	name := rapid.StringN(0, 20, 60)
	owned := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) TopicPartitions {
		return TopicPartitions{name.Draw(t, "topic"), rapid.SliceOfN(rapid.Int32(), 1, 5).Draw(t, "partitions")}
	}), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		s := Sub{Version: 3, Topics: rapid.SliceOfN(name, 1, 5).Draw(t, "topics"), UserData: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "data"),
			Owned: owned.Draw(t, "owned"), Generation: rapid.Int32().Draw(t, "generation")}
		if rapid.Bool().Draw(t, "racked") {
			rack := name.Draw(t, "rack")
			s.Rack = &rack
		}
		b := Subscription(s)
		if got, ok := DecodeSubscription(b); !ok || !equal(got, s) {
			t.Fatalf("got %+v, want %+v", got, s)
		}
		if got, ok := Topics(b); !ok || fmt.Sprint(got) != fmt.Sprint(s.Topics) {
			t.Fatalf("topics %q, want %q", got, s.Topics)
		}
		if got, ok := DecodeAssignment(EncodeAssignment(s.Owned)); !ok || fmt.Sprint(got) != fmt.Sprint(s.Owned) {
			t.Fatalf("assignment %v, want %v", got, s.Owned)
		}
	})
}

func equal(a, b Sub) bool {
	if text(a.Rack) != text(b.Rack) || (a.Rack == nil) != (b.Rack == nil) {
		return false
	}
	a.Rack, b.Rack = nil, nil
	return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b)
}

func TestStickyUserData(t *testing.T) {
	b := StickyUserData([]TopicPartitions{{"t", []int32{0, 2}}}, 5)
	if got := fmt.Sprintf("%x", b); got != "00000001000174000000020000000000000002"+"00000005" {
		t.Errorf("bytes %s", got)
	}
	had, generation, ok := DecodeStickyUserData(b)
	if !ok || generation != 5 || fmt.Sprint(had) != "[{t [0 2]}]" {
		t.Errorf("read %v of generation %d, %v", had, generation, ok)
	}
	if had, generation, ok = DecodeStickyUserData(b[:len(b)-4]); !ok || generation != -1 || len(had) != 1 {
		t.Errorf("version 0: read %v of generation %d, %v", had, generation, ok)
	}
	for _, bad := range [][]byte{nil, {1}, b[:len(b)-5], {0x7f, 0xff, 0xff, 0xff, 0, 0}} {
		if _, _, ok := DecodeStickyUserData(bad); ok {
			t.Errorf("%x was read", bad)
		}
	}
}
