package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"grouplab/coordinator/event"
)

// Config is what a Server is made with.
type Config struct {
	Loop    Loop
	Cluster Cluster
	Settings
	// CheckBatch says what is wrong with the records of a compressed batch; nil: nothing is looked into. It runs on the
	// goroutine of a connection.
	CheckBatch func(batch []byte) (code int16, message string)
	// TLS encrypts the listeners; nil: they speak in the clear.
	TLS *tls.Config
	// Users are who may connect; without any the listeners ask nobody.
	Users Users
	// Log gets a line for each connection that is refused, and for each listener that fails; nil means nowhere.
	Log *slog.Logger
}

// Settings are Kafka's broker settings, by Kafka's names.
type Settings struct {
	// SocketRequestMaxBytes is socket.request.max.bytes: the largest frame.
	SocketRequestMaxBytes int32
	// ConnectionsMaxIdleMs is connections.max.idle.ms.
	ConnectionsMaxIdleMs int64
	// MaxConnections is max.connections, for each broker.
	MaxConnections int32
	// MaxConnectionsPerIP is max.connections.per.ip, for each broker.
	MaxConnectionsPerIP int32
	// QueuedMaxRequestBytes is queued.max.request.bytes: what the requests of all connections may hold together, where they
	// are larger than a read buffer; -1: any amount.
	QueuedMaxRequestBytes int64
	// FetchMaxBytes is fetch.max.bytes: the largest Fetch answer, but for a single batch that is larger.
	FetchMaxBytes int32
	// FetchSessionSlots is max.incremental.fetch.session.cache.slots, for each broker.
	FetchSessionSlots int32
	// AutoCreateTopics is auto.create.topics.enable.
	AutoCreateTopics bool
}

// DefaultSettings are Apache Kafka 4.0's defaults.
func DefaultSettings() Settings {
	return Settings{SocketRequestMaxBytes: 100 << 20, ConnectionsMaxIdleMs: 600000, MaxConnections: 1<<31 - 1, MaxConnectionsPerIP: 1<<31 - 1, QueuedMaxRequestBytes: 512 << 20,
		FetchMaxBytes: 55 << 20, FetchSessionSlots: 1000, AutoCreateTopics: true}
}

// Server is the listeners of all brokers of this process and their connections.
type Server struct {
	cfg        Config
	loop       Loop
	cluster    Cluster
	apis       *[highestKey + 1]*api
	started    time.Time
	lastID     atomic.Int64
	running    sync.WaitGroup
	log        *slog.Logger
	refusals   refusals
	handshakes handshakes
	// requests and answers are the memory for large ones, over all brokers.
	requests, answers *pool

	mu        sync.Mutex
	listeners map[int32]*listener
	bounds    map[int32]bounds // of brokers that were told others than those of the start
	closed    bool

	counters counters

	// What follows belongs to the loop's goroutine. open are the connections that were introduced, by id.
	members  members
	fetches  fetches
	sessions sessions
	open     map[int64]introduced
}

// New returns a server without listeners.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, loop: cfg.Loop, cluster: cfg.Cluster, apis: index(table()), started: time.Now(),
		listeners: map[int32]*listener{}, bounds: map[int32]bounds{}, members: newMembers(), fetches: newFetches(),
		sessions: newSessions(cfg.FetchSessionSlots), open: map[int64]introduced{}, log: cfg.Log,
		requests: newPool(cfg.QueuedMaxRequestBytes), answers: newPool(maxAnswerBytes)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// SetMaxConnections changes a broker's max.connections and max.connections.per.ip. Connections that are open stay.
func (s *Server) SetMaxConnections(broker, all, perIP int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bounds[broker] = bounds{int(all), int(perIP)}
}

// boundsOf is what a broker may have; s.mu is held.
func (s *Server) boundsOf(broker int32) bounds {
	if own, ok := s.bounds[broker]; ok {
		return own
	}
	return bounds{int(s.cfg.MaxConnections), int(s.cfg.MaxConnectionsPerIP)}
}

// bounds are max.connections and max.connections.per.ip.
type bounds struct{ all, perIP int }

// listener is one broker's port and its connections.
type listener struct {
	broker int32
	socket net.Listener
	open   bool
	conns  map[*conn]struct{}
	peers  map[string]int // connections by the address that they come from
}

// Listen gives a broker its port. Connections wait in it until Open. One that listens already keeps what it has.
func (s *Server) Listen(broker int32, socket net.Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.listeners[broker] != nil {
		return fmt.Errorf("broker %d listens already, or the server is closed", broker)
	}
	s.listeners[broker] = &listener{broker: broker, socket: socket, conns: map[*conn]struct{}{}, peers: map[string]int{}}
	return nil
}

// Listening tells whether a broker has its port.
func (s *Server) Listening(broker int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listeners[broker] != nil
}

// Open begins to accept a broker's connections. One that is open, or does not listen, stays as it is.
func (s *Server) Open(broker int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.listeners[broker]
	if l == nil || l.open || s.closed {
		return
	}
	l.open = true
	s.running.Go(func() { s.accept(l) })
}

// Drop closes a broker's port and connections. It does not wait for them.
func (s *Server) Drop(broker int32) {
	s.mu.Lock()
	l := s.listeners[broker]
	delete(s.listeners, broker)
	s.mu.Unlock()
	if l != nil {
		s.shut(l)
	}
}

func (s *Server) shut(l *listener) {
	l.socket.Close()
	s.mu.Lock()
	ending := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		ending = append(ending, c)
	}
	s.mu.Unlock()
	for _, c := range ending {
		c.end(errDropped)
	}
}

// Close closes everything and waits until all goroutines of the server are gone.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	all := s.listeners
	s.listeners = map[int32]*listener{}
	s.mu.Unlock()
	for _, l := range all {
		s.shut(l)
	}
	s.running.Wait()
}

// Connections is how many are open now, over all brokers.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.listeners {
		n += len(l.conns)
	}
	return n
}

func (s *Server) accept(l *listener) {
	for wait := 5 * time.Millisecond; ; {
		nc, err := l.socket.Accept()
		if err == nil {
			wait = 5 * time.Millisecond
			s.admit(l, nc)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) && !errors.Is(err, syscall.ECONNABORTED) {
			s.log.Error(fmt.Sprintf("broker %d: accepting connections: %v", l.broker, err), "broker", l.broker)
		} else {
			s.refused(l.broker, l.socket.Addr(), fmt.Sprintf("accepting connections: %v", err))
		}
		time.Sleep(wait)
		wait = min(2*wait, time.Second)
	}
}

func (s *Server) admit(l *listener, nc net.Conn) {
	c := newConn(s, l.broker, nc, s.lastID.Add(1))
	s.mu.Lock()
	refused, most := "", s.boundsOf(l.broker)
	switch {
	case s.listeners[l.broker] != l:
		refused = "the broker went away"
	case len(l.conns) >= most.all:
		refused = fmt.Sprintf("there are %d connections already (max.connections)", len(l.conns))
	case l.peers[c.host] >= most.perIP:
		refused = fmt.Sprintf("this address has %d connections already (max.connections.per.ip)", l.peers[c.host])
	default:
		l.conns[c] = struct{}{}
		l.peers[c.host]++
	}
	s.mu.Unlock()
	if refused != "" {
		c.end(refusal(refused))
		return
	}
	s.running.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(l.conns, c)
		if l.peers[c.host]--; l.peers[c.host] == 0 {
			delete(l.peers, c.host)
		}
		s.mu.Unlock()
	})
}

// Saw follows the event stream: it tells which ids are members. It runs on the loop's goroutine.
func (s *Server) Saw(events []event.Event) {
	for i := range events {
		s.members.saw(&events[i])
		if b, ok := events[i].Body.(event.BrokerStopped); ok {
			s.sessions.stopped(b.ID)
		}
	}
}

// MoreToRead tells that a partition's high watermark rose or its leader changed: fetches that wait for it look again. It
// runs on the loop's goroutine.
func (s *Server) MoreToRead(topic string, partition int32) { s.fetches.touched(s, topic, partition) }

// TopicGone tells that a topic was deleted: fetches that wait for it are answered. It runs on the loop's goroutine.
func (s *Server) TopicGone(topic string) { s.fetches.gone(s, topic) }
