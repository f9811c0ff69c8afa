package kafka

// LeaveGroup (13), v0 to v5. The coordinator answers: coordinator/leave.go.
//
//   - v1: throttle time
//   - v3: many members, by id or by group instance id (KIP-345)
//   - v4: flexible (KIP-482)
//   - v5: reason (KIP-800)
var leaveGroupAPI = api{key: 13, name: "LeaveGroup", min: 0, max: 5, run: group}
