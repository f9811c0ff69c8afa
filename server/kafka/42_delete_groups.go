package kafka

// DeleteGroups (42), v0 to v2 (KIP-229). The coordinator answers: coordinator/delete.go.
//
//   - v1: throttle time before the client waits for it (KIP-219)
//   - v2: flexible (KIP-482)
var deleteGroupsAPI = api{key: 42, name: "DeleteGroups", min: 0, max: 2, run: group}
