package coordinator

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// txnWith describes a TxnOffsetCommit of partitions of one topic by producer 1000 unless it says otherwise.
type txnWith struct {
	version    int16 // 0: 3
	group      string
	id         string
	instance   *string
	generation *int32
	topic      string
	offsets    map[int32]int64
	metadata   map[int32]*string
	producer   int64
	epoch      int16
}

func (w txnWith) request() *kmsg.TxnOffsetCommitRequest {
	q := kmsg.NewPtrTxnOffsetCommitRequest()
	q.Version, q.TransactionalID, q.Group, q.MemberID, q.InstanceID = 3, "tx", groupID, w.id, w.instance
	q.ProducerID, q.ProducerEpoch, q.Generation = 1000, w.epoch, -1
	if w.version != 0 {
		q.Version = w.version
	}
	if w.group != "" {
		q.Group = w.group
	}
	if w.producer != 0 {
		q.ProducerID = w.producer
	}
	if w.generation != nil {
		q.Generation = *w.generation
	}
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	if t.Topic = w.topic; t.Topic == "" {
		t.Topic = "topic"
	}
	for partition := int32(0); partition < 20; partition++ {
		if offset, ok := w.offsets[partition]; ok {
			p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.Metadata = partition, offset, w.metadata[partition]
			t.Partitions = append(t.Partitions, p)
		}
	}
	q.Topics = append(q.Topics, t)
	return q
}

// txnCommit sends a TxnOffsetCommit and answers its verification, if one is asked for, with 0.
func (b *bench) txnCommit(w txnWith) Ticket {
	b.t.Helper()
	asked := b.c.verifyTickets
	ticket := b.send("p", w.request())
	if b.c.verifyTickets > asked {
		b.c.Verified(b.now, b.c.verifyTickets, 0)
		b.take()
	}
	return ticket
}

// txnCode is the code of the first partition.
func (b *bench) txnCode(ticket Ticket) int16 {
	b.t.Helper()
	return answer[*kmsg.TxnOffsetCommitResponse](b, ticket).Topics[0].Partitions[0].ErrorCode
}

func (b *bench) txnDone(ticket Ticket) {
	b.t.Helper()
	wantCode(b.t, "transactional commit", b.txnCode(ticket), 0)
}

func (b *bench) marker(partition int32, commit bool) {
	b.c.TxnMarker(b.now, Marker{Partition: partition, ProducerID: 1000, Commit: commit})
	b.take()
}

func (b *bench) wantFetch(group string, stable bool, offset int64, code int16) {
	b.t.Helper()
	if o, c := b.fetch(group, "topic", 0, stable); o != offset || c != code {
		b.t.Fatalf("fetched %d, %s; want %d, %s", o, event.CodeName(c), offset, event.CodeName(code))
	}
}

func one(offset int64) map[int32]int64 { return map[int32]int64{0: offset} }

func TestTXN01_Markers(t *testing.T) {
	for _, commit := range []bool{true, false} {
		b := newBench(t)
		b.txnDone(b.txnCommit(txnWith{offsets: one(25)}))
		if a := b.written[0]; !a.Transactional || a.ProducerID != 1000 || a.What != "transactional offsets" {
			t.Fatalf("%+v", a)
		}
		b.wantFetch(groupID, true, -1, 88)
		b.wantFetch(groupID, false, -1, 0)
		b.marker(0, commit)
		want := int64(-1)
		if commit {
			want = 25
		}
		b.wantFetch(groupID, true, want, 0)
		if g := b.c.groups[groupID]; len(g.txns) != 0 || len(b.c.openTxns) != 0 {
			t.Fatalf("%+v", g)
		}
		b.marker(0, commit) // a second one has no effect
	}
}

func TestTXN03_UnstableIsPerPartition(t *testing.T) {
	b := newBench(t)
	b.txnDone(b.txnCommit(txnWith{offsets: one(25)}))
	b.wantFetch(groupID, true, -1, 88)
	if offset, code := b.fetch(groupID, "non-exist-topic", 0, true); offset != -1 || code != 0 {
		t.Fatal(offset, code)
	}
	b.commit(simple(3)) // "all topics" has the code, too, where something is committed
	g := b.fetchGroup(groupID, true, "")
	if len(g.Topics) != 1 || g.Topics[0].Partitions[0].ErrorCode != 88 {
		t.Fatalf("%+v", g)
	}
}

func TestTXN04_MarkerForOneOfTwoPartitions(t *testing.T) {
	b := newBench(t)
	b.load(1, 0)
	b.txnDone(b.txnCommit(txnWith{offsets: one(10)}))
	b.txnDone(b.txnCommit(txnWith{group: otherGroup, offsets: one(15)}))
	b.marker(0, true)
	b.wantFetch(groupID, false, 10, 0)
	b.wantFetch(otherGroup, false, -1, 0)
	b.marker(1, true)
	b.wantFetch(otherGroup, true, 15, 0)
}

func TestTXN05_Fencing(t *testing.T) {
	b := newBench(t)
	l, _ := twoStatic(b, joinWith{})
	w := txnWith{instance: ptr("leader"), generation: ptr(int32(1)), offsets: one(1)}
	wantCode(t, "no id", b.txnCode(b.txnCommit(w)), 82)
	w.id = "invalid-member"
	wantCode(t, "invalid-member", b.txnCode(b.txnCommit(w)), 82)
	w.id = l
	wantCode(t, "L", b.txnCode(b.txnCommit(w)), 0)
}

func TestTXN06_MemberAndGeneration(t *testing.T) {
	b := newBench(t)
	m := b.one(joinWith{})
	w := txnWith{id: "invalid-member", generation: ptr(int32(1)), offsets: one(1)}
	wantCode(t, "invalid-member", b.txnCode(b.txnCommit(w)), 25)
	w.id, w.generation = m, ptr(int32(6))
	wantCode(t, "generation 6", b.txnCode(b.txnCommit(w)), 22)
	w.generation = ptr(int32(1))
	deadlineMs := b.c.groups[groupID].members[0].session.deadlineMs
	b.advance(100)
	wantCode(t, "generation 1 in CompletingRebalance", b.txnCode(b.txnCommit(w)), 0)
	if got := b.c.groups[groupID].members[0].session.deadlineMs; got != deadlineMs {
		t.Fatal("the session timer was moved")
	}
}

func TestTXN07_AppendFailure(t *testing.T) {
	b := newBench(t)
	b.hold = true
	ticket := b.txnCommit(txnWith{offsets: one(25)})
	b.unanswered(ticket)
	g := b.c.groups[groupID]
	if !g.hasOffsets() || g.any() {
		t.Fatalf("%+v", g)
	}
	b.wantFetch(groupID, true, -1, 88)
	b.release(19)
	wantCode(t, "commit", b.txnCode(ticket), 15)
	if g.hasOffsets() {
		t.Fatalf("%+v", g)
	}
	b.marker(0, false)
	b.wantFetch(groupID, true, -1, 0)
}

func TestTXN08_LaterPlainCommitWins(t *testing.T) {
	b := newBench(t)
	b.hold = true
	b.txnCommit(txnWith{offsets: one(37)})
	b.commit(simple(57))
	b.c.Appended(b.now, b.held[0].Ticket, 3, 0)
	b.c.Appended(b.now, b.held[1].Ticket, 4, 0)
	b.take()
	b.wantFetch(groupID, false, 57, 0)
	b.marker(0, true)
	b.wantFetch(groupID, true, 57, 0)
	// The other way round the transaction wins, whenever its marker comes.
	b.held = nil
	b.commit(simple(60))
	b.txnCommit(txnWith{offsets: one(70)})
	b.c.Appended(b.now, b.held[1].Ticket, 9, 0)
	b.c.Appended(b.now, b.held[0].Ticket, 8, 0)
	b.take()
	b.wantFetch(groupID, false, 60, 0)
	b.marker(0, true)
	b.wantFetch(groupID, true, 70, 0)
}

func TestTXN09_PartlyOversized(t *testing.T) {
	b := newBench(t)
	ticket := b.txnCommit(txnWith{offsets: map[int32]int64{0: 37, 1: 38}, metadata: map[int32]*string{1: ptr(strings.Repeat("x", 4097))}})
	p := answer[*kmsg.TxnOffsetCommitResponse](b, ticket).Topics[0].Partitions
	if p[0].ErrorCode != 0 || p[1].ErrorCode != 12 {
		t.Fatalf("%+v", p)
	}
	b.marker(0, true)
	b.wantOffsets(map[string]int64{"topic-0": 37})
	// Alone it writes nothing and begins nothing.
	b.written = nil
	ticket = b.txnCommit(txnWith{offsets: one(1), metadata: map[int32]*string{0: ptr(strings.Repeat("x", 4097))}})
	wantCode(t, "alone", b.txnCode(ticket), 12)
	if len(b.written) != 0 || len(b.c.groups[groupID].txns) != 0 {
		t.Fatal("something is left")
	}
}

func TestTXN10_LegacyProducer(t *testing.T) {
	b := newBench(t)
	b.oneStable(joinWith{})
	wantCode(t, "transactional", b.txnCode(b.txnCommit(txnWith{version: 2, offsets: one(1)})), 0)
	wantCode(t, "plain", b.committed(b.commit(simple(1))), 25)
}

// A group that does not exist is made for whoever names no generation.
func TestTxnCommitToAMissingGroup(t *testing.T) {
	b := newBench(t)
	wantCode(t, "generation 1", b.txnCode(b.txnCommit(txnWith{id: "m", generation: ptr(int32(1)), offsets: one(1)})), 22)
	if b.c.groups[groupID] != nil {
		t.Fatal("the group was created")
	}
	wantCode(t, "empty id", b.txnCode(b.send("p", func() kmsg.Request { q := txnWith{offsets: one(1)}.request(); q.Group = ""; return q }())), 24)
	wantCode(t, "unknown topic", b.txnCode(b.txnCommit(txnWith{topic: "nowhere", offsets: one(1)})), 3)
	wantCode(t, "no owner", b.txnCode(b.txnCommit(txnWith{group: otherGroup, offsets: one(1)})), 16)
	b.c.Immigrate(b.now, 1, 2, 0)
	wantCode(t, "loading", b.txnCode(b.txnCommit(txnWith{group: otherGroup, offsets: one(1)})), 14)
	wantCode(t, "loading, version 1", b.txnCode(b.txnCommit(txnWith{version: 1, group: otherGroup, offsets: one(1)})), 15)
	b.txnDone(b.txnCommit(txnWith{offsets: one(1)}))
	b.inState(event.Empty)
}

// Verification is asked for once a transaction and partition; its errors go to all partitions, in words of old clients.
func TestTxnVerification(t *testing.T) {
	b := newBench(t)
	for code, want := range map[int16]int16{48: 48, 49: 49, 13: 14, 120: 120, 16: 16} {
		ticket := b.send("p", txnWith{version: 4, epoch: 3, offsets: map[int32]int64{0: 1, 1: 2}}.request())
		b.unanswered(ticket)
		v := b.c.verifyTickets
		if b.c.groups[groupID] != nil || len(b.c.verifications) != 1 {
			t.Fatal("something was touched before the verification")
		}
		b.c.Verified(b.now, v, code)
		b.take()
		for _, p := range answer[*kmsg.TxnOffsetCommitResponse](b, ticket).Topics[0].Partitions {
			wantCode(t, "verification", p.ErrorCode, want)
		}
	}
	b.c.Handle(b.now, Request{Ticket: 900, ClientID: "p", Kmsg: txnWith{version: 5, epoch: 3, offsets: one(1)}.request()})
	out := b.c.Take()
	if len(out.Verifications) != 1 {
		t.Fatalf("%+v", out)
	}
	v := out.Verifications[0]
	if v.TransactionalID != "tx" || v.ProducerID != 1000 || v.ProducerEpoch != 3 || v.Partition != 0 || v.Version != 5 || v.Cause == 0 {
		t.Fatalf("%+v", v)
	}
	b.c.Verified(b.now, v.Ticket, 0)
	b.take()
	asked := b.c.verifyTickets
	b.txnDone(b.send("p", txnWith{epoch: 3, offsets: one(2)}.request()))
	if b.c.verifyTickets != asked {
		t.Fatal("asked again within the transaction")
	}
	b.unanswered(b.send("p", txnWith{epoch: 4, offsets: one(2)}.request())) // another epoch is another transaction
	if said := panics(func() { b.c.Verified(b.now, 77, 0) }); !strings.Contains(said, "Verified(77)") {
		t.Fatal(said)
	}
	b = newBench(t)
	s := caseSettings()
	s.TransactionPartitionVerificationEnable = false
	b.c.ConfigChanged(b.now, s)
	b.txnDone(b.send("p", txnWith{offsets: one(1)}.request()))
}

// The partition may be lost while the transaction coordinator is asked.
func TestPartitionLostWhileVerifying(t *testing.T) {
	b := newBench(t)
	ticket := b.send("p", txnWith{offsets: one(1)}.request())
	b.c.Emigrate(b.now, 0, 3)
	b.c.Verified(b.now, b.c.verifyTickets, 0)
	b.take()
	wantCode(t, "commit", b.txnCode(ticket), 16)
}

// What a transaction writes last in a partition counts; a failure takes back only what failed.
func TestSeveralCommitsInATransaction(t *testing.T) {
	b := newBench(t)
	b.txnDone(b.txnCommit(txnWith{offsets: one(25)}))
	b.failing = 7
	wantCode(t, "failed", b.txnCode(b.txnCommit(txnWith{offsets: one(30)})), 15)
	b.failing = 0
	b.txnDone(b.txnCommit(txnWith{offsets: map[int32]int64{1: 31}}))
	b.marker(0, true)
	b.wantOffsets(map[string]int64{"topic-0": 25, "topic-1": 31})
}

// An abort overtakes a commit's outcome: the outcome has no effect, not on the next transaction either.
func TestOutcomeAfterTheMarker(t *testing.T) {
	b := newBench(t)
	b.hold = true
	first := b.txnCommit(txnWith{offsets: one(25)})
	b.marker(0, false)
	second := b.txnCommit(txnWith{offsets: one(26)})
	b.c.Appended(b.now, b.held[0].Ticket, 3, 0)
	b.take()
	b.txnDone(first)
	if g := b.c.groups[groupID]; g.txns[0].find("topic", 0).committed() {
		t.Fatal("the old outcome was taken for the new transaction's")
	}
	b.c.Appended(b.now, b.held[1].Ticket, 5, 0)
	b.take()
	b.txnDone(second)
	b.marker(0, true)
	b.wantFetch(groupID, true, 26, 0)
}

func txnBatch(base int64, producer int64, records ...record.Record) LoadedBatch {
	b := batchAt(base, records...)
	b.Transactional, b.ProducerID = true, producer
	return b
}

func markerBatch(base int64, producer int64, kind byte) LoadedBatch {
	b := txnBatch(base, producer, record.Record{Key: []byte{0, 0, 0, kind}, Value: []byte{0, 0, 0, 0, 0, 0}})
	b.Control = true
	return b
}

func TestLOAD03_CommittedAndOpenTransactions(t *testing.T) {
	offsets := txnBatch(0, 1000, offsetRecord("foo", 0, 23), offsetRecord("foo", 1, 455), offsetRecord("bar", 0, 8992))
	b := unloaded(t)
	b.load(0, 2, offsets, markerBatch(3, 1000, 1))
	b.inState(event.Empty)
	b.wantOffsets(map[string]int64{"foo-0": 23, "foo-1": 455, "bar-0": 8992})
	b = unloaded(t)
	b.load(0, 2, offsets)
	b.inState(event.Empty)
	b.wantOffsets(map[string]int64{})
	g := b.c.groups[groupID]
	if !g.hasOffsets() || len(g.txns) != 1 || g.txns[0].producerID != 1000 {
		t.Fatalf("%+v", g)
	}
	for _, p := range []at{{"foo", 0}, {"foo", 1}, {"bar", 0}} {
		if _, code := b.fetch(groupID, p.topic, p.partition, true); code != 88 {
			t.Fatalf("%v: %d", p, code)
		}
	}
	b.marker(0, true) // it comes after the load
	b.wantOffsets(map[string]int64{"foo-0": 23, "foo-1": 455, "bar-0": 8992})
	b = unloaded(t)
	b.load(0, 2, offsets, markerBatch(3, 1000, 0))
	if b.c.groups[groupID] != nil {
		t.Fatal("an aborted transaction left a group")
	}
}

func TestLOAD05_PlainCommitAfterTheTransactionalRecordWins(t *testing.T) {
	b := unloaded(t)
	b.load(0, 2, txnBatch(0, 1000, offsetRecord("foo", 0, 23)), batchAt(1, offsetRecord("foo", 0, 24)), markerBatch(2, 1000, 1))
	b.wantOffsets(map[string]int64{"foo-0": 24})
	if o := b.c.groups[groupID].find("foo", 0); o.baseOffset != 1 {
		t.Fatalf("%+v", o)
	}
}

// Tombstones, several producers, groups and markers, an empty and an unreadable control batch.
func TestLoadOfTransactions(t *testing.T) {
	b := unloaded(t)
	empty := markerBatch(9, 1000, 1)
	empty.Records = nil
	b.load(0, 2, txnBatch(0, 1, offsetRecord("foo", 0, 1), offsetRecord("foo", 1, 1)), txnBatch(2, 2, offsetRecord("foo", 1, 2), offsetRecord("foo", 2, 2)),
		txnBatch(4, 1, tombstone(record.OffsetKey(groupID, "foo", 0))), batchAt(5, tombstone(record.OffsetKey(groupID, "foo", 2))),
		markerBatch(6, 2, 1), markerBatch(7, 1, 1), markerBatch(8, 3, 1), empty)
	b.wantOffsets(map[string]int64{"foo-1": 2})
	b = unloaded(t)
	short := markerBatch(1, 1000, 1)
	short.Records[0].Key = []byte{0, 0, 0}
	b.load(0, 2, txnBatch(0, 1000, offsetRecord("foo", 0, 1)), short)
	done := eventsOf[event.LoadFinished](b)
	if last := done[len(done)-1]; !strings.Contains(last.Failed, "control record") {
		t.Fatalf("%+v", last)
	}
}

// A marker that is written while the partition is loading takes effect when the groups are there.
func TestMarkerWhileLoading(t *testing.T) {
	b := unloaded(t)
	b.c.Immigrate(b.now, 0, 2, 1)
	b.c.Load(b.now, 0, 2, txnBatch(0, 1000, offsetRecord("topic", 0, 23)))
	b.marker(0, true)
	b.c.Loaded(b.now, 0, 2, "")
	b.take()
	b.wantFetch(groupID, true, 23, 0)
}

// What a transaction has written survives a change of the coordinator, and ends there.
func TestTransactionAcrossAFailover(t *testing.T) {
	b := newBench(t)
	b.txnDone(b.txnCommit(txnWith{epoch: 4, offsets: map[int32]int64{0: 25, 3: 26}}))
	batch := batchAt(0, b.written[0].Records...)
	batch.Transactional, batch.ProducerID, batch.ProducerEpoch = true, 1000, 4
	b.c.Emigrate(b.now, 0, 5)
	b.take()
	if len(b.c.openTxns) != 0 {
		t.Fatalf("%+v", b.c.openTxns)
	}
	b.load(0, 6, batch)
	b.wantFetch(groupID, true, -1, 88)
	asked := b.c.verifyTickets
	b.txnDone(b.send("p", txnWith{epoch: 4, offsets: map[int32]int64{1: 7}}.request()))
	if b.c.verifyTickets != asked {
		t.Fatal("asked again within the transaction")
	}
	b.marker(0, true)
	b.wantOffsets(map[string]int64{"topic-0": 25, "topic-1": 7, "topic-3": 26})
}

// Deleting offsets takes them out of open transactions, with tombstones where records are.
func TestDeletionWithinATransaction(t *testing.T) {
	b := newBench(t)
	b.txnDone(b.txnCommit(txnWith{offsets: map[int32]int64{0: 1, 1: 2}}))
	b.deleteOffsets(groupID, at{"topic", 0})
	b.wantTombstones("[topic-0]")
	b.marker(0, true)
	b.wantOffsets(map[string]int64{"topic-1": 2})
	b.txnDone(b.txnCommit(txnWith{offsets: one(5)}))
	b.written = nil
	wantCode(t, "delete", b.deleteGroups(groupID).Groups[0].ErrorCode, 0)
	b.wantTombstones("[group groupId topic-0 topic-1]")
	b.marker(0, true)
	if b.c.groups[groupID] != nil {
		t.Fatal("the group is back")
	}
}
