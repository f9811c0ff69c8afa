package drive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// producer is a client that reads and writes in transactions, as far as the drive is concerned.
type producer struct {
	w     *world
	name  string
	id    int64
	epoch int16
}

// coordinator finds who coordinates the producer's transactions, trying again while it is told to.
func (p *producer) coordinator() int32 {
	p.w.t.Helper()
	for range 600 {
		q := kmsg.NewPtrFindCoordinatorRequest()
		q.Version, q.CoordinatorType, q.CoordinatorKey = 3, 1, p.name
		for broker := int32(1); broker <= 3; broker++ {
			if p.w.d.Cluster().Running(broker) {
				if r := ask[*kmsg.FindCoordinatorResponse](p.w, broker, p.name, q); r.ErrorCode == 0 && p.w.d.Cluster().Running(r.NodeID) {
					return r.NodeID
				}
				break
			}
		}
		p.w.run(100)
	}
	p.w.t.Fatalf("%s finds no coordinator", p.name)
	panic("unreachable")
}

// again asks until the answer is no error that passes.
func (p *producer) again(q kmsg.Request) int16 {
	p.w.t.Helper()
	code := int16(-1)
	for range 300 {
		ticket := p.w.send(p.coordinator(), p.name, q)
		for range 20_000 {
			if _, ok := p.w.replies[ticket]; ok {
				break
			}
			p.w.run(10)
		}
		r, ok := p.w.replies[ticket]
		if ok {
			code = r.Code
		}
		switch {
		case !ok || code == 14 || code == 15 || code == 16 || code == 51:
			p.w.run(100)
			continue
		case code == 0:
			if i, ok := r.Kmsg.(*kmsg.InitProducerIDResponse); ok {
				p.id, p.epoch = i.ProducerID, i.ProducerEpoch
			}
		}
		return code
	}
	p.w.t.Fatalf("%s: %T is answered %d for ever\n%s", p.name, q, code, p.w.text("TxnStateChanged", "TxnAppendStarted", "TxnAppendFinished", "TxnMarkerSent", "TxnMarkerAnswered", "TxnLoadFinished", "BrokerStopped", "BrokerFenced", "TxnFenced"))
	panic("unreachable")
}

func (p *producer) must(q kmsg.Request) {
	p.w.t.Helper()
	if code := p.again(q); code != 0 {
		p.w.t.Fatalf("%s: %T is answered %d", p.name, q, code)
	}
}

func (p *producer) init() *kmsg.InitProducerIDRequest {
	q := kmsg.NewPtrInitProducerIDRequest()
	q.Version, q.TransactionalID, q.TransactionTimeoutMillis = 4, &p.name, 60_000
	return q
}

func (p *producer) addOffsets() *kmsg.AddOffsetsToTxnRequest {
	q := kmsg.NewPtrAddOffsetsToTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Group = 3, p.name, p.id, p.epoch, group
	return q
}

func (p *producer) add(partition int32) *kmsg.AddPartitionsToTxnRequest {
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch = 3, p.name, p.id, p.epoch
	q.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "orders", Partitions: []int32{partition}}}
	return q
}

func (p *producer) end(commit bool) *kmsg.EndTxnRequest {
	q := kmsg.NewPtrEndTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Commit = 3, p.name, p.id, p.epoch, commit
	return q
}

// commit sends the group's offset within the transaction.
func (p *producer) commit(broker int32, offset int64) int16 {
	q := kmsg.NewPtrTxnOffsetCommitRequest()
	q.Version, q.TransactionalID, q.Group, q.ProducerID, q.ProducerEpoch, q.Generation = 3, p.name, group, p.id, p.epoch, -1
	q.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Partition: 0, Offset: offset, LeaderEpoch: -1}}}}
	return ask[*kmsg.TxnOffsetCommitResponse](p.w, broker, p.name, q).Topics[0].Partitions[0].ErrorCode
}

func transactional(t testing.TB, latencyMs int64, cfg Config) (*world, *producer) {
	cfg.Cluster.Brokers, cfg.Cluster.OffsetsPartitions, cfg.Cluster.TransactionPartitions = 3, 3, 3
	w := newWorld(t, cfg)
	w.latencyMs = latencyMs
	w.topic()
	p := &producer{w: w, name: "tx"}
	w.coordinator()
	p.must(p.init())
	return w, p
}

// A consume-transform-produce loop: the offsets are nowhere until the transaction commits, and nowhere after an abort.
func TestATransactionThroughTheDrive(t *testing.T) {
	w, p := transactional(t, 2, Config{})
	broker := w.coordinator()
	for _, x := range []struct {
		offset int64
		commit bool
		want   int64
	}{{25, true, 25}, {30, false, 25}, {31, true, 31}} {
		before := w.committed(broker)
		if code := p.commit(broker, x.offset); code != 120 && code != 48 && code != 51 {
			t.Errorf("offsets of a transaction that the group is no part of: %d", code)
		}
		p.must(p.addOffsets())
		p.must(p.add(1))
		leader, _, _ := w.d.Cluster().Leader("orders", 1)
		end := w.d.Cluster().Read(cluster.ReadRequest{Broker: leader, Topic: "orders", Partition: 1, Epoch: -1}).HighWatermark
		records := []log.Record{{TimestampMs: w.nowMs, Value: []byte("v")}}
		w.ticket++
		w.d.Append(w.nowMs, cluster.AppendRequest{Broker: leader, Topic: "orders", Partition: 1, Epoch: -1, Acks: -1, TimeoutMs: 1000, Ticket: w.ticket,
			Batch: log.Encode(log.Producer{ID: p.id, Epoch: p.epoch, BaseSequence: int32(end / 2)}, log.Transactional, records)})
		w.take()
		if code := p.commit(broker, x.offset); code != 0 {
			t.Fatalf("TxnOffsetCommit: %d", code)
		}
		w.run(1000)
		if got := w.committed(broker); got != before {
			t.Errorf("before the end the offset is %d, want %d", got, before)
		}
		if r := w.d.Cluster().Read(cluster.ReadRequest{Broker: leader, Topic: "orders", Partition: 1, Epoch: -1}); r.LastStable != end || r.HighWatermark != end+1 {
			t.Errorf("before the end: stable to %d, want %d; watermark %d, want %d", r.LastStable, end, r.HighWatermark, end+1)
		}
		p.must(p.end(x.commit))
		w.run(2000)
		if got := w.committed(broker); got != x.want {
			t.Errorf("after the end the offset is %d, want %d", got, x.want)
		}
		if r := w.d.Cluster().Read(cluster.ReadRequest{Broker: leader, Topic: "orders", Partition: 1, Epoch: -1}); r.LastStable != end+2 {
			t.Errorf("after the end: stable to %d, want %d", r.LastStable, end+2)
		}
	}
	if text := w.text("TxnStateChanged"); strings.Count(text, "CompleteCommit") != 3 || !strings.Contains(text, "PrepareAbort -> CompleteAbort") {
		t.Errorf("told\n%s", text) // one of them begins the second transaction
	}
}

// Brokers die and come back at any moment of a transaction. What the producer was told is what the group's offsets say;
// in the end nothing is open, nothing waits and a copy of the world agrees.
func TestTransactionsSurviveFailover(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, p := transactional(t, rapid.Int64Range(1, 50).Draw(rt, "latency"), Config{LoadDelayMs: rapid.Int64Range(0, 100).Draw(rt, "load delay"), LoadChunkBytes: 400})
		want, offset := int64(-1), int64(0)
		for range rapid.IntRange(1, 4).Draw(rt, "transactions") {
			if rapid.Bool().Draw(rt, "fault") {
				victim := rapid.Int32Range(1, 3).Draw(rt, "victim")
				w.d.KillBroker(w.nowMs, victim)
				w.take()
				w.run(rapid.Int64Range(0, 12_000).Draw(rt, "down"))
				w.d.StartBroker(w.nowMs, victim)
				w.take()
			}
			if code := p.again(p.addOffsets()); code != 0 {
				p.must(p.init()) // timed out and fenced meanwhile
				continue
			}
			offset++
			code := int16(-1)
			for range 100 {
				broker := w.coordinator()
				if code = p.commit(broker, offset); code != 14 && code != 15 && code != 16 && code != 51 {
					break
				}
				w.run(200)
			}
			commit := rapid.Bool().Draw(rt, "commit") && code == 0
			if rapid.Bool().Draw(rt, "fault at the end") {
				w.send(p.coordinator(), p.name, p.end(commit)) // its connection will break: the producer asks again
				w.d.KillBroker(w.nowMs, p.coordinator())
				w.take()
				w.run(20_000)
				for id := int32(1); id <= 3; id++ {
					w.d.StartBroker(w.nowMs, id)
				}
				w.take()
			}
			if code := p.again(p.end(commit)); code == 0 && commit {
				want = offset
			} else if code != 0 {
				p.must(p.init())
			}
		}
		for id := int32(1); id <= 3; id++ {
			w.d.StartBroker(w.nowMs, id)
		}
		w.take()
		w.run(100_000)
		if got := w.committed(w.coordinator()); got != want {
			rt.Fatalf("the group's offset is %d, the producer was told %d\n%s", got, want, w.text("TxnStateChanged", "OffsetsCommitted", "TxnOffsetsEnded"))
		}
		copied := w.d.Clone(w.d.cfg.Numbers.Clone())
		if a, b := fmt.Sprint(w.d.Facts(w.nowMs)), fmt.Sprint(copied.Facts(w.nowMs)); a != b {
			rt.Fatalf("a copy tells other facts:\n%s\n%s", a, b)
		}
		for _, e := range w.d.Facts(w.nowMs) {
			if b, ok := e.Body.(event.TxnStateChanged); ok && len(b.Partitions) > 0 {
				rt.Fatalf("in the end a transaction is open: %s", e)
			}
		}
	})
}
