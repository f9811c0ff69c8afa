// Package txn is the transaction coordinator of one broker, as a deterministic machine of the same shape as the group
// coordinator: time comes in as an argument, everything that takes time is an input that comes later, and Take gives
// what is to be done and what happened (Kafka: TransactionCoordinator, TransactionStateManager,
// TransactionMarkerChannelManager).
//
// A transactional id lives in one partition of __transaction_state, by the hash of its name. Whoever leads that partition
// knows its producer id and epoch, and the partitions that its transaction has written to. A transaction goes from Empty
// to Ongoing with its first partition; EndTxn writes PrepareCommit or PrepareAbort, which decides it; then a marker goes
// to every partition, and CompleteCommit or CompleteAbort is written when the last one is answered. A transaction that is
// open for longer than its timeout is aborted by the coordinator, under an epoch that fences its producer.
//
// A host calls, in any order: Handle with requests; Appended, exactly once for every Append that it took out; Marked, once
// for every Marker; Allocated, after AllocateProducerIDs was set; Immigrate, then Load for each batch, then Loaded, when
// the broker became leader of a partition, and Emigrate when it lost one; MetadataChanged; Advance, at the latest at the
// deadline that Take gave.
//
// The protocol is the one before KIP-890's second part (transaction.version below 2): the epoch does not rise with every
// transaction, and producers add partitions themselves. Two-phase commit (KIP-939) is not modelled.
package txn
