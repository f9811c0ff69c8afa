package cluster

import (
	"reflect"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
)

// TestCommitIsToldAsItReads: what is told of a commit out of the request is what the batch says.
func TestCommitIsToldAsItReads(t *testing.T) {
	w := newWorld(t, Config{Brokers: 1, OffsetsPartitions: 1})
	w.c.EnsureOffsetsTopic(w.nowMs)
	w.take()
	offsets := []event.OffsetValue{{Topic: "orders", Partition: 3, Offset: 17, LeaderEpoch: 2, Metadata: "m"}, {Topic: "o'", Partition: 0, Offset: 0, LeaderEpoch: -1}}
	var records []log.Record
	for _, o := range offsets {
		records = append(records, log.Record{TimestampMs: w.nowMs, Key: record.OffsetKey("g", o.Topic, o.Partition),
			Value: record.OffsetValue(record.Offset{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitTimestampMs: w.nowMs, ExpireTimestampMs: -1})})
	}
	var told [][]event.LogRecord
	for _, known := range [][]event.OffsetValue{nil, offsets} {
		w.events = nil
		w.c.Append(w.nowMs, AppendRequest{Broker: 1, Topic: OffsetsTopic, Acks: -1, TimeoutMs: 5000, Internal: true, Group: "g",
			Offsets: known, Batch: log.Encode(log.NoProducer, 0, records)})
		w.take()
		for _, e := range w.events {
			if b, ok := e.Body.(event.RecordsAppended); ok {
				told = append(told, b.Told())
			}
		}
	}
	if len(told) != 2 || len(told[0]) != 2 || !reflect.DeepEqual(told[0], told[1]) {
		t.Errorf("read and known differ: %+v", told)
	}
}
