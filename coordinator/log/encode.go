package log

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
)

// Where the fields of a batch's header are (Kafka: DefaultRecordBatch). The CRC covers everything from the attributes
// on, so base offset and leader epoch can be rewritten without touching it.
const (
	atBaseOffset    = 0
	atLength        = 8
	atLeaderEpoch   = 12
	atMagic         = 16
	atCRC           = 17
	atAttributes    = 21
	atLastDelta     = 23
	atBaseTime      = 27
	atMaxTime       = 35
	atProducerID    = 43
	atProducerEpoch = 51
	atBaseSequence  = 53
	atCount         = 57

	// HeaderBytes is the size of a batch without records.
	HeaderBytes = 61
	// lengthCounts is what the length field leaves out: itself and the base offset before it.
	lengthCounts = 12
)

// Attribute bits of a batch. The lowest three are the Codec.
const (
	CodecMask     int16 = 0x07
	LogAppendTime int16 = 0x08
	Transactional int16 = 0x10
	Control       int16 = 0x20
	// DeleteHorizon is set by compaction: the base timestamp is when tombstones or the marker in the batch may go.
	DeleteHorizon int16 = 0x40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode packs records into one uncompressed batch with base offset 0. attributes may carry Transactional and Control.
// A batch without records is legal to encode; only compaction and markers leave such ones in a log.
func Encode(p Producer, attributes int16, records []Record) []byte {
	size := HeaderBytes
	for i := range records {
		size += 20 + len(records[i].Key) + len(records[i].Value) // a guess: append grows what headers and varints add
	}
	e := Begin(make([]byte, 0, size))
	for i := range records {
		e.Add(&records[i])
	}
	return e.End(p, attributes)
}

// Encoder packs records into a batch one after the other.
type Encoder struct {
	b                []byte
	count            int
	baseMs, newestMs int64
}

// Begin begins a batch in the room of a slice whose content is no longer needed.
func Begin(room []byte) Encoder {
	b := slices.Grow(room[:0], HeaderBytes)[:HeaderBytes]
	clear(b)
	return Encoder{b: b, baseMs: -1, newestMs: -1}
}

// Add packs the next record; its offset is not read.
func (e *Encoder) Add(r *Record) {
	if e.count == 0 {
		e.baseMs, e.newestMs = r.TimestampMs, r.TimestampMs
	}
	e.newestMs = max(e.newestMs, r.TimestampMs)
	e.b = appendRecord(e.b, r, e.baseMs, e.count)
	e.count++
}

// End is the batch.
func (e *Encoder) End(p Producer, attributes int16) []byte {
	b := e.b
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-lengthCounts))
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], math.MaxUint32) // -1 until a leader appends it
	b[atMagic] = 2
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(attributes&^CodecMask))
	binary.BigEndian.PutUint32(b[atLastDelta:], uint32(max(0, e.count-1)))
	binary.BigEndian.PutUint64(b[atBaseTime:], uint64(e.baseMs))
	binary.BigEndian.PutUint64(b[atMaxTime:], uint64(e.newestMs))
	binary.BigEndian.PutUint64(b[atProducerID:], uint64(p.ID))
	binary.BigEndian.PutUint16(b[atProducerEpoch:], uint16(p.Epoch))
	binary.BigEndian.PutUint32(b[atBaseSequence:], uint32(p.BaseSequence))
	binary.BigEndian.PutUint32(b[atCount:], uint32(e.count))
	binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:], castagnoli))
	return b
}

// Stamped is the batch with the leader's time as the time of all of its records (message.timestamp.type=LogAppendTime).
func (b Batch) Stamped(nowMs int64) Batch {
	out := slices.Clone(b.Bytes)
	binary.BigEndian.PutUint16(out[atAttributes:], uint16(b.Attributes|LogAppendTime))
	binary.BigEndian.PutUint64(out[atMaxTime:], uint64(nowMs))
	binary.BigEndian.PutUint32(out[atCRC:], crc32.Checksum(out[atAttributes:], castagnoli))
	return header(out)
}

// Unstamped is the batch with its records' own times, where its producer claims that the log gave it one.
func (b Batch) Unstamped() Batch {
	if b.Attributes&LogAppendTime == 0 {
		return b
	}
	out := slices.Clone(b.Bytes)
	binary.BigEndian.PutUint16(out[atAttributes:], uint16(b.Attributes&^LogAppendTime))
	binary.BigEndian.PutUint32(out[atCRC:], crc32.Checksum(out[atAttributes:], castagnoli))
	return header(out)
}

// appendRecord writes one record: a zigzag length, then attributes (none are in use), the differences to the batch, and
// key, value and headers, each after its length; -1 is null.
func appendRecord(b []byte, r *Record, baseTime int64, delta int) []byte {
	size := 1 + varintSize(r.TimestampMs-baseTime) + varintSize(int64(delta)) + bytesSize(r.Key) + bytesSize(r.Value) +
		varintSize(int64(len(r.Headers)))
	for _, h := range r.Headers {
		size += varintSize(int64(len(h.Key))) + len(h.Key) + bytesSize(h.Value)
	}
	b = binary.AppendVarint(b, int64(size))
	b = append(b, 0)
	b = binary.AppendVarint(b, r.TimestampMs-baseTime)
	b = binary.AppendVarint(b, int64(delta))
	b = appendBytes(b, r.Key)
	b = appendBytes(b, r.Value)
	b = binary.AppendVarint(b, int64(len(r.Headers)))
	for _, h := range r.Headers {
		b = binary.AppendVarint(b, int64(len(h.Key)))
		b = append(b, h.Key...)
		b = appendBytes(b, h.Value)
	}
	return b
}

func appendBytes(b, data []byte) []byte {
	if data == nil {
		return binary.AppendVarint(b, -1)
	}
	return append(binary.AppendVarint(b, int64(len(data))), data...)
}

func bytesSize(data []byte) int {
	if data == nil {
		return 1
	}
	return varintSize(int64(len(data))) + len(data)
}

func varintSize(v int64) int {
	const perByte = 7
	return (bits.Len64(uint64(v<<1)^uint64(v>>63)|1) + perByte - 1) / perByte
}

// rebuild writes a batch anew with some of its records, which keep their offsets. With a horizon the batch says from when
// on its tombstones, or its marker, may go (KIP-534): the base timestamp holds it.
func rebuild(b Batch, records []Record, horizonMs int64, horizon bool) []byte {
	out := append(make([]byte, 0, len(b.Bytes)), b.Bytes[:HeaderBytes]...)
	baseMs, maxMs := b.BaseTimestampMs, int64(math.MinInt64)
	attributes := b.Attributes &^ CodecMask
	if horizon {
		baseMs, attributes = horizonMs, attributes|DeleteHorizon
	}
	for i := range records {
		maxMs = max(maxMs, records[i].TimestampMs)
		out = appendRecord(out, &records[i], baseMs, int(records[i].Offset-b.BaseOffset))
	}
	if len(records) == 0 || b.Attributes&LogAppendTime != 0 {
		maxMs = b.MaxTimestampMs
	}
	binary.BigEndian.PutUint32(out[atLength:], uint32(len(out)-lengthCounts))
	binary.BigEndian.PutUint16(out[atAttributes:], uint16(attributes))
	binary.BigEndian.PutUint64(out[atBaseTime:], uint64(baseMs))
	binary.BigEndian.PutUint64(out[atMaxTime:], uint64(maxMs))
	binary.BigEndian.PutUint32(out[atCount:], uint32(len(records)))
	binary.BigEndian.PutUint32(out[atCRC:], crc32.Checksum(out[atAttributes:], castagnoli))
	return out
}
