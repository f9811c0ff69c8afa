package kafka

// TxnOffsetCommit (28), v0 to v4. The group coordinator answers: coordinator/txn_commit.go.
//
//   - v1: throttle time
//   - v2: leader epoch of each offset (KIP-320)
//   - v3: flexible (KIP-482); generation, member and group instance id (KIP-447)
//   - v4: TRANSACTION_ABORTABLE (KIP-890)
//
// v5 adds the partition to the transaction by itself (KIP-890, transaction.version 2), which is not modelled.
var txnOffsetCommitAPI = api{key: 28, name: "TxnOffsetCommit", min: 0, max: 4, run: group}
