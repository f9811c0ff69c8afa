package kafka

// OffsetCommit (8), v2 to v9. The coordinator answers: coordinator/commit.go.
//
//   - v2 to v4: retention time; v5 drops it (KIP-211)
//   - v3: throttle time
//   - v6: leader epoch of each offset (KIP-320)
//   - v7: group instance id (KIP-345)
//   - v8: flexible (KIP-482)
//   - v9: STALE_MEMBER_EPOCH and GROUP_ID_NOT_FOUND (KIP-848)
//
// v0 meant ZooKeeper and v1 carried a timestamp for each partition; Kafka 4.0 serves neither (KIP-896).
var offsetCommitAPI = api{key: 8, name: "OffsetCommit", min: 2, max: 9, decodeFrom: 2, prompt: true, run: group}
