// Package web serves the lab over HTTP: pages, assets, the JSON of a running cluster and the few things that a page may
// do to it. Everything a browser gets runs under a strict policy (no inline script or style, no foreign origin), and
// whatever changes something needs the token that the page carries.
//
//	GET  /                            contents: lessons, the running cluster, the gallery
//	GET  /lab/ID                      a lesson; browsers are led to /lab/ID/, where links are as on a static site
//	GET  /lab/ID/steps.LANG.json      the pictures of its beginning, for a page whose program is not there yet
//	GET  /glossary                    the glossary, each entry with a moment that shows it
//	GET  /search.LANG.json            what the contents page searches
//	GET  /paste                       lines of somebody's log become a picture, in the browser
//	GET  /sandbox                     free play: any cluster, a console, the timeout explorer
//	GET  /live                        the running cluster
//	GET  /recordings                  what was recorded, from the server's folder or a file: it needs no server
//	GET  /gallery, /gallery/NAME      every picture in its named states
//	GET  /assets/…, /dist/…, /sw.js   what pages load
//	GET  /api/state?group=G           the cluster now, or one group of it, JSON; ?limit=N and ?after=G page through many groups
//	GET  /api/events?from=SEQ         the last 100 000 events, JSON lines
//	GET  /api/live                    the websocket (package live says what it speaks); ?overview=1 lists thousands of groups
//	GET  /api/probe?group=G&member=M  what each request would get now
//	GET  /api/demo                    the demo clients
//	GET  /api/recordings              what is kept: from, to, groups, sizes
//	GET  /api/recordings/cut?from=MS&to=MS  a piece of it as a file; &group=G, &mask=1, &topics=1
//	GET  /metrics, /healthz
//	GET  /grafana.json                a dashboard of the metrics, to be imported into Grafana
//	POST /api/brokers/ID/kill, /api/brokers/ID/restart
//	POST /api/topics/NAME/partitions  {"total":8}
//	POST /api/partitions/move         {"topic":"orders","partition":0,"to":2}
//	POST /api/demo                    {"start":2}, {"kill":"demo-1"} or {"stop":"demo-1"}
//
// Whatever goes wrong under /api is answered with {"error":"…","hint":"…"}: what was wrong, and what would be right.
package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"grouplab/coordinator/event"
	"grouplab/server/history"
	"grouplab/server/live"
	"grouplab/server/web/pages"
	"grouplab/static"
	"grouplab/static/view"
)

// Control is what a page may do to the cluster and ask of it. Its methods may be called from any goroutine. Errors are
// written to the caller as they are, so they say what was wrong and what would be right; wrap ErrUnknown where the id
// or name does not exist.
type Control interface {
	// KillBroker ends a broker without a word; RestartBroker starts it again. A broker that is down, or up, already is
	// an error.
	KillBroker(id int32) error
	RestartBroker(id int32) error
	// AddPartitions gives a topic more partitions, up to total.
	AddPartitions(topic string, total int32) error
	// MoveLeader makes another in-sync replica the leader of a partition.
	MoveLeader(topic string, partition, to int32) error
	// StartDemo starts n demo consumers, and the producer with the first, and returns their names.
	StartDemo(n int) ([]string, error)
	// KillDemo ends a demo consumer without LeaveGroup; StopDemo lets it leave.
	KillDemo(name string) error
	StopDemo(name string) error
	// Demo lists the demo clients.
	Demo() []DemoClient
	// Probe answers what each request of a member would get now, on a copy of the group: the member as it is known to
	// the group, or "" for one that has no id yet.
	Probe(ctx context.Context, group, member string) ([]Probed, error)
}

// ErrUnknown is wrapped by Control's errors about something that does not exist; the page's answer is then 404.
var ErrUnknown = errors.New("unknown")

// DemoClient is one demo client.
type DemoClient struct {
	Name    string `json:"name"`
	Running bool   `json:"running"`
	// Killed is set where it went without LeaveGroup.
	Killed bool `json:"killed,omitempty"`
}

// Probed is what one request would get now.
type Probed struct {
	// API is the request's key: 11 JoinGroup, 14 SyncGroup, 12 Heartbeat, 13 LeaveGroup, 8 OffsetCommit, 9 OffsetFetch.
	API int16 `json:"api"`
	// Parked is set where the answer would be held back; Until says in words until when.
	Parked bool   `json:"parked,omitempty"`
	Until  string `json:"until,omitempty"`
	// Code is the error code of an answer given at once; Guard names the check that decides.
	Code  int16  `json:"code"`
	Guard string `json:"guard,omitempty"`
}

// Figures are what the host counts itself. They are read at each scrape of /metrics, from any goroutine.
type Figures struct {
	// Connections are the clients' connections at the moment; ConnectionsTotal those since the start.
	Connections, ConnectionsTotal int64
	// Requests since the start.
	Requests []Requests
	// BytesIn and BytesOut over Kafka connections since the start.
	BytesIn, BytesOut int64
	// LoopLagMs is how late the loop woke up for its last deadline; LoopQueue how many requests wait for it.
	LoopLagMs float64
	LoopQueue int64
	// Purgatories are those of the brokers that run.
	Purgatories []Purgatory
}

// Purgatory is how large one purgatory of a broker is (Kafka: PurgatorySize, NumDelayedOperations).
type Purgatory struct {
	Broker        int32
	Name          string
	Size, Delayed int
}

// Requests counts requests of one API that were answered with one code.
type Requests struct {
	API, Code int16
	Count     int64
}

// Alerts counts messages about groups that do not serve.
type Alerts struct {
	// Sent were taken by the receiver, Failed given up; Retried counts tries after the first, Queued those that wait.
	Sent, Failed, Retried, Queued int64
}

// Config is what the pages need to know.
type Config struct {
	// Hub shows the running cluster and must be set.
	Hub *live.Hub
	// Control acts on it and must be set, unless Observes is.
	Control Control
	// Observes is set where the cluster is somebody else's: pages carry no token, and whatever would change something or ask the
	// machine itself is refused.
	Observes bool
	// Feedback is the start of the link that takes feedback, as pages.Feedback makes it; "" for a letter without an address.
	Feedback string
	// Figures may be nil.
	Figures func() Figures
	// History is the hub's fold, nil where it has none. Watched are patterns (path.Match) of names of groups that have metrics of
	// their own; Alerts counts what was told of stuck groups, nil where nobody is told.
	History *history.History
	Watched []string
	Alerts  func() Alerts
	// Health asks the loop for a sign of life; nil means that answering at all is enough.
	Health func(context.Context) error
	// Token allows what changes something; NewToken makes one.
	Token string
	// Kafka are the brokers' addresses, shown to those who look for one to point a client at.
	Kafka []string
	// Hosts are names by which a browser may ask for the lab, besides localhost and plain addresses. Without that
	// check a foreign page could reach the lab through a name that it points at this machine (DNS rebinding).
	Hosts []string
	// Logf gets one line for each thing an operator should know; nil means nowhere.
	Logf func(format string, args ...any)
}

// Server answers HTTP requests. It starts no goroutine of its own.
type Server struct {
	cfg     Config
	hosts   []string
	book    *pages.Book
	handler http.Handler
	keeper  *keeper
	metrics *metrics
	assets  *files
	dist    *files
	readers chan struct{} // one for each reader of /api/events
	// recordings are what was recorded.
	recordings recordings
}

// New makes the routes ready. An error means that the program was built wrongly (a lesson without a text).
func New(cfg Config) (*Server, error) {
	if cfg.Hub == nil || !cfg.Observes && (cfg.Control == nil || cfg.Token == "") {
		panic("web.New: Config.Hub must be set, and Config.Control and Config.Token unless Config.Observes is")
	}
	book, err := pages.New()
	if err != nil {
		return nil, err
	}
	book.TakesFeedback(cfg.Feedback)
	return newServer(cfg, book), nil
}

func newServer(cfg Config, book *pages.Book) *Server {
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	s := &Server{cfg: cfg, book: book, keeper: newKeeper(cfg.Hub), readers: make(chan struct{}, eventsAtOnce),
		assets: newFiles(static.Assets()), dist: newFiles(static.Dist())}
	for _, host := range cfg.Hosts {
		s.hosts = append(s.hosts, strings.ToLower(host))
	}
	s.metrics = newMetrics(cfg.Hub, s.keeper, cfg.Figures)
	s.metrics.history, s.metrics.watched, s.metrics.alerts = cfg.History, cfg.Watched, cfg.Alerts
	s.metrics.recordings = &s.recordings
	s.handler = s.routes()
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	get := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, only(http.MethodGet, h)) }
	get("/{$}", s.contents)
	get("/lab/{id}", s.lesson)
	get("/lab/{id}/{$}", s.lesson)
	get("/lab/{id}/{file}", s.steps)
	get("/search.en.json", s.searched(view.English))
	get("/search.zh.json", s.searched(view.Chinese))
	get("/glossary", s.glossary)
	get("/glossary/{$}", s.glossary)
	get("/sandbox", s.sandbox)
	get("/sandbox/{$}", s.sandbox)
	get("/paste", s.pastePage)
	get("/paste/{$}", s.pastePage)
	get("/live", s.livePage)
	get("/live/{$}", s.livePage)
	get("/gallery", s.gallery)
	get("/gallery/{$}", s.gallery)
	get("/gallery/{name}", s.gallery)
	get("/gallery/{name}/{$}", s.gallery)
	get("/assets/{name...}", s.file(s.assets))
	get("/dist/{name...}", s.file(s.dist))
	get("/sw.js", s.serviceWorker)
	get("/favicon.ico", s.icon)
	get("/api/state", s.state)
	get("/api/events", s.events)
	get("/api/live", s.live)
	get("/api/probe", s.probe)
	s.recordingRoutes(get)
	mux.HandleFunc("/api/demo", s.demo)
	mux.HandleFunc("/api/brokers/{id}/{verb}", s.acting(s.broker))
	mux.HandleFunc("/api/topics/{name}/partitions", s.acting(s.partitions))
	mux.HandleFunc("/api/partitions/move", s.acting(s.move))
	get("/grafana.json", s.grafana)
	mux.Handle("/metrics", only(http.MethodGet, s.metrics.handler().ServeHTTP))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is nothing at "+r.URL.Path, "there are /api/state, /api/events, /api/live, /api/probe and /api/demo")
	})
	mux.HandleFunc("/", s.notFound)
	return mux
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w.Header())
	if r.URL.Path == "/healthz" { // whoever checks may use any name
		only(http.MethodGet, s.health)(w, r)
		return
	}
	if !s.knownHost(r.Host) {
		refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("this lab is not known as %q", r.Host),
			"use localhost or the address that was printed at start")
		return
	}
	s.handler.ServeHTTP(w, r)
}

// HTTPServer wraps a handler with the bounds that keep slow and greedy peers from holding the lab up.
func HTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      time.Minute, // a websocket and /api/events have deadlines of their own
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}

// Loaded counts a load of a partition of __consumer_offsets for /metrics, and how long it took. It may be called from any
// goroutine.
func (s *Server) Loaded(broker int32, took time.Duration) {
	s.metrics.mu.Lock()
	defer s.metrics.mu.Unlock()
	s.metrics.kafka.loaded(broker, took, time.Now())
}

// Observe counts events for /metrics. The host calls it with what it publishes to the hub, from one goroutine.
func (s *Server) Observe(batch []event.Event) { s.metrics.observe(batch) }

// health handles GET /healthz: the loop must answer within two seconds.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if s.cfg.Health != nil {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := s.cfg.Health(ctx); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

// NewToken makes a token of 128 bits.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
