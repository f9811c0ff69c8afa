package record

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Transaction is the state of one transactional id in __transaction_state (Kafka: TransactionLogValue).
type Transaction struct {
	ProducerID    int64
	ProducerEpoch int16
	TimeoutMs     int32
	// State is Kafka's number: 0 Empty, 1 Ongoing, 2 PrepareCommit, 3 PrepareAbort, 4 CompleteCommit, 5 CompleteAbort,
	// 6 Dead, 7 PrepareEpochFence.
	State int8
	// Partitions are part of the transaction.
	Partitions []TopicPartitions
	// UpdateTimestampMs is the last change; StartTimestampMs when the transaction began, -1 where there is none.
	UpdateTimestampMs, StartTimestampMs int64
}

// TransactionKey writes the key of a transactional id, version 0.
func TransactionKey(transactionalID string) []byte {
	checkStrings("TransactionKey", transactionalID)
	k := kmsg.TxnMetadataKey{TransactionalID: transactionalID}
	return k.AppendTo(nil)
}

// DecodeTransactionKey reads a key. A version above 0 is no error: known is false, and a coordinator skips the record.
func DecodeTransactionKey(b []byte) (transactionalID string, known bool, err error) {
	if len(b) >= 2 && (b[0] != 0 || b[1] != 0) {
		return "", false, nil
	}
	var k kmsg.TxnMetadataKey
	if err := k.ReadFrom(b); err != nil {
		return "", false, fmt.Errorf("key of __transaction_state, %d bytes: %w", len(b), err)
	}
	return k.TransactionalID, true, nil
}

// TransactionValue writes the value, version 0. An empty transaction has null for its partitions, as in Kafka.
func TransactionValue(t Transaction) []byte {
	v := kmsg.TxnMetadataValue{ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch, TimeoutMillis: t.TimeoutMs,
		State: kmsg.TransactionState(t.State), LastUpdateTimestamp: t.UpdateTimestampMs, StartTimestamp: t.StartTimestampMs}
	if t.State != 0 {
		v.Topics = []kmsg.TxnMetadataValueTopic{}
	}
	for _, p := range t.Partitions {
		checkStrings("TransactionValue", p.Topic)
		v.Topics = append(v.Topics, kmsg.TxnMetadataValueTopic{Topic: p.Topic, Partitions: p.Partitions})
	}
	return v.AppendTo(nil)
}

// DecodeTransaction reads a value of version 0 or 1.
func DecodeTransaction(b []byte) (Transaction, error) {
	var v kmsg.TxnMetadataValue
	if len(b) >= 2 && (b[0] != 0 || b[1] > 1) {
		return Transaction{}, fmt.Errorf("value of __transaction_state has version %d; 0 and 1 are known", int16(b[0])<<8|int16(b[1]))
	}
	if err := v.ReadFrom(b); err != nil {
		return Transaction{}, fmt.Errorf("value of __transaction_state, %d bytes: %w", len(b), err)
	}
	if v.State < 0 || v.State > 7 {
		return Transaction{}, fmt.Errorf("value of __transaction_state has the state %d; 0 to 7 are known", v.State)
	}
	t := Transaction{ProducerID: v.ProducerID, ProducerEpoch: v.ProducerEpoch, TimeoutMs: v.TimeoutMillis, State: int8(v.State),
		UpdateTimestampMs: v.LastUpdateTimestamp, StartTimestampMs: v.StartTimestamp}
	for _, p := range v.Topics {
		t.Partitions = append(t.Partitions, TopicPartitions{p.Topic, p.Partitions})
	}
	return t, nil
}
