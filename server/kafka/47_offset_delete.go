package kafka

// OffsetDelete (47), v0 (KIP-496). The coordinator answers: coordinator/delete.go.
var offsetDeleteAPI = api{key: 47, name: "OffsetDelete", min: 0, max: 0, run: group}
