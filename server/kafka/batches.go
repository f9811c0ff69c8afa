package kafka

import (
	"encoding/binary"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// batchOverhead is what precedes the length of a batch, and the length: 8 bytes of offset and 4.
	batchOverhead = 12
	// magicAt is where a batch of any format says which one it is.
	magicAt = 16
	// leastBatchLength is the length of an empty message of the oldest format (Kafka: LegacyRecord.RECORD_OVERHEAD_V0).
	leastBatchLength = 14
	attributesAt     = 22
)

var errCorruptFraming = errors.New("a batch's length or magic is none")

// batchesIn cuts records into batches by their lengths alone, whatever their format. What is cut at the end is left out, as
// in Kafka (ByteBufferLogInputStream).
func batchesIn(records []byte) (list [][]byte, err error) {
	for rest := records; len(rest) >= batchOverhead; {
		size := int64(int32(binary.BigEndian.Uint32(rest[8:])))
		if size < leastBatchLength {
			return list, errCorruptFraming
		}
		if len(rest) <= magicAt {
			return list, nil
		}
		if rest[magicAt] > 2 {
			return list, errCorruptFraming
		}
		if size += batchOverhead; size > int64(len(rest)) {
			return list, nil
		}
		list = append(list, rest[:size])
		rest = rest[size:]
	}
	return list, nil
}

// transactional tells whether a batch says so of itself.
func transactional(batch []byte) bool {
	return len(batch) > attributesAt && batch[magicAt] == 2 && batch[attributesAt]&0x10 != 0
}

// refuseWhole finds what makes Kafka refuse all partitions of a Produce for the sake of one.
func refuseWhole(r *kmsg.ProduceRequest) (code int16, message string) {
	inTransaction := false
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			list, err := batchesIn(p.Records)
			if err != nil {
				return kerr.CorruptMessage.Code, err.Error()
			}
			for _, b := range list {
				inTransaction = inTransaction || transactional(b)
			}
		}
	}
	if inTransaction && idOf(r.TransactionID) == "" {
		return kerr.TransactionalIDAuthorizationFailed.Code, "a transactional batch comes with the producer's transactional id"
	}
	return 0, ""
}

// onlyBatch is the one batch that a partition's records must be (Kafka: ProduceRequest.validateRecords).
func onlyBatch(version int16, records []byte) (batch []byte, code int16, message string) {
	list, _ := batchesIn(records)
	switch {
	case len(list) == 0:
		return nil, kerr.InvalidRecord.Code, "there is no record batch, or not the whole of it"
	case list[0][magicAt] != 2:
		return nil, kerr.InvalidRecord.Code, "record batches are of format 2 only"
	case version < 7 && len(list[0]) > attributesAt && list[0][attributesAt]&0x07 == 4:
		return nil, kerr.UnsupportedCompressionType.Code, "zstd needs Produce v7"
	case len(list) > 1:
		return nil, kerr.InvalidRecord.Code, "one record batch a partition"
	}
	return list[0], 0, ""
}
