// Package app wires the server in reading order: addresses and settings, machine, loop, Kafka listeners, live hub, pages,
// demo. The program and the end-to-end tests run the same Server, the tests on port 0.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/server/demo"
	"grouplab/server/history"
	"grouplab/server/kafka"
	"grouplab/server/live"
	"grouplab/server/loop"
	"grouplab/server/observe"
	"grouplab/server/record"
	"grouplab/server/store"
	"grouplab/server/web"
)

const maxBrokers = 16

// loadPiece is how much a coordinator reads of its log before others have their turn, once the server serves: some ten
// thousand offsets.
const loadPiece = 1 << 20

// Topic is a topic that exists from the start.
type Topic struct {
	Name       string
	Partitions int32
}

// User is somebody who may connect to the brokers.
type User struct{ Name, Password string }

// Config is what the flags say.
type Config struct {
	// HTTP is the lab's address, HOST:PORT; port 0 takes a free one. "" runs the brokers without pages.
	HTTP string
	// Kafka is broker 1's address; broker i listens on the port i-1 higher. Port 0 gives each broker a free port.
	Kafka string
	// Advertise is the address of broker 1 that clients are told, HOST:PORT; broker i is told with the port i-1 higher. Port 0
	// stands for the port that the broker listens on, "" for the address that it listens on.
	Advertise string
	// Brokers is how many brokers run in this process, with ids 1 to Brokers; 1 to 16.
	Brokers int32
	// Topics are created before the first connection is accepted.
	Topics []Topic
	// Set holds NAME=VALUE pairs with Kafka's configuration names, in the order given.
	Set []string
	// Data is the folder that keeps everything over restarts; "" keeps it in memory. Flush says when records reach the disk
	// itself; "" is never, see package store.
	Data  string
	Flush store.Flush
	// Record keeps what happens, to go back to it.
	Record Record
	// Users may connect to the brokers, with SASL PLAIN or SCRAM, and then do everything. Without any nobody is asked.
	Users []User
	// Demo is how many demo consumers start with the server, 0 none.
	Demo int
	// Attach shows somebody else's cluster; no broker is started then.
	Attach *Attach
	// Alert tells somebody of groups that do not serve.
	Alert Alert
	// Feedback is the start of the link that takes feedback, as ParseFeedback makes it.
	Feedback string
	// MetricsGroups are patterns of names of groups that have metrics of their own.
	MetricsGroups []string
	// Remote allows addresses that other machines can reach. Without it such an address is an error.
	Remote bool
	// TLSCert and TLSKey are files in PEM; with them the brokers speak TLS. TLSClientCA, if it is set, is the authority that
	// signed the certificates which clients then have to show. HTTPTLS encrypts the page, too.
	TLSCert, TLSKey, TLSClientCA string
	HTTPTLS                      bool
	// Log gets a line for each noteworthy fact. Logf, where there is no Log, gets the same lines without their attributes.
	// Without both there are none.
	Log  *slog.Logger
	Logf func(format string, args ...any)

	// floodRate is the hub's FloodRate, 0 for its default: tests have a small flood.
	floodRate int
}

// Server is one running lab: brokers, pages and demo clients.
type Server struct {
	cfg   Config
	http  address
	kafka []address // by broker, 1 first
	told  []address // what clients are told of them
	token string

	loop    *loop.Loop
	backend *backend
	brokers *kafka.Server
	hub     *live.Hub
	history *history.History // of the hub, which gives it out
	alerts  *alerts          // nil: nobody is told
	numbers *event.Numbers   // the loop's
	// hushed and hushTimer are the loop's, too.
	hushed    bool
	hushTimer int64
	web       *web.Server
	// recorder keeps what the hub tells, nil where nothing is kept.
	recorder *record.Recorder
	demo     *demo.Demo
	page     net.Listener
	front    *web.Front
	// starting is how far the start is, nil where it has not begun.
	starting atomic.Pointer[progress]
	site     *http.Server
	served   chan error // what site.Serve ended with
	data     *data
	tls      *certificates
	// observer is there where the cluster is somebody else's; loop, backend, brokers, demo and data are not there then.
	observer *observe.Observer

	stop  context.CancelFunc
	ctx   context.Context
	start sync.Once
	done  chan struct{}
}

// New checks the configuration and takes the ports, so that a wrong flag or a taken port is an error here, one that
// names the flag and says what would be right. Nothing is served before Run; whoever does not call Run calls Close.
func New(cfg Config) (*Server, error) {
	cfg.logs()
	if err := cfg.checkTold(); err != nil {
		return nil, usage{err}
	}
	if cfg.Attach != nil {
		if err := cfg.checkAttach(); err != nil {
			return nil, usage{err}
		}
		return newAttached(cfg)
	}
	set := defaultSettings()
	if err := errors.Join(cfg.check(), set.apply(cfg.Set), set.check(cfg.Brokers)); err != nil {
		return nil, usage{err}
	}
	s := &Server{cfg: cfg, token: web.NewToken(), done: make(chan struct{})}
	var err error
	if s.tls, err = openCertificates(cfg); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	sockets, err := s.takePorts()
	if err != nil {
		return nil, err
	}
	s.openPage()
	if err := s.wire(set, sockets); err != nil {
		s.closePage()
		s.data.close(nil)
		for _, socket := range sockets {
			socket.Close()
		}
		return nil, err
	}
	return s, nil
}

func (cfg Config) check() error {
	if cfg.Brokers < 1 || cfg.Brokers > maxBrokers {
		return fmt.Errorf("-brokers %d: it takes 1 to %d", cfg.Brokers, maxBrokers)
	}
	if cfg.Demo < 0 || cfg.Demo > demo.Most {
		return fmt.Errorf("-demo %d: it takes 0 to %d consumers", cfg.Demo, demo.Most)
	}
	return nil
}

// readAddresses checks what the flags say of addresses. first is broker 1's.
func (s *Server) readAddresses() (first address, err error) {
	if first, err = parseAddress("-kafka", s.cfg.Kafka); err == nil {
		err = first.check(s.cfg.Remote)
	}
	if err == nil && s.cfg.HTTP != "" {
		if s.http, err = parseAddress("-http", s.cfg.HTTP); err == nil {
			err = s.http.check(s.cfg.Remote)
		}
	}
	if err == nil {
		err = s.readAdvertised()
	}
	last := first.port + int(s.cfg.Brokers) - 1
	switch {
	case err != nil:
		return first, err
	case first.wildcard() && s.cfg.Advertise == "":
		return first, fmt.Errorf("-kafka %s: clients are told this address, and nobody can connect to %q; name the host or address that they use, or add -advertise HOST:0", first, first.host)
	case last > 65535:
		return first, fmt.Errorf("-kafka %s: broker %d would listen on port %d; choose at most %d", first, s.cfg.Brokers, last, 65536-s.cfg.Brokers)
	}
	return first, nil
}

// takePorts listens for the lab's page and for every broker.
func (s *Server) takePorts() (sockets []net.Listener, err error) {
	first, err := s.readAddresses()
	if err != nil {
		return nil, usage{err}
	}
	defer func() {
		if err != nil {
			for _, socket := range sockets {
				socket.Close()
			}
		}
	}()
	for i := range int(s.cfg.Brokers) {
		at := first.plus(i)
		socket, err := at.listen(fmt.Sprintf("broker %d", i+1))
		if err != nil {
			return sockets, err
		}
		sockets = append(sockets, socket)
		s.kafka = append(s.kafka, at.at(socket))
		s.told = append(s.told, s.advertised(i))
	}
	if s.cfg.HTTP == "" {
		return sockets, nil
	}
	if s.page, err = s.http.listen("the lab's page"); err != nil {
		return sockets, err
	}
	s.http = s.http.at(s.page)
	return sockets, nil
}

// wire builds everything, from the machine outwards.
func (s *Server) wire(set settings, sockets []net.Listener) (err error) {
	s.cfg.logs()
	starting := newProgress(s.cfg.Log)
	s.starting.Store(starting)
	users, err := s.users()
	if err != nil {
		return err
	}
	clock, numbers := loop.NewClock(), &event.Numbers{}
	s.numbers = numbers
	set.cluster.Brokers, set.cluster.Numbers = s.cfg.Brokers, numbers
	set.cluster.HostPort = func(id int32) (string, int32) { return s.told[id-1].host, int32(s.told[id-1].port) }
	set.cluster.Decompress = decompress
	set.cluster.Quiet = s.page == nil // nobody could see the events of single batches
	loading := &loads{log: s.cfg.Log}
	if s.cfg.Data != "" {
		loading.progress = starting
		if s.data, err = openData(s.cfg); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
		loading.disk = s.countDisk(starting)
		set.cluster.Disk = loading.disk
	}
	machine := drive.New(clock.NowMs(), drive.Config{Cluster: set.cluster, Settings: set.group, MemberID: memberID,
		Transactions: set.transactions, Numbers: numbers, DeliverAtOnce: true, LoadChunkBytes: set.loadChunkBytes, Decompress: decompress, Loading: loading.loading})
	if s.data != nil {
		if err := s.data.restore(clock.NowMs(), machine); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
		s.tellRestored(loading.disk, starting)
	}
	loading.progress = nil
	machine.PaceLoads(loadPiece)
	if err := s.createTopics(clock.NowMs(), machine); err != nil {
		return err
	}
	s.backend = &backend{drive: machine, produced: map[int64]func(int64, kafka.Appended){}, started: func(id int32) { s.brokers.Open(id) }}
	s.backend.live = newLive(set, s.cfg.Set, machine.Cluster().Config())
	s.backend.flush = s.cfg.Flush
	s.backend.live.protocol, s.backend.narrator.log = s.Protocol(), s.cfg.Log
	s.backend.look()
	looped := loop.Config{Clock: clock, Drive: machine, Numbers: numbers, Taken: s.backend.taken}
	if s.data != nil {
		looped.TurnBegins, looped.TurnEnds = s.data.kept, s.data.flush
	}
	if s.page != nil {
		looped.Sink = s.publish
	}
	s.loop = loop.New(looped)
	s.brokers = kafka.New(kafka.Config{Loop: s.loop, Cluster: s.backend, Settings: set.kafka, CheckBatch: checkBatch, Users: users, TLS: s.listenerTLS(), Log: s.cfg.Log})
	s.backend.loop, s.backend.kafka = s.loop, s.brokers
	if s.data != nil {
		err := s.backend.remember(clock.NowMs(), s.data)
		if err == nil {
			err = s.data.start(s.loop)
		}
		if err != nil {
			return fmt.Errorf("-data: %w", err)
		}
	}
	for i, socket := range sockets {
		if err := s.brokers.Listen(int32(i+1), socket); err != nil {
			return err
		}
	}
	s.demo = demo.New(demo.Config{Seeds: s.KafkaAddrs(), SessionTimeout: demoSession(set.group.GroupMinSessionTimeoutMs, set.group.GroupMaxSessionTimeoutMs), TLS: s.clientTLS(), Client: s.asClient(), Logf: s.cfg.Logf})
	return s.record(s.wirePages(loading))
}

// wirePages makes what shows the cluster, where it is wanted.
func (s *Server) wirePages(loading *loads) (err error) {
	if s.page == nil {
		return nil
	}
	if s.observer != nil {
		hub, pages := s.observed()
		s.hub = live.New(s.overview(hub))
		pages.Hub = s.hub
		s.web, err = web.New(s.remembering(pages))
		return err
	}
	s.hub = live.New(s.overview(live.Config{Facts: s.facts, NowMs: s.loop.NowMs, FloodRate: s.cfg.floodRate}))
	s.web, err = web.New(s.remembering(web.Config{Hub: s.hub, Control: control{s}, Figures: s.figures, Health: s.health, Token: s.token, Kafka: s.KafkaAddrs(), Hosts: []string{s.http.host}, Logf: s.cfg.Logf}))
	if err == nil {
		loading.show(s.web)
	}
	return err
}

// users are who may connect.
func (s *Server) users() (users kafka.Users, err error) {
	for _, u := range s.cfg.Users {
		if err := users.Add(u.Name, u.Password); err != nil {
			return users, usagef("-users: %q: %w", u.Name, err)
		}
	}
	return users, nil
}

// createTopics makes the topics that are to exist from the start, and are not there already.
func (s *Server) createTopics(nowMs int64, machine *drive.Drive) error {
	for _, t := range s.cfg.Topics {
		if have := machine.Cluster().Partitions(t.Name); s.data != nil && have > 0 {
			if have != t.Partitions {
				s.cfg.Logf("-topics %s=%d: the topic is there already, with %d partitions, and stays as it is", t.Name, t.Partitions, have)
			}
			continue
		}
		if code, message := machine.CreateTopic(nowMs, t.Name, t.Partitions, -1, nil); code != 0 {
			return usagef("-topics %s=%d: %s", t.Name, t.Partitions, message)
		}
	}
	return nil
}

// asClient is how the demo's clients say who they are: as the first user.
func (s *Server) asClient() (options []kgo.Opt) {
	if users := s.cfg.Users; len(users) > 0 {
		options = append(options, kgo.SASL(scram.Auth{User: users[0].Name, Pass: users[0].Password}.AsSha256Mechanism()))
	}
	return options
}

// demoSession is ten seconds, or the nearest that the brokers allow.
func demoSession(minMs, maxMs int32) time.Duration {
	return time.Duration(min(max(10_000, minMs), maxMs)) * time.Millisecond
}

// publish gives the events of one turn of the loop to whoever looks.
func (s *Server) publish(events []event.Event) {
	s.web.Observe(events)
	s.hub.Publish(events)
	s.hush(s.hub.Spares(events[len(events)-1].AtMs))
}

// hush leaves out the events of single batches, or has them told again, from the next one on. While it leaves them out there may be
// nothing to publish, so it looks now and then whether the flood is over. It is called by the loop.
func (s *Server) hush(on bool) {
	if on == s.hushed {
		return
	}
	s.hushed = on
	s.loop.Drive().SetQuiet(on)
	s.hub.Hush(on, s.numbers.Last())
	if s.loop.Cancel(s.hushTimer); on {
		s.lookAgain()
	}
}

func (s *Server) lookAgain() {
	s.hushTimer = s.loop.At(s.loop.NowMs()+1000, func(nowMs int64) {
		if s.hush(s.hub.Spares(nowMs)); s.hushed {
			s.lookAgain()
		}
	})
}

// health is whether the loop answers.
func (s *Server) health(ctx context.Context) error {
	return s.loop.Do(ctx, func(int64, *drive.Drive) {})
}

// facts asks the loop for everything that a fold needs to begin with.
func (s *Server) facts(ctx context.Context) (snapshot live.Snapshot, err error) {
	var many error
	err = s.loop.Do(ctx, func(nowMs int64, d *drive.Drive) {
		if many = fewEnough(d); many != nil {
			return
		}
		facts := d.Facts(nowMs)
		last := facts[len(facts)-1] // FactsEnded
		facts = append(facts[:len(facts)-1], s.brokers.Facts(last.Seq)...)
		snapshot = live.Snapshot{Seq: last.Seq, NowMs: nowMs, Events: append(facts, last)}
	})
	if err != nil { // what it was to find may still be written to
		return live.Snapshot{}, err
	}
	return snapshot, many
}

// Run serves until ctx ends or Close is called, then gives everything back. It returns nil after such an end.
func (s *Server) Run(ctx context.Context) (err error) {
	err = errors.New("app: a Server runs once")
	s.start.Do(func() { err = s.run(ctx) })
	return err
}

func (s *Server) run(ctx context.Context) error {
	defer close(s.done)
	stopWatching := context.AfterFunc(ctx, s.stop)
	defer stopWatching()
	defer s.stop()
	defer s.recording()()
	if s.observer != nil {
		return s.observe()
	}

	looping, stopLoop := context.WithCancel(context.Background())
	var loopEnds sync.WaitGroup
	loopEnds.Go(func() { s.loop.Run(looping) })
	for id := range s.cfg.Brokers {
		s.brokers.Open(id + 1)
	}
	var err error
	if s.cfg.Demo > 0 {
		_, err = s.demo.Start(s.cfg.Demo)
	}
	if err == nil {
		err = s.servePages()
	} else {
		s.closePage()
	}
	// From the outside inwards, so that nobody waits for what is gone already.
	s.demo.Close()
	s.brokers.Close()
	stopLoop()
	loopEnds.Wait()
	return errors.Join(err, s.data.close(s.loop))
}

// Close ends Run, drops all connections and waits until every goroutine of the server is gone.
func (s *Server) Close() error {
	s.stop()
	s.start.Do(func() {
		defer close(s.done)
		s.closePage()
		if s.observer != nil {
			s.observer.Close()
		} else {
			s.brokers.Close()
		}
		if s.hub != nil {
			s.hub.Close()
		}
		s.endRecording()
		s.data.close(nil)
	})
	<-s.done
	return nil
}

// KafkaAddrs are the brokers' addresses by id: broker 1 first.
func (s *Server) KafkaAddrs() []string {
	list := make([]string, len(s.kafka))
	for i, a := range s.kafka {
		list[i] = a.String()
	}
	return list
}

// Token allows what changes something over HTTP. Pages carry it; scripts are given it at start.
func (s *Server) Token() string { return s.token }

// clusterError is a Kafka error code and its message as a Go error for an operator.
func clusterError(what string, code int16, message string) error {
	switch code {
	case 0:
		return nil
	case 3:
		return fmt.Errorf("%s: %w: %s", what, web.ErrUnknown, message)
	}
	return fmt.Errorf("%s: %s", what, message)
}
