package cluster

import (
	"strings"
	"testing"
)

func TestMoveLeader(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	if code, message := w.c.EnsureOffsetsTopic(w.nowMs); code != codeNone {
		t.Fatal(message)
	}
	w.take()
	w.run(2000)
	old, epoch, _ := w.c.Leader(OffsetsTopic, 4)
	w.moved = Output{}
	to := old%3 + 1
	if code, message := w.c.MoveLeader(w.nowMs, OffsetsTopic, 4, to); code != codeNone {
		t.Fatal(message)
	}
	w.take()
	if now, next, _ := w.c.Leader(OffsetsTopic, 4); now != to || next != epoch+1 {
		t.Fatalf("broker %d leads in epoch %d; want broker %d in epoch %d", now, next, to, epoch+1)
	}
	if len(w.moved.Emigrations) != 1 || w.moved.Emigrations[0].Broker != old || len(w.moved.Immigrations) != 1 || w.moved.Immigrations[0].Broker != to {
		t.Errorf("emigrations %+v, immigrations %+v", w.moved.Emigrations, w.moved.Immigrations)
	}
	w.run(2000)
	w.wantSameLogs(OffsetsTopic, 4)
}

// What was acknowledged before a move is there after it, and the new leader takes more.
func TestMoveLeaderKeepsRecords(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.c.CreateTopic(w.nowMs, "orders", 1, 3, nil)
	w.take()
	w.wantAfter(w.say("orders", 0, -1, 5000, "before"))
	leader, _, _ := w.c.Leader("orders", 0)
	if code, message := w.c.MoveLeader(w.nowMs, "orders", 0, leader%3+1); code != codeNone {
		t.Fatal(message)
	}
	w.take()
	if after := w.wantAfter(w.say("orders", 0, -1, 5000, "after")); after.BaseOffset != 1 {
		t.Errorf("the record after the move stands at %d; want 1, behind the one before it", after.BaseOffset)
	}
	w.wantSameLogs("orders", 0)
}

func (w *world) wantAfter(ticket int64) Appended {
	w.t.Helper()
	w.run(2000)
	return w.wantCode(ticket, codeNone)
}

func TestMoveLeaderRefusals(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.c.CreateTopic(w.nowMs, "single", 1, 1, nil)
	w.c.CreateTopic(w.nowMs, "orders", 1, 3, nil)
	w.take()
	home, _, _ := w.c.Leader("single", 0)
	leader, epoch, _ := w.c.Leader("orders", 0)
	follower := leader%3 + 1
	w.kill(follower)
	for _, x := range []struct {
		topic     string
		partition int32
		to        int32
		code      int16
		words     string
	}{
		{"none", 0, 1, codeUnknownTopicOrPartition, "no partition none-0"},
		{"orders", 9, 1, codeUnknownTopicOrPartition, "no partition orders-9"},
		{"single", 0, home%3 + 1, codeInvalidReplicaAssignment, "has no replica"},
		{"orders", 0, follower, codeEligibleLeadersNotAvailable, "not in sync"},
	} {
		if code, message := w.c.MoveLeader(w.nowMs, x.topic, x.partition, x.to); code != x.code || !strings.Contains(message, x.words) {
			t.Errorf("%s-%d to %d: code %d, %q; want %d and %q", x.topic, x.partition, x.to, code, message, x.code, x.words)
		}
	}
	if code, _ := w.c.MoveLeader(w.nowMs, "orders", 0, leader); code != codeNone {
		t.Errorf("moving to the leader itself: code %d", code)
	}
	if now, same, _ := w.c.Leader("orders", 0); now != leader || same != epoch {
		t.Errorf("a refused move changed the leader to %d in epoch %d", now, same)
	}
}
