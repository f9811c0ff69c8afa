package cluster

import (
	"slices"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/coordinator/record"
)

func TestAppendRefusesWithKafkasCode(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3, MaxMessageBytes: 200})
	w.topic("orders", 2, 3)
	w.topic("tables", 1, 3, TopicConfig{"cleanup.policy", "compact"})
	w.c.EnsureOffsetsTopic(w.nowMs)
	w.take()
	good := batch(w.nowMs, "a")
	broken := slices.Clone(good)
	broken[len(broken)-1] ^= 1
	for _, c := range []struct {
		name string
		r    AppendRequest
		code int16
	}{
		{"unknown topic", AppendRequest{Broker: 1, Topic: "other", Epoch: -1, Batch: good, Acks: 1}, codeUnknownTopicOrPartition},
		{"unknown partition", AppendRequest{Broker: 1, Topic: "orders", Partition: 2, Epoch: -1, Batch: good, Acks: 1}, codeUnknownTopicOrPartition},
		{"negative partition", AppendRequest{Broker: 1, Topic: "orders", Partition: -1, Epoch: -1, Batch: good, Acks: 1}, codeUnknownTopicOrPartition},
		{"another leads", AppendRequest{Broker: 2, Topic: "orders", Epoch: -1, Batch: good, Acks: 1}, codeNotLeaderOrFollower},
		{"later epoch", AppendRequest{Broker: 1, Topic: "orders", Epoch: 1, Batch: good, Acks: 1}, codeNotLeaderOrFollower},
		{"acks", AppendRequest{Broker: 1, Topic: "orders", Epoch: -1, Batch: good, Acks: 2}, codeInvalidRequiredAcks},
		{"crc", AppendRequest{Broker: 1, Topic: "orders", Epoch: -1, Batch: broken, Acks: 1}, 2},
		{"nothing", AppendRequest{Broker: 1, Topic: "orders", Epoch: -1, Acks: 1}, 2},
		{"too large", AppendRequest{Broker: 1, Topic: "orders", Epoch: -1, Batch: batch(w.nowMs, string(make([]byte, 200))), Acks: 1}, codeMessageTooLarge},
		{"too late", AppendRequest{Broker: 1, Topic: "orders", Epoch: -1, Batch: batch(w.nowMs+3600001, "a"), Acks: 1}, codeInvalidTimestamp},
		{"no key", AppendRequest{Broker: 2, Topic: "tables", Epoch: -1, Batch: good, Acks: 1}, codeInvalidRecord},
		{"internal topic", AppendRequest{Broker: 1, Topic: OffsetsTopic, Epoch: -1, Batch: good, Acks: 1}, codeInvalidTopic},
		{"internal, too large", AppendRequest{Broker: 1, Topic: OffsetsTopic, Epoch: 0, Batch: batch(w.nowMs, string(make([]byte, 200))), Acks: -1, Internal: true}, codeMessageTooLarge},
	} {
		w.ticket++
		c.r.Ticket = w.ticket
		w.c.Append(w.nowMs, c.r)
		w.take()
		if a, ok := w.outcome(w.ticket); !ok || a.Code != c.code || a.Message == "" || a.BaseOffset != -1 {
			t.Errorf("%s: %+v, want code %d", c.name, a, c.code)
		}
	}
	if w.count("RecordsAppended") != 0 {
		t.Error("something was appended")
	}
	before := len(w.appended)
	w.c.Append(w.nowMs, AppendRequest{Broker: 1, Topic: "orders", Epoch: 0, Batch: good, Acks: 0})
	w.take()
	if len(w.appended) != before || w.count("RecordsAppended") != 1 {
		t.Error("acks 0 without a ticket: written, and nobody is told")
	}
}

func TestReadChecksEpochAndOffset(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.say("orders", 0, -1, 5000, "a", "b")
	w.run(100)
	w.kill(1)
	w.run(10000)
	read := func(broker int32, epoch int32, offset int64) ReadResult {
		return w.c.Read(ReadRequest{Broker: broker, Topic: "orders", Epoch: epoch, Offset: offset, MaxBytes: 1000, MinOne: true})
	}
	for _, c := range []struct {
		name          string
		broker, epoch int32
		offset        int64
		code          int16
		bytes         int
	}{
		{"all", 2, -1, 0, 0, 77},
		{"this epoch", 2, 1, 0, 0, 77},
		{"in the batch", 2, 1, 1, 0, 77},
		{"at the end", 2, 1, 2, 0, 0},
		{"behind the end", 2, 1, 3, codeOffsetOutOfRange, 0},
		{"before the start", 2, 1, -1, codeOffsetOutOfRange, 0},
		{"old epoch", 2, 0, 0, codeFencedLeaderEpoch, 0},
		{"new epoch", 2, 2, 0, codeUnknownLeaderEpoch, 0},
		{"a follower", 3, 1, 0, codeNotLeaderOrFollower, 0},
		{"a dead broker", 1, 1, 0, codeNotLeaderOrFollower, 0},
	} {
		r := read(c.broker, c.epoch, c.offset)
		if r.Code != c.code || len(r.Batches) != c.bytes || r.Leader != 2 || r.Epoch != 1 {
			t.Errorf("%s: code %d, %d bytes, leader %d in epoch %d; want %d, %d", c.name, r.Code, len(r.Batches), r.Leader, r.Epoch, c.code, c.bytes)
		}
	}
	if r := w.c.Read(ReadRequest{Broker: 1, Topic: "other", Epoch: -1}); r.Code != codeUnknownTopicOrPartition {
		t.Errorf("an unknown topic: %d", r.Code)
	}
	if _, end, ok := w.c.ReadLog(2, "orders", 0, 0, 10); !ok || end != 2 {
		t.Errorf("the broker itself reads to %d, %v", end, ok)
	}
	if _, _, ok := w.c.ReadLog(3, "orders", 0, 0, 10); ok {
		t.Error("a follower's coordinator reads")
	}
	epoch, end, code := w.c.EpochEnd(2, "orders", 0, 1, 0)
	if epoch != 0 || end != 2 || code != 0 {
		t.Errorf("epoch 0 ended as %d at %d, code %d", epoch, end, code)
	}
	if _, _, code := w.c.EpochEnd(2, "orders", 0, 0, 0); code != codeFencedLeaderEpoch {
		t.Errorf("asked in an old epoch: code %d", code)
	}
}

func TestListOffset(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.say("orders", 0, -1, 5000, "a")
	w.run(1000)
	w.hold(1, 3, true)
	at := w.nowMs
	w.say("orders", 0, -1, 5000, "b")
	w.run(10)
	for _, c := range []struct {
		name        string
		timestampMs int64
		want        ListedOffset
	}{
		{"latest", Latest, ListedOffset{1, -1, 0, 0}},
		{"earliest", Earliest, ListedOffset{0, -1, 0, 0}},
		{"by time", 1, ListedOffset{0, 2000, 0, 0}},
		{"beyond the high watermark", at, ListedOffset{-1, -1, -1, 0}},
		{"largest timestamp is beyond it too", MaxTimestamp, ListedOffset{-1, -1, -1, 0}},
		{"unknown number", -9, ListedOffset{-1, -1, -1, codeInvalidRequest}},
	} {
		if got := w.c.ListOffset(1, "orders", 0, -1, c.timestampMs); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	w.hold(1, 3, false)
	w.run(10)
	if got := w.c.ListOffset(1, "orders", 0, 0, MaxTimestamp); got != (ListedOffset{1, at, 0, 0}) {
		t.Errorf("largest timestamp: %+v", got)
	}
	// A new leader does not know at once how far its records were acknowledged (KIP-207).
	w.kill(1)
	w.nowMs += 9000
	w.c.Advance(w.nowMs)
	if got := w.c.ListOffset(2, "orders", 0, -1, Latest); got.Code != codeOffsetNotAvailable {
		t.Errorf("latest right after the election: %+v, want code 78", got)
	}
	w.take()
	w.run(1000)
	if got := w.c.ListOffset(2, "orders", 0, -1, Latest); got.Code != 0 || got.Offset != 2 {
		t.Errorf("latest once the follower has fetched: %+v", got)
	}
}

// A follower must have everything from before the epoch before it counts as in sync: the new leader's high watermark may
// be behind what the old one has acknowledged.
func TestNobodyJoinsWithoutWhatCameBeforeTheEpoch(t *testing.T) {
	w := newWorld(t, Config{Brokers: 4, ReplicaFetchMaxBytes: 1})
	w.topic("orders", 1, 4)
	w.kill(4)
	w.run(10000)
	var last int64
	for range 5 {
		last = w.say("orders", 0, -1, 5000, "a")
	}
	w.run(24) // five rounds; the followers do not know yet that the last one is acknowledged
	w.wantCode(last, 0)
	w.kill(1)
	w.hold(3, 2, true)
	w.run(9000)
	p := w.c.find("orders", 0)
	if p.leader != 2 || p.epochStart != 5 || p.local().hw >= 5 {
		t.Fatalf("leader %d, epoch from %d, high watermark %d; want 2, 5 and less than 5", p.leader, p.epochStart, p.local().hw)
	}
	w.start(4)
	r := &p.replicas[p.at(4)]
	for r.log.EndOffset() < 5 {
		if p.inSync(4) {
			t.Fatalf("in sync with %d of the 5 records from before the epoch", r.log.EndOffset())
		}
		w.run(1)
	}
	w.run(100)
	if !p.inSync(4) {
		t.Error("not in sync with all of them")
	}
}

func TestFactsTellWhatIsThere(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3, OffsetsPartitions: 3})
	w.c.EnsureOffsetsTopic(w.nowMs)
	w.take()
	w.topic("orders", 1, 3)
	w.say("orders", 0, -1, 5000, "a")
	for i := range int64(60) {
		w.c.Append(w.nowMs, AppendRequest{Broker: 2, Topic: OffsetsTopic, Partition: 1, Epoch: 0, Acks: -1, TimeoutMs: 5000, Internal: true, Batch: log.Encode(log.NoProducer, 0,
			[]log.Record{{TimestampMs: w.nowMs, Key: record.OffsetKey("g", "orders", 0), Value: record.OffsetValue(record.Offset{Offset: i, LeaderEpoch: -1, ExpireTimestampMs: -1})}})})
		w.take()
		w.run(100)
	}
	w.kill(3)
	w.run(1)
	w.text()
	last := w.c.cfg.Numbers.Last()
	facts := w.c.Facts(w.nowMs)
	if w.c.cfg.Numbers.Last() != last {
		t.Error("Facts used up numbers")
	}
	w.take()
	if len(w.events) != 0 {
		t.Error("Facts are not events of the stream")
	}
	kinds := map[string]int{}
	var newest event.LogRecord
	for _, f := range facts {
		kinds[f.Body.Kind()]++
		if f.Seq != last {
			t.Errorf("a fact carries Seq %d, the last one handed out is %d", f.Seq, last)
		}
		switch b := f.Body.(type) {
		case event.RecordsAppended:
			newest = b.Records[0]
			if f.Group != "g" || f.Broker != 2 {
				t.Errorf("records of group %q at broker %d", f.Group, f.Broker)
			}
		case event.HighWatermarkAdvanced:
			if (b.Topic == "orders" && b.Offset != 1) || (b.Topic == OffsetsTopic && (b.Partition != 1 || b.Offset != 60 || b.EndOffset != 60)) {
				t.Errorf("%+v", b)
			}
		case event.BrokerStopped:
			if b.ID != 3 || !b.Killed || b.NoticedByMs != w.nowMs-1+9000 {
				t.Errorf("%+v", b)
			}
		}
	}
	want := map[string]int{"BrokerStarted": 3, "BrokerStopped": 1, "TopicCreated": 2, "LeaderChanged": 4, "RecordsAppended": 50, "ReplicaAdvanced": 4, "HighWatermarkAdvanced": 2}
	for k, n := range want {
		if kinds[k] != n {
			t.Errorf("%s %d times, want %d", k, kinds[k], n)
		}
	}
	if len(kinds) != len(want) || newest.Offset != 59 {
		t.Errorf("kinds %v, the newest record is %+v", kinds, newest)
	}
}

// Where nobody watches nothing is said of single batches, and Facts still know.
func TestQuiet(t *testing.T) {
	w := newWorld(t, Config{Brokers: 3})
	w.topic("orders", 1, 3)
	w.text()
	w.c.SetQuiet(true)
	ticket := w.say("orders", 0, -1, 5000, "a")
	w.run(100)
	w.wantCode(ticket, 0)
	w.kill(1)
	w.run(10000)
	if w.count("RecordsAppended")+w.count("ReplicaAdvanced")+w.count("HighWatermarkAdvanced") != 0 || w.count("LeaderChanged") != 1 {
		t.Errorf("said:\n%s", w.text())
	}
	found := false
	for _, f := range w.c.Facts(w.nowMs) {
		if b, ok := f.Body.(event.HighWatermarkAdvanced); ok {
			found = b.Offset == 1
		}
	}
	if !found {
		t.Error("Facts do not know the high watermark")
	}
}

// Old segments go, at the leader and at its followers, and who starts late begins where the log begins.
func TestRetention(t *testing.T) {
	w := newWorld(t, Config{Brokers: 2, SegmentBytes: 500})
	w.topic("orders", 1, 2, TopicConfig{"retention.bytes", "1000"})
	for range 100 {
		w.say("orders", 0, -1, 5000, "value")
		w.run(10)
	}
	w.run(1000)
	l, f := w.replica("orders", 0, 1).log, w.replica("orders", 0, 2).log
	if l.StartOffset() < 70 || l.Size() > 2000 || f.StartOffset() < 70 || f.Size() > 2000 {
		t.Errorf("leader %d to %d, %d bytes; follower %d to %d, %d bytes", l.StartOffset(), l.EndOffset(), l.Size(), f.StartOffset(), f.EndOffset(), f.Size())
	}
	if got := w.c.ListOffset(1, "orders", 0, -1, Earliest); got.Offset != l.StartOffset() {
		t.Errorf("earliest %+v, the log begins at %d", got, l.StartOffset())
	}
	if r := w.c.Read(ReadRequest{Broker: 1, Topic: "orders", Epoch: -1, MaxBytes: 1000}); r.Code != codeOffsetOutOfRange {
		t.Errorf("read at 0: code %d", r.Code)
	}
	w.kill(2)
	w.run(10000)
	for range 100 {
		w.say("orders", 0, 1, 5000, "value")
	}
	w.start(2)
	w.run(3000)
	if f.EndOffset() != 200 || f.StartOffset() < 150 || w.isr("orders", 0) != "[1 2]" {
		t.Errorf("the follower has %d to %d, in sync %s", f.StartOffset(), f.EndOffset(), w.isr("orders", 0))
	}

	// A producer that has been silent for a day is forgotten when old segments are looked at.
	w.sayTo(1, "orders", 0, 1, 0, log.Encode(log.Producer{ID: 7, Epoch: 0, BaseSequence: 0}, 0, []log.Record{{TimestampMs: w.nowMs}}))
	w.run(producerExpirationMs + 1)
	if l.Producers() != 1 {
		t.Fatalf("%d producers are remembered", l.Producers())
	}
	for range 20 {
		w.say("orders", 0, 1, 5000, "value")
	}
	if l.Producers() != 0 {
		t.Errorf("%d producers are remembered after a day", l.Producers())
	}
}
