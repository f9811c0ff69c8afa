//go:build interop

package differ

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func init() {
	for _, field := range []string{
		"MetadataResponseBroker.Port", "FetchResponseBroker.Port", "ProduceResponseBroker.Port", "DescribeClusterResponseBroker.Port",
		"FetchResponseTopic.TopicID", // where it was given out, not what it means
		"FetchResponse.SessionID", "DescribeClusterResponse.ClusterID",
	} {
		masked[field] = true
	}
}

// whereCoordinatorsLive asks each broker, in each version, for the coordinators of many ids.
func whereCoordinatorsLive(versions map[int16][2]int16) func(*trio) {
	groups := []string{"", "größe", "群組", "😀 consumers", "مجموعة", strings.Repeat("long", 60)}
	var transactions []string
	for i := range 36 {
		groups = append(groups, fmt.Sprint("orders-svc-", i))
	}
	for i := range 20 {
		transactions = append(transactions, fmt.Sprint("tx-", i))
	}
	return func(t *trio) {
		for id := int32(1); id <= 3; id++ {
			for v := versions[10][0]; v <= versions[10][1]; v++ {
				for kind, keys := range [][]string{groups, transactions} {
					if v == 0 && kind == 1 {
						continue
					}
					partitions := threePartitions[[]string{offsetsTopic, txnTopic}[kind]]
					r := kmsg.NewPtrFindCoordinatorRequest()
					r.Version, r.CoordinatorType = v, int8(kind)
					if v >= 4 {
						r.CoordinatorKeys = keys
						t.tell(id, "finder", fmt.Sprintf("v%d, type %d, %d keys", v, kind, len(keys)), r)
						continue
					}
					for _, key := range keys {
						r.CoordinatorKey = key
						a := t.tell(id, "finder", fmt.Sprintf("v%d, type %d, key %q", v, kind, key), r)
						if want := layout(hashed(key, partitions))[0]; a.(*kmsg.FindCoordinatorResponse).NodeID != want {
							t.stop("the coordinator of %q is said to be %d, its partition %d is led by %d", key, a.(*kmsg.FindCoordinatorResponse).NodeID, hashed(key, partitions), want)
						}
					}
				}
			}
			for _, name := range []string{offsetsTopic, txnTopic, dataTopic} {
				t.tellTopic(id, "where "+name+" is", name)
			}
		}
	}
}

// wrongBroker puts every request of groups, transactions and partitions to a broker that does not serve them.
func wrongBroker(versions map[int16][2]int16) func(*trio) {
	return func(t *trio) {
		t.called(keysAt(1, threePartitions[offsetsTopic], "wrong", 1)[0])
		at := t.sides[1].stable(true)
		for _, q := range questions() {
			span, common := versions[q.api]
			if !common || q.ask != nil {
				continue
			}
			for v := max(span[0], q.since); v <= span[1]; v++ {
				if q.fits(at, v) {
					t.tell(2, "asker", q.title("at the wrong broker", v), q.build(t.group, at, v))
				}
			}
		}
		for v := versions[16][0]; v <= versions[16][1]; v++ {
			for id := int32(1); id <= 3; id++ {
				r := kmsg.NewPtrListGroupsRequest()
				r.Version = v
				t.tell(id, "asker", fmt.Sprintf("v%d", v), r)
			}
		}
		t.tell(1, "asker", "what became of the group", describe(5, t.group))
		t.wrongTransactions(versions)
		t.wrongLeader(versions)
	}
}

func (t *trio) wrongTransactions(versions map[int16][2]int16) {
	p := producer{id: keysAt(1, threePartitions[txnTopic], "wrong-tx", 1)[0]}
	first := t.sides[1].newProducer(p.id)
	p.pid, p.epoch = first.pid, first.epoch
	each := func(api int16, most int16, build func(v int16) kmsg.Request) {
		for v := versions[api][0]; v <= min(versions[api][1], most); v++ {
			t.tell(2, "asker", fmt.Sprintf("v%d at the wrong broker", v), build(v))
		}
	}
	each(22, 9, func(v int16) kmsg.Request { return initProducer(v, p.id, 60_000) })
	each(24, 3, func(v int16) kmsg.Request { return p.addPartitions(v, dataTopic, 0) })
	each(25, 9, func(v int16) kmsg.Request { return p.addOffsets(v, t.group) })
	each(26, 4, func(v int16) kmsg.Request { return p.end(v, true) })
	each(65, 9, func(v int16) kmsg.Request {
		r := kmsg.NewPtrDescribeTransactionsRequest()
		r.Version, r.TransactionalIDs = v, []string{p.id, "absent"}
		return r
	})
	each(27, 9, func(v int16) kmsg.Request {
		r := kmsg.NewPtrWriteTxnMarkersRequest()
		r.Version = v
		m := kmsg.NewWriteTxnMarkersRequestMarker()
		m.ProducerID, m.ProducerEpoch, m.CoordinatorEpoch = p.pid, p.epoch, 0
		for _, name := range []string{dataTopic, offsetsTopic, "absent"} {
			topic := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
			topic.Topic, topic.Partitions = name, []int32{0}
			m.Topics = append(m.Topics, topic)
		}
		r.Markers = append(r.Markers, m)
		return r
	})
}

// wrongLeader asks a follower, and asks the leader with epochs that are over or to come.
func (t *trio) wrongLeader(versions map[int16][2]int16) {
	each := func(api int16, build func(v int16) kmsg.Request) {
		for v := versions[api][0]; v <= versions[api][1]; v++ {
			t.tell(2, "asker", fmt.Sprintf("v%d of a follower", v), build(v))
		}
	}
	each(0, func(v int16) kmsg.Request { return produceTo(v, dataTopic, -1, 0, batchOf("wrong", -1, -1, -1)) })
	each(0, func(v int16) kmsg.Request { return produceTo(v, dataTopic, 1, 0, batchOf("wrong", -1, -1, -1)) })
	each(21, func(v int16) kmsg.Request {
		r := kmsg.NewPtrDeleteRecordsRequest()
		r.Version, r.TimeoutMillis = v, 5000
		r.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: dataTopic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: -1}}}}
		return r
	})
	each(61, func(v int16) kmsg.Request {
		r := kmsg.NewPtrDescribeProducersRequest()
		r.Version, r.Topics = v, []kmsg.DescribeProducersRequestTopic{{Topic: dataTopic, Partitions: []int32{0}}}
		return r
	})
	epoch := t.epochs[dataTopic+"-0"]
	for _, claimed := range []struct {
		name  string
		epoch int32
	}{{"no epoch", -1}, {"the epoch before", epoch - 1}, {"the epoch", epoch}, {"the epoch to come", epoch + 1}} {
		for _, broker := range []int32{1, 2} {
			for v := versions[1][0]; v <= versions[1][1]; v++ {
				if claimed.epoch < 0 || v >= 9 {
					t.tell(broker, "reader", fmt.Sprintf("v%d with %s", v, claimed.name), fetchFrom(v, dataTopic, t.topicID(dataTopic), 0, claimed.epoch))
				}
			}
			for v := versions[2][0]; v <= versions[2][1]; v++ {
				if claimed.epoch < 0 || v >= 4 {
					t.tell(broker, "reader", fmt.Sprintf("v%d with %s", v, claimed.name), offsetsOf(v, dataTopic, 0, claimed.epoch))
				}
			}
			for v := versions[23][0]; v <= versions[23][1]; v++ {
				t.tellEpoch(broker, fmt.Sprintf("v%d with %s", v, claimed.name), v, claimed.epoch, epoch)
			}
		}
	}
}

// tellEpoch asks where an epoch ends; the epoch in the answer counts from when the cluster was laid out.
func (t *trio) tellEpoch(broker int32, about string, v int16, claimed, asked int32) {
	r := kmsg.NewPtrOffsetForLeaderEpochRequest()
	r.Version, r.ReplicaID = v, -1
	row := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	row.Partition, row.CurrentLeaderEpoch, row.LeaderEpoch = 0, claimed, asked
	r.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: dataTopic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{row}}}
	a := t.ask(broker, "epochs", r).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
	since := a.LeaderEpoch
	if since >= 0 {
		since -= t.epochs[dataTopic+"-0"]
	}
	t.note(fmt.Sprintf("OffsetForLeaderEpoch of broker %d: %s", broker, about), fmt.Sprintf("  error %d, epoch %d, ends at %d", a.ErrorCode, since, a.EndOffset))
}

func (t *trio) topicID(name string) [16]byte {
	return t.ask(1, "metadata", metadataOf(12, name)).(*kmsg.MetadataResponse).Topics[0].TopicID
}

// batchOf packs one value into a record batch.
func batchOf(value string, pid int64, epoch int16, sequence int32) []byte {
	r := kmsg.Record{Value: []byte(value)}
	r.Length = int32(len(r.AppendTo(nil)) - 1)
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{Magic: 2, PartitionLeaderEpoch: -1, ProducerID: pid, ProducerEpoch: epoch, FirstSequence: sequence, NumRecords: 1, Records: r.AppendTo(nil),
		FirstTimestamp: now, MaxTimestamp: now}
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	return withCRC(b.AppendTo(nil))
}

// withCRC puts the checksum over what follows it.
func withCRC(batch []byte) []byte {
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
	return batch
}

func produceTo(v int16, topic string, acks int16, partition int32, batch []byte) *kmsg.ProduceRequest {
	r := kmsg.NewPtrProduceRequest()
	r.Version, r.Acks, r.TimeoutMillis = v, acks, 10_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	t.Partitions = []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: batch}}
	r.Topics = append(r.Topics, t)
	return r
}

func fetchFrom(v int16, topic string, id [16]byte, partition, epoch int32) *kmsg.FetchRequest {
	r := kmsg.NewPtrFetchRequest()
	r.Version, r.ReplicaID, r.MaxWaitMillis, r.MinBytes, r.MaxBytes = v, -1, 100, 0, 1<<20
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, id
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.CurrentLeaderEpoch, p.PartitionMaxBytes = partition, epoch, 1<<20
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	return r
}

func offsetsOf(v int16, topic string, partition, epoch int32) *kmsg.ListOffsetsRequest {
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version, r.ReplicaID = v, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.CurrentLeaderEpoch, p.Timestamp = partition, epoch, -1
	t.Partitions = append(t.Partitions, p)
	r.Topics = append(r.Topics, t)
	return r
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
