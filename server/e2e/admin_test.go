package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestDeleteTopics: by name and by id; who waits to read is told; what groups committed goes; a topic of the same name is
// another one.
func TestDeleteTopics(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	cl := client(t, s)
	admin := kadm.NewClient(cl)
	if _, err := admin.CommitOffsets(t.Context(), "g", offsetsOf("orders", 0, 5)); err != nil {
		t.Fatal(err)
	}
	before := topicOf(t, w, "orders")
	waiting := dial(t, s.KafkaAddrs()[0])
	poll := fetchOf("", 0, 0)
	poll.Version, poll.Topics[0].TopicID, poll.MaxWaitMillis = 13, before.TopicID, 20_000
	polled := waiting.send(poll)
	remove := func(version int16, topics ...kmsg.DeleteTopicsRequestTopic) []kmsg.DeleteTopicsResponseTopic {
		t.Helper()
		r := kmsg.NewPtrDeleteTopicsRequest()
		r.Version, r.Topics = version, topics
		for _, one := range topics {
			if version < 6 {
				r.TopicNames = append(r.TopicNames, *one.Topic)
			}
		}
		return ask[*kmsg.DeleteTopicsResponse](w, r).Topics
	}
	named := func(name string) kmsg.DeleteTopicsRequestTopic { return kmsg.DeleteTopicsRequestTopic{Topic: &name} }
	byID := func(id [16]byte) kmsg.DeleteTopicsRequestTopic { return kmsg.DeleteTopicsRequestTopic{TopicID: id} }
	for _, c := range []struct {
		what   string
		topics []kmsg.DeleteTopicsRequestTopic
		code   int16
	}{
		{"an unknown name", []kmsg.DeleteTopicsRequestTopic{named("nothing")}, kerr.UnknownTopicOrPartition.Code},
		{"an unknown id", []kmsg.DeleteTopicsRequestTopic{byID([16]byte{1})}, kerr.UnknownTopicID.Code},
		{"nothing at all", []kmsg.DeleteTopicsRequestTopic{{}}, kerr.InvalidRequest.Code},
		{"name and id", []kmsg.DeleteTopicsRequestTopic{{Topic: before.Topic, TopicID: before.TopicID}}, kerr.InvalidRequest.Code},
		{"twice, by name and by id", []kmsg.DeleteTopicsRequestTopic{named("orders"), byID(before.TopicID)}, kerr.InvalidRequest.Code},
	} {
		if rows := remove(6, c.topics...); rows[0].ErrorCode != c.code || rows[0].ErrorMessage == nil {
			t.Errorf("%s: %s, want %s with a message", c.what, name(rows[0].ErrorCode), name(c.code))
		}
	}
	if row := remove(6, byID(before.TopicID))[0]; row.ErrorCode != 0 || row.Topic == nil || *row.Topic != "orders" {
		t.Errorf("by id: %s, %+v", name(row.ErrorCode), row)
	}
	if row := receive[*kmsg.FetchResponse](waiting, polled, poll).Topics[0].Partitions[0]; row.ErrorCode != kerr.UnknownTopicID.Code {
		t.Errorf("who waited to read is told %s", name(row.ErrorCode))
	}
	ensureTopic(t, cl, "orders", 6)
	if after := topicOf(t, w, "orders"); after.TopicID == before.TopicID {
		t.Error("the new topic has the old one's id")
	}
	eventually(t, 5*time.Second, func() error {
		got, err := admin.FetchOffsets(t.Context(), "g")
		if o, ok := got.Lookup("orders", 0); err != nil || ok && o.At >= 0 {
			return fmt.Errorf("the group still has committed %d (%v)", o.At, err)
		}
		return nil
	})
	if row := remove(1, named("orders"))[0]; row.ErrorCode != 0 {
		t.Errorf("v1: %s", name(row.ErrorCode))
	}
}

func offsetsOf(topic string, partition int32, at int64) kadm.Offsets {
	var o kadm.Offsets
	o.AddOffset(topic, partition, at, -1)
	return o
}

// topicOf asks for a topic's description.
func topicOf(t testing.TB, w *wire, topic string) kmsg.MetadataResponseTopic {
	t.Helper()
	r := kmsg.NewPtrMetadataRequest()
	r.Version, r.Topics = 12, []kmsg.MetadataRequestTopic{{Topic: &topic}}
	return ask[*kmsg.MetadataResponse](w, r).Topics[0]
}

// TestGroupsAreDeleted through kadm: only those without members, and single offsets of topics that nobody reads.
func TestGroupsAreDeleted(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	cl := client(t, s)
	admin := kadm.NewClient(cl)
	fill(t, client(t, s, byHand()), "orders", 2)
	ensureTopic(t, cl, "other", 1)
	for _, group := range []string{"gone", "busy"} {
		if _, err := admin.CommitOffsets(t.Context(), group, offsetsOf("other", 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	into := newSink()
	consume(t, s, "busy", into)
	eventually(t, 10*time.Second, func() error {
		if !into.has("0-0") {
			return fmt.Errorf("the consumer has read nothing yet")
		}
		return nil
	})
	deleted, err := admin.DeleteGroups(t.Context(), "gone", "busy", "never")
	if err == nil && deleted["gone"].Err != nil {
		err = deleted["gone"].Err
	}
	if err != nil || deleted["busy"].Err != kerr.NonEmptyGroup || deleted["never"].Err != kerr.GroupIDNotFound {
		t.Errorf("deleting groups: %v, %+v", err, deleted)
	}
	var set kadm.TopicsSet
	set.Add("orders", 0)
	set.Add("other", 0)
	offsets, err := admin.DeleteOffsets(t.Context(), "busy", set)
	if err != nil || offsets["orders"][0] != kerr.GroupSubscribedToTopic || offsets["other"][0] != nil {
		t.Errorf("deleting offsets: %v, %+v", err, offsets)
	}
	if _, err := admin.DeleteOffsets(t.Context(), "never", set); err != kerr.GroupIDNotFound {
		t.Errorf("of a group that is not there: %v", err)
	}
}

// TestSettingsOfTopics: each kind of change works and shows its source; each wrong one says why and changes nothing.
func TestSettingsOfTopics(t *testing.T) {
	s := kafkaServer(t, 1, "message.max.bytes=5000")
	w := dial(t, s.KafkaAddrs()[0])
	describe := func(name string) kmsg.DescribeConfigsResponseResourceConfig {
		t.Helper()
		r := kmsg.NewPtrDescribeConfigsRequest()
		r.Version, r.IncludeSynonyms = 4, true
		r.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "orders", ConfigNames: []string{name}}}
		return ask[*kmsg.DescribeConfigsResponse](w, r).Resources[0].Configs[0]
	}
	alter := func(validateOnly bool, changes ...kmsg.IncrementalAlterConfigsRequestResourceConfig) (int16, string) {
		t.Helper()
		r := kmsg.NewPtrIncrementalAlterConfigsRequest()
		r.Version, r.ValidateOnly = 1, validateOnly
		r.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "orders", Configs: changes}}
		row := ask[*kmsg.IncrementalAlterConfigsResponse](w, r).Resources[0]
		if row.ErrorMessage == nil {
			return row.ErrorCode, ""
		}
		return row.ErrorCode, *row.ErrorMessage
	}
	type change = kmsg.IncrementalAlterConfigsRequestResourceConfig
	value := func(v string) *string { return &v }
	produce := func(size int) int16 {
		return ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, batch(string(make([]byte, size))))).Topics[0].Partitions[0].ErrorCode
	}
	if got := describe("max.message.bytes"); *got.Value != "5000" || got.Source != kmsg.ConfigSourceStaticBrokerConfig || got.ConfigSynonyms[0].Name != "message.max.bytes" || got.ReadOnly || got.ConfigType != kmsg.ConfigTypeInt {
		t.Errorf("what the brokers say: %+v", got)
	}
	if code, _ := alter(true, change{Name: "max.message.bytes", Value: value("500")}); code != 0 || produce(600) != 0 {
		t.Errorf("only validating: %s, and a batch of 600 bytes must pass", name(code))
	}
	if code, _ := alter(false, change{Name: "max.message.bytes", Value: value("500")}); code != 0 || produce(600) != kerr.MessageTooLarge.Code || produce(100) != 0 {
		t.Errorf("setting it: %s, and a batch of 600 bytes must not pass", name(code))
	}
	if got := describe("max.message.bytes"); *got.Value != "500" || got.Source != kmsg.ConfigSourceDynamicTopicConfig || len(got.ConfigSynonyms) != 3 || *got.ConfigSynonyms[1].Value != "5000" || got.ConfigSynonyms[2].Source != kmsg.ConfigSourceDefaultConfig {
		t.Errorf("what the topic says: %+v", got)
	}
	alter(false, change{Name: "cleanup.policy", Op: kmsg.IncrementalAlterConfigOpAppend, Value: value("compact")})
	if got := describe("cleanup.policy"); *got.Value != "delete,compact" {
		t.Errorf("appending to a list: %s", *got.Value)
	}
	if produce(100) != kerr.InvalidRecord.Code {
		t.Error("a record without a key passes into a compacted topic")
	}
	alter(false, change{Name: "cleanup.policy", Op: kmsg.IncrementalAlterConfigOpSubtract, Value: value("compact")}, change{Name: "max.message.bytes", Op: kmsg.IncrementalAlterConfigOpDelete})
	if got := describe("cleanup.policy"); *got.Value != "delete" || produce(600) != 0 {
		t.Errorf("taken back: %s, and a batch of 600 bytes must pass", *got.Value)
	}
	for _, c := range []struct {
		what    string
		changes []change
		code    int16
	}{
		{"an unknown name", []change{{Name: "retention.sm", Value: value("1")}}, kerr.InvalidConfig.Code},
		{"a wrong value", []change{{Name: "retention.ms", Value: value("long")}}, kerr.InvalidConfig.Code},
		{"appending to a number", []change{{Name: "retention.ms", Op: 2, Value: value("1")}}, kerr.InvalidConfig.Code},
		{"no value", []change{{Name: "retention.ms"}}, kerr.InvalidRequest.Code},
		{"a name twice", []change{{Name: "retention.ms", Value: value("1")}, {Name: "retention.ms", Value: value("2")}}, kerr.InvalidRequest.Code},
		{"a strange operation", []change{{Name: "retention.ms", Op: 9, Value: value("1")}}, kerr.InvalidRequest.Code},
	} {
		if code, message := alter(false, c.changes...); code != c.code || message == "" {
			t.Errorf("%s: %s (%q), want %s", c.what, name(code), message, name(c.code))
		}
	}
	whole := kmsg.NewPtrAlterConfigsRequest()
	whole.Version = 2
	set := func(pairs ...string) {
		t.Helper()
		r := kmsg.AlterConfigsRequestResource{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "orders"}
		for i := 0; i < len(pairs); i += 2 {
			r.Configs = append(r.Configs, kmsg.AlterConfigsRequestResourceConfig{Name: pairs[i], Value: &pairs[i+1]})
		}
		whole.Resources = []kmsg.AlterConfigsRequestResource{r}
		if row := ask[*kmsg.AlterConfigsResponse](w, whole).Resources[0]; row.ErrorCode != 0 {
			t.Fatal(*row.ErrorMessage)
		}
	}
	set("retention.ms", "60000", "min.insync.replicas", "1")
	set("retention.bytes", "1000000")
	if a, b := describe("retention.ms"), describe("retention.bytes"); *a.Value != "604800000" || *b.Value != "1000000" {
		t.Errorf("AlterConfigs leaves what it does not name: retention.ms %s, retention.bytes %s", *a.Value, *b.Value)
	}
}

// TestSettingsOfBrokers: what Kafka lets be changed while brokers run works at once and for all; the rest is read-only.
func TestSettingsOfBrokers(t *testing.T) {
	s := kafkaServer(t, 3, "offsets.topic.num.partitions=10")
	cl := client(t, s, kgo.ProducerBatchCompression(kgo.NoCompression()))
	admin := kadm.NewClient(cl)
	show := func(broker int32, setting string) (value string, source kmsg.ConfigSource) {
		t.Helper()
		list, err := admin.DescribeBrokerConfigs(t.Context(), broker)
		if err != nil || list[0].Err != nil {
			t.Fatal(err, list)
		}
		for _, c := range list[0].Configs {
			if c.Key == setting {
				return c.MaybeValue(), c.Source
			}
		}
		t.Fatalf("broker %d does not tell %s", broker, setting)
		return "", 0
	}
	if v, source := show(2, "offsets.topic.num.partitions"); v != "10" || source != kmsg.ConfigSourceStaticBrokerConfig {
		t.Errorf("given at the start: %s from %s", v, source)
	}
	if v, source := show(3, "node.id"); v != "3" || source != kmsg.ConfigSourceStaticBrokerConfig {
		t.Errorf("node.id: %s from %s", v, source)
	}
	change := func(setting, value string, op kadm.IncrementalOp) error {
		t.Helper()
		rows, err := admin.AlterBrokerConfigs(t.Context(), []kadm.AlterConfig{{Op: op, Name: setting, Value: &value}})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0].Err
	}
	large := func() error {
		return cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Value: make([]byte, 3000)}).FirstErr()
	}
	if err := change("message.max.bytes", "2000", kadm.SetConfig); err != nil {
		t.Error(err)
	}
	if err := large(); !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("3000 bytes must not pass: %v", err)
	}
	if v, source := show(1, "message.max.bytes"); v != "2000" || source != kmsg.ConfigSourceDynamicDefaultBrokerConfig {
		t.Errorf("told to all: %s from %s", v, source)
	}
	if list, err := admin.DescribeBrokerConfigs(t.Context()); err != nil || len(list[0].Configs) != 1 {
		t.Errorf("what all were told: %v, %+v", err, list)
	}
	if err := change("message.max.bytes", "", kadm.DeleteConfig); err != nil || large() != nil {
		t.Errorf("taken back: %v, and 3000 bytes must pass", err)
	}
	for _, c := range []struct {
		setting, value string
		want           error
	}{
		{"offsets.topic.num.partitions", "20", kerr.InvalidRequest}, {"message.max.bytes", "many", kerr.InvalidRequest},
		{"message.max", "1", kerr.InvalidConfig}, {"min.insync.replicas", "0", kerr.InvalidRequest},
	} {
		if err := change(c.setting, c.value, kadm.SetConfig); err != c.want {
			t.Errorf("%s=%s: %v, want %v", c.setting, c.value, err, c.want)
		}
	}
}

// TestPartitionsMove through kadm: a topic goes to other brokers and its preferred leaders lead; the records are there.
func TestPartitionsMove(t *testing.T) {
	t.Parallel()
	s := kafkaServer(t, 4, quick...)
	cl := client(t, s)
	admin := kadm.NewClient(cl)
	w := dial(t, s.KafkaAddrs()[0])
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version = 7
	create.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "moving", NumPartitions: -1, ReplicationFactor: -1,
		ReplicaAssignment: []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Replicas: []int32{1, 2}}}}}
	created := ask[*kmsg.CreateTopicsResponse](w, create).Topics[0]
	if created.ErrorCode != 0 || !slices.ContainsFunc(created.Configs, func(c kmsg.CreateTopicsResponseTopicConfig) bool {
		return c.Name == "retention.ms" && *c.Value == "604800000"
	}) {
		t.Fatalf("creating: %+v", created)
	}
	produce := func(value string) {
		t.Helper()
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "moving", Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	produce("before")
	var to kadm.AlterPartitionAssignmentsReq
	to.Assign("moving", 0, []int32{3, 4})
	if got, err := admin.AlterPartitionAssignments(t.Context(), to); err != nil || got.Error() != nil {
		t.Fatal(err, got.Error())
	}
	eventually(t, 10*time.Second, func() error {
		p := topicOf(t, w, "moving").Partitions[0]
		if p.Leader != 3 || !slices.Equal(p.Replicas, []int32{3, 4}) || len(p.ISR) != 2 {
			return fmt.Errorf("the partition is %+v", p)
		}
		return nil
	})
	list := kmsg.NewPtrListPartitionReassignmentsRequest()
	if got := ask[*kmsg.ListPartitionReassignmentsResponse](w, list); len(got.Topics) != 0 {
		t.Errorf("it has moved, and is still listed: %+v", got.Topics)
	}
	produce("after")
	sum := 0
	for _, b := range fetchAll(t, s, "moving") {
		sum += int(b.NumRecords)
	}
	if sum != 2 {
		t.Errorf("%d records are there, want 2", sum)
	}
	if got, err := admin.ElectLeaders(t.Context(), kadm.ElectPreferredReplica, kadm.TopicsSet{"moving": {0: {}}}); err != nil || got["moving"][0].Err != kerr.ElectionNotNeeded {
		t.Errorf("electing who leads: %v, %+v", err, got)
	}
	more := kmsg.NewPtrCreatePartitionsRequest()
	more.Version, more.Topics = 3, []kmsg.CreatePartitionsRequestTopic{{Topic: "moving", Count: 2, Assignment: []kmsg.CreatePartitionsRequestTopicAssignment{{Replicas: []int32{2, 1}}}}}
	if row := ask[*kmsg.CreatePartitionsResponse](w, more).Topics[0]; row.ErrorCode != 0 {
		t.Errorf("a partition placed by hand: %s", name(row.ErrorCode))
	}
	if p := topicOf(t, w, "moving").Partitions[1]; !slices.Equal(p.Replicas, []int32{2, 1}) {
		t.Errorf("it was placed at %v", p.Replicas)
	}
	dirs := kmsg.NewPtrDescribeLogDirsRequest()
	dirs.Version, dirs.Topics = 4, []kmsg.DescribeLogDirsRequestTopic{{Topic: "moving", Partitions: []int32{0, 1}}}
	for broker, want := range map[int]int{0: 1, 2: 1, 3: 1} {
		got := ask[*kmsg.DescribeLogDirsResponse](dial(t, s.KafkaAddrs()[broker]), dirs).Dirs[0]
		if len(got.Topics) != 1 || len(got.Topics[0].Partitions) != want || broker > 1 && got.Topics[0].Partitions[0].Size == 0 {
			t.Errorf("broker %d has %+v, want %d partition", broker+1, got.Topics, want)
		}
	}
}

// TestDeleteRecordsOverTheWire moves the start of a partition, and says so to who reads before it.
func TestDeleteRecordsOverTheWire(t *testing.T) {
	s := kafkaServer(t, 1)
	w := dial(t, s.KafkaAddrs()[0])
	for range 3 {
		ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, batch("x")))
	}
	r := kmsg.NewPtrDeleteRecordsRequest()
	r.Version = 2
	r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "orders", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 2}, {Partition: 1, Offset: 1}, {Partition: 9}}}}
	rows := ask[*kmsg.DeleteRecordsResponse](w, r).Topics[0].Partitions
	if rows[0].LowWatermark != 2 || rows[0].ErrorCode != 0 || rows[1].ErrorCode != kerr.OffsetOutOfRange.Code || rows[2].ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("%+v", rows)
	}
	if row := ask[*kmsg.FetchResponse](w, fetchOf("orders", 0, 1)).Topics[0].Partitions[0]; row.ErrorCode != kerr.OffsetOutOfRange.Code {
		t.Errorf("reading before the start: %s", name(row.ErrorCode))
	}
	if row := ask[*kmsg.FetchResponse](w, fetchOf("orders", 0, 2)).Topics[0].Partitions[0]; row.ErrorCode != 0 || row.LogStartOffset != 2 {
		t.Errorf("reading at the start: %s, which is told as %d", name(row.ErrorCode), row.LogStartOffset)
	}
}

// TestTopicsPageByPage walks through all partitions three at a time.
func TestTopicsPageByPage(t *testing.T) {
	s := kafkaServer(t, 1)
	ensureTopic(t, client(t, s), "another", 2)
	w := dial(t, s.KafkaAddrs()[0])
	r := kmsg.NewPtrDescribeTopicPartitionsRequest()
	r.ResponsePartitionLimit = 3
	var got []string
	for pages := 0; pages < 10; pages++ {
		answer := ask[*kmsg.DescribeTopicPartitionsResponse](w, r)
		for _, topic := range answer.Topics {
			for _, p := range topic.Partitions {
				got = append(got, fmt.Sprintf("%s-%d", *topic.Topic, p.Partition))
				if p.EligibleLeaderReplicas == nil || p.LastKnownELR == nil {
					t.Error("a list of eligible leaders is null")
				}
			}
		}
		if answer.NextCursor == nil {
			break
		}
		r.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: answer.NextCursor.Topic, Partition: answer.NextCursor.Partition}
	}
	want := "[another-0 another-1 orders-0 orders-1 orders-2 orders-3 orders-4 orders-5]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	r.Cursor, r.Topics = nil, []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "nothing"}}
	if row := ask[*kmsg.DescribeTopicPartitionsResponse](w, r).Topics[0]; row.ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("a topic that is not there: %s", name(row.ErrorCode))
	}
}

// TestFencedBrokersAreListed only where they are asked for.
func TestFencedBrokersAreListed(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	if err := s.KillBroker(3); err != nil {
		t.Fatal(err)
	}
	w := dial(t, s.KafkaAddrs()[0])
	r := kmsg.NewPtrDescribeClusterRequest()
	r.Version, r.EndpointType, r.IncludeFencedBrokers = 2, 1, true
	eventually(t, 5*time.Second, func() error {
		got := ask[*kmsg.DescribeClusterResponse](w, r).Brokers
		if len(got) != 3 || got[0].IsFenced || !got[2].IsFenced || got[2].NodeID != 3 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	r.Version = 1
	if got := ask[*kmsg.DescribeClusterResponse](w, r).Brokers; len(got) != 2 {
		t.Errorf("without asking for them: %+v", got)
	}
}
