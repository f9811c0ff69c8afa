package cluster

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; read the diff before you commit it")

// golden compares text with a file in testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the events differ from %s; if they are right, run the test with -rewrite\ngot:\n%s\nwant:\n%s", file, text, want)
	}
}

// One failover from end to end: a leader dies with records that nobody else has, comes back, and throws them away.
func TestGoldenFailover(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.say("orders", 0, -1, 5000, "a", "b")
	w.run(2000)
	w.hold(1, 2, true)
	w.hold(1, 3, true)
	w.say("orders", 0, 1, 5000, "never replicated")
	w.kill(1)
	w.hold(1, 2, false)
	w.hold(1, 3, false)
	w.run(10000)
	w.say("orders", 0, -1, 5000, "c")
	w.run(1000)
	w.start(1)
	w.run(2000)
	golden(t, "failover.txt", w.text())
	if got := w.values(2, "orders", 0); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the log has %q", got)
	}
}

// What a client was told is written survives every leader but the last.
func TestKillElectRestartLosesNothingAcknowledged(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	var told []string
	for round := range 6 {
		leader, epoch, _ := w.c.Leader("orders", 0)
		for _, v := range []string{"x", "y", "z"} {
			v += string(rune('0' + round))
			told = append(told, v)
			ticket := w.say("orders", 0, -1, 5000, v)
			w.run(100)
			w.wantCode(ticket, 0)
		}
		w.kill(leader)
		w.run(9000 - 1)
		if got, _, _ := w.c.Leader("orders", 0); got != leader {
			t.Fatalf("the controller noticed before broker.session.timeout.ms: leader %d", got)
		}
		w.run(1)
		if got, e, _ := w.c.Leader("orders", 0); got == leader || got < 0 || e != epoch+1 {
			t.Fatalf("after the death of leader %d in epoch %d: leader %d, epoch %d", leader, epoch, got, e)
		}
		w.start(leader)
		w.run(1000)
		if isr := w.isr("orders", 0); isr != "[1 2 3]" {
			t.Fatalf("in sync after the restart: %s", isr)
		}
	}
	leader, _, _ := w.c.Leader("orders", 0)
	if got := w.values(leader, "orders", 0); !slices.Equal(got, told) {
		t.Errorf("acknowledged %q, read %q", told, got)
	}
}

// A leader that comes back with records of its own throws away exactly those that the new leader does not have, even
// where the new leader's log is longer.
func TestOldLeaderCutsToTheNewLeadersEpoch(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.say("orders", 0, -1, 5000, "a")
	w.run(1000)
	w.hold(1, 2, true)
	w.hold(1, 3, true)
	lost := w.say("orders", 0, -1, 60000, "lost 1")
	w.say("orders", 0, 1, 5000, "lost 2")
	w.kill(1)
	w.wantWaiting(lost)
	w.hold(1, 2, false)
	w.hold(1, 3, false)
	w.run(9000)
	w.say("orders", 0, -1, 5000, "b", "c", "d", "e")
	w.run(1000)
	w.start(1)
	w.run(1000)
	if n := w.count("ReplicaTruncated"); n != 1 {
		t.Errorf("ReplicaTruncated %d times, want once", n)
	}
	w.wantSameLogs("orders", 0)
	if got := w.values(2, "orders", 0); !slices.Equal(got, []string{"a", "b", "c", "d", "e"}) {
		t.Errorf("the log has %q", got)
	}
	if r := w.replica("orders", 0, 1); r.log.EndOffset() != 5 || r.hw != 5 {
		t.Errorf("the old leader's log ends at %d with high watermark %d, want 5 and 5", r.log.EndOffset(), r.hw)
	}
	w.wantWaiting(lost) // its connection is broken: nobody is told
}

// Nobody may lead who was not in sync: with all brokers dead, the last in-sync one has to come back.
func TestNoUncleanElection(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.kill(2)
	w.run(10000)
	w.kill(3)
	w.run(10000)
	ticket := w.say("orders", 0, -1, 5000, "only broker 1 has this")
	w.wantCode(ticket, 0)
	w.kill(1)
	w.run(10000)
	if leader, epoch, _ := w.c.Leader("orders", 0); leader != -1 || w.isr("orders", 0) != "[1]" {
		t.Fatalf("leader %d in epoch %d, in sync %s; want none and [1]", leader, epoch, w.isr("orders", 0))
	}
	w.start(2)
	w.start(3)
	w.run(20000)
	if leader, _, _ := w.c.Leader("orders", 0); leader != -1 {
		t.Fatalf("broker %d leads without what was acknowledged", leader)
	}
	w.start(1)
	w.run(2000)
	if leader, _, _ := w.c.Leader("orders", 0); leader != 1 || w.isr("orders", 0) != "[1 2 3]" {
		t.Fatalf("leader %d, in sync %s; want 1 and all", leader, w.isr("orders", 0))
	}
	w.wantSameLogs("orders", 0)
}

// A killed broker that is back before the controller noticed has to wait for the end of its old session.
func TestRestartBeforeTheControllerNotices(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.kill(1)
	w.run(1000)
	if !w.start(1) || w.start(1) {
		t.Fatal("the first start counts, the second does not")
	}
	if w.c.Running(1) {
		t.Fatal("it serves although its old session is not over")
	}
	w.run(7999)
	if w.c.Running(1) || w.count("BrokerFenced") != 0 {
		t.Fatal("noticed too early")
	}
	w.run(1)
	if !w.c.Running(1) || w.count("BrokerFenced") != 1 {
		t.Fatal("not back when its old session was over")
	}
	w.run(1000)
	if leader, _, _ := w.c.Leader("orders", 0); leader != 2 || w.isr("orders", 0) != "[1 2 3]" {
		t.Errorf("leader %d, in sync %s; want 2 and all", leader, w.isr("orders", 0))
	}
}

// A clean stop moves leaderships first: nobody waits for a session.
func TestControlledStop(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 3, 3)
	w.hold(1, 2, true)
	w.hold(1, 3, true)
	waiting := w.say("orders", 0, -1, 5000, "a")
	if !w.c.StopBroker(w.nowMs, 1) || w.c.StopBroker(w.nowMs, 1) || w.c.KillBroker(w.nowMs, 1) {
		t.Fatal("the first stop counts, what follows does not")
	}
	w.take()
	w.wantCode(waiting, codeNotLeaderOrFollower)
	for p := range int32(3) {
		if leader, _, _ := w.c.Leader("orders", p); leader == 1 || leader < 0 || slices.Contains(w.c.find("orders", p).isr, 1) {
			t.Errorf("orders-%d: leader %d, in sync %s after broker 1 stopped", p, leader, w.isr("orders", p))
		}
	}
	if w.count("BrokerFenced") != 0 {
		t.Error("a clean stop needs no fencing")
	}
	w.hold(1, 2, false)
	w.hold(1, 3, false)
	w.start(1)
	w.run(1000)
	if w.isr("orders", 0) != "[1 2 3]" {
		t.Errorf("in sync after the restart: %s", w.isr("orders", 0))
	}
}

// The offsets topic's leaders are told to the coordinators, in order.
func TestImmigrationsAndEmigrations(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3, OffsetsPartitions: 6})
	if code, message := w.c.EnsureOffsetsTopic(w.nowMs); code != 0 {
		t.Fatal(code, message)
	}
	w.take()
	want := []Leadership{{1, 0, 0, 0}, {2, 1, 0, 0}, {3, 2, 0, 0}, {1, 3, 0, 0}, {2, 4, 0, 0}, {3, 5, 0, 0}}
	if !slices.Equal(w.moved.Immigrations, want) || len(w.moved.Emigrations) != 0 || !w.moved.MetadataChanged {
		t.Fatalf("immigrations %v, emigrations %v", w.moved.Immigrations, w.moved.Emigrations)
	}
	w.run(1000)
	w.c.Append(w.nowMs, AppendRequest{Broker: 1, Topic: OffsetsTopic, Partition: 3, Epoch: 0, Batch: batch(w.nowMs, "a", "b"), Acks: -1, TimeoutMs: 5000, Ticket: 9, Internal: true})
	w.take()
	w.run(1000)
	w.moved = Output{}
	w.kill(1)
	w.run(9000)
	// Partition 0's second replica is broker 2, partition 3's broker 3: a dead broker's load is spread.
	if want := []Leadership{{2, 0, 1, 0}, {3, 3, 1, 2}}; !slices.Equal(w.moved.Immigrations, want) || len(w.moved.Emigrations) != 0 {
		t.Fatalf("after a kill: immigrations %v, emigrations %v; want %v and none", w.moved.Immigrations, w.moved.Emigrations, want)
	}
	w.moved = Output{}
	w.c.StopBroker(w.nowMs, 3)
	w.take()
	if want := []Leadership{{3, 2, 1, 0}, {3, 3, 2, 0}, {3, 5, 1, 0}}; !slices.Equal(w.moved.Emigrations, want) {
		t.Fatalf("after a clean stop: emigrations %v, want %v", w.moved.Emigrations, want)
	}
	if len(w.moved.Immigrations) != 3 {
		t.Fatalf("after a clean stop: immigrations %v", w.moved.Immigrations)
	}
}

// A copy goes on exactly as its original, and neither sees the other.
func TestCloneGoesOnAlike(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 3, 3)
	w.say("orders", 0, -1, 5000, "a")
	w.hold(1, 3, true)
	w.say("orders", 0, -1, 5000, "b")
	w.run(1)
	k := w.clone()
	script := func(w *world) string {
		w.hold(1, 3, false)
		w.run(3)
		w.say("orders", 1, 1, 5000, "c")
		w.kill(2)
		w.run(12000)
		w.say("orders", 1, -1, 5000, "d")
		w.start(2)
		w.run(5000)
		return w.text()
	}
	w.events, k.events = nil, nil
	first := script(w)
	before := bytes.Clone(w.everything())
	if second := script(k); first != second {
		t.Errorf("the original said\n%s\nthe copy said\n%s", first, second)
	}
	if !bytes.Equal(w.everything(), before) {
		t.Error("the copy changed its original's logs")
	}
	if !bytes.Equal(w.everything(), k.everything()) {
		t.Error("their logs differ")
	}
}
