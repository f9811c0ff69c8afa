package txn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a coordinator with the one partition of __transaction_state and whoever answers it. Appends and markers wait
// until they are let through.
type world struct {
	t       fataler
	c       *Coordinator
	nowMs   int64
	epoch   int32
	log     []record.Record
	ticket  int64
	appends []Append
	markers []Marker
	replies map[int64]Reply
	events  []event.Event
	// written are the markers that partitions have, "t-0 COMMIT 1000/0".
	written []string
	// fences are the highest coordinator epochs that partitions have seen of a producer.
	fences   map[string]int32
	nextID   int64
	noIDs    bool
	deadline int64
}

func newWorld(t fataler) *world {
	w := &world{t: t, nowMs: 0, replies: map[int64]Reply{}, fences: map[string]int32{}, nextID: 1000, epoch: -1}
	w.c = New(0, Config{Broker: 1, Numbers: &event.Numbers{}, Settings: DefaultSettings()})
	w.c.MetadataChanged(0, Metadata{Topics: map[string]int32{"t": 4, "u": 2, offsetsTopic: 3}, Leaders: []int32{1}, OffsetsPartitions: 3})
	w.take()
	w.lead()
	w.c.Allocated(0, w.nextID, 1000, 0)
	w.nextID += 1000
	w.take()
	return w
}

func (w *world) take() {
	out := w.c.Take()
	w.appends = append(w.appends, out.Appends...)
	w.markers = append(w.markers, out.Markers...)
	w.events = append(w.events, out.Events...)
	for _, r := range out.Replies {
		if _, twice := w.replies[r.Ticket]; twice {
			w.t.Fatalf("request %d was answered twice", r.Ticket)
		}
		w.replies[r.Ticket] = r
	}
	w.deadline = out.DeadlineMs
	if out.DeadlineMs >= 0 && out.DeadlineMs <= w.nowMs {
		w.t.Fatalf("at %d ms the deadline is %d ms", w.nowMs, out.DeadlineMs)
	}
	if out.AllocateProducerIDs && !w.noIDs {
		w.c.Allocated(w.nowMs, w.nextID, 1000, 0)
		w.nextID += 1000
		w.take()
	}
}

// lead makes the coordinator the leader of the partition, in a new epoch, with the log as it is.
func (w *world) lead() {
	w.epoch++
	w.c.Immigrate(w.nowMs, 0, w.epoch, int64(len(w.log)))
	w.c.Load(w.nowMs, 0, w.epoch, LoadedBatch{Records: w.log})
	w.c.Loaded(w.nowMs, 0, w.epoch, "")
	w.take()
}

// to lets time pass.
func (w *world) to(ms int64) {
	for w.deadline >= 0 && w.deadline <= ms {
		w.nowMs = max(w.nowMs, w.deadline)
		w.c.Advance(w.nowMs)
		w.take()
	}
	w.nowMs = ms
	w.c.Advance(ms)
	w.take()
}

// append gives the first append its outcome.
func (w *world) append(code int16) {
	a := w.appends[0]
	w.appends = slices.Delete(w.appends, 0, 1)
	if code == codeNone && a.Epoch != w.epoch {
		code = codeNotLeaderOrFollower
	}
	if code == codeNone {
		w.log = append(w.log, a.Record)
	}
	w.c.Appended(w.nowMs, a.Ticket, code)
	w.take()
}

// mark gives the first marker its answer.
func (w *world) mark(code int16) {
	m := w.markers[0]
	w.markers = slices.Delete(w.markers, 0, 1)
	where := fmt.Sprintf("%s-%d of %d", m.Topic, m.Partition, m.ProducerID)
	if code == codeNone && m.CoordinatorEpoch < w.fences[where] {
		code = codeCoordinatorFenced // what a coordinator sent that is none any more
	}
	if code == codeNone {
		w.fences[where] = m.CoordinatorEpoch
		w.decided(m)
		kind := "ABORT"
		if m.Commit {
			kind = "COMMIT"
		}
		w.written = append(w.written, fmt.Sprintf("%s-%d %s %d/%d", m.Topic, m.Partition, kind, m.ProducerID, m.ProducerEpoch))
	}
	w.c.Marked(w.nowMs, m.Ticket, code)
	w.take()
}

// decided checks that a marker says what the log says: the last decision about its producer, under one of the
// transactional ids that have it; a damaged log may give a producer id to several.
func (w *world) decided(m Marker) {
	w.t.Helper()
	seen := map[string]bool{}
	var last []string
	for _, r := range slices.Backward(w.log) {
		v, err := decode(r.Value)
		if seen[string(r.Key)] || r.Value == nil || err != nil || v.producerID != m.ProducerID || v.state != event.TxnPrepareCommit && v.state != event.TxnPrepareAbort {
			continue
		}
		seen[string(r.Key)] = true
		if v.state == prepared(m.Commit) && v.epoch == m.ProducerEpoch && v.has(partitionKey{m.Topic, m.Partition}) {
			return
		}
		last = append(last, fmt.Sprintf("%+v", v))
	}
	w.t.Fatalf("marker %+v, but what was decided of its producer is %v", m, last)
}

// settle lets everything through.
func (w *world) settle() {
	for len(w.appends)+len(w.markers) > 0 {
		if len(w.appends) > 0 {
			w.append(0)
		} else {
			w.mark(0)
		}
	}
}

func (w *world) ask(q kmsg.Request) int64 {
	w.ticket++
	w.c.Handle(w.nowMs, Request{Ticket: w.ticket, ClientID: "p", Kmsg: q})
	w.take()
	return w.ticket
}

// code is the answer to a request, "waits" where there is none.
func (w *world) code(ticket int64) string {
	r, ok := w.replies[ticket]
	if !ok {
		return "waits"
	}
	return event.CodeName(r.Code)
}

func (w *world) want(ticket int64, code string) {
	w.t.Helper()
	if got := w.code(ticket); got != code {
		w.t.Fatalf("request %d: %s, want %s", ticket, got, code)
	}
}

func initReq(id string, timeoutMs int32) *kmsg.InitProducerIDRequest {
	q := kmsg.NewPtrInitProducerIDRequest()
	q.Version, q.TransactionTimeoutMillis = 4, timeoutMs
	if id != "-" {
		q.TransactionalID = &id
	}
	return q
}

// init asks for an epoch and lets it through.
func (w *world) init(id string) (producerID int64, epoch int16) {
	w.t.Helper()
	ticket := w.ask(initReq(id, 60_000))
	w.settle()
	w.want(ticket, "NONE")
	r := w.replies[ticket].Kmsg.(*kmsg.InitProducerIDResponse)
	return r.ProducerID, r.ProducerEpoch
}

func addReq(id string, producerID int64, epoch int16, topic string, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	q := kmsg.NewPtrAddPartitionsToTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch = 3, id, producerID, epoch
	q.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: partitions}}
	return q
}

func offsetsReq(id string, producerID int64, epoch int16, group string) *kmsg.AddOffsetsToTxnRequest {
	q := kmsg.NewPtrAddOffsetsToTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Group = 3, id, producerID, epoch, group
	return q
}

func endReq(id string, producerID int64, epoch int16, commit bool) *kmsg.EndTxnRequest {
	q := kmsg.NewPtrEndTxnRequest()
	q.Version, q.TransactionalID, q.ProducerID, q.ProducerEpoch, q.Commit = 4, id, producerID, epoch, commit
	return q
}

// done asks and lets through, and wants NONE.
func (w *world) done(q kmsg.Request) {
	w.t.Helper()
	ticket := w.ask(q)
	w.settle()
	w.want(ticket, "NONE")
}

// state prints an id.
func (w *world) state(id string) string {
	t := w.c.txns[id]
	if t == nil {
		return "unknown"
	}
	s := fmt.Sprintf("%s %d/%d %s", t.state, t.producerID, t.epoch, event.Partitions(t.topics()))
	if t.pending != nil {
		s += " -> " + string(t.pending.state)
	}
	return s
}

func (w *world) wantState(id, state string) {
	w.t.Helper()
	if got := w.state(id); got != state {
		w.t.Fatalf("%s is %q, want %q", id, got, state)
	}
}

// kinds are the kinds of facts since the last look.
func (w *world) kinds() string {
	var list []string
	for _, e := range w.events {
		list = append(list, e.Body.Kind())
	}
	w.events = nil
	return strings.Join(list, " ")
}

// picture is all that is known, for comparisons.
func (w *world) picture() string {
	var list []string
	for _, id := range slices.Sorted(maps.Keys(w.c.txns)) {
		list = append(list, id+" "+w.state(id))
	}
	return strings.Join(list, "\n")
}

var _ fataler = (*testing.T)(nil)
