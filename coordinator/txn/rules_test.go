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
