package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Pitfalls 16 to 25: metadata, produce, fetch and offsets.

func TestPitfall16_TopicIDs(t *testing.T) {
	s := kafkaServer(t, 3)
	seen := map[[16]byte]bool{}
	for _, at := range s.KafkaAddrs() {
		w := dial(t, at)
		r := kmsg.NewPtrMetadataRequest()
		r.Version = 10
		for _, topic := range ask[*kmsg.MetadataResponse](w, r).Topics {
			if topic.TopicID == [16]byte{} {
				t.Errorf("%s has no id", *topic.Topic)
			}
			seen[topic.TopicID] = true
		}
		id := topicOf(t, w, "orders").TopicID
		r.Version, r.Topics = 12, []kmsg.MetadataRequestTopic{{TopicID: id}, {TopicID: [16]byte{9}}}
		rows := ask[*kmsg.MetadataResponse](w, r).Topics
		if rows[0].Topic == nil || *rows[0].Topic != "orders" || len(rows[0].Partitions) != 6 {
			t.Errorf("by id: %+v", rows[0])
		}
		if rows[1].ErrorCode != kerr.UnknownTopicID.Code || rows[1].Topic != nil {
			t.Errorf("an unknown id: %s, %v", name(rows[1].ErrorCode), rows[1].Topic)
		}
		r.Version = 10
		if rows := ask[*kmsg.MetadataResponse](w, r).Topics; rows[0].ErrorCode != kerr.InvalidRequest.Code {
			t.Errorf("by id in v10: %s", name(rows[0].ErrorCode))
		}
	}
	if len(seen) != 1 {
		t.Errorf("three brokers tell %d ids of one topic", len(seen))
	}
}

func TestPitfall17_TopicsOnDemand(t *testing.T) {
	on, off := kafkaServer(t, 1, "num.partitions=2"), kafkaServer(t, 1, "auto.create.topics.enable=false")
	look := func(w *wire, topic string, create bool, version int16) *kmsg.MetadataResponse {
		r := kmsg.NewPtrMetadataRequest()
		r.Version, r.AllowAutoTopicCreation, r.Topics = version, create, []kmsg.MetadataRequestTopic{{Topic: &topic}}
		return ask[*kmsg.MetadataResponse](w, r)
	}
	w := dial(t, on.KafkaAddrs()[0])
	for _, c := range []struct {
		topic   string
		create  bool
		version int16
		code    int16
	}{
		{"never", false, 9, kerr.UnknownTopicOrPartition.Code}, {"wanted", true, 9, 0}, {"older", false, 3, 0}, // below v4 nobody can forbid it
		{"no/name", true, 9, kerr.InvalidTopicException.Code}, {"..", true, 9, kerr.InvalidTopicException.Code},
		{strings.Repeat("x", 250), true, 9, kerr.InvalidTopicException.Code}, {"never", false, 9, kerr.UnknownTopicOrPartition.Code},
	} {
		got := look(w, c.topic, c.create, c.version)
		if row := got.Topics[0]; row.ErrorCode != c.code && row.ErrorCode != kerr.LeaderNotAvailable.Code || c.code == 0 && len(row.Partitions) != 2 {
			t.Errorf("%.20s v%d: %s with %d partitions, want %s", c.topic, c.version, name(row.ErrorCode), len(row.Partitions), name(c.code))
		}
		if !slices.ContainsFunc(got.Brokers, func(b kmsg.MetadataResponseBroker) bool { return b.NodeID == got.ControllerID }) {
			t.Errorf("the controller, %d, is no listed broker", got.ControllerID)
		}
	}
	if got := look(dial(t, off.KafkaAddrs()[0]), "wanted", true, 9).Topics[0]; got.ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("where the broker forbids it: %s", name(got.ErrorCode))
	}
}

func TestPitfall18_AuthorizedOperations(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	const unasked = -1 << 31
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 10
	for _, asked := range []bool{false, true} {
		r.IncludeClusterAuthorizedOperations, r.IncludeTopicAuthorizedOperations = asked, asked
		got := ask[*kmsg.MetadataResponse](w, r)
		if (got.AuthorizedOperations == unasked) == asked || (got.Topics[0].AuthorizedOperations == unasked) == asked {
			t.Errorf("asked for: %v; the cluster's %d, a topic's %d", asked, got.AuthorizedOperations, got.Topics[0].AuthorizedOperations)
		}
		c := kmsg.NewPtrDescribeClusterRequest()
		c.EndpointType, c.IncludeClusterAuthorizedOperations = 1, asked
		if got := ask[*kmsg.DescribeClusterResponse](w, c); (got.ClusterAuthorizedOperations == unasked) == asked {
			t.Errorf("DescribeCluster, asked for: %v; %d", asked, got.ClusterAuthorizedOperations)
		}
	}
	findFirst(t, w, "g")
	d := kmsg.NewPtrDescribeGroupsRequest()
	d.Version, d.Groups = 4, []string{"g"}
	if got := ask[*kmsg.DescribeGroupsResponse](w, d).Groups[0]; got.AuthorizedOperations != unasked {
		t.Errorf("a group's: %d", got.AuthorizedOperations)
	}
}

func TestPitfall20_BatchesAreChecked(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	with := func(change func(b []byte)) []byte {
		b := batch("value")
		change(b)
		binary.BigEndian.PutUint32(b[17:], crc(b[21:]))
		return b
	}
	for _, c := range []struct {
		what  string
		batch []byte
		code  int16
	}{
		{"a right one", with(func([]byte) {}), 0},
		{"a length that is too large", with(func(b []byte) { b[11]++ }), kerr.InvalidRecord.Code},
		{"magic 1", with(func(b []byte) { b[16] = 1 }), kerr.InvalidRecord.Code},
		{"another count", with(func(b []byte) { b[60] = 2 }), kerr.InvalidRecord.Code},
		{"another last offset delta", with(func(b []byte) { b[26] = 1 }), kerr.InvalidRecord.Code},
		{"a control batch", with(func(b []byte) { b[22] |= 0x20 }), kerr.InvalidRecord.Code},
		{"codec 5", with(func(b []byte) { b[22] |= 5 }), kerr.InvalidRecord.Code},
	} {
		if row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, c.batch)).Topics[0].Partitions[0]; row.ErrorCode != c.code {
			t.Errorf("%s: %s, want %s", c.what, name(row.ErrorCode), name(c.code))
		}
	}
	torn := batch("value")
	torn[len(torn)-2] ^= 1
	if row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, torn)).Topics[0].Partitions[0]; row.ErrorCode != kerr.CorruptMessage.Code {
		t.Errorf("a wrong CRC: %s", name(row.ErrorCode))
	}
	packed := snappy(batch(strings.Repeat("again ", 50)), nil, 1)
	binary.BigEndian.PutUint32(packed[12:], 1<<32-1) // no leader yet
	ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, packed))
	stored := ask[*kmsg.FetchResponse](w, fetchOf("orders", 0, 1)).Topics[0].Partitions[0].RecordBatches
	if !bytes.Equal(stored[16:], packed[16:]) || binary.BigEndian.Uint64(stored) != 1 || binary.BigEndian.Uint32(stored[12:]) == binary.BigEndian.Uint32(packed[12:]) {
		t.Errorf("stored as % x, sent as % x: only base offset and leader epoch differ", stored[:16], packed[:16])
	}
	findFirst(t, w, "g")
	if row := ask[*kmsg.ProduceResponse](w, produceOf("__consumer_offsets", 0, batch("x"))).Topics[0].Partitions[0]; row.ErrorCode != kerr.InvalidTopicException.Code {
		t.Errorf("into __consumer_offsets: %s", name(row.ErrorCode))
	}
}

func TestPitfall21_FiveBatchesAreRemembered(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	produce := func(epoch int16, sequence int32) (int64, int16) {
		row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, withProducer(5, epoch, sequence))).Topics[0].Partitions[0]
		return row.BaseOffset, row.ErrorCode
	}
	for i := range int32(6) {
		produce(0, i)
	}
	for i := range int32(6) {
		offset, code := produce(0, i)
		if i == 0 && code != kerr.OutOfOrderSequenceNumber.Code || i > 0 && (code != 0 || offset != int64(i)) {
			t.Errorf("the batch %d of 6 again: %s at %d", i, name(code), offset)
		}
	}
	if _, code := produce(0, 7); code != kerr.OutOfOrderSequenceNumber.Code {
		t.Errorf("one left out: %s", name(code))
	}
	if _, code := produce(1, 0); code != 0 {
		t.Errorf("a new epoch: %s", name(code))
	}
	if _, code := produce(0, 6); code != kerr.InvalidProducerEpoch.Code {
		t.Errorf("the old epoch: %s", name(code))
	}
	if n := latestOf(w, 0); n != 7 {
		t.Errorf("%d records are there, want 7", n)
	}
	if row := ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, withProducer(99, 0, 40))).Topics[0].Partitions[0]; row.ErrorCode != 0 {
		t.Errorf("a producer that is not known, in the middle of its life (KIP-360): %s", name(row.ErrorCode))
	}
}

func TestPitfall22_SessionsMayBeDeclined(t *testing.T) {
	w := dial(t, kafkaServer(t, 1, "max.incremental.fetch.session.cache.slots=0").KafkaAddrs()[0])
	for _, r := range []*kmsg.FetchRequest{in(0, 0, map[int32]int64{0: 0}), in(0, -1, map[int32]int64{0: 0})} {
		if got := ask[*kmsg.FetchResponse](w, r); got.SessionID != 0 || got.ErrorCode != 0 || told(got) != "[0]" {
			t.Errorf("epoch %d: session %d, %s, %s", r.SessionEpoch, got.SessionID, name(got.ErrorCode), told(got))
		}
	}
	if got := ask[*kmsg.FetchResponse](w, in(3, 1, nil)); got.ErrorCode != kerr.FetchSessionIDNotFound.Code {
		t.Errorf("a session that nobody gave: %s", name(got.ErrorCode))
	}
	if got := ask[*kmsg.FetchResponse](w, in(0, 1, nil)); got.ErrorCode != kerr.FetchSessionIDNotFound.Code {
		t.Errorf("an epoch without a session: %s", name(got.ErrorCode))
	}
}

func TestPitfall23_SpecialTimes(t *testing.T) {
	w := dial(t, kafkaServer(t, 1, quick...).KafkaAddrs()[0])
	ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, batch("x")))
	p := transactional(w, "open")
	p.must(p.add(3, 0))
	p.produce(11, 0) // at 1, open
	list := func(version int16, isolation int8, at int64) (int64, int16) {
		r := kmsg.NewPtrListOffsetsRequest()
		r.Version, r.ReplicaID, r.IsolationLevel = version, -1, isolation
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Timestamp = at
		r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "orders", Partitions: []kmsg.ListOffsetsRequestTopicPartition{part}}}
		row := ask[*kmsg.ListOffsetsResponse](w, r).Topics[0].Partitions[0]
		return row.Offset, row.ErrorCode
	}
	for _, c := range []struct {
		version   int16
		isolation int8
		at        int64
		offset    int64
		code      int16
	}{
		{2, 0, -1, 2, 0}, {2, 1, -1, 1, 0}, {10, 1, -1, 1, 0}, {7, 0, -2, 0, 0}, {7, 0, -3, 1, 0}, {6, 0, -3, -1, kerr.UnsupportedVersion.Code},
		{8, 0, -4, 0, 0}, {7, 0, -4, -1, kerr.UnsupportedVersion.Code}, {9, 0, -5, -1, 0}, {8, 0, -5, -1, kerr.UnsupportedVersion.Code},
		{10, 0, -6, -1, kerr.UnsupportedVersion.Code}, {10, 0, -99, -1, kerr.UnsupportedVersion.Code}, {10, 0, 1 << 60, -1, 0}, {10, 0, 1, 0, 0},
	} {
		if offset, code := list(c.version, c.isolation, c.at); offset != c.offset || code != c.code {
			t.Errorf("v%d, isolation %d, at %d: %d, %s; want %d, %s", c.version, c.isolation, c.at, offset, name(code), c.offset, name(c.code))
		}
	}
}

func TestPitfall24_LeaderEpochs(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	old := topicOf(t, w, "orders").Partitions[0]
	ask[*kmsg.ProduceResponse](leaderOf(t, s, "orders", 0), produceOf("orders", 0, batch("x")))
	to := old.Leader%3 + 1
	eventually(t, 5*time.Second, func() error { return s.MoveLeader("orders", 0, to) })
	now := topicOf(t, w, "orders").Partitions[0]
	if now.Leader != to || now.LeaderEpoch != old.LeaderEpoch+1 {
		t.Fatalf("the leader was %+v, and is %+v", old, now)
	}
	at := dial(t, s.KafkaAddrs()[to-1])
	eventually(t, 5*time.Second, func() error { // a new leader says OFFSET_NOT_AVAILABLE until its followers have fetched (KIP-207)
		if n := latestOf(at, 0); n != 1 {
			return fmt.Errorf("the latest offset is %d, want 1", n)
		}
		return nil
	})
	for epoch, want := range map[int32]int16{old.LeaderEpoch: kerr.FencedLeaderEpoch.Code, now.LeaderEpoch + 1: kerr.UnknownLeaderEpoch.Code, now.LeaderEpoch: 0, -1: 0} {
		r := fetchOf("orders", 0, 0)
		r.Version, r.Topics[0].Partitions[0].CurrentLeaderEpoch = 12, epoch
		row := ask[*kmsg.FetchResponse](at, r).Topics[0].Partitions[0]
		if row.ErrorCode != want {
			t.Errorf("Fetch in epoch %d: %s, told of %+v; want %s", epoch, name(row.ErrorCode), row.CurrentLeader, name(want))
		}
		l := kmsg.NewPtrListOffsetsRequest()
		l.Version, l.ReplicaID = 4, -1
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Timestamp, part.CurrentLeaderEpoch = -1, epoch
		l.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "orders", Partitions: []kmsg.ListOffsetsRequestTopicPartition{part}}}
		if row := ask[*kmsg.ListOffsetsResponse](at, l).Topics[0].Partitions[0]; row.ErrorCode != want || want == 0 && row.LeaderEpoch != now.LeaderEpoch {
			t.Errorf("ListOffsets in epoch %d: %s, of epoch %d; want %s", epoch, name(row.ErrorCode), row.LeaderEpoch, name(want))
		}
		e := kmsg.NewPtrOffsetForLeaderEpochRequest()
		e.Version, e.ReplicaID = 3, -2
		ended := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		ended.CurrentLeaderEpoch, ended.LeaderEpoch = epoch, old.LeaderEpoch
		e.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{ended}}}
		if row := ask[*kmsg.OffsetForLeaderEpochResponse](at, e).Topics[0].Partitions[0]; row.ErrorCode != want || want == 0 && (row.LeaderEpoch != old.LeaderEpoch || row.EndOffset != 1) {
			t.Errorf("OffsetForLeaderEpoch in epoch %d: %s, epoch %d ends at %d; want %s", epoch, name(row.ErrorCode), row.LeaderEpoch, row.EndOffset, name(want))
		}
	}
}

func TestPitfall25_NobodyIsThrottled(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	for key, k := range advertised(t, s) {
		request := kmsg.RequestForKey(key)
		if d, ok := request.(interface{ Default() }); ok {
			d.Default()
		}
		request.SetVersion(k.MaxVersion)
		switch r := request.(type) {
		case *kmsg.ApiVersionsRequest:
			r.ClientSoftwareName, r.ClientSoftwareVersion = "e2e", "1"
		case *kmsg.ProduceRequest:
			r.Acks = 1
		}
		start := time.Now()
		answer := ask[kmsg.Response](dial(t, s.KafkaAddrs()[0]), request)
		if throttle, ok := answer.(kmsg.ThrottleResponse); ok {
			if ms, _ := throttle.Throttle(); ms != 0 {
				t.Errorf("%s is throttled for %d ms", kmsg.NameForKey(key), ms)
			}
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", kmsg.NameForKey(key), took)
		}
	}
}

// TestPitfall42_EmptyIsNotNull: lists of eligible leader replicas are there and empty, in bytes.
func TestPitfall42_EmptyIsNotNull(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	r := kmsg.NewPtrDescribeTopicPartitionsRequest()
	r.Topics, r.ResponsePartitionLimit = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "orders"}}, 2000
	w.send(r)
	_, body, err := w.frame()
	if err != nil {
		t.Fatal(err)
	}
	// partition 0: leader 1, epoch 0, replicas [1], isr [1], then three lists that are empty (1) and not null (0), and no tags
	want := []byte{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 1, 1, 0}
	if !bytes.Contains(body, want) {
		t.Errorf("no partition is written as %s in %s", fmt.Sprintf("% x", want), fmt.Sprintf("% x", body))
	}
}
