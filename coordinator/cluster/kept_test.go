package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// slowDisk is a Disk whose logs keep what they are given when they are told to, or fail to.
type slowDisk struct{ logs []*slowLog }

// slowLog is a log.Beside in memory. sizes are the segments' sizes behind each append; of given appends, done are over with.
type slowLog struct {
	*log.Memory
	at          log.Replica
	given, done int64
	wait        []place
	kept        map[int64]int
	failed      error
}

type place struct {
	base int64
	size int
}

func (d *slowDisk) New(at log.Replica, cfg log.Config) *log.Log {
	s := &slowLog{Memory: log.NewMemory(), at: at, kept: map[int64]int{}}
	d.logs = append(d.logs, s)
	return log.New(s, cfg)
}

func (d *slowDisk) Open(log.Replica, log.Config) (*log.Log, int64, error) {
	return nil, 0, errors.New("it is not there")
}

func (d *slowDisk) Remove(at log.Replica) {
	d.logs = slices.DeleteFunc(d.logs, func(s *slowLog) bool { return s.at == at })
}

func (d *slowDisk) of(broker, partition int32) *slowLog {
	for _, s := range d.logs {
		if s.at.Broker == broker && s.at.Partition == partition {
			return s
		}
	}
	return nil
}

func (s *slowLog) Create(base int64) error { s.kept[base] = 0; return s.Memory.Create(base) }

func (s *slowLog) Append(base int64, head, rest []byte) error {
	size := s.Size(base) + len(head) + len(rest)
	s.given++
	s.wait = append(s.wait, place{base, size})
	return s.Memory.Append(base, head, rest)
}

// keep ends the first n of the appends that wait.
func (s *slowLog) keep(n int) {
	n = min(n, len(s.wait))
	if s.failed != nil {
		return
	}
	for _, w := range s.wait[:n] {
		s.kept[w.base] = w.size
	}
	s.wait, s.done = s.wait[n:], s.done+int64(n)
}

func (s *slowLog) Kept() (int64, error) { return s.done, s.failed }
func (s *slowLog) Await()               { s.keep(len(s.wait)) }

func (s *slowLog) Undo() {
	s.failed, s.wait, s.done = nil, nil, s.given
	for base, size := range s.kept {
		if err := s.Memory.Truncate(base, size); err != nil {
			panic(err)
		}
	}
}

func (s *slowLog) Size(base int64) int {
	for i := len(s.wait) - 1; i >= 0; i-- {
		if s.wait[i].base == base {
			return s.wait[i].size
		}
	}
	return s.kept[base]
}

func (s *slowLog) Truncate(base int64, size int) error {
	s.Await()
	s.kept[base] = size
	return s.Memory.Truncate(base, size)
}

func (s *slowLog) Remove(base int64) error {
	s.Await()
	delete(s.kept, base)
	return s.Memory.Remove(base)
}

func (s *slowLog) Clone() log.Store { return nil }

func onSlowDisk(t testing.TB, cfg Config) (*world, *slowDisk) {
	d := &slowDisk{}
	cfg.Disk = d
	return newWorld(t, cfg), d
}

// keep has a disk keep n appends of a partition, and tells the cluster.
func (w *world) keep(s *slowLog, n int) {
	s.keep(n)
	w.c.Kept(w.nowMs, s.at)
	w.take()
}

// fail has a disk fail with all that it has not kept.
func (w *world) fail(s *slowLog) {
	s.failed = errFull
	w.c.Kept(w.nowMs, s.at)
	w.take()
}

// Acknowledgements, followers and the high watermark wait for the disks: acks 1 for the leader's, acks -1 for all.
func TestDisksAreWaitedFor(t *testing.T) {
	w, d := onSlowDisk(t, Config{Brokers: 2})
	w.topic("orders", 1, 2)
	leader, follower := d.of(1, 0), d.of(2, 0)
	none := w.say("orders", 0, 0, 60000, "a")
	one := w.say("orders", 0, 1, 60000, "b")
	all := w.say("orders", 0, -1, 60000, "c")
	w.wantCode(none, 0)
	w.run(20)
	w.wantWaiting(one)
	if r := w.replica("orders", 0, 2); r.log.EndOffset() != 0 {
		t.Errorf("the follower has %d records of which the leader's disk has none", r.log.EndOffset())
	}
	w.keep(leader, 2)
	w.wantCode(one, 0)
	w.run(20)
	if r := w.replica("orders", 0, 2); r.log.EndOffset() != 2 || r.hw != 0 {
		t.Errorf("the follower has %d records, and high watermark %d", r.log.EndOffset(), r.hw)
	}
	w.keep(leader, 1)
	w.run(20)
	w.wantWaiting(all)
	if hw := w.replica("orders", 0, 1).hw; hw != 0 {
		t.Errorf("high watermark %d, and the follower's disk has nothing", hw)
	}
	w.keep(follower, 9)
	w.run(20)
	w.keep(follower, 9)
	w.run(20)
	w.wantCode(all, 0)
	if got := w.values(1, "orders", 0); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("clients read %q", got)
	}
	w.run(120_000)
	if isr := w.isr("orders", 0); isr != "[1 2]" {
		t.Errorf("in sync %s", isr)
	}
}

// What a leader's disk could not keep is answered so, and its offsets are given again.
func TestDiskOfALeaderFails(t *testing.T) {
	w, d := onSlowDisk(t, Config{Brokers: 2})
	w.topic("orders", 1, 2)
	send := func(sequence int32, value string) int64 {
		return w.sayTo(1, "orders", 0, 1, 60000, log.Encode(log.Producer{ID: 7, Epoch: 0, BaseSequence: sequence}, 0,
			[]log.Record{{TimestampMs: w.nowMs, Value: []byte(value)}}))
	}
	first, lost, more := send(0, "a"), send(1, "b"), send(2, "c")
	w.keep(d.of(1, 0), 1)
	w.text()
	w.fail(d.of(1, 0))
	if a := w.wantCode(first, 0); a.BaseOffset != 0 {
		t.Errorf("the first: %+v", a)
	}
	for _, ticket := range []int64{lost, more} {
		if a := w.wantCode(ticket, codeStorageError); a.BaseOffset != -1 || !strings.Contains(a.Message, "no space left on device") {
			t.Errorf("what was lost: %+v", a)
		}
	}
	if told := w.text(); !strings.Contains(told, "ReplicaTruncated") && !strings.Contains(told, "cut") {
		t.Errorf("it was told:\n%s", told)
	}
	w.wantCode(send(2, "c"), 45) // the one before it is not there
	again := send(1, "b again")
	w.keep(d.of(1, 0), 1)
	if a := w.wantCode(again, 0); a.BaseOffset != 1 || a.Duplicate {
		t.Errorf("sent again: %+v", a)
	}
}

// A leader that loses what its coordinator was loaded from leads in a new epoch: the coordinator is loaded again.
func TestDiskLosesWhatWasLoaded(t *testing.T) {
	w, d := onSlowDisk(t, Config{Brokers: 3, OffsetsPartitions: 1})
	w.c.EnsureOffsetsTopic(w.nowMs)
	w.take()
	w.run(1000)
	p := w.c.find(OffsetsTopic, 0)
	leader := p.leader
	w.ticket++
	w.c.Append(w.nowMs, AppendRequest{Broker: leader, Topic: OffsetsTopic, Epoch: p.epoch, Batch: batch(w.nowMs, "a"), Acks: -1, TimeoutMs: 60000, Ticket: w.ticket, Internal: true})
	w.take()
	w.keep(d.of(leader, 0), 1)
	w.run(20) // the followers have it, and their disks have not
	w.kill(leader)
	w.run(20_000)
	next := p.leader
	if next == leader || p.epochStart != 1 {
		t.Fatalf("broker %d leads from %d on", next, p.epochStart)
	}
	epoch := p.epoch
	w.moved.Immigrations, w.moved.Emigrations = nil, nil
	w.fail(d.of(next, 0))
	w.run(10)
	if p.leader != next || p.epoch != epoch+1 || p.epochStart != 0 {
		t.Errorf("broker %d leads in epoch %d from %d on", p.leader, p.epoch, p.epochStart)
	}
	if len(w.moved.Emigrations) != 1 || len(w.moved.Immigrations) != 1 || w.moved.Immigrations[0] != (Leadership{next, 0, epoch + 1, 0}) {
		t.Errorf("taken away %v, given %v", w.moved.Emigrations, w.moved.Immigrations)
	}
}

// Nothing acknowledged is lost on disks that are slow and fail, whatever happens to brokers and links meanwhile.
func TestNothingAcknowledgedIsLostOnSlowDisks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := Config{Brokers: rapid.Int32Range(2, 4).Draw(rt, "brokers"), SegmentBytes: 300, ReplicaFetchMaxBytes: rapid.IntRange(100, 1000).Draw(rt, "fetch bytes")}
		w, d := onSlowDisk(t, cfg)
		c := &chaos{world: w, said: map[int64]promise{}, hws: map[[2]int32]int64{}, shown: map[int32]int64{}}
		c.latencyMs = rapid.Int64Range(0, 700).Draw(rt, "latency")
		c.topic("orders", chaosPartitions, int16(min(3, cfg.Brokers)))
		broker := func() int32 { return rapid.Int32Range(1, cfg.Brokers).Draw(rt, "broker") }
		disk := func(rt *rapid.T) *slowLog { return rapid.SampledFrom(d.logs).Draw(rt, "disk") }
		rt.Repeat(map[string]func(*rapid.T){
			"append":  func(rt *rapid.T) { c.append(rt, -1) },
			"acks 1":  func(rt *rapid.T) { c.append(rt, 1) },
			"kill":    func(*rapid.T) { c.c.KillBroker(c.nowMs, broker()); c.take() },
			"start":   func(*rapid.T) { c.start(broker()) },
			"start 2": func(*rapid.T) { c.start(broker()) },
			"cut":     func(*rapid.T) { c.cut[[2]int32{broker(), broker()}] = true },
			"heal":    func(*rapid.T) { c.heal() },
			"soon":    func(rt *rapid.T) { c.run(rapid.Int64Range(1, 2000).Draw(rt, "ms")) },
			"later":   func(rt *rapid.T) { c.run(rapid.Int64Range(2000, 40000).Draw(rt, "ms")) },
			"keep":    func(rt *rapid.T) { c.keep(disk(rt), rapid.IntRange(1, 5).Draw(rt, "appends")) },
			"keep all": func(*rapid.T) {
				for _, s := range d.logs {
					c.keep(s, len(s.wait))
				}
			},
			"fail": func(rt *rapid.T) { c.fail(disk(rt)) },
			"":     func(rt *rapid.T) { c.check(rt); c.checkKept(rt) },
		})
		c.heal()
		for id := int32(1); id <= cfg.Brokers; id++ {
			c.start(id)
		}
		for range 300 {
			c.run(500)
			for _, s := range d.logs {
				c.keep(s, len(s.wait))
			}
		}
		c.run(120000)
		c.check(rt)
		c.checkWhole(rt)
	})
}

// checkKept: no high watermark is beyond what the disk has, and what is said to be kept is.
func (c *chaos) checkKept(t *rapid.T) {
	for n := range int32(chaosPartitions) {
		p := c.c.find("orders", n)
		for i := range p.replicas {
			r := &p.replicas[i]
			if kept := r.log.KeptOffset(); r.hw > kept || kept > r.log.EndOffset() {
				t.Fatalf("orders-%d on broker %d: high watermark %d, kept to %d of %d", n, r.broker, r.hw, kept, r.log.EndOffset())
			}
		}
	}
	for _, e := range c.events {
		if b, ok := e.Body.(event.HighWatermarkAdvanced); ok && b.Offset > b.EndOffset {
			t.Fatalf("%v", e)
		}
	}
}
