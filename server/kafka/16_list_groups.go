package kafka

// ListGroups (16), v0 to v5. The coordinator answers for the groups that it has; clients ask every broker:
// coordinator/describe.go.
//
//   - v1: throttle time
//   - v3: flexible (KIP-482)
//   - v4: states, in question and answer (KIP-518)
//   - v5: types (KIP-848)
var listGroupsAPI = api{key: 16, name: "ListGroups", min: 0, max: 5, run: group}
