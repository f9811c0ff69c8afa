package e2e

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
)

// The pitfalls that break naive servers, each under its number. 1 to 15 are about frames, headers and what is advertised.

// advertised is what ApiVersions says.
func advertised(t testing.TB, s *app.Server) map[int16]kmsg.ApiVersionsResponseApiKey {
	t.Helper()
	rows := map[int16]kmsg.ApiVersionsResponseApiKey{}
	for _, k := range ask[*kmsg.ApiVersionsResponse](dial(t, s.KafkaAddrs()[0]), kmsg.NewPtrApiVersionsRequest()).ApiKeys {
		rows[k.ApiKey] = k
	}
	return rows
}

func (w *wire) alive() {
	w.t.Helper()
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 9
	if len(ask[*kmsg.MetadataResponse](w, r).Brokers) == 0 {
		w.t.Fatal("the server lists no broker")
	}
}

func TestPitfall01_KeyAndVersionBeforeTheBody(t *testing.T) {
	s := kafkaServer(t, 1)
	bystander := dial(t, s.KafkaAddrs()[0])
	for key := int16(76); key < 140; key += 7 { // 15 bytes each
		w := dial(t, s.KafkaAddrs()[0])
		w.raw(frameOf(headerOf(key, 0)))
		w.closed()
	}
	w := dial(t, s.KafkaAddrs()[0])
	w.raw(frameOf(append(headerOf(18, 99), 0xff, 0xff, 0xff, 0xff))) // a body of no known version
	if got := receive[*kmsg.ApiVersionsResponse](w, 1, kmsg.NewPtrApiVersionsRequest()); got.ErrorCode != kerr.UnsupportedVersion.Code {
		t.Errorf("ApiVersions v99: %s", name(got.ErrorCode))
	}
	bystander.alive()
}

func TestPitfall02_DowngradeInTheLayoutOfV0(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	for _, version := range []int16{5, 6, 99, 32767} {
		w.raw(frameOf(append(headerOf(18, version), 0)))
		_, body, err := w.frame()
		if err != nil {
			t.Fatal(err)
		}
		want := []byte{0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 4}
		if !bytes.Equal(body, want) {
			t.Errorf("v%d is answered % x, want % x", version, body, want)
		}
	}
	w.alive() // the connection stays
	for _, other := range [][2]int16{{3, 14}, {11, 10}, {2, 0}, {8, 1}} {
		w := dial(t, s.KafkaAddrs()[0])
		w.raw(frameOf(headerOf(other[0], other[1])))
		w.closed()
	}
}

func TestPitfall03_ApiVersionsKeepsHeaderV0(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	for _, version := range []int16{3, 4} {
		r := kmsg.NewPtrApiVersionsRequest()
		r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = version, "x", "1"
		w.send(r)
		_, body, err := w.frame()
		if err != nil {
			t.Fatal(err)
		}
		answer := kmsg.NewPtrApiVersionsResponse()
		answer.Version = version
		if err := answer.ReadFrom(body); err != nil || answer.ErrorCode != 0 || len(answer.ApiKeys) < 20 {
			t.Errorf("v%d read without header tags: %v, %d keys", version, err, len(answer.ApiKeys))
		}
	}
}

func TestPitfall04_HeaderTagsAndClientIDs(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	body := kmsg.NewPtrMetadataRequest()
	body.Version, body.Topics = 9, []kmsg.MetadataRequestTopic{}
	for what, clientID := range map[string][]byte{"null": {0xff, 0xff}, "empty": {0, 0}, "a name": {0, 1, 'x'}} {
		for _, tags := range [][]byte{{0}, {1, 0, 3, 'a', 'b', 'c'}, {2, 5, 0, 9, 1, 7}} {
			frame := append([]byte{0, 3, 0, 9, 0, 0, 0, 77}, clientID...)
			frame = append(append(frame, tags...), body.AppendTo(nil)...)
			w.raw(frameOf(frame))
			if got := receive[*kmsg.MetadataResponse](w, 77, body); len(got.Brokers) != 1 {
				t.Errorf("client id %s, tags % x: %d brokers", what, tags, len(got.Brokers))
			}
		}
	}
}

func TestPitfall05_FramesAreCapped(t *testing.T) {
	s := kafkaServer(t, 1)
	before := heap()
	for _, head := range [][]byte{{0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, []byte("GET "), {0, 0, 0, 0}, {6, 0x40, 0, 1}} {
		w := dial(t, s.KafkaAddrs()[0])
		w.raw(head)
		w.closed()
	}
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("five bogus lengths cost %d bytes", grown)
	}
	dial(t, s.KafkaAddrs()[0]).alive()
}

func TestPitfall06_AnswersInOrder(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	slow := fetchOf("orders", 0, 0)
	slow.MaxWaitMillis = 300
	quickOnes := kmsg.NewPtrMetadataRequest()
	quickOnes.Version = 9
	sent := []kmsg.Request{quickOnes, slow}
	for range 200 {
		sent = append(sent, quickOnes)
	}
	first := w.send(sent...) - int32(len(sent)) + 1
	for i, r := range sent {
		receive[kmsg.Response](w, first+int32(i), r)
	}
}

func TestPitfall07_MaxBytesButOneBatch(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	large := string(make([]byte, 1000))
	for p := range int32(2) {
		for range 3 {
			ask[*kmsg.ProduceResponse](w, produceOf("orders", p, batch(large)))
		}
	}
	sizes := func(maxBytes, partitionMax int32) (list []int) {
		r := fetchOf("orders", 0, 0)
		r.MaxBytes = maxBytes
		r.Topics[0].Partitions = append(r.Topics[0].Partitions, fetchOf("orders", 1, 0).Topics[0].Partitions[0])
		for i := range r.Topics[0].Partitions {
			r.Topics[0].Partitions[i].PartitionMaxBytes = partitionMax
		}
		for _, row := range ask[*kmsg.FetchResponse](w, r).Topics[0].Partitions {
			list = append(list, len(row.RecordBatches)/len(batch(large)))
		}
		return list
	}
	for _, c := range []struct {
		maxBytes, partitionMax int32
		want                   string
	}{{1, 1, "[1 0]"}, {1 << 20, 1, "[1 0]"}, {1, 1 << 20, "[1 0]"}, {2500, 1 << 20, "[2 0]"}, {1 << 20, 2500, "[2 2]"}, {1 << 20, 1 << 20, "[3 3]"}, {4000, 1 << 20, "[3 0]"}} {
		if got := fmt.Sprint(sizes(c.maxBytes, c.partitionMax)); got != c.want {
			t.Errorf("%d bytes at most, %d for each partition: %s batches, want %s", c.maxBytes, c.partitionMax, got, c.want)
		}
	}
}

func TestPitfall08_NoAnswerToAcks0(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	silent := produceOf("orders", 0, batch("x"))
	silent.Acks = 0
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	last := w.send(silent, silent, metadata)
	receive[*kmsg.MetadataResponse](w, last, metadata) // nothing comes before it
	if n := latestOf(w, 0); n != 2 {
		t.Errorf("%d records were written, want 2", n)
	}
}

func TestPitfall09_SoftwareNames(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	for software, right := range map[string]bool{"a": true, "apache-kafka-java": true, "4.0.0-SNAPSHOT": true, "": false, "-a": false, "a-": false, "a b": false, "a_b": false, "ä": false, "a\n": false} {
		for _, r := range []*kmsg.ApiVersionsRequest{{Version: 3, ClientSoftwareName: software, ClientSoftwareVersion: "1"}, {Version: 4, ClientSoftwareName: "x", ClientSoftwareVersion: software}} {
			if got := ask[*kmsg.ApiVersionsResponse](w, r); (got.ErrorCode == 0) != right || !right && got.ErrorCode != kerr.InvalidRequest.Code {
				t.Errorf("%q: %s", software, name(got.ErrorCode))
			}
		}
	}
}

func TestPitfall10_ProduceIsAdvertisedFromZero(t *testing.T) {
	s := kafkaServer(t, 1)
	if k := advertised(t, s)[0]; k.MinVersion != 0 || k.MaxVersion > 11 {
		t.Errorf("Produce is advertised from v%d to v%d", k.MinVersion, k.MaxVersion)
	}
	for version := int16(0); version < 3; version++ { // TestCompressionIsKept has kcat do it
		w := dial(t, s.KafkaAddrs()[0])
		w.raw(frameOf(append(headerOf(0, version), 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)))
		w.closed()
	}
}

func TestPitfall11_SASLHandshakeFromZero(t *testing.T) {
	s := lockedServer(t, nil)
	if k := advertised(t, s)[17]; k.MinVersion != 0 || k.MaxVersion != 1 {
		t.Errorf("SaslHandshake is advertised from v%d to v%d", k.MinVersion, k.MaxVersion)
	}
	w := dial(t, s.KafkaAddrs()[0])
	shake := kmsg.NewPtrSASLHandshakeRequest()
	shake.Mechanism = "PLAIN"
	if got := ask[*kmsg.SASLHandshakeResponse](w, shake); got.ErrorCode != 0 { // the first frame of all
		t.Fatal(name(got.ErrorCode))
	}
	w.token("\x00bob\x00hunter2")
	w.alive()
}

func TestPitfall12_LowVersionsOfGroups(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	at := advertised(t, s)
	for key, highest := range map[int16]int16{10: 0, 11: 0, 12: 0, 13: 0, 14: 0, 9: 1, 8: 2, 2: 1, 3: 0} {
		if at[key].MinVersion > highest {
			t.Errorf("%s is advertised from v%d; kafka-go needs v%d", kmsg.NameForKey(key), at[key].MinVersion, highest)
		}
	}
	w := dial(t, s.KafkaAddrs()[0]) // kafka-go: v0 without ApiVersions before it
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = "g"
	eventually(t, 5*time.Second, func() error {
		return kerr.ErrorForCode(ask[*kmsg.FindCoordinatorResponse](w, find).ErrorCode)
	})
	join := joinOf("g")
	join.Version = 2
	joined := ask[*kmsg.JoinGroupResponse](w, join)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = "g", joined.Generation, joined.MemberID
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte("mine")}}
	if got := ask[*kmsg.SyncGroupResponse](w, sync); got.ErrorCode != 0 || string(got.MemberAssignment) != "mine" {
		t.Errorf("SyncGroup v0: %s", name(got.ErrorCode))
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.Generation, beat.MemberID = "g", joined.Generation, joined.MemberID
	commit := commitOf("g", joined.Generation, joined.MemberID, 2)
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version, fetch.Group, fetch.Topics = 1, "g", []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = "g", joined.MemberID
	if code := ask[*kmsg.HeartbeatResponse](w, beat).ErrorCode; code != 0 {
		t.Errorf("Heartbeat v0: %s", name(code))
	}
	if code := ask[*kmsg.OffsetCommitResponse](w, commit).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Errorf("OffsetCommit v2: %s", name(code))
	}
	if row := ask[*kmsg.OffsetFetchResponse](w, fetch).Topics[0].Partitions[0]; row.ErrorCode != 0 || row.Offset != 7 {
		t.Errorf("OffsetFetch v1: %s at %d", name(row.ErrorCode), row.Offset)
	}
	if code := ask[*kmsg.LeaveGroupResponse](w, leave).ErrorCode; code != 0 {
		t.Errorf("LeaveGroup v0: %s", name(code))
	}
}

// commitOf commits offset 7 of orders-0.
func commitOf(group string, generation int32, member string, version int16) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.Generation, r.MemberID = version, group, generation, member
	part := kmsg.NewOffsetCommitRequestTopicPartition()
	part.Offset = 7
	r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{part}}}
	return r
}

func TestPitfall13_MechanismsAfterSuccess(t *testing.T) {
	s := lockedServer(t, nil)
	for version := int16(0); version <= 1; version++ {
		shake := kmsg.NewPtrSASLHandshakeRequest()
		shake.Version, shake.Mechanism = version, "SCRAM-SHA-512"
		if got := ask[*kmsg.SASLHandshakeResponse](dial(t, s.KafkaAddrs()[0]), shake); got.ErrorCode != 0 || fmt.Sprint(got.SupportedMechanisms) != "[PLAIN SCRAM-SHA-256 SCRAM-SHA-512]" {
			t.Errorf("v%d: %s %v", version, name(got.ErrorCode), got.SupportedMechanisms)
		}
	}
}

func TestPitfall14_NoTelemetry(t *testing.T) {
	at := advertised(t, kafkaServer(t, 1))
	for _, key := range []int16{71, 72, 74} {
		if k, there := at[key]; there {
			t.Errorf("%s is advertised: %+v", kmsg.NameForKey(key), k)
		}
	}
}

func TestPitfall15_NothingIsPromised(t *testing.T) {
	s := kafkaServer(t, 1)
	r := kmsg.NewPtrApiVersionsRequest()
	r.Version, r.ClientSoftwareName, r.ClientSoftwareVersion = 4, "x", "1"
	got := ask[*kmsg.ApiVersionsResponse](dial(t, s.KafkaAddrs()[0]), r)
	if len(got.SupportedFeatures) != 0 || len(got.FinalizedFeatures) != 0 || got.FinalizedFeaturesEpoch != -1 {
		t.Errorf("features: %+v, %+v", got.SupportedFeatures, got.FinalizedFeatures)
	}
	at := advertised(t, s)
	for key, most := range map[int16]int16{0: 11, 26: 4, 28: 4, 24: 3, 8: 9, 9: 9} {
		if at[key].MaxVersion > most {
			t.Errorf("%s is advertised up to v%d; without what comes with it v%d is the last", kmsg.NameForKey(key), at[key].MaxVersion, most)
		}
	}
}

// TestPitfall19_AdvertisedIsNotBound: clients are told another address than the one that is listened on.
func TestPitfall19_AdvertisedIsNotBound(t *testing.T) {
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Advertise: "kafka.example:9092", Brokers: 2, Topics: []app.Topic{{Name: "orders", Partitions: 1}}})
	w := dial(t, s.KafkaAddrs()[0])
	r := kmsg.NewPtrMetadataRequest()
	r.Version = 9
	var told []string
	for _, b := range ask[*kmsg.MetadataResponse](w, r).Brokers {
		told = append(told, fmt.Sprintf("%d %s:%d %v", b.NodeID, b.Host, b.Port, b.Rack == nil))
	}
	if fmt.Sprint(told) != "[1 kafka.example:9092 true 2 kafka.example:9093 true]" {
		t.Errorf("told %v", told)
	}
	findFirst(t, w, "g")
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 3, "g"
	if got := ask[*kmsg.FindCoordinatorResponse](w, find); got.Host != "kafka.example" {
		t.Errorf("the coordinator is at %s", got.Host)
	}
	same := startServer(t, app.Config{Kafka: "127.0.0.1:0", Advertise: "localhost:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 1}}})
	cl := client(t, same)
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: []byte("x")}).FirstErr(); err != nil {
		t.Errorf("through the advertised name: %v", err)
	}
}
