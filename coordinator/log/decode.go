package log

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Kafka's codes for batches that cannot be taken.
const (
	codeCorruptMessage  int16 = 2
	codeMessageTooLarge int16 = 10
	codeInvalidRecord   int16 = 87
)

// MaxUnpackedBytes bounds what the records of one compressed batch may grow to.
const MaxUnpackedBytes = 64 << 20

// Codec is the batch's compression.
func (b Batch) Codec() Codec { return Codec(b.Attributes & CodecMask) }

// Transactional tells whether the batch belongs to a transaction.
func (b Batch) Transactional() bool { return b.Attributes&Transactional != 0 }

// Control tells whether the batch is a marker that ends a transaction.
func (b Batch) Control() bool { return b.Attributes&Control != 0 }

// DeleteHorizonMs is from when on compaction may remove the batch's tombstones, or its marker; ok is false where no
// compaction has met them yet (KIP-534).
func (b Batch) DeleteHorizonMs() (ms int64, ok bool) {
	return b.BaseTimestampMs, b.Attributes&DeleteHorizon != 0
}

// LastOffset is the position of the last record; NextOffset is the position after it.
func (b Batch) LastOffset() int64 { return b.BaseOffset + int64(b.LastOffsetDelta) }

// NextOffset is the position after the batch.
func (b Batch) NextOffset() int64 { return b.LastOffset() + 1 }

// LastSequence is the producer's sequence number of the last record; it wraps to 0 after the largest int32.
func (b Batch) LastSequence() int32 {
	if b.BaseSequence < 0 {
		return b.BaseSequence
	}
	return int32((int64(b.BaseSequence) + int64(b.LastOffsetDelta)) & 0x7fffffff)
}

func corrupt(format string, args ...any) error {
	return &Error{codeCorruptMessage, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &Error{codeInvalidRecord, fmt.Sprintf(format, args...)}
}

// Parse reads the header of the first batch in data, checks that the batch is whole and of format v2, and returns what
// follows it. It does not check the CRC. The error is an *Error.
func Parse(data []byte) (b Batch, rest []byte, err error) {
	if len(data) < HeaderBytes {
		return b, nil, corrupt("a record batch has at least %d bytes, this one has %d", HeaderBytes, len(data))
	}
	if data[atMagic] != 2 {
		return b, nil, invalid("only record batches of format v2 (magic 2) are taken, this one has magic %d", int8(data[atMagic]))
	}
	length := int64(int32(binary.BigEndian.Uint32(data[atLength:])))
	if length < HeaderBytes-lengthCounts {
		return b, nil, corrupt("the batch says that its length is %d; the header alone makes it %d", length, HeaderBytes-lengthCounts)
	}
	if length > int64(len(data)-lengthCounts) {
		return b, nil, corrupt("the batch says that its length is %d, but only %d bytes follow", length, len(data)-lengthCounts)
	}
	whole := data[: length+lengthCounts : length+lengthCounts]
	return header(whole), data[length+lengthCounts:], nil
}

// header reads the fields of a batch that is known to be whole.
func header(b []byte) Batch {
	u32 := func(at int) int32 { return int32(binary.BigEndian.Uint32(b[at:])) }
	u64 := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	return Batch{
		BaseOffset:      u64(atBaseOffset),
		LastOffsetDelta: u32(atLastDelta),
		LeaderEpoch:     u32(atLeaderEpoch),
		Magic:           int8(b[atMagic]),
		CRC:             uint32(u32(atCRC)),
		Attributes:      int16(binary.BigEndian.Uint16(b[atAttributes:])),
		BaseTimestampMs: u64(atBaseTime),
		MaxTimestampMs:  u64(atMaxTime),
		ProducerID:      u64(atProducerID),
		ProducerEpoch:   int16(binary.BigEndian.Uint16(b[atProducerEpoch:])),
		BaseSequence:    u32(atBaseSequence),
		Count:           u32(atCount),
		Bytes:           b,
	}
}

// CheckCRC tells whether the batch's bytes are what its writer wrote.
func (b Batch) CheckCRC() error {
	if got := crc32.Checksum(b.Bytes[atAttributes:], castagnoli); got != b.CRC {
		return corrupt("the batch's CRC-32C is %08x, its bytes make %08x", b.CRC, got)
	}
	return nil
}

// Validate checks what a producer sent (Kafka: LogValidator, UnifiedLog.analyzeAndValidateRecords): exactly one batch,
// whole, v2, at most maxBytes, with a right CRC, with offsets that count from 0 and, where it is not compressed, with
// well-formed records. The error is an *Error.
func Validate(data []byte, maxBytes int) (Batch, error) {
	b, rest, err := Parse(data)
	if err != nil {
		return b, err
	}
	switch {
	case len(rest) > 0:
		return b, invalid("a produce request carries one batch for each partition; %d bytes follow the first", len(rest))
	case len(data) > maxBytes:
		return b, &Error{codeMessageTooLarge, fmt.Sprintf("the batch has %d bytes, max.message.bytes is %d", len(data), maxBytes)}
	}
	if err := b.CheckCRC(); err != nil {
		return b, err
	}
	switch {
	case b.BaseOffset != 0:
		return b, invalid("a producer's batch has base offset 0, this one has %d", b.BaseOffset)
	case b.Count <= 0 || b.LastOffsetDelta < 0 || int64(b.Count) != int64(b.LastOffsetDelta)+1:
		return b, invalid("the batch says that it has %d records and that the last one is number %d", b.Count, b.LastOffsetDelta)
	case b.Control():
		return b, invalid("clients may not write control batches")
	case b.Codec() > Zstd:
		return b, invalid("no compression has number %d", b.Codec())
	case b.ProducerID >= 0 && b.BaseSequence < 0:
		return b, invalid("producer %d sent sequence number %d; idempotent producers count from 0", b.ProducerID, b.BaseSequence)
	case b.ProducerID >= 0 && b.ProducerEpoch < 0:
		return b, invalid("producer %d sent epoch %d; idempotent producers have one from 0", b.ProducerID, b.ProducerEpoch)
	case b.ProducerID < 0 && b.Transactional():
		return b, invalid("a transactional batch needs a producer id")
	}
	if b.Codec() == None {
		if err := b.walk(b.Bytes[HeaderBytes:], nil); err != nil {
			return b, err
		}
	}
	return b, nil
}

// Records decodes the records of a batch. unpack may be nil where the batch is not compressed. Keys and values point
// into the batch.
func (b Batch) Records(unpack Decompress) ([]Record, error) {
	// The count is the batch's own word: it may not make us allocate more than its bytes could hold.
	records := make([]Record, 0, max(0, min(int(b.Count), len(b.Bytes)/7)))
	err := b.Each(unpack, func(r Record) bool { records = append(records, r); return true })
	return records, err
}

// Each decodes the records of a batch one by one until visit returns false.
func (b Batch) Each(unpack Decompress, visit func(Record) bool) error {
	data := b.Bytes[HeaderBytes:]
	if codec := b.Codec(); codec != None {
		if unpack == nil {
			return &Error{codeInvalidRecord, fmt.Sprintf("the batch at %d is compressed with %s, and nothing here opens it", b.BaseOffset, codec)}
		}
		plain, err := unpack(codec, data, MaxUnpackedBytes)
		if err != nil {
			return corrupt("the batch at %d, compressed with %s: %v", b.BaseOffset, codec, err)
		}
		data = plain
	}
	return b.walk(data, visit)
}

// walk reads Count records from data and checks each; visit may be nil.
func (b Batch) walk(data []byte, visit func(Record) bool) error {
	for i := int32(0); i < b.Count; i++ {
		size, n := binary.Varint(data)
		if n <= 0 || size < 0 || size > int64(len(data)-n) {
			return invalid("record %d of %d: its length does not fit into the batch", i, b.Count)
		}
		r, delta, err := b.record(data[n:n+int(size)], visit != nil)
		if err != nil {
			return invalid("record %d of %d: %v", i, b.Count, err)
		}
		if visit == nil && delta != int64(i) {
			return invalid("record %d of %d has number %d", i, b.Count, delta)
		}
		if visit != nil && !visit(r) {
			return nil
		}
		data = data[n+int(size):]
	}
	if len(data) > 0 {
		return invalid("%d bytes follow the last of %d records", len(data), b.Count)
	}
	return nil
}

// record reads one record's fields; keep says whether the headers are wanted.
func (b Batch) record(data []byte, keep bool) (r Record, delta int64, err error) {
	c := cursor{data: data}
	c.skip(1) // attributes: none are in use
	r.TimestampMs = b.BaseTimestampMs + c.varint()
	if b.Attributes&LogAppendTime != 0 {
		r.TimestampMs = b.MaxTimestampMs
	}
	delta = c.varint()
	r.Offset = b.BaseOffset + delta
	r.Key = c.bytes("key")
	r.Value = c.bytes("value")
	headers := c.varint()
	// A header has at least two bytes, its two lengths.
	if c.err == nil && (headers < 0 || headers > int64(len(c.data)/2)) {
		return r, 0, fmt.Errorf("%d headers do not fit into %d bytes", headers, len(c.data))
	}
	if keep && headers > 0 && c.err == nil {
		r.Headers = make([]Header, 0, headers)
	}
	for i := int64(0); i < headers && c.err == nil; i++ {
		key := c.bytes("header key")
		if c.err == nil && key == nil {
			return r, 0, fmt.Errorf("header %d has no key", i)
		}
		value := c.bytes("header value")
		if keep && c.err == nil {
			r.Headers = append(r.Headers, Header{string(key), value})
		}
	}
	if c.err == nil && len(c.data) > 0 {
		return r, 0, fmt.Errorf("%d bytes follow its last field", len(c.data))
	}
	return r, delta, c.err
}

// cursor reads fields one after another and remembers the first that is cut.
type cursor struct {
	data []byte
	err  error
}

func (c *cursor) skip(n int) {
	if len(c.data) < n {
		c.fail("it is cut")
		return
	}
	c.data = c.data[n:]
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.data)
	if n <= 0 {
		c.fail("a number is cut or too long")
		return 0
	}
	c.data = c.data[n:]
	return v
}

func (c *cursor) bytes(what string) []byte {
	n := c.varint()
	switch {
	case c.err != nil || n == -1:
		return nil
	case n < -1 || n > int64(len(c.data)):
		c.fail(fmt.Sprintf("its %s is said to have %d bytes, %d are left", what, n, len(c.data)))
		return nil
	}
	v := c.data[:n:n]
	c.data = c.data[n:]
	return v
}

func (c *cursor) fail(why string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s", why)
	}
	c.data = nil
}

// String names the compression as producers' configurations do.
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("codec %d", int8(c))
}
