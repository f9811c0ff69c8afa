//go:build interop

package differ

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// born is the time of the first record; both sides get the same times.
var born = time.Now().UnixMilli() - 60_000

// batch is a record batch as a question needs it; the zero value with values is a right one of no producer.
type batch struct {
	values    []string
	codec     int16 // 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
	attrs     int16 // beside the codec
	pid       int64 // 0 stands for none
	epoch     int16
	seq       int32
	afterMs   int64 // of the first record after born; the next are 10 ms apart
	stepMs    int64
	base      int64
	nullKeys  bool
	wrong     func(raw []byte) // spoils what is sent, after the CRC was made
	wrongInCR func(raw []byte) // spoils it before
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

var packings = []struct {
	name  string
	codec kgo.CompressionCodec
}{{"none", kgo.NoCompression()}, {"gzip", kgo.GzipCompression()}, {"snappy", kgo.SnappyCompression()}, {"lz4", kgo.Lz4Compression()}, {"zstd", kgo.ZstdCompression()}}

func (b batch) bytes() []byte {
	var records []byte
	step := b.stepMs
	if step == 0 {
		step = 10
	}
	for i, value := range b.values {
		r := kmsg.Record{TimestampDelta64: int64(i) * step, OffsetDelta: int32(i), Value: []byte(value)}
		if !b.nullKeys {
			r.Key = []byte("k" + fmt.Sprint(i))
		}
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		records = r.AppendTo(records)
	}
	if b.codec > 0 {
		packer, err := kgo.DefaultCompressor(packings[b.codec].codec)
		if err != nil {
			panic(err)
		}
		packed, _ := packer.Compress(new(bytes.Buffer), records)
		records = bytes.Clone(packed)
	}
	first := born + b.afterMs
	raw := kmsg.RecordBatch{FirstOffset: b.base, PartitionLeaderEpoch: -1, Magic: 2, Attributes: b.attrs | b.codec, LastOffsetDelta: int32(len(b.values)) - 1, FirstTimestamp: first,
		MaxTimestamp: first + max(0, int64(len(b.values)-1))*step, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(b.values)), Records: records}
	if b.pid != 0 {
		raw.ProducerID, raw.ProducerEpoch, raw.FirstSequence = b.pid, b.epoch, b.seq
	}
	out := raw.AppendTo(nil)
	if b.wrongInCR != nil {
		b.wrongInCR(out)
	}
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.BigEndian.PutUint32(out[17:], castagnoli(out[21:]))
	if b.wrong != nil {
		b.wrong(out)
	}
	return out
}

// batchLines tell what is in fetched batches. Ids of producers and the times of markers differ by chance.
func (s *side) batchLines(path string, raw []byte) (all []string) {
	for len(raw) > 61 {
		size := 12 + int(binary.BigEndian.Uint32(raw[8:]))
		if size > len(raw) {
			return append(all, path+" = a batch that is cut")
		}
		var b kmsg.RecordBatch
		if err := b.ReadFrom(raw[:size]); err != nil {
			return append(all, path+" = no batch: "+err.Error())
		}
		raw = raw[size:]
		who := "none"
		if b.ProducerID >= 0 {
			who = s.producer(b.ProducerID)
		}
		times, records := fmt.Sprintf("%d+%d", b.FirstTimestamp-born, b.MaxTimestamp-b.FirstTimestamp), hex.EncodeToString(b.Records)
		if b.Attributes&0x20 != 0 || b.Attributes&0x08 != 0 {
			times = "the log's"
		}
		if len(records) > 200 {
			records = fmt.Sprintf("%d bytes, CRC %08x", len(b.Records), castagnoli(b.Records))
		}
		all = append(all, fmt.Sprintf("%s: offset %d to +%d, leader epoch %d, magic %d, attributes %#x, times %s, producer %s, epoch %d, sequence %d, %d records: %s",
			path, b.FirstOffset, b.LastOffsetDelta, b.PartitionLeaderEpoch, b.Magic, b.Attributes, times, who, b.ProducerEpoch, b.FirstSequence, b.NumRecords, records))
	}
	if len(raw) > 0 {
		all = append(all, fmt.Sprintf("%s: %d bytes more", path, len(raw)))
	}
	if all == nil {
		all = []string{path + " = no batches"}
	}
	return all
}

// topic makes a topic that belongs to the question alone, and waits until it serves.
func (s *side) topic(name string, partitions int32, configs ...string) string {
	name = s.group + "-" + name
	r := kmsg.NewPtrCreateTopicsRequest()
	r.Version, r.TimeoutMillis = 7, 20_000
	t := newTopic(name, partitions, 1)
	for i := 0; i+1 < len(configs); i += 2 {
		t.Configs = append(t.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: configs[i], Value: &configs[i+1]})
	}
	r.Topics = append(r.Topics, t)
	made := s.ask("admin", r).(*kmsg.CreateTopicsResponse).Topics[0]
	if made.ErrorCode != 0 {
		s.stop("creating %s: error %d", name, made.ErrorCode)
	}
	s.topicIDs[made.TopicID] = "<id of " + s.text(name) + ">"
	s.ids[name] = made.TopicID
	s.awaitTopic(name, partitions)
	return name
}

func newTopic(name string, partitions int32, replicas int16) kmsg.CreateTopicsRequestTopic {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, replicas
	return t
}

// awaitTopic waits until every partition is led and asked.
func (s *side) awaitTopic(name string, partitions int32) {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		good := 0
		for _, p := range s.ask("admin", listOffsetsOf(1, name, -1, numbers(partitions)...)).(*kmsg.ListOffsetsResponse).Topics[0].Partitions {
			if p.ErrorCode == 0 {
				good++
			}
		}
		if good == int(partitions) {
			return
		}
		if time.Now().After(deadline) {
			s.stop("%s does not serve", name)
		}
	}
}

func numbers(n int32) (all []int32) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func produceOf(v, acks int16, topic string, batches ...[]byte) *kmsg.ProduceRequest {
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = v, acks, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	for i, b := range batches {
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = int32(i), b
		t.Partitions = append(t.Partitions, p)
	}
	r.Topics = append(r.Topics, t)
	return r
}

// write appends a batch as a preparation.
func (s *side) write(topic string, batches ...batch) {
	for _, b := range batches {
		r := produceOf(9, -1, topic, b.bytes())
		if a := s.ask("writer", r).(*kmsg.ProduceResponse).Topics[0].Partitions[0]; a.ErrorCode != 0 {
			s.stop("writing to %s: error %d", topic, a.ErrorCode)
		}
	}
}

func values(n int, size int) (all []string) {
	for i := range n {
		v := bytes.Repeat([]byte{byte('a' + i%26)}, size)
		all = append(all, string(v))
	}
	return all
}

// The shared topics are written once and never changed: "data" has three batches, of four records, and a second partition
// that is empty and begins at 0.
const (
	sharedGroup = "shared"
	sharedData  = "shared-data"
)

func prepareData(s *side) {
	s.newProducer("first") // takes the producer id 0, which a batch of these tests cannot have
	s.topic("data", 3)
	s.write(sharedData, batch{values: values(4, 8)}, batch{values: values(4, 8), afterMs: 1000, codec: 1}, batch{values: values(4, 300), afterMs: 500, stepMs: 700})
	s.topic("deleted", 1)
	s.write("shared-deleted", batch{values: values(4, 8)}, batch{values: values(4, 8), afterMs: 1000})
	r := deleteRecordsOf(2, "shared-deleted", 0, 3)
	if a := s.ask("admin", r).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]; a.ErrorCode != 0 {
		s.stop("deleting records: error %d", a.ErrorCode)
	}
}

// shared finds out the ids of the shared topics.
func (s *side) shared() {
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 12
	r.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr(sharedData)}, {Topic: kmsg.StringPtr("shared-deleted")}}
	for _, t := range s.ask("admin", r).(*kmsg.MetadataResponse).Topics {
		s.topicIDs[t.TopicID] = "<id of " + *t.Topic + ">"
		s.ids[*t.Topic] = t.TopicID
	}
}
