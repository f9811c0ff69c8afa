package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"grouplab/server/live"
	"grouplab/server/observe"
	"grouplab/server/web"
)

// Attach says which cluster of somebody else's is shown, in the place of brokers of our own.
type Attach struct {
	// Access is where the cluster is and how one shows who one is.
	Access observe.Access
	// ReadBytes is how much of __consumer_offsets is read from its beginning at most, 0 for the usual.
	ReadBytes int64
	// Logs are files of its brokers' logs.
	Logs []string
}

// ParseAttach reads where a cluster is, HOST:PORT,…, and how one connects, a .properties file; one of them may be "".
func ParseAttach(seeds, config string) (to *Attach, err error) {
	to = &Attach{}
	if config != "" {
		if to.Access, err = observe.ReadAccess(config); err != nil {
			return nil, err
		}
	}
	if seeds != "" {
		to.Access.Seeds, err = observe.ParseSeeds("-attach", seeds)
	} else if len(to.Access.Seeds) == 0 {
		err = fmt.Errorf("-attach-config %s: bootstrap.servers is missing; or say -attach HOST:PORT, too", config)
	}
	return to, err
}

// newAttached is New for a server that starts no broker.
func newAttached(cfg Config) (s *Server, err error) {
	s = &Server{cfg: cfg, done: make(chan struct{})}
	if s.tls, err = openCertificates(cfg); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if s.http, err = parseAddress("-http", cfg.HTTP); err == nil {
		err = s.http.check(cfg.Remote)
	}
	if err != nil {
		return nil, usage{err}
	}
	for _, key := range cfg.Attach.Access.PassedOver {
		cfg.Log.Debug("-attach-config: " + key + " says nothing about how one connects and is passed over")
	}
	s.observer, err = observe.New(observe.Config{Access: cfg.Attach.Access, ReadBytes: cfg.Attach.ReadBytes, Logs: cfg.Attach.Logs,
		Publish: s.publish, Looked: func() []string { return s.hub.Followed() }, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	if s.page, err = s.http.listen("the lab's page"); err != nil {
		return nil, err
	}
	s.http = s.http.at(s.page)
	s.starting.Store(newProgress(cfg.Log))
	s.openPage()
	if err := s.record(s.wirePages(nil)); err != nil {
		s.closePage()
		return nil, err
	}
	return s, nil
}

// observed is what the pages of a cluster that is only observed are told.
func (s *Server) observed() (live.Config, web.Config) {
	return live.Config{Facts: s.observedFacts, NowMs: s.observer.NowMs},
		web.Config{Observes: true, Health: s.observedHealth, Hosts: []string{s.http.host}, Logf: s.cfg.Logf}
}

func (s *Server) observedFacts(ctx context.Context) (live.Snapshot, error) {
	facts, err := s.observer.Facts(ctx)
	return live.Snapshot(facts), err
}

// observedHealth is whether the observer answers. That the cluster does not is told on the page: this program is well.
func (s *Server) observedHealth(ctx context.Context) error {
	_, _, _, err := s.observer.Progress(ctx)
	return err
}

// observe shows the cluster until the server stops.
func (s *Server) observe() error {
	observing, stop := context.WithCancel(context.Background())
	var ends sync.WaitGroup
	ends.Go(func() { s.observer.Run(observing) })
	err := s.servePages()
	stop()
	ends.Wait()
	return err
}

// checkAttach names flags that contradict each other.
func (cfg Config) checkAttach() error {
	if cfg.HTTP == "" {
		return fmt.Errorf("-http \"\": who attaches wants to look; give the page an address")
	}
	var given []string
	for name, is := range map[string]bool{"-topics": len(cfg.Topics) > 0, "-set": len(cfg.Set) > 0, "-data": cfg.Data != "", "-demo": cfg.Demo != 0,
		"-users": len(cfg.Users) > 0, "-advertise": cfg.Advertise != "", "-tls-client-ca": cfg.TLSClientCA != ""} {
		if is {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	if len(given) > 0 {
		return fmt.Errorf("-attach starts no broker, and %s is about brokers of our own; leave one of them out", strings.Join(given, ", "))
	}
	return nil
}

// AttachedTo are the addresses of the cluster that is observed, "" where brokers of our own run.
func (s *Server) AttachedTo() string {
	if s.observer == nil {
		return ""
	}
	return s.cfg.Attach.Access.String()
}
