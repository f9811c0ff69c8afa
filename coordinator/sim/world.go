// Package sim is a seeded world: a virtual clock, a network, brokers and consumers. Nothing in it sleeps and nothing is
// random: the same Config and the same calls give the same events, byte for byte, natively and in WebAssembly.
//
// The brokers are a drive.Drive, the same that the server runs. The consumers follow Kafka's Java client (2.4 to 3.x,
// classic protocol): AbstractCoordinator, ConsumerCoordinator and, as far as it matters, NetworkClient. One file holds
// one thing that they do: find.go, join.go, assignor.go, sync.go, heartbeat.go, commit.go, fetch.go, metadata.go,
// leave.go; produce.go is the transactional producer that may be beside a consumer (TransactionManager).
//
// What the brokers do is told by the drive's events; this package adds what clients and the network do. Heartbeats are
// told only where they change something: their arrival is the coordinator's HeartbeatReceived (coalesced there); answers
// other than NONE, losses and failures have events here.
//
// Not modelled: setting up a connection (TCP, ApiVersions) takes no time, except that a dead broker refuses after a
// round trip; there is no Fetch: positions grow by themselves; there is no ListOffsets: a partition without a committed
// offset begins at 0; back-offs do not grow (they do since KIP-580) and have no jitter.
package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/cluster"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
)

// World is a cluster and its clients. One goroutine owns it.
type World struct {
	cfg     Config
	nowMs   int64
	numbers *event.Numbers
	prng    *rand.PCG
	events  []event.Event

	drive *drive.Drive
	// driveMs is when the drive must be advanced, -1 where it waits for nothing.
	driveMs int64
	agenda  agenda
	// cause is the Seq of the fact that is being acted on; what is emitted meanwhile carries it.
	cause int64
	// goneSeq tells for each broker, from the first, which fact told of its last end; 0 where none did.
	goneSeq []int64

	consumers []*consumer
	calls     map[int64]*call
	conns     map[int64]*conn
	messages  map[int64]cluster.Message
	lastCall  int64
	lastConn  int64
	lastMsg   int64
	drops     []dropRule
	lates     []lateRule
	cuts      []link
	// Tap, where set, is given each request as its broker begins with it, and once more when it is answered. It must
	// keep neither for longer than the call. Tests put the same requests to real brokers.
	Tap func(Exchange)
}

// Exchange is a request in a broker's hands; Reply is nil until it is answered.
type Exchange struct {
	Call, Conn int64
	Client     string
	Request    kmsg.Request
	Reply      kmsg.Response
}

func (w *World) tap(k *call, reply kmsg.Response) {
	if w.Tap != nil {
		w.Tap(Exchange{Call: k.id, Conn: k.conn, Client: w.consumers[k.consumer].cfg.Name, Request: k.req, Reply: reply})
	}
}

// New makes a world at 0 ms with its brokers running, without topics of its own and without consumers.
func New(cfg Config) (*World, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	dc, err := driveConfig(cfg)
	if err != nil {
		return nil, err
	}
	w := &World{
		cfg: cfg, numbers: &event.Numbers{}, prng: rand.NewPCG(cfg.Seed, 0x67726f75706c6162), driveMs: -1,
		calls: map[int64]*call{}, conns: map[int64]*conn{}, messages: map[int64]cluster.Message{}, goneSeq: make([]int64, cfg.Brokers),
	}
	dc.Numbers = w.numbers
	w.drive = drive.New(0, dc)
	w.take()
	return w, nil
}

// NowMs is the world's time in milliseconds.
func (w *World) NowMs() int64 { return w.nowMs }

// Drive is the cluster and its coordinators, for looking and for Probe. What changes it goes through the world.
func (w *World) Drive() *drive.Drive { return w.drive }

// NextMs is when something happens next, -1 where nothing will without an action from outside.
func (w *World) NextMs() int64 {
	for {
		d, ok := w.agenda.first()
		if !ok {
			return w.driveMs
		}
		if d.what == wakes && w.consumers[d.ref].wake != d.order {
			w.agenda.drop() // the consumer has been armed anew since
			continue
		}
		if w.driveMs >= 0 && w.driveMs < d.atMs {
			return w.driveMs
		}
		return d.atMs
	}
}

// mostInAMoment is far more than can be due in one millisecond. Whatever acts without letting time pass is a bug here.
const mostInAMoment = 1_000_000

// Step runs the next moment: everything that is due at NextMs. It reports false where nothing is due ever.
func (w *World) Step() bool {
	next := w.NextMs()
	if next < 0 {
		return false
	}
	w.nowMs = max(w.nowMs, next)
	for done := 0; w.one(); done++ {
		if done == mostInAMoment {
			d, _ := w.agenda.first()
			panic(fmt.Sprintf("sim: the moment at %d ms does not end: next is %+v, drive at %d", w.nowMs, d, w.driveMs))
		}
	}
	w.cause = 0
	return true
}

// one does the first thing that is due now. Timers of brokers come before messages that arrive in the same millisecond.
func (w *World) one() bool {
	next := w.NextMs()
	if next < 0 || next > w.nowMs {
		return false
	}
	w.cause = 0
	if w.driveMs >= 0 && w.driveMs <= w.nowMs {
		w.drive.Advance(w.nowMs)
		w.take()
		if w.driveMs >= 0 && w.driveMs <= w.nowMs {
			panic(fmt.Sprintf("sim: the drive was advanced to %d ms and still has something due at %d ms", w.nowMs, w.driveMs))
		}
		return true
	}
	d, _ := w.agenda.first()
	w.agenda.drop()
	switch d.what {
	case reaches:
		w.reached(d.ref)
	case returns:
		w.returned(d.ref)
	case breaks:
		w.broke(d.ref)
	case unmutes:
		w.unmute(d.ref)
	case delivers:
		m := w.messages[d.ref]
		delete(w.messages, d.ref)
		w.drive.Deliver(w.nowMs, m)
		w.take()
	case wakes:
		c := w.consumers[d.ref]
		c.wake, c.wakeMs = 0, -1
		w.run(c)
	}
	return true
}

// AdvanceTo runs every moment up to ms and leaves the clock there. A time in the past changes nothing.
func (w *World) AdvanceTo(ms int64) {
	for next := w.NextMs(); next >= 0 && next <= ms; next = w.NextMs() {
		w.Step()
	}
	w.nowMs = max(w.nowMs, ms)
}

// roomFor makes room for n more events. They lie one behind the other in large pieces, so that neither many small Takes
// nor a large one cost more than their events.
func (w *World) roomFor(n int) {
	const piece = 512
	if cap(w.events)-len(w.events) < n {
		w.events = append(make([]event.Event, 0, max(piece, 2*len(w.events)+n)), w.events...)
	}
}

// Take hands out the events since the last Take, in the order of Seq.
func (w *World) Take() []event.Event {
	out := w.events
	w.events = w.events[len(out):]
	return slices.Clip(out)
}

// Input notes what a learner or a script did ("kill c3"). It is the cause of what follows until the next Step.
func (w *World) Input(text string) {
	w.cause = 0
	w.cause = w.emit(0, "", event.InputGiven{Text: text})
}

// because makes what is being acted on the cause of what the cluster does about it, until the function that it returns is
// called.
func (w *World) because() func() {
	w.drive.Because(w.cause)
	return func() { w.drive.Because(0) }
}

// Facts are the events that rebuild the picture, brokers first, then clients, between FactsBegan and FactsEnded. They
// change nothing and use no new Seq: each carries the Seq handed out last. What is on the wire is not among them.
func (w *World) Facts() []event.Event {
	facts := w.drive.Facts(w.nowMs)
	end := facts[len(facts)-1]
	facts = facts[:len(facts)-1]
	for _, c := range w.consumers {
		for _, body := range c.facts() {
			facts = append(facts, event.Event{Seq: end.Seq, AtMs: w.nowMs, Group: c.cfg.Group, Body: body})
		}
	}
	return append(facts, end)
}

// emit tells a fact whose cause is what is being acted on, and returns its Seq.
func (w *World) emit(broker int32, group string, body event.Body) int64 {
	seq := w.numbers.Next()
	w.roomFor(1)
	w.events = append(w.events, event.Event{Seq: seq, AtMs: w.nowMs, Broker: broker, Group: group, Cause: w.cause, Body: body})
	return seq
}

// take carries on what came out of the drive. It must follow every door of the drive before anything else is emitted,
// so that events stay in the order of Seq.
func (w *World) take() {
	out := w.drive.Take()
	w.roomFor(len(out.Events))
	w.events = append(w.events, out.Events...)
	w.driveMs = out.DeadlineMs
	for _, e := range out.Events {
		if b, ok := e.Body.(event.ReplyDropped); ok {
			w.dropped(b.Ticket)
		}
	}
	for _, r := range out.Replies {
		w.answered(r.Ticket, r.Kmsg, r.Code, r.Cause)
	}
	for _, m := range out.Messages {
		w.lastMsg++
		w.messages[w.lastMsg] = m
		w.agenda.add(w.nowMs+w.cfg.LatencyMs, delivers, w.lastMsg)
	}
}

// chance gives a number from 0 to n-1.
func (w *World) chance(n int) int { return int(w.prng.Uint64() % uint64(n)) }

// Clone is a full copy that goes on identically under the same calls.
func (w *World) Clone() *World {
	c := *w
	c.numbers = w.numbers.Clone()
	prng := *w.prng
	c.prng = &prng
	c.events = append([]event.Event(nil), w.events...)
	c.drive = w.drive.Clone(c.numbers)
	c.agenda = w.agenda.clone()
	c.cfg.Set = append([]Setting(nil), w.cfg.Set...)
	c.drops = append([]dropRule(nil), w.drops...)
	c.lates, c.cuts = append([]lateRule(nil), w.lates...), append([]link(nil), w.cuts...)
	c.consumers = make([]*consumer, len(w.consumers))
	for i, k := range w.consumers {
		c.consumers[i] = k.clone()
	}
	c.calls = make(map[int64]*call, len(w.calls))
	for id, k := range w.calls {
		kept := *k
		c.calls[id] = &kept
	}
	c.conns = make(map[int64]*conn, len(w.conns))
	for id, k := range w.conns {
		c.conns[id] = k.clone()
	}
	c.goneSeq = slices.Clone(w.goneSeq)
	c.messages = make(map[int64]cluster.Message, len(w.messages))
	for id, m := range w.messages {
		c.messages[id] = m
	}
	return &c
}
