package drive

import (
	"testing"

	"grouplab/coordinator/cluster"
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
