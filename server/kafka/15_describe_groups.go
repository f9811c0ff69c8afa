package kafka

// DescribeGroups (15), v0 to v6. The coordinator answers: coordinator/describe.go.
//
//   - v1: throttle time
//   - v3: authorized operations (KIP-430)
//   - v4: group instance id (KIP-345)
//   - v5: flexible (KIP-482)
//   - v6: GROUP_ID_NOT_FOUND with a message, where older versions say Dead (KIP-1043)
var describeGroupsAPI = api{key: 15, name: "DescribeGroups", min: 0, max: 6, run: group}
