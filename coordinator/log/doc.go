// Package log is one partition's log as Kafka keeps it: record batches of format v2 (KIP-98, CRC-32C), in segments, over
// a small Store. It assigns offsets and leader epochs, finds batches by offset and by time, remembers where each leader
// epoch began (KIP-101) and what each idempotent producer wrote last (KIP-98), and can be cut off where a follower
// parted from its leader.
//
// A Log is one replica. Who leads, who follows and how far a batch is replicated is package cluster's. Compression stays
// outside: compressed batches are kept as they came, and whoever wants to look inside passes a Decompress.
package log
