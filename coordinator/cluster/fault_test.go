package cluster

import (
	"slices"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// store appends what a coordinator would.
func (w *world) store(what string, timeoutMs int64) int64 {
	leader, _, _ := w.c.Leader(OffsetsTopic, 0)
	w.ticket++
	w.c.Append(w.nowMs, AppendRequest{Broker: leader, Topic: OffsetsTopic, Epoch: -1, Acks: -1, TimeoutMs: timeoutMs, Ticket: w.ticket, Internal: true, What: what,
		Batch: log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: w.nowMs, Key: []byte{0, 9}, Value: []byte{1}}})})
	w.take()
	return w.ticket
}

func withOffsets(t *testing.T) *world {
	w := newWorld(t, Config{Brokers: 3, OffsetsPartitions: 1})
	w.c.EnsureOffsetsTopic(w.nowMs)
	w.take()
	w.run(2000)
	return w
}

func (w *world) end() int64 { return w.c.Replicas(OffsetsTopic, 0)[0].EndOffset }

func TestFaultRefusesTheNextAppends(t *testing.T) {
	w := withOffsets(t)
	w.c.SetFault(w.nowMs, Fault{What: "group", Count: 2, Code: codeNotEnoughReplicas})
	other := w.store("offsets", 5000)
	first, second := w.store("group", 5000), w.store("group", 5000)
	w.wantCode(first, codeNotEnoughReplicas)
	w.wantCode(second, codeNotEnoughReplicas)
	third := w.store("group", 5000)
	w.run(1000)
	w.wantCode(other, 0)
	w.wantCode(third, 0)
	if w.end() != 2 {
		t.Errorf("the log ends at %d; a refused append is not written, so 2", w.end())
	}
}

func TestLateFaultWritesAndFails(t *testing.T) {
	w := withOffsets(t)
	w.c.SetFault(w.nowMs, Fault{Count: 1, Code: codeStorageError, Late: true})
	ticket := w.store("offsets", 5000)
	w.wantWaiting(ticket)
	w.run(1000)
	w.wantCode(ticket, codeStorageError)
	if r := w.c.Replicas(OffsetsTopic, 0)[0]; r.EndOffset != 1 || r.HighWatermark != 1 {
		t.Errorf("the log ends at %d, replicated to %d; the batch is written all the same", r.EndOffset, r.HighWatermark)
	}
}

// An answer that is kept back keeps back those behind it: outcomes come in the order of the log, markers too.
func TestHeldAnswersKeepTheirOrder(t *testing.T) {
	w := withOffsets(t)
	w.c.SetFault(w.nowMs, Fault{Count: 1, HoldMs: 3000})
	slow, behind := w.store("offsets", 5000), w.store("offsets", 5000)
	w.run(2999)
	w.wantWaiting(slow)
	w.wantWaiting(behind)
	w.run(1)
	w.wantCode(slow, 0)
	w.wantCode(behind, 0)
	if i, j := slices.IndexFunc(w.appended, func(a Appended) bool { return a.Ticket == slow }),
		slices.IndexFunc(w.appended, func(a Appended) bool { return a.Ticket == behind }); i > j {
		t.Error("the later append was answered first")
	}
	w.c.SetFault(w.nowMs, Fault{Count: 1, HoldMs: 9000})
	slow, behind = w.store("offsets", 5000), w.store("offsets", 9000)
	w.run(5000)
	w.wantCode(slow, codeRequestTimedOut)
	w.wantCode(behind, 0)
}

func TestFaultsEndWithACountOfNothing(t *testing.T) {
	w := withOffsets(t)
	w.c.SetFault(w.nowMs, Fault{Count: 100, Code: codeStorageError})
	w.c.SetFault(w.nowMs, Fault{})
	copied := w.c.Clone(&event.Numbers{})
	if len(w.c.faults) != 0 || len(copied.faults) != 0 {
		t.Error("a fault is left")
	}
	ticket := w.store("group", 5000)
	w.run(1000)
	w.wantCode(ticket, 0)
}

func TestDeletedTopicIsGone(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3, MinInsyncReplicas: 1})
	w.topic("a", 2, 3)
	w.topic("b", 2, 3)
	w.say("a", 0, 1, 1000, "x")
	pending := w.say("a", 1, -1, 1000, "y")
	w.wantWaiting(pending)
	copied := w.c.Clone(&event.Numbers{})
	if code, message := w.c.DeleteTopic(w.nowMs, "a"); code != 0 {
		t.Fatal(code, message)
	}
	w.take()
	w.wantCode(pending, codeUnknownTopicOrPartition)
	if names := w.c.TopicNames(); !slices.Equal(names, []string{"b"}) {
		t.Errorf("there are %v", names)
	}
	if code, _ := w.c.DeleteTopic(w.nowMs, "a"); code != codeUnknownTopicOrPartition {
		t.Errorf("a second time: code %d", code)
	}
	if copied.Partitions("a") != 2 {
		t.Error("the copy has lost the topic too")
	}
	w.run(2000) // what followers have asked for is still on the wire
	w.c.KillBroker(w.nowMs, 1)
	w.take()
	w.run(20_000)
	w.c.StartBroker(w.nowMs, 1)
	w.take()
	w.topic("a", 1, 3) // a new topic of that name has nothing of the old one
	leader, _, _ := w.c.Leader("a", 0)
	if got := w.values(leader, "a", 0); len(got) != 0 {
		t.Errorf("the new topic holds %v", got)
	}
	ticket := w.say("b", 1, -1, 5000, "z")
	w.run(2000)
	w.wantCode(ticket, 0)
	w.c.Facts(w.nowMs)
	w.c.Clone(&event.Numbers{})
}

func TestInternalTopicsAreNotDeleted(t *testing.T) {
	w := withOffsets(t)
	if code, _ := w.c.DeleteTopic(w.nowMs, OffsetsTopic); code != codeInvalidRequest {
		t.Errorf("code %d", code)
	}
}
