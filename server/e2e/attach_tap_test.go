package e2e

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	"grouplab/server/observe"
)

// tap stands between clients and brokers and notes what one client asks: it reads the head of each request on the wire.
type tap struct {
	client string
	first  string // the address of the first listener

	mu      sync.Mutex
	brokers []string // where broker i+1 is, "" before that is known
	seen    map[int16]int
	at      map[int][]time.Time // by broker
	conns   map[net.Conn]bool
	// change, where it is set, is given each answer to the client before it goes on, and may change it. What it returns false
	// for never arrives.
	change func(broker int, answer kmsg.Response) bool
}

// inject sets what changes the answers to the client from now on, nil for nothing.
func (p *tap) inject(change func(broker int, answer kmsg.Response) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// asked are the requests of a connection that are not answered yet: key and version by correlation id.
type asked struct {
	mu sync.Mutex
	of map[uint32][2]int16
}

// newTap listens on so many ports in a row.
func newTap(t testing.TB, client string, n int) *tap {
	t.Helper()
	p := &tap{client: client, seen: map[int16]int{}, at: map[int][]time.Time{}, conns: map[net.Conn]bool{}, brokers: make([]string, n)}
	for try := 0; ; try++ {
		p.first = ports(t, int32(n))
		_, text, _ := net.SplitHostPort(p.first)
		port, _ := strconv.Atoi(text)
		var sockets []net.Listener
		for i := range n {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port+i))
			if err != nil {
				break
			}
			sockets = append(sockets, l)
		}
		if len(sockets) == n {
			for i, l := range sockets {
				go p.accept(i, l)
				t.Cleanup(func() { l.Close() })
			}
			t.Cleanup(p.cut)
			return p
		}
		for _, l := range sockets {
			l.Close()
		}
		if try == 20 {
			t.Fatal("no ports are free")
		}
	}
}

func (p *tap) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *tap) accept(broker int, l net.Listener) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		address := p.brokers[broker]
		p.conns[from] = true
		p.mu.Unlock()
		go func() {
			defer from.Close()
			to, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer to.Close()
			open := &asked{of: map[uint32][2]int16{}}
			go func() { p.back(broker, from, to, open); from.Close(); to.Close() }()
			p.forward(broker, from, to, open)
		}()
	}
}

// forward copies requests, and notes those of the client.
func (p *tap) forward(broker int, from, to net.Conn, open *asked) {
	var size [4]byte
	for {
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if n := int(binary.BigEndian.Uint16(body[8:])); n < 1<<15 && string(body[10:10+n]) == p.client {
			p.mu.Lock()
			p.seen[int16(binary.BigEndian.Uint16(body))]++
			p.at[broker+1] = append(p.at[broker+1], time.Now())
			p.mu.Unlock()
			open.mu.Lock()
			open.of[binary.BigEndian.Uint32(body[4:])] = [2]int16{int16(binary.BigEndian.Uint16(body)), int16(binary.BigEndian.Uint16(body[2:]))}
			open.mu.Unlock()
		}
		if _, err := to.Write(append(size[:], body...)); err != nil {
			return
		}
	}
}

// back copies answers, and lets those to the client be changed.
func (p *tap) back(broker int, from, to net.Conn, open *asked) {
	var size [4]byte
	for {
		if _, err := io.ReadFull(to, size[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(to, body); err != nil {
			return
		}
		id := binary.BigEndian.Uint32(body)
		open.mu.Lock()
		kind, known := open.of[id]
		delete(open.of, id)
		open.mu.Unlock()
		p.mu.Lock()
		change := p.change
		p.mu.Unlock()
		if known && change != nil && kind[0] != 18 {
			answer := kmsg.ResponseForKey(kind[0])
			answer.SetVersion(kind[1])
			head := 4
			if answer.IsFlexible() {
				head++ // no tags are in it
			}
			if err := answer.ReadFrom(body[head:]); err != nil {
				return
			}
			if !change(broker+1, answer) {
				continue
			}
			body = answer.AppendTo(body[:head:head])
			binary.BigEndian.PutUint32(size[:], uint32(len(body)))
		}
		if _, err := from.Write(append(size[:], body...)); err != nil {
			return
		}
	}
}

// check fails the test for a request that could change something, and for more than 20 in a second to a broker.
func (p *tap) check(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) == 0 {
		t.Errorf("no request of %s was seen", p.client)
	}
	onlyReads(t, p.seen)
	for broker, at := range p.at {
		from, most := 0, 0
		for to := range at {
			for at[to].Sub(at[from]) >= time.Second {
				from++
			}
			most = max(most, to-from+1)
		}
		lasted := at[len(at)-1].Sub(at[0]).Seconds()
		t.Logf("broker %d was asked %d times in %.1f s, %.1f a second, %d in the busiest", broker, len(at), lasted, float64(len(at))/lasted, most)
		if most > 20+perConnection {
			t.Errorf("broker %d was asked %d times in a second", broker, most)
		}
	}
}

// perConnection are the requests with which connections begin, beside what is asked: ApiVersions on three of them, once more
// where the brokers are those that were named at the start.
const perConnection = 4

// onlyReads fails the test for a request that is not in the list of those that change nothing.
func onlyReads(t testing.TB, seen map[int16]int) {
	t.Helper()
	for key, n := range seen {
		name, harmless := observe.ReadOnly[key]
		if !harmless {
			t.Errorf("%d requests of key %d, which is not in the list of those that change nothing", n, key)
			continue
		}
		t.Logf("%s (%d): %d", name, key, n)
	}
}

// attachTo starts a server that watches the brokers at these addresses.
func attachTo(t testing.TB, addresses string, change func(*app.Config)) *app.Server {
	t.Helper()
	to, err := app.ParseAttach(addresses, "")
	if err != nil {
		t.Fatal(err)
	}
	cfg := app.Config{HTTP: "127.0.0.1:0", Attach: to}
	if change != nil {
		change(&cfg)
	}
	return startServer(t, cfg)
}

// mortal is a consumer whose process can be killed: its connections end, and nothing is said.
type mortal struct {
	cl   *kgo.Client
	stop func()

	mu    sync.Mutex
	dead  bool
	conns []net.Conn
}

// kill ends all connections; no new one is made.
func (m *mortal) kill() {
	m.mu.Lock()
	m.dead = true
	for _, c := range m.conns {
		c.Close()
	}
	m.mu.Unlock()
	m.stop()
}
