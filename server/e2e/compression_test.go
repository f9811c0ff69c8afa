package e2e

import (
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// snappy packs a batch that is not packed yet, or gives it other bytes in the place of its records.
func snappy(plain []byte, records []byte, count uint32) []byte {
	if records == nil {
		records = s2.EncodeSnappy(nil, plain[61:])
	}
	return packed(plain, 2, records, count)
}

// packed is a batch with records that were packed by the codec of that number.
func packed(plain []byte, codec uint16, records []byte, count uint32) []byte {
	b := append(append([]byte(nil), plain[:61]...), records...)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint16(b[21:], binary.BigEndian.Uint16(b[21:])|codec)
	binary.BigEndian.PutUint32(b[23:], count-1)
	binary.BigEndian.PutUint32(b[57:], count)
	binary.BigEndian.PutUint32(b[17:], crc(b[21:]))
	return b
}

// TestCompressedBatchesAreOpened: what lies in a compressed batch is looked at as in any other.
func TestCompressedBatchesAreOpened(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	for _, c := range []struct {
		what  string
		batch []byte
		code  int16
	}{
		{"a right one", snappy(batch("x"), nil, 1), 0},
		{"one that cannot be opened", snappy(batch("x"), []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3}, 1), kerr.InvalidRecord.Code},
		{"more records than there are", snappy(batch("x"), nil, 2), kerr.InvalidRecord.Code},
		{"bytes behind the last", snappy(batch("x"), s2.EncodeSnappy(nil, append(batch("x")[61:], 0)), 1), kerr.InvalidRecord.Code},
		{"no records at all", snappy(batch("x"), s2.EncodeSnappy(nil, nil), 1), kerr.InvalidRecord.Code},
	} {
		row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, c.batch)).Topics[0].Partitions[0]
		if row.ErrorCode != c.code {
			t.Errorf("%s: %s, want %s", c.what, name(row.ErrorCode), name(c.code))
		}
	}
}

// TestOldFetchGetsZstd: as Apache Kafka since 4.0, a broker sends a batch as it lies to whatever version of Fetch asks.
// kafka-python 2.0.2 unpacks zstd and asks with v4, below the v10 that KIP-110 wanted.
func TestOldFetchGetsZstd(t *testing.T) {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	sent := packed(batch("x"), 4, packer.EncodeAll(batch("x")[61:], nil), 1)
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	if row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, sent)).Topics[0].Partitions[0]; row.ErrorCode != 0 {
		t.Fatalf("producing zstd: %s", name(row.ErrorCode))
	}
	for _, version := range []int16{4, 9, 10} {
		r := kmsg.NewPtrFetchRequest()
		r.Version, r.MaxBytes = version, 1<<20
		topic, partition := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
		partition.PartitionMaxBytes = 1 << 20
		topic.Topic, topic.Partitions = "orders", []kmsg.FetchRequestTopicPartition{partition}
		r.Topics = []kmsg.FetchRequestTopic{topic}
		row := ask[*kmsg.FetchResponse](w, r).Topics[0].Partitions[0]
		if row.ErrorCode != 0 || len(row.RecordBatches) != len(sent) {
			t.Errorf("Fetch v%d: %s with %d bytes; want the batch's %d", version, name(row.ErrorCode), len(row.RecordBatches), len(sent))
		}
	}
}
