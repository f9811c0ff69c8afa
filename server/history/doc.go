// Package history folds the facts of a cluster into what outlives them: for each group a line that a list of thousands can
// show (event.GroupSummarized), and its generations of the last day (event.GenerationRecorded), with who brought them about,
// what moved and how long partitions stood still for which reason. It has no IO, no clock and no goroutine: facts and the
// time come in, summaries and records go out. One goroutine at a time may use a History.
//
// It takes the facts of our own brokers and those that an observer of an existing cluster concludes alike; where an observer
// cannot see who has rejoined, nobody is said to be awaited.
//
// # Time that partitions stand still
//
// A rebalance is split into the parts of event.Lost: the wait for members, that for the leader's assignment, the append of the
// group record, the load after the coordinator was lost. The wait for members is charged as a whole to the one that came last,
// or was given up last: without it the wait would have been shorter. In an eager group all partitions that were assigned stand
// still. In a cooperative group only those that nobody owns do. The partitions of a member whose process is known to be dead
// stand still until it is removed; in a consumer group (KIP-848) a partition stands still from its release to its next owner.
//
// Before the first owner since the group was Empty, as in the initial delay, nothing is lost: nobody had those partitions. For
// how long they waited is told apart, as GenerationRecorded.UnownedPartitionMs.
package history
