package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
)

// RawRecord is a record of __consumer_offsets as it lies in its leader's log, with its batch.
type RawRecord struct {
	Key, Value []byte // Value is nil for a tombstone
	// BaseOffset and BatchBytes are the batch's; LeaderEpoch is the epoch in which it was written.
	BaseOffset  int64
	BatchBytes  int
	LeaderEpoch int32
	// Control is set for a transaction marker, ProducerID is -1 outside of transactions.
	Control    bool
	ProducerID int64
}

// rawChunk is how much of the log is read to find one record: its batch, whole.
const rawChunk = 1

// RawRecord finds a record; ok is false where nobody leads the partition, or compaction or a truncation removed it.
func (w *World) RawRecord(partition int32, offset int64) (found RawRecord, ok bool) {
	all := w.drive.Cluster()
	leader, _, known := all.Leader(cluster.OffsetsTopic, partition)
	if !known || leader < 1 {
		return found, false
	}
	chunk, _, read := all.ReadLog(leader, cluster.OffsetsTopic, partition, offset, rawChunk)
	if !read || len(chunk) == 0 {
		return found, false
	}
	b, rest, err := log.Parse(chunk)
	if err != nil {
		return found, false
	}
	records, err := b.Records(nil)
	if err != nil {
		return found, false
	}
	for _, r := range records {
		if r.Offset == offset {
			return RawRecord{Key: r.Key, Value: r.Value, BaseOffset: b.BaseOffset, BatchBytes: len(chunk) - len(rest),
				LeaderEpoch: b.LeaderEpoch, Control: b.Control(), ProducerID: b.ProducerID}, true
		}
	}
	return found, false
}

// RequestOf is a request that a simulated client has sent and that has not been answered, or its answer, where that is on
// the way. It must not be changed. ok is false where the exchange is over.
func (w *World) RequestOf(number int64) (req kmsg.Request, answer kmsg.Response, ok bool) {
	k := w.calls[number]
	if k == nil {
		return nil, nil, false
	}
	return k.req, k.reply, true
}
