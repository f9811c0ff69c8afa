package e2e

import (
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// snappy packs a batch that is not packed yet, or gives it other bytes in the place of its records.
func snappy(plain []byte, records []byte, count uint32) []byte {
	b := append([]byte(nil), plain[:61]...)
	if records == nil {
		records = s2.EncodeSnappy(nil, plain[61:])
	}
	b = append(b, records...)
	binary.BigEndian.PutUint32(b[8:], uint32(len(b)-12))
	binary.BigEndian.PutUint16(b[21:], binary.BigEndian.Uint16(b[21:])|2)
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
