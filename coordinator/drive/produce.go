package drive

import (
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/txn"
)

// Produce appends a client's batch that came in a request with a transactional id. Where the batch is transactional and
// the leader's log does not have the transaction open already, the transaction coordinator is asked whether the partition
// is part of it (KIP-890); version is the Produce request's. The outcome comes in Output.Produced.
func (d *Drive) Produce(nowMs int64, r cluster.AppendRequest, transactionalID string, version int16) {
	d.at(nowMs)
	b, _, err := log.Parse(r.Batch)
	if err != nil || !b.Transactional() || !d.cfg.Settings.TransactionPartitionVerificationEnable ||
		!d.cluster.Leads(r.Broker, r.Topic, r.Partition) || d.cluster.OpenTransaction(r.Topic, r.Partition, b.ProducerID, b.ProducerEpoch) {
		d.Append(nowMs, r)
		return
	}
	code := d.verifyPartition(transactionalID, b.ProducerID, b.ProducerEpoch, r.Topic, r.Partition)
	if code == 0 {
		d.Append(nowMs, r)
		return
	}
	refused := cluster.Appended{Broker: r.Broker, Topic: r.Topic, Partition: r.Partition, Ticket: r.Ticket, BaseOffset: -1, LogStartOffset: -1}
	refused.Code = unverified(code, version)
	refused.Message = "the transaction coordinator says " + event.CodeName(code)
	d.out.Produced = append(d.out.Produced, refused)
}

// unverified is what a producer is told when its partition could not be verified (AddPartitionsToTxnManager,
// ReplicaManager.handleProduceAppend): older ones do not know TRANSACTION_ABORTABLE, and what may pass is told as
// NOT_ENOUGH_REPLICAS, which they all try again.
func unverified(code, version int16) int16 {
	const networkException, loading, notAvailable, notCoordinator, notEnoughReplicas, concurrent = 13, 14, 15, 16, 19, 51
	switch code {
	case networkException, loading, notAvailable, notCoordinator, concurrent:
		return notEnoughReplicas
	}
	return known(code, version >= 11)
}

// known puts the answer of a verification into words that the client has: the epoch's for a fenced producer, the state's
// where it does not know TRANSACTION_ABORTABLE (AddPartitionsToTxnManager).
func known(code int16, abortable bool) int16 {
	const invalidEpoch, invalidTxnState, fenced, transactionAbortable = 47, 48, 90, 120
	switch {
	case code == fenced:
		return invalidEpoch
	case code == transactionAbortable && !abortable:
		return invalidTxnState
	}
	return code
}

// WriteMarker has a broker end a transaction on a partition that it leads, as an operator's tool asks with
// WriteTxnMarkers. The outcome comes in Output.Produced, under the request's ticket.
func (d *Drive) WriteMarker(nowMs int64, broker int32, m cluster.MarkerRequest) {
	d.at(nowMs)
	m.From = 0
	d.cluster.WriteMarkerAt(d.nowMs, broker, m)
	d.changed()
}

// Transactions is a broker's transaction coordinator, nil where the broker does not run. For looking only.
func (d *Drive) Transactions(broker int32) *txn.Coordinator {
	if m := d.machine(broker); m != nil {
		return m.txn
	}
	return nil
}
