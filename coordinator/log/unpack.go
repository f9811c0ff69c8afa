package log

import "errors"

// CheckRecords opens a compressed batch and checks each of its records, as Validate does with one that is not compressed
// (Kafka: LogValidator.validateMessagesAndAssignOffsetsCompressed). What cannot be opened is INVALID_RECORD: its CRC is
// right, so sending it again would not help. The error is an *Error.
func (b Batch) CheckRecords(unpack Decompress) error {
	if b.Codec() == None {
		return nil
	}
	plain, err := unpack(b.Codec(), b.Bytes[HeaderBytes:], MaxUnpackedBytes)
	if err != nil {
		return invalid("the records, compressed with %s, cannot be opened: %v", b.Codec(), err)
	}
	return b.walk(plain, nil)
}

// CheckCompressed is CheckRecords for the bytes of a batch. What is not even a batch is left to Validate.
func CheckCompressed(data []byte, unpack Decompress) *Error {
	b, _, err := Parse(data)
	if err != nil || b.Codec() > Zstd || b.Control() {
		return nil
	}
	var wrong *Error
	if errors.As(b.CheckRecords(unpack), &wrong) {
		return wrong
	}
	return nil
}
