package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Produce (0), v3 to v11.
//
//   - v3: transactional id; record batches of format v2 only (KIP-98)
//   - v5: log start offset
//   - v7: zstd (KIP-110)
//   - v8: errors of single records (KIP-467)
//   - v9: flexible (KIP-482)
//   - v10: the present leader in the answer, where the asked broker is not (KIP-951)
//   - v11: TRANSACTION_ABORTABLE (KIP-890)
//
// v0 to v2 are advertised and not served, as in Kafka 4.0 (KAFKA-18659): librdkafka 2.0 takes a broker without them for
// one that knows no compression, and sends everything plain.
//
// A partition has one batch; what is cut behind it is left out. One whose length or format is none, or a transactional one
// without the request's transactional id, refuses the whole request. A transactional batch needs a transaction coordinator that knows the partition as a
// part of the open transaction (KIP-890). Batches are kept as they come, whatever their compression; compressed ones are
// opened and looked into as Kafka does, on the connection's own goroutine (conn.go). With acks 0 there is no answer; an error then closes the
// connection, which is the only way to tell the producer that its metadata is old.
var produceAPI = api{key: 0, name: "Produce", min: 0, max: 11, decodeFrom: 3, keepsBytes: true, run: produce}

// produceOutcome collects the partitions of one request until the last one is known.
type produceOutcome struct {
	call    *call
	answer  *kmsg.ProduceResponse
	waiting int
	tickets []int64
	failed  int16
}

func produce(s *Server, c *call, nowMs int64) {
	request := c.request.(*kmsg.ProduceRequest)
	o := &produceOutcome{call: c, answer: request.ResponseKind().(*kmsg.ProduceResponse), waiting: 1}
	c.abandon = func() {
		for _, t := range o.tickets {
			s.cluster.Abandon(t)
		}
	}
	whole, why := refuseWhole(request)
	for _, asked := range o.rows(request) {
		code, message, batch := whole, why, []byte(nil)
		if code == 0 {
			batch, code, message = asked.batch(request, c)
		}
		if code != 0 {
			o.fill(s, asked.topic, asked.row, Appended{BaseOffset: -1, LogStartOffset: -1, Code: code, Message: message})
			continue
		}
		if bad, found := c.bad[asked.place]; found {
			start, code := s.startOf(c, asked)
			if code == 0 {
				code, message = bad.code, bad.message
			}
			o.fill(s, asked.topic, asked.row, Appended{BaseOffset: -1, LogStartOffset: start, Code: code, Message: message})
			continue
		}
		o.waiting++
		o.tickets = append(o.tickets, s.cluster.Append(nowMs,
			Append{Broker: c.conn.broker, Topic: asked.topic, Partition: asked.row.Partition, Batch: batch, Acks: request.Acks,
				TimeoutMs: int64(request.TimeoutMillis), TransactionalID: idOf(request.TransactionID), Version: c.version},
			func(_ int64, a Appended) {
				if a.Code != 0 && a.LogStartOffset < 0 {
					a.LogStartOffset = s.startToTell(c, asked, a.Code)
				}
				o.fill(s, asked.topic, asked.row, a)
				o.oneLess(s)
			}))
	}
	c.request = nil // the batches were copied; their frame can go while the replicas are waited for
	o.oneLess(s)
}

// produceRow is a partition that is written to: where the request names it, and where the answer does.
type produceRow struct {
	topic   string
	place   [2]int
	records []byte
	row     *kmsg.ProduceResponseTopicPartition
}

// rows makes the answer's rows, a topic once. Of a partition that is named twice only the last is written, as in Kafka,
// which keeps them in a map.
func (o *produceOutcome) rows(request *kmsg.ProduceRequest) (rows []produceRow) {
	type place struct {
		topic     string
		partition int32
	}
	last, size, topics := map[place][2]int{}, map[string]int{}, []string{}
	for i, t := range request.Topics {
		for j, p := range t.Partitions {
			if size[t.Topic]++; size[t.Topic] == 1 {
				topics = append(topics, t.Topic)
			}
			last[place{t.Topic, p.Partition}] = [2]int{i, j}
		}
	}
	at := map[string]int{}
	for _, name := range topics {
		at[name] = len(o.answer.Topics)
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.Partitions = name, make([]kmsg.ProduceResponseTopicPartition, 0, size[name])
		o.answer.Topics = append(o.answer.Topics, topic)
	}
	for i, t := range request.Topics {
		for j, p := range t.Partitions {
			if last[place{t.Topic, p.Partition}] != [2]int{i, j} {
				continue
			}
			row := kmsg.NewProduceResponseTopicPartition()
			row.Partition, row.BaseOffset, row.LogStartOffset, row.LogAppendTime = p.Partition, -1, -1, -1
			topic := &o.answer.Topics[at[t.Topic]]
			topic.Partitions = append(topic.Partitions, row) // there is room: the rows stay where they are
			rows = append(rows, produceRow{t.Topic, [2]int{i, j}, p.Records, &topic.Partitions[len(topic.Partitions)-1]})
		}
	}
	return rows
}

// batch finds what is wrong with a partition before its log is asked, or the batch to append.
func (p produceRow) batch(r *kmsg.ProduceRequest, c *call) (batch []byte, code int16, message string) {
	if batch, code, message = onlyBatch(c.version, p.records); code == 0 && (r.Acks < -1 || r.Acks > 1) {
		return nil, kerr.InvalidRequiredAcks.Code, fmt.Sprintf("acks is -1, 0 or 1, not %d", r.Acks)
	}
	return batch, code, message
}

// startToTell is where the log begins that refused a batch. Kafka tells it beside all errors but those that it expects
// (ReplicaManager.appendRecordsToLeader).
func (s *Server) startToTell(c *call, p produceRow, code int16) int64 {
	switch code {
	case kerr.UnknownTopicOrPartition.Code, kerr.NotLeaderForPartition.Code, kerr.MessageTooLarge.Code, kerr.RecordListTooLarge.Code,
		kerr.CorruptMessage.Code, kerr.KafkaStorageError.Code, kerr.InvalidTopicException.Code:
		return -1
	case kerr.InvalidTxnState.Code, kerr.InvalidProducerEpoch.Code, kerr.InvalidProducerIDMapping.Code, kerr.ConcurrentTransactions.Code,
		kerr.NotEnoughReplicas.Code, kerr.TransactionAbortable.Code:
		if transactional(p.records) {
			return -1 // the transaction coordinator's word, before the log was asked
		}
	}
	start, _ := s.startOf(c, p)
	return start
}

func (s *Server) startOf(c *call, p produceRow) (offset int64, code int16) {
	found := s.cluster.ListOffset(OffsetQuestion{Broker: c.conn.broker, Topic: p.topic, Partition: p.row.Partition, Epoch: -1, TimestampMs: earliestTimestamp})
	return found.Offset, found.Code
}

func idOf(transactional *string) string {
	if transactional == nil {
		return ""
	}
	return *transactional
}

func (o *produceOutcome) fill(s *Server, topic string, row *kmsg.ProduceResponseTopicPartition, a Appended) {
	row.ErrorCode, row.BaseOffset, row.LogStartOffset = a.Code, a.BaseOffset, a.LogStartOffset
	if a.Code == 0 {
		if a.LogAppendTimeMs != 0 {
			row.LogAppendTime = a.LogAppendTimeMs
		}
		return
	}
	o.failed = a.Code
	o.call.note(a.Code)
	if a.Message != "" {
		row.ErrorMessage = words(a.Message)
	}
	if a.Code != kerr.NotLeaderForPartition.Code || o.call.version < 10 {
		return
	}
	if t, ok := s.cluster.Topic(topic); ok && int(row.Partition) < len(t.Partitions) {
		p := t.Partitions[row.Partition]
		row.CurrentLeader.LeaderID, row.CurrentLeader.LeaderEpoch = p.Leader, p.Epoch
		if b, ok := s.endpoint(p.Leader); ok {
			o.answer.Brokers = append(o.answer.Brokers, kmsg.ProduceResponseBroker{NodeID: b.ID, Host: b.Host, Port: b.Port})
		}
	}
}

func (o *produceOutcome) oneLess(s *Server) {
	if o.waiting--; o.waiting > 0 {
		return
	}
	o.answer.Brokers = distinct(o.answer.Brokers, func(b kmsg.ProduceResponseBroker) int32 { return b.NodeID })
	if !o.call.noAnswer {
		o.call.complete(o.answer)
		return
	}
	if o.failed != 0 && !o.call.conn.gone {
		o.call.conn.end(refusef("Produce with acks 0 failed: %v; the connection ends so that the producer asks for metadata", kerr.ErrorForCode(o.failed)))
	}
	o.call.complete(nil)
}

// endpoint finds a broker that clients may be told of.
func (s *Server) endpoint(id int32) (Broker, bool) {
	for _, b := range s.cluster.Brokers() {
		if b.ID == id {
			return b, true
		}
	}
	return Broker{}, false
}

// distinct drops repeated rows, keeping the first of each.
func distinct[T any](rows []T, id func(T) int32) []T {
	seen := map[int32]bool{}
	kept := rows[:0]
	for _, r := range rows {
		if !seen[id(r)] {
			seen[id(r)] = true
			kept = append(kept, r)
		}
	}
	return kept
}

// maxProduceRows bounds the topics and partitions of a large Produce.
const maxProduceRows = 100_000

// checkProduce walks a large Produce body by its lengths alone, and counts. A decoder reserves a structure for each topic
// and partition, which may be two bytes on the wire, so a hostile frame of the largest size could cost thirty times as much.
func checkProduce(version int16, body []byte) error {
	r := kbin.Reader{Src: body}
	flexible := version >= 9
	length := func() int {
		if flexible {
			return int(r.CompactArrayLen())
		}
		return int(r.ArrayLen())
	}
	tags := func() {
		if flexible {
			for n := r.Uvarint(); n > 0 && r.Ok(); n-- {
				r.Uvarint()
				r.Span(int(r.Uvarint()))
			}
		}
	}
	name := func() {
		if flexible {
			_ = r.UnsafeCompactNullableString()
		} else {
			_ = r.UnsafeNullableString()
		}
	}
	rows := 0
	name() // the transactional id
	r.Int16()
	r.Int32()
	for topics := length(); topics > 0 && r.Ok() && rows <= maxProduceRows; topics-- {
		rows++
		name()
		for partitions := length(); partitions > 0 && r.Ok() && rows <= maxProduceRows; partitions-- {
			rows++
			r.Int32()
			if flexible {
				r.CompactNullableBytes()
			} else {
				r.NullableBytes()
			}
			tags()
		}
		tags()
	}
	if rows > maxProduceRows {
		return refusef("Produce v%d: a frame of %d bytes names more than %d topics and partitions", version, len(body), maxProduceRows)
	}
	tags()
	if !r.Ok() {
		return refusef("Produce v%d: the lengths in the body do not fit its frame", version)
	}
	return nil
}
