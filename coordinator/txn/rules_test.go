package txn

import "testing"

// A transaction is complete with the last of its markers, not with the first.
func TestATransactionIsCompleteWithItsLastMarker(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0, 1, 2))
	w.ask(endReq("tx", id, epoch, true))
	w.append(0)
	for left := 2; left >= 0; left-- {
		w.mark(0)
		if done := len(w.appends) > 0; done != (left == 0) {
			t.Fatalf("%d markers are left, and %d records are on the way", left, len(w.appends))
		}
	}
	w.settle()
	w.wantState("tx", "CompleteCommit 1000/0 none")
}

// transaction.timeout.ms counts from the first partition on; more partitions do not prolong it.
func TestMorePartitionsProlongNoTransaction(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.to(5_000)
	w.done(addReq("tx", id, epoch, "t", 0))
	w.to(60_000)
	w.done(addReq("tx", id, epoch, "t", 1))
	w.to(70_000)
	w.settle()
	w.wantState("tx", "CompleteAbort 1000/1 none")
}

// An outcome from before the partition was lost says nothing about what was loaded since (Kafka: the coordinator epoch
// that appendTransactionToLog's callback compares).
func TestOutcomeOfAnEarlierTermHasNoEffect(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0))
	late := w.ask(addReq("tx", id, epoch, "t", 1))
	record := w.appends[0]
	w.appends = nil
	w.c.Emigrate(w.nowMs, 0, w.epoch)
	w.lead()
	w.wantState("tx", "Ongoing 1000/0 t-0")
	w.ask(endReq("tx", id, epoch, true)) // begins a change of its own
	w.c.Appended(w.nowMs, record.Ticket, 0)
	w.take()
	w.want(late, "NOT_COORDINATOR")
	w.wantState("tx", "Ongoing 1000/0 t-0 -> PrepareCommit")
	w.settle()
	w.wantState("tx", "CompleteCommit 1000/0 none")
}

// EndTxn whose answer is lost is answered NONE when it is asked again, whatever became of it, also by the next coordinator
// (TransactionCoordinator.endTransaction): its producer is not fenced by that.
func TestALostEndTxnIsAskedAgain(t *testing.T) {
	for phase, before := range map[string]func(w *world){
		"not written":    func(w *world) { w.appends = nil },
		"decided":        func(w *world) { w.append(0) },
		"all marked":     func(w *world) { w.append(0); w.mark(0); w.appends = nil },
		"complete":       func(w *world) { w.settle() },
		"not replicated": func(w *world) { w.append(codeNotEnoughAfterAppend) },
	} {
		w := newWorld(t)
		id, epoch := w.init("tx")
		w.done(addReq("tx", id, epoch, "t", 0))
		w.ask(endReq("tx", id, epoch, true))
		before(w)
		w.markers = nil
		w.c.Emigrate(w.nowMs, 0, w.epoch)
		w.lead()
		w.settle()
		again := w.ask(endReq("tx", id, epoch, true))
		w.settle()
		if got := w.code(again); got != "NONE" {
			t.Errorf("%s when its coordinator died: EndTxn again gets %s", phase, got)
		}
		w.wantState("tx", "CompleteCommit 1000/0 none")
	}
}

// A producer that gives its transaction up without an end, and asks for a new epoch under the one that it has, fences
// itself: the coordinator raises the epoch to abort the transaction, and remembers no last one (prepareFenceProducerEpoch).
// One whose answer is lost together with its coordinator is fenced, too, since the log does not hold the last epoch
// (TransactionMetadata.prepareIncrementProducerEpoch says so). Apache Kafka 4.0.2 with transaction.version 0 and 1 answers
// both likewise; version 2, which is not modelled, mends the first.
func TestAProducerThatFencesItself(t *testing.T) {
	w := newWorld(t)
	again := *initReq("tx", 60_000)
	id, epoch := w.init("tx")
	again.ProducerID, again.ProducerEpoch = id, epoch
	w.done(addReq("tx", id, epoch, "t", 0))
	first := w.ask(&again)
	w.settle()
	w.want(first, "CONCURRENT_TRANSACTIONS")
	w.wantState("tx", "CompleteAbort 1000/1 none")
	w.want(w.ask(&again), "PRODUCER_FENCED")

	id, epoch = w.init("other")
	again.TransactionalID, again.ProducerID, again.ProducerEpoch = initReq("other", 1).TransactionalID, id, epoch
	w.done(&again)
	w.done(&again) // it is remembered for as long as the coordinator lives
	w.c.Emigrate(w.nowMs, 0, w.epoch)
	w.lead()
	w.want(w.ask(&again), "PRODUCER_FENCED")
}
