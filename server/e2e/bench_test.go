package e2e

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
)

// The benchmarks measure servers in processes of their own, by the CPU time that these take, under the same load:
// benchConns connections, each with benchInFlight requests under way. Only ratios of one run mean anything.
const (
	benchConns    = 8
	benchInFlight = 32
	benchGroups   = benchConns
	// serverEnv makes this test program be a server instead.
	serverEnv = "GROUPLAB_BENCH_SERVER"
	// profileEnv names where the server's CPU profile goes, with the server's kind behind a dot.
	profileEnv = "GROUPLAB_BENCH_PROFILE"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(serverEnv); kind != "" {
		os.Exit(benchServer(kind))
	}
	os.Exit(m.Run())
}

// benchServer serves until its input ends. It prints its address, and its CPU time for every line that it reads.
func benchServer(kind string) int {
	signal.Ignore(os.Interrupt)
	address, stop, err := map[string]func() (string, func(), error){"ours": serveOurs, "watched": serveWatched, "kfake": serveKfake, "echo": serveEcho, "data": serveData, "ours-disk": serveOursDisk, "kfake-disk": serveKfakeDisk}[kind]()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	if path := os.Getenv(profileEnv); path != "" {
		f, err := os.Create(path + "." + kind)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	fmt.Println(address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(u.Utime.Nano() + u.Stime.Nano())
	}
	return 0
}

func serveOurs() (string, func(), error)    { return serveLab("", "") }
func serveWatched() (string, func(), error) { return serveLab("127.0.0.1:0", "") } // its page's address follows

func serveLab(http, data string) (string, func(), error) {
	app.TuneGC() // as the program does
	s, err := app.New(app.Config{HTTP: http, Kafka: "127.0.0.1:0", Brokers: 1, Topics: []app.Topic{{Name: "orders", Partitions: 10}}, Data: data,
		Set: []string{"group.initial.rebalance.delay.ms=0"}})
	if err != nil {
		return "", nil, err
	}
	go s.Run(context.Background())
	return strings.TrimSpace(s.KafkaAddrs()[0] + " " + s.HTTPAddr()), func() { s.Close() }, nil
}

func serveKfake() (string, func(), error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(10, "orders"))
	if err != nil {
		return "", nil, err
	}
	return c.ListenAddrs()[0], c.Close, nil
}

// serveEcho gives every frame back: the least that a server can do.
func serveEcho() (string, func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go echo(c)
		}
	}()
	return l.Addr().String(), func() { l.Close() }, nil
}

func echo(c net.Conn) {
	defer c.Close()
	in, out := bufio.NewReaderSize(c, 32<<10), bufio.NewWriterSize(c, 32<<10)
	var frame []byte
	for {
		head, err := in.Peek(4)
		if err != nil {
			return
		}
		n := 4 + int(binary.BigEndian.Uint32(head))
		if cap(frame) < n {
			frame = make([]byte, n)
		}
		if _, err := io.ReadFull(in, frame[:n]); err != nil {
			return
		}
		out.Write(frame[:n])
		if in.Buffered() < 4 && out.Flush() != nil {
			return
		}
	}
}

// benched is a server in a process of its own.
type benched struct {
	b       *testing.B
	address string
	in      io.WriteCloser
	out     *bufio.Scanner
	stop    func()
}

func startBenched(b *testing.B, kind string) *benched {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serverEnv+"="+kind)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	s := &benched{b: b, in: in, out: bufio.NewScanner(out)}
	s.stop = func() { in.Close(); cmd.Wait() }
	brokers, page, watched := strings.Cut(s.line(), " ")
	if s.address = brokers; watched {
		stopWatching := watch(b, page)
		s.stop = func() { stopWatching(); in.Close(); cmd.Wait() }
	}
	return s
}

func (s *benched) line() string {
	s.b.Helper()
	if !s.out.Scan() {
		s.b.Fatal("the server said nothing")
	}
	return s.out.Text()
}

func (s *benched) cpu() time.Duration {
	s.b.Helper()
	fmt.Fprintln(s.in, "cpu")
	n, err := strconv.ParseInt(strings.TrimSpace(s.line()), 10, 64)
	if err != nil {
		s.b.Fatal(err)
	}
	return time.Duration(n)
}

// load sends a request again and again over all connections for a while, and returns requests per CPU second of the
// server. check looks at one answer of each connection.
func (s *benched) load(request func(conn int) kmsg.Request, check func(kmsg.Request, []byte) error, howLong time.Duration) float64 {
	s.b.Helper()
	var total int64
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
				n, err := pump(w, burst, r, check, until)
				mu.Lock()
				defer mu.Unlock()
				if total += n; err != nil {
					s.b.Error(err)
				}
				w.Close()
			})
		}
		ends.Wait()
	}
	run(howLong / 4)
	total = 0
	before := s.cpu()
	run(howLong)
	return float64(total) / (s.cpu() - before).Seconds()
}

func pump(w *wire, burst []byte, r kmsg.Request, check func(kmsg.Request, []byte) error, until time.Time) (n int64, err error) {
	for first := true; time.Now().Before(until); first = false {
		if _, err := w.Write(burst); err != nil {
			return n, err
		}
		for range benchInFlight {
			head, err := w.In.Peek(8)
			if err != nil {
				return n, err
			}
			size := int(binary.BigEndian.Uint32(head))
			if first && check != nil {
				body, err := w.In.Peek(4 + size)
				if err != nil {
					return n, err
				}
				if err := check(r, body[8:]); err != nil {
					return n, err
				}
			}
			if _, err := w.In.Discard(4 + size); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// joined makes one group of one member for each connection, and returns their member ids and generation.
func (s *benched) joined() (members []string, generation int32) {
	s.b.Helper()
	for i := range benchGroups {
		w := dial(s.b, s.address)
		group := fmt.Sprintf("bench-%d", i)
		find := kmsg.NewPtrFindCoordinatorRequest()
		find.Version, find.CoordinatorKey = 2, group
		eventually(s.b, 5*time.Second, func() error {
			if code := ask[*kmsg.FindCoordinatorResponse](w, find).ErrorCode; code != 0 {
				return fmt.Errorf("finding the coordinator: %d", code)
			}
			return nil
		})
		join := kmsg.NewPtrJoinGroupRequest()
		join.Version, join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = 3, group, 300_000, 300_000, "consumer"
		join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range"})
		joined := ask[*kmsg.JoinGroupResponse](w, join)
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

func heartbeats(b *testing.B, kind string, howLong time.Duration) float64 {
	s := startBenched(b, kind)
	defer s.stop()
	members, generation := make([]string, benchConns), int32(1)
	var check func(kmsg.Request, []byte) error
	if kind == "echo" {
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
		r.Version, r.Group, r.MemberID, r.Generation = 4, fmt.Sprintf("bench-%d", i), members[i], generation
		return r
	}, check, howLong)
}

func commits(b *testing.B, kind string, howLong time.Duration) float64 {
	s := startBenched(b, kind)
	defer s.stop()
	members, generation := s.joined()
	return s.load(func(i int) kmsg.Request {
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Version, r.Group, r.MemberID, r.Generation = 8, fmt.Sprintf("bench-%d", i), members[i], generation
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
func compare(b *testing.B, measure func(*testing.B, string, time.Duration) float64, others ...string) {
	const rounds = 3
	got := map[string][]float64{}
	for range rounds {
		for _, kind := range append([]string{"ours", "watched"}, others...) {
			got[kind] = append(got[kind], measure(b, kind, time.Second))
		}
	}
	ours := median(got["ours"])
	b.ReportMetric(ours, "ours/cpu-s")
	b.ReportMetric(ours/median(got["watched"]), "ours/watched")
	for _, kind := range others {
		b.ReportMetric(median(got[kind]), kind+"/cpu-s")
		b.ReportMetric(ours/median(got[kind]), "ours/"+kind)
	}
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	sorted := append([]float64(nil), values...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted[len(sorted)/2]
}
