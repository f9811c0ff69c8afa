// Package coordinator is Apache Kafka's group coordinator as a machine: no IO, no clock, no goroutine, no randomness of
// its own. Requests, outcomes of appends, leadership and the passing of time go in through doors; appends to do, replies
// to send, events that happened and the next deadline come out of Take. The same inputs give the same outputs, natively
// and in WebAssembly.
//
// # For a host
//
// A host owns one Coordinator for each broker, with one goroutine.
//
//  1. New, then MetadataChanged: brokers, topics and the leaders of __consumer_offsets. Tell every change.
//  2. For each partition of __consumer_offsets that the broker comes to lead: Immigrate, then Load for each batch of its
//     log in order, then Loaded. Until Loaded its groups are answered COORDINATOR_LOAD_IN_PROGRESS. When the broker loses
//     it: Emigrate. An Immigrate of a partition that is loading or owned changes only its epoch, so a load goes on under
//     the epoch with which it began.
//  3. Handle for each request, with its Version set. Hosts check rights and versions before.
//  4. After every door: Take. Do the appends, send the replies, pass on the events; then wait until DeadlineMs at most
//     and call Advance. A deadline may be no more than a timer's move to a finer wheel; nothing is wrong with being late,
//     but then the timers run late.
//  5. For each Append, exactly once: Appended. It may be called at once, before anything else, or much later. Within a
//     partition appends must reach the log in the order in which they came out. Where Transactional is set, the batch is
//     the transaction's of that producer.
//  6. For each Verification, exactly once: Verified, with what the transaction coordinator of its transactional id says.
//     TxnMarker for each marker that reaches a partition of __consumer_offsets, when the outcomes of all appends before it
//     were told. TopicsDeleted for topics that are gone.
//
// Every door takes nowMs, in milliseconds from 0 on, which never falls; every door first runs the timers that are due.
// The slices of an Output are valid until the next door is used. Replies may share a response: only read it. A reply that
// is parked may never come: a client that joins twice gets one answer (see event.ReplyDropped).
//
// Output.CreateOffsetsTopic asks for __consumer_offsets, with offsets.topic.num.partitions, because a client looked for
// a coordinator. Until then nobody coordinates anything. CreateTransactionTopic likewise asks for __transaction_state.
//
// Probe answers what a request would get, on a copy of its group. Facts tells the state of everything as events, for a
// viewer that comes late. Clone copies the whole machine: it and the copy go on alike when they are told alike.
// Invariants tells what is wrong with the machine, if anything is.
//
// # How it works
//
// Handle sorts requests to one file each: join.go, sync.go, heartbeat.go, leave.go, commit.go, txn_commit.go, fetch.go,
// delete.go, describe.go, find.go; rebalance.go is what joins lead to, expire.go what silence leads to. static.go is what
// a group.instance.id changes, size.go what group.max.size forbids. state.go has the state machine as a table with its
// story. Whatever waits is an operation in one of two purgatories (wait.go): DelayedHeartbeat for members and issued ids;
// InitialDelayedJoin, DelayedJoin and DelayedSync for groups. append.go takes the log's callback; load.go builds groups
// from records and drops them; txn.go keeps what transactions have written until their markers come; cleanup.go is the
// job that removes what has expired, a timer in the same wheel while there are groups. What is written are Kafka's own
// records, see package record.
//
// The mechanism is that of Kafka's Scala coordinator: purgatory, pending and committed offsets. The answers are those of
// Apache Kafka 4.0. Where they differ and Kafka's own choice is arbitrary (the order of a hash map), ours is fixed: the
// next leader is the member that has been there for longest, and a tie of protocols goes to the one that this member
// prefers. An Empty group that loses its last offset to OffsetDelete or with a topic stays until the clean-up job comes, and
// a group's tombstone is written whatever its generation; tombstones are answered for when they are written. What a
// JoinGroup alone leaves behind is not written: Kafka 4.0 writes an empty record for a group that a refused or parked
// JoinGroup has made. Two join phases end when the Scala coordinator's do: the initial delay by time alone, also where an
// issued id runs out during it, and a rebalance when the one that was missing is refused for room. Rules of several
// requests, in Kafka's order, are in gate.go and heartbeat.go (checkMember).
//
// Events are coalesced in one case: heartbeats of one member with the same answer are told once in 100 ms, with the
// restart of its session timer; so are the restarts by commits. A timer that moved quietly keeps its told number, and is
// told again where it matters: before it ends or drops to a finer wheel.
//
// # Not modelled
//
// The newer kinds of groups: the consumer groups of KIP-848, share groups (KIP-932) and streams groups (KIP-1071). Their
// records are skipped at a load, and counted.
package coordinator
