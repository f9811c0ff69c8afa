package e2e

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// figures are what came of a load: requests per CPU second of the server, and how long answers took.
type figures struct {
	perCPU   float64
	p50, p99 time.Duration
}

// load sends a request again and again over all connections for a while. check looks at one answer of each connection.
func (s *benched) load(request func(conn int) kmsg.Request, check func(kmsg.Request, []byte) error, howLong time.Duration) figures {
	s.b.Helper()
	var took []time.Duration
	var mu sync.Mutex
	run := func(howLong time.Duration) {
		var ends sync.WaitGroup
		until := time.Now().Add(howLong)
		for i := range benchConns {
			w := dial(s.b, s.address)
			r := request(i)
			var burst []byte
			for range benchInFlight {
				burst = w.Append(burst, r)
			}
			ends.Go(func() {
				each, err := pump(w, burst, r, check, until)
				mu.Lock()
				defer mu.Unlock()
				if took = append(took, each...); err != nil {
					s.b.Error(err)
				}
				w.Close()
			})
		}
		ends.Wait()
	}
	run(howLong / 4)
	took = nil
	before := s.cpu()
	run(howLong)
	spent := s.cpu() - before
	if len(took) == 0 {
		s.b.Fatal("no answer came")
	}
	slices.Sort(took)
	return figures{float64(len(took)) / spent.Seconds(), took[len(took)/2], took[len(took)*99/100]}
}

// pump sends bursts, each when the one before is answered, and returns how long each answer took.
func pump(w *wire, burst []byte, r kmsg.Request, check func(kmsg.Request, []byte) error, until time.Time) (took []time.Duration, err error) {
	for first := true; time.Now().Before(until); first = false {
		sent := time.Now()
		if _, err := w.Write(burst); err != nil {
			return took, err
		}
		for range benchInFlight {
			head, err := w.In.Peek(8)
			if err != nil {
				return took, err
			}
			size := int(binary.BigEndian.Uint32(head))
			if first && check != nil {
				body := make([]byte, 4+size)
				if _, err := io.ReadFull(w.In, body); err != nil {
					return took, err
				}
				if err := check(r, body[8:]); err != nil {
					return took, err
				}
			} else if _, err := w.In.Discard(4 + size); err != nil {
				return took, err
			}
			took = append(took, time.Since(sent))
		}
	}
	return took, nil
}

// soon tells whether a coordinator's answer says that it will be there soon: loading, not available, not (yet) this one.
func soon(code int16) bool { return code >= 14 && code <= 16 }

// group is a connection's group in this load.
func (s *benched) group(conn int) string { return fmt.Sprintf("bench-%d-%d", s.loads, conn) }

// joined makes one group of one member for each connection, and returns their member ids and generation.
func (s *benched) joined() (members []string, generation int32) {
	s.b.Helper()
	s.loads++
	for i := range benchGroups {
		w := dial(s.b, s.address)
		group := s.group(i)
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey = 2, group
		eventually(s.b, 30*time.Second, func() error {
			if code := ask[*kmsg.FindCoordinatorResponse](w, find).ErrorCode; code != 0 {
				return fmt.Errorf("finding the coordinator: %d", code)
			}
			return nil
		})
		join := kmsg.NewPtrJoinGroupRequest()
		join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, group, 300_000, 300_000, "consumer"
		join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range"})
		var joined *kmsg.JoinGroupResponse
		eventually(s.b, 30*time.Second, func() error { // a coordinator that was found may be about to be one
			if joined = ask[*kmsg.JoinGroupResponse](w, join); soon(joined.ErrorCode) {
				return fmt.Errorf("joining: %d", joined.ErrorCode)
			}
			return nil
		})
		sync := kmsg.NewPtrSyncGroupRequest()
		sync.Version, sync.Group, sync.MemberID, sync.Generation = 3, group, joined.MemberID, joined.Generation
		sync.GroupAssignment = append(sync.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: joined.MemberID})
		if got := ask[*kmsg.SyncGroupResponse](w, sync); got.ErrorCode != 0 {
			s.b.Fatalf("joining %s: %d, syncing: %d", group, joined.ErrorCode, got.ErrorCode)
		}
		members, generation = append(members, joined.MemberID), joined.Generation
		w.Close()
	}
	return members, generation
}

func heartbeats(b testing.TB, kind string, howLong time.Duration) figures {
	s := startBenched(b, kind)
	defer s.stop()
	return s.heartbeats(kind == "echo", howLong)
}

// heartbeats of one member a group, one group a connection. A server that echoes knows no groups.
func (s *benched) heartbeats(echoes bool, howLong time.Duration) figures {
	members, generation := make([]string, benchConns), int32(1)
	var check func(kmsg.Request, []byte) error
	if echoes {
		for i := range members {
			members[i] = "wire-00000000-0000-4000-8000-000000000000"
		}
	} else {
		members, generation = s.joined()
		check = func(r kmsg.Request, body []byte) error {
			got := r.ResponseKind().(*kmsg.HeartbeatResponse)
			if err := got.ReadFrom(body[1:]); err != nil || got.ErrorCode != 0 {
				return fmt.Errorf("heartbeat: %v, code %d", err, got.ErrorCode)
			}
			return nil
		}
	}
	return s.load(func(i int) kmsg.Request {
		r := kmsg.NewPtrHeartbeatRequest()
		r.Version, r.Group, r.MemberID, r.Generation = 4, s.group(i), members[i], generation
		return r
	}, check, howLong)
}

func commits(b testing.TB, kind string, howLong time.Duration) figures {
	s := startBenched(b, kind)
	defer s.stop()
	return s.commits(howLong)
}

// commits of 10 partitions, by one member a group, one group a connection.
func (s *benched) commits(howLong time.Duration) figures {
	members, generation := s.joined()
	return s.load(func(i int) kmsg.Request {
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Version, r.Group, r.MemberID, r.Generation = 8, s.group(i), members[i], generation
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = "orders"
		for p := range int32(10) {
			part := kmsg.NewOffsetCommitRequestTopicPartition()
			part.Partition, part.Offset = p, 1000
			t.Partitions = append(t.Partitions, part)
		}
		r.Topics = append(r.Topics, t)
		return r
	}, func(r kmsg.Request, body []byte) error {
		got := r.ResponseKind().(*kmsg.OffsetCommitResponse)
		if err := got.ReadFrom(body[1:]); err != nil || len(got.Topics) != 1 || len(got.Topics[0].Partitions) != 10 || got.Topics[0].Partitions[9].ErrorCode != 0 {
			return fmt.Errorf("commit: %v, %+v", err, got)
		}
		return nil
	}, howLong)
}

// BenchmarkHeartbeats prints heartbeats a CPU second, ours against a server that only echoes and against kfake.
func BenchmarkHeartbeats(b *testing.B) {
	for b.Loop() {
		compare(b, heartbeats, "echo", "kfake")
	}
}

// BenchmarkCommits prints commits of 10 partitions a CPU second.
func BenchmarkCommits(b *testing.B) {
	for b.Loop() {
		compare(b, commits, "kfake")
	}
}

// compare measures ours and the others in turn, a few rounds, and prints the medians and their ratios.
func compare(b *testing.B, measure func(testing.TB, string, time.Duration) figures, others ...string) {
	const rounds = 3
	got := map[string][]figures{}
	for range rounds {
		for _, kind := range append([]string{"ours", "watched"}, others...) {
			got[kind] = append(got[kind], measure(b, kind, time.Second))
		}
	}
	ours := middle(got["ours"])
	b.ReportMetric(ours.perCPU, "ours/cpu-s")
	b.ReportMetric(ours.perCPU/middle(got["watched"]).perCPU, "ours/watched")
	b.ReportMetric(micros(ours.p50), "ours-p50-us")
	b.ReportMetric(micros(ours.p99), "ours-p99-us")
	for _, kind := range others {
		other := middle(got[kind])
		b.ReportMetric(other.perCPU, kind+"/cpu-s")
		b.ReportMetric(ours.perCPU/other.perCPU, "ours/"+kind)
		b.ReportMetric(micros(other.p50), kind+"-p50-us")
		b.ReportMetric(micros(other.p99), kind+"-p99-us")
	}
	b.ReportMetric(0, "ns/op")
}

func micros(d time.Duration) float64 { return float64(d.Microseconds()) }

// middle is the median of each figure.
func middle(rounds []figures) figures {
	var perCPU, p50, p99 []float64
	for _, f := range rounds {
		perCPU, p50, p99 = append(perCPU, f.perCPU), append(p50, float64(f.p50)), append(p99, float64(f.p99))
	}
	return figures{median(perCPU), time.Duration(median(p50)), time.Duration(median(p99))}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
