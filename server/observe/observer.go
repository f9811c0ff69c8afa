package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"grouplab/coordinator/event"
	"grouplab/server/observe/timeline"
)

// Config is what an Observer needs to know. Access and Publish must be set.
type Config struct {
	Access Access
	// Publish takes the events of one observation, in the order of Seq, from one goroutine.
	Publish func([]event.Event)
	// Looked names the groups that somebody looks at now: they are described now and then, and their lag is measured. It may be
	// called from any goroutine; nil means none.
	Looked func() []string
	// ReadBytes is how much of __consumer_offsets is read from its beginning at most; where there is more, only the newest
	// part is read, and the groups' state is asked for. 0 is DefaultReadBytes.
	ReadBytes int64
	// Logs are files of brokers' logs to follow.
	Logs []string
	// Log gets a line for each thing an operator should know; nil means nowhere.
	Log *slog.Logger
	// Options are added to the client's, for tests.
	Options []kgo.Opt
}

// DefaultReadBytes is 2 GiB.
const DefaultReadBytes = 2 << 30

// Snapshot is everything that is known at one moment, as facts; Seq is the last number handed out.
type Snapshot struct {
	Seq    int64
	NowMs  int64
	Events []event.Event
}

// Observer watches one cluster.
type Observer struct {
	cfg    Config
	client *kgo.Client
	cost   *cost
	limits limits
	begun  time.Time
	beganM int64

	turns    chan turn
	loopDone chan struct{}
	numbers  event.Numbers // the loop's

	sight   sight
	cluster cluster
	reader  reader
}

// New makes an observer; it connects to nothing yet.
func New(cfg Config) (*Observer, error) {
	if cfg.Publish == nil || len(cfg.Access.Seeds) == 0 {
		panic("observe.New: Config.Publish and Config.Access.Seeds must be set")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Looked == nil {
		cfg.Looked = func() []string { return nil }
	}
	if cfg.ReadBytes <= 0 {
		cfg.ReadBytes = DefaultReadBytes
	}
	now := time.Now()
	o := &Observer{cfg: cfg, cost: newCost(), begun: now, beganM: now.UnixMilli(), turns: make(chan turn, 4), loopDone: make(chan struct{})}
	o.limits.of = map[int32]*bucket{}
	o.sight.lost = map[string]loss{}
	o.cluster.init()
	o.reader.parts = map[int32]*part{}
	options := append(cfg.Access.options(),
		kgo.WithHooks(o.cost), kgo.DialTimeout(dialTimeout), kgo.RequestTimeoutOverhead(requestTimeout), kgo.RequestRetries(1),
		kgo.RetryTimeout(requestTimeout), kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond }),
		kgo.MetadataMaxAge(time.Hour), // we ask ourselves
		kgo.FetchMaxBytes(fetchBytes), kgo.BrokerMaxReadBytes(maxAnswer))
	client, err := kgo.NewClient(append(options, cfg.Options...)...)
	if err != nil {
		return nil, fmt.Errorf("attaching to %s: %w", cfg.Access, err)
	}
	o.client = client
	return o, nil
}

const (
	dialTimeout    = 5 * time.Second
	requestTimeout = 10 * time.Second
	// maxAnswer bounds one answer: a peer that is no broker must not make us read a gigabyte.
	maxAnswer = 64 << 20
)

// NowMs is the observer's clock: wall milliseconds at its start and what has passed since, so that it never falls. It may be
// called from any goroutine.
func (o *Observer) NowMs() int64 { return o.beganM + time.Since(o.begun).Milliseconds() }

// Run observes until ctx ends.
func (o *Observer) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { o.loop(ctx) })
	all.Go(func() { o.follow(ctx) })
	all.Go(func() { o.tellCost(ctx) })
	all.Go(func() { o.measureLag(ctx) })
	for i := range o.cfg.Logs {
		all.Go(func() { o.followLog(ctx, o.cfg.Logs[i]) })
	}
	all.Wait()
	o.client.Close()
}

// Close gives back what New took, where Run was never called.
func (o *Observer) Close() { o.client.Close() }

// ErrEnded is what is said of an observer that does not run any more.
var ErrEnded = errors.New("the observer has ended")

// Facts are what a fold needs to begin with.
func (o *Observer) Facts(ctx context.Context) (s Snapshot, err error) {
	err = o.do(ctx, func(t *timeline.Timeline) {
		now := o.NowMs()
		began, ended := event.Event{AtMs: now, Body: event.FactsBegan{NowMs: now}}, event.Event{AtMs: now, Body: event.FactsEnded{}}
		began.Seq, ended.Seq = o.numbers.Last(), o.numbers.Last()
		events := append([]event.Event{began}, t.Facts(now)...)
		if o.cost.last.Brokers != nil {
			events = append(events, event.Event{Seq: ended.Seq, AtMs: now, Body: o.cost.last})
		}
		s = Snapshot{Seq: ended.Seq, NowMs: now, Events: append(events, ended)}
	})
	return s, err
}

// Progress is how far the first reading of __consumer_offsets is: offsets read, and to read. Ready is set when every
// partition that is read has reached the end noted at its start.
func (o *Observer) Progress(ctx context.Context) (read, all int64, ready bool, err error) {
	err = o.do(ctx, func(t *timeline.Timeline) {
		read, all = t.Progress()
		ready = t.Ready()
	})
	return read, all, ready, err
}
