package cluster

import (
	"fmt"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
)

// put appends one record with a key; a value of "" is a tombstone.
func (w *world) put(topic, key, value string) {
	r := log.Record{TimestampMs: w.nowMs, Key: []byte(key), Value: []byte(value)}
	if value == "" {
		r.Value = nil
	}
	leader, _, _ := w.c.Leader(topic, 0)
	w.sayTo(leader, topic, 0, 1, 0, log.Encode(log.NoProducer, 0, []log.Record{r}))
}

// compactions are the facts of that kind since the last look, by broker.
func (w *world) compactions() (list []string) {
	for _, e := range w.events {
		if b, ok := e.Body.(event.LogCompacted); ok {
			list = append(list, fmt.Sprintf("b%d %d-%d kept %d removed %d told %d", e.Broker, b.From, b.To, b.Kept, b.Count, len(b.Removed)))
		}
	}
	w.events = nil
	return list
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Every copy of a compacted topic is compacted at the cleaner's beat, once enough of it is new, and nothing happens while
// nothing is written.
func TestCompactedTopics(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3, TopicConfig{"cleanup.policy", "compact"}, TopicConfig{"segment.bytes", "150"}) // two batches a segment
	w.run(60_000)
	quiet := w.moments
	w.run(600_000)
	if w.moments != quiet || w.nextMs() != -1 {
		t.Errorf("an idle cluster has %d moments and waits for %d ms", w.moments-quiet, w.nextMs())
	}
	for i := range 5 {
		w.put("orders", "a", fmt.Sprint(i))
	}
	w.events = nil
	w.run(16_000)
	same(t, "the first compaction", w.compactions(),
		"b1 0-4 kept 1 removed 3 told 3", "b2 0-4 kept 1 removed 3 told 0", "b3 0-4 kept 1 removed 3 told 0")
	w.put("orders", "a", "")
	w.run(60_000)
	same(t, "no new segment, no compaction", w.compactions())
	w.put("orders", "b", "1")
	w.run(16_000)
	same(t, "two batches beside one are enough", w.compactions(),
		"b1 4-6 kept 1 removed 2 told 2", "b2 4-6 kept 1 removed 2 told 0", "b3 4-6 kept 1 removed 2 told 0")
	if w.run(600_000); w.nextMs() != -1 {
		t.Errorf("it waits for %d ms with nothing to do", w.nextMs())
	}
	w.wantSameLogs("orders", 0)
}

// A cleaner waits for the high watermark, for an age, and for a broker to come back; each comes without a new segment.
func TestTheCleanerLooksAgain(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2, BrokerSessionTimeoutMs: 1_000_000, ReplicaLagTimeMaxMs: 1_000_000})
	w.topic("orders", 1, 2, TopicConfig{"cleanup.policy", "compact"}, TopicConfig{"segment.bytes", "14"}, TopicConfig{"min.compaction.lag.ms", "40000"})
	w.run(1000)
	leader, _, _ := w.c.Leader("orders", 0)
	w.c.KillBroker(w.nowMs, 3-leader)
	w.take()
	for range 3 {
		w.put("orders", "a", "1")
	}
	w.run(60_000)
	same(t, "below the high watermark", w.compactions())
	w.c.StartBroker(w.nowMs, 3-leader)
	w.take()
	w.run(1_100_000)
	same(t, "when the follower is back", w.compactions(), fmt.Sprintf("b%d 0-2 kept 1 removed 1 told 1", leader), fmt.Sprintf("b%d 0-2 kept 1 removed 1 told 0", 3-leader))
	w.put("orders", "a", "2")
	w.run(30_000)
	same(t, "too young", w.compactions())
	w.put("orders", "a", "3")
	w.run(60_000)
	if got := w.compactions(); len(got) != 2 {
		t.Errorf("old enough: %v", got)
	}
}

// What goes from __consumer_offsets is told record by record, up to a bound, and the newest of each key stays.
func TestCompactedOffsets(t *testing.T) {
	w := newWorld(t, Config{Brokers: 1, OffsetsPartitions: 1, OffsetsSegmentBytes: 2000, DeleteRetentionMs: 20_000})
	w.c.EnsureOffsetsTopic(w.nowMs)
	w.take()
	commit := func(offset int64) {
		records := []log.Record{{TimestampMs: w.nowMs, Key: record.OffsetKey("g", "t", 0), Value: record.OffsetValue(record.Offset{Offset: offset, LeaderEpoch: -1, ExpireTimestampMs: -1})}}
		if offset < 0 {
			records[0].Value = nil
		}
		w.c.Append(w.nowMs, AppendRequest{Broker: 1, Topic: OffsetsTopic, Epoch: -1, Batch: log.Encode(log.NoProducer, 0, records), Acks: -1, Internal: true})
		w.take()
	}
	for i := range int64(130) {
		commit(i)
	}
	w.events = nil
	w.run(20_000)
	var told event.LogCompacted
	for _, e := range w.events {
		if b, ok := e.Body.(event.LogCompacted); ok {
			told = b
		}
	}
	if told.Kept != 1 || told.Count < 101 || len(told.Removed) != 100 || told.BytesAfter >= told.BytesBefore {
		t.Fatalf("told %+v", told)
	}
	if len(told.More) != 1 || told.More[0].Why != event.WhySuperseded || told.More[0].Count != told.Count-100 {
		t.Errorf("more: %+v of %d", told.More, told.Count)
	}
	if r := told.Removed[3]; r.Offset != 3 || r.Why != event.WhySuperseded || r.By != told.To-1 || r.Record.What != "offset" || r.Record.Group != "g" || r.Record.Offset != 3 {
		t.Errorf("the fourth is %+v", r)
	}
}

func TestCompactionSettings(t *testing.T) {
	for _, x := range []struct{ name, value, want string }{
		{"min.cleanable.dirty.ratio", "1.5", "it goes from 0 to 1"}, {"min.cleanable.dirty.ratio", "NaN", "it goes from 0 to 1"},
		{"min.cleanable.dirty.ratio", "half", "cannot be"}, {"delete.retention.ms", "-1", "at least 0"},
		{"min.compaction.lag.ms", "-1", "at least 0"}, {"max.compaction.lag.ms", "0", "at least 1"}, {"cleanup.policy", "shrink", "compact, delete or both"},
	} {
		c := New(0, Config{Numbers: &event.Numbers{}})
		code, message := c.CreateTopic(0, "t", 1, 1, []TopicConfig{{x.name, x.value}})
		if code != codeInvalidConfig || !strings.Contains(message, x.want) {
			t.Errorf("%s=%s: %d, %q", x.name, x.value, code, message)
		}
	}
}

// What waits for longer than max.compaction.lag.ms is compacted however little it is (KIP-354), and so that it can be, a
// segment of a compacted topic is no older than that when the next batch comes.
func TestMaxCompactionLag(t *testing.T) {
	w := newWorld(t, Config{Brokers: 1})
	w.topic("orders", 1, 1, TopicConfig{"cleanup.policy", "compact"}, TopicConfig{"min.cleanable.dirty.ratio", "1"}, TopicConfig{"max.compaction.lag.ms", "60000"})
	w.run(1000)
	w.put("orders", "a", "1")
	w.run(30_000)
	w.put("orders", "a", "2") // the same segment
	w.events = nil
	w.run(60_000)
	same(t, "one segment", w.compactions())
	w.put("orders", "a", "3") // the first batch is older than a minute: a new one
	w.run(15_000)
	same(t, "however little it is", w.compactions(), "b1 0-2 kept 1 removed 1 told 1")
	if w.run(1_000_000); w.nextMs() != -1 {
		t.Errorf("it waits for %d ms with nothing to do", w.nextMs())
	}
}

// What lies behind an open transaction does not count as dirty: it cannot be compacted yet (LogToClean.cleanableBytes).
func TestOpenTransactionsAreNotDirt(t *testing.T) {
	w := newWorld(t, Config{Brokers: 1})
	w.topic("orders", 1, 1, TopicConfig{"cleanup.policy", "compact"}, TopicConfig{"segment.bytes", "14"}, TopicConfig{"min.cleanable.dirty.ratio", "0"})
	w.run(1000)
	w.put("orders", "a", "1")
	batch := log.Encode(log.Producer{ID: 9, Epoch: 0, BaseSequence: 0}, log.Transactional, []log.Record{{TimestampMs: w.nowMs, Key: []byte("a"), Value: []byte("2")}})
	w.sayTo(1, "orders", 0, 1, 0, batch)
	w.put("orders", "a", "3")
	w.put("orders", "a", "4")
	w.events = nil
	w.run(16_000)
	same(t, "up to the open transaction", w.compactions(), "b1 0-1 kept 1 removed 0 told 0")
	w.run(31_000)
	same(t, "nothing new", w.compactions())
	w.c.WriteMarker(w.nowMs, MarkerRequest{Topic: "orders", From: 1, Marker: log.Marker{ProducerID: 9, Commit: true}})
	w.take()
	w.run(46_000)
	same(t, "when it has ended", w.compactions(), "b1 1-4 kept 1 removed 3 told 3")
}

// A large log is compacted a piece at a time: between two pieces the cluster takes an append and answers it, a broker may stop,
// and a copy of the cluster comes to the same end.
func TestTheCleanerTakesTurns(t *testing.T) {
	w := newWorld(t, Config{Brokers: 1})
	w.topic("orders", 1, 1, TopicConfig{"cleanup.policy", "compact"}, TopicConfig{"segment.bytes", fmt.Sprint(cleanBytes)})
	w.run(1000)
	value := strings.Repeat("x", 10_000)
	for i := range 200 {
		w.put("orders", fmt.Sprint(i%3), value)
	}
	w.events = nil
	w.to(16_000) // the cleaner's beat
	turns := 0
	for ; len(w.compactions()) == 0; turns++ {
		if next := w.nextMs(); next != w.nowMs+1 {
			t.Fatalf("after %d turns it waits until %d ms, at %d ms", turns, next, w.nowMs)
		}
		w.wantCode(w.say("orders", 0, 1, 0, "refused: it has no key"), codeInvalidRecord)
		before := len(w.appended)
		w.put("orders", "between", fmt.Sprint(turns))
		if len(w.appended) != before+1 || w.appended[before].Code != 0 {
			t.Fatalf("an append between two pieces was answered %+v", w.appended[before:])
		}
		w.run(1)
	}
	if most := 3 * 200 * 10_100 / cleanBytes; turns < most/2 || turns > 2*most {
		t.Errorf("it took %d turns to read two megabytes three times", turns)
	}
	if w.run(600_000); w.nextMs() != -1 {
		t.Errorf("it waits for %d ms with nothing to do", w.nextMs())
	}
}

// What interrupts the cleaner at a log, a broker that stops or records that are deleted, does not keep it from compacting later.
func TestTheCleanerIsInterrupted(t *testing.T) {
	for name, interrupt := range map[string]func(w *world){
		"stop": func(w *world) {
			w.c.StopBroker(w.nowMs, 1)
			w.take()
			w.run(1000)
			w.c.StartBroker(w.nowMs, 1)
			w.take()
		},
		"delete": func(w *world) { w.c.DeleteRecords(w.nowMs, 1, "orders", 0, 60); w.take() },
	} {
		w := newWorld(t, Config{Brokers: 1})
		w.topic("orders", 1, 1, TopicConfig{"cleanup.policy", "compact"}, TopicConfig{"segment.bytes", fmt.Sprint(cleanBytes)})
		w.run(1000)
		value := strings.Repeat("x", 10_000)
		for i := range 200 {
			w.put("orders", fmt.Sprint(i%3), value)
		}
		w.to(16_000)
		w.run(2)
		if !w.c.find("orders", 0).replicas[0].log.Compacting() {
			t.Fatal("it is done already")
		}
		w.events = nil
		interrupt(w)
		w.run(60_000)
		if got := w.compactions(); len(got) != 1 || w.nextMs() != -1 || w.c.find("orders", 0).replicas[0].log.Compacting() {
			t.Errorf("%s: %v, it waits for %d ms", name, got, w.nextMs())
		}
	}
}
