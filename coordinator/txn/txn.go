package txn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Coordinator is the transaction coordinator of one broker. It is not safe for several goroutines: one goroutine owns it.
type Coordinator struct {
	cfg            Config
	nowMs, startMs int64
	meta           Metadata
	// stateTopicPartitions is the number of partitions of __transaction_state when it was first seen.
	stateTopicPartitions int32

	txns       map[string]*transaction
	partitions map[int32]*partition
	ids        producerIDs

	appendTickets, markerTickets, batchNumbers int64
	appends                                    map[int64]inflight
	markers                                    map[int64]sentMarker
	batches                                    map[int64]batch

	// abortMs and expireMs are when the two jobs look next, -1 where they have nothing to look for.
	abortMs, expireMs int64
	// retries are records that are to be written again.
	retries []retry

	cause int64
	out   Output
	taken bool
}

// New returns a coordinator that owns no partition yet. It panics where cfg lacks Numbers, or where nowMs is negative.
func New(nowMs int64, cfg Config) *Coordinator {
	if cfg.Numbers == nil || nowMs < 0 {
		panic(fmt.Sprintf("txn.New of broker %d at %d ms: Config.Numbers must be set, and time begins at 0", cfg.Broker, nowMs))
	}
	return &Coordinator{cfg: cfg, nowMs: nowMs, startMs: nowMs, txns: map[string]*transaction{}, partitions: map[int32]*partition{},
		appends: map[int64]inflight{}, markers: map[int64]sentMarker{}, batches: map[int64]batch{}, abortMs: -1, expireMs: -1}
}

// Handle takes one request of a client. Its reply comes out of Take, now or after a later input. A request kind that is
// not the transaction coordinator's is a mistake of the host and panics.
func (c *Coordinator) Handle(nowMs int64, r Request) {
	c.enter(nowMs, r.Cause)
	c.cause = c.emit(event.RequestReceived{Ticket: r.Ticket, API: r.Kmsg.Key(), Version: r.Kmsg.GetVersion(), ClientID: r.ClientID, ClientHost: r.ClientHost})
	switch q := r.Kmsg.(type) {
	case *kmsg.InitProducerIDRequest:
		c.initProducerID(&r, q)
	case *kmsg.AddPartitionsToTxnRequest:
		c.addPartitions(&r, q)
	case *kmsg.AddOffsetsToTxnRequest:
		c.addOffsets(&r, q)
	case *kmsg.EndTxnRequest:
		c.endTxn(&r, q)
	case *kmsg.FindCoordinatorRequest:
		c.findCoordinator(&r, q)
	default:
		panic(fmt.Sprintf("txn.Handle takes InitProducerID, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and FindCoordinator, not %T", r.Kmsg))
	}
}

// Advance tells that time has passed.
func (c *Coordinator) Advance(nowMs int64) { c.enter(nowMs, 0) }

// Appended tells the outcome of an Append: Kafka's error code. It panics on a ticket that is not awaited.
func (c *Coordinator) Appended(nowMs int64, ticket int64, code int16) {
	c.enter(nowMs, 0)
	c.appended(ticket, code)
}

// Marked tells the answer to a Marker. A ticket that is no longer awaited, since its partition was lost, is ignored.
func (c *Coordinator) Marked(nowMs int64, ticket int64, code int16) {
	c.enter(nowMs, 0)
	c.marked(ticket, code)
}

// Allocated brings a block of producer ids from the controller, or its error code.
func (c *Coordinator) Allocated(nowMs int64, first int64, count int32, code int16) {
	c.enter(nowMs, 0)
	c.allocated(first, count, code)
}

// Immigrate tells that this broker became leader of a partition of __transaction_state in an epoch and that its log is
// about to be read up to endOffset. An older epoch than the last one is ignored.
func (c *Coordinator) Immigrate(nowMs int64, partition, epoch int32, endOffset int64) {
	c.enter(nowMs, 0)
	c.immigrate(partition, epoch, endOffset)
}

// Load gives one batch of the log of a partition that is loading, in order of position.
func (c *Coordinator) Load(nowMs int64, partition, epoch int32, b LoadedBatch) {
	c.enter(nowMs, 0)
	c.loadBatch(partition, epoch, b)
}

// Loaded tells that the log was read; failed is "" where it was read to its end. What was read counts all the same.
func (c *Coordinator) Loaded(nowMs int64, partition, epoch int32, failed string) {
	c.enter(nowMs, 0)
	c.loaded(partition, epoch, failed)
}

// Emigrate tells that this broker no longer leads a partition of __transaction_state. An older epoch is ignored; -1
// stands for no epoch and is never ignored.
func (c *Coordinator) Emigrate(nowMs int64, partition, epoch int32) {
	c.enter(nowMs, 0)
	c.emigrate(partition, epoch)
}

// MetadataChanged tells what the broker now knows of the cluster. The coordinator keeps a copy.
func (c *Coordinator) MetadataChanged(nowMs int64, m Metadata) {
	c.enter(nowMs, 0)
	m.Topics, m.Brokers, m.Leaders = maps.Clone(m.Topics), slices.Clone(m.Brokers), slices.Clone(m.Leaders)
	c.meta = m
	if c.stateTopicPartitions == 0 {
		c.stateTopicPartitions = int32(len(m.Leaders))
	}
}

// ConfigChanged replaces the settings.
func (c *Coordinator) ConfigChanged(nowMs int64, s Settings) {
	c.enter(nowMs, 0)
	c.cfg.Settings = s
	c.setJobs()
}

// Take returns what has come out since the last Take.
func (c *Coordinator) Take() Output {
	c.clearTaken()
	c.taken = true
	c.out.DeadlineMs = c.deadline()
	return c.out
}

// enter begins every door: time moves, and what is due happens first.
func (c *Coordinator) enter(nowMs, cause int64) {
	if nowMs < c.nowMs {
		panic(fmt.Sprintf("transaction coordinator of broker %d: time goes back from %d ms to %d ms", c.cfg.Broker, c.nowMs, nowMs))
	}
	c.clearTaken()
	c.nowMs, c.cause = nowMs, 0
	c.runJobs()
	c.cause = cause
}

func (c *Coordinator) clearTaken() {
	if c.taken {
		c.out, c.taken = Output{}, false
	}
}

// emit tells a fact and returns its Seq.
func (c *Coordinator) emit(body event.Body) int64 {
	seq := c.cfg.Numbers.Next()
	c.out.Events = append(c.out.Events, event.Event{Seq: seq, AtMs: c.nowMs, Broker: c.cfg.Broker, Cause: c.cause, Body: body})
	return seq
}

// send answers a request.
func (c *Coordinator) send(r *Request, resp kmsg.Response, code int16, guard string) {
	seq := c.emit(event.ReplySent{Ticket: r.Ticket, API: r.Kmsg.Key(), Code: code, Guard: guard})
	resp.SetVersion(r.Kmsg.GetVersion())
	c.out.Replies = append(c.out.Replies, Reply{Ticket: r.Ticket, Kmsg: resp, Code: code, Cause: seq})
}

// gate finds the partition of an id, and whether this broker coordinates it.
func (c *Coordinator) gate(id string) (number int32, code int16, guard string) {
	if c.stateTopicPartitions == 0 {
		return 0, codeNotCoordinator, "__transaction_state does not exist"
	}
	number = record.Partition(id, c.stateTopicPartitions)
	p := c.partitions[number]
	switch {
	case p != nil && p.load != nil:
		return number, codeLoadInProgress, fmt.Sprintf("__transaction_state-%d is loading", number)
	case p == nil || !p.owned:
		return number, codeNotCoordinator, fmt.Sprintf("__transaction_state-%d is not led by this broker", number)
	}
	return number, codeNone, ""
}

// sorted are the ids in order, so that no map order reaches an output.
func (c *Coordinator) sorted() []string { return slices.Sorted(maps.Keys(c.txns)) }

// Facts returns events from which a fold rebuilds what this coordinator knows. They change nothing and use no new Seq:
// each carries the Seq handed out last.
func (c *Coordinator) Facts(nowMs int64) (facts []event.Event) {
	say := func(body event.Body) {
		facts = append(facts, event.Event{Seq: c.cfg.Numbers.Last(), AtMs: nowMs, Broker: c.cfg.Broker, Body: body})
	}
	for _, number := range slices.Sorted(maps.Keys(c.partitions)) {
		p := c.partitions[number]
		switch {
		case p.load != nil:
			say(event.TxnLoadStarted{Partition: number, Epoch: p.epoch, EndOffset: p.load.endOffset})
		case p.owned && c.count(number) > 0:
			say(event.TxnLoadFinished{Partition: number, Epoch: p.epoch, Transactions: c.count(number)})
		}
	}
	for _, id := range c.sorted() {
		say(c.txns[id].changed("", "as it is now"))
	}
	for _, ticket := range slices.Sorted(maps.Keys(c.markers)) {
		say(c.markers[ticket].sent(ticket))
	}
	return facts
}

// count is how many ids live in a partition.
func (c *Coordinator) count(partition int32) (n int) {
	for _, t := range c.txns {
		if t.partition == partition {
			n++
		}
	}
	return n
}

// Clone returns a copy that goes its own way, for a copy of the world that numbers its events with n.
func (c *Coordinator) Clone(n *event.Numbers) *Coordinator {
	k := *c
	k.cfg.Numbers = n
	k.txns = make(map[string]*transaction, len(c.txns))
	for id, t := range c.txns {
		copied := *t // pending is replaced, never changed
		k.txns[id] = &copied
	}
	k.partitions = make(map[int32]*partition, len(c.partitions))
	for number, p := range c.partitions {
		k.partitions[number] = p.clone()
	}
	k.appends, k.markers = maps.Clone(c.appends), maps.Clone(c.markers)
	k.batches = make(map[int64]batch, len(c.batches))
	for number, b := range c.batches {
		b.codes = slices.Clone(b.codes)
		k.batches[number] = b
	}
	k.retries = slices.Clone(c.retries)
	k.out.Appends, k.out.Markers = slices.Clone(c.out.Appends), slices.Clone(c.out.Markers)
	k.out.Replies, k.out.Events = slices.Clone(c.out.Replies), slices.Clone(c.out.Events)
	return &k
}
