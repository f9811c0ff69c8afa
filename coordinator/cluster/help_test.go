package cluster

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// world is a cluster and its network in a test: messages arrive after latencyMs, unless a link is cut.
type world struct {
	t         testing.TB
	c         *Cluster
	nowMs     int64
	latencyMs int64
	wire      []flying
	// cut links drop what is sent, and tell the cluster; slow links keep it until told.
	cut, held map[[2]int32]bool
	events    []event.Event
	appended  []Appended
	moved     Output // what has come out of metadata, immigrations and emigrations
	ticket    int64
	moments   int
}

type flying struct {
	atMs int64
	m    Message
}

func newWorld(t testing.TB, cfg Config) *world {
	if cfg.Numbers == nil {
		cfg.Numbers = &event.Numbers{}
	}
	w := &world{t: t, c: New(1000, cfg), nowMs: 1000, latencyMs: 2, cut: map[[2]int32]bool{}, held: map[[2]int32]bool{}}
	w.take()
	return w
}

func (w *world) take() {
	out := w.c.Take()
	w.events = append(w.events, out.Events...)
	w.appended = append(w.appended, out.Appended...)
	w.moved.Emigrations = append(w.moved.Emigrations, out.Emigrations...)
	w.moved.Immigrations = append(w.moved.Immigrations, out.Immigrations...)
	w.moved.Watermarks = append(w.moved.Watermarks, out.Watermarks...)
	w.moved.MetadataChanged = w.moved.MetadataChanged || out.MetadataChanged
	w.moved.DeadlineMs = out.DeadlineMs
	for _, m := range append([]Message(nil), out.Messages...) {
		if w.cut[[2]int32{m.From, m.To}] {
			w.c.Lost(w.nowMs, m)
			w.take()
			continue
		}
		w.wire = append(w.wire, flying{w.nowMs + w.latencyMs, m})
	}
}

// nextMs is the next moment at which something happens, -1 for never.
func (w *world) nextMs() int64 {
	next := w.moved.DeadlineMs
	for _, f := range w.wire {
		if !w.held[[2]int32{f.m.From, f.m.To}] && (next < 0 || f.atMs < next) {
			next = f.atMs
		}
	}
	return next
}

// to runs the world up to a time.
func (w *world) to(ms int64) {
	for {
		next := w.nextMs()
		if next < 0 || next > ms {
			break
		}
		w.nowMs = max(w.nowMs, next)
		w.moments++
		w.one()
	}
	w.nowMs = max(w.nowMs, ms)
}

func (w *world) one() {
	if d := w.moved.DeadlineMs; d >= 0 && d <= w.nowMs {
		w.c.Advance(w.nowMs)
		w.take()
		if d := w.moved.DeadlineMs; d >= 0 && d <= w.nowMs {
			w.t.Fatalf("at %d ms the cluster still has something due at %d ms", w.nowMs, d)
		}
	}
	for i, f := range w.wire {
		if f.atMs <= w.nowMs && !w.held[[2]int32{f.m.From, f.m.To}] {
			w.wire = append(w.wire[:i:i], w.wire[i+1:]...)
			w.c.Deliver(w.nowMs, f.m)
			w.take()
			return
		}
	}
}

func (w *world) run(ms int64) { w.to(w.nowMs + ms) }

// say appends n records to the leader of a partition and returns the ticket.
func (w *world) say(topic string, partition int32, acks int16, timeoutMs int64, values ...string) int64 {
	leader, _, _ := w.c.Leader(topic, partition)
	return w.sayTo(leader, topic, partition, acks, timeoutMs, batch(w.nowMs, values...))
}

func (w *world) sayTo(broker int32, topic string, partition int32, acks int16, timeoutMs int64, data []byte) int64 {
	w.ticket++
	w.c.Append(w.nowMs, AppendRequest{Broker: broker, Topic: topic, Partition: partition, Epoch: -1, Batch: data, Acks: acks,
		TimeoutMs: timeoutMs, Ticket: w.ticket})
	w.take()
	return w.ticket
}

func batch(nowMs int64, values ...string) []byte {
	var records []log.Record
	for _, v := range values {
		records = append(records, log.Record{TimestampMs: nowMs, Value: []byte(v)})
	}
	return log.Encode(log.NoProducer, 0, records)
}

// outcome is what came of a ticket, if it is there.
func (w *world) outcome(ticket int64) (Appended, bool) {
	for _, a := range w.appended {
		if a.Ticket == ticket {
			return a, true
		}
	}
	return Appended{}, false
}

func (w *world) wantCode(ticket int64, code int16) Appended {
	w.t.Helper()
	a, ok := w.outcome(ticket)
	if !ok {
		w.t.Fatalf("append %d is not answered at %d ms; want code %d", ticket, w.nowMs, code)
	}
	if a.Code != code {
		w.t.Fatalf("append %d: code %d %q, want %d", ticket, a.Code, a.Message, code)
	}
	return a
}

func (w *world) wantWaiting(ticket int64) {
	w.t.Helper()
	if a, ok := w.outcome(ticket); ok {
		w.t.Fatalf("append %d is answered already at %d ms: %+v", ticket, w.nowMs, a)
	}
}

func (w *world) topic(name string, partitions int32, replicas int16, configs ...TopicConfig) {
	w.t.Helper()
	if code, message := w.c.CreateTopic(w.nowMs, name, partitions, replicas, configs); code != 0 {
		w.t.Fatalf("create %s: %d %s", name, code, message)
	}
	w.take()
	w.run(1000)
}

// replica is one broker's copy of a partition.
func (w *world) replica(topic string, partition, broker int32) *replica {
	p := w.c.find(topic, partition)
	return &p.replicas[p.at(broker)]
}

func (w *world) isr(topic string, partition int32) string {
	return fmt.Sprint(w.c.find(topic, partition).isr)
}

// values reads everything that a client can read.
func (w *world) values(broker int32, topic string, partition int32) []string {
	w.t.Helper()
	var got []string
	offset := int64(0)
	for {
		r := w.c.Read(ReadRequest{Broker: broker, Topic: topic, Partition: partition, Epoch: -1, Offset: offset, MaxBytes: 1 << 20, MinOne: true})
		if r.Code != 0 {
			w.t.Fatalf("read %s-%d at %d from broker %d: code %d", topic, partition, offset, broker, r.Code)
		}
		if len(r.Batches) == 0 {
			return got
		}
		for data := r.Batches; len(data) > 0; {
			b, rest, err := log.Parse(data)
			if err != nil {
				w.t.Fatal(err)
			}
			records, err := b.Records(nil)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, r := range records {
				got = append(got, string(r.Value))
			}
			offset, data = b.NextOffset(), rest
		}
	}
}

// text prints the events since the last call.
func (w *world) text() string {
	var b strings.Builder
	for _, e := range w.events {
		b.WriteString(e.String() + "\n")
	}
	w.events = nil
	return b.String()
}

// count counts events of a kind since the last text.
func (w *world) count(kind string) int {
	n := 0
	for _, e := range w.events {
		if e.Body.Kind() == kind {
			n++
		}
	}
	return n
}

func (w *world) hold(from, to int32, on bool) { w.held[[2]int32{from, to}] = on }

func (w *world) kill(id int32) {
	w.t.Helper()
	if !w.c.KillBroker(w.nowMs, id) {
		w.t.Fatalf("broker %d does not run", id)
	}
	w.take()
}

func (w *world) start(id int32) bool {
	done := w.c.StartBroker(w.nowMs, id)
	w.take()
	return done
}

// wantSameLogs wants every replica of a partition to have the same bytes.
func (w *world) wantSameLogs(topic string, partition int32) {
	w.t.Helper()
	p := w.c.find(topic, partition)
	first := bytesOf(w.t, p.replicas[0].log)
	for i := range p.replicas {
		if r := &p.replicas[i]; !bytes.Equal(bytesOf(w.t, r.log), first) {
			w.t.Errorf("%s-%d: the logs of broker %d (to %d) and %d (to %d) differ", topic, partition, p.replicas[0].broker,
				p.replicas[0].log.EndOffset(), r.broker, r.log.EndOffset())
		}
	}
}

func bytesOf(t testing.TB, l *log.Log) []byte {
	var all []byte
	if err := l.Each(l.StartOffset(), l.EndOffset(), func(b log.Batch) bool { all = append(all, b.Bytes...); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

// everything is the bytes of all logs.
func (w *world) everything() []byte {
	var all []byte
	for _, p := range w.c.partitions {
		for i := range p.replicas {
			all = append(all, bytesOf(w.t, p.replicas[i].log)...)
		}
	}
	return all
}

func (w *world) clone() *world {
	k := *w
	k.c = w.c.Clone(w.c.cfg.Numbers.Clone())
	k.wire = append([]flying(nil), w.wire...)
	k.cut, k.held = maps.Clone(w.cut), maps.Clone(w.held)
	k.events, k.appended = append([]event.Event(nil), w.events...), append([]Appended(nil), w.appended...)
	return &k
}
