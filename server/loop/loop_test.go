package loop

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"grouplab/coordinator"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
)

// TestMain waits for goroutines that are about to end: on a busy machine that may take a while.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		left := goleak.Find()
		for end := time.Now().Add(time.Minute); left != nil && time.Now().Before(end); {
			left = goleak.Find()
		}
		if left != nil {
			fmt.Fprintln(os.Stderr, left)
			code = 1
		}
	}
	os.Exit(code)
}

// running is a loop over three brokers, and its end.
func running(t *testing.T, sink func([]event.Event)) (*Loop, func()) {
	t.Helper()
	clock, numbers := NewClock(), &event.Numbers{}
	cfg := drive.Config{Settings: coordinator.DefaultSettings(), Numbers: numbers, DeliverAtOnce: true,
		MemberID: func(clientID string, _ int32, _ int64) string { return clientID + "-1" }}
	cfg.Cluster.Brokers, cfg.Cluster.Numbers = 3, numbers
	l := New(Config{Clock: clock, Drive: drive.New(clock.NowMs(), cfg), Numbers: numbers, Sink: sink})
	ctx, stop := context.WithCancel(context.Background())
	var ends sync.WaitGroup
	ends.Go(func() { l.Run(ctx) })
	end := func() { stop(); ends.Wait() }
	t.Cleanup(end)
	return l, end
}

type receiver func(nowMs int64, r coordinator.Reply)

func (f receiver) Reply(nowMs int64, r coordinator.Reply) { f(nowMs, r) }

// TestReplies: a request gets its reply, also one that is answered by time, and a forgotten one gets none.
func TestReplies(t *testing.T) {
	l, _ := running(t, nil)
	codes := make(chan int16, 10)
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 3, "g"
	var broker int32
	l.Post(func(nowMs int64) {
		l.Handle(nowMs, 1, coordinator.Request{Kmsg: find}, receiver(func(_ int64, r coordinator.Reply) { codes <- r.Code }))
	})
	<-codes // the first question creates the offsets topic
	for code := int16(-1); code != 0; {
		l.Post(func(nowMs int64) {
			l.Handle(nowMs, 1, coordinator.Request{Kmsg: find}, receiver(func(_ int64, r coordinator.Reply) {
				broker = r.Kmsg.(*kmsg.FindCoordinatorResponse).NodeID
				codes <- r.Code
			}))
		})
		code = <-codes
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, "g", 6000, 6000, "consumer"
	join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range"})
	start := time.Now()
	l.Post(func(nowMs int64) {
		forgotten := l.Handle(nowMs, broker, coordinator.Request{ClientID: "a", Kmsg: join}, receiver(func(int64, coordinator.Reply) { codes <- 99 }))
		l.Forget(forgotten)
		l.Handle(nowMs, broker, coordinator.Request{ClientID: "b", Kmsg: join}, receiver(func(_ int64, r coordinator.Reply) { codes <- r.Code }))
	})
	if code := <-codes; code != 0 {
		t.Errorf("the join was answered %d", code)
	}
	if took := time.Since(start); took < 2900*time.Millisecond || took > time.Minute {
		t.Errorf("the join came after %v; its initial delay is 3 s, extended once", took)
	}
	if len(codes) != 0 {
		t.Errorf("the forgotten request was answered %d", <-codes)
	}
}

// TestEventsComeBySeq: the host's own facts and the machine's are one stream without holes.
func TestEventsComeBySeq(t *testing.T) {
	var mu sync.Mutex
	var seen []event.Event
	l, end := running(t, func(batch []event.Event) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, batch...)
	})
	for range 5 {
		err := l.Do(context.Background(), func(nowMs int64, d *drive.Drive) {
			l.Tell(nowMs, 0, event.InputGiven{Text: "kill-broker 3"})
			d.KillBroker(nowMs, 3)
			l.Tell(nowMs, 0, event.InputGiven{Text: "between"})
			d.StartBroker(nowMs, 3)
			l.Tell(nowMs, 0, event.InputGiven{Text: "after"})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	end()
	given := 0
	for i, e := range seen {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has Seq %d: %v", i+1, e.Seq, e)
		}
		if i > 0 && e.AtMs < seen[i-1].AtMs {
			t.Fatalf("time fell: %v after %v", e, seen[i-1])
		}
		if _, ok := e.Body.(event.InputGiven); ok {
			given++
		}
	}
	if given != 15 {
		t.Errorf("%d of 15 facts of the host came", given)
	}
}

// TestTimers run in order of deadline, then of arming; cancelled ones never; one that arms itself again holds nobody up.
func TestTimers(t *testing.T) {
	l, _ := running(t, nil)
	order := make(chan int, 10)
	again, spun := 0, make(chan struct{})
	l.Post(func(nowMs int64) {
		l.At(nowMs+60, func(int64) { order <- 3 })
		l.At(nowMs+30, func(int64) { order <- 1 })
		l.At(nowMs+30, func(int64) { order <- 2 })
		cancelled := l.At(nowMs+40, func(int64) { order <- 9 })
		l.Cancel(cancelled)
		l.Cancel(cancelled)
		l.Cancel(0)
		var spin func(nowMs int64)
		spin = func(nowMs int64) {
			if again++; again < 1000 {
				l.At(nowMs, spin)
			} else {
				close(spun)
			}
		}
		l.At(nowMs-5, spin)
	})
	if got := []int{<-order, <-order, <-order}; !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("timers ran in the order %v", got)
	}
	<-spun
}

func TestCancelledTimersAreSwept(t *testing.T) {
	var all timers
	var ids []int64
	for i := range 1000 {
		ids = append(ids, all.arm(int64(i), func(int64) {}))
	}
	for _, id := range ids[100:] {
		all.cancel(id)
	}
	if len(all.heap) > 200 {
		t.Errorf("the heap holds %d timers where 100 are live", len(all.heap))
	}
	n := 0
	for all.due(10_000, all.last) != nil {
		n++
	}
	if n != 100 || all.nextMs() != -1 {
		t.Errorf("%d timers were due, the next is at %d", n, all.nextMs())
	}
}

// TestMailboxIsBounded: who posts to a loop that is busy waits, and gets in afterwards, in order.
func TestMailboxIsBounded(t *testing.T) {
	l, _ := running(t, nil)
	held, release := make(chan struct{}), make(chan struct{})
	l.Post(func(int64) { close(held); <-release })
	<-held
	posted := make(chan int, mailboxLimit+10)
	ran := make(chan int, mailboxLimit+10)
	var posters sync.WaitGroup
	posters.Go(func() {
		for i := range mailboxLimit + 10 {
			l.Post(func(int64) { ran <- i })
			posted <- i
		}
	})
	for len(posted) < mailboxLimit {
		runtime.Gosched()
	}
	time.Sleep(20 * time.Millisecond)
	if n := len(posted); n > mailboxLimit {
		t.Errorf("%d items got into a mailbox of %d", n, mailboxLimit)
	}
	close(release)
	posters.Wait()
	for i := range mailboxLimit + 10 {
		if got := <-ran; got != i {
			t.Fatalf("item %d ran where %d was due", got, i)
		}
	}
}

// TestStop: a loop that has ended says so to everybody, also to those who wait.
func TestStop(t *testing.T) {
	l, end := running(t, nil)
	held := make(chan struct{})
	release := make(chan struct{})
	l.Post(func(int64) { close(held); <-release })
	<-held
	waiting := make(chan error, 1)
	go func() { waiting <- l.Do(context.Background(), func(int64, *drive.Drive) {}) }()
	for _, queue := l.Load(); queue == 0; _, queue = l.Load() {
		runtime.Gosched()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Do(ctx, func(int64, *drive.Drive) {}); err != context.Canceled {
		t.Errorf("a question whose asker has gone: %v", err)
	}
	close(release)
	end()
	if err := <-waiting; err != nil && err != ErrStopped {
		t.Errorf("whoever waited got %v", err)
	}
	if err := l.Do(context.Background(), func(int64, *drive.Drive) {}); err != ErrStopped {
		t.Errorf("a stopped loop says %v", err)
	}
	if l.Post(func(int64) {}) {
		t.Error("a stopped loop takes work")
	}
}
