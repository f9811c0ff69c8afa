package live

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"grouplab/coordinator/event"
)

// chunkEvents and chunkBytes bound one message: it ends with the event that passes either.
const (
	chunkEvents = 512
	chunkBytes  = 256 << 10
)

// scanEvents bounds how many events are looked at under the hub's lock at a time.
const scanEvents = 4096

// Request is what a viewer asks for when it comes.
type Request struct {
	// From is the first Seq that it wants, 0 for facts first. World is the world that From belongs to; "" means this one.
	From  int64
	World string
	// Group is the one group to follow, "" for all. Facts without a group are always sent.
	Group string
	// Overview wants a summary of each group; Group "" then follows none.
	Overview bool
}

// viewer is one watcher's place in the stream. One goroutine owns it.
type viewer struct {
	hub   *Hub
	group string
	// overview is nil for a viewer that wants none; version is what it was sent of it, partition where its group's records are.
	overview  *overview
	version   int64
	partition int32
	seq       int64 // everything up to it was sent, said to be a gap, or is held in facts that were sent
	seqMs     int64 // the time of that
	catchUp   bool  // a resumed viewer may be further behind than MaxLag until it has caught up once
	send      func(context.Context, []byte) error
	scratch
	sending  int     // events of the last message
	spent    float64 // events sent lately, falling by MaxRate a second
	spentAt  time.Time
	skipped  time.Time // when the last gap was told
	lastSent time.Time
}

// scratch is what a viewer needs while it makes and sends a message. In between it has none: most of the time most viewers
// wait, or write.
type scratch struct {
	events []event.Event
	told   []*told
	text   []byte
}

var (
	lists = sync.Pool{New: func() any { return &scratch{} }}
	texts = sync.Pool{New: func() any { return new([]byte) }}
)

func (v *viewer) borrowLists() {
	from := lists.Get().(*scratch)
	v.events, v.told = from.events, from.told
}

// returnLists clears what would keep events alive.
func (v *viewer) returnLists() {
	clear(v.events[:cap(v.events)])
	clear(v.told[:cap(v.told)])
	lists.Put(&scratch{events: v.events, told: v.told})
	v.events, v.told = nil, nil
}

func (v *viewer) borrowText() { v.text = *texts.Get().(*[]byte) }

func (v *viewer) returnText() {
	kept := v.text
	if v.text = nil; cap(kept) <= 2*chunkBytes {
		texts.Put(&kept)
	}
}

// Watch serves one viewer: hello, facts or what it missed, then events as they come. Each call of send is one message;
// the bytes are valid until send returns. It returns when ctx ends, the hub closes or send fails.
func (h *Hub) Watch(ctx context.Context, r Request, send func(context.Context, []byte) error) error {
	v := &viewer{hub: h, group: r.Group, partition: -1, send: send, spentAt: time.Now()}
	if r.Overview {
		if v.overview = h.overview; v.overview == nil {
			return ErrNoOverview
		}
	}
	leave, first := h.followed.add(r.Group)
	defer leave()
	if first { // in a flood, its events may have been left out until now
		h.few.forget(r.Group)
	}
	if err := v.hello(ctx); err != nil {
		return err
	}
	if err := v.begin(ctx, r); err != nil {
		return err
	}
	for {
		if err := v.wait(ctx); err != nil {
			return err
		}
		if err := v.next(ctx); err != nil {
			return err
		}
	}
}

func (v *viewer) hello(ctx context.Context) error {
	oldest, last := v.hub.Window()
	type hello struct {
		Version   int    `json:"version"`
		World     string `json:"world"`
		Seq       int64  `json:"seq"`
		OldestSeq int64  `json:"oldestSeq"`
		NowMs     int64  `json:"nowMs"`
	}
	return v.say(ctx, "hello", hello{1, v.hub.world, last, oldest, v.hub.NowMs()})
}

// begin decides between going on where the viewer left off and facts.
func (v *viewer) begin(ctx context.Context, r Request) error {
	h := v.hub
	if r.From <= 0 {
		return v.sendFacts(ctx, "")
	}
	if r.World != "" && r.World != h.world {
		return v.sendFacts(ctx, "the server was started again")
	}
	v.seq = r.From - 1
	_, last := h.Window()
	switch behind := h.behind(v.seq); {
	case v.seq > last:
		v.seq = 0
		return v.sendFacts(ctx, fmt.Sprintf("event %d does not exist yet, the last is %d", r.From, last))
	case behind == math.MaxInt, v.seq <= h.hole.Load() && h.hole.Load() > 0: // what a group's viewer wants is left out, too, where it was not there
		return v.sendFacts(ctx, fmt.Sprintf("event %d is no longer kept", r.From))
	}
	if v.overview != nil {
		var kept bool
		if v.version, kept = v.overview.resumed(v.seq); !kept {
			return v.sendFacts(ctx, fmt.Sprintf("what was told of the groups since event %d is no longer kept", r.From))
		}
	}
	v.catchUp = true
	return nil
}

// behind says how many events come after seq; MaxInt where some of them are no longer kept.
func (h *Hub) behind(seq int64) int {
	n := math.MaxInt
	h.read(func(r *ring) {
		if seq >= r.dropped {
			n = r.count(seq)
		}
	})
	return n
}

// wait returns when there is an event after v.seq. Meanwhile it sends the clock now and then.
func (v *viewer) wait(ctx context.Context) error {
	h := v.hub
	for {
		var told <-chan struct{}
		if v.overview != nil {
			told = v.overview.more.next()
			if v.overview.behind(v.version) {
				return nil
			}
		}
		more := h.inbox.after(v.seq)
		if more == nil {
			return nil
		}
		silence := time.NewTimer(h.cfg.ClockInterval - time.Since(v.lastSent))
		select {
		case <-more:
		case <-told:
		case <-silence.C:
			if err := v.say(ctx, "clock", clock{h.NowMs()}); err != nil {
				return err
			}
		case <-ctx.Done():
		case <-h.ctx.Done():
		}
		silence.Stop()
		if err := v.ended(ctx); err != nil {
			return err
		}
	}
}

type clock struct {
	NowMs int64 `json:"nowMs"`
}

func (v *viewer) ended(ctx context.Context) error {
	if v.hub.ctx.Err() != nil {
		return ErrClosed
	}
	return ctx.Err()
}

// next sends what comes after v.seq: one message, or a gap and facts where the viewer is too far behind.
func (v *viewer) next(ctx context.Context) error {
	h := v.hub
	most := h.cfg.MaxLag
	if v.overview != nil {
		most = max(most, h.cfg.Keep/2) // it is sent few of them
	}
	behind, why := h.behind(v.seq), fmt.Sprintf("more than %d events behind", most)
	if v.overview == nil && v.seq < h.hole.Load() {
		behind, why = math.MaxInt, fmt.Sprintf("more than %d events a second", h.cfg.FloodRate)
	}
	switch {
	case behind == math.MaxInt, behind > most && !v.catchUp:
		if err := v.sleep(ctx, h.cfg.FactsInterval-time.Since(v.skipped)); err != nil {
			return err
		}
		return v.sendFacts(ctx, why)
	case behind == 0 && v.overview == nil:
		v.catchUp = false
		return nil
	}
	if err := v.sendNext(ctx); err != nil {
		return err
	}
	if v.sending == 0 && h.inbox.last.Load() > v.seq {
		return nil // it has not seen all that there is
	}
	return v.pace(ctx)
}

// sendNext sends one message, if there is anything for the viewer among the next events.
func (v *viewer) sendNext(ctx context.Context) error {
	v.borrowText()
	defer v.returnText()
	text, err := v.makeNext()
	if err != nil || v.sending == 0 {
		return err
	}
	return v.write(ctx, text, v.sending)
}

// makeNext makes the message, and counts in v.sending what is in it.
func (v *viewer) makeNext() (text []byte, err error) {
	v.borrowLists()
	defer v.returnLists()
	v.read(v.readTold())
	if v.sending = len(v.events) + len(v.told); v.sending == 0 {
		return nil, nil
	}
	text, err = v.eventsMessage()
	v.sending = len(v.events) + len(v.told)
	return text, err
}

// readTold fills v.told with what was told of the groups and holds no event that the viewer has not been sent. It returns up
// to which event the viewer may be sent: so that whoever goes on from there is known to have been told all that came before.
func (v *viewer) readTold() (upTo int64) {
	v.told, upTo = v.told[:0], v.hub.inbox.last.Load()
	if v.overview == nil {
		return math.MaxInt64
	}
	var next int64
	v.told, v.version, next = v.overview.since(v.told, v.version, v.seq, v.group, chunkEvents)
	switch {
	case len(v.told) == chunkEvents:
		return v.seq
	case next > 0:
		upTo = min(upTo, next)
	}
	if v.group != "" {
		v.isAt(v.overview.partition(v.group))
	}
	return upTo
}

// read fills v.events with the next events that the viewer follows, at most up to a Seq, and moves v.seq past those that it
// does not.
func (v *viewer) read(upTo int64) {
	v.events = v.events[:0]
	v.hub.read(func(r *ring) {
		if gone := r.dropped; v.seq < gone || v.overview == nil && v.seq < v.hub.whole(r) {
			return // since it was found out how far the viewer is behind: that comes again
		}
		scanned := 0
		r.after(v.seq, func(e *event.Event) bool {
			if e.Seq > upTo {
				return false
			}
			v.seq, v.seqMs = e.Seq, e.AtMs
			if v.follows(e) {
				v.events = append(v.events, *e)
			}
			scanned++
			return scanned < scanEvents && len(v.events) < chunkEvents
		})
		if r.last <= upTo && v.seq == r.last {
			v.catchUp = false
		}
		if r.count(v.seq) == 0 || upTo <= r.last && r.count(upTo) == r.count(v.seq) {
			v.seq = max(v.seq, min(upTo, r.last)) // there is no event with that number
		}
	})
}

func (v *viewer) follows(e *event.Event) bool {
	if v.overview != nil {
		return concerns(v, e)
	}
	return v.group == "" || e.Group == "" || e.Group == v.group
}

// eventsMessage encodes v.told and v.events, or the first of these where they would make too long a message.
func (v *viewer) eventsMessage() ([]byte, error) {
	h := v.hub
	text := append(v.text[:0], `{"events":[`...)
	for i, t := range v.told {
		said, err := t.json()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, said...)
	}
	if len(v.told) > 0 && len(v.events) > 0 {
		text = append(text, ',')
	}
	text, n, encoded, err := h.cache.write(text, v.events, h.cfg.Keep)
	h.stats.encoded.Add(int64(encoded))
	if err != nil {
		return nil, err
	}
	if n < len(v.events) {
		v.seq, v.seqMs = v.events[n-1].Seq, v.events[n-1].AtMs
		v.events = v.events[:n]
	}
	v.text = v.closeMessage(text)
	return v.text, nil
}

func (v *viewer) closeMessage(text []byte) []byte {
	text = append(text, `],"nowMs":`...)
	return append(strconv.AppendInt(text, v.hub.NowMs(), 10), '}')
}

// sendFacts sends the gap, where why says that there is one, and the picture of now.
func (v *viewer) sendFacts(ctx context.Context, why string) error {
	h := v.hub
	snapshot := h.snapshot
	if v.overview != nil {
		snapshot = func(ctx context.Context) (*encodedSnapshot, error) { return h.groupSnapshot(ctx, v.group) }
	}
	s, err := snapshot(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		g := gap{To: s.Seq, FromMs: v.seqMs, ToMs: s.NowMs, Reason: why}
		if v.seq > 0 {
			g.From, g.Events = v.seq+1, max(s.Seq-v.seq, 0)
		}
		h.stats.gaps.Add(1)
		h.stats.skipped.Add(g.Events)
		v.skipped = time.Now()
		if err := v.say(ctx, "gap", g); err != nil {
			return err
		}
	}
	texts, err := s.encode(h)
	if err != nil {
		return err
	}
	v.borrowText()
	defer v.returnText()
	if v.group != "" {
		for i := range s.Events {
			if loaded, is := s.Events[i].Body.(event.GroupLoaded); is && s.Events[i].Group == v.group {
				v.isAt(loaded.Partition) // what is told of it comes earlier
			}
		}
	}
	f := factsMessage{v: v}
	for i := range texts {
		if i == len(texts)-1 && v.overview != nil {
			if err := v.sendTold(ctx, &f, s); err != nil {
				return err
			}
		}
		if v.follows(&s.Events[i]) {
			if err := f.add(ctx, texts[i]); err != nil {
				return err
			}
		}
	}
	if err := f.flush(ctx); err != nil {
		return err
	}
	v.seq, v.seqMs, v.catchUp = s.Seq, s.NowMs, false
	return nil
}

// factsMessage gathers facts and sends them when they are enough for a message.
type factsMessage struct {
	v *viewer
	n int
}

func (f *factsMessage) add(ctx context.Context, text []byte) error {
	v := f.v
	if f.n == 0 {
		v.text = append(v.text[:0], `{"events":[`...)
	} else {
		v.text = append(v.text, ',')
	}
	v.text = append(v.text, text...)
	if f.n++; f.n < chunkEvents && len(v.text) < chunkBytes {
		return nil
	}
	return f.flush(ctx)
}

func (f *factsMessage) flush(ctx context.Context) error {
	if f.n == 0 {
		return nil
	}
	n := f.n
	f.n = 0
	f.v.text = f.v.closeMessage(f.v.text)
	return f.v.write(ctx, f.v.text, n)
}

// gap tells of events that are not sent.
type gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Events int64  `json:"events"`
	FromMs int64  `json:"fromMs"`
	ToMs   int64  `json:"toMs"`
	Reason string `json:"reason"`
}

func (v *viewer) say(ctx context.Context, name string, what any) error {
	text, err := json.Marshal(map[string]any{name: what})
	if err != nil {
		return err
	}
	return v.write(ctx, text, 0)
}

func (v *viewer) write(ctx context.Context, text []byte, events int) error {
	if err := v.ended(ctx); err != nil {
		return err
	}
	if err := v.send(ctx, text); err != nil {
		return err
	}
	v.lastSent = time.Now()
	v.hub.stats.sent.Add(int64(events))
	return nil
}

// pace waits after a message: for a moment, so that events that come together travel together, and longer where the
// viewer was sent more than MaxRate allows. One long wait would make it fall behind, which is then seen as a gap.
func (v *viewer) pace(ctx context.Context) error {
	h := v.hub
	now := time.Now()
	rate := float64(h.cfg.MaxRate)
	v.spent = max(0, v.spent-now.Sub(v.spentAt).Seconds()*rate) + float64(v.sending)
	v.spentAt = now
	if v.catchUp {
		v.spent = 0
		return nil
	}
	pause := h.cfg.MinInterval + time.Duration(h.stats.viewers.Load())*time.Millisecond/8
	pause = min(pause, max(h.cfg.MinInterval, 150*time.Millisecond))
	if over := v.spent - float64(h.cfg.MaxLag); over > 0 {
		pause = max(pause, time.Duration(over/rate*float64(time.Second)))
	}
	return v.sleep(ctx, pause)
}

func (v *viewer) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return v.ended(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-v.hub.ctx.Done():
	}
	return v.ended(ctx)
}
