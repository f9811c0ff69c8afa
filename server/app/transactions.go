package app

import (
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/log"
	"grouplab/coordinator/txn"
	"grouplab/server/kafka"
)

// What the listeners ask about transactions. All of it runs on the loop's goroutine.

const codeNotCoordinator int16 = 16

func (b *backend) WriteMarker(nowMs int64, m kafka.Marker, done func(code int16)) {
	ticket := b.loop.Ticket()
	b.produced[ticket] = func(_ int64, a kafka.Appended) { done(a.Code) }
	b.drive.WriteMarker(nowMs, m.Broker, cluster.MarkerRequest{Topic: m.Topic, Partition: m.Partition, Ticket: ticket,
		Marker: log.Marker{ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch, CoordinatorEpoch: m.CoordinatorEpoch, Commit: m.Commit}})
}

func (b *backend) Producers(broker int32, topic string, partition int32) (list []kafka.Producer, code int16) {
	found, code := b.drive.Cluster().ActiveProducers(broker, topic, partition)
	for _, p := range found {
		list = append(list, kafka.Producer{ID: p.ProducerID, Epoch: p.ProducerEpoch, LastSequence: p.LastSequence, LastTimestampMs: p.LastTimestampMs,
			CoordinatorEpoch: p.CoordinatorEpoch, TransactionStart: p.TransactionStart})
	}
	return list, code
}

func (b *backend) Transaction(broker int32, id string) (kafka.Transaction, int16) {
	c := b.drive.Transactions(broker)
	if c == nil {
		return kafka.Transaction{}, codeNotCoordinator
	}
	seen, code := c.Describe(id)
	return transaction(seen), code
}

func (b *backend) Transactions(broker int32) (list []kafka.Transaction, code int16) {
	c := b.drive.Transactions(broker)
	if c == nil {
		return nil, codeNotCoordinator
	}
	seen, code := c.List()
	for _, s := range seen {
		list = append(list, transaction(s))
	}
	return list, code
}

func transaction(s txn.Seen) kafka.Transaction {
	return kafka.Transaction{ID: s.TransactionalID, State: string(s.State), ProducerID: s.ProducerID, ProducerEpoch: s.ProducerEpoch,
		TimeoutMs: s.TimeoutMs, StartMs: s.StartMs, Partitions: s.Partitions}
}
