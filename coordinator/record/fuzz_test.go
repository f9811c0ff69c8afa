package record

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// seed adds vectors, each whole, cut short, and with bytes of length and version pushed to their ends.
func seed(f *testing.F, vectors ...string) {
	f.Add([]byte(nil))
	for _, v := range vectors {
		b, err := hex.DecodeString(strings.ReplaceAll(v, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
		for i := range min(len(b), 24) {
			c := append([]byte(nil), b...)
			c[i] = 0x7f
			f.Add(c)
			c = append([]byte(nil), b...)
			c[i] = 0xff
			f.Add(c)
		}
	}
}

func FuzzDecodeKey(f *testing.F) {
	seed(f, "0000 0001 67 0001 74 00000000", "0001 0001 67 0001 74 00000000", "0001 0002 c3a9 0001 74 00000102", "0002 0001 67", "0008 0001 67 0001 6d")
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := DecodeKey(b)
		switch {
		case err != nil:
			if k != (Key{}) {
				t.Fatalf("an error, and %+v", k)
			}
		case k.IsOffset():
			if again, err := DecodeKey(OffsetKey(k.Group, k.Topic, k.Partition)); err != nil || again.Group != k.Group || again.Topic != k.Topic || again.Partition != k.Partition {
				t.Fatalf("%+v is read again as %+v, %v", k, again, err)
			}
		case k.IsGroup():
			if again, err := DecodeKey(GroupKey(k.Group)); err != nil || again != k {
				t.Fatalf("%+v is read again as %+v, %v", k, again, err)
			}
		}
	})
}

func FuzzDecodeOffset(f *testing.F) {
	seed(f, "0000000000000000002a00016d00000000000003e8", "0001000000000000002a00016d00000000000003e800000000000007d0",
		"0002000000000000002a00016d00000000000003e8", "0003000000000000002a0000000700016d00000000000003e8",
		"0004000000000000002a00000007026d00000000000003e800", "0004000000000000002a00000007026d00000000000003e8016302beef")
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := DecodeOffset(b)
		if err != nil || len(o.Metadata) > MaxStringBytes { // version 4 can hold more than the others
			return
		}
		if o.ExpireTimestampMs != -1 && o.ExpireTimestampMs <= 0 {
			o.ExpireTimestampMs = -1 // an expiry in 1970 is none
		}
		again, err := DecodeOffset(OffsetValue(o))
		if o.ExpireTimestampMs > 0 {
			o.LeaderEpoch = -1
		}
		if err != nil || again != o {
			t.Fatalf("%+v is read again as %+v, %v", o, again, err)
		}
	})
}

func FuzzDecodeGroup(f *testing.F) {
	seed(f, "00010008636f6e73756d657200000003ffffffff00000000", "00030008636f6e73756d657200000003ffffffff00000000000003e800000000", "000409636f6e73756d657200000003000000000000000003e80100",
		"00000008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000271000000001010000000102",
		"00010008636f6e73756d657200000003000572616e676500026d310000000100026d3100016300022f680000ea600000271000000001010000000102",
		"00020008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d3100016300022f680000ea600000271000000001010000000102",
		"00030008636f6e73756d657200000003000572616e676500026d3100000000000003e80000000100026d310002693100016300022f680000ea600000271000000001010000000102",
		"000409636f6e73756d6572000000030672616e6765036d3100000000000003e802036d310369310263032f680000ea6000002710020102020000")
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := DecodeGroup(b)
		if len(g.Members)*10 > len(b) {
			t.Fatalf("%d members of %d bytes", len(g.Members), len(b))
		}
		if err != nil || len(b) > MaxStringBytes {
			return
		}
		if again, err := DecodeGroup(GroupValue(g)); err != nil || !reflect.DeepEqual(again, g) {
			t.Fatalf("%+v is read again as %+v, %v", g, again, err)
		}
	})
}

func FuzzSubscription(f *testing.F) {
	seed(f, "000000000001000174ffffffff", "000100000001000174ffffffff000000010001740000000100000000",
		"000200000001000174ffffffff00000001000174000000010000000000000005",
		"000300000001000174ffffffff00000001000174000000010000000000000005ffff", "7b226d6f6465223a22636f6e6e656374227d")
	f.Fuzz(func(t *testing.T, b []byte) {
		topics, ok := Topics(b)
		s, whole := DecodeSubscription(b)
		switch {
		case len(topics)*2 > len(b) || len(s.Topics)*2 > len(b) || len(s.Owned)*6 > len(b):
			t.Fatalf("%d, %d topics and %d owned of %d bytes", len(topics), len(s.Topics), len(s.Owned), len(b))
		case !whole || !ok:
			return
		case fmt.Sprintf("%q", topics) != fmt.Sprintf("%q", s.Topics):
			t.Fatalf("the topics are %q by version 0 and %q by version %d", topics, s.Topics, s.Version)
		}
		s.Version = min(s.Version, 3)
		again, ok := DecodeSubscription(Subscription(s))
		if !ok || !reflect.DeepEqual(again, s) {
			t.Fatalf("%+v is read again as %+v, %v", s, again, ok)
		}
	})
}

func FuzzAssignment(f *testing.F) {
	seed(f, "000000000001000174000000020000000000000001ffffffff", "000300000000ffffffff", "00000000000100017400000000ffffffff")
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := DecodeAssignment(b)
		bytes := 0
		for _, t := range a {
			bytes += 6 + len(t.Topic) + 4*len(t.Partitions)
		}
		if bytes > len(b) {
			t.Fatalf("%d bytes of %d", bytes, len(b))
		}
		if !ok {
			return
		}
		if again, ok := DecodeAssignment(EncodeAssignment(a)); !ok || !reflect.DeepEqual(again, a) {
			t.Fatalf("%+v is read again as %+v, %v", a, again, ok)
		}
	})
}

// The key and the value of a transaction, one after the other.
func FuzzTransaction(f *testing.F) {
	for _, key := range []string{"000000027478", "00000000", "0001"} {
		for _, value := range []string{
			"0000" + "00000000000003e8" + "0002" + "0000ea60" + "01" + "00000001" + "0001" + "74" + "00000002" + "00000000" + "00000003" + "0000000000000005" + "0000000000000004",
			"0000" + "0000000000000001" + "0000" + "00000001" + "00" + "ffffffff" + "0000000000000005" + "ffffffffffffffff",
			"0001" + "00000000000003e8" + "0002" + "0000ea60" + "02" + "02" + "0274" + "02" + "00000003" + "00" + "0000000000000005" + "0000000000000004" + "03" + "00" + "08" + "00000000000003e7" + "02" + "02" + "0002" + "09" + "01" + "ff",
		} {
			k, _ := hex.DecodeString(key)
			v, _ := hex.DecodeString(value)
			f.Add(k, v)
			f.Add(k, v[:len(v)-3])
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if id, known, err := DecodeTransactionKey(key); known && err == nil {
			if again, _, err := DecodeTransactionKey(TransactionKey(id)); err != nil || again != id {
				t.Fatalf("%q is read again as %q, %v", id, again, err)
			}
		}
		v, err := DecodeTransaction(value)
		partitions := 0
		for _, p := range v.Partitions {
			partitions += 2 + len(p.Partitions)*4
		}
		if partitions > len(value) {
			t.Fatalf("%d bytes of partitions out of %d", partitions, len(value))
		}
		if err != nil || len(value) > MaxStringBytes {
			return
		}
		if again, err := DecodeTransaction(TransactionValue(v)); err != nil || fmt.Sprint(again) != fmt.Sprint(v) {
			t.Fatalf("%+v is read again as %+v, %v", v, again, err)
		}
	})
}
