package live

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"grouplab/coordinator/event"
)

// Snapshot is the cluster at one moment: facts that rebuild the picture from nothing.
type Snapshot struct {
	// Seq is the last number handed out when the facts were taken: the facts hold every event up to it and none after.
	Seq int64
	// NowMs is the loop's clock at that moment.
	NowMs int64
	// Events are the facts, FactsBegan first and FactsEnded last. They are not changed afterwards.
	Events []event.Event
}

// Config is what a Hub needs to know. Facts and NowMs must be set; zero values of the rest are replaced by defaults.
type Config struct {
	// Facts asks the loop for a snapshot. It may be called from any goroutine and ends with ctx.
	Facts func(ctx context.Context) (Snapshot, error)
	// Fold keeps what a list of all groups needs; nil: there is no overview.
	Fold Fold
	// GroupFacts is Facts of what an overview shows: the brokers, the topics, the partitions of __consumer_offsets and the group,
	// "" for none, with the last records of its partition. It must be set where Fold is.
	GroupFacts func(ctx context.Context, group string) (Snapshot, error)
	// Pieces is Facts in pieces, for the Fold of a large cluster: what comes after a coordinator's group, from 0 and "" on. nil:
	// the fold is given Facts.
	Pieces func(ctx context.Context, broker int32, group string) (Piece, error)
	// NowMs reads the loop's clock. It may be called from any goroutine.
	NowMs func() int64

	// Keep is how many events are kept: 100 000 by default.
	Keep int
	// KeepBytes is how much they may hold together beside their own size, names and lists that clients choose: 64 MB by
	// default. The oldest are forgotten earlier where they hold more.
	KeepBytes int
	// MaxViewers bounds the viewers at a time (2 000 by default); one host may hold half of the places.
	MaxViewers int
	// MaxLag is how many events a viewer may be behind before it is skipped (8 192 by default).
	MaxLag int
	// MaxRate is how many events a second a viewer is sent in the long run (10 000 by default). A stream that is faster
	// shows as gaps: no page could follow it, and encoding it would cost the brokers.
	MaxRate int
	// FloodRate is how many events a second are more than is kept (100 000 by default): of those, only what the Fold wants and
	// what concerns groups that are followed with an overview. Whoever follows everything is given facts once a FactsInterval.
	FloodRate int
	// MinInterval is the least time between two messages to a viewer (20 ms by default). It grows with the number of
	// viewers, up to 150 ms.
	MinInterval time.Duration
	// WriteTimeout is how long a viewer may not take a message before it is cut (10 s by default).
	WriteTimeout time.Duration
	// PingInterval is how often a viewer must show that it is there (15 s by default); it has WriteTimeout to answer.
	PingInterval time.Duration
	// ClockInterval is after how much silence the clock is sent (5 s by default).
	ClockInterval time.Duration
	// FactsInterval is how long facts are shared among viewers, and the least time between two gaps of one viewer (1 s
	// by default).
	FactsInterval time.Duration
}

func (c Config) withDefaults() Config {
	orInt := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	orInt(&c.Keep, 100_000)
	orInt(&c.KeepBytes, 64<<20)
	orInt(&c.MaxViewers, 2000)
	orInt(&c.MaxLag, 8192)
	orInt(&c.MaxRate, 10_000)
	orInt(&c.FloodRate, 100_000)
	orTime(&c.MinInterval, 20*time.Millisecond)
	orTime(&c.WriteTimeout, 10*time.Second)
	orTime(&c.PingInterval, 15*time.Second)
	orTime(&c.ClockInterval, 5*time.Second)
	orTime(&c.FactsInterval, time.Second)
	return c
}

// ErrFull is returned to a viewer for whom there is no place; ErrClosed after Close.
var (
	ErrFull   = errors.New("too many viewers")
	ErrClosed = errors.New("the hub is closed")
)

// Hub keeps the last events and sends them to viewers. Its methods may be called from any goroutine, Publish from one
// at a time.
type Hub struct {
	cfg   Config
	world string
	facts sharedFacts
	few   groupFacts
	cache cache
	stats counters
	// overview is nil where there is none.
	overview *overview

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup // one for each viewer, and one for the fold

	inbox    inbox
	followed followed
	flood    flood         // of Publish alone
	hush     hush          // of Publish and its caller
	sieved   []event.Event // what of it is kept: scratch of Publish
	flooded  atomic.Bool   // what flood said last
	hole     atomic.Int64  // Seq of the newest event that was left out in a flood

	mu   sync.RWMutex // guards ring and room; held for copies only, never while encoding or writing
	ring ring
	room []event.Event // for the inbox, when it is emptied next

	doors  sync.Mutex // guards hosts and closed
	hosts  map[string]int
	closed bool
}

// New returns a hub that keeps nothing yet.
func New(cfg Config) *Hub {
	if cfg.Facts == nil || cfg.NowMs == nil {
		panic("live.New: Config.Facts and Config.NowMs must be set")
	}
	if cfg.Fold != nil && cfg.GroupFacts == nil {
		panic("live.New: Config.Fold needs Config.GroupFacts")
	}
	cfg = cfg.withDefaults()
	h := &Hub{cfg: cfg, world: newWorld(), ring: ring{limit: cfg.Keep, maxBytes: cfg.KeepBytes}, hosts: map[string]int{}}
	h.flood.perSecond = cfg.FloodRate
	h.inbox.init()
	h.followed.init()
	h.ctx, h.stop = context.WithCancel(context.Background())
	if cfg.Fold != nil {
		h.overview = &overview{fold: cfg.Fold, latest: map[string]*told{}}
		h.overview.more.init()
		h.wg.Add(1)
		go h.summarize()
	}
	return h
}

// newWorld names a run of the server, so that a number of an earlier run is not taken for one of this.
func newWorld() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// World names this run of the server.
func (h *Hub) World() string { return h.world }

// NowMs reads the loop's clock.
func (h *Hub) NowMs() int64 { return h.cfg.NowMs() }

// Publish takes the next events, in the order of Seq. It copies them, wakes the viewers and returns; it does not wait
// for any of them. An event without a body, or one whose Seq does not rise, is a bug of the caller and panics.
func (h *Hub) Publish(batch []event.Event) {
	if len(batch) == 0 {
		return
	}
	last := batch[len(batch)-1].Seq
	h.stats.published.Add(int64(len(batch)))
	flooded := h.flood.saw(batch)
	if flooded {
		batch = h.sieve(batch)
	}
	h.hushed(last)
	if flooded != h.flooded.Load() {
		h.flooded.Store(flooded)
	}
	full := h.inbox.put(batch, last)
	if full < 1 {
		return
	}
	if full >= 8 {
		h.mu.Lock()
	} else if !h.mu.TryLock() {
		return
	}
	h.drain()
	h.mu.Unlock()
}

// drain moves what was published to the ring. The caller holds mu.
func (h *Hub) drain() {
	if cap(h.room) < inboxEvents && h.ring.n > inboxEvents { // a stream that fills the ring is no trickle
		h.room = make([]event.Event, 0, 2*inboxEvents) // a busy loop publishes thousands in one turn
	}
	events, bytes, last := h.inbox.take(h.room)
	h.ring.flood = h.flooded.Load()
	h.room = h.ring.add(events, bytes)
	h.ring.last = max(h.ring.last, last) // the newest may have been left out
}

// read calls f with the ring, everything published included.
func (h *Hub) read(f func(r *ring)) {
	h.mu.RLock()
	if h.inbox.last.Load() > h.ring.last {
		h.mu.RUnlock()
		h.mu.Lock()
		h.drain()
		h.mu.Unlock()
		h.mu.RLock()
	}
	defer h.mu.RUnlock()
	f(&h.ring)
}

// Window says which events are kept: the oldest Seq that can be asked for and the last that exists. Where none is kept,
// oldest is last + 1.
func (h *Hub) Window() (oldest, last int64) {
	h.read(func(r *ring) { oldest, last = max(r.oldest(), h.hole.Load()+1), r.last })
	return oldest, last
}

// Since appends to dst the events in the Window whose Seq is from or more, at most most of them.
func (h *Hub) Since(dst []event.Event, from int64, most int) []event.Event {
	h.read(func(r *ring) {
		r.after(max(from-1, h.hole.Load()), func(e *event.Event) bool {
			if most > 0 {
				dst = append(dst, *e)
			}
			most--
			return most > 0
		})
	})
	return dst
}

// Snapshot asks the loop for facts. Those who ask at the same time, or within a short time of each other, share them.
func (h *Hub) Snapshot(ctx context.Context) (Snapshot, error) {
	s, err := h.snapshot(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	return s.Snapshot, nil
}

// ErrTooMany is wrapped by Config.Facts where there are too many groups to tell of all at once; the overview tells of them.
var ErrTooMany = errors.New("too many groups")

// ErrNoOverview is returned to a viewer that wants the overview of a hub that keeps none.
var ErrNoOverview = errors.New("there is no overview")

// Fold calls f while nothing else uses the fold. It returns ErrNoOverview where there is none.
func (h *Hub) Fold(f func()) error {
	if h.overview == nil {
		return ErrNoOverview
	}
	h.overview.mu.Lock()
	defer h.overview.mu.Unlock()
	f()
	return nil
}

// published waits until everything up to a Seq that the loop has told of was published, which it does a moment later.
func (h *Hub) published(ctx context.Context, seq int64) {
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	for more := h.inbox.after(seq - 1); more != nil; more = h.inbox.after(seq - 1) {
		select {
		case <-more:
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		case <-h.ctx.Done():
			return
		}
	}
}

// GroupSnapshot asks the loop for facts of one group and of what concerns none, as an overview shows them; those who ask at the
// same time share them.
func (h *Hub) GroupSnapshot(ctx context.Context, group string) (Snapshot, error) {
	if h.cfg.GroupFacts == nil {
		return Snapshot{}, ErrNoOverview
	}
	s, err := h.groupSnapshot(ctx, group)
	if err != nil {
		return Snapshot{}, err
	}
	return s.Snapshot, nil
}

// Close ends all viewers and waits for them.
func (h *Hub) Close() {
	h.doors.Lock()
	h.closed = true
	h.doors.Unlock()
	h.stop()
	h.wg.Wait()
}

// enter takes a place for a viewer; leave gives it back.
func (h *Hub) enter(host string) (leave func(), err error) {
	h.doors.Lock()
	defer h.doors.Unlock()
	switch {
	case h.closed:
		return nil, ErrClosed
	case int(h.stats.viewers.Load()) >= h.cfg.MaxViewers, h.hosts[host] >= (h.cfg.MaxViewers+1)/2:
		h.stats.refused.Add(1)
		return nil, ErrFull
	}
	h.hosts[host]++
	h.wg.Add(1)
	h.stats.viewers.Add(1)
	return func() {
		h.doors.Lock()
		if h.hosts[host]--; h.hosts[host] == 0 {
			delete(h.hosts, host)
		}
		left := h.stats.viewers.Add(-1)
		h.doors.Unlock()
		if left == 0 {
			h.forget()
		}
		h.wg.Done()
	}, nil
}

// Stats are figures of a hub since it was made, except Viewers, which is now.
type Stats struct {
	Viewers   int64 // viewers at the moment
	Refused   int64 // viewers for whom there was no place
	Cut       int64 // viewers that were thrown out: they did not read, did not answer or spoke
	Published int64 // events taken
	Encoded   int64 // events turned into JSON, facts included
	Sent      int64 // events sent, summed over the viewers, facts included
	Gaps      int64 // gaps told, summed over the viewers
	Skipped   int64 // events that were not sent because of gaps, summed over the viewers
	LeftOut   int64 // events taken that were not kept, in floods
}

type counters struct {
	viewers, refused, cut, published, encoded, sent, gaps, skipped, leftOut, deflated atomic.Int64
}

// Stats reads the figures.
func (h *Hub) Stats() Stats {
	s := &h.stats
	return Stats{
		Viewers: s.viewers.Load(), Refused: s.refused.Load(), Cut: s.cut.Load(), Published: s.published.Load(),
		Encoded: s.encoded.Load(), Sent: s.sent.Load(), Gaps: s.gaps.Load(), Skipped: s.skipped.Load(), LeftOut: s.leftOut.Load(),
	}
}
