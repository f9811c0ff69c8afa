package app

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
)

// codecs are the values of compression.type that name one.
var codecs = map[string]log.Codec{"uncompressed": log.None, "gzip": log.Gzip, "snappy": log.Snappy, "lz4": log.LZ4, "zstd": log.Zstd}

// asTopicWants packs a producer's batch as the topic's compression.type says (Kafka: LogValidator), where that is not how it is
// packed already. A batch that is wrong stays as it is: the log says what is wrong with it.
func asTopicWants(c *cluster.Cluster, topic string, batch []byte) []byte {
	want, ok := c.OwnSetting(topic, "compression.type")
	codec, known := codecs[want]
	if !ok || !known || len(batch) <= log.HeaderBytes || log.Codec(batch[22]&0x07) == codec {
		return batch
	}
	level := 0
	if text, ok := c.OwnSetting(topic, "compression."+want+".level"); ok {
		level, _ = strconv.Atoi(text)
	}
	return repack(batch, codec, level)
}

// Where the fields of a batch are that change with its compression (Kafka: DefaultRecordBatch).
const (
	lengthAt, crcAt, attributesAt = 8, 17, 21
	uncountedBytes                = 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func repack(batch []byte, codec log.Codec, level int) []byte {
	if batch[16] != 2 || int(binary.BigEndian.Uint32(batch[lengthAt:]))+uncountedBytes != len(batch) ||
		crc32.Checksum(batch[attributesAt:], castagnoli) != binary.BigEndian.Uint32(batch[crcAt:]) {
		return batch
	}
	plain := batch[log.HeaderBytes:]
	if had := log.Codec(batch[attributesAt+1] & 0x07); had != log.None {
		var err error
		if plain, err = decompress(had, plain, log.MaxUnpackedBytes); err != nil {
			return batch
		}
	}
	packed, err := compress(append([]byte(nil), batch[:log.HeaderBytes]...), codec, level, plain)
	if err != nil {
		return batch
	}
	packed[attributesAt+1] = packed[attributesAt+1]&^0x07 | byte(codec)
	binary.BigEndian.PutUint32(packed[lengthAt:], uint32(len(packed)-uncountedBytes))
	binary.BigEndian.PutUint32(packed[crcAt:], crc32.Checksum(packed[attributesAt:], castagnoli))
	if codec != log.None {
		if code, _ := checkBatch(packed); code != 0 {
			return batch // its records are wrong, and that is the log's to say
		}
	}
	return packed
}

// compress appends records, packed. level is Kafka's for the codec, 0 for the default.
func compress(to []byte, codec log.Codec, level int, plain []byte) ([]byte, error) {
	out := bytes.NewBuffer(to)
	var w io.WriteCloser
	var err error
	switch codec {
	case log.None:
		return append(to, plain...), nil
	case log.Snappy:
		return snappyBlocks(to, plain), nil
	case log.Gzip:
		if level == 0 {
			level = gzip.DefaultCompression
		}
		w, err = gzip.NewWriterLevel(out, level)
	case log.LZ4:
		lz := lz4.NewWriter(out)
		err = lz.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.CompressionLevelOption(lz4Level(level)))
		w = lz
	case log.Zstd:
		if level == 0 {
			level = 3
		}
		w, err = zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
	}
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// lz4Level gives Kafka's 1 to 17 the nearest of the library's; Kafka's default of 9 is its fast one.
func lz4Level(level int) lz4.CompressionLevel {
	if level <= 9 {
		return lz4.Fast
	}
	return lz4.Level9
}

// snappyBlock is how much goes into one block of what Java's snappy reads.
const snappyBlock = 32 << 10

// snappyBlocks writes the framing of Java's snappy, which every client reads.
func snappyBlocks(to, plain []byte) []byte {
	to = append(append(to, xerial...), 0, 0, 0, 1, 0, 0, 0, 1)
	for len(plain) > 0 {
		n := min(len(plain), snappyBlock)
		block := s2.EncodeSnappy(nil, plain[:n])
		to = append(binary.BigEndian.AppendUint32(to, uint32(len(block))), block...)
		plain = plain[n:]
	}
	return to
}
