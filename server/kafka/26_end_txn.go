package kafka

// EndTxn (26), v0 to v4. The transaction coordinator answers when the decision is written; the markers follow:
// coordinator/txn/end.go.
//
//   - v1: throttle time
//   - v2: PRODUCER_FENCED (KIP-588)
//   - v3: flexible (KIP-482)
//   - v4: TRANSACTION_ABORTABLE (KIP-890)
//
// v5 raises the epoch with every transaction (KIP-890, transaction.version 2), which is not modelled.
var endTxnAPI = api{key: 26, name: "EndTxn", min: 0, max: 4, run: group}
