package cluster

import (
	"slices"
	"testing"

	"grouplab/coordinator/log"
)

// The high watermark is where the slowest in-sync replica is, and an append with acks -1 waits for it.
func TestHighWatermarkWaitsForEveryInSyncReplica(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.hold(1, 3, true)
	all := w.say("orders", 0, -1, 60000, "a", "b")
	one := w.say("orders", 0, 1, 60000, "c")
	none := w.say("orders", 0, 0, 60000, "d")
	if a := w.wantCode(one, 0); a.BaseOffset != 2 {
		t.Errorf("acks 1: at %d, want 2", a.BaseOffset)
	}
	w.wantCode(none, 0)
	w.run(5000)
	w.wantWaiting(all)
	if r := w.replica("orders", 0, 1); r.hw != 0 || r.log.EndOffset() != 4 {
		t.Errorf("high watermark %d of %d with one follower behind, want 0 of 4", r.hw, r.log.EndOffset())
	}
	if got := w.values(1, "orders", 0); len(got) != 0 {
		t.Errorf("clients read %q beyond the high watermark", got)
	}
	w.hold(1, 3, false)
	w.run(10)
	if a := w.wantCode(all, 0); a.BaseOffset != 0 {
		t.Errorf("acks -1: at %d, want 0", a.BaseOffset)
	}
	if got := w.values(1, "orders", 0); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("clients read %q", got)
	}
}

// Followers hear of a new high watermark with their next answer: with records at once, otherwise at the half second.
func TestFollowersLearnTheHighWatermarkLater(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2})
	w.topic("orders", 1, 2)
	w.say("orders", 0, -1, 5000, "a")
	w.run(20)
	if leader, follower := w.replica("orders", 0, 1).hw, w.replica("orders", 0, 2).hw; leader != 1 || follower != 0 {
		t.Errorf("high watermark %d at the leader and %d at the follower, want 1 and 0", leader, follower)
	}
	w.say("orders", 0, -1, 5000, "b")
	w.run(3)
	if follower := w.replica("orders", 0, 2).hw; follower != 1 {
		t.Errorf("the answer with records told the follower of high watermark %d, want 1", follower)
	}
	w.run(490)
	if follower := w.replica("orders", 0, 2).hw; follower != 1 {
		t.Errorf("a parked fetch was answered before replica.fetch.wait.max.ms")
	}
	w.run(20)
	if follower := w.replica("orders", 0, 2).hw; follower != 2 {
		t.Errorf("high watermark %d at the follower after the beat, want 2", follower)
	}
}

func TestAppendTimesOut(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.kill(3)
	slow := w.say("orders", 0, -1, 5000, "a")
	quick := w.say("orders", 0, -1, 100, "b")
	w.run(99)
	w.wantWaiting(quick)
	w.run(1)
	w.wantCode(quick, codeRequestTimedOut)
	w.wantWaiting(slow)
	w.run(4900)
	if a := w.wantCode(slow, codeRequestTimedOut); a.BaseOffset != 0 {
		t.Errorf("timed out at %d, want 0: it was written", a.BaseOffset)
	}
	// It was only not acknowledged: once the dead broker is fenced, both are there.
	w.run(4100)
	if got := w.values(1, "orders", 0); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("clients read %q", got)
	}
	if len(w.c.waiting) != 0 {
		t.Errorf("partitions %v still wait", w.c.waiting)
	}
}

// A follower that cannot follow is taken out of the ISR after replica.lag.time.max.ms, at most one half later, and comes
// back when it has caught up.
func TestInSyncReplicasShrinkAndGrow(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.run(60000)
	if w.moved.DeadlineMs != -1 {
		t.Fatalf("an idle cluster waits for %d ms", w.moved.DeadlineMs)
	}
	w.hold(1, 3, true)
	ticket := w.say("orders", 0, -1, 120000, "a")
	w.run(29999)
	if isr := w.isr("orders", 0); isr != "[1 2 3]" {
		t.Fatalf("in sync %s before replica.lag.time.max.ms", isr)
	}
	w.wantWaiting(ticket)
	w.run(15001)
	if isr := w.isr("orders", 0); isr != "[1 2]" {
		t.Fatalf("in sync %s one and a half times replica.lag.time.max.ms later", isr)
	}
	w.wantCode(ticket, 0) // nobody waits for it any more
	if _, epoch, _ := w.c.Leader("orders", 0); epoch != 0 {
		t.Errorf("a smaller ISR began epoch %d", epoch)
	}
	next := w.say("orders", 0, -1, 120000, "b")
	w.run(10)
	w.wantCode(next, 0)
	w.hold(1, 3, false)
	w.run(10)
	if isr := w.isr("orders", 0); isr != "[1 2 3]" {
		t.Fatalf("in sync %s after it caught up", isr)
	}
	w.wantSameLogs("orders", 0)
	w.run(2000)
	if w.moved.DeadlineMs != -1 {
		t.Errorf("the idle cluster waits for %d ms", w.moved.DeadlineMs)
	}
}

// A follower that is always a little behind stays in sync: it has what the leader had at its last fetch.
func TestBusyFollowerStaysInSync(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2})
	w.topic("orders", 1, 2)
	for range 300 {
		w.say("orders", 0, 1, 5000, "v")
		w.run(3)
		w.say("orders", 0, 1, 5000, "v")
		w.run(297)
	}
	if isr := w.isr("orders", 0); isr != "[1 2]" || w.count("LeaderChanged") != 1 {
		t.Errorf("in sync %s after %d changes", isr, w.count("LeaderChanged"))
	}
}

func TestMinInsyncReplicas(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3, TopicConfig{"min.insync.replicas", "2"})
	w.kill(2)
	w.kill(3)
	w.run(10000)
	if isr := w.isr("orders", 0); isr != "[1]" {
		t.Fatalf("in sync %s", isr)
	}
	w.wantCode(w.say("orders", 0, -1, 5000, "a"), codeNotEnoughReplicas)
	w.wantCode(w.say("orders", 0, 1, 5000, "b"), 0)
	if hw := w.replica("orders", 0, 1).hw; hw != 0 {
		t.Errorf("high watermark %d below min.insync.replicas, want 0 (KAFKA-15583)", hw)
	}
	w.start(2)
	w.run(1000)
	if hw := w.replica("orders", 0, 1).hw; hw != 1 {
		t.Errorf("high watermark %d with enough replicas, want 1", hw)
	}
	ticket := w.say("orders", 0, -1, 5000, "c")
	w.run(100)
	w.wantCode(ticket, 0)
}

// min.insync.replicas larger than the number of replicas means all of them.
func TestMinInsyncIsAtMostTheReplicas(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2, MinInsyncReplicas: 3})
	w.topic("orders", 1, 2)
	ticket := w.say("orders", 0, -1, 5000, "a")
	w.run(100)
	w.wantCode(ticket, 0)
}

// A broken connection is tried again after the backoff, and nothing is lost by it.
func TestLostMessagesAreSentAgain(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2})
	w.topic("orders", 2, 2)
	w.cut[[2]int32{1, 2}] = true
	ticket := w.say("orders", 0, -1, 20000, "a")
	w.run(3500)
	w.wantWaiting(ticket)
	w.cut[[2]int32{1, 2}] = false
	w.run(1100)
	w.wantCode(ticket, 0)
	w.cut[[2]int32{2, 1}] = true
	ticket = w.say("orders", 0, -1, 20000, "b")
	w.run(3500)
	w.wantWaiting(ticket)
	w.cut[[2]int32{2, 1}] = false
	w.run(1100)
	w.wantCode(ticket, 0)
	w.wantSameLogs("orders", 0)
}

// A duplicate of a message, and one of a connection that is broken, do nothing.
func TestOldMessagesAreIgnored(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2})
	w.topic("orders", 1, 2)
	w.say("orders", 0, 1, 5000, "a")
	old := append([]flying(nil), w.wire...)
	if len(old) != 1 || !old[0].m.Answer || !old[0].m.Records {
		t.Fatalf("on the wire: %+v", old)
	}
	w.run(100)
	before := w.text()
	w.c.Deliver(w.nowMs, old[0].m)
	w.c.Lost(w.nowMs, old[0].m)
	w.take()
	w.run(2000)
	if after := w.text(); after != "" {
		t.Errorf("a message that came twice changed something: %s after %s", after, before)
	}
	w.wantSameLogs("orders", 0)
}

// A follower far behind catches up in rounds of replica.fetch.max.bytes.
func TestCatchUpInRounds(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2, ReplicaFetchMaxBytes: 300, SegmentBytes: 1000})
	w.topic("orders", 1, 2)
	w.kill(2)
	w.run(10000)
	for range 100 {
		w.say("orders", 0, 1, 5000, "some value")
	}
	w.text()
	w.start(2)
	w.run(3000)
	if n := w.count("ReplicaAdvanced"); n < 25 || n > 60 {
		t.Errorf("caught up in %d rounds", n)
	}
	if isr := w.isr("orders", 0); isr != "[1 2]" {
		t.Errorf("in sync %s", isr)
	}
	w.wantSameLogs("orders", 0)
}

// Fifty idle partitions on three brokers cost nothing: no message, no deadline, no event.
func TestIdleClusterIsSilent(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	if code, message := w.c.EnsureOffsetsTopic(w.nowMs); code != 0 {
		t.Fatal(code, message)
	}
	w.take()
	w.topic("orders", 6, 3)
	w.run(60000)
	w.text()
	w.moments = 0
	w.run(3600_000)
	if w.moments != 0 || len(w.events) != 0 || len(w.wire) != 0 {
		t.Errorf("an idle hour has %d moments, %d events, and %d messages are under way", w.moments, len(w.events), len(w.wire))
	}
	// One append: the answers that carry it, the fetches that tell of it, and half a second later the high watermark.
	w.say("orders", 0, -1, 5000, "a")
	w.run(3600_000)
	if w.moments > 20 || w.count("ReplicaAdvanced") != 2 || len(w.events) != 4 {
		t.Errorf("one append made %d moments and %d events:\n%s", w.moments, len(w.events), w.text())
	}
}

// An idempotent producer that was not answered sends again, to the next leader, and its batch is there once.
func TestDuplicateIsKnownAtTheNextLeader(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	send := func(broker int32, sequence int32, value string) int64 {
		return w.sayTo(broker, "orders", 0, -1, 5000, log.Encode(log.Producer{ID: 7, Epoch: 0, BaseSequence: sequence}, 0,
			[]log.Record{{TimestampMs: w.nowMs, Value: []byte(value)}}))
	}
	first := send(1, 0, "a")
	w.run(100)
	w.wantCode(first, 0)
	unanswered := send(1, 1, "b")
	w.run(3) // the followers have it, the client has no answer
	w.kill(1)
	w.wantWaiting(unanswered)
	w.run(10000)
	again := send(2, 1, "b")
	w.run(100)
	if a := w.wantCode(again, 0); !a.Duplicate || a.BaseOffset != 1 {
		t.Errorf("sent again: %+v, want a duplicate at 1", a)
	}
	w.wantCode(send(2, 3, "d"), 45)
	third := send(2, 2, "c")
	w.run(100)
	w.wantCode(third, 0)
	if got := w.values(2, "orders", 0); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the log has %q", got)
	}
}
