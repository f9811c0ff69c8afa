package txn

import (
	"fmt"
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// PRODUCER_FENCED is INVALID_PRODUCER_EPOCH to versions that do not know it (KIP-588), and each API has its own first one
// that does.
func TestFencingByVersion(t *testing.T) {
	w := newWorld(t)
	id, _ := w.init("tx")
	for _, x := range []struct {
		q     func() kmsg.Request
		first int16
	}{
		{func() kmsg.Request {
			q := initReq("tx", 60_000)
			q.ProducerID, q.ProducerEpoch = id, 9
			return q
		}, 4},
		{func() kmsg.Request { return addReq("tx", id, 9, "t", 0) }, 2},
		{func() kmsg.Request { return offsetsReq("tx", id, 9, "g") }, 2},
		{func() kmsg.Request { return endReq("tx", id, 9, true) }, 2},
	} {
		for version := range int16(5) {
			q := x.q()
			if q.Key() == 22 && version < 3 || q.Key() == 24 && version > 3 || version > q.MaxVersion() {
				continue // no producer id in the request yet; a broker's request
			}
			q.SetVersion(version)
			want := "INVALID_PRODUCER_EPOCH"
			if version >= x.first {
				want = "PRODUCER_FENCED"
			}
			if got := w.code(w.ask(q)); got != want {
				t.Errorf("%T version %d: %s, want %s", q, version, got, want)
			}
		}
	}
}

// InitProducerId in all its versions: without an id, with a new one, again. Versions before 3 cannot name a producer.
func TestInitProducerIDOfAllVersions(t *testing.T) {
	for version := range int16(6) {
		w := newWorld(t)
		ask := func(id string) *kmsg.InitProducerIDResponse {
			q := initReq(id, 60_000)
			q.Version = version
			if again := kmsg.NewPtrInitProducerIDRequest(); version < 3 { // as it comes from a wire
				again.Version = version
				if err := again.ReadFrom(q.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
				q = again
			}
			ticket := w.ask(q)
			w.settle()
			w.want(ticket, "NONE")
			return w.replies[ticket].Kmsg.(*kmsg.InitProducerIDResponse)
		}
		if r := ask("-"); r.ProducerID != 1000 || r.ProducerEpoch != 0 || r.Version != version {
			t.Errorf("version %d, no id: %+v", version, r)
		}
		for epoch := range int16(3) {
			if r := ask("tx"); r.ProducerID != 1001 || r.ProducerEpoch != epoch {
				t.Errorf("version %d: %+v, want 1001/%d", version, r, epoch)
			}
		}
	}
}

// An idempotent producer may name a producer id of before; it is given a new one (KIP-360).
func TestAnIdempotentProducerStartsAnew(t *testing.T) {
	w := newWorld(t)
	q := initReq("-", 60_000)
	q.ProducerID, q.ProducerEpoch = 0, 0
	ticket := w.ask(q)
	w.want(ticket, "NONE")
	if r := w.replies[ticket].Kmsg.(*kmsg.InitProducerIDResponse); r.ProducerID != 1000 || r.ProducerEpoch != 0 {
		t.Errorf("%+v", r)
	}
	for _, half := range []func(){func() { q.ProducerID = -1 }, func() { q.ProducerID, q.ProducerEpoch = 7, -1 }} {
		half()
		w.want(w.ask(q), "INVALID_REQUEST")
	}
}

// The last epoch of a producer id is kept for fencing. Who comes to the one before it gets a new producer id; who names
// itself must name just that epoch, for Kafka looks for a next one first.
func TestEpochExhaustion(t *testing.T) {
	ask := func(w *world, epoch int16) (string, *kmsg.InitProducerIDResponse) {
		q := initReq("tx", 60_000)
		if epoch >= 0 {
			q.ProducerID, q.ProducerEpoch = 1000, epoch
		}
		ticket := w.ask(q)
		w.settle()
		return w.code(ticket), w.replies[ticket].Kmsg.(*kmsg.InitProducerIDResponse)
	}
	for _, x := range []struct {
		has, last, asks int16
		want            string
	}{
		{math.MaxInt16 - 2, -1, -1, "NONE 1000/32766"},
		{math.MaxInt16 - 2, -1, math.MaxInt16 - 2, "NONE 1000/32766"},
		{math.MaxInt16 - 1, -1, -1, "NONE 1001/0"},
		{math.MaxInt16 - 1, -1, math.MaxInt16 - 1, "NONE 1001/0"},
		{math.MaxInt16 - 1, math.MaxInt16 - 2, math.MaxInt16 - 2, "UNKNOWN_SERVER_ERROR -1/-1"},
		{math.MaxInt16, -1, -1, "NONE 1001/0"},
		{math.MaxInt16, -1, 5, "UNKNOWN_SERVER_ERROR -1/-1"},
	} {
		w := newWorld(t)
		w.init("tx")
		w.c.txns["tx"].epoch, w.c.txns["tx"].lastEpoch = x.has, x.last
		code, r := ask(w, x.asks)
		if got := fmt.Sprintf("%s %d/%d", code, r.ProducerID, r.ProducerEpoch); got != x.want {
			t.Errorf("at epoch %d, asked with %d: %s, want %s", x.has, x.asks, got, x.want)
		}
		if len(w.appends) != 0 {
			t.Error("something is still to be written")
		}
	}
	// An open transaction of the last but one is fenced with the last one, and the next init has a new id.
	w := newWorld(t)
	id, _ := w.init("tx")
	w.c.txns["tx"].epoch = math.MaxInt16 - 1
	w.done(addReq("tx", id, math.MaxInt16-1, "t", 0))
	if code, _ := ask(w, -1); code != "CONCURRENT_TRANSACTIONS" {
		t.Errorf("the fence gets %s", code)
	}
	if got := fmt.Sprint(w.written); got != "[t-0 ABORT 1000/32767]" {
		t.Errorf("markers %s", got)
	}
	if again, epoch := w.init("tx"); again != id+1 || epoch != 0 {
		t.Errorf("then %d/%d", again, epoch)
	}
}

// A batch of a broker (AddPartitionsToTxn from version 4 on) is refused as a client's is: where one partition of a
// transaction does not exist, none of it is added or verified; the other transactions are.
func TestUnknownPartitionsOfABatch(t *testing.T) {
	for _, verifyOnly := range []bool{false, true} {
		w := newWorld(t)
		first, _ := w.init("first")
		second, _ := w.init("second")
		w.done(addReq("second", second, 0, "u", 1))
		one := func(id string, producerID int64, topics ...kmsg.AddPartitionsToTxnRequestTransactionTopic) kmsg.AddPartitionsToTxnRequestTransaction {
			return kmsg.AddPartitionsToTxnRequestTransaction{TransactionalID: id, ProducerID: producerID, VerifyOnly: verifyOnly, Topics: topics}
		}
		type topic = kmsg.AddPartitionsToTxnRequestTransactionTopic
		q := kmsg.NewPtrAddPartitionsToTxnRequest()
		q.Version = 4
		q.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{
			one("first", first, topic{Topic: "t", Partitions: []int32{0, 4}}, topic{Topic: "gone", Partitions: []int32{0}}),
			one("second", second, topic{Topic: "u", Partitions: []int32{1}})}
		ticket := w.ask(q)
		w.settle()
		w.want(ticket, "UNKNOWN_TOPIC_OR_PARTITION")
		var got []int16
		for _, x := range w.replies[ticket].Kmsg.(*kmsg.AddPartitionsToTxnResponse).Transactions {
			for _, topic := range x.Topics {
				for _, p := range topic.Partitions {
					got = append(got, p.ErrorCode)
				}
			}
		}
		if fmt.Sprint(got) != "[55 3 3 0]" {
			t.Errorf("verify %v: codes %v", verifyOnly, got)
		}
		w.wantState("first", "Empty 1000/0 none")
		w.wantState("second", "Ongoing 1001/0 u-1")
	}
}

// What a partition answers to a marker: it has it, or cannot have any, or will have it later, or a newer coordinator ends
// the transaction (TransactionMarkerRequestCompletionHandler).
func TestAnswersToMarkers(t *testing.T) {
	for code, want := range map[int16]string{
		0: "done", 35: "done", 43: "done",
		3: "again", 6: "again", 7: "again", 13: "again", 14: "again", 15: "again", 16: "again", 19: "again", 20: "again", 56: "again",
		47: "given up", 52: "given up",
	} {
		w := newWorld(t)
		id, epoch := w.init("tx")
		w.done(addReq("tx", id, epoch, "t", 0))
		w.ask(endReq("tx", id, epoch, true))
		w.append(0)
		w.mark(code)
		got := "given up"
		switch {
		case len(w.appends) == 1:
			got = "done"
		case w.deadline == DefaultSettings().RetryBackoffMs:
			got = "again"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", event.CodeName(code), got, want)
		}
	}
}

// Whoever takes over finds a transaction in any state, and the record of a change either in the log or not. What is in the
// log is what happened, whatever the client was told; what was decided is ended; what is open times out.
func TestFailoverInEachState(t *testing.T) {
	for _, x := range []struct {
		name           string
		before         func(w *world) kmsg.Request // the request whose record is on its way
		lost, written  string                      // what the next coordinator finds
		ended          string                      // what becomes of it, where its record was written
		lostEnd        string                      // and where it was not
		markers, after int                         // that the next coordinator sends; where the record was lost
	}{
		{"the first record", func(*world) kmsg.Request { return initReq("tx", 60_000) },
			"unknown", "Empty 1000/0 none", "Empty 1000/0 none", "unknown", 0, 0},
		{"the first partition", func(w *world) kmsg.Request {
			id, epoch := w.init("tx")
			return addReq("tx", id, epoch, "t", 0)
		}, "Empty 1000/0 none", "Ongoing 1000/0 t-0", "CompleteAbort 1000/1 none", "Empty 1000/0 none", 1, 0},
		{"another partition", func(w *world) kmsg.Request {
			id, epoch := w.init("tx")
			w.done(addReq("tx", id, epoch, "t", 0))
			return addReq("tx", id, epoch, "t", 1)
		}, "Ongoing 1000/0 t-0", "Ongoing 1000/0 t-0,1", "CompleteAbort 1000/1 none", "CompleteAbort 1000/1 none", 2, 1},
		{"a commit", func(w *world) kmsg.Request {
			id, epoch := w.init("tx")
			w.done(addReq("tx", id, epoch, "t", 0))
			return endReq("tx", id, epoch, true)
		}, "Ongoing 1000/0 t-0", "PrepareCommit 1000/0 t-0 -> CompleteCommit", "CompleteCommit 1000/0 none", "CompleteAbort 1000/1 none", 1, 1},
		{"an abort", func(w *world) kmsg.Request {
			id, epoch := w.init("tx")
			w.done(addReq("tx", id, epoch, "t", 0))
			return endReq("tx", id, epoch, false)
		}, "Ongoing 1000/0 t-0", "PrepareAbort 1000/0 t-0 -> CompleteAbort", "CompleteAbort 1000/0 none", "CompleteAbort 1000/1 none", 1, 1},
		{"a fence", func(w *world) kmsg.Request {
			id, epoch := w.init("tx")
			w.done(addReq("tx", id, epoch, "t", 0))
			return initReq("tx", 60_000)
		}, "Ongoing 1000/0 t-0", "PrepareAbort 1000/1 t-0 -> CompleteAbort", "CompleteAbort 1000/1 none", "CompleteAbort 1000/1 none", 1, 1},
		{"the next epoch", func(w *world) kmsg.Request {
			w.init("tx")
			return initReq("tx", 60_000)
		}, "Empty 1000/0 none", "Empty 1000/1 none", "Empty 1000/1 none", "Empty 1000/0 none", 0, 0},
	} {
		for _, written := range []bool{true, false} {
			w := newWorld(t)
			ticket := w.ask(x.before(w))
			if len(w.appends) != 1 {
				t.Fatalf("%s: %d records are on their way", x.name, len(w.appends))
			}
			if written {
				w.log = append(w.log, w.appends[0].Record)
			}
			w.c.Emigrate(w.nowMs, 0, w.epoch+1)
			w.epoch++
			w.take()
			w.written = nil
			w.lead()
			found, end, markers := x.written, x.ended, x.markers
			if !written {
				found, end, markers = x.lost, x.lostEnd, x.after
			}
			w.wantState("tx", found)
			w.append(codeNotLeaderOrFollower) // the outcome of the old one
			w.want(ticket, "NOT_COORDINATOR")
			w.settle()
			w.to(200_000)
			w.settle()
			w.wantState("tx", end)
			if len(w.written) != markers {
				t.Errorf("%s, written %v: markers %v, want %d", x.name, written, w.written, markers)
			}
		}
	}
}

// While the last record is on its way the markers are there already: the next coordinator sends them again, and it is the
// partitions that know which coordinator is the newer one.
func TestFailoverBeforeTheLastRecord(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0, 1))
	w.ask(endReq("tx", id, epoch, true))
	w.append(0)
	w.mark(0)
	w.mark(0)
	w.c.Emigrate(w.nowMs, 0, w.epoch+1)
	w.epoch++
	w.take()
	w.lead()
	w.wantState("tx", "PrepareCommit 1000/0 t-0,1 -> CompleteCommit")
	w.append(codeNotLeaderOrFollower)
	w.settle()
	w.wantState("tx", "CompleteCommit 1000/0 none")
	if got := fmt.Sprint(w.written); got != "[t-0 COMMIT 1000/0 t-1 COMMIT 1000/0 t-0 COMMIT 1000/0 t-1 COMMIT 1000/0]" {
		t.Errorf("markers %s", got)
	}
}

// Of several partitions of __transaction_state one is lost: its ids are, and no others.
func TestOnlyThePartitionsIDsAreForgotten(t *testing.T) {
	c := New(0, Config{Broker: 1, Numbers: &event.Numbers{}, Settings: DefaultSettings()})
	c.MetadataChanged(0, Metadata{Topics: map[string]int32{"t": 4}, Leaders: []int32{1, 1}})
	c.Allocated(0, 1, 1000, 0)
	for p := range int32(2) {
		c.Immigrate(0, p, 0, 0)
		c.Loaded(0, p, 0, "")
	}
	for i, id := range []string{"a", "b"} { // hash codes 97 and 98
		if p := record.Partition(id, 2); p != int32(1-i) {
			t.Fatalf("%s lives in %d", id, p)
		}
		c.Handle(0, Request{Ticket: int64(i), Kmsg: initReq(id, 1000)})
	}
	c.Take()
	c.Emigrate(0, 1, 1)
	c.Handle(0, Request{Ticket: 7, Kmsg: initReq("a", 1000)})
	c.Handle(0, Request{Ticket: 8, Kmsg: initReq("b", 1000)})
	out := c.Take()
	if len(out.Replies) != 2 || out.Replies[0].Code != codeNotCoordinator || out.Replies[1].Code != codeConcurrentTransactions {
		t.Errorf("%+v", out.Replies)
	}
}
