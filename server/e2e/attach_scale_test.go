//go:build interop

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"grouplab/coordinator/event"
	"grouplab/server/app"
)

// listed opens the page's own stream and returns when its list had its first group, and when it had all.
func listed(t *testing.T, watcher *app.Server, began time.Time, groups int) (first, all time.Duration) {
	t.Helper()
	names := map[string]bool{}
	viewed(t, watcher, "?overview=1", func(e event.Event) bool {
		if _, is := e.Body.(event.GroupSummarized); is {
			if names[e.Group] = true; first == 0 {
				first = time.Since(began)
			}
		}
		return len(names) < groups
	})
	return first, time.Since(began)
}

// TestAttachToManyGroups prints what it takes to attach to 5 000 groups that have committed 20 partitions each: the time to
// the first picture, memory, and requests a second afterwards.
func TestAttachToManyGroups(t *testing.T) {
	const groups, partitions = 5000, 20
	s := startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 3, Set: quick, Topics: []app.Topic{{Name: "orders", Partitions: partitions}}})
	admin := kadm.NewClient(client(t, s))
	var offsets kadm.Offsets
	for p := range int32(partitions) {
		offsets.AddOffset("orders", p, int64(p)*1000, -1)
	}
	work := make(chan int)
	failed := make(chan error, 8)
	for range 8 {
		go func() {
			for n := range work {
				var err error
				for range 50 {
					if err = admin.CommitAllOffsets(t.Context(), fmt.Sprintf("group-%04d", n), offsets); err == nil {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				if err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for n := range groups {
		work <- n
	}
	close(work)
	for range 8 {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	began := time.Now()
	watcher := attachTo(t, strings.Join(s.KafkaAddrs(), ","), nil)
	first, picture := listed(t, watcher, began, groups)
	memory := heap() - before
	t.Logf("%d groups × %d partitions: the list begins after %v and is whole after %v, %.1f MB", groups, partitions, first.Round(time.Millisecond), picture.Round(time.Millisecond), float64(memory)/1e6)
	var attached, asked, read int64
	for _, e := range events(t, watcher) {
		switch e.Body.(type) {
		case event.ClusterAttached:
			attached = e.AtMs
		case event.LoadStarted:
			asked = e.AtMs
		case event.LoadFinished:
			read = e.AtMs
		}
	}
	t.Logf("attached after %d ms, the last partition was begun after %d ms and read after %d ms", attached-began.UnixMilli(), asked-began.UnixMilli(), read-began.UnixMilli())
	costs := 0
	eventually(t, time.Minute, func() error {
		costs = 0
		for _, e := range events(t, watcher) {
			if b, is := e.Body.(event.CostMeasured); is {
				if costs++; costs > 2 {
					for _, at := range b.Brokers {
						a := float64(at.Requests) * 1000 / float64(b.IntervalMs)
						t.Logf("broker %d: %.1f requests a second, %.1f kB a second, %d µs", at.Broker, a, float64(at.Bytes)/float64(b.IntervalMs), at.RoundTripUs)
						if a > 20 {
							t.Errorf("broker %d is asked %.1f times a second", at.Broker, a)
						}
					}
					return nil
				}
			}
		}
		return errors.New("its cost was not told three times")
	})
	if picture > 10*time.Second {
		t.Errorf("the first picture took %v", picture)
	}
	if memory > 300<<20 {
		t.Errorf("it holds %d MB", memory>>20)
	}
}
