package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/log"
)

// shelf is a Disk in memory: it outlives a cluster, and can fail.
type shelf struct {
	logs map[string]*shelved
	full map[int32]bool // brokers whose disk takes nothing
	gone []string
}

type shelved struct {
	*log.Memory
	shelf *shelf
	at    log.Replica
	found log.Found
}

var errFull = errors.New("no space left on device")

func (s *shelved) Append(base int64, head, rest []byte) error {
	if s.shelf.full[s.at.Broker] {
		return errFull
	}
	last := &s.found.Segments[len(s.found.Segments)-1]
	last.Size += len(head) + len(rest)
	return s.Memory.Append(base, head, rest)
}

func (s *shelved) Create(base int64) error {
	if s.shelf.full[s.at.Broker] {
		return errFull
	}
	s.found.Segments = append(s.found.Segments, log.FoundSegment{Base: base})
	return s.Memory.Create(base)
}

func (s *shelved) Note(n log.Notes) error { s.found.Notes = n; return nil }

func keyOf(at log.Replica) string { return fmt.Sprint(at.Broker, at.Topic, at.Partition) }

func (s *shelf) New(at log.Replica, cfg log.Config) *log.Log {
	s.logs[keyOf(at)] = &shelved{Memory: log.NewMemory(), shelf: s, at: at}
	return log.New(s.logs[keyOf(at)], cfg)
}

func (s *shelf) Open(at log.Replica, cfg log.Config) (*log.Log, int64, error) {
	kept := s.logs[keyOf(at)]
	if kept == nil {
		return nil, 0, errors.New("it is not there")
	}
	l, err := log.Open(kept, cfg, kept.found, nil)
	return l, 0, err
}

func (s *shelf) Remove(at log.Replica) { s.gone = append(s.gone, keyOf(at)); delete(s.logs, keyOf(at)) }

func onShelf(t *testing.T, cfg Config) (*world, *shelf) {
	s := &shelf{logs: map[string]*shelved{}, full: map[int32]bool{}}
	cfg.Disk = s
	return newWorld(t, cfg), s
}

func write(w *world, topic string, text string) Appended {
	leader, _, _ := w.c.Leader(topic, 0)
	w.ticket++
	w.c.Append(w.nowMs, AppendRequest{Broker: leader, Topic: topic, Epoch: -1, Acks: -1, TimeoutMs: 5000, Ticket: w.ticket,
		Batch: log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: w.nowMs, Value: []byte(text)}})})
	w.take()
	w.to(w.nowMs + 2000)
	for _, a := range w.appended {
		if a.Ticket == w.ticket {
			return a
		}
	}
	w.t.Fatalf("the append of %q has no outcome", text)
	return Appended{}
}

// TestRestore: everything that was acknowledged is there, in a new epoch, whoever is said to have led.
func TestRestore(t *testing.T) {
	w, s := onShelf(t, Config{Brokers: 3, MinInsyncReplicas: 1})
	w.c.CreateTopic(w.nowMs, "orders", 1, 3, []TopicConfig{{"retention.ms", "1000000"}})
	w.c.CreateTopic(w.nowMs, "gone", 1, 3, nil)
	w.take()
	write(w, "orders", "a")
	old := w.c.State() // what is on disk may be older than the logs
	leader, epoch, _ := w.c.Leader("orders", 0)
	w.c.KillBroker(w.nowMs, leader)
	w.take()
	w.to(w.nowMs + 20_000)
	write(w, "orders", "b")
	w.c.DeleteTopic(w.nowMs, "gone")
	if len(s.gone) != 3 {
		t.Errorf("of the deleted topic %v went", s.gone)
	}
	for i, state := range []State{w.c.State(), {ClusterID: old.ClusterID, TopicNumbers: old.TopicNumbers, Topics: old.Topics[:1]}} {
		n, _ := onShelf(t, Config{Brokers: 3, MinInsyncReplicas: 1})
		n.c.cfg.Disk = s
		if err := n.c.Restore(n.nowMs, state); err != nil {
			t.Fatal(err)
		}
		n.take()
		n.to(n.nowMs + 5000)
		info, _ := n.c.Topic("orders")
		before, _ := w.c.Topic("orders")
		p := info.Partitions[0]
		if info.ID != before.ID || !slices.Equal(info.Configs, before.Configs) || p.Epoch <= epoch+1 || i == 0 && p.Leader == leader || len(p.ISR) != 3 {
			t.Errorf("restored %+v, it was %+v; broker %d led in epoch %d", info, before, leader, epoch)
		}
		for _, r := range n.c.Replicas("orders", 0) {
			if r.EndOffset != 2 || r.HighWatermark != 2 {
				t.Errorf("a copy is %+v", r)
			}
		}
		if a := write(n, "orders", "c"); a.Code != 0 || a.BaseOffset != 2 {
			t.Errorf("a record after the start: %+v", a)
		}
		if code, _ := n.c.CreateTopic(n.nowMs, "more", 1, 3, nil); code != 0 {
			t.Error("no topic can be made")
		} else if more, _ := n.c.Topic("more"); more.ID == info.ID {
			t.Error("a new topic has an old id")
		}
		for key := range s.logs { // the next state restores what the first cluster left
			kept := s.logs[key]
			if kept.at.Topic == "orders" && kept.found.Segments[0].Size > 0 {
				l, _ := log.Open(kept, log.Config{}, kept.found, nil)
				if err := l.Truncate(2); err != nil {
					t.Fatal(err)
				}
				kept.found.Segments[0].Size = int(l.Size())
			}
		}
	}
}

// TestRestoreRefuses: a state that cannot be says what is wrong with it.
func TestRestoreRefuses(t *testing.T) {
	good := func() State {
		return State{ClusterID: "c", TopicNumbers: 1, Topics: []TopicState{{Name: "orders", ID: [16]byte{1}, Partitions: []PartitionState{{Leader: 1, Replicas: []int32{1, 2}, ISR: []int32{1}}}}}}
	}
	for _, c := range []struct {
		want  string
		spoil func(*State)
	}{
		{"broker 7, and there are 3", func(s *State) { s.Topics[0].Partitions[0].Replicas[1] = 7 }},
		{"its replicas are [1 1]", func(s *State) { s.Topics[0].Partitions[0].Replicas[1] = 1 }},
		{"no replica", func(s *State) { s.Topics[0].Partitions[0].Replicas = nil }},
		{"broker 3 leads", func(s *State) { s.Topics[0].Partitions[0].Leader = 3 }},
		{"broker 3 is named", func(s *State) { s.Topics[0].Partitions[0].ISR[0] = 3 }},
		{"in epoch -1", func(s *State) { s.Topics[0].Partitions[0].Epoch = -1 }},
		{"only letters", func(s *State) { s.Topics[0].Name = "../orders" }},
		{"is there twice", func(s *State) { s.Topics = append(s.Topics, s.Topics[0]) }},
		{"no id", func(s *State) { s.Topics[0].ID = [16]byte{} }},
		{"no cluster id", func(s *State) { s.ClusterID = "" }},
		{"no topic setting is called", func(s *State) { s.Topics[0].Configs = []TopicConfig{{"nonsense", "1"}} }},
		{"number 5", func(s *State) { s.Topics[0].Number = 5 }},
		{"orders-0 on broker 1: it is not there", func(*State) {}},
	} {
		w, _ := onShelf(t, Config{Brokers: 3})
		state := good()
		c.spoil(&state)
		if err := w.c.Restore(w.nowMs, state); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

// TestFullDisk: a leader whose disk is full answers KAFKA_STORAGE_ERROR, a follower's leaves the ISR; both work again when
// there is room.
func TestFullDisk(t *testing.T) {
	w, s := onShelf(t, Config{Brokers: 3})
	w.c.CreateTopic(w.nowMs, "orders", 1, 3, nil)
	w.take()
	write(w, "orders", "a")
	leader, _, _ := w.c.Leader("orders", 0)
	s.full[leader] = true
	if a := write(w, "orders", "b"); a.Code != codeStorageError || !strings.Contains(a.Message, "no space left") {
		t.Errorf("a full leader answers %+v", a)
	}
	s.full[leader] = false
	follower := leader%3 + 1
	s.full[follower] = true
	if a := write(w, "orders", "b"); a.Code != 0 || a.BaseOffset != 1 {
		t.Errorf("with a full follower: %+v", a)
	}
	if info, _ := w.c.Topic("orders"); len(info.Partitions[0].ISR) != 2 || slices.Contains(info.Partitions[0].ISR, follower) {
		t.Errorf("the ISR is %v, broker %d is full", info.Partitions[0].ISR, follower)
	}
	s.full[follower] = false
	w.to(w.nowMs + 5000)
	if info, _ := w.c.Topic("orders"); len(info.Partitions[0].ISR) != 3 {
		t.Errorf("there is room again, and the ISR is %v", info.Partitions[0].ISR)
	}
	for _, r := range w.c.Replicas("orders", 0) {
		if r.EndOffset != 2 {
			t.Errorf("a copy is %+v", r)
		}
	}
}
