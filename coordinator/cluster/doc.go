// Package cluster is the part of Kafka around the coordinators: brokers, topics, partitions with leaders, epochs, in-sync
// replicas and high watermarks, the followers' fetches, and the controller that notices a dead broker and elects.
//
// It does no IO and has no clock. A host calls a door with the time, and afterwards Take; it carries Output.Messages
// between brokers (at once, late, or tells Lost), gives outcomes to whoever asked, and calls Advance at DeadlineMs.
package cluster
