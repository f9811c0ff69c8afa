package drive

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
	"grouplab/coordinator/txn"
)

// producerIDBlock is how many producer ids the controller gives a broker at once (Kafka: ProducerIdsBlock).
const producerIDBlock = 1000

// ofTransaction tells whether a request is the transaction coordinator's.
func ofTransaction(q kmsg.Request) bool {
	switch q := q.(type) {
	case *kmsg.InitProducerIDRequest, *kmsg.AddPartitionsToTxnRequest, *kmsg.AddOffsetsToTxnRequest, *kmsg.EndTxnRequest:
		return true
	case *kmsg.FindCoordinatorRequest:
		return q.Version >= 1 && q.CoordinatorType == 1
	}
	return false
}

// tellTxnMetadata tells the transaction coordinators what brokers know.
func (d *Drive) tellTxnMetadata(group coordinator.Metadata) {
	meta := txn.Metadata{Topics: group.Topics, OffsetsPartitions: int32(len(group.OffsetsLeaders))}
	for _, b := range group.Brokers {
		meta.Brokers = append(meta.Brokers, txn.BrokerInfo(b))
	}
	for p := range d.cluster.Partitions(cluster.TransactionTopic) {
		leader, _, _ := d.cluster.Leader(cluster.TransactionTopic, p)
		meta.Leaders = append(meta.Leaders, leader)
	}
	for i := range d.machines {
		if m := &d.machines[i]; m.c != nil {
			m.txn.MetadataChanged(d.nowMs, meta)
			m.txnStale = true
		}
	}
}

// moveTxn takes partitions of __transaction_state from their coordinators and gives others to them.
func (d *Drive) moveTxn(out *cluster.Output) {
	for _, l := range out.TxnEmigrations {
		d.loads = slices.DeleteFunc(d.loads, func(o load) bool { return o.is(cluster.TransactionTopic, l) })
		if m := d.machine(l.Broker); m != nil {
			m.txn.Emigrate(d.nowMs, l.Partition, l.Epoch)
			m.txnStale = true
		}
	}
	for _, l := range out.TxnImmigrations {
		m := d.machine(l.Broker)
		if m == nil || !d.stillLeads(cluster.TransactionTopic, l) {
			continue
		}
		m.txn.Immigrate(d.nowMs, l.Partition, l.Epoch, l.EndOffset)
		m.txnStale = true
		due := d.nowMs
		if l.EndOffset > 0 {
			due += d.cfg.LoadDelayMs
		}
		d.loads = append(d.loads, load{topic: cluster.TransactionTopic, broker: l.Broker, partition: l.Partition, epoch: l.Epoch, end: l.EndOffset, dueMs: due})
	}
}

// takeTxn hands on what came out of a transaction coordinator.
func (d *Drive) takeTxn(id int32, m *machine) {
	out := m.txn.Take()
	m.txnDeadlineMs = out.DeadlineMs
	d.out.Events = append(d.out.Events, out.Events...)
	for _, r := range out.Replies {
		d.out.Replies = append(d.out.Replies, BrokerReply{id, coordinator.Reply{Ticket: r.Ticket, Kmsg: r.Kmsg, Code: r.Code, Cause: r.Cause}})
	}
	for _, a := range out.Appends {
		batch := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: a.Record.TimestampMs, Key: a.Record.Key, Value: a.Record.Value}})
		d.cluster.Append(d.nowMs, cluster.AppendRequest{Broker: id, Topic: cluster.TransactionTopic, Partition: a.Partition, Epoch: a.Epoch,
			Batch: batch, Acks: -1, TimeoutMs: a.TimeoutMs, Ticket: a.Ticket, Internal: true, Cause: a.Cause, What: "transaction"})
		d.clusterStale = true
	}
	for _, k := range out.Markers {
		d.cluster.WriteMarker(d.nowMs, cluster.MarkerRequest{Topic: k.Topic, Partition: k.Partition, From: id, Life: m.life, Ticket: k.Ticket, Cause: k.Cause,
			Marker: log.Marker{ProducerID: k.ProducerID, ProducerEpoch: k.ProducerEpoch, CoordinatorEpoch: k.CoordinatorEpoch, Commit: k.Commit}})
		d.clusterStale = true
	}
	if out.AllocateProducerIDs {
		m.txn.Allocated(d.nowMs, d.nextProducerID, producerIDBlock, 0)
		d.nextProducerID += producerIDBlock
		m.txnStale = true
	}
	if out.CreateTopic {
		d.cluster.EnsureTransactionTopic(d.nowMs)
		d.clusterStale = true
	}
}

// txnAppended gives the outcome of a record, or of a marker, to the transaction coordinator that asked for it. A marker in
// __consumer_offsets is told to the group coordinator there when it is written (Kafka:
// KafkaApis.handleWriteTxnMarkersRequest), which is before its answer is back.
func (d *Drive) txnAppended(a cluster.Appended) {
	if !a.Marker {
		if m := d.machine(a.Broker); m != nil {
			m.txn.Appended(d.nowMs, a.Ticket, a.Code)
			m.txnStale = true
		}
		return
	}
	local := a.From == 0 || a.From == a.Broker
	if leader := d.machine(a.Broker); leader != nil && a.Code == 0 && a.Topic == cluster.OffsetsTopic && (local || !a.Answered) {
		leader.c.TxnMarker(d.nowMs, d.markerAt(a))
		leader.stale = true
	}
	if a.From == 0 {
		d.out.Produced = append(d.out.Produced, a)
		return
	}
	if m := d.machine(a.From); m != nil && m.life == a.Life && a.Answered {
		m.txn.Marked(d.nowMs, a.Ticket, a.Code)
		m.txnStale = true
	}
}

// markerAt reads the marker that was written at an offset.
func (d *Drive) markerAt(a cluster.Appended) coordinator.Marker {
	data, _, _ := d.cluster.ReadLog(a.Broker, a.Topic, a.Partition, a.BaseOffset, 1)
	b, _, err := log.Parse(data)
	if err != nil {
		panic("drive: a marker that was just written cannot be read: " + err.Error())
	}
	m, _ := log.ReadMarker(b)
	return coordinator.Marker{Partition: a.Partition, ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, Commit: m.Commit, Cause: a.Cause}
}

// verify asks whether a partition of __consumer_offsets is part of a transaction.
func (d *Drive) verify(v coordinator.Verification) int16 {
	return known(d.verifyPartition(v.TransactionalID, v.ProducerID, v.ProducerEpoch, cluster.OffsetsTopic, v.Partition), v.Version >= 4)
}

// verifyPartition asks the transaction coordinator of an id, wherever it is, at once (Kafka: AddPartitionsToTxnManager). Of
// what brokers say to each other only fetches and markers travel; so nothing can come between a verification and the append
// that it is for, which Kafka needs a VerificationGuard for.
func (d *Drive) verifyPartition(id string, producerID int64, epoch int16, topic string, partition int32) int16 {
	const networkException, notAvailable = 13, 15
	n := d.cluster.Partitions(cluster.TransactionTopic)
	if n == 0 {
		return notAvailable
	}
	leader, _, _ := d.cluster.Leader(cluster.TransactionTopic, record.Partition(id, n))
	if leader < 0 {
		return notAvailable
	}
	m := d.machine(leader)
	if m == nil {
		return networkException
	}
	return m.txn.Verify(id, producerID, epoch, topic, partition)
}
