package sim

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// transactional is a world in which c1 has committed a transaction and is ready for the next one.
func transactional(t *testing.T) (*World, *consumer) {
	t.Helper()
	w, err := New(Config{Seed: 1, Set: []Setting{{"group.initial.rebalance.delay.ms", "0"}, {"offsets.topic.num.partitions", "1"}, {"transaction.state.log.num.partitions", "1"}}})
	must(t, err)
	must(t, w.CreateTopic("orders", 2))
	must(t, w.AddConsumer(ConsumerConfig{Name: "c1", Group: "g", Topics: []string{"orders"}, TransactionalID: "tx"}))
	must(t, w.Start("c1"))
	w.AdvanceTo(2000)
	c := w.find("c1")
	if c.producer.stage != ready || c.producer.call != 0 || c.producer.nextMs < 5000 {
		t.Fatalf("c1 did not come up: %+v", c.producer)
	}
	w.Take()
	return w, c
}

// Every answer that a producer can get, and what it does then.
func TestProducerErrors(t *testing.T) {
	for _, x := range []struct {
		stage producerStage
		reply kmsg.Response
		err   *kerr.Error
		next  producerStage
		waits bool
		fails bool
		abort bool
	}{
		{addsOffsets, kmsg.NewPtrAddOffsetsToTxnResponse(), kerr.ConcurrentTransactions, addsOffsets, true, false, false},
		{addsOffsets, kmsg.NewPtrAddOffsetsToTxnResponse(), kerr.CoordinatorLoadInProgress, addsOffsets, true, false, false},
		{addsOffsets, kmsg.NewPtrAddOffsetsToTxnResponse(), kerr.NotCoordinator, findsCoordinator, true, false, false},
		{addsOffsets, kmsg.NewPtrAddOffsetsToTxnResponse(), kerr.ProducerFenced, addsOffsets, false, true, false},
		{commitsOffsets, kmsg.NewPtrTxnOffsetCommitResponse(), kerr.NotCoordinator, commitsOffsets, true, false, false},
		{commitsOffsets, kmsg.NewPtrTxnOffsetCommitResponse(), kerr.IllegalGeneration, ends, false, false, true},
		{commitsOffsets, kmsg.NewPtrTxnOffsetCommitResponse(), kerr.UnknownMemberID, ends, false, false, true},
		{commitsOffsets, kmsg.NewPtrTxnOffsetCommitResponse(), kerr.FencedInstanceID, commitsOffsets, false, true, false},
		{ends, kmsg.NewPtrEndTxnResponse(), kerr.InvalidProducerEpoch, ends, false, true, false},
		{ends, kmsg.NewPtrEndTxnResponse(), kerr.CoordinatorNotAvailable, findsCoordinator, true, false, false},
	} {
		w, c := transactional(t)
		c.producer.stage = x.stage
		c.produced(w, &call{reply: x.reply, req: x.reply.RequestKind(), code: x.err.Code})
		p := c.producer
		failed := has(w.Take(), "ClientFailed")
		if p.stage != x.next || (p.waitMs > w.nowMs) != x.waits || failed != x.fails || p.abort != x.abort {
			t.Errorf("%T with %s: stage %d, waits %v, fails %v, aborts %v; want %+v", x.reply, x.err.Message, p.stage, p.waitMs > w.nowMs, failed, p.abort, x)
		}
		if p.stage == findsCoordinator && p.resumeAt != x.stage {
			t.Errorf("%T with %s: it goes on with %d, not %d", x.reply, x.err.Message, p.resumeAt, x.stage)
		}
	}
}

// Two processes with one transactional id: the first is fenced by the second, and gives up.
func TestATransactionalIDFencesItsOlderUser(t *testing.T) {
	w, _ := transactional(t)
	must(t, w.AddConsumer(ConsumerConfig{Name: "c2", Group: "h", Topics: []string{"orders"}, TransactionalID: "tx"}))
	must(t, w.Start("c2"))
	w.AdvanceTo(20_000)
	fenced := false
	for _, e := range w.Take() {
		if b, ok := e.Body.(event.ClientFailed); ok {
			fenced = fenced || b.Client == "c1" && b.Code == kerr.ProducerFenced.Code
		}
	}
	if !fenced || w.find("c2").producer.epoch != 1 || w.find("c2").phase != running {
		t.Errorf("fenced %v; c2 is %+v", fenced, w.find("c2").producer)
	}
}
