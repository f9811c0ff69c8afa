package app

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience is for what must come on any machine; it is used up only by tests that fail.
const patience = 10 * time.Second

// pipes is a listener whose connections are in this process: nothing of the network is between a client and the accept path.
type pipes struct {
	waiting chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes() *pipes { return &pipes{waiting: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092} }

// pipeEnd is one end of a net.Pipe whose deadlines end with it, as those of a socket do. A net.Pipe that is closed keeps the
// timers of both ends until they ring, and everything behind them: with connections.max.idle.ms that is ten minutes.
type pipeEnd struct {
	net.Conn
	other net.Conn
}

func (e *pipeEnd) Close() error {
	for _, end := range []net.Conn{e.Conn, e.other} {
		end.SetDeadline(time.Time{}) // an error says that the other end was closed, and did this
	}
	return e.Conn.Close()
}

// dial connects. It fails where nobody accepts.
func (p *pipes) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.waiting <- &pipeEnd{theirs, ours}:
		return &pipeEnd{ours, theirs}, nil
	case <-p.closed:
	case <-time.After(patience):
	}
	return nil, errors.New("nobody accepts")
}

// overPipes runs a server with one broker that is reached without a socket.
func overPipes(t testing.TB, cfg Config) (s *Server, at *pipes, end func()) {
	t.Helper()
	cfg.Kafka, cfg.Brokers, at = "127.0.0.1:0", 1, newPipes()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.brokers.Drop(1)
	if err := s.brokers.Listen(1, at); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	return s, at, sync.OnceFunc(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
}

// complaints keeps the lines that tell of a panic that was caught.
type complaints struct {
	mu     sync.Mutex
	panics []string
}

func (c *complaints) logf(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); strings.Contains(line, "panic") {
		c.mu.Lock()
		c.panics = append(c.panics, line)
		c.mu.Unlock()
	}
}

// bytecode is what a fuzzer writes: one byte for what to do, one for how many follow, and those, which choose. Where they end
// everything is 0.
type bytecode struct{ rest []byte }

func (b *bytecode) next() byte {
	if len(b.rest) == 0 {
		return 0
	}
	first := b.rest[0]
	b.rest = b.rest[1:]
	return first
}

func (b *bytecode) take(n int) []byte {
	n = min(n, len(b.rest))
	taken := b.rest[:n:n]
	b.rest = b.rest[n:]
	return taken
}

// What a byte stands for; the bits above say on which of the connections.
const (
	doSend  = iota // a request that is right
	doFlip         // one with bits turned
	doCut          // the beginning of one
	doSplit        // the first half of one; the second comes with doRest
	doRest
	doRaw   // bytes
	doWait  // until everything is answered, or a moment
	doClose // and connect again
	doDeaf  // answers are not read any more, or again
	doMany  // the same request many times, in one piece
	doCount
)

const clients = 4

// play runs a program against a listener and returns when all its connections are closed. A client that waits does so for a
// moment at most: joins and fetches are held for long.
func play(t *testing.T, at *pipes, program *bytecode, served []kmsg.ApiVersionsResponseApiKey, moment time.Duration) {
	shared := &acquired{}
	var all [clients]*client
	defer func() {
		for _, c := range all {
			c.hangUp()
		}
	}()
	for steps := 0; len(program.rest) > 0 && steps < 200; steps++ {
		code := program.next()
		choices := &bytecode{program.take(int(program.next()))}
		i := int(code) / doCount % clients
		if c := all[i]; c == nil || c.over() {
			c.hangUp()
			all[i] = connect(t, at, shared)
		}
		c := all[i]
		switch code % doCount {
		case doSend:
			c.ask(choices, served)
		case doFlip:
			frame := c.frame(choices, served)
			for range 1 + choices.next()%4 {
				frame[4+int(binary.BigEndian.Uint16([]byte{choices.next(), choices.next()}))%(len(frame)-4)] ^= choices.next() | 1
			}
			c.spoilt(frame)
		case doCut:
			frame := c.frame(choices, served)
			c.spoilt(frame[:int(choices.next())%len(frame)])
		case doSplit:
			frame := c.frame(choices, served)
			c.spoilt(frame[:len(frame)/2])
			c.rest = append(c.rest, frame[len(frame)/2:]...)
		case doRest:
			c.spoilt(c.rest)
			c.rest = nil
		case doRaw:
			c.spoilt(choices.rest)
		case doWait:
			c.settle(moment)
		case doClose:
			c.hangUp()
			all[i] = nil
		case doDeaf:
			c.deafen()
		case doMany:
			frame := c.frame(choices, served)
			c.spoilt(slices.Repeat(frame, 1+int(choices.next())%80))
		}
	}
}

// alive demands that the listener takes a new connection and answers it.
func alive(t *testing.T, at *pipes) []kmsg.ApiVersionsResponseApiKey {
	t.Helper()
	nc, err := at.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	request := kmsg.NewPtrApiVersionsRequest()
	if _, err := nc.Write(kmsg.NewRequestFormatter().AppendRequest(nil, request, 7)); err != nil {
		t.Fatalf("asking ApiVersions: %v", err)
	}
	var head [8]byte
	if _, err := io.ReadFull(nc, head[:]); err != nil {
		t.Fatalf("nobody answers ApiVersions: %v", err)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:])-4)
	answer := kmsg.NewPtrApiVersionsResponse()
	if _, err := io.ReadFull(nc, body); err != nil || answer.ReadFrom(body) != nil || answer.ErrorCode != 0 {
		t.Fatalf("ApiVersions is answered % x, %v", body, err)
	}
	return answer.ApiKeys
}

// settings of the servers that are fuzzed: the first byte of a program chooses.
func fuzzedConfig(choice byte, said *complaints) Config {
	cfg := Config{Topics: []Topic{{"orders", 3}}, Logf: said.logf, Set: []string{"offsets.topic.num.partitions=3", "transaction.state.log.num.partitions=3",
		"transaction.state.log.min.isr=1", "group.min.session.timeout.ms=50", "max.connections=5", "max.incremental.fetch.session.cache.slots=3"}}
	if choice&1 == 0 { // otherwise a first join is held for three seconds
		cfg.Set = append(cfg.Set, "group.initial.rebalance.delay.ms=0")
	}
	if choice&6 == 6 {
		cfg.Users = []User{{Name: "bob", Password: "hunter2"}}
	}
	return cfg
}

// FuzzListener drives a whole server through its accept path: several connections send requests that are right, turned,
// cut, split and mixed, hold joins and fetches, stop reading and hang up. After each program the listener answers a new
// connection, nothing has panicked, and no goroutine or memory is left of those that are gone.
func FuzzListener(f *testing.F) {
	for _, program := range listenerPrograms() {
		f.Add(program)
	}
	var served []kmsg.ApiVersionsResponseApiKey
	runs, kept := 0, leftovers{}
	f.Fuzz(func(t *testing.T, data []byte) {
		program := &bytecode{data}
		said := &complaints{}
		before := runtime.NumGoroutine()
		var start, after runtime.MemStats
		runtime.ReadMemStats(&start)
		s, at, end := overPipes(t, fuzzedConfig(program.next(), said))
		defer end()
		if served == nil {
			served = alive(t, at)
		}
		play(t, at, program, served, time.Millisecond)
		gone := func() bool { return s.brokers.Connections() == 0 }
		within(t, "every connection to be gone", gone) // before, there may be no room for one more
		alive(t, at)
		within(t, "the last connection to be gone", gone)
		end()
		within(t, "every goroutine to be gone", func() bool { return runtime.NumGoroutine() <= before })
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - start.TotalAlloc; cost > 256<<20+uint64(len(data))<<12 {
			t.Errorf("a program of %d bytes cost %d MB", len(data), cost>>20)
		}
		said.mu.Lock()
		defer said.mu.Unlock()
		if len(said.panics) > 0 {
			t.Errorf("a panic: %s", said.panics[0])
		}
		if runs++; runs%checkedEvery == 0 {
			kept.check(t, runs)
		}
	})
}

// checkedEvery is after how many programs leftovers looks: often enough for the seeds alone.
const checkedEvery = 50

// leftovers finds what servers leave behind, which adds up over programs.
type leftovers struct{ objects uint64 }

// check compares the heap with the one after the first checkedEvery programs. Objects tell most: a server that is gone leaves
// none, while the fuzzer has a buffer of 100 MB, and takes it when it begins to write programs of its own.
func (l *leftovers) check(t *testing.T, programs int) {
	runtime.GC()
	runtime.GC() // what a sync.Pool has outlives the first
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	if l.objects == 0 {
		l.objects = heap.HeapObjects
	}
	const fuzzerBytes, bytes, objects = 100 << 20, 32 << 20, 1000
	if heap.HeapObjects > l.objects+objects+uint64(programs)/2 {
		t.Errorf("after %d programs the heap has %d objects, it had %d after %d", programs, heap.HeapObjects, l.objects, checkedEvery)
	}
	if heap.HeapAlloc > fuzzerBytes+bytes {
		t.Errorf("after %d programs the heap has %d MB, of which the fuzzer has 100", programs, heap.HeapAlloc>>20)
	}
}

// within waits until something holds.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end, pause := time.Now().Add(patience), 10*time.Microsecond; !holds(); pause = min(2*pause, 10*time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("waited %v for %s\n%s", patience, what, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(pause)
	}
}
