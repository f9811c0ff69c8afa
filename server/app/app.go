// Package app wires the server in reading order: addresses and settings, machine, loop, Kafka listeners, live hub, pages,
// demo. The program and the end-to-end tests run the same Server, the tests on port 0.
package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/server/demo"
	"grouplab/server/kafka"
	"grouplab/server/live"
	"grouplab/server/loop"
	"grouplab/server/store"
	"grouplab/server/web"
)

const maxBrokers = 16

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
	// Users may connect to the brokers, with SASL PLAIN or SCRAM, and then do everything. Without any nobody is asked.
	Users []User
	// Demo is how many demo consumers start with the server, 0 none.
	Demo int
	// Remote allows addresses that other machines can reach. Without it such an address is an error.
	Remote bool
	// Logf gets one line for each thing an operator should know; nil means nowhere.
	Logf func(format string, args ...any)
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
	web     *web.Server
	demo    *demo.Demo
	page    net.Listener
	data    *data

	stop  context.CancelFunc
	ctx   context.Context
	start sync.Once
	done  chan struct{}
}

// New checks the configuration and takes the ports, so that a wrong flag or a taken port is an error here, one that
// names the flag and says what would be right. Nothing is served before Run; whoever does not call Run calls Close.
func New(cfg Config) (*Server, error) {
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	set := defaultSettings()
	if err := errors.Join(cfg.check(), set.apply(cfg.Set), set.check(cfg.Brokers)); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, token: web.NewToken(), done: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(context.Background())
	sockets, err := s.takePorts()
	if err != nil {
		return nil, err
	}
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

// takePorts listens for the lab's page and for every broker.
func (s *Server) takePorts() (sockets []net.Listener, err error) {
	first, err := parseAddress("-kafka", s.cfg.Kafka)
	if err == nil {
		err = first.check(s.cfg.Remote)
	}
	if err == nil && s.cfg.HTTP != "" {
		if s.http, err = parseAddress("-http", s.cfg.HTTP); err == nil {
			err = s.http.check(s.cfg.Remote)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.readAdvertised(); err != nil {
		return nil, err
	}
	if first.wildcard() && s.cfg.Advertise == "" {
		return nil, fmt.Errorf("-kafka %s: clients are told this address, and nobody can connect to %q; name the host or address that they use, or add -advertise HOST:0", first, first.host)
	}
	if last := first.port + int(s.cfg.Brokers) - 1; last > 65535 {
		return nil, fmt.Errorf("-kafka %s: broker %d would listen on port %d; choose at most %d", first, s.cfg.Brokers, last, 65536-s.cfg.Brokers)
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

func (s *Server) closePage() {
	if s.page != nil {
		s.page.Close()
	}
}

// wire builds everything, from the machine outwards.
func (s *Server) wire(set settings, sockets []net.Listener) (err error) {
	var users kafka.Users
	for _, u := range s.cfg.Users {
		if err := users.Add(u.Name, u.Password); err != nil {
			return fmt.Errorf("-users: %q: %w", u.Name, err)
		}
	}
	clock, numbers := loop.NewClock(), &event.Numbers{}
	set.cluster.Brokers, set.cluster.Numbers = s.cfg.Brokers, numbers
	set.cluster.HostPort = func(id int32) (string, int32) { return s.told[id-1].host, int32(s.told[id-1].port) }
	set.cluster.Decompress = decompress
	set.cluster.Quiet = s.page == nil // nobody could see the events of single batches
	if s.cfg.Data != "" {
		if s.data, err = openData(s.cfg); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
		set.cluster.Disk = s.data.disk
	}
	machine := drive.New(clock.NowMs(), drive.Config{Cluster: set.cluster, Settings: set.group, MemberID: memberID,
		Transactions: set.transactions, Numbers: numbers, DeliverAtOnce: true, LoadChunkBytes: set.loadChunkBytes, Decompress: decompress})
	if s.data != nil {
		if err := s.data.restore(clock.NowMs(), machine); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
	}
	for _, t := range s.cfg.Topics {
		if have := machine.Cluster().Partitions(t.Name); s.data != nil && have > 0 {
			if have != t.Partitions {
				s.cfg.Logf("-topics %s=%d: the topic is there already, with %d partitions, and stays as it is", t.Name, t.Partitions, have)
			}
			continue
		}
		if code, message := machine.CreateTopic(clock.NowMs(), t.Name, t.Partitions, -1, nil); code != 0 {
			return fmt.Errorf("-topics %s=%d: %s", t.Name, t.Partitions, message)
		}
	}
	s.backend = &backend{drive: machine, produced: map[int64]func(int64, kafka.Appended){}, started: func(id int32) { s.brokers.Open(id) }}
	s.backend.live = newLive(set, s.cfg.Set, machine.Cluster().Config())
	s.backend.look()
	looped := loop.Config{Clock: clock, Drive: machine, Numbers: numbers, Taken: s.backend.taken}
	if s.data != nil && s.cfg.Flush == store.Always {
		looped.BeforeAnswers = s.beforeAnswers
	}
	if s.page != nil {
		looped.Sink = s.publish
	}
	s.loop = loop.New(looped)
	s.brokers = kafka.New(kafka.Config{Loop: s.loop, Cluster: s.backend, Settings: set.kafka, CheckBatch: checkBatch, Users: users, Logf: s.cfg.Logf})
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
	s.demo = demo.New(demo.Config{Seeds: s.KafkaAddrs(), SessionTimeout: demoSession(set.group.GroupMinSessionTimeoutMs, set.group.GroupMaxSessionTimeoutMs), Client: s.cfg.asUser(), Logf: s.cfg.Logf})
	if s.page == nil {
		return nil
	}
	s.hub = live.New(live.Config{Facts: s.facts, NowMs: s.loop.NowMs})
	s.web, err = web.New(web.Config{Hub: s.hub, Control: control{s}, Figures: s.figures, Health: s.health, Token: s.token, Kafka: s.KafkaAddrs(), Hosts: []string{s.http.host}, Logf: s.cfg.Logf})
	return err
}

// asUser is how the demo's clients say who they are: as the first user.
func (cfg Config) asUser() []kgo.Opt {
	if len(cfg.Users) == 0 {
		return nil
	}
	return []kgo.Opt{kgo.SASL(scram.Auth{User: cfg.Users[0].Name, Pass: cfg.Users[0].Password}.AsSha256Mechanism())}
}

// demoSession is ten seconds, or the nearest that the brokers allow.
func demoSession(minMs, maxMs int32) time.Duration {
	return time.Duration(min(max(10_000, minMs), maxMs)) * time.Millisecond
}

// publish gives the events of one turn of the loop to whoever looks.
func (s *Server) publish(events []event.Event) {
	s.web.Observe(events)
	s.hub.Publish(events)
}

// health is whether the loop answers.
func (s *Server) health(ctx context.Context) error {
	return s.loop.Do(ctx, func(int64, *drive.Drive) {})
}

// facts asks the loop for everything that a fold needs to begin with.
func (s *Server) facts(ctx context.Context) (snapshot live.Snapshot, err error) {
	err = s.loop.Do(ctx, func(nowMs int64, d *drive.Drive) {
		facts := d.Facts(nowMs)
		last := facts[len(facts)-1] // FactsEnded
		facts = append(facts[:len(facts)-1], s.brokers.Facts(last.Seq)...)
		snapshot = live.Snapshot{Seq: last.Seq, NowMs: nowMs, Events: append(facts, last)}
	})
	return snapshot, err
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
	}
	// From the outside inwards, so that nobody waits for what is gone already.
	s.demo.Close()
	s.brokers.Close()
	stopLoop()
	loopEnds.Wait()
	return errors.Join(err, s.data.close(s.loop))
}

// servePages serves HTTP, where it is wanted, until the server stops.
func (s *Server) servePages() error {
	if s.page == nil {
		<-s.ctx.Done()
		return nil
	}
	site := web.HTTPServer(s.web)
	failed := make(chan error, 1)
	go func() { failed <- site.Serve(s.page) }()
	select {
	case err := <-failed:
		s.hub.Close()
		return fmt.Errorf("-http %s: %w", s.http, err)
	case <-s.ctx.Done():
	}
	s.hub.Close()
	site.Close()
	<-failed
	return nil
}

// Close ends Run, drops all connections and waits until every goroutine of the server is gone.
func (s *Server) Close() error {
	s.stop()
	s.start.Do(func() {
		defer close(s.done)
		s.closePage()
		s.brokers.Close()
		if s.hub != nil {
			s.hub.Close()
		}
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

// HTTPAddr is the lab's address, HOST:PORT; "" where there are no pages.
func (s *Server) HTTPAddr() string {
	if s.page == nil {
		return ""
	}
	return s.http.String()
}

// Token allows what changes something over HTTP. Pages carry it; scripts are given it at start.
func (s *Server) Token() string { return s.token }

// Exposed lists the addresses that other machines can reach.
func (s *Server) Exposed() []string {
	var list []string
	for _, a := range append([]address{s.http}, s.kafka...) {
		if !a.loopback() && (a != address{}) {
			list = append(list, a.String())
		}
	}
	return list
}

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
