package sim

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// API keys that consumers send.
const (
	metadataKey        = 3
	offsetCommitKey    = 8
	offsetFetchKey     = 9
	findCoordinatorKey = 10
	joinGroupKey       = 11
	heartbeatKey       = 12
	leaveGroupKey      = 13
	syncGroupKey       = 14
	initProducerIDKey  = 22
	addOffsetsToTxnKey = 25
	endTxnKey          = 26
	txnOffsetCommitKey = 28
)

// reconnectBackoffMs is reconnect.backoff.ms: how long a node that refused is not chosen again.
const reconnectBackoffMs = 50

// closeTimeoutMs is what KafkaConsumer.close waits at most.
const closeTimeoutMs = 30_000

// noGeneration is Kafka's Generation.NO_GENERATION.
const noGeneration = -1

// use tells commits apart: who waits for the answer.
type use uint8

const (
	plain         use = iota
	autoCommit        // maybeAutoCommitOffsetsAsync
	prepareCommit     // maybeAutoCommitOffsetsSync of onJoinPrepare
	closeCommit       // maybeAutoCommitOffsetsSync of close
	manualCommit      // the application's own
	repeat            // a second copy, of which the client knows nothing
)

// phase is what a process is doing.
type phase uint8

const (
	off phase = iota
	running
	closing
	asking // no consumer, but the tool of World.Ask
)

// stage is how far a commit before rejoining, or a close, has come.
type stage uint8

const (
	idle       stage = iota
	committing       // the offsets are being committed
	leaving          // they are, or cannot be
	waiting          // LeaveGroup was sent, or there was nobody to send it to
)

// arrival waits in the kernel of a frozen process: an answer, or the news that a connection is gone.
type arrival struct{ call, conn int64 }

// consumer is one consumer process and what its two threads know: the application's, which polls, and the heartbeat
// thread. Every field is a value or is copied by clone.
type consumer struct {
	cfg   ConsumerConfig
	index int
	host  string

	phase  phase
	paused bool
	// busyUntilMs is until when the application works on records without calling poll.
	busyUntilMs int64
	// busySeq is the Seq of what told of that.
	busySeq    int64
	lastPollMs int64
	inbox      []arrival
	conns      []int64
	// refusedUntilMs is until when a node is not chosen, by broker id.
	refusedUntilMs [10]int64
	// wake is the agenda's order of its next wake-up, 0 for none.
	wake, wakeMs int64

	// AbstractCoordinator.
	coordinator        int32 // 0 where unknown
	findCall           int64
	state              event.ClientState
	generation         int32
	memberID, protocol string
	rejoinNeeded       bool
	rejoinReason       string
	rejoinCause        int64
	needsJoinPrepare   bool
	prepare            stage
	prepareUntilMs     int64
	joinCall           int64 // joinFuture: the JoinGroup or SyncGroup in flight, 0 for none
	syncCall           int64 // the application's commit that it waits for (prepareCommit, closeCommit)
	backoffUntilMs     int64
	backoffCause       int64
	heartbeat          heartbeat
	closing            stage
	closeUntilMs       int64
	isLeader           bool
	groupTopics        []string     // of the whole group; only a leader knows them
	snapshot           []topicCount // what the leader assigned by; nil for a follower
	assigning          *assigning   // a leader that waits for metadata before it can assign
	assigned           []position   // in order of topic and partition
	given              given        // what StickyAssignor remembers
	fetchCall          int64        // OffsetFetch in flight
	nextAutoCommitMs   int64
	meta               metadata
	producer           producer
}

func newConsumer(cfg ConsumerConfig, index int, host string) *consumer {
	c := &consumer{cfg: cfg, index: index, host: host, wakeMs: -1}
	c.reset()
	return c
}

// reset forgets what a process knew: a new one begins.
func (c *consumer) reset() {
	*c = consumer{
		cfg: c.cfg, index: c.index, host: c.host, wake: c.wake, wakeMs: c.wakeMs,
		state: event.Unjoined, generation: noGeneration, needsJoinPrepare: true, rejoinNeeded: true,
		meta: metadata{lastMs: -1, successMs: -1, needed: true},
	}
}

func (c *consumer) clone() *consumer {
	n := *c
	n.inbox, n.conns = slices.Clone(c.inbox), slices.Clone(c.conns)
	n.groupTopics, n.snapshot = slices.Clone(c.groupTopics), slices.Clone(c.snapshot)
	n.assigned = slices.Clone(c.assigned)
	n.producer.offsets = slices.Clone(c.producer.offsets)
	n.meta.topics, n.meta.brokers = slices.Clone(c.meta.topics), slices.Clone(c.meta.brokers)
	return &n
}

// run lets both threads of a process go on until they wait, and arms its next wake-up.
func (w *World) run(c *consumer) {
	if c.phase != off && !c.paused {
		w.expire(c)
		c.heartbeatThread(w)
		switch c.phase {
		case closing:
			c.closeStep(w)
		case running:
			c.poll(w)
			c.produce(w)
			c.refreshMetadata(w)
		}
	}
	w.arm(c)
}

// expire gives up requests whose time is over: NetworkClient closes the connection, so all on it fail.
func (w *World) expire(c *consumer) {
	overdue := func(id int64) bool {
		n := w.conns[id]
		return n != nil && n.open && w.overdue(n)
	}
	if !slices.ContainsFunc(c.conns, overdue) {
		return // nearly always: a copy of the list would be for nothing
	}
	for _, id := range slices.Clone(c.conns) {
		if !overdue(id) {
			continue
		}
		n := w.conns[id]
		w.disconnect(c, n, "no answer in time")
		if n.coordinator && c.coordinator == n.broker {
			c.coordinatorUnknown(w, "a request got no answer in time")
		}
	}
}

func (w *World) overdue(n *conn) bool {
	return slices.ContainsFunc(n.calls, func(id int64) bool {
		k := w.calls[id]
		return k.awaited() && k.deadlineMs <= w.nowMs
	})
}

// poll is one look of the application's thread: ConsumerCoordinator.poll and, in it, joinGroupIfNeeded. It goes as far
// as it can without waiting.
func (c *consumer) poll(w *World) {
	if w.nowMs < c.busyUntilMs {
		return
	}
	c.lastPollMs = w.nowMs
	c.flow(w.nowMs)
	if w.nowMs < c.backoffUntilMs {
		return
	}
	if c.backoffUntilMs > 0 {
		w.cause = cmp.Or(w.cause, c.backoffCause)
		c.backoffUntilMs, c.backoffCause = 0, 0
	}
	if c.prepare == committing && w.nowMs >= c.prepareUntilMs {
		c.joinPrepare(w) // the time for the commit is over, with or without a coordinator
	}
	switch {
	case c.coordinator == 0:
		c.lookup(w)
	case c.joinCall != 0 || c.assigning != nil:
	case c.rejoinNeededOrPending(w):
		if !c.needsJoinPrepare || c.joinPrepare(w) {
			c.initiateJoin(w)
		}
	default:
		c.fetchCommitted(w)
		c.maybeAutoCommit(w)
	}
}

// sleep is timer.sleep(retryBackoffMs) of the application's thread.
func (c *consumer) sleep(w *World, why string) {
	if c.phase != running {
		return
	}
	c.backoffUntilMs = w.nowMs + c.cfg.RetryBackoffMs
	c.backoffCause = w.emit(0, c.cfg.Group, event.ClientWaiting{Client: c.cfg.Name, For: why, DeadlineMs: c.backoffUntilMs})
}

// arm puts the consumer's next wake-up on the agenda.
func (w *World) arm(c *consumer) {
	next := c.nextMs(w)
	if next == c.wakeMs && c.wake != 0 {
		return
	}
	c.wake, c.wakeMs = 0, next
	if next >= 0 {
		c.wake = w.agenda.add(max(next, w.nowMs), wakes, int64(c.index))
	}
}

// nextMs is when the consumer has something to do of its own accord; -1 where it only waits for others.
func (c *consumer) nextMs(w *World) int64 {
	if c.phase == off || c.paused {
		return -1
	}
	next := int64(-1)
	at := func(ms int64) {
		if ms >= 0 && (next < 0 || ms < next) {
			next = ms
		}
	}
	for _, id := range c.conns {
		for _, k := range w.conns[id].calls {
			if call := w.calls[k]; call.awaited() {
				at(call.deadlineMs)
			}
		}
	}
	if c.phase == asking {
		return next
	}
	at(c.heartbeatNextMs())
	if c.phase == closing {
		at(c.closeUntilMs)
		return next
	}
	if c.meta.call == 0 {
		at(c.metadataDueMs())
	}
	at(c.pollNextMs(w))
	at(c.produceNextMs(w))
	return next
}

// pollNextMs is when the application's thread has something to do.
func (c *consumer) pollNextMs(w *World) int64 {
	switch {
	case w.nowMs < c.busyUntilMs:
		return c.busyUntilMs
	case w.nowMs < c.backoffUntilMs:
		return c.backoffUntilMs
	case c.prepare == committing:
		return c.prepareUntilMs
	case c.joinCall != 0 || c.assigning != nil || c.coordinator == 0 || !c.autoCommits():
		return -1
	}
	return c.nextAutoCommitMs
}

// setState changes what the consumer believes of itself.
func (c *consumer) setState(w *World, to event.ClientState, reason string) {
	if c.state == to {
		return
	}
	from := c.state
	c.state = to
	w.cause = w.emit(0, c.cfg.Group, event.ClientStateChanged{
		Client: c.cfg.Name, From: from, To: to, Member: c.memberID, Generation: c.generation, Reason: reason,
	})
}

// requestRejoin is AbstractCoordinator.requestRejoin; the reason travels with JoinGroup (KIP-800).
func (c *consumer) requestRejoin(w *World, reason string) {
	c.rejoinNeeded, c.rejoinReason, c.rejoinCause = true, reason, w.cause
}

// resetGeneration is AbstractCoordinator.resetGeneration: it is no member any more.
func (c *consumer) resetGeneration(w *World, reason string) {
	c.generation, c.memberID, c.protocol = noGeneration, "", ""
	c.setState(w, event.Unjoined, reason)
	c.requestRejoin(w, reason)
}

// answer hands a response to its handler.
func (c *consumer) answer(w *World, k *call) {
	if k.use == repeat {
		return
	}
	if c.phase == asking {
		c.asked(w, k)
		return
	}
	if k.id == c.producer.call {
		c.produced(w, k)
		return
	}
	switch r := k.reply.(type) {
	case *kmsg.MetadataResponse:
		c.onMetadata(w, r)
	case *kmsg.FindCoordinatorResponse:
		c.onFindCoordinator(w, r)
	case *kmsg.JoinGroupResponse:
		c.onJoin(w, k, r)
	case *kmsg.SyncGroupResponse:
		c.onSync(w, r)
	case *kmsg.HeartbeatResponse:
		c.onHeartbeat(w, r)
	case *kmsg.OffsetCommitResponse:
		c.onCommit(w, k, r)
	case *kmsg.OffsetFetchResponse:
		c.onOffsetFetch(w, r)
	case *kmsg.LeaveGroupResponse: // nobody waits for what it says
	}
}

// disconnected is a request that failed with its connection, or for want of an answer (CoordinatorResponseHandler's
// onFailure: a DisconnectException makes the coordinator unknown).
func (c *consumer) disconnected(w *World, k *call, n *conn) {
	if k.use == repeat || c.phase == asking {
		return
	}
	if k.id == c.producer.call {
		c.producer.call = 0
		c.producerLost(w, event.APIName(k.api())+" got no answer")
		return
	}
	switch k.api() {
	case metadataKey:
		c.meta.call, c.meta.needed = 0, true
	case findCoordinatorKey:
		c.findCall = 0
		c.sleep(w, "retry back-off after FindCoordinator failed")
		c.meta.needed = true
		return
	}
	if n.coordinator && c.coordinator == n.broker {
		c.coordinatorUnknown(w, event.APIName(k.api())+" got no answer: disconnected")
	}
	switch k.api() {
	case joinGroupKey, syncGroupKey:
		c.joinFailed(w, failure{name: "DisconnectException", retriable: true})
	case offsetCommitKey:
		c.commitFailed(w, k, failure{name: "DisconnectException", retriable: true})
	case offsetFetchKey:
		c.fetchCall = 0
		c.sleep(w, "retry back-off after OffsetFetch failed")
	case heartbeatKey:
		c.heartbeatFailed(w)
	}
}
