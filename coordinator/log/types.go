package log

// Header is a record's header.
type Header struct {
	Key   string
	Value []byte
}

// Record is one record of a batch. A nil Key or Value is Kafka's null.
type Record struct {
	// Offset is the record's position; Encode ignores it and counts from the batch's base offset.
	Offset      int64
	TimestampMs int64
	Key, Value  []byte
	Headers     []Header
}

// Batch is the header of one encoded batch, and the bytes behind it.
type Batch struct {
	// BaseOffset is the position of the first record, LastOffsetDelta what the last one adds to it.
	BaseOffset      int64
	LastOffsetDelta int32
	// LeaderEpoch is the epoch of the leader that wrote it.
	LeaderEpoch int32
	Magic       int8
	CRC         uint32
	Attributes  int16
	// BaseTimestampMs is the first record's time, MaxTimestampMs the largest.
	BaseTimestampMs, MaxTimestampMs int64
	// ProducerID, ProducerEpoch and BaseSequence are -1 where the producer is not idempotent.
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	// Count is the number of records.
	Count int32
	// Bytes is the whole batch, with its header. It is shared: it must not be changed.
	Bytes []byte
}

// Codec is a batch's compression, by Kafka's numbers.
type Codec int8

const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// Decompress unpacks the records of a compressed batch, to at most maxBytes. A nil Decompress makes every compressed
// batch an error that says so.
type Decompress func(codec Codec, packed []byte, maxBytes int) ([]byte, error)

// Producer says who writes a batch. The zero value does not stand for "nobody"; NoProducer does.
type Producer struct {
	ID           int64
	Epoch        int16
	BaseSequence int32
}

// NoProducer is the producer of plain batches.
var NoProducer = Producer{ID: -1, Epoch: -1, BaseSequence: -1}

// Error says what is wrong with a batch, and which of Kafka's codes says so on the wire.
type Error struct {
	Code   int16
	Reason string
}

func (e *Error) Error() string { return e.Reason }
