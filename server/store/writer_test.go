package store

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
	"grouplab/server/loop"
)

// besides is a Disk with a writer, and a channel that holds a token when there is something to hear.
func besides(t testing.TB, dir string, flush Flush, said *lines) (*Disk, chan struct{}) {
	t.Helper()
	moved := make(chan struct{}, 1)
	d, err := Open(Config{Dir: dir, Flush: flush, Logf: said.logf, Wake: func() {
		select {
		case moved <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.crash)
	return d, moved
}

// TestGroupCommit: what gathers while an fsync lasts goes in few writes and one fsync a log; nothing is kept before.
func TestGroupCommit(t *testing.T) {
	d, moved := besides(t, t.TempDir(), Always, &lines{})
	other := orders
	other.Partition = 1
	a, b := d.New(orders, log.Config{}), d.New(other, log.Config{})
	add(t, a, "first")
	add(t, b, "first")
	d.Start()
	for a.KeptOffset() < 1 || b.KeptOffset() < 1 {
		<-moved
		if err := errorsOf(a, b); err != nil {
			t.Fatal(err)
		}
	}
	var writes, syncs atomic.Int32
	held, begun := make(chan struct{}), make(chan struct{}, 100)
	d.mu.Lock() // the writer reads io after it
	d.io.write = func(f *os.File, data []byte, at int64) (int, error) { writes.Add(1); return f.WriteAt(data, at) }
	d.io.sync = func(f *os.File) error { syncs.Add(1); begun <- struct{}{}; <-held; return f.Sync() }
	d.mu.Unlock()
	add(t, a, "x")
	d.Start()
	<-begun // the fsync hangs
	for i := range 20 {
		add(t, a, fmt.Sprint(i))
		add(t, b, fmt.Sprint(i))
		d.Start()
	}
	if err := errorsOf(a, b); err != nil || a.KeptOffset() != 1 || b.KeptOffset() != 1 {
		t.Errorf("kept to %d and %d while the fsync hangs: %v", a.KeptOffset(), b.KeptOffset(), err)
	}
	close(held)
	for a.KeptOffset() < a.EndOffset() || b.KeptOffset() < b.EndOffset() {
		<-moved
		if err := errorsOf(a, b); err != nil {
			t.Fatal(err)
		}
	}
	if w, s := writes.Load(), syncs.Load(); w > 9 || s != 1+2 { // neighbours in one block of memory are one write
		t.Errorf("41 appends to two logs were %d writes and %d fsyncs, want at most 9 and 3", w, s)
	}
	var heard []int32
	d.Moved(func(at log.Replica) { heard = append(heard, at.Partition) })
	if slices.Sort(heard); !slices.Equal(heard, []int32{0, 1}) {
		t.Errorf("heard of partitions %v", heard)
	}
}

func errorsOf(logs ...*log.Log) error {
	for _, l := range logs {
		if err := l.Keep(); err != nil {
			return err
		}
	}
	return nil
}

// TestDiskFillsUpBeside: what was written before the disk was full stays, the rest is taken back, also over the end of a
// segment; then all goes on, and a start finds the same.
func TestDiskFillsUpBeside(t *testing.T) {
	dir, said := t.TempDir(), &lines{}
	d, _ := besides(t, dir, Never, said)
	size := len(batchOf("0").Bytes)
	cfg := log.Config{SegmentBytes: 4 * size}
	l, memory := d.New(orders, cfg), log.New(log.NewMemory(), cfg)
	both := func(value string) { add(t, l, value); add(t, memory, value) }
	for i := range 3 {
		both(fmt.Sprint(i))
	}
	d.drain()
	room := int64(2*size) + int64(size)/2
	d.io.write = func(f *os.File, data []byte, at int64) (int, error) {
		if n := min(room, int64(len(data))); n < int64(len(data)) {
			w, _ := f.WriteAt(data[:n], at)
			return w, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		}
		room -= int64(len(data))
		return f.WriteAt(data, at)
	}
	both("3")
	both("4") // in the next segment
	for i := range 9 {
		add(t, l, fmt.Sprint("lost ", i))
	}
	d.drain()
	if err := l.Keep(); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("the disk is full: %v", err)
	}
	d.io = system
	if is, want := content(t, l), content(t, memory); is != want {
		t.Errorf("the log is %s, want %s", is, want)
	}
	for i := range 6 {
		both(fmt.Sprint("more ", i))
	}
	d.drain()
	if err := l.Keep(); err != nil || l.KeptOffset() != l.EndOffset() {
		t.Errorf("kept to %d of %d: %v", l.KeptOffset(), l.EndOffset(), err)
	}
	said.holds(t, 1, "no space left on device")
	said.holds(t, 1, "the disk works again")
	want := content(t, memory)
	if is := content(t, l); is != want {
		t.Errorf("the log is %s, want %s", is, want)
	}
	d.crash()
	if is := content(t, opened(t, dir, said).mustOpen(t, orders, cfg)); is != want {
		t.Errorf("after a start the log is %s, want %s", is, want)
	}
	said.holds(t, 0, "torn")
}

// TestSyncFailsBeside: nothing of that fsync is kept, and nothing more is taken.
func TestSyncFailsBeside(t *testing.T) {
	said := &lines{}
	d, _ := besides(t, t.TempDir(), Always, said)
	l := d.New(orders, log.Config{})
	add(t, l, "a")
	d.drain()
	d.io.sync = func(*os.File) error { return syscall.EIO }
	add(t, l, "b")
	d.drain()
	if err := l.Keep(); err == nil || !strings.Contains(err.Error(), "must be started again") || l.EndOffset() != 1 {
		t.Errorf("after an fsync that failed the log ends at %d: %v", l.EndOffset(), err)
	}
	d.io = system
	if _, err := l.Append(batchOf("c"), 0); err == nil || !strings.Contains(err.Error(), "must be started again") {
		t.Errorf("the next append: %v", err)
	}
	said.holds(t, 1, "input/output error", "until the server is started again")
}

// TestHeartbeatsBesideTheDisk: while an fsync hangs, heartbeats are answered, commits wait; when it ends they are answered too.
func TestHeartbeatsBesideTheDisk(t *testing.T) {
	var running atomic.Pointer[loop.Loop]
	d, err := Open(Config{Dir: t.TempDir(), Flush: Always, Wake: func() {
		if l := running.Load(); l != nil {
			l.Wake()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.crash)
	var hang atomic.Bool
	held, begun := make(chan struct{}), make(chan struct{}, 100)
	d.io.sync = func(f *os.File) error {
		if hang.Load() {
			begun <- struct{}{}
			<-held
		}
		return f.Sync()
	}
	clock, numbers := loop.NewClock(), &event.Numbers{}
	cfg := drive.Config{Settings: coordinator.DefaultSettings(), Numbers: numbers, DeliverAtOnce: true,
		MemberID: func(clientID string, _ int32, _ int64) string { return clientID + "-1" }}
	cfg.Settings.GroupInitialRebalanceDelayMs = 0
	cfg.Cluster.Brokers, cfg.Cluster.Numbers, cfg.Cluster.OffsetsPartitions, cfg.Cluster.Disk = 3, numbers, 1, d
	machine := drive.New(clock.NowMs(), cfg)
	machine.CreateTopic(clock.NowMs(), "orders", 1, 1, nil)
	machine.EnsureOffsetsTopic(clock.NowMs())
	l := loop.New(loop.Config{Clock: clock, Drive: machine, Numbers: numbers, TurnEnds: func(int64) { d.Start() },
		TurnBegins: func(nowMs int64) { d.Moved(func(at log.Replica) { machine.Kept(nowMs, at) }) }})
	running.Store(l)
	ctx, stop := context.WithCancel(context.Background())
	var ends sync.WaitGroup
	ends.Go(func() { l.Run(ctx) })
	t.Cleanup(func() { stop(); ends.Wait() })

	g := asker{t: t, loop: l, broker: 1}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, "g", 30000, 30000, "consumer"
	join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range"})
	var member *kmsg.JoinGroupResponse
	for member == nil { // the coordinator is one of the three, and is loaded soon
		answer := (<-g.ask(join)).Kmsg.(*kmsg.JoinGroupResponse)
		switch answer.ErrorCode {
		case 0:
			member = answer
		case 16:
			g.broker = g.broker%3 + 1
		case 14, 15:
		default:
			t.Fatalf("the join was answered %d", answer.ErrorCode)
		}
	}
	settle := kmsg.NewPtrSyncGroupRequest()
	settle.Version, settle.Group, settle.Generation, settle.MemberID = 2, "g", member.Generation, member.MemberID
	if code := (<-g.ask(settle)).Code; code != 0 {
		t.Fatalf("the sync was answered %d", code)
	}
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Version, commit.Group, commit.Generation, commit.MemberID = 7, "g", member.Generation, member.MemberID
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 3, LeaderEpoch: -1}}}}
	hang.Store(true)
	committed := g.ask(commit)
	<-begun
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Version, heartbeat.Group, heartbeat.Generation, heartbeat.MemberID = 3, "g", member.Generation, member.MemberID
	for range 100 {
		select {
		case r := <-g.ask(heartbeat):
			if r.Code != 0 {
				t.Fatalf("a heartbeat was answered %d", r.Code)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no heartbeat is answered while an fsync hangs")
		}
	}
	select {
	case r := <-committed:
		t.Errorf("the commit was answered before it was on the disk: %+v", r)
	default:
	}
	hang.Store(false)
	close(held)
	if r := <-committed; r.Code != 0 || r.Kmsg.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode != 0 {
		t.Errorf("the commit was answered %+v", r)
	}
}

// asker asks one broker through its loop.
type asker struct {
	t      *testing.T
	loop   *loop.Loop
	broker int32
}

type answers chan coordinator.Reply

func (a answers) Reply(_ int64, r coordinator.Reply) { a <- r }

func (g asker) ask(r kmsg.Request) answers {
	to, broker := make(answers, 1), g.broker
	if !g.loop.Post(func(nowMs int64) { g.loop.Handle(nowMs, broker, coordinator.Request{ClientID: "c", Kmsg: r}, to) }) {
		g.t.Fatal("the loop has ended")
	}
	return to
}
