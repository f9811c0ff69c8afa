package view

import (
	"testing"

	"grouplab/coordinator/event"
)

func TestAStaticMemberKeepsItsRow(t *testing.T) {
	s := newTold()
	b := added("i-1", "c1")
	b.InstanceID = "i"
	s.at(0, event.ClientStarted{Client: "c1"}, event.GroupCreated{}, b,
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(1000, event.ClientStopped{Client: "c1", Killed: true})
	if mb := s.m.Groups["g"].Member("i-1"); mb == nil || !mb.Gone {
		t.Fatal("the killed member is no ghost")
	}
	s.at(2000, event.ClientStarted{Client: "c1"}, event.MemberReplaced{Old: "i-1", Member: "i-2", InstanceID: "i"})
	g := s.m.Groups["g"]
	mb := g.Member("i-2")
	if mb == nil || mb.Gone || mb.Label != "c1" || g.Member("i-1") != nil || len(g.Present()) != 1 {
		t.Fatalf("%+v; want one living member c1 under its new id", mb)
	}
	if len(g.Lanes) != 1 || !g.Lanes[0].Has("i-1") || g.Lanes[0].Member != "i-2" {
		t.Errorf("lanes %+v; want one that both ids share", g.Lanes)
	}
}

func TestOffsetsOfATransactionWaitInASiding(t *testing.T) {
	value := []event.OffsetValue{{Topic: "orders", Partition: 2, Offset: 25}}
	s := newTold()
	s.at(0, event.GroupCreated{}, event.TxnOffsetsPending{ProducerID: 1000, Append: 1, Offsets: value})
	row := func() *OffsetRow { return s.m.Groups["g"].offsetRow("orders", 2) }
	if len(row().Pending) != 1 || len(row().Txn) != 0 {
		t.Fatalf("%+v; want 25 in flight", row())
	}
	s.at(5, event.TxnOffsetsWritten{ProducerID: 1000, Append: 1, BaseOffset: 7, Offsets: value})
	if len(row().Pending) != 0 || len(row().Txn) != 1 || row().Committed != -1 {
		t.Fatalf("%+v; want 25 written and seen by nobody", row())
	}
	copied := s.m.Clone()
	s.at(9, event.TxnOffsetsEnded{ProducerID: 1000, Commit: true, Offsets: value}, event.OffsetsCommitted{BaseOffset: 7, Offsets: value})
	if len(row().Txn) != 0 || row().Committed != 25 {
		t.Errorf("%+v; want 25 committed", row())
	}
	if len(copied.Groups["g"].offsetRow("orders", 2).Txn) != 1 {
		t.Error("the end of the transaction reached a copy")
	}
	s.at(20, event.OffsetsRemoved{Why: event.WhyOffsetsExpired, Offsets: value})
	if len(s.m.Groups["g"].Offsets) != 0 {
		t.Error("a removed offset is still there")
	}
}

func TestCompactionTakesRecordsOffTheTape(t *testing.T) {
	s := newTold()
	record := func(offset int64) event.LogRecord {
		return event.LogRecord{What: "offset", Group: "g", Topic: "orders", Offset: offset}
	}
	for i := range int64(4) {
		s.at(i, event.RecordsAppended{Topic: "__consumer_offsets", Partition: 3, BaseOffset: i, Count: 1, Records: []event.LogRecord{record(i * 10)}})
	}
	s.at(10, event.LogCompacted{Topic: "__consumer_offsets", Partition: 3, To: 3, Count: 2, Removed: []event.RemovedRecord{{Offset: 0}, {Offset: 1}}})
	tape := s.m.Tapes[3]
	if len(tape.Records) != 2 || tape.Records[0].LogRecord.Offset != 20 || tape.Compacted != 3 || tape.Removed != 2 {
		t.Errorf("%+v; want the records at 2 and 3", tape.Records)
	}
}

// TestAMemberThatIsHeardIsNoGhost: a connection that broke makes a ghost until the member is heard over another one; of a process
// that was killed, what is heard was under way.
func TestAMemberThatIsHeardIsNoGhost(t *testing.T) {
	s := newTold()
	s.at(0, event.ClientStarted{Client: "b"}, event.GroupCreated{}, added("a-1", "a"), added("b-1", "b"),
		event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(1000, event.ConnectionClosed{Members: []string{"a-1"}}, event.ClientStopped{Client: "b", Killed: true})
	g := s.m.Groups["g"]
	if !g.Member("a-1").Gone || !g.Member("b-1").Gone {
		t.Fatalf("ghosts: %v, %v; want both", g.Member("a-1").Gone, g.Member("b-1").Gone)
	}
	s.at(2000, event.HeartbeatReceived{Member: "a-1"}, event.HeartbeatReceived{Member: "b-1"})
	if g.Member("a-1").Gone || !g.Member("b-1").Gone {
		t.Errorf("ghosts after both were heard: %v, %v; want the killed one alone", g.Member("a-1").Gone, g.Member("b-1").Gone)
	}

	s = newTold()
	s.at(0, event.ClientStarted{Client: "b"}, event.GroupCreated{}, added("b-1", "b"), event.StateChanged{From: event.CompletingRebalance, To: event.Stable})
	s.at(1000, event.ClientStopped{Client: "b", Killed: true}, event.ClientStarted{Client: "b"}, event.HeartbeatReceived{Member: "b-1"})
	if !s.m.Groups["g"].Member("b-1").Gone {
		t.Error("the heartbeat of a process that was killed, under way while another began under its name, made its member alive")
	}
}
