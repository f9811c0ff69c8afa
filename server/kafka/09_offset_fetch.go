package kafka

// OffsetFetch (9), v1 to v9. The coordinator answers: coordinator/fetch.go.
//
//   - v2: all of a group with a null topic list; an error code for the whole answer
//   - v3: throttle time
//   - v5: leader epoch of each offset (KIP-320)
//   - v6: flexible (KIP-482)
//   - v7: require stable (KIP-447)
//   - v8: many groups in one request (KIP-709)
//   - v9: member id and epoch (KIP-848)
//
// v0 meant ZooKeeper.
var offsetFetchAPI = api{key: 9, name: "OffsetFetch", min: 1, max: 9, decodeFrom: 1, run: group}
