package cluster

import (
	"fmt"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// answers are what became of markers since the last look: where, and whether the answer is back.
func (w *world) answers() (list []string) {
	for _, a := range w.appended {
		if a.Marker {
			list = append(list, fmt.Sprintf("%d ms: b%d of b%d, ticket %d, answered %v, %s", w.nowMs, a.Broker, a.From, a.Ticket, a.Answered, event.CodeName(a.Code)))
		}
	}
	w.appended = nil
	return list
}

func (w *world) markFrom(from int32, ticket int64) {
	w.c.WriteMarker(w.nowMs, MarkerRequest{Topic: "orders", From: from, Ticket: ticket, Marker: log.Marker{ProducerID: 9, Commit: true}})
	w.take()
}

// A marker travels to the leader of its partition, is written when the replicas have it, and its answer travels back; where
// the leader asks itself nothing travels.
func TestMarkersAreMessages(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.run(1000)
	leader, _, _ := w.c.Leader("orders", 0)
	from := leader%3 + 1
	sent := w.nowMs
	w.markFrom(from, 7)
	w.to(sent + w.latencyMs - 1)
	same(t, "on its way", w.answers())
	for w.nowMs < sent+100 && len(w.appended) == 0 {
		w.to(w.nowMs + 1)
	}
	written := w.nowMs
	same(t, "written", w.answers(), fmt.Sprintf("%d ms: b%d of b%d, ticket 7, answered false, NONE", written, leader, from))
	if written < sent+2*w.latencyMs { // to the leader, and from there to its followers
		t.Errorf("written after %d ms", written-sent)
	}
	w.to(written + w.latencyMs)
	same(t, "answered", w.answers(), fmt.Sprintf("%d ms: b%d of b%d, ticket 7, answered true, NONE", written+w.latencyMs, leader, from))
	w.markFrom(leader, 8)
	w.run(100)
	same(t, "by itself", w.answers(), fmt.Sprintf("%d ms: b%d of b%d, ticket 8, answered true, NONE", w.nowMs, leader, leader))
}

// Whoever asks learns that the leader is gone: before the marker came, while the replicas were waited for, or that it is
// not the leader any more when the marker comes.
func TestMarkersMeetDeadLeaders(t *testing.T) {
	for what, x := range map[string]struct {
		trouble func(w *world, leader int32)
		want    string
	}{
		"killed before it came": {func(w *world, leader int32) {
			w.c.KillBroker(w.nowMs, leader)
			w.take()
		}, "NETWORK_EXCEPTION"},
		"killed while it waits": {func(w *world, leader int32) {
			w.run(w.latencyMs)
			w.c.KillBroker(w.nowMs, leader)
			w.take()
		}, "NETWORK_EXCEPTION"},
		"stopped before it came": {func(w *world, leader int32) {
			w.c.StopBroker(w.nowMs, leader)
			w.take()
			w.c.StartBroker(w.nowMs, leader)
			w.take()
		}, "NOT_LEADER_FOR_PARTITION"},
	} {
		w := newWorld(t, Config{Brokers: 3})
		w.topic("orders", 1, 3)
		w.run(1000)
		leader, _, _ := w.c.Leader("orders", 0)
		for other := int32(1); other <= 3; other++ { // no follower answers: the marker waits
			w.held[[2]int32{other, leader}] = other != leader%3+1
		}
		w.markFrom(leader%3+1, 7)
		x.trouble(w, leader)
		w.run(20)
		got := ""
		for _, a := range w.appended {
			if a.Marker && a.Answered {
				got += event.CodeName(a.Code)
			}
		}
		if got != x.want {
			t.Errorf("%s: %q, want %s", what, got, x.want)
		}
	}
}

// A connection that breaks loses the request or the answer; who asked is told, once.
func TestLostMarkers(t *testing.T) {
	for _, back := range []bool{false, true} {
		w := newWorld(t, Config{Brokers: 2})
		w.topic("orders", 1, 1)
		w.run(1000)
		leader, _, _ := w.c.Leader("orders", 0)
		from := 3 - leader
		w.cut[[2]int32{from, leader}], w.cut[[2]int32{leader, from}] = !back, back
		w.markFrom(from, 7)
		w.run(100)
		want := []string{fmt.Sprintf("%d ms: b%d of b%d, ticket 7, answered true, NETWORK_EXCEPTION", w.nowMs, leader, from)}
		if back {
			want = append([]string{fmt.Sprintf("%d ms: b%d of b%d, ticket 7, answered false, NONE", w.nowMs, leader, from)}, want...)
		}
		same(t, fmt.Sprintf("lost on the way back %v", back), w.answers(), want...)
	}
}
