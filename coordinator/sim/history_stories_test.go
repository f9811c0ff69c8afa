package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/event"
)

// stories are histories of one partition, and whether they can have happened. Each is told in events, as a world would:
//
//	send N OFFSET       request N sets out to commit OFFSET; store N, the broker is writing it
//	written N, failed N its append's outcome; ok N, refused N: it is answered
//	commit N OFFSET     all of it: send, store, written, ok
//	asks N, reads OFFSET N; read OFFSET  an OffsetFetch, in two parts or at once; -1 is no offset
//	peek OFFSET         a read that does not require stable offsets
//	kill                the broker dies
//	remove, buried, unburied  an OffsetsRemoved and its tombstones' outcome
//	txn N OFFSET        a transaction commits OFFSET, TxnOffsetCommit is answered
//	end, prepared, complete, aborted  EndTxn is sent to commit; the states that the coordinator tells
//	again               a copy of that EndTxn is under way
var stories = []struct {
	name, story string
	// can be, or not
	can bool
}{
	{"a commit is read", "read -1; commit 1 10; read 10; peek 10; commit 2 11; read 11", true},
	{"a stale read after an acknowledged commit", "commit 1 10; commit 2 11; read 10", false},
	{"a stale read by a reader that does not care", "commit 1 10; commit 2 11; peek 10", false},
	{"a read that began before the commit was acknowledged", "commit 1 10; asks 5; commit 2 11; reads 10 5", true},
	{"the same, but another has read the new value before", "commit 1 10; send 2 11; read 11; asks 5; reads 10 5; store 2; written 2; ok 2", false},
	{"a read while a commit is being written", "commit 1 10; send 2 11; store 2; read 10; written 2; read 11; ok 2", true},
	{"a commit that was never sent is read", "commit 1 10; read 12", false},
	{"a commit that was refused is read", "commit 1 10; send 2 11; refused 2; read 11", false},
	{"a commit that was refused is not read", "commit 1 10; send 2 11; refused 2; read 10", true},
	{"a lost commit after a failover", "commit 1 10; commit 2 11; kill; read 10", false},
	{"a commit lost altogether after a failover", "commit 1 10; kill; read -1", false},
	{"an acknowledged commit that was never written", "commit 1 10; send 2 11; ok 2; kill; read 10", false},
	{"one acknowledged before it was written, and then lost", "commit 1 10; send 2 11; store 2; ok 2; kill; read 10", false},
	{"an answer on the way when the broker died: written", "commit 1 10; send 2 11; store 2; kill; read 11; read 11", true},
	{"an answer on the way when the broker died: not written", "commit 1 10; send 2 11; store 2; kill; read 10; read 10", true},
	{"the same is found by a later coordinator", "commit 1 10; send 2 11; store 2; kill; read 10; kill; read 11", true},
	{"it is found and lost again", "commit 1 10; send 2 11; store 2; kill; read 11; read 10", false},
	{"a failed append is found after a later commit", "commit 1 10; send 2 11; store 2; failed 2; commit 3 12; kill; read 11", false},
	{"the older record never wins", "send 1 10; store 1; send 2 11; store 2; written 2; ok 2; written 1; ok 1; read 11", true},
	{"the older record has won", "send 1 10; store 1; send 2 11; store 2; written 2; ok 2; written 1; ok 1; read 10", false},

	{"a removal", "commit 1 10; remove; buried; read -1; kill; read -1; commit 2 11; read 11", true},
	{"a deleted offset is still read", "commit 1 10; remove; buried; read 10", false},
	{"a resurrected deleted offset", "commit 1 10; remove; buried; read -1; kill; read 10", false},
	{"a removal of which the log knows nothing is undone", "commit 1 10; remove; unburied; read -1; kill; read 10; read 10", true},
	{"a removal that a dead broker began", "commit 1 10; remove; kill; read 10", true},
	{"it is undone though something was committed since", "commit 1 10; remove; unburied; commit 2 11; kill; read 10", false},
	{"a pending commit is removed, and written", "send 1 10; store 1; remove; written 1; ok 1; buried; read -1", true},
	{"a pending commit is removed, and comes back", "send 1 10; store 1; remove; written 1; ok 1; buried; read 10", false},

	{"a transaction commits", "commit 1 10; txn 2 20; read 10; end; prepared; complete; read 20; peek 20", true},
	{"an aborted transactional offset is read", "commit 1 10; txn 2 20; aborted; read 20", false},
	{"an aborted transactional offset is peeked at", "commit 1 10; txn 2 20; aborted; peek 20", false},
	{"an aborted transaction changes nothing", "commit 1 10; txn 2 20; aborted; read 10; peek 10", true},
	{"an offset of an open transaction is read", "commit 1 10; txn 2 20; read 20; end; prepared; complete", false},
	{"a stable read after the decision sees the old value", "commit 1 10; txn 2 20; end; prepared; read 10", false},
	{"any other read after the decision may", "commit 1 10; txn 2 20; end; prepared; peek 10; peek 20; complete; peek 20", true},
	{"but not when all markers are written", "commit 1 10; txn 2 20; end; prepared; complete; peek 10", false},
	{"nor go back", "commit 1 10; txn 2 20; end; prepared; peek 20; peek 10; complete", false},
	{"a plain commit later in the log wins over the transaction", "txn 2 20; commit 1 10; end; prepared; complete; read 10", true},
	{"the transaction wins, though its record is older", "txn 2 20; commit 1 10; end; prepared; complete; read 20", false},
	{"a second copy of EndTxn commits the next transaction", "txn 2 20; end; again; prepared; complete; txn 3 30; prepared; complete; read 30", true},
	{"the next transaction is committed by nobody", "txn 2 20; end; prepared; complete; txn 3 30; prepared; complete; read 30", false},
	{"a transaction's offset is removed before it ends", "txn 2 20; remove; buried; end; prepared; complete; read -1", true},
	{"it comes back with the marker", "txn 2 20; remove; buried; end; prepared; complete; read 20", false},
}

func TestHistoriesThatCanBeAndThatCannot(t *testing.T) {
	for _, x := range stories {
		t.Run(x.name, func(t *testing.T) {
			s := &teller{h: newHistory(), offsets: map[string]int64{}}
			for step := range strings.SplitSeq(x.story, "; ") {
				s.step(t, strings.Fields(step))
			}
			wrong := s.h.finish()
			if x.can && wrong != "" {
				t.Errorf("this can happen, but %s", wrong)
			}
			if !x.can && !strings.Contains(wrong, "cannot have happened in any order") {
				t.Errorf("this cannot happen, but nothing was said: %q", wrong)
			}
			if testing.Verbose() {
				t.Log(wrong)
			}
		})
	}
}

// teller turns a story into events.
type teller struct {
	h       *history
	seq     int64
	offsets map[string]int64 // by the request's number
}

func (s *teller) tell(t *testing.T, broker int32, body event.Body) {
	s.seq++
	if wrong := s.h.apply(event.Event{Seq: s.seq, AtMs: s.seq, Broker: broker, Group: "g", Body: body}); wrong != "" {
		t.Fatal(wrong)
	}
}

func number(s string) (n int64) {
	fmt.Sscan(s, &n)
	return n
}

func (s *teller) step(t *testing.T, w []string) {
	value := func(offset int64) []event.OffsetValue {
		return []event.OffsetValue{{Topic: "orders", Offset: offset, LeaderEpoch: -1}}
	}
	n, nth := int64(0), ""
	if len(w) > 1 {
		n, nth = number(w[1]), w[1]
	}
	switch w[0] {
	case "send":
		s.offsets[nth] = number(w[2])
		s.tell(t, 0, event.RequestSent{Client: "c1", Request: n, API: 8, To: 1, Offsets: value(s.offsets[nth])})
	case "store":
		s.tell(t, 1, event.RequestReceived{Ticket: n, API: 8, ClientID: "c1"})
		s.tell(t, 1, event.OffsetsPending{Append: n, Offsets: value(s.offsets[nth])})
	case "written":
		s.tell(t, 1, event.AppendFinished{Append: n})
	case "failed":
		s.tell(t, 1, event.AppendFinished{Append: n, Code: 7})
	case "ok":
		s.tell(t, 1, event.ReplySent{Ticket: n, API: 8})
	case "refused":
		s.tell(t, 1, event.RequestReceived{Ticket: n, API: 8, ClientID: "c1"})
		s.tell(t, 1, event.ReplySent{Ticket: n, API: 8, Code: 22})
	case "commit":
		for _, part := range []string{"send", "store", "written", "ok"} {
			s.step(t, []string{part, w[1], w[2]})
		}
	case "asks":
		s.tell(t, 0, event.RequestSent{Client: "c2", Request: n, API: 9, To: 1, RequireStable: true})
	case "reads":
		s.tell(t, 1, event.ReplySent{Ticket: number(w[2]), API: 9})
		s.tell(t, 1, event.ReplyOnWire{Client: "c2", Request: number(w[2]), API: 9, Offsets: value(n)})
	case "read", "peek":
		s.tell(t, 0, event.RequestSent{Client: "c2", Request: 99, API: 9, To: 1, RequireStable: w[0] == "read"})
		s.step(t, []string{"reads", w[1], "99"})
	case "kill":
		s.tell(t, 0, event.BrokerStopped{ID: 1, Killed: true})
	case "remove":
		s.tell(t, 1, event.OffsetsRemoved{Why: event.WhyOffsetsDeleted, Offsets: value(0)})
		s.tell(t, 1, event.AppendStarted{Append: 90, What: "tombstones"})
	case "buried":
		s.tell(t, 1, event.AppendFinished{Append: 90})
	case "unburied":
		s.tell(t, 1, event.AppendFinished{Append: 90, Code: 7})
	case "txn":
		offset := value(number(w[2]))
		s.tell(t, 0, event.RequestSent{Client: "c1", Request: n, API: 28, To: 1, ProducerID: 7, Offsets: offset})
		s.tell(t, 1, event.RequestReceived{Ticket: n, API: 28, ClientID: "c1"})
		s.tell(t, 1, event.TxnOffsetsPending{ProducerID: 7, Append: n, Offsets: offset})
		s.tell(t, 1, event.AppendFinished{Append: n})
		s.tell(t, 1, event.ReplySent{Ticket: n, API: 28})
	case "end":
		s.tell(t, 0, event.RequestSent{Client: "c1", Request: 98, API: 26, To: 2, ProducerID: 7, Commit: true})
	case "again":
		s.tell(t, 0, event.RequestSent{Client: "c1", Request: 97, API: 26, To: 2, CopyOf: 98})
	case "prepared":
		s.tell(t, 2, event.TxnStateChanged{ProducerID: 7, To: event.TxnPrepareCommit})
	case "complete":
		s.tell(t, 2, event.TxnStateChanged{ProducerID: 7, To: event.TxnCompleteCommit})
	case "aborted":
		s.tell(t, 2, event.TxnStateChanged{ProducerID: 7, To: event.TxnPrepareAbort})
	default:
		t.Fatalf("no story has a %q", w[0])
	}
}
