package drive

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

func three(d Config) Config {
	d.Cluster.Brokers = 3
	return d
}

// The first FindCoordinator creates __consumer_offsets; the answer to it is to come again.
func TestFindCoordinatorCreatesTheOffsetsTopic(t *testing.T) {
	w := newWorld(t, three(Config{}))
	q := kmsg.NewPtrFindCoordinatorRequest()
	q.Version, q.CoordinatorKey = 3, group
	if r := ask[*kmsg.FindCoordinatorResponse](w, 1, "c1", q); r.ErrorCode != 15 {
		t.Errorf("the first one: code %d, want 15 COORDINATOR_NOT_AVAILABLE", r.ErrorCode)
	}
	if r := ask[*kmsg.FindCoordinatorResponse](w, 2, "c1", q); r.ErrorCode != 0 {
		t.Errorf("the second one: code %d", r.ErrorCode)
	}
	if n := w.count("TopicCreated"); n != 1 {
		t.Errorf("TopicCreated %d times", n)
	}
	if n := w.count("LoadFinished"); n != 50 {
		t.Errorf("LoadFinished %d times, want once for each partition", n)
	}
}

// The topic is created although a broker is gone, which gets its copy when it is back.
func TestOffsetsTopicDoesNotWaitForABroker(t *testing.T) {
	w := newWorld(t, three(Config{}))
	w.d.StopBroker(w.nowMs, 3)
	w.take()
	q := kmsg.NewPtrFindCoordinatorRequest()
	q.Version, q.CoordinatorKey = 3, group
	for _, code := range []int16{15, 0} {
		if r := ask[*kmsg.FindCoordinatorResponse](w, 1, "c1", q); r.ErrorCode != code {
			t.Errorf("code %d, want %d", r.ErrorCode, code)
		}
	}
	w.d.StartBroker(w.nowMs, 3)
	w.take()
	w.run(2000)
	if info, _ := w.d.Cluster().Topic(cluster.OffsetsTopic); len(info.Partitions[0].ISR) != 3 {
		t.Errorf("in sync: %v", info.Partitions[0].ISR)
	}
	w.coordinator()
}

// While its log is read, a group's coordinator says COORDINATOR_LOAD_IN_PROGRESS; afterwards everything is there.
func TestLoadTakesTimeWhereAHostWantsIt(t *testing.T) {
	w := newWorld(t, three(Config{LoadDelayMs: 200, LoadChunkBytes: 300}))
	w.topic()
	first := w.coordinator()
	m := w.join(first, "c1")
	for offset := int64(1); offset <= 10; offset++ {
		if code := w.commit(first, m, offset); code != 0 {
			t.Fatalf("commit %d: code %d", offset, code)
		}
	}
	w.run(1000)
	w.d.KillBroker(w.nowMs, first)
	w.take()
	next := w.coordinator()
	if code := w.commit(next, m, 11); code != 14 {
		t.Errorf("a commit right after the election: code %d, want 14 COORDINATOR_LOAD_IN_PROGRESS", code)
	}
	if code := w.heartbeat(next, m); code != 0 {
		t.Errorf("a heartbeat right after the election: code %d, want 0: while it loads, Kafka believes every heartbeat", code)
	}
	w.run(500)
	if w.count("LoadFinished") != 50+15 { // the others had nothing to read
		t.Errorf("LoadFinished %d times while one log is read in chunks of 200 ms", w.count("LoadFinished"))
	}
	w.run(1500)
	if code := w.heartbeat(next, m); code != 0 {
		t.Errorf("after the load: code %d", code)
	}
	if got := w.committed(next); got != 10 {
		t.Errorf("committed offset %d, want 10", got)
	}
}

// A broker that goes in the middle of a load takes the load with it, and the next leader reads from the beginning.
func TestLoadEndsWithItsBroker(t *testing.T) {
	for _, clean := range []bool{true, false} {
		w := newWorld(t, three(Config{LoadDelayMs: 1000, LoadChunkBytes: 100}))
		w.topic()
		first := w.coordinator()
		m := w.join(first, "c1")
		w.commit(first, m, 7)
		w.run(1000)
		w.d.StopBroker(w.nowMs, first)
		w.take()
		second := w.coordinator()
		w.run(1500)
		if clean {
			w.d.StopBroker(w.nowMs, second)
		} else {
			w.d.KillBroker(w.nowMs, second)
		}
		w.take()
		if len(w.d.loads) != 0 && clean == false {
			t.Errorf("loads of a dead broker: %+v", w.d.loads)
		}
		third := w.coordinator()
		w.run(60000)
		if third == first || third == second || w.committed(third) != 7 {
			t.Errorf("clean %v: coordinators %d, %d, %d; committed %d", clean, first, second, third, w.committed(third))
		}
	}
}

// A cleanly stopped broker answers what is parked with NOT_COORDINATOR before it goes; a killed one answers nothing.
func TestParkedRepliesOfABrokerThatGoes(t *testing.T) {
	for _, clean := range []bool{true, false} {
		w := newWorld(t, three(Config{}))
		w.topic()
		at := w.coordinator()
		id := ask[*kmsg.JoinGroupResponse](w, at, "c1", joinRequest("")).MemberID
		parked := w.send(at, "c1", joinRequest(id))
		if clean {
			w.d.StopBroker(w.nowMs, at)
		} else {
			w.d.KillBroker(w.nowMs, at)
		}
		w.take()
		r, answered := w.replies[parked]
		if answered != clean || (answered && (r.Code != 16 || r.Broker != at)) {
			t.Errorf("clean %v: answered %v with %d", clean, answered, r.Code)
		}
		// What arrives at a broker that is gone is dropped.
		late := w.send(at, "c1", joinRequest(id))
		w.run(60000)
		if _, answered := w.replies[late]; answered {
			t.Error("a broker that is gone answered")
		}
		if _, answered := w.replies[parked]; answered != clean {
			t.Error("the parked reply came later")
		}
	}
}

// A restarted broker does not hand out the member ids of its earlier life.
func TestMemberIDsAreNeverGivenTwice(t *testing.T) {
	w := newWorld(t, Config{Cluster: cluster.Config{Brokers: 1}})
	w.topic()
	w.coordinator()
	given := map[string]bool{}
	for range 3 {
		for range 3 {
			id := ask[*kmsg.JoinGroupResponse](w, 1, "c1", joinRequest("")).MemberID
			if given[id] {
				t.Fatalf("%s was given twice", id)
			}
			given[id] = true
		}
		w.d.KillBroker(w.nowMs, 1)
		w.take()
		w.run(10000)
		w.d.StartBroker(w.nowMs, 1)
		w.take()
	}
}

// An append that the replicas do not follow in time is answered as Kafka answers it, and the loop goes on.
func TestCommitTimesOutWhenAFollowerIsGone(t *testing.T) {
	w := newWorld(t, three(Config{}))
	w.topic()
	at := w.coordinator()
	m := w.join(at, "c1")
	w.run(1000)
	other := at%3 + 1
	w.d.KillBroker(w.nowMs, other)
	w.take()
	sent := w.nowMs
	if code := w.commit(at, m, 5); code != 15 {
		t.Errorf("commit without a follower: code %d, want 15 COORDINATOR_NOT_AVAILABLE", code)
	}
	if took := w.nowMs - sent; took != 5000 {
		t.Errorf("answered after %d ms, offsets.commit.timeout.ms is 5000", took)
	}
	w.run(5000)
	if code := w.commit(at, m, 6); code != 0 {
		t.Errorf("commit after the dead broker was fenced: code %d", code)
	}
}

func TestClientsProduce(t *testing.T) {
	w := newWorld(t, three(Config{}))
	w.topic()
	data := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: w.nowMs, Value: []byte("v")}})
	w.run(1000)
	w.d.Append(w.nowMs, cluster.AppendRequest{Broker: 1, Topic: "orders", Epoch: -1, Batch: data, Acks: -1, TimeoutMs: 1000, Ticket: 77})
	w.take()
	if _, ok := w.produced[77]; ok {
		t.Error("acknowledged before anybody followed")
	}
	w.run(10)
	if a, ok := w.produced[77]; !ok || a.Code != 0 || a.BaseOffset != 0 {
		t.Errorf("%+v, %v", a, ok)
	}
	// A client cannot pass for the coordinator.
	w.coordinator()
	w.d.Append(w.nowMs, cluster.AppendRequest{Broker: 1, Topic: cluster.OffsetsTopic, Epoch: -1, Batch: data, Acks: 1, Ticket: 78, Internal: true})
	w.take()
	if a := w.produced[78]; a.Code != 17 {
		t.Errorf("a client's write to __consumer_offsets: %+v, want code 17", a)
	}
}

// A compressed batch in __consumer_offsets needs a host that can open it; otherwise the load fails, saying why.
func TestCompressedOffsetsNeedADecompressor(t *testing.T) {
	w := newWorld(t, Config{Cluster: cluster.Config{Brokers: 1}})
	w.topic()
	w.coordinator()
	m := w.join(1, "c1")
	w.commit(1, m, 5)
	packed := log.Encode(log.NoProducer, 0, []log.Record{{TimestampMs: w.nowMs, Key: []byte("k")}})
	packed[22] |= byte(log.Zstd)
	leads := int32(-1)
	for p := range w.d.Cluster().Partitions(cluster.OffsetsTopic) {
		if r := w.d.Cluster().Replicas(cluster.OffsetsTopic, p); r[0].EndOffset > 0 {
			leads = p
		}
	}
	w.d.cluster.Append(w.nowMs, cluster.AppendRequest{Broker: 1, Topic: cluster.OffsetsTopic, Partition: leads, Epoch: -1, Batch: packed, Acks: 1, Internal: true})
	w.d.changed()
	w.take()
	w.d.StopBroker(w.nowMs, 1)
	w.take()
	w.events = nil
	w.d.StartBroker(w.nowMs, 1)
	w.take()
	failed := ""
	for _, e := range w.events {
		if b, ok := e.Body.(event.LoadFinished); ok && b.Failed != "" {
			failed = b.Failed
		}
	}
	if !strings.Contains(failed, "zstd") {
		t.Errorf("the load failed with %q", failed)
	}
	if got := w.committed(1); got != -1 {
		t.Errorf("a failed load left offset %d", got)
	}
}

// Facts come between FactsBegan and FactsEnded, use up nothing, and tell of every broker's groups.
func TestFacts(t *testing.T) {
	w := newWorld(t, three(Config{}))
	w.topic()
	at := w.coordinator()
	m := w.join(at, "c1")
	w.commit(at, m, 5)
	w.run(1000)
	last := w.d.cfg.Numbers.Last()
	facts := w.d.Facts(w.nowMs)
	if w.d.cfg.Numbers.Last() != last {
		t.Error("Facts used up numbers")
	}
	w.take()
	kinds := map[string]int{}
	for _, f := range facts {
		kinds[f.Body.Kind()]++
	}
	if facts[0].Body != (event.FactsBegan{NowMs: w.nowMs}) || facts[len(facts)-1].Body != (event.FactsEnded{}) || kinds["FactsBegan"] != 1 {
		t.Errorf("facts begin with %v and end with %v", facts[0], facts[len(facts)-1])
	}
	for k, n := range map[string]int{"BrokerStarted": 3, "TopicCreated": 2, "LeaderChanged": 52, "GroupLoaded": 1, "MemberAdded": 1, "OffsetsCommitted": 1, "RecordsAppended": 2} {
		if kinds[k] != n {
			t.Errorf("%s %d times, want %d", k, kinds[k], n)
		}
	}
}

// A probe tells what would happen, and nothing happens.
func TestProbeChangesNothing(t *testing.T) {
	w := newWorld(t, three(Config{}))
	w.topic()
	at := w.coordinator()
	m := w.join(at, "c1")
	w.run(500)
	probe := func(broker int32, q kmsg.Request) coordinator.Probed {
		return w.d.Probe(w.nowMs, broker, coordinator.Request{Ticket: 1 << 40, ClientID: "c1", Kmsg: q})
	}
	deadline := w.lastMs
	if p := probe(at, commitRequest(member{m.id, m.generation + 1}, 5)); p.Code != 22 || p.Parked {
		t.Errorf("a commit of another generation: %+v", p)
	}
	if p := probe(at, joinRequest(m.id)); p.Code != 0 {
		t.Errorf("a join: %+v", p)
	}
	w.take()
	if w.lastMs != deadline || w.heartbeat(at, m) != 0 {
		t.Error("the probes changed something")
	}
	w.d.KillBroker(w.nowMs, at)
	w.take()
	if p := probe(at, joinRequest(m.id)); p.Parked || p.Reply != nil || p.Guard == "" {
		t.Errorf("at a dead broker: %+v", p)
	}
}

// A copy goes on exactly as its original under the same inputs, and neither sees the other.
func TestCloneGoesOnAlike(t *testing.T) {
	w := newWorld(t, three(Config{LoadDelayMs: 50, LoadChunkBytes: 200}))
	w.topic()
	at := w.coordinator()
	m := w.join(at, "c1")
	w.commit(at, m, 5)
	w.send(at, "c1", commitRequest(m, 6)) // under way when the copy is made
	k := *w
	k.d = w.d.Clone(w.d.cfg.Numbers.Clone())
	k.wire, k.events = slices.Clone(w.wire), nil
	k.replies, k.produced = map[int64]BrokerReply{}, map[int64]cluster.Appended{}
	w.events = nil
	script := func(w *world) string {
		w.run(100)
		w.d.KillBroker(w.nowMs, at)
		w.take()
		next := w.coordinator()
		w.run(2000)
		w.commit(next, m, 7)
		id := ask[*kmsg.JoinGroupResponse](w, next, "c2", joinRequest("")).MemberID
		w.send(next, "c2", joinRequest(id))
		w.d.StartBroker(w.nowMs, at)
		w.take()
		w.run(70000)
		var b strings.Builder
		for _, e := range w.events {
			b.WriteString(e.String() + "\n")
		}
		return b.String()
	}
	first := script(w)
	if second := script(&k); first != second || !strings.Contains(first, "session expired") {
		t.Errorf("the original said\n%s\nthe copy said\n%s", first, second)
	}
}

// A paced load reads its share of a millisecond and no more: meanwhile the broker answers for the groups of other partitions,
// and the load comes to the same end.
func TestLoadsArePaced(t *testing.T) {
	w := newWorld(t, Config{Cluster: cluster.Config{Brokers: 1, OffsetsPartitions: 1}, DeliverAtOnce: true})
	w.topic()
	m := w.join(w.coordinator(), "c1")
	for i := range int64(100) {
		w.commit(1, m, i)
	}
	w.d.PaceLoads(300)
	w.d.StopBroker(w.nowMs, 1)
	w.take()
	w.d.StartBroker(w.nowMs, 1)
	w.take()
	turns := 0
	for ; len(w.d.loads) > 0; turns++ {
		if next := w.nextMs(); next != w.nowMs+1 {
			t.Fatalf("in turn %d it waits until %d ms, at %d ms", turns, next, w.nowMs)
		}
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey = 2, "other"
		if got := ask[*kmsg.FindCoordinatorResponse](w, 1, "c2", find); got.ErrorCode != 0 {
			t.Fatalf("between two pieces a coordinator was asked for: %d", got.ErrorCode)
		}
		w.run(1)
	}
	if got := w.committed(1); turns < 10 || got != 99 {
		t.Errorf("after %d turns %d is committed, not 99", turns, got)
	}
}
