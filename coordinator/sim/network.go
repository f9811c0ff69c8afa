package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/event"
)

// call is one request of a consumer, from sending it until both ends are done with it.
type call struct {
	id         int64
	consumer   int
	conn       int64
	req        kmsg.Request
	deadlineMs int64
	// sent is the Seq of its RequestSent, 0 for a heartbeat: those are told only where they change something (their
	// arrival is the coordinator's HeartbeatReceived, an answer that is not NONE is told, and so is a loss).
	sent   int64
	use    use
	byHand bool // by World.Ask
	// member and generation are what the client believed when it sent it.
	member     string
	generation int32

	reply kmsg.Response
	code  int16
	// onWire is the Seq of its ReplyOnWire, or of what the broker said about it.
	onWire int64
	// clientDone: answered, or given up. brokerDone: answered, lost on the way, or the broker died.
	clientDone, brokerDone bool
}

func (k *call) api() int16 { return k.req.Key() }

// awaited tells whether its client waits for the answer. Of a repetition it knows nothing.
func (k *call) awaited() bool { return !k.clientDone && k.use != repeat }

// quiet calls are told only where they change something. What the tool asks is always told.
func (k *call) quiet() bool { return k.api() == heartbeatKey && !k.byHand }

// conn is a TCP connection of a consumer to a broker. Messages on it keep their order. As Kafka's NetworkClient has it,
// the coordinator has a connection of its own, beside the one for metadata and for finding the coordinator: a parked
// JoinGroup holds up neither. As Kafka's SocketServer has it, a connection is muted while one of its requests is
// being worked on: what arrives behind a parked JoinGroup is not read before that is answered.
type conn struct {
	id       int64
	consumer int
	broker   int32
	// coordinator is set for the connection to the coordinator.
	coordinator bool
	// open and up are what the client and the broker know: a dead broker is noticed only after a while.
	open, up bool
	// upMs and downMs are when the last message in each direction arrives.
	upMs, downMs int64
	// busy is the request that mutes it, 0 for none; queue has arrived behind it.
	busy  int64
	queue []int64
	// calls are not done at both ends.
	calls []int64
	// gone is the Seq of what broke it.
	gone int64
}

func (n *conn) clone() *conn {
	c := *n
	c.queue, c.calls = slices.Clone(n.queue), slices.Clone(n.calls)
	return &c
}

// dropRule loses the next requests, or answers, of one kind.
type dropRule struct {
	consumer int
	api      int16
	reply    bool
	left     int
}

// connect gives the connection of a consumer to a broker. A dead broker refuses after a round trip.
func (w *World) connect(c *consumer, broker int32, coord bool) *conn {
	for _, id := range c.conns {
		if n := w.conns[id]; n.broker == broker && n.coordinator == coord {
			return n
		}
	}
	return w.open(c, broker, coord)
}

// open makes a new connection.
func (w *World) open(c *consumer, broker int32, coord bool) *conn {
	w.lastConn++
	n := &conn{id: w.lastConn, consumer: c.index, broker: broker, coordinator: coord, open: true, up: w.drive.Cluster().Running(broker)}
	w.conns[n.id] = n
	c.conns = append(c.conns, n.id)
	if !n.up {
		w.agenda.add(w.nowMs+2*w.cfg.LatencyMs, breaks, n.id)
	}
	return n
}

// send puts a request on the wire and returns its number.
func (w *World) send(c *consumer, n *conn, req kmsg.Request, timeoutMs int64, u use) int64 {
	w.lastCall++
	k := &call{
		id: w.lastCall, consumer: c.index, conn: n.id, req: req, deadlineMs: w.nowMs + timeoutMs, use: u, byHand: c.phase == asking,
		member: c.memberID, generation: c.generation,
	}
	w.calls[k.id] = k
	n.calls = append(n.calls, k.id)
	arrives := max(w.nowMs+w.cfg.LatencyMs, n.upMs)
	lost := n.up && w.loses(c, n.broker, k.api(), false)
	if n.up && !lost {
		arrives = max(arrives, w.nowMs+w.cfg.LatencyMs+w.delay(c, k.api(), false))
	}
	if lost || !n.up {
		arrives, k.brokerDone = 0, true
	} else {
		n.upMs = arrives
		w.agenda.add(arrives, reaches, k.id)
	}
	if !k.quiet() {
		b := event.RequestSent{
			Client: c.cfg.Name, Request: k.id, API: k.api(), To: n.broker, ArrivesMs: arrives, DeadlineMs: k.deadlineMs, Member: c.memberID,
		}
		tell(&b, req)
		k.sent = w.emit(0, c.cfg.Group, b)
	}
	if lost {
		w.emitFor(k.sent, 0, c.cfg.Group, event.MessageLost{Client: c.cfg.Name, Request: k.id, API: k.api()})
	} else if n.up {
		w.duplicate(c, k, n)
	}
	return k.id
}

// emitFor tells a fact with a cause of its own.
func (w *World) emitFor(cause int64, broker int32, group string, body event.Body) int64 {
	before := w.cause
	w.cause = cause
	seq := w.emit(broker, group, body)
	w.cause = before
	return seq
}

// reached is a request's arrival at its broker.
func (w *World) reached(id int64) {
	k := w.calls[id]
	if k == nil || k.brokerDone {
		return // the broker died meanwhile
	}
	n := w.conns[k.conn]
	switch {
	case n.busy != 0 || len(n.queue) > 0:
		n.queue = append(n.queue, id)
	default:
		w.work(n, k)
	}
}

// work gives a request to the broker that it reached.
func (w *World) work(n *conn, k *call) {
	n.busy = k.id
	w.tap(k, nil)
	c := w.consumers[k.consumer]
	if m, ok := k.req.(*kmsg.MetadataRequest); ok {
		w.answered(k.id, w.metadata(m), 0, k.sent)
		return
	}
	w.drive.Handle(w.nowMs, n.broker, coordinator.Request{
		Ticket: k.id, ClientID: c.cfg.Name, ClientHost: c.host, Cause: k.sent, Kmsg: k.req,
	})
	w.take()
}

// unmute reads the next request of a connection.
func (w *World) unmute(id int64) {
	n := w.conns[id]
	if n == nil || !n.up || n.busy != 0 || len(n.queue) == 0 {
		return
	}
	next := n.queue[0]
	n.queue = slices.Delete(n.queue, 0, 1)
	w.work(n, w.calls[next])
}

// answered puts a broker's answer on the wire. Where the client has closed the connection, writing to it fails: the
// broker closes it too, and what waited behind is never read.
func (w *World) answered(id int64, reply kmsg.Response, code int16, cause int64) {
	k := w.calls[id]
	if k == nil || k.brokerDone {
		panic(fmt.Sprintf("sim: request #%d was answered twice, or nobody sent it", id))
	}
	w.tap(k, reply)
	n := w.conns[k.conn]
	k.brokerDone, k.reply, k.code, k.onWire = true, reply, code, cause
	n.busy = 0
	if !n.open {
		w.unread(n)
		w.settle(k)
		return
	}
	if len(n.queue) > 0 {
		w.agenda.add(w.nowMs, unmutes, n.id)
	}
	c := w.consumers[k.consumer]
	arrives := max(w.nowMs+w.cfg.LatencyMs, n.downMs)
	lost := w.loses(c, n.broker, k.api(), true)
	if lost {
		arrives = 0
	} else {
		arrives = max(arrives, w.nowMs+w.cfg.LatencyMs+w.delay(c, k.api(), true))
		n.downMs = arrives
		w.agenda.add(arrives, returns, id)
	}
	if !k.quiet() || code != 0 {
		k.onWire = w.emitFor(cause, n.broker, c.cfg.Group, event.ReplyOnWire{
			Client: c.cfg.Name, Request: id, API: k.api(), From: n.broker, Code: code, ArrivesMs: arrives, Offsets: told(reply),
		})
	}
	if lost {
		w.emitFor(k.onWire, n.broker, c.cfg.Group, event.MessageLost{Client: c.cfg.Name, Request: id, API: k.api(), Reply: true})
	}
}

// dropped notes that a broker will never answer a request (ReplyDropped). As in Kafka, its connection stays muted.
func (w *World) dropped(id int64) {
	k := w.calls[id]
	if k == nil || k.brokerDone {
		return
	}
	k.brokerDone = true
	if n := w.conns[k.conn]; !n.open {
		w.unread(n)
	}
	w.settle(k)
}

// unread forgets what waits behind the request that mutes a connection which the client has closed.
func (w *World) unread(n *conn) {
	queue := n.queue
	n.queue = nil
	for _, id := range queue {
		w.calls[id].brokerDone = true
		w.settle(w.calls[id])
	}
}

// returned is an answer's arrival at its client. A frozen process does not read it: its kernel keeps it.
func (w *World) returned(id int64) {
	k := w.calls[id]
	if k == nil {
		return
	}
	c := w.consumers[k.consumer]
	switch {
	case k.clientDone:
		w.settle(k)
	case c.paused:
		c.inbox = append(c.inbox, arrival{call: id})
	default:
		w.receive(c, k)
		w.run(c)
	}
}

// receive gives an answer to the client.
func (w *World) receive(c *consumer, k *call) {
	k.clientDone = true
	w.settle(k)
	w.cause = k.onWire
	if !k.quiet() || k.code != 0 {
		w.cause = w.emit(0, c.cfg.Group, event.ReplyReceived{Client: c.cfg.Name, Request: k.id, API: k.api(), Code: k.code})
	}
	c.answer(w, k)
}

// broke is the moment in which a client notices that a connection is gone.
func (w *World) broke(id int64) {
	n := w.conns[id]
	if n == nil || !n.open {
		return
	}
	c := w.consumers[n.consumer]
	if c.paused {
		c.inbox = append(c.inbox, arrival{conn: id})
		return
	}
	w.lose(c, n)
	w.run(c)
}

// lose handles a connection that the other end closed.
func (w *World) lose(c *consumer, n *conn) {
	w.cause = cmp.Or(n.gone, w.goneSeq[n.broker-1])
	c.refusedUntilMs[n.broker] = w.nowMs + reconnectBackoffMs
	reason := fmt.Sprintf("broker %d refused the connection", n.broker)
	if n.gone != 0 {
		reason = fmt.Sprintf("the connection to broker %d broke", n.broker)
	}
	w.disconnect(c, n, reason)
	if n.coordinator && c.coordinator == n.broker {
		c.coordinatorUnknown(w, fmt.Sprintf("broker %d is unavailable", n.broker))
		if n.gone == 0 {
			// ensureCoordinatorReady: found, but the connection failed; back off before asking again.
			c.sleep(w, "retry back-off after "+reason)
		}
	}
}

// disconnect closes a connection at the client's end; what was in flight fails (Kafka: DisconnectException).
func (w *World) disconnect(c *consumer, n *conn, reason string) {
	if !n.open {
		return
	}
	n.open = false
	c.conns = slices.DeleteFunc(c.conns, func(id int64) bool { return id == n.id })
	for _, id := range slices.Clone(n.calls) {
		k := w.calls[id]
		if k == nil || k.clientDone {
			continue
		}
		k.clientDone = true
		w.settle(k)
		before := w.cause
		w.cause = w.emitFor(cmp.Or(w.cause, k.sent), 0, c.cfg.Group,
			event.RequestFailed{Client: c.cfg.Name, Request: id, API: k.api(), Reason: reason})
		c.disconnected(w, k, n)
		w.cause = before
	}
	w.sweep(n)
}

// hangUp closes every connection of a process that is gone; nobody is told.
func (w *World) hangUp(c *consumer) {
	for _, id := range c.conns {
		n := w.conns[id]
		n.open = false
		for _, call := range slices.Clone(n.calls) {
			w.calls[call].clientDone = true
			w.settle(w.calls[call])
		}
		w.sweep(n)
	}
	c.conns = nil
}

// breakAll breaks every connection to a broker that died. Answers that are on the wire arrive before that.
func (w *World) breakAll(broker int32, cause int64) {
	for id := int64(1); id <= w.lastConn; id++ {
		n := w.conns[id]
		if n == nil || n.broker != broker || !n.up {
			continue
		}
		n.up, n.gone, n.busy, n.queue = false, cause, 0, nil
		for _, k := range slices.Clone(n.calls) {
			w.calls[k].brokerDone = true
			w.settle(w.calls[k])
		}
		if n.open {
			w.agenda.add(max(w.nowMs+w.cfg.LatencyMs, n.downMs), breaks, n.id)
		}
	}
}

// settle forgets a call that is done at both ends.
func (w *World) settle(k *call) {
	if !k.clientDone || !k.brokerDone {
		return
	}
	delete(w.calls, k.id)
	n := w.conns[k.conn]
	n.calls = slices.DeleteFunc(n.calls, func(id int64) bool { return id == k.id })
	w.sweep(n)
}

// sweep forgets a connection that nobody uses.
func (w *World) sweep(n *conn) {
	if !n.open && len(n.calls) == 0 {
		delete(w.conns, n.id)
	}
}
