package drive

import (
	"fmt"
	"testing"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
)

// BenchmarkLoad reads an offsets partition after a failover: from log to machine, 100 partitions of 10 topics in 100
// groups, overwritten again and again. The budget is 1 000 000 records a second.
func BenchmarkLoad(b *testing.B) {
	const batches, size = 2000, 50
	d := New(0, Config{Cluster: cluster.Config{Brokers: 1, OffsetsPartitions: 1}, Settings: coordinator.DefaultSettings(), MemberID: memberID, DeliverAtOnce: true})
	d.EnsureOffsetsTopic(0)
	for i := range batches {
		var records []log.Record
		for j := range size {
			records = append(records, log.Record{Key: record.OffsetKey(fmt.Sprintf("group-%d", i%100), fmt.Sprintf("topic-%d", j%10), int32(j/10)),
				Value: record.OffsetValue(record.Offset{Offset: int64(i), LeaderEpoch: -1, CommitTimestampMs: 1, ExpireTimestampMs: -1})})
		}
		d.cluster.Append(0, cluster.AppendRequest{Broker: 1, Topic: cluster.OffsetsTopic, Epoch: 0, Batch: log.Encode(log.NoProducer, 0, records), Acks: 1, Internal: true})
	}
	d.changed()
	d.Take()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		d.StopBroker(0, 1)
		d.Take()
		b.StartTimer()
		d.StartBroker(0, 1)
		d.Take()
	}
	b.ReportMetric(float64(b.N*batches*size)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkCommit sends commits of 10 partitions through the whole loop: machine, log, replicas, and back.
func BenchmarkCommit(b *testing.B) {
	for _, brokers := range []int32{1, 3} {
		for _, quiet := range []bool{false, true} {
			b.Run(fmt.Sprintf("brokers=%d/quiet=%v", brokers, quiet), func(b *testing.B) {
				w := newWorld(b, Config{Cluster: cluster.Config{Brokers: brokers}, DeliverAtOnce: true})
				w.d.CreateTopic(w.nowMs, "orders", 10, -1, nil)
				at := w.coordinator()
				m := w.join(at, "c1")
				w.d.SetQuiet(quiet)
				q := commitRequest(m, 1)
				for p := range int32(9) {
					part := q.Topics[0].Partitions[0]
					part.Partition = p + 1
					q.Topics[0].Partitions = append(q.Topics[0].Partitions, part)
				}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					w.ticket++
					w.d.Handle(w.nowMs, at, coordinator.Request{Ticket: w.ticket, ClientID: "c1", Kmsg: q})
					if out := w.d.Take(); len(out.Replies) != 1 || out.Replies[0].Code != 0 {
						b.Fatalf("%+v", out.Replies)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			})
		}
	}
}

// BenchmarkHeartbeat sends heartbeats of one member through the loop.
func BenchmarkHeartbeat(b *testing.B) {
	w := newWorld(b, Config{Cluster: cluster.Config{Brokers: 3}, DeliverAtOnce: true})
	w.topic()
	at := w.coordinator()
	m := w.join(at, "c1")
	q := heartbeatRequest(m)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		w.ticket++
		w.d.Handle(w.nowMs, at, coordinator.Request{Ticket: w.ticket, ClientID: "c1", Kmsg: q})
		if out := w.d.Take(); len(out.Replies) != 1 || out.Replies[0].Code != 0 {
			b.Fatalf("%+v", out.Replies)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "heartbeats/s")
}

// BenchmarkClone copies a three-broker cluster with one group: what a checkpoint costs.
func BenchmarkClone(b *testing.B) {
	w := newWorld(b, Config{Cluster: cluster.Config{Brokers: 3}})
	w.topic()
	at := w.coordinator()
	w.join(at, "c1")
	b.ReportAllocs()
	for range b.N {
		w.d.Clone(w.d.cfg.Numbers.Clone())
	}
}
