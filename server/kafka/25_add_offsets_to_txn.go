package kafka

// AddOffsetsToTxn (25), v0 to v4. The transaction coordinator answers: coordinator/txn/partitions.go.
//
//   - v1: throttle time
//   - v2: PRODUCER_FENCED (KIP-588)
//   - v3: flexible (KIP-482)
//   - v4: TRANSACTION_ABORTABLE (KIP-890)
var addOffsetsToTxnAPI = api{key: 25, name: "AddOffsetsToTxn", min: 0, max: 4, run: group}
