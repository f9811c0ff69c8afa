package txn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

func TestATransactionFromBeginningToEnd(t *testing.T) {
	for _, commit := range []bool{true, false} {
		w := newWorld(t)
		id, epoch := w.init("tx")
		if id != 1000 || epoch != 0 {
			t.Errorf("producer %d epoch %d", id, epoch)
		}
		w.done(addReq("tx", id, epoch, "t", 2, 0))
		w.done(offsetsReq("tx", id, epoch, "g"))
		part := record.Partition("g", 3)
		w.wantState("tx", fmt.Sprintf("Ongoing 1000/0 __consumer_offsets-%d t-0,2", part))
		w.events = nil
		ticket := w.ask(endReq("tx", id, epoch, commit))
		w.want(ticket, "waits")
		w.append(0)
		w.want(ticket, "NONE") // the decision is written: the client need not wait for the markers
		word := map[bool]string{true: "COMMIT", false: "ABORT"}[commit]
		w.wantState("tx", fmt.Sprintf("%s 1000/0 __consumer_offsets-%d t-0,2 -> %s", prepared(commit), part, completed(commit)))
		w.settle()
		want := fmt.Sprintf("[__consumer_offsets-%d %s 1000/0 t-0 %s 1000/0 t-2 %s 1000/0]", part, word, word, word)
		if got := fmt.Sprint(w.written); got != want {
			t.Errorf("markers %s, want %s", got, want)
		}
		w.wantState("tx", fmt.Sprintf("%s 1000/0 none", completed(commit)))
		if got := w.kinds(); got != "RequestReceived TxnAppendStarted TxnAppendFinished TxnStateChanged ReplySent "+
			"TxnMarkerSent TxnMarkerSent TxnMarkerSent TxnMarkerAnswered TxnMarkerAnswered TxnMarkerAnswered TxnAppendStarted TxnAppendFinished TxnStateChanged" {
			t.Errorf("told %s", got)
		}
		w.want(w.ask(endReq("tx", id, epoch, commit)), "NONE") // again: it is ended so
		w.want(w.ask(endReq("tx", id, epoch, !commit)), "INVALID_TXN_STATE")
		w.done(addReq("tx", id, epoch, "t", 1))
		w.wantState("tx", "Ongoing 1000/0 t-1")
	}
}

// Every refusal, in the order of the checks.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.init("empty")
	other := *initReq("tx", 60_000)
	other.ProducerID = 5
	lower := func(q kmsg.Request, version int16) kmsg.Request { q.SetVersion(version); return q }
	long := initReq(strings.Repeat("x", 40_000), 1)
	for _, x := range []struct {
		q    kmsg.Request
		want string
	}{
		{initReq("", 60_000), "INVALID_REQUEST"},
		{long, "INVALID_REQUEST"},
		{&other, "INVALID_REQUEST"},
		{initReq("tx", 0), "INVALID_TRANSACTION_TIMEOUT"},
		{initReq("tx", 900_001), "INVALID_TRANSACTION_TIMEOUT"},
		{addReq("", id, epoch, "t", 0), "INVALID_REQUEST"},
		{addReq("nobody", id, epoch, "t", 0), "INVALID_PRODUCER_ID_MAPPING"},
		{addReq("tx", id+1, epoch, "t", 0), "INVALID_PRODUCER_ID_MAPPING"},
		{addReq("tx", id, epoch+1, "t", 0), "PRODUCER_FENCED"},
		{lower(addReq("tx", id, epoch-1, "t", 0), 1), "INVALID_PRODUCER_EPOCH"},
		{addReq("tx", id, epoch, "gone", 0), "UNKNOWN_TOPIC_OR_PARTITION"},
		{addReq("tx", id, epoch, "t", 4), "UNKNOWN_TOPIC_OR_PARTITION"},
		{offsetsReq("tx", id+1, epoch, "g"), "INVALID_PRODUCER_ID_MAPPING"},
		{offsetsReq("tx", id, epoch+1, "g"), "PRODUCER_FENCED"},
		{endReq("", id, epoch, true), "INVALID_REQUEST"},
		{endReq("nobody", id, epoch, true), "INVALID_PRODUCER_ID_MAPPING"},
		{endReq("tx", id+1, epoch, true), "INVALID_PRODUCER_ID_MAPPING"},
		{endReq("tx", id, epoch+1, true), "PRODUCER_FENCED"},
		{lower(endReq("tx", id, epoch+1, true), 1), "INVALID_PRODUCER_EPOCH"},
		{endReq("tx", id, epoch, true), "INVALID_TXN_STATE"}, // Empty
	} {
		w.want(w.ask(x.q), x.want)
	}
	if len(w.appends) != 0 {
		t.Errorf("a refused request wrote %+v", w.appends)
	}
	mixed := addReq("tx", id, epoch, "t", 0)
	mixed.Topics = append(mixed.Topics, kmsg.AddPartitionsToTxnRequestTopic{Topic: "gone", Partitions: []int32{0}})
	r := w.replies[w.ask(mixed)].Kmsg.(*kmsg.AddPartitionsToTxnResponse)
	if a, b := r.Topics[0].Partitions[0].ErrorCode, r.Topics[1].Partitions[0].ErrorCode; a != codeOperationNotAttempted || b != codeUnknownTopicOrPartition {
		t.Errorf("one good and one unknown partition: %d and %d, want 55 and 3", a, b)
	}
}

// While one change is under way every other gets CONCURRENT_TRANSACTIONS, and so it is until the last marker is answered.
func TestConcurrentTransactions(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	all := func(when string) {
		t.Helper()
		for _, q := range []kmsg.Request{initReq("tx", 60_000), addReq("tx", id, epoch, "t", 1), offsetsReq("tx", id, epoch, "g"), endReq("tx", id, epoch, true), endReq("tx", id, epoch, false)} {
			if got := w.code(w.ask(q)); got != "CONCURRENT_TRANSACTIONS" {
				t.Errorf("%s: %T gets %s", when, q, got)
			}
		}
	}
	add := w.ask(addReq("tx", id, epoch, "t", 0))
	all("while a partition is added")
	w.append(0)
	w.want(add, "NONE")
	w.want(w.ask(addReq("tx", id, epoch, "t", 0)), "NONE") // it is in it already: nothing is written
	if len(w.appends) != 0 {
		t.Error("a partition that was in the transaction was written again")
	}
	w.ask(endReq("tx", id, epoch, true))
	all("while the decision is written")
	w.append(0)
	all("while the marker is on its way")
	w.mark(0)
	all("while the end is written")
	w.append(0)
	w.wantState("tx", "CompleteCommit 1000/0 none")
}

// A new producer with the same id ends the open transaction of the old one, which is fenced from then on.
func TestANewProducerFencesTheOld(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0))
	ticket := w.ask(initReq("tx", 60_000))
	w.want(ticket, "waits")
	w.want(w.ask(endReq("tx", id, epoch, true)), "PRODUCER_FENCED")
	w.append(0)
	w.want(ticket, "CONCURRENT_TRANSACTIONS")
	w.settle()
	if got := fmt.Sprint(w.written); got != "[t-0 ABORT 1000/1]" {
		t.Errorf("markers %s", got)
	}
	if again, next := w.init("tx"); again != id || next != 2 {
		t.Errorf("the new producer is %d/%d, want %d/2", again, next, id)
	}
	w.want(w.ask(addReq("tx", id, epoch, "t", 0)), "PRODUCER_FENCED")
}

// A fence whose record is not written raised the epoch in memory; the next attempt does not raise it again.
func TestAFailedFenceIsNotRaisedTwice(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0))
	ticket := w.ask(initReq("tx", 60_000))
	w.append(codeNotEnoughReplicas)
	w.want(ticket, "COORDINATOR_NOT_AVAILABLE")
	w.wantState("tx", "Ongoing 1000/1 t-0")
	w.ask(initReq("tx", 60_000))
	w.settle()
	w.wantState("tx", "CompleteAbort 1000/1 none")
}

// A transaction that is open for too long is aborted at the next turn of the job, under a new epoch.
func TestTimeout(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.to(5_000)
	w.done(addReq("tx", id, epoch, "t", 0))
	w.to(65_000)
	if len(w.appends) != 0 {
		t.Fatal("aborted before its time was over")
	}
	w.to(70_000)
	w.settle()
	w.wantState("tx", "CompleteAbort 1000/1 none")
	w.want(w.ask(endReq("tx", id, epoch, true)), "PRODUCER_FENCED")
	if next, epoch := w.init("tx"); next != id || epoch != 2 {
		t.Errorf("the next producer is %d/%d", next, epoch)
	}
}

// An id that nobody uses is forgotten, with a tombstone; nothing wakes the host before.
func TestExpiry(t *testing.T) {
	w := newWorld(t)
	w.init("tx")
	week := DefaultSettings().TransactionalIDExpirationMs
	if w.deadline != week {
		t.Errorf("the deadline is %d ms, want %d", w.deadline, week)
	}
	w.to(week)
	if len(w.appends) != 1 || w.appends[0].Record.Value != nil {
		t.Fatalf("written: %+v", w.appends)
	}
	w.append(codeRequestTimedOut)
	w.wantState("tx", "Empty 1000/0 none")
	w.to(week + DefaultSettings().RemoveExpiredIntervalMs)
	w.settle()
	w.wantState("tx", "unknown")
	if w.deadline != -1 {
		t.Errorf("an empty coordinator waits for %d ms", w.deadline)
	}
	w.lead()
	w.wantState("tx", "unknown")
}

// KIP-360: a producer that names itself gets the next epoch; the same request again the same; an older one is fenced.
func TestAProducerAsksForANewEpoch(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	ask := func(id int64, epoch int16) (int64, string) {
		q := initReq("tx", 60_000)
		q.ProducerID, q.ProducerEpoch = id, epoch
		ticket := w.ask(q)
		w.settle()
		return ticket, w.code(ticket)
	}
	for _, x := range []struct {
		id    int64
		epoch int16
		want  string
		next  int16
	}{{id, epoch, "NONE", 1}, {id, epoch, "NONE", 1}, {id, 1, "NONE", 2}, {id, epoch, "PRODUCER_FENCED", 0}, {id + 7, 2, "PRODUCER_FENCED", 0}} {
		ticket, got := ask(x.id, x.epoch)
		if got != x.want {
			t.Fatalf("%d/%d gets %s, want %s", x.id, x.epoch, got, x.want)
		}
		if r := w.replies[ticket].Kmsg.(*kmsg.InitProducerIDResponse); got == "NONE" && r.ProducerEpoch != x.next {
			t.Errorf("%d/%d gets epoch %d, want %d", x.id, x.epoch, r.ProducerEpoch, x.next)
		}
	}
	w.c.txns["tx"].epoch = math.MaxInt16 - 1
	if again, got := ask(id, math.MaxInt16-1); got != "NONE" || w.replies[again].Kmsg.(*kmsg.InitProducerIDResponse).ProducerID != id+1 {
		t.Errorf("a used up id gets %s, %+v", got, w.replies[again].Kmsg)
	}
	if again, got := ask(id, math.MaxInt16-1); got != "NONE" || w.replies[again].Kmsg.(*kmsg.InitProducerIDResponse).ProducerEpoch != 0 {
		t.Errorf("the same again gets %s", got)
	}
}

func TestProducerIDsComeInBlocks(t *testing.T) {
	w := newWorld(t)
	w.noIDs = true
	seen := map[int64]bool{}
	asked := 0
	for i := range 2500 {
		ticket := w.ask(initReq("-", 0))
		if got := w.code(ticket); got == "COORDINATOR_LOAD_IN_PROGRESS" {
			asked++
			w.c.Allocated(w.nowMs, int64(10_000*(i+1)), 1000, 0)
			w.take()
			continue
		}
		r := w.replies[ticket].Kmsg.(*kmsg.InitProducerIDResponse)
		if seen[r.ProducerID] || r.ProducerEpoch != 0 {
			t.Fatalf("id %d, epoch %d, seen %v", r.ProducerID, r.ProducerEpoch, seen[r.ProducerID])
		}
		seen[r.ProducerID] = true
	}
	if asked != 2 || len(seen) != 2498 {
		t.Errorf("%d times without an id, %d ids", asked, len(seen))
	}
	w.c.Allocated(w.nowMs, 0, 0, codeNotAvailable) // nothing was asked, and nothing came: no harm
	w.noIDs = false
	for range 600 { // over the edge of a block, asked for in time
		w.want(w.ask(initReq("-", 0)), "NONE")
	}
}

// What the log says when a record is not written, and what the client is told.
func TestAppendErrors(t *testing.T) {
	for code, want := range map[int16]string{
		3: "COORDINATOR_NOT_AVAILABLE", 19: "COORDINATOR_NOT_AVAILABLE", 20: "COORDINATOR_NOT_AVAILABLE", 7: "COORDINATOR_NOT_AVAILABLE",
		6: "NOT_COORDINATOR", 56: "NOT_COORDINATOR", 10: "UNKNOWN_SERVER_ERROR", 18: "UNKNOWN_SERVER_ERROR", 2: "CORRUPT_MESSAGE",
	} {
		w := newWorld(t)
		id, epoch := w.init("tx")
		for _, q := range []kmsg.Request{initReq("tx", 60_000), addReq("tx", id, epoch, "t", 0), offsetsReq("tx", id, epoch, "g")} {
			ticket := w.ask(q)
			w.append(code)
			w.want(ticket, want)
			w.wantState("tx", "Empty 1000/0 none")
		}
		w.done(addReq("tx", id, epoch, "t", 0))
		ticket := w.ask(endReq("tx", id, epoch, true))
		w.append(code)
		w.want(ticket, want)
		w.wantState("tx", "Ongoing 1000/0 t-0")
		w.done(endReq("tx", id, epoch, true)) // and again, now it works
		w.wantState("tx", "CompleteCommit 1000/0 none")
	}
}

// A marker is sent again until it is written; the last record too.
func TestMarkersAreRetried(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0))
	w.done(addReq("tx", id, epoch, "u", 1))
	w.ask(endReq("tx", id, epoch, true))
	w.append(0)
	w.mark(codeNotLeaderOrFollower)
	w.mark(0)
	if w.deadline != 100 || len(w.markers) != 0 {
		t.Fatalf("the deadline is %d ms, %d markers", w.deadline, len(w.markers))
	}
	w.to(100)
	w.mark(0)
	w.append(codeNotEnoughReplicas)
	w.wantState("tx", "PrepareCommit 1000/0 t-0 u-1 -> CompleteCommit")
	w.to(200)
	w.append(0)
	w.wantState("tx", "CompleteCommit 1000/0 none")
}

// A partition whose topic is gone needs no marker; a coordinator that learns of a newer one stops.
func TestMarkersThatAreNotNeeded(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0))
	w.done(addReq("tx", id, epoch, "u", 0))
	w.c.MetadataChanged(w.nowMs, Metadata{Topics: map[string]int32{"t": 4}, Leaders: []int32{1}, OffsetsPartitions: 3})
	w.ask(endReq("tx", id, epoch, true))
	w.append(0)
	if len(w.markers) != 1 || w.markers[0].Topic != "t" {
		t.Fatalf("markers %+v", w.markers)
	}
	w.c.MetadataChanged(w.nowMs, Metadata{Topics: map[string]int32{}, Leaders: []int32{1}, OffsetsPartitions: 3})
	w.mark(codeUnknownTopicOrPartition)
	w.settle()
	w.wantState("tx", "CompleteCommit 1000/0 none")

	w = newWorld(t)
	id, epoch = w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0, 1))
	w.ask(endReq("tx", id, epoch, true))
	w.append(0)
	w.mark(codeCoordinatorFenced)
	w.mark(0)
	if len(w.appends) != 0 || w.deadline != -1 {
		t.Errorf("it goes on: %d appends, deadline %d", len(w.appends), w.deadline)
	}
}

// Brokers ask whether a partition is part of a transaction before they take a batch of it (KIP-890).
func TestVerification(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.init("second")
	w.done(addReq("tx", id, epoch, "t", 0))
	one := func(id string, producerID int64, epoch int16, verify bool, partitions ...int32) kmsg.AddPartitionsToTxnRequestTransaction {
		return kmsg.AddPartitionsToTxnRequestTransaction{TransactionalID: id, ProducerID: producerID, ProducerEpoch: epoch, VerifyOnly: verify,
			Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: "t", Partitions: partitions}}}
	}
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version = 4
	q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{one("tx", id, epoch, true, 0, 1), one("second", id+1, 0, false, 2), one("tx", id, 9, true, 0), one("x", 1, 0, true, 0)}
	ticket := w.ask(q)
	w.want(ticket, "waits")
	w.append(0)
	w.want(ticket, "TRANSACTION_ABORTABLE")
	var got []int16
	for _, one := range w.replies[ticket].Kmsg.(*kmsg.AddPartitionsToTxnResponse).Transactions {
		for _, p := range one.Topics[0].Partitions {
			got = append(got, p.ErrorCode)
		}
	}
	if fmt.Sprint(got) != "[0 120 0 90 49]" {
		t.Errorf("codes %v", got)
	}
	w.wantState("second", "Ongoing 1001/0 t-2")
	empty := kmsg.NewPtrAddPartitionsToTxnRequest()
	empty.Version = 4
	w.want(w.ask(empty), "NONE")
}

// A coordinator that takes over ends what was decided, leaves open what was open, and answers nobody twice.
func TestFailover(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"empty", "open", "decided", "ended"} {
		id, epoch := w.init(name)
		if i > 0 {
			w.done(addReq(name, id, epoch, "t", int32(i)))
		}
		if name == "ended" {
			w.done(endReq(name, id, epoch, false))
		}
	}
	w.ask(endReq("decided", 1002, 0, true))
	w.append(0)
	late := w.ask(addReq("open", 1001, 0, "t", 0)) // its record is on the way when the partition is lost
	w.c.Emigrate(w.nowMs, 0, w.epoch+1)
	w.take()
	w.want(w.ask(initReq("open", 1)), "NOT_COORDINATOR")
	w.mark(0) // the answer to a marker that nobody waits for
	w.c.Immigrate(w.nowMs, 0, w.epoch+2, 99)
	w.want(w.ask(initReq("open", 1)), "COORDINATOR_LOAD_IN_PROGRESS")
	w.epoch += 2
	w.c.Load(w.nowMs, 0, w.epoch, LoadedBatch{Records: w.log})
	w.c.Loaded(w.nowMs, 0, w.epoch, "")
	w.take()
	want := "decided PrepareCommit 1002/0 t-2 -> CompleteCommit\nempty Empty 1000/0 none\nended CompleteAbort 1003/0 none\nopen Ongoing 1001/0 t-1"
	if got := w.picture(); got != want {
		t.Fatalf("loaded\n%s\nwant\n%s", got, want)
	}
	w.settle()
	w.want(late, "NOT_COORDINATOR")
	w.wantState("decided", "CompleteCommit 1002/0 none")
	w.to(70_000)
	w.settle()
	w.wantState("open", "CompleteAbort 1001/1 none")
	facts := w.c.Facts(w.nowMs)
	if len(facts) != 5 || facts[0].Body.Kind() != "TxnLoadFinished" || facts[4].Seq != w.c.cfg.Numbers.Last() {
		t.Errorf("facts %v", facts)
	}
}

func TestDamagedLog(t *testing.T) {
	w := newWorld(t)
	w.init("a")
	w.log = append(w.log, record.Record{Key: []byte{0, 9, 1}, Value: []byte{1}}, record.Record{Key: record.TransactionKey("b"), Value: []byte{0, 9}}, record.Record{Key: record.TransactionKey("c")})
	w.epoch++
	w.events = nil
	w.lead()
	w.wantState("a", "Empty 1000/0 none")
	for _, e := range w.events {
		if b, ok := e.Body.(event.TxnLoadFinished); ok && !strings.Contains(b.Failed, "version 9") {
			t.Errorf("the load says %q", b.Failed)
		}
	}
}

func TestMistakesOfTheHostPanic(t *testing.T) {
	for name, f := range map[string]func(w *world){
		"no numbers":     func(*world) { New(0, Config{}) },
		"another kind":   func(w *world) { w.ask(kmsg.NewPtrHeartbeatRequest()) },
		"time goes back": func(w *world) { w.to(5); w.c.Advance(4) },
		"a wrong ticket": func(w *world) { w.c.Appended(w.nowMs, 77, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f(newWorld(t))
		}()
	}
}

func TestMoreRefusals(t *testing.T) {
	w := newWorld(t)
	id, _ := w.init("tx")
	w.c.MetadataChanged(w.nowMs, Metadata{Topics: map[string]int32{"t": 4}, Leaders: []int32{1}})
	w.want(w.ask(offsetsReq("tx", id, 0, "g")), "COORDINATOR_NOT_AVAILABLE")
	fresh := New(0, Config{Numbers: &event.Numbers{}, Settings: DefaultSettings()})
	fresh.Handle(0, Request{Ticket: 1, Kmsg: initReq("tx", 1)})
	if out := fresh.Take(); out.Replies[0].Code != codeNotCoordinator || out.DeadlineMs != -1 {
		t.Errorf("without the topic: %+v", out)
	}
	s := DefaultSettings()
	s.TransactionMaxTimeoutMs, s.TransactionalIDExpirationMs = 10, 3_600_000
	w.c.ConfigChanged(w.nowMs, s)
	w.take()
	if w.deadline != 3_600_000 {
		t.Errorf("with a shorter expiration the deadline is %d", w.deadline)
	}
	w.want(w.ask(initReq("tx", 11)), "INVALID_TRANSACTION_TIMEOUT")
	w.done(addReq("tx", id, 0, "t", 0))
	w.c.txns["tx"].epoch = math.MaxInt16
	w.want(w.ask(initReq("tx", 10)), "UNKNOWN_SERVER_ERROR") // it cannot be fenced: the epochs are used up
	w.noIDs, w.c.ids = true, producerIDs{}
	w.want(w.ask(initReq("other", 10)), "COORDINATOR_LOAD_IN_PROGRESS")
	w.wantState("other", "unknown")
}

// A copy of a coordinator in the middle of a load and of a batch goes its own way.
func TestCloneInTheMiddle(t *testing.T) {
	w := newWorld(t)
	id, _ := w.init("tx")
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version = 4
	q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{TransactionalID: "tx", ProducerID: id, Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: "t", Partitions: []int32{1}}}}}
	ticket := w.ask(q)
	w.c.Immigrate(w.nowMs, 7, 1, 5)
	copied := w.c.Clone(w.c.cfg.Numbers.Clone())
	if len(copied.Facts(w.nowMs)) != len(w.c.Facts(w.nowMs)) {
		t.Errorf("the copy tells %d facts, the original %d", len(copied.Facts(w.nowMs)), len(w.c.Facts(w.nowMs)))
	}
	w.take()
	w.settle()
	w.want(ticket, "NONE")
	copied.Load(w.nowMs, 7, 1, LoadedBatch{Records: []record.Record{{Key: record.TransactionKey("other"), Value: w.log[0].Value}}})
	copied.Loaded(w.nowMs, 7, 1, "")
	if w.c.partitions[7].owned || len(w.c.partitions[7].load.txns) != 0 || copied.txns["tx"].state != event.TxnEmpty {
		t.Error("a copy and its original share state")
	}
	copied.Take()
	copied.Appended(w.nowMs, 2, codeNone)
	if out := copied.Take(); len(out.Replies) != 1 || out.Replies[0].Ticket != ticket {
		t.Errorf("the copy answers %+v", out.Replies)
	}
}

func TestFindCoordinator(t *testing.T) {
	w := newWorld(t)
	meta := Metadata{Brokers: []BrokerInfo{{2, "b2", 9092}}, Topics: map[string]int32{}, Leaders: []int32{2}, OffsetsPartitions: 3}
	w.c.MetadataChanged(w.nowMs, meta)
	old := kmsg.NewPtrFindCoordinatorRequest()
	old.Version, old.CoordinatorType, old.CoordinatorKey = 3, 1, "tx"
	if r := w.replies[w.ask(old)].Kmsg.(*kmsg.FindCoordinatorResponse); r.NodeID != 2 || r.Host != "b2" || r.ErrorCode != 0 {
		t.Errorf("found %+v", r)
	}
	batch := kmsg.NewPtrFindCoordinatorRequest()
	batch.Version, batch.CoordinatorType, batch.CoordinatorKeys = 4, 1, []string{"tx", "other"}
	if r := w.replies[w.ask(batch)].Kmsg.(*kmsg.FindCoordinatorResponse); len(r.Coordinators) != 2 || r.Coordinators[1].Key != "other" || r.Coordinators[1].NodeID != 2 {
		t.Errorf("found %+v", r)
	}
	meta.Leaders = []int32{-1}
	w.c.MetadataChanged(w.nowMs, meta)
	w.want(w.ask(old), "COORDINATOR_NOT_AVAILABLE")
	meta.Leaders = nil
	w.c.MetadataChanged(w.nowMs, meta)
	w.c.Handle(w.nowMs, Request{Ticket: 99, Kmsg: old})
	if out := w.c.Take(); !out.CreateTopic || out.Replies[0].Code != codeNotAvailable {
		t.Errorf("without the topic: %+v", out)
	}
}

func TestVerify(t *testing.T) {
	w := newWorld(t)
	id, _ := w.init("tx")
	verify := func(epoch int16, partition int32, want int16) {
		t.Helper()
		if got := w.c.Verify("tx", id, epoch, "t", partition); got != want {
			t.Errorf("epoch %d, t-%d: %d, want %d", epoch, partition, got, want)
		}
	}
	verify(0, 1, codeTransactionAbortable)
	w.ask(addReq("tx", id, 0, "t", 1))
	verify(0, 1, codeTransactionAbortable) // it is in the transaction when its record is written
	w.settle()
	verify(0, 1, codeNone)
	verify(0, 2, codeTransactionAbortable)
	verify(1, 1, codeProducerFenced)
	w.ask(addReq("tx", id, 0, "t", 2))
	verify(0, 1, codeNone) // whatever else is under way
	w.settle()
	w.ask(endReq("tx", id, 0, true))
	verify(0, 1, codeNone) // the decision is not written yet
	w.append(0)
	verify(0, 1, codeConcurrentTransactions)
	w.settle()
	verify(0, 1, codeTransactionAbortable)
}
