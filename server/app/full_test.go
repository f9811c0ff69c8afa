package app

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/e2e/wire"
)

// TestFullConnectionThatHangsUp: a connection whose requests are all held, so that nothing more is read from it, ends when its
// client hangs up, and when it is idle; it does not wait for the group.
func TestFullConnectionThatHangsUp(t *testing.T) {
	s, err := New(Config{Kafka: "127.0.0.1:0", Brokers: 1, Set: []string{"group.initial.rebalance.delay.ms=0", "connections.max.idle.ms=3000"}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	defer func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	dial := func() *wire.Conn {
		w, err := wire.Dial(s.KafkaAddrs()[0], "full")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	busy := dial()
	ask := func(r kmsg.Request) kmsg.Response {
		answer, err := busy.Ask(r, wire.Patience)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	eventually := func(what func() error) {
		t.Helper()
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			err := what()
			if err == nil {
				return
			}
			if time.Now().After(until) {
				t.Fatal(err)
			}
		}
	}
	join := func() *kmsg.JoinGroupRequest {
		r := kmsg.NewPtrJoinGroupRequest()
		r.Version, r.Group, r.ProtocolType, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 3, "held", "consumer", 1_800_000, 1<<31-1
		r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		return r
	}
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey = "held"
	ask(find)
	var first *kmsg.JoinGroupResponse
	eventually(func() error {
		if first = ask(join()).(*kmsg.JoinGroupResponse); first.ErrorCode != 0 {
			return fmt.Errorf("code %d", first.ErrorCode)
		}
		return nil
	})
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group, sync.Generation, sync.MemberID = 3, "held", first.Generation, first.MemberID
	ask(sync) // from now on a join waits for this member, which will not come

	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.Generation, beat.MemberID = 3, "held", first.Generation, first.MemberID
	left := func(want int) func() error {
		return func() error {
			ask(beat) // it is not idle
			if n := s.brokers.Connections(); n != want {
				return fmt.Errorf("%d connections, not %d", n, want)
			}
			return nil
		}
	}
	const conns = 5
	for _, hangUp := range []bool{true, false} {
		if hangUp && runtime.GOOS != "linux" {
			continue
		}
		for range conns {
			w := dial()
			for range 100 {
				if _, err := w.Send(join()); err != nil {
					t.Fatal(err)
				}
			}
			if hangUp {
				w.Close()
			}
		}
		if !hangUp {
			eventually(left(1 + conns))
		}
		eventually(left(1))
	}
}
