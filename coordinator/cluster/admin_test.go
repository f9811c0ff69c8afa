package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/log"
)

func orders(t *testing.T, brokers int32, replicas ...int32) *world {
	t.Helper()
	w := newWorld(t, Config{Brokers: brokers, RetentionCheckMs: 1000})
	if code, message := w.c.CreateTopicWith(w.nowMs, TopicSpec{Name: "orders", Partitions: -1, Replicas: -1, Assignment: [][]int32{replicas}}); code != codeNone {
		t.Fatal(message)
	}
	w.take()
	w.run(1000)
	return w
}

func (w *world) must(code int16, message string) {
	w.t.Helper()
	if code != codeNone {
		w.t.Fatalf("code %d: %s", code, message)
	}
	w.take()
}

func (w *world) replicas() string {
	p := w.c.find("orders", 0)
	return fmt.Sprint(p.ids(), p.isr, p.leader)
}

// TestReassign moves a partition to brokers that never had it: both the old and the new ones have it until the new ones are
// in sync, then the old ones go, and the leader, who is one of them, with them. Nothing that was acknowledged is lost.
func TestReassign(t *testing.T) {
	w := orders(t, 5, 1, 2, 3)
	w.wantAfter(w.say("orders", 0, -1, 5000, "before"))
	_, epoch, _ := w.c.Leader("orders", 0)
	w.cut[[2]int32{1, 5}] = true
	w.must(w.c.Reassign(w.nowMs, "orders", 0, []int32{4, 5, 3}, false))
	w.run(3000)
	if got := w.replicas(); got != "[4 5 3 1 2] [4 3 1 2] 1" {
		t.Fatalf("while broker 5 cannot follow: %s", got)
	}
	want := []Reassignment{{"orders", 0, []int32{4, 5, 3, 1, 2}, []int32{4, 5}, []int32{1, 2}}}
	if got := w.c.Reassignments(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	w.wantAfter(w.say("orders", 0, -1, 5000, "meanwhile"))
	delete(w.cut, [2]int32{1, 5})
	w.run(3000)
	if got := w.replicas(); got != "[4 5 3] [4 5 3] 4" {
		t.Fatalf("when all follow: %s", got)
	}
	if _, now, _ := w.c.Leader("orders", 0); now != epoch+1 {
		t.Errorf("the epoch is %d, want %d", now, epoch+1)
	}
	if after := w.wantAfter(w.say("orders", 0, -1, 5000, "after")); after.BaseOffset != 2 {
		t.Errorf("the record behind two others stands at %d", after.BaseOffset)
	}
	if len(w.c.Reassignments()) != 0 {
		t.Error("it is over, and still listed")
	}
	w.wantSameLogs("orders", 0)
}

// TestReassignKeepsTheLeader: where the leader stays and nobody goes, its epoch stays; a mere change of order is only that.
func TestReassignKeepsTheLeader(t *testing.T) {
	w := orders(t, 3, 1, 2)
	_, epoch, _ := w.c.Leader("orders", 0)
	if code, _ := w.c.Reassign(w.nowMs, "orders", 0, []int32{2, 1, 3}, false); code != codeInvalidReplicationFactor {
		t.Errorf("a third replica that is not allowed: code %d", code)
	}
	w.must(w.c.Reassign(w.nowMs, "orders", 0, []int32{2, 1, 3}, true))
	w.run(3000)
	if _, now, _ := w.c.Leader("orders", 0); now != epoch || w.replicas() != "[2 1 3] [2 1 3] 1" {
		t.Errorf("one more: %s in epoch %d, it was %d", w.replicas(), now, epoch)
	}
	w.must(w.c.Elect(w.nowMs, "orders", 0, false))
	if w.replicas() != "[2 1 3] [2 1 3] 2" {
		t.Errorf("the preferred leader: %s", w.replicas())
	}
	w.must(w.c.Reassign(w.nowMs, "orders", 0, []int32{2}, true))
	w.run(1000)
	w.wantAfter(w.say("orders", 0, -1, 5000, "alone"))
	if w.replicas() != "[2] [2] 2" {
		t.Errorf("two fewer: %s", w.replicas())
	}
}

// TestReassignCanBeEnded: what was begun is taken back, and a newcomer's half log is forgotten with it.
func TestReassignCanBeEnded(t *testing.T) {
	w := orders(t, 4, 1, 2)
	w.cut[[2]int32{1, 4}] = true
	w.wantAfter(w.say("orders", 0, -1, 5000, "before"))
	w.must(w.c.Reassign(w.nowMs, "orders", 0, []int32{4, 3}, false))
	w.run(2000)
	w.must(w.c.Reassign(w.nowMs, "orders", 0, []int32{3, 1}, false)) // another target takes its place
	w.run(2000)
	if w.replicas() != "[3 1] [3 1] 1" {
		t.Fatalf("the second target: %s", w.replicas())
	}
	w.must(w.c.Reassign(w.nowMs, "orders", 0, []int32{4, 3}, false))
	w.must(w.c.Reassign(w.nowMs, "orders", 0, nil, false))
	delete(w.cut, [2]int32{1, 4})
	w.run(2000)
	if w.replicas() != "[3 1] [3 1] 1" {
		t.Errorf("taken back: %s", w.replicas())
	}
	w.wantAfter(w.say("orders", 0, -1, 5000, "after"))
	w.wantSameLogs("orders", 0)
	for _, c := range []struct {
		topic string
		to    []int32
		code  int16
	}{
		{"orders", nil, codeNoReassignmentInProgress}, {"none", []int32{1, 2}, codeUnknownTopicOrPartition}, {"orders", []int32{}, codeInvalidReplicaAssignment},
		{"orders", []int32{1, 1}, codeInvalidReplicaAssignment}, {"orders", []int32{1, 9}, codeInvalidReplicaAssignment},
	} {
		if code, message := w.c.Reassign(w.nowMs, c.topic, 0, c.to, false); code != c.code || message == "" {
			t.Errorf("%s to %v: code %d (%s), want %d", c.topic, c.to, code, message, c.code)
		}
	}
}

// TestElect: each way of asking for a leader, and each refusal.
func TestElect(t *testing.T) {
	w := orders(t, 3, 1, 2)
	expect := func(what string, unclean bool, want int16) {
		t.Helper()
		if code, message := w.c.Elect(w.nowMs, "orders", 0, unclean); code != want || (code != 0) != (message != "") {
			t.Errorf("%s: code %d (%s), want %d", what, code, message, want)
		}
		w.take()
	}
	expect("the preferred one leads", false, codeElectionNotNeeded)
	w.wantAfter(w.say("orders", 0, -1, 5000, "both have it"))
	w.kill(2)
	w.run(20_000)
	w.wantAfter(w.say("orders", 0, -1, 5000, "only 1 has it"))
	w.kill(1)
	w.run(20_000)
	if w.replicas() != "[1 2] [1] -1" {
		t.Fatalf("nobody is left: %s", w.replicas())
	}
	expect("nobody is alive", true, codeEligibleLeadersNotAvailable)
	w.start(2)
	w.run(5000)
	expect("the preferred one is gone", false, codePreferredLeaderNotAvailable)
	expect("what 1 has alone is given up", true, codeNone)
	if w.replicas() != "[1 2] [2] 2" {
		t.Fatalf("unclean: %s", w.replicas())
	}
	expect("somebody leads", true, codeElectionNotNeeded)
	w.start(1)
	w.run(20_000)
	expect("the preferred one is back", false, codeNone)
	if w.replicas() != "[1 2] [1 2] 1" {
		t.Errorf("preferred: %s", w.replicas())
	}
	if after := w.wantAfter(w.say("orders", 0, -1, 5000, "after")); after.BaseOffset != 1 {
		t.Errorf("behind the one record that both had stands %d", after.BaseOffset)
	}
	w.wantSameLogs("orders", 0)
	if code, _ := w.c.Elect(w.nowMs, "none", 0, false); code != codeUnknownTopicOrPartition {
		t.Errorf("no such topic: code %d", code)
	}
}

// TestDeleteRecords: all replicas begin later, one that was away too when it is back.
func TestDeleteRecords(t *testing.T) {
	w := orders(t, 3, 1, 2, 3)
	for range 5 {
		w.wantAfter(w.say("orders", 0, -1, 5000, "x"))
	}
	w.kill(3)
	w.run(20_000)
	starts := func() (list []int64) {
		for _, r := range w.c.Replicas("orders", 0) {
			list = append(list, r.StartOffset)
		}
		return list
	}
	for _, c := range []struct {
		broker int32
		topic  string
		offset int64
		start  int64
		code   int16
	}{
		{1, "orders", 3, 3, 0}, {1, "orders", 2, 3, 0}, {1, "orders", 6, -1, codeOffsetOutOfRange}, {1, "orders", -2, -1, codeOffsetOutOfRange},
		{2, "orders", 4, -1, codeNotLeaderOrFollower}, {1, "none", 4, -1, codeUnknownTopicOrPartition},
	} {
		if start, code := w.c.DeleteRecords(w.nowMs, c.broker, c.topic, 0, c.offset); start != c.start || code != c.code {
			t.Errorf("%s at broker %d before %d: start %d, code %d; want %d, %d", c.topic, c.broker, c.offset, start, code, c.start, c.code)
		}
		w.take()
	}
	if got := starts(); !slices.Equal(got, []int64{3, 3, 0}) {
		t.Errorf("the copies begin at %v", got)
	}
	w.start(3)
	w.run(20_000)
	w.wantAfter(w.say("orders", 0, -1, 5000, "y"))
	w.run(2000)
	if got := starts(); !slices.Equal(got, []int64{3, 3, 3}) {
		t.Errorf("when all are back the copies begin at %v", got)
	}
	if start, _ := w.c.DeleteRecords(w.nowMs, 1, "orders", 0, -1); start != 6 {
		t.Errorf("everything: start %d, want 6", start)
	}
	if read := w.c.Read(ReadRequest{Broker: 1, Topic: "orders", Epoch: -1, Offset: 3}); read.Code != codeOffsetOutOfRange {
		t.Errorf("reading what is gone: code %d", read.Code)
	}
	w.must(w.c.Configure(w.nowMs, "orders", []TopicConfig{{"cleanup.policy", "compact"}}, false))
	if _, code := w.c.DeleteRecords(w.nowMs, 1, "orders", 0, -1); code != codePolicyViolation {
		t.Errorf("of a compacted topic: code %d", code)
	}
	w.must(w.c.EnsureOffsetsTopic(w.nowMs))
	if _, code := w.c.DeleteRecords(w.nowMs, 1, OffsetsTopic, 0, -1); code != codeInvalidTopic {
		t.Errorf("of an internal topic: code %d", code)
	}
}

// TestConfigure: settings of a topic and of the brokers work at once; a wrong one changes nothing.
func TestConfigure(t *testing.T) {
	w := orders(t, 2, 1, 2)
	big := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: w.nowMs, Value: make([]byte, 5000)}})
	w.must(w.c.Configure(w.nowMs, "orders", []TopicConfig{{"max.message.bytes", "1000"}}, false))
	w.run(1)
	w.wantCode(w.sayTo(1, "orders", 0, 1, 1000, big), codeMessageTooLarge)
	if code, _ := w.c.Configure(w.nowMs, "orders", []TopicConfig{{"max.message.bytes", "many"}}, false); code != codeInvalidConfig {
		t.Errorf("a value that is no number: code %d", code)
	}
	w.must(w.c.Configure(w.nowMs, "orders", nil, true))
	w.wantCode(w.sayTo(1, "orders", 0, 1, 1000, big), codeMessageTooLarge)
	w.must(w.c.Configure(w.nowMs, "orders", nil, false))
	w.wantCode(w.sayTo(1, "orders", 0, 1, 1000, big), codeNone)
	w.c.Reconfigure(w.nowMs, func(c *Config) { c.MaxMessageBytes = 2000 })
	w.wantCode(w.sayTo(1, "orders", 0, 1, 1000, big), codeMessageTooLarge)
	list, _ := w.c.TopicSettings("orders")
	i := slices.IndexFunc(list, func(s TopicSetting) bool { return s.Name == "max.message.bytes" })
	if list[i].Value != "2000" || list[i].Own || list[i].Broker != "message.max.bytes" {
		t.Errorf("told as %+v", list[i])
	}
	for _, c := range []TopicConfig{{"cleanup.policy", "shred"}, {"min.insync.replicas", "0"}, {"message.timestamp.type", "Now"}, {"preallocate", "maybe"},
		{"retention.ms", "-2"}, {"segment.bytes", "1"}, {"min.cleanable.dirty.ratio", "2"}, {"what.is.this", "1"}, {"remote.storage.enable", "true"}} {
		if code, message := w.c.Configure(w.nowMs, "orders", []TopicConfig{c}, false); code != codeInvalidConfig || !strings.Contains(message, c.Name) {
			t.Errorf("%+v: code %d, %q", c, code, message)
		}
	}
	w.kill(2)
	w.run(20_000)
	w.must(w.c.Configure(w.nowMs, "orders", []TopicConfig{{"min.insync.replicas", "2"}}, false))
	w.wantCode(w.say("orders", 0, -1, 1000, "x"), codeNotEnoughReplicas)
}

// TestRetentionOfATopic: a topic that says itself how long records are kept is looked at by the clock, and even the segment
// that is written to goes when all of it is too old.
func TestRetentionOfATopic(t *testing.T) {
	w := orders(t, 2, 1, 2)
	w.wantAfter(w.say("orders", 0, -1, 5000, "old"))
	w.must(w.c.Configure(w.nowMs, "orders", []TopicConfig{{"retention.ms", "5000"}}, false))
	w.run(2000)
	w.wantAfter(w.say("orders", 0, -1, 5000, "young"))
	if r := w.c.Replicas("orders", 0); r[0].StartOffset != 0 {
		t.Fatalf("begins at %d although nothing is too old", r[0].StartOffset)
	}
	w.run(20_000)
	for _, r := range w.c.Replicas("orders", 0) {
		if r.StartOffset != 2 || r.EndOffset != 2 {
			t.Errorf("broker %d: %d to %d, want an empty log at 2", r.Broker, r.StartOffset, r.EndOffset)
		}
	}
	if after := w.wantAfter(w.say("orders", 0, -1, 5000, "new")); after.BaseOffset != 2 {
		t.Errorf("the next record stands at %d", after.BaseOffset)
	}
	w.wantSameLogs("orders", 0)
}

// TestBrokersThatAreGoneGetReplicas only where the others are too few; back again they follow, and are in sync.
func TestBrokersThatAreGoneGetReplicas(t *testing.T) {
	w := newWorld(t, Config{Brokers: 4})
	w.kill(3)
	w.run(20_000)
	w.must(w.c.CreateTopic(w.nowMs, "some", 4, 3, nil))
	for p := range int32(4) {
		if w.c.find("some", p).at(3) >= 0 {
			t.Errorf("partition %d is on broker 3, which is gone, though three others are there", p)
		}
	}
	w.must(w.c.CreateTopic(w.nowMs, "all", 4, 4, nil))
	w.wantAfter(w.say("all", 2, -1, 5000, "x"))
	for p := range int32(4) {
		found := w.c.find("all", p)
		if len(found.replicas) != 4 || len(found.isr) != 3 || found.leader == 3 {
			t.Errorf("partition %d: %v in sync of %v, led by %d", p, found.isr, found.ids(), found.leader)
		}
	}
	w.start(3)
	w.run(5000)
	if got := w.isr("all", 2); len(w.c.find("all", 2).isr) != 4 {
		t.Errorf("when broker 3 is back %s are in sync", got)
	}
	w.wantSameLogs("all", 2)
	if code, _ := w.c.CreateTopic(w.nowMs, "five", 1, 5, nil); code != codeInvalidReplicationFactor {
		t.Errorf("five replicas on four brokers: code %d", code)
	}
}

// TestUncleanTopics: where a topic allows it, a replica that lacks something leads when no other is alive; whoever comes
// back follows it, and what it lacked is gone.
func TestUncleanTopics(t *testing.T) {
	w := orders(t, 2, 1, 2)
	w.wantAfter(w.say("orders", 0, -1, 5000, "both have it"))
	w.kill(2)
	w.run(20_000)
	w.wantAfter(w.say("orders", 0, -1, 5000, "only 1 has it"))
	w.kill(1)
	w.run(20_000)
	w.start(2)
	w.run(5000)
	if w.replicas() != "[1 2] [1] -1" {
		t.Fatalf("without leave nobody leads: %s", w.replicas())
	}
	w.must(w.c.Configure(w.nowMs, "orders", []TopicConfig{{"unclean.leader.election.enable", "true"}}, false))
	if w.replicas() != "[1 2] [2] 2" {
		t.Fatalf("with leave: %s", w.replicas())
	}
	w.start(1)
	w.run(20_000)
	if after := w.wantAfter(w.say("orders", 0, -1, 5000, "after")); after.BaseOffset != 1 {
		t.Errorf("behind the one record that both had stands %d", after.BaseOffset)
	}
	w.wantSameLogs("orders", 0)
	w.kill(1)
	w.run(20_000)
	w.wantAfter(w.say("orders", 0, -1, 5000, "only 2 has it"))
	w.kill(2)
	w.run(20_000)
	w.start(1)
	w.run(1000)
	if w.replicas() != "[1 2] [1] 1" {
		t.Errorf("a replica that comes back to nobody leads: %s", w.replicas())
	}
}

// TestLogAppendTime: the leader's time takes the place of the producer's, in every copy.
func TestLogAppendTime(t *testing.T) {
	w := orders(t, 2, 1, 2)
	w.must(w.c.Configure(w.nowMs, "orders", []TopicConfig{{"message.timestamp.type", "LogAppendTime"}}, false))
	old := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: 7, Value: []byte("a")}, {TimestampMs: 9, Value: []byte("b")}})
	nowMs := w.nowMs
	if got := w.wantAfter(w.sayTo(1, "orders", 0, -1, 1000, old)); got.LogAppendTimeMs != nowMs {
		t.Errorf("told %d, want %d", got.LogAppendTimeMs, nowMs)
	}
	b, _, err := log.Parse(w.c.Read(ReadRequest{Broker: 1, Topic: "orders", Epoch: -1, MaxBytes: 1 << 20}).Batches)
	if err != nil || b.CheckCRC() != nil {
		t.Fatal(err, b.CheckCRC())
	}
	records, err := b.Records(nil)
	if err != nil || records[0].TimestampMs != nowMs || records[1].TimestampMs != nowMs {
		t.Errorf("%v, %+v, want the time %d", err, records, nowMs)
	}
	if found := w.c.ListOffset(1, "orders", 0, -1, nowMs); found.Offset != 0 || found.TimestampMs != nowMs {
		t.Errorf("found by that time: %+v", found)
	}
	w.wantSameLogs("orders", 0)
}
