package record

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"grouplab/coordinator/event"
	"grouplab/coordinator/recording"
	"grouplab/server/live"
)

// Config is what a Recorder needs to know. Dir and Hub must be set; zero values of the rest are replaced by defaults.
type Config struct {
	// Dir is the folder; it is made where it is not there.
	Dir string
	// Hub tells what happens.
	Hub *live.Hub
	// Bytes (256 MB) and Age (24 hours) bound what is kept. A segment ends behind what fills it, so that one batch of events may
	// come on top.
	Bytes int64
	Age   time.Duration
	// Header is what each segment's says of the cluster.
	Header recording.Header
	Log    *slog.Logger

	// SegmentBytes (an eighth of Bytes, at most 16 MB) and SegmentAge (5 minutes) are when a new segment is begun. Every is how
	// often what happened is written (500 ms), Retry how long a disk that failed is left alone (5 s).
	SegmentBytes int64
	SegmentAge   time.Duration
	Every, Retry time.Duration
}

func (c Config) withDefaults() Config {
	if c.Bytes <= 0 {
		c.Bytes = 256 << 20
	}
	if c.SegmentBytes <= 0 {
		c.SegmentBytes = min(c.Bytes/8, 16<<20)
	}
	for _, d := range []struct {
		to      *time.Duration
		instead time.Duration
	}{{&c.Age, 24 * time.Hour}, {&c.SegmentAge, 5 * time.Minute}, {&c.Every, 500 * time.Millisecond}, {&c.Retry, 5 * time.Second}} {
		if *d.to <= 0 {
			*d.to = d.instead
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Recorder writes segments until it is closed. Its methods may be called from any goroutine.
type Recorder struct {
	cfg   Config
	lock  *os.File
	start sync.Once
	ctx   context.Context
	stop  context.CancelFunc
	done  chan struct{}
	stats counters
	// failing is set while the disk takes nothing.
	failing atomic.Bool

	mu   sync.Mutex // guards kept and what cuts hold open
	kept []Segment  // oldest first; the last may be the one that is being written
}

type counters struct{ events, gaps, missed, failures, dropped atomic.Int64 }

// Stats are figures of a recorder since it was opened, but for Bytes and Segments, which are now.
type Stats struct {
	// Events that were written, Gaps that were noted, Missed events in these, Failures of the disk, Dropped segments.
	Events, Gaps, Missed, Failures, Dropped int64
	Bytes                                   int64
	Segments                                int
	// Failing is set while the disk does not take what is to be written.
	Failing bool
}

// Open takes the folder and finishes what a process that was killed left. The error names the folder and says what would be
// right. Nothing is recorded before Start.
func Open(cfg Config) (*Recorder, error) {
	cfg = cfg.withDefaults()
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder %s cannot be made: %w", cfg.Dir, cause(err))
	}
	lock, err := takeLock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	r := &Recorder{cfg: cfg, lock: lock, done: make(chan struct{})}
	if r.kept, err = recoverAll(cfg.Dir, cfg.Log); err != nil {
		lock.Close()
		return nil, fmt.Errorf("the folder %s: %w", cfg.Dir, cause(err))
	}
	r.forget()
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r, nil
}

// Start begins to record.
func (r *Recorder) Start() { r.start.Do(func() { go r.run(r.ctx) }) }

// Close writes what is there yet, finishes the segment and gives the folder back.
func (r *Recorder) Close() error {
	r.stop()
	r.start.Do(func() { close(r.done) }) // where it was never started
	<-r.done
	return r.lock.Close()
}

// Stats reads the figures.
func (r *Recorder) Stats() Stats {
	c := &r.stats
	s := Stats{Events: c.events.Load(), Gaps: c.gaps.Load(), Missed: c.missed.Load(), Failures: c.failures.Load(), Dropped: c.dropped.Load()}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kept {
		s.Bytes += k.Bytes
	}
	s.Segments, s.Failing = len(r.kept), r.failing.Load()
	return s
}

// run is the goroutine that writes.
func (r *Recorder) run(ctx context.Context) {
	defer close(r.done)
	t := &taker{r: r, cfg: r.cfg}
	for {
		wait := r.cfg.Every
		if err := t.turn(ctx); err != nil && ctx.Err() == nil {
			t.failed(err)
			wait = r.cfg.Retry
		}
		select {
		case <-ctx.Done():
			t.end()
			return
		case <-time.After(wait):
		}
	}
}

// taker is what the goroutine alone uses: how far it is in the hub's stream, and the segment that it writes.
type taker struct {
	r   *Recorder
	cfg Config
	seg *writer
	seq int64 // the last event that was taken
	// lastMs is that event's time; safe is the last that is on disk, in a file and out of our hands.
	lastMs, safe, safeMs int64
	begun, failing       bool
	events               []event.Event
}

// takeAtOnce is how many events are copied out of the hub's memory at a time.
const takeAtOnce = 4096

// turn writes what has happened since the last one.
func (t *taker) turn(ctx context.Context) error {
	if t.seg == nil {
		if err := t.begin(ctx, ""); err != nil {
			return err
		}
	}
	for {
		oldest, last := t.cfg.Hub.Window()
		if t.seq+1 < oldest && t.seq < last {
			return t.begin(ctx, "more happened than could be kept")
		}
		t.events = t.cfg.Hub.Since(t.events[:0], t.seq+1, takeAtOnce)
		for i := range t.events {
			if err := t.write(&t.events[i]); err != nil {
				return err
			}
		}
		if len(t.events) < takeAtOnce {
			break
		}
	}
	if err := t.seg.flush(); err != nil {
		return err
	}
	t.safe, t.safeMs = t.seq, t.lastMs
	t.r.grew(t.seg.Segment)
	if t.failing {
		t.failing = false
		t.r.failing.Store(false)
		t.cfg.Log.Info("recording goes on", "folder", t.cfg.Dir)
	}
	if t.seg.Bytes >= t.cfg.SegmentBytes || t.cfg.Hub.NowMs()-t.seg.FromMs >= t.cfg.SegmentAge.Milliseconds() {
		return t.begin(ctx, "")
	}
	return nil
}

func (t *taker) write(e *event.Event) error {
	t.seq, t.lastMs = e.Seq, e.AtMs
	if !tells(e) {
		return nil
	}
	t.r.stats.events.Add(1)
	return t.seg.event(e)
}

// tells leaves out what is told of every batch and replica of topics that hold nothing of groups.
func tells(e *event.Event) bool {
	const offsets = "__consumer_offsets"
	switch b := e.Body.(type) {
	case event.RecordsAppended:
		return b.Topic == offsets
	case event.ReplicaAdvanced:
		return b.Topic == offsets
	case event.HighWatermarkAdvanced:
		return b.Topic == offsets
	}
	return true
}

// begin finishes the segment and begins the next with the facts of now. Events between are written to the old one, or missed
// for the reason that is given.
func (t *taker) begin(ctx context.Context, missed string) error {
	snap, err := t.cfg.Hub.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("the cluster did not say how it stands: %w", err)
	}
	if t.seg != nil && missed == "" {
		for t.seq < snap.Seq {
			t.events = t.cfg.Hub.Since(t.events[:0], t.seq+1, takeAtOnce)
			if len(t.events) == 0 || t.events[0].Seq > snap.Seq {
				break
			}
			for i := range t.events {
				if t.events[i].Seq > snap.Seq {
					break
				}
				if err := t.write(&t.events[i]); err != nil {
					return err
				}
			}
		}
	}
	if t.seg != nil {
		old := t.seg
		t.seg = nil
		err := old.end()
		t.r.grew(old.Segment)
		if err != nil {
			return err
		}
		t.safe, t.safeMs = t.seq, t.lastMs
	}
	t.r.forget()
	gap := recording.Gap{To: snap.Seq, FromMs: t.safeMs, ToMs: snap.NowMs, Reason: missed}
	switch {
	case t.begun && snap.Seq > t.safe:
		gap.From = t.safe + 1
		if gap.Reason == "" {
			gap.Reason = "the disk took nothing"
		}
	default:
		gap.Reason = ""
	}
	seg, err := t.r.newSegment(snap, gap)
	if err != nil {
		return err
	}
	if gap.Reason != "" {
		t.r.stats.gaps.Add(1)
		t.r.stats.missed.Add(gap.To - gap.From + 1)
	}
	t.begun = true
	t.seg, t.seq, t.lastMs, t.safe, t.safeMs = seg, snap.Seq, snap.NowMs, snap.Seq, snap.NowMs
	t.r.grew(seg.Segment)
	return nil
}

// failed leaves the segment as far as it is on disk: it is finished there, and another one is begun later.
func (t *taker) failed(err error) {
	if t.seg != nil {
		seg := t.seg
		t.seg = nil
		seg.abandon()
		t.r.grew(seg.Segment)
	}
	t.seq, t.lastMs = t.safe, t.safeMs
	t.r.stats.failures.Add(1)
	if !t.failing {
		t.failing = true
		t.cfg.Log.Error("nothing is recorded for the time being: "+cause(err).Error()+"; it is tried again, and what is missed will be noted as a gap", "folder", t.cfg.Dir)
	}
	t.r.failing.Store(true)
}

// end finishes what is there.
func (t *taker) end() {
	if t.seg == nil {
		return
	}
	t.events = t.cfg.Hub.Since(t.events[:0], t.seq+1, takeAtOnce)
	for i := range t.events {
		if t.write(&t.events[i]) != nil {
			break
		}
	}
	if err := t.seg.end(); err != nil {
		t.cfg.Log.Error("the recording's last segment could not be finished: "+cause(err).Error(), "folder", t.cfg.Dir)
	}
	t.r.grew(t.seg.Segment)
}
