package kafka

// InitProducerId (22), v0 to v5. The transaction coordinator answers, with and without a transactional id, out of the
// blocks of ids that the controller gives to brokers: coordinator/txn/init.go.
//
//   - v2: flexible (KIP-482)
//   - v3: the producer's present id and epoch (KIP-360)
//   - v4: PRODUCER_FENCED (KIP-588)
//   - v5: TRANSACTION_ABORTABLE (KIP-890)
//
// Without a transactional id a fresh id with epoch 0 is given, whatever id and epoch the client says it has. A broker
// that has no block yet says COORDINATOR_LOAD_IN_PROGRESS, as Kafka's does.
var initProducerIDAPI = api{key: 22, name: "InitProducerId", min: 0, max: 5, run: group}
