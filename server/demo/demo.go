// Package demo runs real consumers and a producer over TCP, so that someone without a client sees life at once. They are
// ordinary franz-go clients: the brokers cannot tell them from anybody else's.
package demo

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What the demo works with.
const (
	Group      = "demo"
	Topic      = "demo"
	Partitions = 6
	// Most is how many consumers may run at once.
	Most = 16

	consumerPrefix = "demo-"
	producerName   = "demo-producer"
)

// ErrUnknown is wrapped by errors about a name that no demo client has.
var ErrUnknown = errors.New("there is no such demo consumer")

// Config says where the brokers are.
type Config struct {
	// Seeds are the brokers' addresses, HOST:PORT.
	Seeds []string
	// SessionTimeout is the consumers' session.timeout.ms, 10 s by default: how long a killed one stays a ghost.
	SessionTimeout time.Duration
	// TLS is how the clients speak TLS; nil: they speak in the clear.
	TLS *tls.Config
	// Client are further options of all clients.
	Client []kgo.Opt
	// RecordsPerSecond is the producer's rate, 4 by default.
	RecordsPerSecond int
	// Logf gets one line for each failure of a client; nil means nowhere.
	Logf func(format string, args ...any)
}

// Client is one demo client.
type Client struct {
	// Name is its client.id: demo-1, demo-2, …; the producer is demo-producer.
	Name string `json:"name"`
	// Running is false after Kill and Stop, until Start takes the name again.
	Running bool `json:"running"`
	// Killed is set where it went without LeaveGroup.
	Killed bool `json:"killed,omitempty"`
}

// Demo is the set of demo clients. Its methods may be called from any goroutine.
type Demo struct {
	cfg  Config
	ends sync.WaitGroup

	mu      sync.Mutex
	clients map[string]*process // by name; ended ones too
	closed  bool
}

// New returns a demo without clients.
func New(cfg Config) *Demo {
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = 10 * time.Second
	}
	if cfg.RecordsPerSecond == 0 {
		cfg.RecordsPerSecond = 4
	}
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	return &Demo{cfg: cfg, clients: map[string]*process{}}
}

// Start starts n more consumers, and the producer with the first, and returns the consumers' names. The names of ended
// ones are taken first: to the group that is a process which was restarted. More than Most at once is an error.
func (d *Demo) Start(n int) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.New("the server is shutting down")
	}
	running := 0
	for name, p := range d.clients {
		if p.running && name != producerName {
			running++
		}
	}
	if n < 1 || running+n > Most {
		return nil, fmt.Errorf("%d more demo consumers were asked for and %d run; at least 1 more and at most %d together", n, running, Most)
	}
	if p := d.clients[producerName]; p == nil || !p.running {
		if err := d.start(producerName, produce); err != nil {
			return nil, err
		}
	}
	var names []string
	for i := 1; len(names) < n; i++ {
		name := consumerPrefix + strconv.Itoa(i)
		if p := d.clients[name]; p != nil && p.running {
			continue
		}
		if err := d.start(name, consume); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// start runs a client under a name. d.mu is held.
func (d *Demo) start(name string, life func(ctx context.Context, d *Demo, p *process) error) error {
	p := newProcess(name, d.cfg.TLS)
	d.clients[name] = p
	d.ends.Go(func() {
		err := life(p.ctx, d, p)
		d.mu.Lock()
		p.running = false
		d.mu.Unlock()
		close(p.ended)
		if err != nil && p.ctx.Err() == nil {
			d.cfg.Logf("demo: %s: %v", name, err)
		}
	})
	return nil
}

// Stop lets a consumer leave its group and end. It returns when the consumer is gone, after LeaveGroup.
func (d *Demo) Stop(name string) error {
	p, err := d.find(name)
	if err != nil {
		return err
	}
	p.stop()
	<-p.ended
	return nil
}

// Kill drops a consumer's connections without LeaveGroup: to the group it is a ghost until its session runs out.
func (d *Demo) Kill(name string) error {
	p, err := d.find(name)
	if err != nil {
		return err
	}
	d.mu.Lock()
	p.killed = true
	d.mu.Unlock()
	p.kill()
	<-p.ended
	return nil
}

// find returns a consumer that runs.
func (d *Demo) find(name string) (*process, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.clients[name]
	if p == nil || name == producerName {
		return nil, fmt.Errorf("%w: %q; there are: %s", ErrUnknown, name, d.names())
	}
	if !p.running {
		return nil, fmt.Errorf("%s has ended already", name)
	}
	return p, nil
}

func (d *Demo) names() string {
	var names []string
	for _, c := range d.list() {
		if c.Name != producerName {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return "none, start some first"
	}
	return strings.Join(names, ", ")
}

// List returns the clients: consumers by number, then the producer.
func (d *Demo) List() []Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list()
}

func (d *Demo) list() []Client {
	list := make([]Client, 0, len(d.clients))
	for name, p := range d.clients {
		list = append(list, Client{Name: name, Running: p.running, Killed: p.killed})
	}
	slices.SortFunc(list, func(a, b Client) int {
		if len(a.Name) != len(b.Name) {
			return len(a.Name) - len(b.Name)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// Close ends every client, without LeaveGroup, and waits for its goroutines.
func (d *Demo) Close() {
	d.mu.Lock()
	d.closed = true
	for _, p := range d.clients {
		p.kill()
	}
	d.mu.Unlock()
	d.ends.Wait()
}
