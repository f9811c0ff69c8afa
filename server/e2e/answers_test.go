package e2e

import (
	"encoding/binary"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func name(code int16) string {
	if code == 0 {
		return "NONE"
	}
	return kerr.TypedErrorForCode(code).Message
}

func produceOf(topic string, partition int32, records []byte) *kmsg.ProduceRequest {
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = 11, -1, 1000
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, records
	r.Topics = append(r.Topics, kmsg.ProduceRequestTopic{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{part}})
	return r
}

// withProducer makes an idempotent producer's batch.
func withProducer(id int64, epoch int16, sequence int32) []byte {
	b := batch("idempotent")
	binary.BigEndian.PutUint64(b[43:], uint64(id))
	binary.BigEndian.PutUint16(b[51:], uint16(epoch))
	binary.BigEndian.PutUint32(b[53:], uint32(sequence))
	binary.BigEndian.PutUint32(b[17:], crc(b[21:]))
	return b
}

// TestProduceAnswers: each wrong batch gets Kafka's code, and the next right one is taken all the same.
func TestProduceAnswers(t *testing.T) {
	s := kafkaServer(t, 1, "message.max.bytes=5000")
	w := dial(t, s.KafkaAddrs()[0])
	corrupt := batch("x")
	corrupt[len(corrupt)-1] ^= 1
	old := batch("x")
	old[16] = 1
	acks := produceOf("orders", 0, batch("x"))
	acks.Acks = 2
	txn := produceOf("orders", 0, batch("x"))
	txn.TransactionID = kmsg.StringPtr("t")
	ask[*kmsg.FindCoordinatorResponse](w, kmsg.NewPtrFindCoordinatorRequest()) // creates __consumer_offsets
	for _, c := range []struct {
		what    string
		request *kmsg.ProduceRequest
		code    int16
		offset  int64
	}{
		{"a right one", produceOf("orders", 0, batch("x")), 0, 0},
		{"an unknown topic", produceOf("nothing", 0, batch("x")), kerr.UnknownTopicOrPartition.Code, -1},
		{"an unknown partition", produceOf("orders", 6, batch("x")), kerr.UnknownTopicOrPartition.Code, -1},
		{"a negative partition", produceOf("orders", -1, batch("x")), kerr.UnknownTopicOrPartition.Code, -1},
		{"an internal topic", produceOf("__consumer_offsets", 0, batch("x")), kerr.InvalidTopicException.Code, -1},
		{"a wrong CRC", produceOf("orders", 0, corrupt), kerr.CorruptMessage.Code, -1},
		{"an old format", produceOf("orders", 0, old), kerr.InvalidRecord.Code, -1},
		{"two batches", produceOf("orders", 0, append(batch("x"), batch("y")...)), kerr.InvalidRecord.Code, -1},
		{"no batch", produceOf("orders", 0, nil), kerr.InvalidRecord.Code, -1},
		{"a cut batch", produceOf("orders", 0, batch("x")[:40]), kerr.InvalidRecord.Code, -1},
		{"too much", produceOf("orders", 0, batch(string(make([]byte, 6000)))), kerr.MessageTooLarge.Code, -1},
		{"strange acks", acks, kerr.InvalidRequiredAcks.Code, -1},
		{"a plain batch with a transactional id", txn, 0, 1},
		{"the first of a producer", produceOf("orders", 0, withProducer(7, 0, 0)), 0, 2},
		{"the same again", produceOf("orders", 0, withProducer(7, 0, 0)), 0, 2},
		{"the next", produceOf("orders", 0, withProducer(7, 0, 1)), 0, 3},
		{"one left out", produceOf("orders", 0, withProducer(7, 0, 3)), kerr.OutOfOrderSequenceNumber.Code, -1},
		{"an epoch that is over", produceOf("orders", 0, withProducer(7, -1, 2)), kerr.InvalidRecord.Code, -1},
		{"a new epoch from the start", produceOf("orders", 0, withProducer(7, 1, 0)), 0, 4},
		{"the old epoch", produceOf("orders", 0, withProducer(7, 0, 2)), kerr.InvalidProducerEpoch.Code, -1},
		{"a newer epoch in the middle", produceOf("orders", 0, withProducer(7, 2, 5)), kerr.OutOfOrderSequenceNumber.Code, -1},
		{"a right one again", produceOf("orders", 0, batch("x")), 0, 5},
	} {
		row := ask[*kmsg.ProduceResponse](w, c.request).Topics[0].Partitions[0]
		if row.ErrorCode != c.code || row.BaseOffset != c.offset {
			t.Errorf("%s: %s at %d, want %s at %d", c.what, name(row.ErrorCode), row.BaseOffset, name(c.code), c.offset)
		}
		if row.ErrorCode != 0 && row.ErrorMessage == nil {
			t.Errorf("%s: no message says what was wrong", c.what)
		}
	}
}

// TestWrongBrokerIsToldTheRightOne: Produce and Fetch at a broker that does not lead name the leader and its address.
func TestWrongBrokerIsToldTheRightOne(t *testing.T) {
	s := kafkaServer(t, 3)
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 12
	metadata.Topics = append(metadata.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr("orders")})
	topic := ask[*kmsg.MetadataResponse](dial(t, s.KafkaAddrs()[0]), metadata).Topics[0]
	leader := topic.Partitions[0].Leader
	wrong := dial(t, s.KafkaAddrs()[leader%3])
	produced := ask[*kmsg.ProduceResponse](wrong, produceOf("orders", 0, batch("x")))
	row := produced.Topics[0].Partitions[0]
	if row.ErrorCode != kerr.NotLeaderForPartition.Code || row.CurrentLeader.LeaderID != leader || len(produced.Brokers) != 1 || produced.Brokers[0].NodeID != leader {
		t.Errorf("Produce: %s, leader %+v, brokers %+v; the leader is %d", name(row.ErrorCode), row.CurrentLeader, produced.Brokers, leader)
	}
	request := fetchOf("", 0, 0)
	request.Version, request.Topics[0].TopicID = 17, topic.TopicID
	fetched := ask[*kmsg.FetchResponse](wrong, request)
	got := fetched.Topics[0].Partitions[0]
	if got.ErrorCode != kerr.NotLeaderForPartition.Code || got.CurrentLeader.LeaderID != leader || len(fetched.Brokers) != 1 || fetched.Brokers[0].Port == 0 {
		t.Errorf("Fetch: %s, leader %+v, brokers %+v; the leader is %d", name(got.ErrorCode), got.CurrentLeader, fetched.Brokers, leader)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID = 4, "g", "m"
	findFirst(t, wrong, "g")
	codes := map[int16]int{}
	for _, at := range s.KafkaAddrs() {
		codes[ask[*kmsg.HeartbeatResponse](dial(t, at), beat).ErrorCode]++
	}
	if codes[kerr.NotCoordinator.Code] != 2 || codes[kerr.UnknownMemberID.Code] != 1 {
		t.Errorf("a heartbeat gets %v from three brokers; two do not coordinate the group", codes)
	}
}

// TestFetchAnswers: what is wrong with a fetch, partition by partition and as a whole.
func TestFetchAnswers(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	for range 3 {
		ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, batch("x")))
	}
	with := func(change func(r *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition)) *kmsg.FetchRequest {
		r := fetchOf("orders", 0, 0)
		r.Version = 12
		change(r, &r.Topics[0].Partitions[0])
		return r
	}
	for _, c := range []struct {
		what       string
		request    *kmsg.FetchRequest
		whole      int16
		code       int16
		batches    int
		aborted    bool
		lastStable int64
	}{
		{"everything", with(func(*kmsg.FetchRequest, *kmsg.FetchRequestTopicPartition) {}), 0, 0, 3, false, 3},
		{"the last", with(func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.FetchOffset = 2 }), 0, 0, 1, false, 3},
		{"the end", with(func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.FetchOffset = 3 }), 0, 0, 0, false, 3},
		{"read committed", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.IsolationLevel = 1 }), 0, 0, 3, true, 3},
		{"beyond the end", with(func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.FetchOffset = 4 }), 0, kerr.OffsetOutOfRange.Code, 0, false, -1},
		{"below zero", with(func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.FetchOffset = -1 }), 0, kerr.OffsetOutOfRange.Code, 0, false, -1},
		{"an unknown topic", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.Topics[0].Topic = "nothing" }), 0, kerr.UnknownTopicOrPartition.Code, 0, false, -1},
		{"an unknown partition", with(func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.Partition = 99 }), 0, kerr.UnknownTopicOrPartition.Code, 0, false, -1},
		{"an unknown id", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) {
			r.Version, r.Topics[0].TopicID = 13, [16]byte{1}
		}), 0, kerr.UnknownTopicID.Code, 0, false, -1},
		{"an epoch to come", with(func(_ *kmsg.FetchRequest, p *kmsg.FetchRequestTopicPartition) { p.CurrentLeaderEpoch = 1000 }), 0, kerr.UnknownLeaderEpoch.Code, 0, false, -1},
		{"a new session", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionEpoch = 0 }), 0, 0, 3, false, 3},
		{"a session that is not", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionID, r.SessionEpoch = 5, 1 }), kerr.FetchSessionIDNotFound.Code, 0, 0, false, 0},
		{"the end of one", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionID, r.SessionEpoch = 5, -1 }), 0, 0, 3, false, 3},
		{"an epoch without a session", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.SessionEpoch = 3 }), kerr.FetchSessionIDNotFound.Code, 0, 0, false, 0},
		{"somebody who says to be a replica", with(func(r *kmsg.FetchRequest, _ *kmsg.FetchRequestTopicPartition) { r.ReplicaID = 2 }), 0, kerr.NotLeaderForPartition.Code, 0, false, -1},
	} {
		got := ask[*kmsg.FetchResponse](w, c.request)
		if got.ErrorCode != c.whole || (got.SessionID != 0) != (c.request.SessionEpoch == 0) {
			t.Errorf("%s: the whole is %s in session %d, want %s", c.what, name(got.ErrorCode), got.SessionID, name(c.whole))
		}
		if c.whole != 0 {
			continue
		}
		row := got.Topics[0].Partitions[0]
		batches := 0
		for rest := row.RecordBatches; len(rest) > 0; batches++ {
			rest = rest[12+binary.BigEndian.Uint32(rest[8:]):]
		}
		if row.ErrorCode != c.code || batches != c.batches || row.LastStableOffset != c.lastStable || row.HighWatermark != c.lastStable || (row.AbortedTransactions != nil) != c.aborted {
			t.Errorf("%s: %s with %d batches, last stable %d, aborted %v", c.what, name(row.ErrorCode), batches, row.LastStableOffset, row.AbortedTransactions)
		}
	}
	repeated := fetchOf("orders", 0, 0)
	repeated.Topics = append(repeated.Topics, fetchOf("orders", 1, 0).Topics[0], fetchOf("orders", 0, 2).Topics[0])
	got := ask[*kmsg.FetchResponse](w, repeated).Topics
	if len(got) != 1 || len(got[0].Partitions) != 2 || got[0].Partitions[1].Partition != 1 || len(got[0].Partitions[0].RecordBatches) == 0 {
		t.Errorf("a topic that is named three times: %+v", got)
	}
}

// TestListOffsets answers by time and by the special timestamps, each from the version that has it.
func TestListOffsets(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	for i := range int64(3) {
		b := batch("x")
		binary.BigEndian.PutUint64(b[27:], uint64(1000+100*i))
		binary.BigEndian.PutUint64(b[35:], uint64(1000+100*i))
		binary.BigEndian.PutUint32(b[17:], crc(b[21:]))
		if row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, b)).Topics[0].Partitions[0]; row.ErrorCode != 0 {
			t.Fatal(name(row.ErrorCode))
		}
	}
	for _, c := range []struct {
		version          int16
		at               int64
		offset, whenMs   int64
		code             int16
		topic            string
		partition, epoch int32
	}{
		{10, -1, 3, -1, 0, "orders", 0, -1},
		{1, -1, 3, -1, 0, "orders", 0, -1},
		{10, -2, 0, -1, 0, "orders", 0, -1},
		{10, -3, 2, 1200, 0, "orders", 0, -1},
		{6, -3, -1, -1, kerr.UnsupportedVersion.Code, "orders", 0, -1},
		{8, -4, 0, -1, 0, "orders", 0, -1},
		{9, -5, -1, -1, 0, "orders", 0, -1},
		{10, -9, -1, -1, kerr.UnsupportedVersion.Code, "orders", 0, -1},
		{10, 0, 0, 1000, 0, "orders", 0, -1},
		{10, 1001, 1, 1100, 0, "orders", 0, -1},
		{10, 1201, -1, -1, 0, "orders", 0, -1},
		{10, -1, -1, -1, kerr.UnknownTopicOrPartition.Code, "nothing", 0, -1},
		{10, -1, -1, -1, kerr.UnknownTopicOrPartition.Code, "orders", 9, -1},
		{10, -1, -1, -1, kerr.UnknownLeaderEpoch.Code, "orders", 0, 99},
	} {
		request := kmsg.NewPtrListOffsetsRequest()
		request.Version, request.ReplicaID = c.version, -1
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp, part.CurrentLeaderEpoch = c.partition, c.at, c.epoch
		request.Topics = append(request.Topics, kmsg.ListOffsetsRequestTopic{Topic: c.topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{part}})
		row := ask[*kmsg.ListOffsetsResponse](w, request).Topics[0].Partitions[0]
		if row.Offset != c.offset || row.Timestamp != c.whenMs || row.ErrorCode != c.code {
			t.Errorf("v%d of %s-%d at %d: offset %d, time %d, %s; want %d, %d, %s", c.version, c.topic, c.partition, c.at, row.Offset, row.Timestamp, name(row.ErrorCode), c.offset, c.whenMs, name(c.code))
		}
	}
}

// TestCreateTopics: shapes, refusals and the topic's own description.
func TestCreateTopics(t *testing.T) {
	s := kafkaServer(t, 3, "num.partitions=2")
	w := dial(t, s.KafkaAddrs()[1])
	create := func(validateOnly bool, topics ...kmsg.CreateTopicsRequestTopic) []kmsg.CreateTopicsResponseTopic {
		t.Helper()
		r := kmsg.NewPtrCreateTopicsRequest()
		r.Version, r.ValidateOnly, r.Topics = 7, validateOnly, topics
		return ask[*kmsg.CreateTopicsResponse](w, r).Topics
	}
	topic := func(name string, partitions int32, replicas int16, assignment ...[]int32) kmsg.CreateTopicsRequestTopic {
		c := kmsg.NewCreateTopicsRequestTopic()
		c.Topic, c.NumPartitions, c.ReplicationFactor = name, partitions, replicas
		for i, r := range assignment {
			c.ReplicaAssignment = append(c.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(i), Replicas: r})
		}
		return c
	}
	if got := create(true, topic("tried", 3, 1))[0]; got.ErrorCode != 0 {
		t.Errorf("validating: %s", name(got.ErrorCode))
	}
	got := create(false, topic("tried", -1, -1))[0]
	if got.ErrorCode != 0 || got.NumPartitions != 2 || got.ReplicationFactor != 3 || got.TopicID == [16]byte{} {
		t.Errorf("defaults: %+v", got)
	}
	placed := create(false, topic("placed", -1, -1, []int32{3, 1}, []int32{2, 3}))[0]
	if placed.ErrorCode != 0 || placed.NumPartitions != 2 || placed.ReplicationFactor != 2 {
		t.Errorf("placed by hand: %s %+v", name(placed.ErrorCode), placed)
	}
	for _, c := range []struct {
		what   string
		topics []kmsg.CreateTopicsRequestTopic
		code   int16
	}{
		{"one that exists", []kmsg.CreateTopicsRequestTopic{topic("orders", 1, 1)}, kerr.TopicAlreadyExists.Code},
		{"no partition", []kmsg.CreateTopicsRequestTopic{topic("a", 0, 1)}, kerr.InvalidPartitions.Code},
		{"more replicas than brokers", []kmsg.CreateTopicsRequestTopic{topic("a", 1, 4)}, kerr.InvalidReplicationFactor.Code},
		{"a bad name", []kmsg.CreateTopicsRequestTopic{topic("a b", 1, 1)}, kerr.InvalidTopicException.Code},
		{"a name twice", []kmsg.CreateTopicsRequestTopic{topic("a", 1, 1), topic("a", 1, 1)}, kerr.InvalidRequest.Code},
		{"both ways of placing", []kmsg.CreateTopicsRequestTopic{topic("a", 1, 1, []int32{1})}, kerr.InvalidRequest.Code},
		{"a broker that is not", []kmsg.CreateTopicsRequestTopic{topic("a", -1, -1, []int32{9})}, kerr.InvalidReplicaAssignment.Code},
		{"a broker twice", []kmsg.CreateTopicsRequestTopic{topic("a", -1, -1, []int32{1, 1})}, kerr.InvalidReplicaAssignment.Code},
	} {
		rows := create(false, c.topics...)
		if len(rows) != 1 || rows[0].ErrorCode != c.code || rows[0].ErrorMessage == nil {
			t.Errorf("%s: %+v, want one row of %s with a message", c.what, rows, name(c.code))
		}
	}
	more := kmsg.NewPtrCreatePartitionsRequest()
	more.Version = 3
	for _, c := range []struct {
		topic string
		count int32
		code  int16
	}{{"tried", 5, 0}, {"tried", 5, kerr.InvalidPartitions.Code}, {"nothing", 5, kerr.UnknownTopicOrPartition.Code}} {
		more.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: c.topic, Count: c.count}}
		if row := ask[*kmsg.CreatePartitionsResponse](w, more).Topics[0]; row.ErrorCode != c.code {
			t.Errorf("%d partitions for %s: %s, want %s", c.count, c.topic, name(row.ErrorCode), name(c.code))
		}
	}
}
