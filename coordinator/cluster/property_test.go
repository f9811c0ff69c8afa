package cluster

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// promise is what a client was told.
type promise struct {
	partition int32
	offset    int64
	value     string
}

// chaos is a cluster under random appends, kills, restarts and broken links, with what it has promised.
type chaos struct {
	*world
	said     map[int64]promise // by ticket
	promises []promise
	seen     int                // answers that were looked at
	hws      map[[2]int32]int64 // by partition and broker
	shown    map[int32]int64    // the last HighWatermarkAdvanced
	told     int                // events that were looked at
	value    int
}

const chaosPartitions = 3

// Nothing acknowledged with acks -1 is ever lost, high watermarks never fall, logs agree below them, and when all is
// well again everything is everywhere.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{Brokers: rapid.Int32Range(2, 4).Draw(rt, "brokers"), SegmentBytes: 300, ReplicaFetchMaxBytes: rapid.IntRange(100, 1000).Draw(rt, "fetch bytes"),
			MinInsyncReplicas: rapid.Int16Range(1, 2).Draw(rt, "min insync")}
		c := &chaos{world: newWorld(t, cfg), said: map[int64]promise{}, hws: map[[2]int32]int64{}, shown: map[int32]int64{}}
		c.latencyMs = rapid.Int64Range(0, 700).Draw(rt, "latency")
		c.topic("orders", chaosPartitions, int16(min(3, cfg.Brokers)))
		broker := func() int32 { return rapid.Int32Range(1, cfg.Brokers).Draw(rt, "broker") }
		rt.Repeat(map[string]func(*rapid.T){
			"append":  func(rt *rapid.T) { c.append(rt, -1) },
			"acks 1":  func(rt *rapid.T) { c.append(rt, 1) },
			"kill":    func(*rapid.T) { c.c.KillBroker(c.nowMs, broker()); c.take() },
			"stop":    func(*rapid.T) { c.c.StopBroker(c.nowMs, broker()); c.take() },
			"start":   func(*rapid.T) { c.start(broker()) },
			"start 2": func(*rapid.T) { c.start(broker()) },
			"cut":     func(*rapid.T) { c.cut[[2]int32{broker(), broker()}] = true },
			"hold":    func(*rapid.T) { c.hold(broker(), broker(), true) },
			"heal":    func(*rapid.T) { c.heal() },
			"soon":    func(rt *rapid.T) { c.run(rapid.Int64Range(1, 2000).Draw(rt, "ms")) },
			"later":   func(rt *rapid.T) { c.run(rapid.Int64Range(2000, 40000).Draw(rt, "ms")) },
			"copy":    func(*rapid.T) { c.world = c.clone() },
			"":        func(rt *rapid.T) { c.check(rt) },
		})
		c.heal()
		for id := int32(1); id <= cfg.Brokers; id++ {
			c.start(id)
		}
		c.run(120000)
		c.check(rt)
		c.checkWhole(rt)
	})
}

func (c *chaos) heal() { clear(c.cut); clear(c.held) }

func (c *chaos) append(rt *rapid.T, acks int16) {
	partition := rapid.Int32Range(0, chaosPartitions-1).Draw(rt, "partition")
	leader, _, _ := c.c.Leader("orders", partition)
	if leader < 0 || !c.c.Running(leader) {
		return
	}
	c.value++
	value := fmt.Sprintf("value %d", c.value)
	end := c.replica("orders", partition, leader).log.EndOffset()
	ticket := c.say("orders", partition, acks, rapid.Int64Range(0, 30000).Draw(rt, "timeout"), value)
	if acks == -1 {
		c.said[ticket] = promise{partition, end, value}
	}
}

// check looks at what must hold at every moment.
func (c *chaos) check(t *rapid.T) {
	for ; c.seen < len(c.appended); c.seen++ {
		a := c.appended[c.seen]
		if p, ok := c.said[a.Ticket]; ok && a.Code == 0 {
			if a.BaseOffset != p.offset {
				t.Fatalf("acknowledged at %d, written at %d", a.BaseOffset, p.offset)
			}
			c.promises = append(c.promises, p)
		}
	}
	for ; c.told < len(c.events); c.told++ {
		if b, ok := c.events[c.told].Body.(event.HighWatermarkAdvanced); ok {
			if b.Offset <= c.shown[b.Partition] || b.Offset > b.EndOffset {
				t.Fatalf("the high watermark of orders-%d was told to be %d, then %d of %d", b.Partition, c.shown[b.Partition], b.Offset, b.EndOffset)
			}
			c.shown[b.Partition] = b.Offset
		}
	}
	for n := range int32(chaosPartitions) {
		c.checkPartition(t, c.c.find("orders", n))
	}
	for _, p := range c.promises {
		c.checkPromise(t, p)
	}
}

func (c *chaos) checkPartition(t *rapid.T, p *partition) {
	for i := range p.replicas {
		r := &p.replicas[i]
		key := [2]int32{p.number, r.broker}
		if r.hw < c.hws[key] || r.hw > r.log.EndOffset() {
			t.Fatalf("broker %d, orders-%d: high watermark %d after %d, log end %d", r.broker, p.number, r.hw, c.hws[key], r.log.EndOffset())
		}
		c.hws[key] = r.hw
		for j := range i {
			q := &p.replicas[j]
			upTo := min(q.hw, r.hw)
			if !bytes.Equal(below(t, q.log, upTo), below(t, r.log, upTo)) {
				t.Fatalf("orders-%d: brokers %d and %d differ below %d", p.number, q.broker, r.broker, upTo)
			}
		}
	}
	if p.leader >= 0 && !p.inSync(p.leader) {
		t.Fatalf("orders-%d: leader %d is not in sync %v", p.number, p.leader, p.isr)
	}
	if len(p.isr) == 0 {
		t.Fatalf("orders-%d: nobody is in sync", p.number)
	}
}

// checkPromise wants a promised record in the log of every in-sync replica: each of them may be the next leader.
func (c *chaos) checkPromise(t *rapid.T, want promise) {
	p := c.c.find("orders", want.partition)
	for _, id := range p.isr {
		if got := valueAt(t, p.replicas[p.at(id)].log, want.offset); got != want.value {
			t.Fatalf("%q was acknowledged at %d of orders-%d; in-sync broker %d has %q there (leader %d, in sync %v)", want.value, want.offset,
				want.partition, id, got, p.leader, p.isr)
		}
	}
}

// checkWhole looks at what must hold when everything runs and had time.
func (c *chaos) checkWhole(t *rapid.T) {
	for n := range int32(chaosPartitions) {
		p := c.c.find("orders", n)
		if p.leader < 0 || len(p.isr) != len(p.replicas) {
			t.Fatalf("orders-%d is not whole again: leader %d, in sync %v of %v", n, p.leader, p.isr, p.ids())
		}
		for i := range p.replicas {
			r := &p.replicas[i]
			if r.hw != p.local().log.EndOffset() || !bytes.Equal(bytesOf(c.t, r.log), bytesOf(c.t, p.local().log)) {
				t.Fatalf("orders-%d: broker %d has high watermark %d of %d, its leader %d has %d of %d", n, r.broker, r.hw, r.log.EndOffset(), p.leader,
					p.local().hw, p.local().log.EndOffset())
			}
		}
		if len(p.waiters) != 0 || p.behind {
			t.Fatalf("orders-%d: %d appends wait, behind %v", n, len(p.waiters), p.behind)
		}
	}
	if len(c.c.waiting) != 0 || c.c.behind != 0 || c.moved.DeadlineMs != -1 {
		t.Fatalf("waiting %v, behind %d, deadline %d in a cluster at rest", c.c.waiting, c.c.behind, c.moved.DeadlineMs)
	}
}

func below(t *rapid.T, l *log.Log, upTo int64) []byte {
	var all []byte
	if err := l.Each(l.StartOffset(), upTo, func(b log.Batch) bool { all = append(all, b.Bytes...); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

func valueAt(t *rapid.T, l *log.Log, offset int64) string {
	if offset >= l.EndOffset() {
		return "(nothing)"
	}
	var value string
	err := l.Each(offset, offset+1, func(b log.Batch) bool {
		records, err := b.Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		value = string(records[offset-b.BaseOffset].Value)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}
