package log

// Encode packs records into one uncompressed batch with base offset 0. attributes may carry Transactional and Control.
func Encode(p Producer, attributes int16, records []Record) []byte { panic("not there yet") }

// Attribute bits of a batch.
const (
	CodecMask     int16 = 0x07
	LogAppendTime int16 = 0x08
	Transactional int16 = 0x10
	Control       int16 = 0x20
)

// Parse reads the header of the first batch in data, checks that the batch is whole and of format v2, and returns what
// follows it. It does not check the CRC. The error is an *Error.
func Parse(data []byte) (b Batch, rest []byte, err error) { panic("not there yet") }

// Validate checks what a producer sent: exactly one batch, whole, v2, with a right CRC, sane offsets and, where it is not
// compressed, well-formed records. The error is an *Error.
func Validate(data []byte) (Batch, error) { panic("not there yet") }

// Records decodes the records of a batch. unpack may be nil where the batch is not compressed.
func (b Batch) Records(unpack Decompress) ([]Record, error) { panic("not there yet") }
