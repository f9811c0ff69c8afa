package sim_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"grouplab/coordinator/event"
)

// history is a fold over events that asks of each partition whose offsets are committed: is there one order of all
// commits, removals and reads that explains what every client was told (linearizability, by porcupine)?
//
//   - A commit takes effect between the moment in which its client sends it and the one in which it is acknowledged or
//     its append has succeeded. One that was refused before it was written has no effect. Where an append failed or its
//     broker died, the record may be in the log all the same: the next coordinator may find it.
//   - What a transaction has written takes effect when the transaction commits, and never otherwise. For readers that
//     require stable offsets (KIP-447) that is the decision (EndTxn's answer, or PREPARE_COMMIT in its log): from then on
//     they are answered UNSTABLE_OFFSET_COMMIT, which reads nothing, until they get the new value. For others it is when
//     all markers are written. Each kind of reader has a register of its own.
//   - A removal (DeleteGroups, OffsetDelete, a deleted topic, expiry) takes effect at once. If its tombstones do not
//     reach the log, the next coordinator may bring back what was there.
//   - A request that the network delivers twice is two requests; nobody waits for the second one's answer.
//
// The values are those that the wire carries (RequestSent, ReplyOnWire), not what a coordinator says that it stored.
type history struct {
	registers
	asks    map[int64]*ask // requests that are not answered
	fetched *ask           // the OffsetFetch whose answer is about to leave
	working map[int32]*ask // the commit that a broker has in hand
	verify  map[opID]*ask  // commits that wait for a transaction coordinator, by verification
	appends map[opID]*ask  // commits that are being written
	removed []*removal     // removals whose tombstones are being written
	txns    map[producer]*txn
	// endedTwice are producers of whose EndTxn a second copy was delivered. It may end their next transaction: before
	// KIP-890's second part nothing tells the two apart.
	endedTwice map[producer]bool
}

// ask is a request that reads or writes offsets.
type ask struct {
	api    int16
	who    string
	group  string
	to     int32
	sentMs int64
	sent   int64 // Seq
	stable bool  // of an OffsetFetch: requireStable
	commit bool  // of an EndTxn
	txn    producer
	values map[place]value // what it writes
	// places are being written since the event at; acknowledged is set where the answer did not wait for that.
	places       []place
	at           int64
	acknowledged bool
}

type producer struct {
	id    int64
	epoch int16
}

// txn is what a transaction has written. One that was asked to commit and is decided is only shown to those who require
// stable offsets; the others wait for all markers.
type txn struct {
	writes  map[place]dated
	maybe   []write // in the log, or not
	who     string
	asked   int64 // when EndTxn was sent to commit, 0 before
	decided bool
}

type write struct {
	place
	dated
}

// removal is one OffsetsRemoved.
type removal struct {
	broker  int32
	group   string
	places  []place
	at      int64
	why     string
	appends map[int64]bool
	lost    bool // some tombstones were not written
}

func newHistory() *history {
	return &history{registers: newRegisters(), asks: map[int64]*ask{}, working: map[int32]*ask{}, verify: map[opID]*ask{},
		appends: map[opID]*ask{}, txns: map[producer]*txn{}, endedTwice: map[producer]bool{}}
}

// apply looks at one event; it tells what is wrong, "" where nothing is.
func (h *history) apply(e event.Event) string {
	if wrong := h.look(); wrong != "" {
		return wrong
	}
	h.seq = e.Seq
	switch b := e.Body.(type) {
	case event.RequestSent:
		h.sent(e, b)
	case event.MessageLost:
		if !b.Reply {
			delete(h.asks, b.Request)
		}
	case event.RequestReceived:
		h.received(e, b)
	case event.ReplySent:
		h.answered(b)
	case event.ReplyOnWire:
		h.read(b)
	case event.TxnVerificationStarted:
		h.verify[opID{e.Broker, b.Verification}] = h.working[e.Broker]
	case event.TxnVerificationFinished:
		id := opID{e.Broker, b.Verification}
		h.working[e.Broker] = h.verify[id]
		delete(h.verify, id)
	case event.OffsetsPending:
		h.pending(e, b.Append, b.Offsets)
	case event.TxnOffsetsPending:
		h.pending(e, b.Append, b.Offsets)
	case event.OffsetsRemoved:
		h.remove(e, b)
	case event.AppendStarted:
		if b.What == "tombstones" {
			h.tombstones(e, b.Append)
		}
	case event.AppendFinished:
		h.written(opID{e.Broker, b.Append}, b.Code == 0)
	case event.TxnStateChanged:
		h.transaction(producer{b.ProducerID, b.ProducerEpoch}, b.To)
	case event.BrokerStopped:
		h.stopped(b.ID)
	case event.CleanupRan: // once in a while, what can never arrive any more is forgotten
		maps.DeleteFunc(h.asks, func(_ int64, a *ask) bool { return a.sentMs < e.AtMs-forgottenAfterMs })
	}
	return ""
}

// forgottenAfterMs is longer than any message takes that arrives at all.
const forgottenAfterMs = 3 * 3_600_000

// sent notes what a client wants.
func (h *history) sent(e event.Event, b event.RequestSent) {
	if b.API != 8 && b.API != 9 && b.API != 26 && b.API != 28 {
		return
	}
	a := &ask{api: b.API, who: fmt.Sprintf("%s %s #%d", b.Client, event.APIName(b.API), b.Request), group: e.Group, to: b.To, sentMs: e.AtMs,
		sent: e.Seq, stable: b.RequireStable, commit: b.Commit, txn: producer{b.ProducerID, b.ProducerEpoch}, values: map[place]value{}}
	for _, o := range b.Offsets {
		a.values[place{e.Group, o.Topic, o.Partition}] = valueOf(o)
	}
	if first := h.asks[b.CopyOf]; first != nil { // a copy says the same
		a.values, a.txn, a.commit = first.values, first.txn, first.commit
	}
	h.asks[b.Request] = a
	switch {
	case b.API == 28 && b.CopyOf == 0:
		h.txn(a)
	case b.API == 26 && b.CopyOf != 0:
		h.endedTwice[a.txn] = h.endedTwice[a.txn] || a.commit
	case b.API == 26 && b.Commit:
		if t := h.txns[a.txn]; t != nil && t.asked == 0 {
			t.asked, t.who = e.Seq, a.who
		}
	}
}

func valueOf(o event.OffsetValue) value { return value{o.Offset, o.LeaderEpoch, o.Metadata} }

// txn is the transaction that a TxnOffsetCommit is part of.
func (h *history) txn(a *ask) *txn {
	t := h.txns[a.txn]
	if t == nil {
		t = &txn{writes: map[place]dated{}, who: a.who}
		h.txns[a.txn] = t
	}
	return t
}

// received notes which commit a broker has in hand; what else it does is of no interest.
func (h *history) received(e event.Event, b event.RequestReceived) {
	h.working[e.Broker] = nil
	if b.API != 8 && b.API != 28 {
		return
	}
	if h.asks[b.Ticket] == nil { // nobody was seen sending it
		h.asks[b.Ticket] = &ask{api: b.API, who: fmt.Sprintf("%s %s #%d", b.ClientID, event.APIName(b.API), b.Ticket), group: e.Group,
			to: e.Broker, sentMs: e.AtMs, sent: e.Seq}
	}
	h.working[e.Broker] = h.asks[b.Ticket]
}

// pending: a commit was accepted and is being written.
func (h *history) pending(e event.Event, ticket int64, offsets []event.OffsetValue) {
	a := h.working[e.Broker]
	if a == nil {
		return
	}
	a.at = e.Seq
	if b, ok := e.Body.(event.TxnOffsetsPending); ok {
		a.txn = producer{b.ProducerID, b.ProducerEpoch}
	}
	if a.values == nil {
		a.values = map[place]value{}
	}
	for _, o := range offsets {
		p := place{e.Group, o.Topic, o.Partition}
		a.places = append(a.places, p)
		if _, told := a.values[p]; !told {
			a.values[p] = valueOf(o)
		}
		if a.api == 8 {
			h.both(p, func(l *line) { l.busy++ })
		}
	}
	h.appends[opID{e.Broker, ticket}] = a
}

// written takes the outcome of an append. One that failed may be in the log all the same.
func (h *history) written(id opID, done bool) {
	for _, r := range slices.Clone(h.removed) {
		if r.broker == id.broker && r.appends[id.id] {
			delete(r.appends, id.id)
			r.lost = r.lost || !done
			if len(r.appends) == 0 {
				h.over(r)
			}
		}
	}
	if a := h.appends[id]; a != nil {
		delete(h.appends, id)
		h.settle(a, done)
	}
}

// settle ends the wait for an append.
func (h *history) settle(a *ask, done bool) {
	for _, p := range a.places {
		v := dated{a.values[p], a.at}
		if a.api == 28 {
			h.settleTxn(a, write{p, v}, done)
			continue
		}
		h.both(p, func(l *line) {
			l.busy--
			switch {
			case a.acknowledged:
			case done:
				l.add(operation{effect: writes, dated: v, who: a.who}, a.sent, h.seq)
			default:
				l.add(operation{effect: mayWrite, dated: v, who: a.who}, a.at, a.at)
			}
		})
	}
	a.places = nil
}

func (h *history) settleTxn(a *ask, w write, done bool) {
	t := h.txn(a)
	switch {
	case t.decided: // a second copy came after the end, before the marker
		h.both(w.place, func(l *line) { l.add(operation{effect: mayWrite, dated: w.dated, who: a.who}, h.seq, h.seq) })
	case !done:
		t.maybe = append(t.maybe, w)
	case t.writes[w.place].at < w.at:
		t.writes[w.place] = w.dated
	}
}

// answered: what is acknowledged counts from now on, whatever the broker has done or not done about it.
func (h *history) answered(b event.ReplySent) {
	a := h.asks[b.Ticket]
	if a == nil {
		return
	}
	delete(h.asks, b.Ticket)
	switch a.api {
	case 9:
		h.fetched = a
	case 26:
		if t := h.txns[a.txn]; t != nil && b.Code == 0 && a.commit && t.asked != 0 {
			h.decide(t)
		}
	case 8:
		if b.Code != 0 || a.at != 0 && len(a.places) == 0 {
			return // refused, or told when it was written
		}
		a.acknowledged = true
		for _, p := range sortedPlaces(a.values) {
			v := dated{a.values[p], a.at}
			if a.at == 0 {
				v.at = h.seq
			}
			h.both(p, func(l *line) { l.add(operation{effect: writes, dated: v, who: a.who}, a.sent, h.seq) })
		}
	case 28:
		if t := h.txn(a); b.Code == 0 && !t.decided {
			for _, p := range sortedPlaces(a.values) {
				if at := max(a.at, a.sent); t.writes[p].at < at {
					t.writes[p] = dated{a.values[p], at}
				}
			}
		}
	}
}

// read: an OffsetFetch was answered.
func (h *history) read(b event.ReplyOnWire) {
	a := h.fetched
	h.fetched = nil
	if a == nil || b.API != 9 {
		return
	}
	for _, o := range b.Offsets {
		if o.Code == 0 {
			l := h.line(place{a.group, o.Topic, o.Partition}, a.stable)
			l.add(operation{effect: reads, dated: dated{value: valueOf(o)}, who: a.who}, a.sent, h.seq)
		}
	}
}

// remove: offsets are gone; the log learns of it by the tombstones that are appended next.
func (h *history) remove(e event.Event, b event.OffsetsRemoved) {
	r := &removal{broker: e.Broker, group: e.Group, at: e.Seq, why: string(b.Why), appends: map[int64]bool{}}
	for _, o := range b.Offsets {
		p := place{e.Group, o.Topic, o.Partition}
		r.places = append(r.places, p)
		h.both(p, func(l *line) { l.busy++ })
	}
	h.removed = append(h.removed, r)
}

func (h *history) tombstones(e event.Event, ticket int64) {
	for _, r := range h.removed {
		if r.broker == e.Broker && r.group == e.Group {
			r.appends[ticket] = true
		}
	}
}

// over: the outcome of a removal's tombstones is known.
func (h *history) over(r *removal) {
	op := operation{effect: removes, dated: dated{none, r.at}, loose: r.lost, who: r.why}
	for _, p := range r.places {
		h.both(p, func(l *line) {
			l.busy--
			l.add(op, r.at, r.at)
		})
	}
	h.removed = slices.DeleteFunc(h.removed, func(o *removal) bool { return o == r })
}

// transaction follows the state of a producer's transaction.
func (h *history) transaction(id producer, to event.TxnState) {
	switch to {
	case event.TxnPrepareAbort, event.TxnCompleteAbort:
		maps.DeleteFunc(h.txns, func(o producer, t *txn) bool { return o.id == id.id && o.epoch <= id.epoch && !t.decided })
	case event.TxnPrepareCommit, event.TxnCompleteCommit:
		t := h.txns[id]
		if t != nil && t.asked == 0 && h.endedTwice[id] {
			t.asked = h.seq
		}
		if t == nil || t.asked == 0 {
			return
		}
		h.decide(t)
		if to == event.TxnCompleteCommit {
			h.show(t)
			delete(h.txns, id)
		}
	}
}

// decide: the transaction will commit, whatever happens. Readers that require stable offsets see what it wrote or wait.
func (h *history) decide(t *txn) {
	if t.decided {
		return
	}
	t.decided = true
	for _, p := range sortedPlaces(t.writes) {
		h.line(p, true).add(operation{effect: writes, dated: t.writes[p], who: t.who, late: true}, t.asked, h.seq)
		h.line(p, false).busy++
	}
	for i, w := range t.maybe {
		again := func(o write) bool { return o.place == w.place && o.value == w.value }
		if w.at < t.writes[w.place].at || slices.ContainsFunc(t.maybe[i+1:], again) {
			continue // a later one of the transaction wins in any case
		}
		h.both(w.place, func(l *line) { l.add(operation{effect: mayWrite, dated: w.dated, who: t.who}, h.seq, h.seq) })
	}
}

// show: all markers of a decided transaction are written.
func (h *history) show(t *txn) {
	for _, p := range sortedPlaces(t.writes) {
		l := h.line(p, false)
		l.busy--
		l.add(operation{effect: writes, dated: t.writes[p], who: t.who, late: true}, t.asked, h.seq)
	}
}

// stopped: what a broker had in hand may be in the log. What is on its way to it never arrives.
func (h *history) stopped(broker int32) {
	for _, id := range slices.SortedFunc(maps.Keys(h.appends), func(a, b opID) int { return int(h.appends[a].at - h.appends[b].at) }) {
		if id.broker == broker {
			h.written(id, false)
		}
	}
	for _, r := range slices.Clone(h.removed) {
		if r.broker == broker {
			r.lost = true
			h.over(r)
		}
	}
	delete(h.working, broker)
	maps.DeleteFunc(h.verify, func(id opID, _ *ask) bool { return id.broker == broker })
	maps.DeleteFunc(h.asks, func(_ int64, a *ask) bool { return a.to == broker })
}

// finish looks at all that is left.
func (h *history) finish() string {
	for _, id := range slices.Sorted(maps.Keys(h.workingBrokers())) {
		h.stopped(id)
	}
	for _, id := range slices.SortedFunc(maps.Keys(h.txns), func(a, b producer) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.epoch, b.epoch)) }) {
		t := h.txns[id]
		for _, p := range sortedPlaces(t.writes) {
			if l := h.line(p, false); t.decided {
				l.busy--
				l.add(operation{effect: mayWrite, dated: t.writes[p], who: t.who}, t.asked, t.asked)
			}
		}
	}
	return h.rest()
}

func (h *history) workingBrokers() map[int32]bool {
	brokers := map[int32]bool{}
	for id := range h.appends {
		brokers[id.broker] = true
	}
	for _, r := range h.removed {
		brokers[r.broker] = true
	}
	return brokers
}
