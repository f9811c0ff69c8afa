package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"grouplab/coordinator/event"
)

// Fold is what the hub keeps of all groups, so that a page can list thousands of them. It is called by one goroutine at a
// time. server/history is one.
type Fold interface {
	// Wants tells whether a fact can change anything; it may be called at any time.
	Wants(e *event.Event) bool
	// Needs is Wants in a flood; it may say no to what changes nothing as far as Apply has come.
	Needs(e *event.Event) bool
	// Apply takes the facts in the order of Seq, those between FactsBegan and FactsEnded in the place of what was known.
	Apply(e *event.Event)
	// Take appends the GroupSummarized and GenerationRecorded that are to be told at nowMs; Pending tells whether there will be
	// some later though nothing happens.
	Take(dst []event.Event, nowMs int64) []event.Event
	Pending() bool
	// Records appends what is remembered of a group's generations, the oldest first.
	Records(dst []event.Event, group string) []event.Event
}

const (
	// foldInterval is how often the fold takes what was published, and tells what came of it.
	foldInterval = 50 * time.Millisecond
	// foldRetry is how long it waits after facts that could not be had.
	foldRetry = time.Second
	// spareTold is how many records, and groups that are gone, are kept for viewers that go on where they were.
	spareTold = 4096
)

// overview is the fold, and what it told, in order. Its goroutine shares nothing with Publish but the inbox.
type overview struct {
	fold Fold
	seq  int64 // of the last event that was looked at; only the goroutine has it
	more bell

	mu      sync.Mutex // guards the fold and what follows
	version int64      // of the newest in log
	log     []*told
	latest  map[string]*told // by group
	spares  int              // in log, of records and of groups that are gone
	// trimmed is the stamp up to which records, and groups that are gone, are no longer in log.
	trimmed int64
}

// told is something that the fold told.
type told struct {
	version int64
	// stamp is the newest event that there was when it was told: who has been sent events up to one before it was told what
	// came before it.
	stamp  int64
	event  event.Event
	record bool
	gone   bool
	over   bool // another one took its place
	once   sync.Once
	text   []byte
	err    error
}

func (t *told) json() ([]byte, error) {
	t.once.Do(func() { t.text, t.err = t.event.AppendJSON(make([]byte, 0, 2*likelyBytes)) })
	return t.text, t.err
}

// bell wakes all who wait for something.
type bell struct {
	more    atomic.Pointer[chan struct{}]
	waiting atomic.Bool
}

func (b *bell) init() {
	more := make(chan struct{})
	b.more.Store(&more)
}

func (b *bell) ring() {
	if b.waiting.Swap(false) {
		more := make(chan struct{})
		close(*b.more.Swap(&more))
	}
}

// next is closed at the next ring. What is waited for is looked at after it was called.
func (b *bell) next() <-chan struct{} {
	more := *b.more.Load()
	b.waiting.Store(true)
	return more
}

// summarize is the goroutine that feeds the fold.
func (h *Hub) summarize() {
	defer h.wg.Done()
	o, scratch := h.overview, make([]event.Event, 0, chunkEvents)
	for h.awaitFacts(o) {
		pause := foldInterval
		if h.behind(o.seq) > h.cfg.Keep { // some are no longer kept
			if !h.refold(o) {
				pause = foldRetry
			}
		} else {
			scratch = h.feed(o, scratch)
		}
		h.tell(o)
		if h.inbox.last.Load() > o.seq+int64(h.cfg.Keep/2) {
			continue // it is far behind
		}
		select {
		case <-h.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// awaitFacts waits until there is something to fold or to tell. It returns false when the hub closes.
func (h *Hub) awaitFacts(o *overview) bool {
	o.mu.Lock()
	pending := o.fold.Pending()
	o.mu.Unlock()
	if !pending {
		if more := h.inbox.after(o.seq); more != nil {
			select {
			case <-more:
			case <-h.ctx.Done():
			}
		}
	}
	return h.ctx.Err() == nil
}

// feed gives the fold the events that were published since, as many as there are now.
func (h *Hub) feed(o *overview, scratch []event.Event) []event.Event {
	for last := h.inbox.last.Load(); o.seq < last; {
		scratch = h.wanted(o, scratch[:0], last)
		o.mu.Lock()
		for i := range scratch {
			o.fold.Apply(&scratch[i])
		}
		o.mu.Unlock()
		clear(scratch)
		if h.behind(o.seq) > h.cfg.Keep {
			break
		}
	}
	return scratch
}

// wanted copies the next events that the fold wants.
func (h *Hub) wanted(o *overview, dst []event.Event, last int64) []event.Event {
	h.read(func(r *ring) {
		scanned := 0
		r.after(o.seq, func(e *event.Event) bool {
			if e.Seq > last {
				return false
			}
			o.seq = e.Seq
			if o.fold.Wants(e) {
				dst = append(dst, *e)
			}
			scanned++
			return scanned < scanEvents && len(dst) < chunkEvents
		})
		if scanned == 0 {
			o.seq = last
		}
	})
	return dst
}

// refold begins anew with facts.
func (h *Hub) refold(o *overview) bool {
	if h.cfg.Pieces != nil {
		return h.refoldInPieces(o)
	}
	ctx, cancel := context.WithTimeout(h.ctx, factsTimeout)
	defer cancel()
	s, err := h.snapshot(ctx)
	if err != nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range s.Events {
		o.fold.Apply(&s.Events[i])
	}
	o.seq = s.Seq
	return true
}

// tell puts what the fold has to tell into the log.
func (h *Hub) tell(o *overview) {
	o.mu.Lock()
	stamp := h.inbox.last.Load()
	list := o.fold.Take(nil, h.NowMs())
	for i := range list {
		o.add(list[i], stamp)
	}
	o.trim()
	o.mu.Unlock()
	if len(list) > 0 {
		o.more.ring()
	}
}

// add appends to the log. The caller holds mu.
func (o *overview) add(e event.Event, stamp int64) {
	o.version++
	t := &told{version: o.version, stamp: max(stamp, e.Seq), event: e}
	s, summary := e.Body.(event.GroupSummarized)
	if t.record, t.gone = !summary, summary && s.Gone; t.record || t.gone {
		o.spares++
	}
	if summary {
		if before := o.latest[e.Group]; before != nil {
			if before.over = true; before.gone {
				o.spares--
			}
		}
		o.latest[e.Group] = t
	}
	o.log = append(o.log, t)
}

// trim drops what has no use any more. The caller holds mu.
func (o *overview) trim() {
	if len(o.log) <= 2*(len(o.latest)+spareTold) {
		return
	}
	o.log = slices.DeleteFunc(o.log, func(t *told) bool {
		if spare := t.record || t.gone; !t.over && spare && o.spares > spareTold/2 {
			o.spares--
			o.trimmed = t.stamp
			if t.gone {
				delete(o.latest, t.event.Group)
			}
			return true
		}
		return t.over
	})
}

// all are the summaries of the groups that are there, what is remembered of one, and the version of both.
func (o *overview) all(group string) (list []*told, records []event.Event, version int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	list = make([]*told, 0, len(o.latest))
	for _, t := range o.log {
		if !t.over && !t.gone && !t.record {
			list = append(list, t)
		}
	}
	if group != "" {
		records = o.fold.Records(nil, group)
	}
	return list, records, o.version
}

// since appends what was told after a version and holds no event after seq: summaries, and records of a group. It returns
// the version that it has come to, and the Seq up to which the viewer must come before there is more; 0 where it need not.
func (o *overview) since(dst []*told, version, seq int64, group string, most int) (list []*told, to, upTo int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := o.place(version); i < len(o.log) && len(dst) < most; i++ {
		t := o.log[i]
		switch {
		case t.over || t.record && t.event.Group != group:
		case t.event.Seq > seq:
			return dst, version, t.event.Seq
		default:
			dst = append(dst, t)
		}
		version = t.version
	}
	return dst, version, 0
}

// place is that of the first in the log after a version.
func (o *overview) place(version int64) int {
	i, _ := slices.BinarySearchFunc(o.log, version+1, func(t *told, want int64) int { return cmp.Compare(t.version, want) })
	return i
}

// behind tells whether there is anything after a version.
func (o *overview) behind(version int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version > version
}

// resumed is the version from which a viewer goes on that has been sent the events up to seq; ok is false where something that it
// may have missed is no longer there.
func (o *overview) resumed(seq int64) (version int64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i, _ := slices.BinarySearchFunc(o.log, seq, func(t *told, want int64) int { return cmp.Compare(t.stamp, want) })
	version = o.version
	if i < len(o.log) {
		version = o.log[i].version - 1
	}
	return version, seq > o.trimmed
}

// partition is a group's of __consumer_offsets, -1 where that is not known.
func (o *overview) partition(group string) int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t := o.latest[group]; t != nil {
		return t.event.Body.(event.GroupSummarized).Partition
	}
	return -1
}

// sendTold sends, among the facts, a summary of each group and what is remembered of the one that the viewer follows.
func (v *viewer) sendTold(ctx context.Context, f *factsMessage, s *encodedSnapshot) error {
	// What is told from now on has a stamp of the facts' Seq at least: so nothing is lost to who goes on from there.
	v.hub.published(ctx, s.Seq)
	list, records, version := v.overview.all(v.group)
	for _, t := range list {
		text, err := t.json()
		if err == nil {
			err = f.add(ctx, text)
		}
		if err != nil {
			return err
		}
	}
	for i := range records {
		text, err := records[i].AppendJSON(nil)
		if err == nil {
			err = f.add(ctx, text)
		}
		if err != nil {
			return err
		}
	}
	v.version = version
	return nil
}

const offsetsTopic = "__consumer_offsets"

// looker is who looks at an overview: one viewer, or all of them together.
type looker interface {
	// some tells whether a group is followed, own whether it is this one, tape whether a group's records are in a partition.
	some() bool
	own(group string) bool
	tape(topic string, partition int32) bool
}

func (v *viewer) some() bool            { return v.group != "" }
func (v *viewer) own(group string) bool { return v.group != "" && group == v.group }
func (v *viewer) tape(topic string, partition int32) bool {
	return topic == offsetsTopic && v.group != "" && partition == v.partition
}

// isAt keeps where the records of the viewer's group are.
func (v *viewer) isAt(partition int32) {
	if v.partition != partition {
		v.partition = partition
		v.hub.followed.at(v.group, partition)
	}
}

// concerns tells whether an overview shows an event: what concerns its group, or no group; but of what is told of every
// batch, replica, connection and transaction only that which concerns the group.
func concerns[L looker](a L, e *event.Event) bool {
	switch b := e.Body.(type) {
	case event.RecordsAppended:
		return a.tape(b.Topic, b.Partition)
	case event.ReplicaAdvanced:
		return a.tape(b.Topic, b.Partition)
	case event.ReplicaTruncated:
		return a.tape(b.Topic, b.Partition)
	case event.HighWatermarkAdvanced:
		return a.tape(b.Topic, b.Partition)
	case event.LogCompacted:
		return a.tape(b.Topic, b.Partition)
	case event.LeaderChanged:
		return b.Topic == offsetsTopic
	case event.ConnectionOpened, event.ProducerIDsAllocated:
		return false
	case event.ConnectionClosed:
		return a.some() && len(b.Members) > 0
	case event.TxnStateChanged, event.TxnRemoved, event.TxnFenced, event.TxnAppendStarted, event.TxnAppendFinished, event.TxnMarkerSent,
		event.TxnMarkerAnswered, event.TxnLoadStarted, event.TxnLoadFinished, event.TxnUnloaded:
		return a.own(e.Group)
	}
	return e.Group == "" || a.own(e.Group)
}
