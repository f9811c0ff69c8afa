package e2e

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// producer is a transactional producer of raw requests, at the only broker.
type producer struct {
	*wire
	id       string
	pid      int64
	epoch    int16
	sequence map[int32]int32
}

// transactional finds the coordinator of an id and begins a producer with it.
func transactional(w *wire, id string) *producer {
	w.t.Helper()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorType, find.CoordinatorKeys = 4, 1, []string{id}
	eventually(w.t, 5*time.Second, func() error {
		return kerr.ErrorForCode(ask[*kmsg.FindCoordinatorResponse](w, find).Coordinators[0].ErrorCode)
	})
	p := &producer{wire: w, id: id}
	p.init()
	return p
}

// init asks for an epoch until it gets one: the first answer of a broker without producer ids is to wait, and so is the one
// that comes while an open transaction is aborted.
func (p *producer) init() {
	p.t.Helper()
	init := kmsg.NewPtrInitProducerIDRequest()
	init.Version, init.TransactionalID, init.TransactionTimeoutMillis = 4, &p.id, 60000
	eventually(p.t, 5*time.Second, func() error {
		got := ask[*kmsg.InitProducerIDResponse](p.wire, init)
		p.pid, p.epoch, p.sequence = got.ProducerID, got.ProducerEpoch, map[int32]int32{}
		return kerr.ErrorForCode(got.ErrorCode)
	})
}

func (p *producer) add(version int16, partitions ...int32) int16 {
	p.t.Helper()
	r := kmsg.NewPtrAddPartitionsToTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch = version, p.id, p.pid, p.epoch
	r.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: partitions}}
	code := kerr.ConcurrentTransactions.Code // until the markers of the transaction before are written
	for end := time.Now().Add(patience); code == kerr.ConcurrentTransactions.Code && time.Now().Before(end); {
		code = ask[*kmsg.AddPartitionsToTxnResponse](p.wire, r).Topics[0].Partitions[0].ErrorCode
	}
	return code
}

func (p *producer) batch(partition int32, transactional bool) []byte {
	b := withProducer(p.pid, p.epoch, p.sequence[partition])
	if transactional {
		binary.BigEndian.PutUint16(b[21:], 0x10)
	}
	binary.BigEndian.PutUint32(b[17:], crc(b[21:]))
	return b
}

func (p *producer) produce(version int16, partition int32) (offset int64, code int16) {
	p.t.Helper()
	r := produceOf("orders", partition, p.batch(partition, true))
	r.Version, r.TransactionID = version, &p.id
	row := ask[*kmsg.ProduceResponse](p.wire, r).Topics[0].Partitions[0]
	if row.ErrorCode == 0 {
		p.sequence[partition]++
	}
	return row.BaseOffset, row.ErrorCode
}

func (p *producer) end(version int16, commit bool) int16 {
	p.t.Helper()
	r := kmsg.NewPtrEndTxnRequest()
	r.Version, r.TransactionalID, r.ProducerID, r.ProducerEpoch, r.Commit = version, p.id, p.pid, p.epoch, commit
	code := kerr.ConcurrentTransactions.Code // while the end before is being written
	for end := time.Now().Add(patience); code == kerr.ConcurrentTransactions.Code && time.Now().Before(end); {
		code = ask[*kmsg.EndTxnResponse](p.wire, r).ErrorCode
	}
	return code
}

func (p *producer) must(code int16) {
	p.t.Helper()
	if code != 0 {
		p.t.Fatal(name(code))
	}
}

// committedOf reads partition 0 of orders as a read_committed consumer: how many batches, the aborted transactions, and
// where it ends.
func committedOf(w *wire, version int16) (batches int, aborted []int64, lastStable, highWatermark int64) {
	w.t.Helper()
	r := fetchOf("orders", 0, 0)
	r.Version, r.IsolationLevel = version, 1
	row := ask[*kmsg.FetchResponse](w, r).Topics[0].Partitions[0]
	if row.ErrorCode != 0 {
		w.t.Errorf("reading committed records: %s", name(row.ErrorCode))
	}
	for rest := row.RecordBatches; len(rest) > 0; batches++ {
		rest = rest[12+binary.BigEndian.Uint32(rest[8:]):]
	}
	for _, a := range row.AbortedTransactions {
		aborted = append(aborted, a.FirstOffset)
	}
	return batches, aborted, row.LastStableOffset, row.HighWatermark
}

// latestOf is the end of partition 0 of orders for one isolation level.
func latestOf(w *wire, isolation int8) int64 {
	w.t.Helper()
	r := kmsg.NewPtrListOffsetsRequest()
	r.Version, r.ReplicaID, r.IsolationLevel = 7, -1, isolation
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Timestamp = -1
	r.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "orders", Partitions: []kmsg.ListOffsetsRequestTopicPartition{part}}}
	return ask[*kmsg.ListOffsetsResponse](w, r).Topics[0].Partitions[0].Offset
}

// TestTransactions goes through a commit and an abort with raw requests, and looks at each step as both kinds of readers.
func TestTransactions(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	p := transactional(w, "mover")
	if code := p.add(3, 0, 1); code != 0 {
		t.Fatal(name(code))
	}
	offset, code := p.produce(11, 0)
	if offset != 0 || code != 0 {
		t.Fatalf("at %d, %s", offset, name(code))
	}
	look := func(when string, batches int, aborted []int64, lastStable, highWatermark int64) {
		t.Helper()
		for _, version := range []int16{4, 11, 12} {
			eventually(t, 5*time.Second, func() error { // markers are written after EndTxn was answered
				b, a, ls, hw := committedOf(w, version)
				if b != batches || !slices.Equal(a, aborted) || ls != lastStable || hw != highWatermark {
					return fmt.Errorf("%s, v%d: %d batches, aborted %v, last stable %d of %d; want %d, %v, %d of %d", when, version, b, a, ls, hw, batches, aborted, lastStable, highWatermark)
				}
				return nil
			})
		}
		if c, u := latestOf(w, 1), latestOf(w, 0); c != lastStable || u != highWatermark {
			t.Errorf("%s: the latest offsets are %d and %d, want %d and %d", when, c, u, lastStable, highWatermark)
		}
	}
	look("open", 0, nil, 0, 1)
	waiting := dial(t, s.KafkaAddrs()[0])
	poll := fetchOf("orders", 0, 0)
	poll.IsolationLevel, poll.MaxWaitMillis = 1, 50_000
	polled := waiting.send(poll)
	p.must(p.end(3, true))
	if row := receive[*kmsg.FetchResponse](waiting, polled, poll).Topics[0].Partitions[0]; len(row.RecordBatches) == 0 {
		t.Error("the marker did not wake the reader of committed records")
	}
	look("committed", 2, nil, 2, 2)
	p.must(p.end(3, true)) // a repetition
	if code := p.end(3, false); code != kerr.InvalidTxnState.Code {
		t.Errorf("aborting what was committed: %s", name(code))
	}
	p.must(p.add(3, 0))
	if offset, code = p.produce(3, 0); offset != 2 || code != 0 {
		t.Fatalf("at %d, %s", offset, name(code))
	}
	plain := produceOf("orders", 0, p.batch(0, false))
	if row := ask[*kmsg.ProduceResponse](w, plain).Topics[0].Partitions[0]; row.ErrorCode != kerr.InvalidTxnState.Code {
		t.Errorf("a plain batch in the middle of the transaction: %s", name(row.ErrorCode))
	}
	p.must(p.end(1, false))
	look("aborted", 4, []int64{2}, 4, 4)
	ask[*kmsg.ProduceResponse](w, produceOf("orders", 0, batch("x")))
	look("and a plain record", 5, []int64{2}, 5, 5)
}

// TestTransactionsAreVerified: a partition that was never added is refused in the words of each version (KIP-890).
func TestTransactionsAreVerified(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	p := transactional(dial(t, s.KafkaAddrs()[0]), "mover")
	if _, code := p.produce(11, 0); code != kerr.TransactionAbortable.Code {
		t.Errorf("v11: %s", name(code))
	}
	if _, code := p.produce(10, 0); code != kerr.InvalidTxnState.Code {
		t.Errorf("v10: %s", name(code))
	}
	p.must(p.add(3, 0))
	if _, code := p.produce(11, 0); code != 0 {
		t.Errorf("once it was added: %s", name(code))
	}
	nameless := produceOf("orders", 0, p.batch(0, true))
	if row := ask[*kmsg.ProduceResponse](p.wire, nameless).Topics[0].Partitions[0]; row.ErrorCode != kerr.TransactionalIDAuthorizationFailed.Code {
		t.Errorf("without the transactional id: %s", name(row.ErrorCode))
	}
	if code := p.add(3, 99); code != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("a partition that does not exist: %s", name(code))
	}
	off := kafkaServer(t, 1, append(quick, "transaction.partition.verification.enable=false")...)
	trusted := transactional(dial(t, off.KafkaAddrs()[0]), "mover")
	if _, code := trusted.produce(11, 0); code != 0 {
		t.Errorf("with transaction.partition.verification.enable=false: %s", name(code))
	}
}

// TestFencing: whoever comes second with a transactional id fences the first, whose open transaction is aborted.
func TestFencing(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	old := transactional(w, "mover")
	old.must(old.add(3, 0))
	if _, code := old.produce(11, 0); code != 0 {
		t.Fatal(name(code))
	}
	young := transactional(w, "mover")
	if young.pid != old.pid || young.epoch <= old.epoch {
		t.Fatalf("the second has %d-%d, the first %d-%d", young.pid, young.epoch, old.pid, old.epoch)
	}
	if _, aborted, stable, _ := committedOf(w, 11); !slices.Equal(aborted, []int64{0}) || stable != 2 {
		t.Errorf("the first one's transaction: aborted %v, stable up to %d", aborted, stable)
	}
	if _, code := old.produce(11, 0); code != kerr.InvalidProducerEpoch.Code {
		t.Errorf("producing: %s", name(code))
	}
	for version, want := range map[int16]int16{0: kerr.InvalidProducerEpoch.Code, 1: kerr.InvalidProducerEpoch.Code, 2: kerr.ProducerFenced.Code, 3: kerr.ProducerFenced.Code} {
		if code := old.add(version, 0); code != want {
			t.Errorf("AddPartitionsToTxn v%d: %s, want %s", version, name(code), name(want))
		}
		if code := old.end(version, true); code != want {
			t.Errorf("EndTxn v%d: %s, want %s", version, name(code), name(want))
		}
	}
	again := kmsg.NewPtrInitProducerIDRequest()
	again.Version, again.TransactionalID, again.TransactionTimeoutMillis, again.ProducerID, again.ProducerEpoch = 3, &old.id, 60000, old.pid, old.epoch
	for version, want := range map[int16]int16{3: kerr.InvalidProducerEpoch.Code, 4: kerr.ProducerFenced.Code, 5: kerr.ProducerFenced.Code} {
		again.Version = version
		if got := ask[*kmsg.InitProducerIDResponse](w, again); got.ErrorCode != want || got.ProducerID != -1 {
			t.Errorf("InitProducerId v%d: %s, want %s", version, name(got.ErrorCode), name(want))
		}
	}
	again.Version, again.ProducerEpoch = 4, young.epoch
	if got := ask[*kmsg.InitProducerIDResponse](w, again); got.ErrorCode != 0 || got.ProducerEpoch != young.epoch+1 {
		t.Errorf("the second one goes on: %s with epoch %d", name(got.ErrorCode), got.ProducerEpoch)
	}
	again.TransactionTimeoutMillis = 900_001
	if got := ask[*kmsg.InitProducerIDResponse](w, again); got.ErrorCode != kerr.InvalidTransactionTimeout.Code {
		t.Errorf("a time-out above transaction.max.timeout.ms: %s", name(got.ErrorCode))
	}
}

// TestOffsetsOfATransaction: offsets that were committed within a transaction are unstable until it ends.
func TestOffsetsOfATransaction(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	findFirst(t, w, "g")
	p := transactional(w, "mover")
	offsets := kmsg.NewPtrAddOffsetsToTxnRequest()
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.Group, commit.ProducerID, commit.ProducerEpoch, commit.Generation = p.id, "g", p.pid, p.epoch, -1
	part := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	part.Offset = 42
	commit.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{part}}}
	send := func(version int16) int16 {
		commit.Version = version
		return ask[*kmsg.TxnOffsetCommitResponse](w, commit).Topics[0].Partitions[0].ErrorCode
	}
	for version, want := range map[int16]int16{3: kerr.InvalidTxnState.Code, 4: kerr.TransactionAbortable.Code} {
		if code := send(version); code != want {
			t.Errorf("TxnOffsetCommit v%d without AddOffsetsToTxn: %s, want %s", version, name(code), name(want))
		}
	}
	offsets.Version, offsets.TransactionalID, offsets.ProducerID, offsets.ProducerEpoch, offsets.Group = 4, p.id, p.pid, p.epoch, "g"
	p.must(ask[*kmsg.AddOffsetsToTxnResponse](w, offsets).ErrorCode)
	p.must(send(4))
	fetched := func(stable bool) (int64, int16) {
		r := kmsg.NewPtrOffsetFetchRequest()
		r.Version, r.Group, r.RequireStable = 7, "g", stable
		r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
		row := ask[*kmsg.OffsetFetchResponse](w, r).Topics[0].Partitions[0]
		return row.Offset, row.ErrorCode
	}
	if at, code := fetched(true); code != kerr.UnstableOffsetCommit.Code || at != -1 {
		t.Errorf("stable offsets while it is open: %d, %s", at, name(code))
	}
	if at, code := fetched(false); code != 0 || at != -1 {
		t.Errorf("any offsets while it is open: %d, %s", at, name(code))
	}
	p.must(p.end(4, true))
	eventually(t, 5*time.Second, func() error {
		if at, code := fetched(true); code != 0 || at != 42 {
			return fmt.Errorf("after the commit: %d, %s", at, name(code))
		}
		return nil
	})
}

// TestTransactionsCanBeLookedAt: what an operator is told of an open transaction, and how he ends one that hangs (KIP-664).
func TestTransactionsCanBeLookedAt(t *testing.T) {
	s := kafkaServer(t, 1, quick...)
	w := dial(t, s.KafkaAddrs()[0])
	p, idle := transactional(w, "mover"), transactional(w, "idle")
	p.must(p.add(3, 0, 2))
	if _, code := p.produce(11, 0); code != 0 {
		t.Fatal(name(code))
	}
	describe := kmsg.NewPtrDescribeTransactionsRequest()
	describe.TransactionalIDs = []string{"mover", "idle", "nobody", ""}
	rows := ask[*kmsg.DescribeTransactionsResponse](w, describe).TransactionStates
	if r := rows[0]; r.State != "Ongoing" || r.ProducerID != p.pid || r.TimeoutMillis != 60000 || r.StartTimestamp <= 0 || fmt.Sprint(r.Topics[0].Partitions) != "[0 2]" {
		t.Errorf("an open one: %+v", r)
	}
	if r := rows[1]; r.State != "Empty" || r.ProducerID != idle.pid || r.StartTimestamp != -1 || len(r.Topics) != 0 {
		t.Errorf("an idle one: %+v", r)
	}
	if rows[2].ErrorCode != kerr.TransactionalIDNotFound.Code || rows[3].ErrorCode != kerr.InvalidRequest.Code {
		t.Errorf("one that is not there: %s; none: %s", name(rows[2].ErrorCode), name(rows[3].ErrorCode))
	}
	list := kmsg.NewPtrListTransactionsRequest()
	list.Version, list.DurationFilterMillis = 1, -1
	for _, c := range []struct {
		states  []string
		ids     []int64
		longer  int64
		want    []string
		unknown []string
	}{
		{nil, nil, -1, []string{"idle", "mover"}, nil},
		{[]string{"Ongoing", "Odd"}, nil, -1, []string{"mover"}, []string{"Odd"}},
		{[]string{"Odd"}, nil, -1, nil, []string{"Odd"}},
		{nil, []int64{idle.pid}, -1, []string{"idle"}, nil},
		{nil, nil, 3_600_000, []string{"idle"}, nil}, // as in Kafka, one that is not open began at -1
	} {
		list.StateFilters, list.ProducerIDFilters, list.DurationFilterMillis = c.states, c.ids, c.longer
		got := ask[*kmsg.ListTransactionsResponse](w, list)
		var ids []string
		for _, r := range got.TransactionStates {
			ids = append(ids, r.TransactionalID)
		}
		if !slices.Equal(ids, c.want) || !slices.Equal(got.UnknownStateFilters, c.unknown) {
			t.Errorf("%+v: listed %v, unknown %v", c, ids, got.UnknownStateFilters)
		}
	}
	producers := kmsg.NewPtrDescribeProducersRequest()
	producers.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "orders", Partitions: []int32{0, 1, 9}}}
	of := ask[*kmsg.DescribeProducersResponse](w, producers).Topics[0].Partitions
	if len(of[0].ActiveProducers) != 1 || of[0].ActiveProducers[0].ProducerID != p.pid || of[0].ActiveProducers[0].CurrentTxnStartOffset != 0 || of[0].ActiveProducers[0].LastSequence != 0 {
		t.Errorf("the partition with an open transaction: %+v", of[0])
	}
	if len(of[1].ActiveProducers) != 0 || of[2].ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("the others: %+v", of[1:])
	}
	markers := kmsg.NewPtrWriteTxnMarkersRequest()
	markers.Version = 1
	markers.Markers = []kmsg.WriteTxnMarkersRequestMarker{{ProducerID: p.pid, ProducerEpoch: p.epoch, Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: "orders", Partitions: []int32{0, 9}}}}}
	ended := ask[*kmsg.WriteTxnMarkersResponse](w, markers).Markers[0].Topics[0].Partitions
	if ended[0].ErrorCode != 0 || ended[1].ErrorCode != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("ending it by hand: %+v", ended)
	}
	if _, aborted, stable, _ := committedOf(w, 11); !slices.Equal(aborted, []int64{0}) || stable != 2 {
		t.Errorf("ended by hand: aborted %v, stable up to %d", aborted, stable)
	}
}

// TestProducerIDs: each idempotent producer gets an id of its own with epoch 0, whatever it says it has, from every broker.
// A broker that has no block of ids yet says so, as Kafka's does.
func TestProducerIDs(t *testing.T) {
	s := kafkaServer(t, 3, quick...)
	seen := map[int64]bool{}
	for _, at := range s.KafkaAddrs() {
		w := dial(t, at)
		init := kmsg.NewPtrInitProducerIDRequest()
		if got := ask[*kmsg.InitProducerIDResponse](w, init); got.ErrorCode != kerr.CoordinatorLoadInProgress.Code || got.ProducerID != -1 {
			t.Errorf("the first of a broker: %s with %d", name(got.ErrorCode), got.ProducerID)
		}
		for version := int16(0); version <= 5; version++ {
			init.Version = version
			if version == 5 {
				init.ProducerID, init.ProducerEpoch = 0, 0 // as @platformatic/kafka begins
			}
			var got *kmsg.InitProducerIDResponse
			eventually(t, 5*time.Second, func() error { // until the block has come
				if got = ask[*kmsg.InitProducerIDResponse](w, init); got.ErrorCode == kerr.CoordinatorLoadInProgress.Code {
					return kerr.CoordinatorLoadInProgress
				}
				return nil
			})
			if got.ErrorCode != 0 || got.ProducerEpoch != 0 || seen[got.ProducerID] {
				t.Errorf("v%d: %+v, seen before: %v", version, got, seen[got.ProducerID])
			}
			seen[got.ProducerID] = true
		}
		empty := ""
		init.TransactionalID = &empty
		if got := ask[*kmsg.InitProducerIDResponse](w, init); got.ErrorCode != kerr.InvalidRequest.Code {
			t.Errorf("an empty transactional id: %s", name(got.ErrorCode))
		}
		init.TransactionalID, init.ProducerID = nil, 7
		init.ProducerEpoch = -1
		if got := ask[*kmsg.InitProducerIDResponse](w, init); got.ErrorCode != kerr.InvalidRequest.Code {
			t.Errorf("an id without an epoch: %s", name(got.ErrorCode))
		}
	}
}
