package event

// TxnState is the state of a transactional id (Kafka: TransactionState).
type TxnState string

const (
	TxnEmpty          TxnState = "Empty"
	TxnOngoing        TxnState = "Ongoing"
	TxnPrepareCommit  TxnState = "PrepareCommit"
	TxnPrepareAbort   TxnState = "PrepareAbort"
	TxnCompleteCommit TxnState = "CompleteCommit"
	TxnCompleteAbort  TxnState = "CompleteAbort"
	TxnDead           TxnState = "Dead"
)

// TxnStateChanged fires when a transactional id got another state, producer epoch or set of partitions, once the record
// that says so is written; at a load; and in Facts.
type TxnStateChanged struct {
	TransactionalID string `json:"transactionalId"`
	// From is "" at a load and in Facts.
	From          TxnState          `json:"from,omitempty"`
	To            TxnState          `json:"to"`
	ProducerID    int64             `json:"producerId"`
	ProducerEpoch int16             `json:"producerEpoch"`
	Partitions    []TopicPartitions `json:"partitions,omitempty"`
	TimeoutMs     int32             `json:"timeoutMs"`
	// StartMs is when the transaction began, -1 where there is none.
	StartMs int64  `json:"startMs"`
	Why     string `json:"why"`
}

// TxnRemoved fires when a transactional id is forgotten.
type TxnRemoved struct {
	TransactionalID string `json:"transactionalId"`
	Why             string `json:"why"`
}

// TxnFenced fires when the coordinator raised a producer's epoch to end its transaction itself. The old producer is
// answered PRODUCER_FENCED from now on.
type TxnFenced struct {
	TransactionalID string `json:"transactionalId"`
	ProducerID      int64  `json:"producerId"`
	ProducerEpoch   int16  `json:"producerEpoch"` // the new one
	Why             string `json:"why"`
}

// TxnAppendStarted fires when a transaction coordinator hands a record to __transaction_state.
type TxnAppendStarted struct {
	TransactionalID string   `json:"transactionalId"`
	Append          int64    `json:"append"` // the ticket that the outcome carries
	Partition       int32    `json:"partition"`
	To              TxnState `json:"to"`
	DeadlineMs      int64    `json:"deadlineMs"`
}

// TxnAppendFinished fires when the outcome of that append arrived.
type TxnAppendFinished struct {
	TransactionalID string `json:"transactionalId"`
	Append          int64  `json:"append"`
	Code            int16  `json:"code"`
	// Ignored is set where the partition was lost meanwhile and the outcome has no effect.
	Ignored bool `json:"ignored,omitempty"`
}

// TxnMarkerSent fires when the leader of a partition is asked to write the marker that ends a transaction there (Kafka:
// WriteTxnMarkers).
type TxnMarkerSent struct {
	TransactionalID string `json:"transactionalId"`
	Marker          int64  `json:"marker"` // the ticket that the answer carries
	Topic           string `json:"topic"`
	Partition       int32  `json:"partition"`
	ProducerID      int64  `json:"producerId"`
	ProducerEpoch   int16  `json:"producerEpoch"`
	Commit          bool   `json:"commit,omitempty"`
}

// TxnMarkerAnswered fires when the answer came. RetryMs is when it is sent again, 0 where it is not.
type TxnMarkerAnswered struct {
	TransactionalID string `json:"transactionalId"`
	Marker          int64  `json:"marker"`
	Topic           string `json:"topic"`
	Partition       int32  `json:"partition"`
	Code            int16  `json:"code"`
	RetryMs         int64  `json:"retryMs,omitempty"`
}

// TxnLoadStarted fires when a broker became leader of a partition of __transaction_state and begins to read it.
type TxnLoadStarted struct {
	Partition int32 `json:"partition"`
	Epoch     int32 `json:"epoch"`
	EndOffset int64 `json:"endOffset"`
}

// TxnLoadFinished fires when the partition is owned.
type TxnLoadFinished struct {
	Partition    int32 `json:"partition"`
	Epoch        int32 `json:"epoch"`
	Transactions int   `json:"transactions"`
	// Failed says what ended the load early; what was read before counts, as in Kafka.
	Failed string `json:"failed,omitempty"`
}

// TxnUnloaded fires when a broker lost a partition of __transaction_state, with all that it knew of it.
type TxnUnloaded struct {
	Partition    int32 `json:"partition"`
	Epoch        int32 `json:"epoch"`
	Transactions int   `json:"transactions"`
}

// ProducerIDsAllocated fires when a broker got a block of producer ids from the controller (KIP-730).
type ProducerIDsAllocated struct {
	First int64 `json:"first"`
	Count int32 `json:"count"`
}
