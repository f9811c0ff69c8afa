package log

import "encoding/binary"

// Marker is the control batch that ends a transaction (Kafka: EndTransactionMarker, ControlRecordType).
type Marker struct {
	ProducerID    int64
	ProducerEpoch int16
	// CoordinatorEpoch is the leader epoch of the transaction coordinator's partition.
	CoordinatorEpoch int32
	Commit           bool
	TimestampMs      int64
}

// Encode writes the batch, with base offset 0.
func (m Marker) Encode() []byte {
	key, value := make([]byte, 4), make([]byte, 6) // both begin with version 0
	if m.Commit {
		key[3] = 1
	}
	binary.BigEndian.PutUint32(value[2:], uint32(m.CoordinatorEpoch))
	return Encode(Producer{m.ProducerID, m.ProducerEpoch, -1}, Transactional|Control, []Record{{TimestampMs: m.TimestampMs, Key: key, Value: value}})
}

// ReadMarker reads a control batch that ends a transaction; ok is false where it does something else.
func ReadMarker(b Batch) (m Marker, ok bool) {
	m = Marker{ProducerID: b.ProducerID, ProducerEpoch: b.ProducerEpoch, TimestampMs: b.MaxTimestampMs}
	m.Commit, m.CoordinatorEpoch, ok = marker(b)
	return m, ok
}

// marker reads what a control batch says of its transaction; known is false where it says something else.
func marker(b Batch) (commit bool, coordinatorEpoch int32, known bool) {
	err := b.Each(nil, func(r Record) bool {
		if len(r.Key) >= 4 && len(r.Value) >= 6 {
			kind := binary.BigEndian.Uint16(r.Key[2:])
			commit, known = kind == 1, kind <= 1
			coordinatorEpoch = int32(binary.BigEndian.Uint32(r.Value[2:]))
		}
		return false
	})
	return commit, coordinatorEpoch, known && err == nil
}
