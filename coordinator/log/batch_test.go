package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

func anyBytes(t *rapid.T, label string) []byte {
	if rapid.Bool().Draw(t, label+" null") {
		return nil
	}
	return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, label)...)
}

func anyRecords(t *rapid.T) []Record {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Record {
		r := Record{TimestampMs: rapid.Int64Range(0, 1<<42).Draw(t, "ms"), Key: anyBytes(t, "key"), Value: anyBytes(t, "value")}
		for range rapid.IntRange(0, 3).Draw(t, "headers") {
			r.Headers = append(r.Headers, Header{rapid.StringN(0, 20, 40).Draw(t, "header"), anyBytes(t, "header value")})
		}
		return r
	}), 1, 20).Draw(t, "records")
}

// What is encoded is read back as it was, and Validate takes it.
func TestEncodeAndRecordsAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := anyRecords(t)
		p := NoProducer
		if rapid.Bool().Draw(t, "idempotent") {
			p = Producer{rapid.Int64Range(0, 1<<40).Draw(t, "id"), rapid.Int16Min(0).Draw(t, "epoch"), rapid.Int32Min(0).Draw(t, "sequence")}
		}
		data := Encode(p, 0, records)
		b, err := Validate(data, len(data))
		if err != nil {
			t.Fatalf("Validate: %v", err)
		}
		if (Producer{b.ProducerID, b.ProducerEpoch, b.BaseSequence}) != p || int(b.Count) != len(records) {
			t.Fatalf("header %+v of %d records by %+v", b, len(records), p)
		}
		got, err := b.Records(nil)
		if err != nil {
			t.Fatalf("Records: %v", err)
		}
		largest := int64(0)
		for i := range records {
			records[i].Offset = int64(i)
			largest = max(largest, records[i].TimestampMs)
		}
		if !reflect.DeepEqual(got, records) {
			t.Fatalf("got  %+v\nwant %+v", got, records)
		}
		if b.MaxTimestampMs != largest || b.BaseTimestampMs != records[0].TimestampMs {
			t.Fatalf("timestamps %d to %d, want %d to %d", b.BaseTimestampMs, b.MaxTimestampMs, records[0].TimestampMs, largest)
		}
	})
}

// The bytes are Kafka's: kmsg's generated reader, which shares nothing with this package, finds the same fields.
func TestEncodeIsKafkasFormat(t *testing.T) {
	records := []Record{
		{TimestampMs: 1700000000000, Key: []byte("k"), Value: []byte("v"), Headers: []Header{{"h", []byte("x")}, {"n", nil}}},
		{TimestampMs: 1700000000250, Key: nil, Value: nil},
		{TimestampMs: 1699999999999, Key: []byte{}, Value: bytes.Repeat([]byte("z"), 200)},
	}
	data := Encode(Producer{77, 3, 500}, Transactional, records)
	var b kmsg.RecordBatch
	if err := b.ReadFrom(data); err != nil {
		t.Fatal(err)
	}
	if b.FirstOffset != 0 || int(b.Length) != len(data)-12 || b.PartitionLeaderEpoch != -1 || b.Magic != 2 || b.Attributes != 0x10 ||
		b.LastOffsetDelta != 2 || b.FirstTimestamp != 1700000000000 || b.MaxTimestamp != 1700000000250 || b.ProducerID != 77 ||
		b.ProducerEpoch != 3 || b.FirstSequence != 500 || b.NumRecords != 3 {
		t.Errorf("kmsg reads %+v", b)
	}
	if want := crc32.Checksum(data[21:], crc32.MakeTable(crc32.Castagnoli)); uint32(b.CRC) != want {
		t.Errorf("CRC %08x, want %08x", uint32(b.CRC), want)
	}
	rest := b.Records
	for i, want := range records {
		size, n := binary.Varint(rest)
		var r kmsg.Record
		if err := r.ReadFrom(rest[:n+int(size)]); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if r.TimestampDelta64 != want.TimestampMs-1700000000000 || int(r.OffsetDelta) != i || !bytes.Equal(r.Key, want.Key) || !bytes.Equal(r.Value, want.Value) ||
			(r.Key == nil) != (want.Key == nil) || (r.Value == nil) != (want.Value == nil) || len(r.Headers) != len(want.Headers) {
			t.Errorf("record %d: kmsg reads %+v, want %+v", i, r, want)
		}
		rest = rest[n+int(size):]
	}
	if len(rest) != 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
}

// mend makes the CRC right again after a test changed something under it.
func mend(b []byte) []byte {
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
	return b
}

func TestValidateRefusesWithKafkasCode(t *testing.T) {
	good := func() []byte {
		return Encode(Producer{5, 0, 0}, 0, []Record{{TimestampMs: 10, Value: []byte("one")}, {TimestampMs: 20, Value: []byte("two")}})
	}
	plain := func() []byte { return Encode(NoProducer, 0, []Record{{TimestampMs: 10, Value: []byte("one")}}) }
	put := func(b []byte, at int, bytes ...byte) []byte { copy(b[at:], bytes); return b }
	for _, c := range []struct {
		name string
		data []byte
		code int16
		says string
	}{
		{"nothing", nil, codeCorruptMessage, "at least 61 bytes"},
		{"cut header", good()[:60], codeCorruptMessage, "at least 61 bytes"},
		{"cut records", good()[:70], codeCorruptMessage, "bytes follow"},
		{"magic 1", put(good(), atMagic, 1), codeInvalidRecord, "magic 1"},
		{"negative length", put(good(), atLength, 0xff, 0xff, 0xff, 0xff), codeCorruptMessage, "length is -1"},
		{"small length", put(good(), atLength, 0, 0, 0, 10), codeCorruptMessage, "length is 10"},
		{"huge length", put(good(), atLength, 0x7f, 0xff, 0xff, 0xff), codeCorruptMessage, "length is 2147483647"},
		{"two batches", append(good(), good()...), codeInvalidRecord, "one batch"},
		{"bit flip", put(good(), len(good())-1, 0xff), codeCorruptMessage, "CRC-32C"},
		{"base offset", put(good(), atBaseOffset+7, 9), codeInvalidRecord, "base offset 0, this one has 9"},
		{"count too large", mend(put(good(), atCount, 0, 0, 0, 3)), codeInvalidRecord, "3 records"},
		{"count and delta too large", mend(put(put(good(), atCount, 0, 0, 0, 3), atLastDelta, 0, 0, 0, 2)), codeInvalidRecord, "record 2 of 3"},
		{"no records", Encode(NoProducer, 0, nil), codeInvalidRecord, "0 records"},
		{"negative delta", mend(put(good(), atLastDelta, 0xff, 0xff, 0xff, 0xff)), codeInvalidRecord, "number -1"},
		{"control", Encode(Producer{5, 0, 0}, Control, []Record{{}}), codeInvalidRecord, "control"},
		{"codec", mend(put(good(), atAttributes+1, 6)), codeInvalidRecord, "no compression has number 6"},
		{"sequence", Encode(Producer{5, 0, -1}, 0, []Record{{}}), codeInvalidRecord, "sequence number -1"},
		{"producer epoch", Encode(Producer{5, -1, 0}, 0, []Record{{}}), codeInvalidRecord, "epoch -1"},
		{"transaction of nobody", Encode(NoProducer, Transactional, []Record{{}}), codeInvalidRecord, "needs a producer id"},
		{"record length", mend(put(plain(), HeaderBytes, 0x7e)), codeInvalidRecord, "record 0 of 1"},
		{"record number", mend(put(plain(), HeaderBytes+3, 2)), codeInvalidRecord, "has number 1"},
		{"key length", mend(put(plain(), HeaderBytes+4, 0x7e)), codeInvalidRecord, "its key"},
		{"headers", mend(put(plain(), len(plain())-1, 0x7e)), codeInvalidRecord, "63 headers"},
	} {
		_, err := Validate(c.data, 1000)
		var known *Error
		if !errors.As(err, &known) || known.Code != c.code || !strings.Contains(known.Reason, c.says) {
			t.Errorf("%s: %v (%+v), want code %d saying %q", c.name, err, known, c.code, c.says)
		}
	}
	if _, err := Validate(good(), len(good())-1); err == nil || err.(*Error).Code != codeMessageTooLarge {
		t.Errorf("too large: %v", err)
	}
	if _, err := Validate(good(), len(good())); err != nil {
		t.Errorf("the unchanged batch: %v", err)
	}
}

// A compressed batch stays as it came; only who can unpack it looks inside.
func TestCompressedBatchesAreKeptClosed(t *testing.T) {
	plain := Encode(NoProducer, 0, []Record{{TimestampMs: 10, Value: []byte("one")}, {TimestampMs: 30, Value: []byte("two")}})
	// "Compressed": every byte is turned over.
	turn := func(b []byte) []byte {
		c := append([]byte{}, b...)
		for i := range c {
			c[i] = ^c[i]
		}
		return c
	}
	packed := append(append([]byte{}, plain[:HeaderBytes]...), turn(plain[HeaderBytes:])...)
	packed[atAttributes+1] = byte(Zstd)
	b, err := Validate(mend(packed), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Records(nil); err == nil || !strings.Contains(err.Error(), "compressed with zstd") {
		t.Errorf("without a decompressor: %v", err)
	}
	unpack := func(codec Codec, packed []byte, maxBytes int) ([]byte, error) {
		if codec != Zstd || maxBytes != MaxUnpackedBytes {
			t.Errorf("asked to unpack %v to %d bytes", codec, maxBytes)
		}
		return turn(packed), nil
	}
	got, err := b.Records(unpack)
	if err != nil || len(got) != 2 || string(got[1].Value) != "two" || got[1].Offset != 1 {
		t.Errorf("unpacked: %+v, %v", got, err)
	}
	broken := func(Codec, []byte, int) ([]byte, error) { return nil, errors.New("no such frame") }
	if _, err := b.Records(broken); err == nil || !strings.Contains(err.Error(), "no such frame") {
		t.Errorf("a broken one: %v", err)
	}
}

// Whatever bytes come, the decoder answers; it does not panic and does not take memory that the bytes do not justify.
func FuzzValidate(f *testing.F) {
	f.Add(Encode(NoProducer, 0, []Record{{TimestampMs: 10, Key: []byte("k"), Value: []byte("v"), Headers: []Header{{"h", nil}}}}))
	f.Add(Encode(Producer{1, 1, 1}, Transactional, []Record{{}, {}, {}}))
	f.Add(Encode(NoProducer, 0, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		// The CRC would stop nearly everything: half of the tries go behind it.
		if len(data) > HeaderBytes && data[0]&1 == 0 {
			data = mend(append([]byte{}, data...))
		}
		b, err := Validate(data, 1<<20)
		if err == nil {
			records, err := b.Records(nil)
			if b.Codec() == None && (err != nil || len(records) != int(b.Count)) {
				t.Fatalf("Validate took %d records, Records read %d: %v", b.Count, len(records), err)
			}
		}
		if b, rest, err := Parse(data); err == nil {
			if len(b.Bytes)+len(rest) != len(data) {
				t.Fatalf("%d and %d bytes of %d", len(b.Bytes), len(rest), len(data))
			}
			records, _ := b.Records(nil)
			if cap(records) > len(data) {
				t.Fatalf("room for %d records out of %d bytes", cap(records), len(data))
			}
			Describe(b, nil)
		}
	})
}
