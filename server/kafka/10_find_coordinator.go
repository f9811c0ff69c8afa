package kafka

// FindCoordinator (10), v0 to v6. The coordinator answers, by its metadata: coordinator/find.go.
//
//   - v1: key type (group or transaction), error message, throttle time
//   - v3: flexible (KIP-482)
//   - v4: many keys in one request (KIP-699)
//   - v5: TRANSACTION_ABORTABLE (KIP-890)
//   - v6: key type share (KIP-932)
var findCoordinatorAPI = api{key: 10, name: "FindCoordinator", min: 0, max: 6, run: group}
