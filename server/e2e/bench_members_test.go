package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// crowd is a group whose members have a connection each.
type crowd struct {
	s       *benched
	group   string
	wires   []*wire
	ids     []string
	version string // of the members' metadata: a new one is a reason to rebalance
	// generations are those in which the members have their assignments.
	mu          sync.Mutex
	generations []int32
	ended       time.Time // when the last of them got its own
}

func (s *benched) crowd(group string, members int) *crowd {
	s.b.Helper()
	c := &crowd{s: s, group: group, ids: make([]string, members), generations: make([]int32, members)}
	for range members {
		c.wires = append(c.wires, dial(s.b, s.address))
	}
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 2, group
	eventually(s.b, 30*time.Second, func() error {
		if code := ask[*kmsg.FindCoordinatorResponse](c.wires[0], find).ErrorCode; code != 0 {
			return fmt.Errorf("finding the coordinator: %d", code)
		}
		return nil
	})
	return c
}

// rebalance has every member join and sync at once, until all have the same generation's assignment. It returns how long
// that took, from the first join to the last assignment.
func (c *crowd) rebalance(version string) time.Duration {
	c.s.b.Helper()
	c.version = version
	began := time.Now()
	var ends sync.WaitGroup
	errs := make(chan error, len(c.wires))
	for i := range c.wires {
		ends.Go(func() {
			err := c.member(i)
			for err == nil && !c.together() {
				err = c.heartbeat(i)
			}
			if err != nil {
				errs <- err
			}
		})
	}
	ends.Wait()
	select {
	case err := <-errs:
		c.s.b.Fatal(err)
	default:
	}
	return c.ended.Sub(began)
}

// member joins and syncs, again where the group is rebalanced meanwhile.
func (c *crowd) member(i int) error {
	for {
		join := kmsg.NewPtrJoinGroupRequest()
		join.Version, join.Group, join.MemberID, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, c.group, c.ids[i], 300_000, 300_000, "consumer"
		join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range", Metadata: fmt.Appendf(nil, "%-100s", c.version)})
		joined, err := exchange[*kmsg.JoinGroupResponse](c.wires[i], join)
		for err == nil && soon(joined.ErrorCode) {
			time.Sleep(20 * time.Millisecond)
			joined, err = exchange[*kmsg.JoinGroupResponse](c.wires[i], join)
		}
		if err != nil || joined.ErrorCode != 0 {
			return fmt.Errorf("joining %s: %v, %+v", c.group, err, joined)
		}
		c.ids[i] = joined.MemberID
		sync := kmsg.NewPtrSyncGroupRequest()
		sync.Version, sync.Group, sync.MemberID, sync.Generation = 3, c.group, joined.MemberID, joined.Generation
		if joined.LeaderID == joined.MemberID {
			for _, m := range joined.Members {
				sync.GroupAssignment = append(sync.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.MemberID, MemberAssignment: make([]byte, 50)})
			}
		}
		synced, err := exchange[*kmsg.SyncGroupResponse](c.wires[i], sync)
		switch {
		case err != nil:
			return fmt.Errorf("syncing: %w", err)
		case synced.ErrorCode == 0:
			c.mu.Lock()
			c.generations[i], c.ended = joined.Generation, time.Now()
			c.mu.Unlock()
			return nil
		case synced.ErrorCode != rebalanceInProgress:
			return fmt.Errorf("syncing: %d", synced.ErrorCode)
		}
	}
}

// together tells whether all have the assignment of the same generation: nobody came in between.
func (c *crowd) together() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Min(c.generations) == slices.Max(c.generations)
}

// heartbeat waits a moment, and joins again where the group is being rebalanced, as clients do.
func (c *crowd) heartbeat(i int) error {
	time.Sleep(200 * time.Millisecond) // shorter, five hundred members ask for nothing else
	c.mu.Lock()
	generation := c.generations[i]
	c.mu.Unlock()
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.Generation = 3, c.group, c.ids[i], generation
	switch got, err := exchange[*kmsg.HeartbeatResponse](c.wires[i], beat); {
	case err != nil:
		return fmt.Errorf("heartbeat: %w", err)
	case got.ErrorCode == rebalanceInProgress:
		return c.member(i)
	case got.ErrorCode != 0:
		return fmt.Errorf("heartbeat: %d", got.ErrorCode)
	}
	return nil
}

// exchange sends a request and reads its answer. Unlike ask it may run beside the test's goroutine.
func exchange[R kmsg.Response](w *wire, r kmsg.Request) (answer R, err error) {
	correlation, err := w.Send(r)
	if err != nil {
		return answer, err
	}
	got, err := w.Receive(correlation, r, 3*time.Minute)
	if err != nil {
		return answer, err
	}
	return got.(R), nil
}

const (
	rebalanceInProgress = 27

	rebalanceMembers = 500
	rebalances       = 5
)

// rebalanced measures rebalances of a group that is whole: the median time of one, and the server's CPU time for it.
func (s *benched) rebalanced() (took, cpu time.Duration) {
	s.b.Helper()
	s.loads++
	c := s.crowd(fmt.Sprint("crowd-", s.loads), rebalanceMembers)
	defer func() {
		for _, w := range c.wires {
			w.Close()
		}
	}()
	c.rebalance("the first") // members come one after the other, and the group begins anew until all are there
	var each []float64
	before := s.cpu()
	for i := range rebalances {
		each = append(each, float64(c.rebalance(fmt.Sprint("version ", i))))
	}
	return time.Duration(median(each)), (s.cpu() - before) / rebalances
}

// BenchmarkRebalance500 prints how long a rebalance of 500 members takes, each on a connection of its own: all join again
// because their metadata changed, and it ends with the last assignment. cpu-ms is the server's part of it.
func BenchmarkRebalance500(b *testing.B) {
	for b.Loop() {
		took, cpu := map[string][]float64{}, map[string][]float64{}
		for range 3 {
			for _, kind := range []string{"ours", "kfake"} {
				s := startBenched(b, kind)
				t, c := s.rebalanced()
				s.stop()
				took[kind], cpu[kind] = append(took[kind], t.Seconds()*1000), append(cpu[kind], c.Seconds()*1000)
			}
		}
		for _, kind := range []string{"ours", "kfake"} {
			b.ReportMetric(median(took[kind]), kind+"-ms")
			b.ReportMetric(median(cpu[kind]), kind+"-cpu-ms")
		}
		b.ReportMetric(median(took["ours"])/median(took["kfake"]), "ours/kfake")
		b.ReportMetric(median(cpu["ours"])/median(cpu["kfake"]), "ours/kfake-cpu")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkMemberMemory prints what a member costs a server that holds 1000 of them in groups of ten, with its connection:
// heap and stacks after a collection, divided.
func BenchmarkMemberMemory(b *testing.B) {
	const groups, members = 100, 10
	for b.Loop() {
		got := map[string]float64{}
		for _, kind := range []string{"ours", "kfake"} {
			s := startBenched(b, kind)
			s.crowd("first", 1).rebalance("x") // what is made once
			before := s.asks("memory")
			var all []*crowd
			for i := range groups {
				c := s.crowd(fmt.Sprint("group-", i), members)
				c.rebalance("x")
				c.rebalance("y")
				all = append(all, c)
			}
			got[kind] = float64(s.asks("memory")-before) / (groups * members)
			for _, c := range all {
				for _, w := range c.wires {
					w.Close()
				}
			}
			s.stop()
		}
		b.ReportMetric(got["ours"], "ours-B/member")
		b.ReportMetric(got["kfake"], "kfake-B/member")
		b.ReportMetric(got["ours"]/got["kfake"], "ours/kfake")
		b.ReportMetric(0, "ns/op")
	}
}
