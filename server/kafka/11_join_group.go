package kafka

// JoinGroup (11), v0 to v9. The coordinator answers, often much later: coordinator/join.go.
//
//   - v1: rebalance timeout (KIP-62)
//   - v2: throttle time
//   - v4: a first join is sent back with a member id (KIP-394)
//   - v5: group instance id (KIP-345)
//   - v6: flexible (KIP-482)
//   - v7: protocol type and nullable protocol name in the answer (KIP-559)
//   - v8: reason (KIP-800)
//   - v9: skip assignment (KIP-814)
var joinGroupAPI = api{key: 11, name: "JoinGroup", min: 0, max: 9, keepsBytes: true, run: group}
