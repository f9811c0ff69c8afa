package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"grouplab/server/app"
	"grouplab/server/store"
)

// dataEnv tells a server process its folder, address and flush policy, with commas between.
const dataEnv = "GROUPLAB_DATA_SERVER"

// serveData serves three brokers that keep everything in a folder.
func serveData() (string, func(), error) {
	signal.Ignore(syscall.SIGXFSZ) // as the program does
	told := strings.Split(os.Getenv(dataEnv), ",")
	return serveFolder(told[0], told[1], store.Flush(told[2]))
}

func serveFolder(dir, address string, flush store.Flush) (string, func(), error) {
	s, err := app.New(app.Config{Kafka: address, Brokers: 3, Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Data: dir, Flush: flush,
		Set:  []string{"group.initial.rebalance.delay.ms=0", "group.min.session.timeout.ms=500"},
		Logf: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }})
	if err != nil {
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	return s.KafkaAddrs()[0], func() { s.Close(); <-ended }, nil
}

// process is a server in a process of its own, which can be killed as kill -9 does.
type process struct {
	t            testing.TB
	dir, address string
	flush        store.Flush
	cmd          *exec.Cmd
	input        io.Closer
	said         output
	served       bool // once it ran, its ports are its own
}

// output is what a process says, while it runs.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// newProcess prepares a server with a folder and three ports of its own.
func newProcess(t testing.TB, flush store.Flush) *process {
	p := &process{t: t, dir: t.TempDir(), flush: flush, address: ports(t, 3)}
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
		if t.Failed() {
			text := p.said.String()
			t.Logf("the server said:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return p
}

// start returns when the server serves, and how long that took.
func (p *process) start() time.Duration {
	began := time.Now()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), serverEnv+"=data", fmt.Sprintf("%s=%s,%s,%s", dataEnv, p.dir, p.address, p.flush))
	p.cmd.Stderr = &p.said
	p.input, _ = p.cmd.StdinPipe()
	out, _ := p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	if lines := bufio.NewScanner(out); !lines.Scan() {
		err := p.cmd.Wait()
		if !p.served && strings.Contains(p.said.String(), "taken by another program") {
			p.address, p.said = ports(p.t, 3), output{}
			return p.start()
		}
		p.t.Fatalf("the server did not start: %v", err)
	}
	p.served = true
	return time.Since(began)
}

// kill ends it as kill -9 does.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.cmd = nil
}

// stop ends it as a signal would.
func (p *process) stop() {
	p.input.Close()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the server ended with %v", err)
	}
	p.cmd = nil
}
