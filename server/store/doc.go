// Package store keeps the logs of a server's brokers on disk, in the layout of Kafka 4.0, so that Kafka's own tools read
// them:
//
//	DIR/.lock                                   held while a process has the folder open; it names the process
//	DIR/metadata.json                           topics, partitions, leaders: the host's, written as a whole (Kafka: the metadata log)
//	DIR/brokers/1/meta.properties               cluster and node
//	DIR/brokers/1/replication-offset-checkpoint high watermarks; also log-start-offset- and cleaner-offset-checkpoint
//	DIR/brokers/1/orders-0/partition.metadata   topic id
//	DIR/brokers/1/orders-0/leader-epoch-checkpoint
//	DIR/brokers/1/orders-0/00000000000000000000.log
//
// The .log files are Kafka's segments, byte for byte. There are no .index, .timeindex, .txnindex and .snapshot files: a log
// is read as a whole when it is opened, its CRCs too, and what these files hold is learned from it. Kafka makes its indexes
// anew where they are missing.
//
// A partition's folder appears with its first record. Records that a crash tore off are cut; where something readable lies
// behind damage, it is kept beside the log as .damaged. A folder that the metadata does not know goes to DIR/brokers/1/stray.
//
// A Disk belongs to one goroutine, the one that owns the logs; only Sync, and what SaveWatermarks returns, may run on another.
// Where the host can be woken, records are written beside that goroutine.
package store
