package kafka

// Heartbeat (12), v0 to v4. The coordinator answers: coordinator/heartbeat.go.
//
//   - v1: throttle time
//   - v3: group instance id (KIP-345)
//   - v4: flexible (KIP-482)
var heartbeatAPI = api{key: 12, name: "Heartbeat", min: 0, max: 4, prompt: true, run: group}
