package txn

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// What an operator is told (KIP-664): of each id what is known, and of what is not here why.
func TestDescribeAndList(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.init("other")
	w.to(5000)
	w.done(addReq("tx", id, epoch, "t", 2, 0))
	seen, code := w.c.Describe("tx")
	want := "{tx Ongoing 1000 0 60000 5000 [{t [0 2]}]} 0"
	if got := fmt.Sprint(seen, code); got != want {
		t.Errorf("described as %s, want %s", got, want)
	}
	for name, want := range map[string]int16{"": codeInvalidRequest, "nobody": codeTransactionalIDNotFound} {
		if _, code := w.c.Describe(name); code != want {
			t.Errorf("%q: %s", name, event.CodeName(code))
		}
	}
	if list, code := w.c.List(); code != 0 || len(list) != 2 || list[0].TransactionalID != "other" || list[0].State != event.TxnEmpty || list[0].StartMs != -1 || list[1].StartMs != 5000 {
		t.Errorf("listed %+v, %d", list, code)
	}
	w.done(endReq("tx", id, epoch, true))
	if seen, _ := w.c.Describe("tx"); seen.State != event.TxnCompleteCommit || len(seen.Partitions) != 0 {
		t.Errorf("ended: %+v", seen)
	}
	w.c.Immigrate(w.nowMs, 0, w.epoch+1, 9)
	if _, code := w.c.List(); code != codeLoadInProgress {
		t.Errorf("listed while it loads: %d", code)
	}
	if _, code := w.c.Describe("tx"); code != codeLoadInProgress {
		t.Errorf("described while it loads: %d", code)
	}
	w.c.Emigrate(w.nowMs, 0, w.epoch+2)
	w.take()
	if _, code := w.c.Describe("tx"); code != codeNotCoordinator {
		t.Errorf("described by another broker: %d", code)
	}
	for _, q := range []kmsg.Request{addReq("tx", id, epoch, "t", 0), offsetsReq("tx", id, epoch, "g"), endReq("tx", id, epoch, true), initReq("tx", 1)} {
		w.want(w.ask(q), "NOT_COORDINATOR")
	}
}

// Moves of leadership that come late, twice or out of order: epochs decide, and batches of a load that is over are nobody's.
func TestEpochsOfAPartition(t *testing.T) {
	w := newWorld(t)
	w.init("tx")
	w.lead()
	value := w.log[0].Value
	c, other := w.c, LoadedBatch{Records: []record.Record{{Key: record.TransactionKey("late"), Value: value}}}
	c.Immigrate(w.nowMs, 0, w.epoch, 9)   // the same again
	c.Immigrate(w.nowMs, 0, w.epoch-1, 9) // an older one
	c.Emigrate(w.nowMs, 0, w.epoch-1)
	c.Emigrate(w.nowMs, 7, 3) // a partition that never was here
	w.take()
	w.wantState("tx", "Empty 1000/0 none")
	c.Immigrate(w.nowMs, 0, 5, 1)
	w.wantState("tx", "unknown")
	c.Load(w.nowMs, 0, 4, other)
	c.Loaded(w.nowMs, 0, 4, "")
	w.want(w.ask(initReq("tx", 1)), "COORDINATOR_LOAD_IN_PROGRESS")
	c.Immigrate(w.nowMs, 0, 6, 1) // newer, while it loads: from the beginning
	c.Load(w.nowMs, 0, 5, other)
	c.Loaded(w.nowMs, 0, 5, "")
	c.Load(w.nowMs, 0, 6, LoadedBatch{Records: w.log})
	c.Loaded(w.nowMs, 0, 6, "")
	c.Load(w.nowMs, 0, 6, other)
	w.take()
	w.epoch = 6
	w.wantState("tx", "Empty 1000/0 none")
	w.wantState("late", "unknown")
	c.Emigrate(w.nowMs, 0, -1) // whatever the epoch
	w.take()
	w.want(w.ask(initReq("tx", 1)), "NOT_COORDINATOR")
}

// A last record that waits to be written again goes with its partition.
func TestRetriesGoWithTheirPartition(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0))
	w.ask(endReq("tx", id, epoch, true))
	w.append(0)
	w.mark(0)
	w.append(codeNotEnoughReplicas)
	if w.deadline != w.nowMs+DefaultSettings().RetryBackoffMs {
		t.Fatalf("the deadline is %d", w.deadline)
	}
	w.c.Emigrate(w.nowMs, 0, w.epoch+1)
	w.take()
	if w.deadline != -1 || len(w.c.retries) != 0 {
		t.Errorf("the deadline is %d, %d retries", w.deadline, len(w.c.retries))
	}
}

// A transaction of whose partitions none is left ends without a marker.
func TestATransactionWithoutPartitionsThatAreLeft(t *testing.T) {
	w := newWorld(t)
	id, epoch := w.init("tx")
	w.done(addReq("tx", id, epoch, "t", 0, 3))
	w.c.MetadataChanged(w.nowMs, Metadata{Topics: map[string]int32{"u": 1}, Leaders: []int32{1}, OffsetsPartitions: 3})
	w.done(endReq("tx", id, epoch, true))
	w.wantState("tx", "CompleteCommit 1000/0 none")
	if len(w.written) != 0 {
		t.Errorf("markers %v", w.written)
	}
}

// Where a new producer id is needed and none is there yet, the client is told to come again, and nothing has changed.
func TestNoProducerIDForAnExhaustedEpoch(t *testing.T) {
	w := newWorld(t)
	w.init("tx")
	w.c.txns["tx"].epoch = 32766
	w.noIDs, w.c.ids = true, producerIDs{}
	w.want(w.ask(initReq("tx", 60_000)), "COORDINATOR_LOAD_IN_PROGRESS")
	w.wantState("tx", "Empty 1000/32766 none")
	w.c.Allocated(w.nowMs, 5000, 10, 0)
	w.take()
	if id, epoch := w.init("tx"); id != 5000 || epoch != 0 {
		t.Errorf("%d/%d", id, epoch)
	}
}
