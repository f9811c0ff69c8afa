package kafka

// AddPartitionsToTxn (24), v0 to v3. The transaction coordinator answers: coordinator/txn/partitions.go.
//
//   - v1: throttle time
//   - v2: PRODUCER_FENCED (KIP-588)
//   - v3: flexible (KIP-482)
//
// v4 and v5 are between brokers (KIP-890).
var addPartitionsToTxnAPI = api{key: 24, name: "AddPartitionsToTxn", min: 0, max: 3, run: group}
