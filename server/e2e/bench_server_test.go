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
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

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
	code := m.Run()
	if siteDir != "" {
		_ = os.RemoveAll(siteDir) // of the system's temporary folder; what is left there is no failure
	}
	os.Exit(code)
}

// benchServer serves until its input ends. It prints its address, and for every line that it reads its CPU time or, where
// the line asks for it, its memory after a collection.
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
		if lines.Text() == "memory" {
			fmt.Println(liveMemory())
			continue
		}
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(u.Utime.Nano() + u.Stime.Nano())
	}
	return 0
}

// liveMemory is what lives on the heap and the stacks.
func liveMemory() int64 {
	runtime.GC()
	runtime.GC() // what a finalizer or a pool held until now
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
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

// benched is a server in a process of its own. cpu is how much CPU time it has taken.
type benched struct {
	b       testing.TB
	address string
	pid     int
	loads   int // how many it has had: each has groups of its own
	in      io.WriteCloser
	out     *bufio.Scanner
	cpu     func() time.Duration
	stop    func()
}

func startBenched(b testing.TB, kind string) *benched {
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
	s := &benched{b: b, pid: cmd.Process.Pid, in: in, out: bufio.NewScanner(out)}
	s.cpu = func() time.Duration { return time.Duration(s.asks("cpu")) }
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

// asks sends a line and returns the number that comes for it.
func (s *benched) asks(line string) int64 {
	s.b.Helper()
	fmt.Fprintln(s.in, line)
	n, err := strconv.ParseInt(strings.TrimSpace(s.line()), 10, 64)
	if err != nil {
		s.b.Fatal(err)
	}
	return n
}
