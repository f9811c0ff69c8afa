package cluster

import "testing"

// A replica that lives but does not have what was acknowledged leads nothing (unclean.leader.election.enable=false): not
// even where the last one that has it is gone.
func TestReplicaThatIsNotInSyncIsNotElected(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.kill(2)
	w.kill(3)
	w.run(10000)
	w.wantCode(w.say("orders", 0, -1, 5000, "only broker 1 has this"), 0)
	w.hold(1, 2, true)
	w.start(2)
	w.run(1000)
	w.kill(1)
	w.run(20000)
	if leader, _, _ := w.c.Leader("orders", 0); leader != -1 || w.isr("orders", 0) != "[1]" {
		t.Fatalf("leader %d, in sync %s; want none and [1]: broker 2 lives, and lacks a record", leader, w.isr("orders", 0))
	}
	w.hold(1, 2, false)
	w.start(1)
	w.run(2000)
	if got := w.values(1, "orders", 0); len(got) != 1 {
		t.Fatalf("what was acknowledged is %q", got)
	}
}

// A follower that is behind for longer than replica.lag.time.max.ms counts as long as it is in the ISR, that is until the
// next look at it: clients may not read what it would not have as a leader.
func TestHighWatermarkWaitsForALaggardUntilItIsTakenOut(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.run(1000)
	w.hold(1, 3, true)
	first := w.say("orders", 0, -1, 120000, "a")
	w.run(35000) // the looks are at 30 and 45 s
	second := w.say("orders", 0, -1, 120000, "b")
	w.run(1000)
	if isr := w.isr("orders", 0); isr != "[1 2 3]" {
		t.Fatalf("in sync %s between two looks", isr)
	}
	w.wantWaiting(first)
	w.wantWaiting(second)
	if hw := w.replica("orders", 0, 1).hw; hw != 0 {
		t.Fatalf("high watermark %d while a replica in the ISR has nothing", hw)
	}
	w.run(15000)
	w.wantCode(first, 0)
	w.wantCode(second, 0)
}
