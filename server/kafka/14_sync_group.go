package kafka

// SyncGroup (14), v0 to v5. The coordinator answers: coordinator/sync.go.
//
//   - v1: throttle time
//   - v3: group instance id (KIP-345)
//   - v4: flexible (KIP-482)
//   - v5: protocol type and name, both ways (KIP-559)
var syncGroupAPI = api{key: 14, name: "SyncGroup", min: 0, max: 5, keepsBytes: true, run: group}
