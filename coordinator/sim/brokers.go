package sim

import (
	"grouplab/coordinator/record"
)

// Brokers is how many brokers there are, with ids from 1; not all of them need run.
func (w *World) Brokers() int32 { return w.cfg.Brokers }

// OffsetsPartition is the partition of __consumer_offsets that a group lies in.
func (w *World) OffsetsPartition(group string) int32 {
	return record.Partition(group, w.drive.Cluster().Config().OffsetsPartitions)
}
