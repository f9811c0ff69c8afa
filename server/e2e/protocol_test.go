package e2e

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/record"
	"grouplab/server/app"
	bare "grouplab/server/e2e/wire"
)

// TestCompressionIsKept produces with every codec, through both clients, and reads the same bytes back through both.
// kcat asks ApiVersions whether brokers know compression at all.
func TestCompressionIsKept(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 3)
	cl := client(t, s, byHand())
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			topic, value := "packed-"+codec, strings.Repeat(codec+" ", 400)
			ensureTopic(t, cl, topic, 1)
			kcat(t, value+"\n", "-b", s.KafkaAddrs()[0], "-P", "-t", topic, "-p", "0", "-z", codec)
			options := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
			packed := client(t, s, byHand(), kgo.ProducerBatchCompression(options[codec]))
			if err := packed.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if got := kcat(t, "", "-b", s.KafkaAddrs()[0], "-C", "-t", topic, "-e", "-q"); got != value+"\n"+value+"\n" {
				t.Errorf("kcat read %d bytes, not the two values", len(got))
			}
			sum := 0
			for _, b := range fetchAll(t, s, topic) {
				if codec != "none" && b.Attributes&7 == 0 {
					t.Errorf("a batch of %d bytes came back without its compression", len(b.Records))
				}
				sum += len(b.Records)
			}
			if codec != "none" && sum > len(value) {
				t.Errorf("two values of %d bytes take %d bytes in the log", len(value), sum)
			}
		})
	}
}

func ensureTopic(t testing.TB, cl *kgo.Client, name string, partitions int32) {
	t.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, -1
	request.Topics = append(request.Topics, topic)
	answer, err := request.RequestWith(t.Context(), cl)
	if err != nil || answer.Topics[0].ErrorCode != 0 {
		t.Fatalf("creating %s: %v, %+v", name, err, answer)
	}
}

// leaderOf connects to the leader of a topic's partition.
func leaderOf(t testing.TB, s *app.Server, topic string, partition int) *wire {
	t.Helper()
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 9
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	request.Topics = append(request.Topics, asked)
	answer := ask[*kmsg.MetadataResponse](dial(t, s.KafkaAddrs()[0]), request)
	return dial(t, s.KafkaAddrs()[answer.Topics[0].Partitions[partition].Leader-1])
}

// fetchAll reads partition 0 of a topic as raw batches.
func fetchAll(t testing.TB, s *app.Server, topic string) (batches []kmsg.RecordBatch) {
	t.Helper()
	row := ask[*kmsg.FetchResponse](leaderOf(t, s, topic, 0), fetchOf(topic, 0, 0)).Topics[0].Partitions[0]
	if row.ErrorCode != 0 {
		t.Fatalf("fetching %s: %v", topic, kerr.ErrorForCode(row.ErrorCode))
	}
	for rest := row.RecordBatches; len(rest) > 12; {
		size := 12 + int(binary.BigEndian.Uint32(rest[8:]))
		var b kmsg.RecordBatch
		if err := b.ReadFrom(rest[:size]); err != nil {
			t.Fatal(err)
		}
		batches, rest = append(batches, b), rest[size:]
	}
	return batches
}

func fetchOf(topic string, partition int32, offset int64) *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.MaxWaitMillis, request.MinBytes, request.MaxBytes, request.SessionEpoch = 11, 0, 1, 50<<20, -1
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes, part.CurrentLeaderEpoch = partition, offset, 10<<20, -1
	asked := kmsg.NewFetchRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, part)
	request.Topics = append(request.Topics, asked)
	return request
}

// TestApiVersions: a newer client is sent back with what this key can do, in the layout of v0.
func TestApiVersions(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	newer := kmsg.NewPtrApiVersionsRequest()
	newer.Version, newer.ClientSoftwareName, newer.ClientSoftwareVersion = 5, "franz", "1"
	id := w.send(newer)
	old := kmsg.NewPtrApiVersionsRequest()
	answer := receive[*kmsg.ApiVersionsResponse](w, id, old)
	if answer.ErrorCode != kerr.UnsupportedVersion.Code || len(answer.ApiKeys) != 1 || answer.ApiKeys[0].ApiKey != 18 || answer.ApiKeys[0].MaxVersion != 4 {
		t.Errorf("a newer client is told %+v", answer)
	}
	bad := kmsg.NewPtrApiVersionsRequest()
	bad.Version, bad.ClientSoftwareName, bad.ClientSoftwareVersion = 3, "a name", "1"
	if got := ask[*kmsg.ApiVersionsResponse](w, bad); got.ErrorCode != kerr.InvalidRequest.Code {
		t.Errorf("a senseless software name: %v", kerr.ErrorForCode(got.ErrorCode))
	}
	good := kmsg.NewPtrApiVersionsRequest()
	good.Version, good.ClientSoftwareName, good.ClientSoftwareVersion = 4, "librdkafka", "2.11.1"
	got := ask[*kmsg.ApiVersionsResponse](w, good)
	ranges := map[int16][2]int16{}
	for _, k := range got.ApiKeys {
		ranges[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
	}
	want := map[int16][2]int16{0: {0, 11}, 1: {4, 17}, 2: {1, 10}, 3: {0, 13}, 8: {2, 9}, 9: {1, 9}, 10: {0, 6}, 11: {0, 9}, 12: {0, 4}, 13: {0, 5},
		14: {0, 5}, 15: {0, 6}, 16: {0, 5}, 17: {0, 1}, 18: {0, 4}, 19: {0, 7}, 20: {0, 6}, 21: {0, 2}, 22: {0, 5}, 23: {2, 4}, 24: {0, 3}, 25: {0, 4}, 26: {0, 4}, 27: {0, 1},
		28: {0, 4}, 32: {0, 4}, 33: {0, 2}, 35: {0, 4}, 36: {0, 2}, 37: {0, 3}, 42: {0, 2}, 43: {0, 2}, 44: {0, 1}, 45: {0, 1}, 46: {0, 0}, 47: {0, 0}, 60: {0, 2}, 61: {0, 0}, 65: {0, 0}, 66: {0, 1}, 75: {0, 0}}
	if fmt.Sprint(ranges) != fmt.Sprint(want) {
		t.Errorf("advertised\n%v, want\n%v", ranges, want)
	}
}

// TestEveryAdvertisedVersionIsAnswered sends each key in each version that ApiVersions names, and demands an answer that
// its own schema can read to the last byte.
func TestEveryAdvertisedVersionIsAnswered(t *testing.T) {
	s := kafkaServer(t, 1, "group.initial.rebalance.delay.ms=0")
	versions := kmsg.NewPtrApiVersionsRequest()
	for _, k := range ask[*kmsg.ApiVersionsResponse](dial(t, s.KafkaAddrs()[0]), versions).ApiKeys {
		for v := k.MinVersion; v <= k.MaxVersion; v++ {
			if k.ApiKey == 0 && v < 3 {
				continue // advertised for librdkafka, not served, as in Kafka 4.0
			}
			t.Run(fmt.Sprintf("%s v%d", kmsg.NameForKey(k.ApiKey), v), func(t *testing.T) {
				request := kmsg.RequestForKey(k.ApiKey)
				if d, ok := request.(interface{ Default() }); ok {
					d.Default()
				}
				request.SetVersion(v)
				switch r := request.(type) {
				case *kmsg.ApiVersionsRequest:
					r.ClientSoftwareName, r.ClientSoftwareVersion = "e2e", "1"
				case *kmsg.ProduceRequest:
					r.Acks = 1
				}
				ask[kmsg.Response](dial(t, s.KafkaAddrs()[0]), request)
			})
		}
	}
}

// TestAnswersKeepTheirOrder pipelines requests of all kinds, one of them a Fetch that waits: what was sent behind it is
// answered behind it.
func TestAnswersKeepTheirOrder(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 7
	slow := fetchOf("orders", 0, 0)
	slow.MaxWaitMillis = 400
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID = 4, "nobody", "me"
	var sent []kmsg.Request
	for range 30 {
		sent = append(sent, metadata, beat, metadata)
	}
	sent = slices.Insert(sent, 10, kmsg.Request(slow))
	start := time.Now()
	first := w.send(sent...) - int32(len(sent)) + 1
	for i, r := range sent {
		receive[kmsg.Response](w, first+int32(i), r)
		if i == 10 && time.Since(start) < 350*time.Millisecond {
			t.Errorf("the fetch came after %v, before its wait was over", time.Since(start))
		}
	}
}

// TestJoinHoldsUpItsConnection: a parked JoinGroup mutes its connection, as Kafka does, and only that one.
func TestJoinHoldsUpItsConnection(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 1, "group.initial.rebalance.delay.ms=8000")
	w := dial(t, s.KafkaAddrs()[0])
	findFirst(t, w, "g")
	join := joinOf("g")
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 7
	start := time.Now()
	last := w.send(join, metadata)
	ask[*kmsg.MetadataResponse](dial(t, s.KafkaAddrs()[0]), metadata)
	if took := time.Since(start); took > 7500*time.Millisecond {
		t.Errorf("another connection waited for %v", took)
	}
	if got := receive[*kmsg.JoinGroupResponse](w, last-1, join); got.ErrorCode != 0 || got.Generation != 1 || got.LeaderID != got.MemberID {
		t.Errorf("joining: %+v", got)
	}
	if took := time.Since(start); took < 7900*time.Millisecond {
		t.Errorf("the join was answered after %v, before the delay was over", took)
	}
	receive[*kmsg.MetadataResponse](w, last, metadata)
}

// findFirst waits until the group has a coordinator: the first question creates __consumer_offsets.
func findFirst(t testing.TB, w *wire, group string) {
	t.Helper()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 2, group
	eventually(t, 5*time.Second, func() error {
		return kerr.ErrorForCode(ask[*kmsg.FindCoordinatorResponse](w, find).ErrorCode)
	})
}

// joinOf is the JoinGroup of a consumer that knows no handshake: it waits, without an id, until the join phase is over.
func joinOf(group string) *kmsg.JoinGroupRequest {
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, group, 120_000, 120_000, "consumer"
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", record.Subscription(record.Sub{Topics: []string{"orders"}})
	join.Protocols = append(join.Protocols, p)
	return join
}

// TestFetchWaitsForData: a long poll is answered by the record that comes, not by its time-out.
func TestFetchWaitsForData(t *testing.T) {
	s := kafkaServer(t, 3)
	cl := client(t, s, byHand(), kgo.ProducerLinger(0))
	ensureTopic(t, cl, "late", 1)
	w := leaderOf(t, s, "late", 0)
	poll := fetchOf("late", 0, 0)
	poll.MaxWaitMillis = 50_000
	id := w.send(poll)
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "late", Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	row := receive[*kmsg.FetchResponse](w, id, poll).Topics[0].Partitions[0]
	if row.ErrorCode != 0 || len(row.RecordBatches) == 0 || row.HighWatermark != 1 {
		t.Errorf("the poll found %+v", row)
	}
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("the poll took %v after the record", took)
	}
}

// TestOneBatchComesHoweverLarge: a fetch of few bytes still gets ahead (KIP-74), and limits hold otherwise.
func TestOneBatchComesHoweverLarge(t *testing.T) {
	s := kafkaServer(t, 1)
	cl := client(t, s, byHand(), kgo.ProducerLinger(0))
	ensureTopic(t, cl, "big", 2)
	for p := range int32(2) {
		for range 3 {
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "big", Partition: p, Value: make([]byte, 100_000)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	request := fetchOf("big", 0, 0)
	request.MaxBytes = 10
	second := request.Topics[0].Partitions[0]
	second.Partition = 1
	request.Topics[0].Partitions = append(request.Topics[0].Partitions, second)
	got := ask[*kmsg.FetchResponse](dial(t, s.KafkaAddrs()[0]), request)
	if len(got.Topics) != 1 || len(got.Topics[0].Partitions) != 2 {
		t.Fatalf("two partitions were asked for: %+v", got.Topics)
	}
	if n := len(got.Topics[0].Partitions[0].RecordBatches); n < 1000 || n > 110_000 {
		t.Errorf("the first partition gave %d bytes, not one batch", n)
	}
	if n := len(got.Topics[0].Partitions[1].RecordBatches); n != 0 {
		t.Errorf("the second partition gave %d bytes beyond the limit", n)
	}
}

// TestOffsetsTopicIsATopic: what groups wrote can be consumed by anybody and produced by nobody.
func TestOffsetsTopicIsATopic(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 3, quick...)
	cl := client(t, s, byHand())
	fill(t, cl, "orders", 3)
	into := newSink()
	consumer := consume(t, s, "written", into)
	eventually(t, 20*time.Second, func() error { return committed(t, cl, "written", "orders", allAt(3)) })
	member, generation := consumer.GroupMetadata()
	out := kcat(t, "", "-b", s.KafkaAddrs()[0], "-C", "-t", "__consumer_offsets", "-e", "-q", "-f", "%p %K %S\n%k\n%s\n")
	if !strings.Contains(out, member) || generation < 1 {
		t.Errorf("kcat sees no group record of member %s", member)
	}
	offsets := client(t, s, kgo.ConsumeTopics("__consumer_offsets"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	last := map[int32]int64{}
	eventually(t, 20*time.Second, func() error {
		fetches := offsets.PollFetches(t.Context())
		fetches.EachRecord(func(r *kgo.Record) {
			if want := record.Partition("written", 50); r.Partition != want {
				t.Errorf("a record of the group is in partition %d, not %d", r.Partition, want)
			}
			key, err := record.DecodeKey(r.Key)
			if err != nil {
				t.Fatal(err)
			}
			if key.IsOffset() {
				v, err := record.DecodeOffset(r.Value)
				if err != nil {
					t.Fatal(err)
				}
				last[key.Partition] = v.Offset
			}
		})
		for p := range int32(6) {
			if last[p] != 3 {
				return fmt.Errorf("the topic says %v", last)
			}
		}
		return nil
	})
	err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "__consumer_offsets", Value: []byte("forged")}).FirstErr()
	if err != kerr.InvalidTopicException {
		t.Errorf("producing to __consumer_offsets: %v", err)
	}
}

// TestTopicsAreCreatedOnDemand: by a producer's Metadata, with num.partitions, where both sides allow it.
func TestTopicsAreCreatedOnDemand(t *testing.T) {
	find := func(w *wire, name string, allow bool) kmsg.MetadataResponseTopic {
		request := kmsg.NewPtrMetadataRequest()
		request.Version, request.AllowAutoTopicCreation = 12, allow
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		request.Topics = append(request.Topics, topic)
		return ask[*kmsg.MetadataResponse](w, request).Topics[0]
	}
	w := dial(t, kafkaServer(t, 1, "num.partitions=4").KafkaAddrs()[0])
	if got := find(w, "fresh", false); got.ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("not allowed by the client: %v", kerr.ErrorForCode(got.ErrorCode))
	}
	if got := find(w, "not/a/name", true); got.ErrorCode != kerr.InvalidTopicException.Code {
		t.Errorf("a name that is none: %v", kerr.ErrorForCode(got.ErrorCode))
	}
	made := find(w, "fresh", true)
	if made.ErrorCode != 0 || len(made.Partitions) != 4 || made.TopicID == [16]byte{} {
		t.Errorf("created: %+v", made)
	}
	byID := kmsg.NewPtrMetadataRequest()
	byID.Version = 12
	byID.Topics = append(byID.Topics, kmsg.MetadataRequestTopic{TopicID: made.TopicID}, kmsg.MetadataRequestTopic{TopicID: [16]byte{9}})
	got := ask[*kmsg.MetadataResponse](w, byID).Topics
	if *got[0].Topic != "fresh" || got[1].ErrorCode != kerr.UnknownTopicID.Code || got[1].Topic != nil {
		t.Errorf("by id: %+v", got)
	}
	shut := dial(t, kafkaServer(t, 1, "auto.create.topics.enable=false").KafkaAddrs()[0])
	if got := find(shut, "fresh", true); got.ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("not allowed by the broker: %v", kerr.ErrorForCode(got.ErrorCode))
	}
}

// TestNoAcknowledgement: acks 0 gets no byte back, counts all the same when the client hangs up right away, and an error
// ends the connection.
func TestNoAcknowledgement(t *testing.T) {
	s := kafkaServer(t, 1)
	produce := func(topic string) *kmsg.ProduceRequest {
		r := kmsg.NewPtrProduceRequest()
		r.Version, r.Acks, r.TimeoutMillis = 8, 0, 1000
		part := kmsg.NewProduceRequestTopicPartition()
		part.Records = batch("x")
		r.Topics = append(r.Topics, kmsg.ProduceRequestTopic{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{part}})
		return r
	}
	w := dial(t, s.KafkaAddrs()[0])
	for range 5 {
		w.send(produce("orders"))
	}
	w.Close()
	eventually(t, 5*time.Second, func() error {
		if n := len(fetchAll(t, s, "orders")); n != 5 {
			return fmt.Errorf("%d of 5 batches are there", n)
		}
		return nil
	})
	for range 100 { // who hangs up behind what is wrong ends nobody but itself
		c, err := bare.Dial(s.KafkaAddrs()[0], "gone")
		if err != nil {
			t.Fatal(err)
		}
		c.Send(produce("no-such-topic"), produce("no-such-topic"))
		c.Close()
	}
	wrong := dial(t, s.KafkaAddrs()[0])
	wrong.send(produce("no-such-topic"))
	wrong.closed()
}

// batch packs one value into a record batch.
func batch(value string) []byte {
	r := kmsg.Record{Value: []byte(value)}
	body := r.AppendTo(nil)
	r.Length = int32(len(body) - 1)
	now := time.Now().UnixMilli() // an old record would be gone by retention.ms as soon as a segment is full
	b := kmsg.RecordBatch{Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 1, Records: r.AppendTo(nil),
		FirstTimestamp: now, MaxTimestamp: now}
	raw := b.AppendTo(nil)
	b.Length = int32(len(raw) - 12)
	b.CRC = int32(crc(b.AppendTo(nil)[21:]))
	return b.AppendTo(nil)
}

// TestSlowReader: a client that asks for much and reads nothing costs little and holds up nobody.
func TestSlowReader(t *testing.T) {
	s := kafkaServer(t, 1)
	cl := client(t, s, byHand())
	ensureTopic(t, cl, "wide", 1)
	for range 20 {
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "wide", Value: make([]byte, 900_000)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	request := fetchOf("wide", 0, 0)
	for range 4 {
		w := dial(t, s.KafkaAddrs()[0])
		for range 60 {
			w.send(request) // 60 answers of 10 MB each, that nobody takes
		}
	}
	time.Sleep(500 * time.Millisecond)
	if grown := heap() - before; grown > 200<<20 {
		t.Errorf("four slow readers hold %d MB", grown>>20)
	}
	start := time.Now()
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	ask[*kmsg.MetadataResponse](dial(t, s.KafkaAddrs()[0]), metadata)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("somebody else waited for %v", took)
	}
}
