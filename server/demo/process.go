package demo

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// process stands for an operating system's process around one client: it can be told to end, and it can be killed, which
// closes its sockets before the client can say a word.
type process struct {
	name string
	tls  *tls.Config // nil: in the clear
	// ctx ends with kill; quit is closed by stop.
	ctx    context.Context
	cancel context.CancelFunc
	quit   chan struct{}
	once   sync.Once
	ended  chan struct{}

	// running and killed are guarded by Demo.mu.
	running, killed bool

	mu    sync.Mutex
	dead  bool
	conns map[net.Conn]struct{}
}

func newProcess(name string, encrypted *tls.Config) *process {
	ctx, cancel := context.WithCancel(context.Background())
	return &process{name: name, tls: encrypted, ctx: ctx, cancel: cancel, quit: make(chan struct{}), ended: make(chan struct{}), running: true, conns: map[net.Conn]struct{}{}}
}

func (p *process) stop() { p.once.Do(func() { close(p.quit) }) }

func (p *process) kill() {
	p.mu.Lock()
	p.dead = true
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.cancel()
}

var errKilled = errors.New("the process was killed")

// dial opens sockets for the client and keeps hold of them.
func (p *process) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		c.Close()
		return nil, errKilled
	}
	p.conns[c] = struct{}{}
	s := &socket{Conn: c, p: p}
	if p.tls == nil {
		return s, nil
	}
	return tls.Client(s, p.tls), nil // its first byte begins the handshake
}

// socket forgets itself when it is closed.
type socket struct {
	net.Conn
	p *process
}

func (s *socket) Close() error {
	s.p.mu.Lock()
	delete(s.p.conns, s.Conn)
	s.p.mu.Unlock()
	return s.Conn.Close()
}
