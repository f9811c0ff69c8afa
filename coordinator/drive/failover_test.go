package drive

import (
	"testing"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
)

// A group outlives its coordinator: the next leader of its offsets partition loads it from the log.
func TestGroupGoesOnAtTheNextLeader(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		w := newWorld(t, Config{Cluster: cluster.Config{Brokers: 3}, DeliverAtOnce: atOnce})
		w.topic()
		first := w.coordinator()
		m := w.join(first, "c1")
		if code := w.commit(first, m, 42); code != 0 {
			t.Fatalf("OffsetCommit: code %d", code)
		}
		w.run(1000)
		if !w.d.KillBroker(w.nowMs, first) {
			t.Fatal("the coordinator's broker does not run")
		}
		w.take()
		if w.d.Machine(first) != nil {
			t.Fatal("the killed broker still has a machine")
		}
		next := w.coordinator()
		if next == first {
			t.Fatalf("broker %d is dead and still the coordinator", first)
		}
		if got := w.committed(next); got != 42 {
			t.Errorf("committed offset %d at the next leader, want 42", got)
		}
		if code := w.heartbeat(next, m); code != 0 {
			t.Errorf("the member's heartbeat at the next leader: code %d", code)
		}
		if code := w.commit(next, m, 43); code != 0 {
			t.Errorf("OffsetCommit at the next leader: code %d", code)
		}
		if !w.d.StartBroker(w.nowMs, first) {
			t.Fatal("the killed broker does not start")
		}
		w.take()
		w.run(5000)
		if code := w.commit(next, m, 44); code != 0 {
			t.Errorf("OffsetCommit with all brokers back: code %d", code)
		}
		if t.Failed() {
			t.Log("\n" + w.text("BrokerStarted", "BrokerStopped", "BrokerFenced", "LoadStarted", "LoadFinished", "RecordsAppended", "StateChanged", "GroupLoaded"))
		}
	}
}

// Two brokers die at once, and one of them starts again: in one moment the controller makes it the leader, notices that
// it is dead, and it is back. It must not coordinate what it does not lead, nor keep that for when it leads again.
func TestLeadershipThatPassedOnAtOnceIsNotTakenUp(t *testing.T) {
	w := newWorld(t, Config{Cluster: cluster.Config{Brokers: 3, OffsetsPartitions: 4}, LoadChunkBytes: 400})
	c := &commits{world: w, sent: map[int64]int64{}, acked: -1}
	c.topic()
	c.coordinator()
	c.send()
	c.run(1000)
	c.look()
	for _, id := range []int32{1, 2} {
		w.d.KillBroker(w.nowMs, id)
		w.take()
	}
	w.d.StartBroker(w.nowMs, 2)
	w.take()
	c.run(60000)
	for _, e := range w.events {
		if b, ok := e.Body.(event.LoadFinished); ok && b.Failed != "" {
			t.Errorf("broker %d: %s", e.Broker, b.Failed)
		}
	}
	w.d.KillBroker(w.nowMs, 3)
	w.take()
	c.run(60000)
	if leader, _, _ := w.d.Cluster().Leader(cluster.OffsetsTopic, 0); leader != 2 {
		t.Fatalf("broker %d leads", leader)
	}
	if got := c.committed(2); c.acked != 1 || got != 1 {
		t.Errorf("committed offset %d; %d was acknowledged", got, c.acked)
	}
}
