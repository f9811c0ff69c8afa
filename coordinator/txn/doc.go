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
// It answers as Kafka 4.0 does where the feature transaction.version is not finalized above 1, which is what a cluster
// shows that tells of no features in ApiVersions. Of KIP-890 that has the first part: brokers verify that a partition is in
// a transaction (AddPartitionsToTxn from version 4 on, and Verify), and TRANSACTION_ABORTABLE. Its second part, transaction
// version 2, is not modelled: EndTxn version 5, which raises the epoch with every transaction, and TxnOffsetCommit version 5
// and Produce version 12, which add their partitions themselves. A host must not advertise those versions. Records are
// written in version 0 of TransactionLogValue, as then, and read in 0 and 1. Nor is two-phase commit (KIP-939).
package txn
