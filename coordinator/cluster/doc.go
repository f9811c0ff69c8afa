// Package cluster is the part of Kafka around the coordinators: brokers, topics, partitions with leaders, epochs, in-sync
// replicas and high watermarks, the followers' fetches, and the controller that notices a dead broker and elects.
//
// It does no IO and has no clock. A host calls a door with the time, and afterwards Take; it carries Output.Messages
// between brokers (at once, late, or tells Lost), gives outcomes to whoever asked, and calls Advance at DeadlineMs.
//
// What is as in Kafka 4.0 (KRaft): a follower's fetch covers all of its partitions of one leader; the leader learns from
// it how far the follower is, and moves the high watermark when all in-sync replicas have a record; followers hear of
// that in the next answer; a follower that is behind for replica.lag.time.max.ms leaves the ISR; a killed broker is
// noticed after its session; leaders come from the ISR only, unless an operator or the topic allows another; logs part and meet again by leader epoch (KIP-101,
// KIP-279, KIP-595).
//
// What is not modelled: the controller's decisions reach every broker at once, and so do the leaders' changes of the
// ISR reach the controller; the controller itself never fails; leadership does not return to the preferred replica by
// itself; logs in memory never fail (SetFault has them fail), and a killed broker keeps what it wrote; a deleted topic is
// gone everywhere at once. A round of empty fetches that would tell nobody anything is left out, so that an idle cluster is
// silent; see fetcher.
package cluster
