package coordinator

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/purgatory"
	"grouplab/coordinator/record"
)

// Ticket names a request at its host. The coordinator gives it back with the reply and reads nothing into it.
type Ticket = int64

// Request is one request of a client.
type Request struct {
	Ticket Ticket
	// ClientID is the request header's client.id, "" where it was null.
	ClientID string
	// ClientHost is the textual address as Kafka stores it ("/127.0.0.1").
	ClientHost string
	// Principal is who asks. Rights are the host's to check; the coordinator does not read it.
	Principal string
	// Cause is the Seq of the event that brought the request, 0 where there is none.
	Cause int64
	// Kmsg is the decoded request, with its Version set. It is read until the request is answered, so the host must not
	// change it or the bytes that it points to.
	Kmsg kmsg.Request
}

// Reply answers one request.
type Reply struct {
	Ticket Ticket
	// Kmsg is the response, with the request's version. It may be shared with other replies: it must not be changed.
	Kmsg kmsg.Response
	// Code is the error code that matters: the top-level one, or the first one found in a response that has none.
	Code int16
	// Cause is the Seq of the ReplySent (of the HeartbeatReceived, for a heartbeat that was accepted) that told of it.
	Cause int64
}

// Append asks the host to write records, as one batch, to a partition of __consumer_offsets. The host gives the outcome
// to Appended, with the same ticket, exactly once, unless it drops the whole machine first.
type Append struct {
	Ticket    int64
	Partition int32
	// Epoch is the leader epoch in which the coordinator owns the partition.
	Epoch int32
	Group string
	// What is "group", "offsets", "transactional offsets" or "tombstones".
	What string
	// Records are good until the next door is used, their values too.
	Records []record.Record
	// Offsets say what the records commit, one each; nil where they are no commit's.
	Offsets []event.OffsetValue
	// Transactional is set where the batch belongs to a transaction of this producer; otherwise the producer is -1.
	Transactional bool
	ProducerID    int64
	ProducerEpoch int16
	// TimeoutMs is offsets.commit.timeout.ms: how long the host waits for the replicas before it says REQUEST_TIMED_OUT.
	TimeoutMs int64
	// Acks is -1: all in-sync replicas.
	Acks int16
	// Cause is the Seq of the AppendStarted that told of it.
	Cause int64
}

// Output is what the coordinator wants done and known. Its slices are valid until the next door is used.
type Output struct {
	// Appends, in the order in which they must reach each log.
	Appends []Append
	// Replies, in the order in which they were given.
	Replies []Reply
	// Verifications to ask of transaction coordinators.
	Verifications []Verification
	// Events, by Seq.
	Events []event.Event
	// DeadlineMs is when Advance must be called at the latest; -1 where nothing waits for time.
	DeadlineMs int64
	// CreateOffsetsTopic is set when a FindCoordinator found no __consumer_offsets: the host creates it.
	CreateOffsetsTopic bool
	// CreateTransactionTopic likewise, for __transaction_state.
	CreateTransactionTopic bool
}

// Config is what does not change during a machine's life.
type Config struct {
	// Broker is the id of the broker whose coordinator this is.
	Broker int32
	// Numbers hands out Seq; everything of one world shares one.
	Numbers *event.Numbers
	// MemberID makes a fresh member id. issued counts the ids that this machine has made, from 1. Kafka's shape is
	// "<clientID>-<random UUID>"; a lab may choose ids that people can read. It must never give the same id twice. For a
	// static member it is given the group.instance.id in place of the client id, as in Kafka.
	MemberID func(clientID string, broker int32, issued int64) string
	// Settings are the broker's settings at start; ConfigChanged replaces them.
	Settings Settings
}

// Settings are Kafka's broker settings, by Kafka's names.
type Settings struct {
	// GroupMinSessionTimeoutMs is group.min.session.timeout.ms; the bound itself is legal.
	GroupMinSessionTimeoutMs int32
	// GroupMaxSessionTimeoutMs is group.max.session.timeout.ms; the bound itself is legal.
	GroupMaxSessionTimeoutMs int32
	// GroupInitialRebalanceDelayMs is group.initial.rebalance.delay.ms (KIP-134).
	GroupInitialRebalanceDelayMs int32
	// GroupMaxSize is group.max.size (KIP-389), 1 at least.
	GroupMaxSize int32
	// OffsetMetadataMaxBytes is offset.metadata.max.bytes, compared with the length in UTF-16 code units, as Kafka does.
	OffsetMetadataMaxBytes int32
	// OffsetsRetentionMinutes is offsets.retention.minutes (KIP-211).
	OffsetsRetentionMinutes int32
	// OffsetsRetentionCheckIntervalMs is offsets.retention.check.interval.ms; below 1 nothing ever expires.
	OffsetsRetentionCheckIntervalMs int64
	// TransactionPartitionVerificationEnable is transaction.partition.verification.enable (KIP-890): ask the transaction
	// coordinator before offsets of a transaction are stored.
	TransactionPartitionVerificationEnable bool
	// OffsetsCommitTimeoutMs is offsets.commit.timeout.ms: the time that a group or offset record may take to be written.
	OffsetsCommitTimeoutMs int32
}

// DefaultSettings are Apache Kafka 4.0's defaults.
func DefaultSettings() Settings {
	return Settings{
		GroupMinSessionTimeoutMs:               6000,
		GroupMaxSessionTimeoutMs:               1800000,
		GroupInitialRebalanceDelayMs:           3000,
		GroupMaxSize:                           math.MaxInt32,
		OffsetMetadataMaxBytes:                 4096,
		OffsetsCommitTimeoutMs:                 5000,
		OffsetsRetentionMinutes:                7 * 24 * 60,
		OffsetsRetentionCheckIntervalMs:        600000,
		TransactionPartitionVerificationEnable: true,
	}
}

// BrokerInfo is a live broker and the address that it advertises.
type BrokerInfo struct {
	ID   int32
	Host string
	Port int32
}

// Metadata is what the broker knows of the cluster: Kafka's metadata cache, as far as a coordinator looks into it.
type Metadata struct {
	// Brokers are those that are alive.
	Brokers []BrokerInfo
	// Topics gives each topic's number of partitions.
	Topics map[string]int32
	// OffsetsLeaders gives the leader of each partition of __consumer_offsets, -1 where there is none. It is nil while the
	// topic does not exist.
	OffsetsLeaders []int32
	// TransactionLeaders gives the leader of each partition of __transaction_state likewise.
	TransactionLeaders []int32
}

// LoadedBatch is one batch read from a partition of __consumer_offsets.
type LoadedBatch struct {
	// BaseOffset is the position of the batch's first record.
	BaseOffset int64
	// ProducerID and ProducerEpoch are the producer's, -1 where there is none.
	ProducerID    int64
	ProducerEpoch int16
	// Transactional batches belong to a transaction; Control batches end one.
	Transactional, Control bool
	Records                []record.Record
	// NextOffset is the position after the batch.
	NextOffset int64
}

// Probed is what a request would get now.
type Probed struct {
	// Parked is set where the reply would be held back; then Until says in words which condition would release it.
	Parked bool
	Until  string
	// Reply is the reply that it would get at once, nil where it is parked.
	Reply kmsg.Response
	Code  int16
	// Guard names the check that would decide, where the answer is an error.
	Guard string
}

// Coordinator is the group coordinator of one broker. It is not safe for several goroutines: one goroutine owns it.
type Coordinator struct {
	cfg   Config
	nowMs int64
	meta  Metadata
	// offsetsPartitions is the number of partitions of __consumer_offsets when it was first seen. Kafka reads it once at
	// start; partitions that are added later would move groups to where their records are not.
	offsetsPartitions int32

	groups       map[string]*group
	lastGroup    *group // that find found last, nil where it has gone: requests come in bursts
	groupSlots   []*group
	freeGroups   []int32
	groupNumbers int64
	memberSlots  []*member
	freeMembers  []int32
	partitions   map[int32]*partition
	loading      int // how many partitions are loading

	wheel      *purgatory.Wheel
	sessions   *purgatory.Purgatory[int32, operation] // by member
	rebalances *purgatory.Purgatory[int64, operation] // by joinKey, syncKey

	issued        int64 // member ids
	appendTickets int64
	appends       map[int64]*inflight
	freeAppends   []*inflight
	room          batchRoom

	txnNumbers    int64
	openTxns      map[txnKey]openTxn
	verifyTickets int64
	verifications map[int64]*verification

	deletionNumbers int64
	deletions       map[int64]*deletion
	startMs         int64           // of the machine; the clean-up job runs at multiples of its interval from then on
	cleanup         purgatory.Timer // None while there is no group

	cause int64  // the Seq of what is being done
	due   int64  // the cause of the next input that has none of its own
	how   string // what ends the operation that is being knocked at
	quiet bool   // a session timer is being moved without being told

	out           Output
	taken         bool
	cascaded      func(purgatory.Cascade)
	beatResponses [5][2]*kmsg.HeartbeatResponse
}

// New returns a coordinator that owns no partition yet. It panics where cfg lacks Numbers or MemberID, or where nowMs is
// negative.
func New(nowMs int64, cfg Config) *Coordinator {
	if cfg.Numbers == nil || cfg.MemberID == nil {
		panic(fmt.Sprintf("coordinator.New of broker %d: Config.Numbers and Config.MemberID must be set", cfg.Broker))
	}
	c := &Coordinator{cfg: cfg, nowMs: nowMs, startMs: nowMs, cleanup: purgatory.None, openTxns: map[txnKey]openTxn{},
		verifications: map[int64]*verification{}, deletions: map[int64]*deletion{}, groups: map[string]*group{}, partitions: map[int32]*partition{},
		appends: map[int64]*inflight{}, wheel: purgatory.NewWheel(nowMs), beatResponses: sharedHeartbeatResponses()}
	c.sessions = purgatory.New[int32, operation](c.wheel, ownerSessions, sessions{c})
	c.rebalances = purgatory.New[int64, operation](c.wheel, ownerRebalances, rebalances{c})
	c.cascaded = c.timerCascaded
	return c
}

// Handle takes one request of a client. Its reply comes out of Take, now or after a later input. Any content of a
// request is answered; a request kind that is not the coordinator's is a mistake of the host and panics.
func (c *Coordinator) Handle(nowMs int64, r Request) {
	c.enter(nowMs, r.Cause)
	if q, ok := r.Kmsg.(*kmsg.HeartbeatRequest); ok {
		c.heartbeat(&r, q)
		return
	}
	switch q := r.Kmsg.(type) {
	case *kmsg.JoinGroupRequest:
		c.received(&r, q.Group, event.RequestReceived{Member: q.MemberID, Reason: reasonOf(q.Reason)})
		c.joinGroup(&r, q)
	case *kmsg.SyncGroupRequest:
		c.received(&r, q.Group, event.RequestReceived{Member: q.MemberID, Generation: q.Generation})
		c.syncGroup(&r, q)
	case *kmsg.LeaveGroupRequest:
		c.received(&r, q.Group, leaveReceived(q))
		c.leaveGroup(&r, q)
	case *kmsg.OffsetCommitRequest:
		c.received(&r, q.Group, event.RequestReceived{Member: q.MemberID, Generation: q.Generation})
		c.offsetCommit(&r, q)
	case *kmsg.OffsetFetchRequest:
		c.received(&r, fetchedID(q), event.RequestReceived{})
		c.offsetFetch(&r, q)
	case *kmsg.FindCoordinatorRequest:
		c.received(&r, soughtID(q), event.RequestReceived{})
		c.findCoordinator(&r, q)
	case *kmsg.DescribeGroupsRequest:
		c.received(&r, only(q.Groups), event.RequestReceived{})
		c.describeGroups(&r, q)
	case *kmsg.ListGroupsRequest:
		c.received(&r, "", event.RequestReceived{})
		c.listGroups(&r, q)
	case *kmsg.TxnOffsetCommitRequest:
		c.received(&r, q.Group, event.RequestReceived{Member: q.MemberID, Generation: q.Generation})
		c.txnOffsetCommit(&r, q)
	case *kmsg.OffsetDeleteRequest:
		c.received(&r, q.Group, event.RequestReceived{})
		c.offsetDelete(&r, q)
	case *kmsg.DeleteGroupsRequest:
		c.received(&r, only(q.Groups), event.RequestReceived{})
		c.deleteGroups(&r, q)
	default:
		panic(fmt.Sprintf("coordinator.Handle takes the twelve group requests, not %T", r.Kmsg))
	}
}

// Advance tells that time has passed. Every timer whose deadline is at or before nowMs runs, in order of deadline, then
// of arming; so it does before any other input, too.
func (c *Coordinator) Advance(nowMs int64) { c.enter(nowMs, 0) }

// Appended tells the outcome of an Append: the position of its batch, or Kafka's error code. It panics on a ticket that
// is not awaited.
func (c *Coordinator) Appended(nowMs int64, ticket, baseOffset int64, code int16) {
	c.enter(nowMs, 0)
	c.appended(ticket, baseOffset, code)
}

// Verified tells the answer to a Verification: 0, or the transaction coordinator's error code. It panics on a ticket that
// is not awaited.
func (c *Coordinator) Verified(nowMs int64, ticket int64, code int16) {
	c.enter(nowMs, 0)
	v := c.verifications[ticket]
	if v == nil {
		panic(fmt.Sprintf("coordinator of broker %d: Verified(%d) answers no verification that is under way", c.cfg.Broker, ticket))
	}
	c.verified(ticket, v, code)
}

// TxnMarker tells that the log of a partition of __consumer_offsets holds a marker (Kafka: onTransactionCompleted), after
// the outcomes of all appends that lie before it. Of a partition that is not owned here it is ignored.
func (c *Coordinator) TxnMarker(nowMs int64, m Marker) {
	c.enter(nowMs, m.Cause)
	c.txnMarker(m)
}

// TopicsDeleted tells that topics are gone: whatever groups have committed of them is removed (Kafka:
// handleDeletedPartitions).
func (c *Coordinator) TopicsDeleted(nowMs int64, topics []string) {
	c.enter(nowMs, 0)
	c.topicsDeleted(topics)
}

// Immigrate tells that this broker became leader of a partition of __consumer_offsets in an epoch and that its log is
// about to be read up to endOffset (Kafka: onElection). An epoch older than the last one is ignored, and so is a
// partition that is owned or loading already, but for its epoch.
func (c *Coordinator) Immigrate(nowMs int64, partition, epoch int32, endOffset int64) {
	c.enter(nowMs, 0)
	c.immigrate(partition, epoch, endOffset)
}

// Load gives one batch of the log of a partition that is loading, in order of position. A batch of another epoch than
// the one in which the load began is ignored.
func (c *Coordinator) Load(nowMs int64, partition, epoch int32, batch LoadedBatch) {
	c.enter(nowMs, 0)
	c.loadBatch(partition, epoch, &batch)
}

// Loaded tells that the log was read: failed is "" where it was read to its end, otherwise what ended it early; then
// nothing is kept of it, as in Kafka. The partition is owned from now on.
func (c *Coordinator) Loaded(nowMs int64, partition, epoch int32, failed string) {
	c.enter(nowMs, 0)
	c.loaded(partition, epoch, failed)
}

// Emigrate tells that this broker is no longer leader of a partition of __consumer_offsets (Kafka: onResignation). An
// epoch older than the last one is ignored; -1 stands for no epoch and is never ignored.
func (c *Coordinator) Emigrate(nowMs int64, partition, epoch int32) {
	c.enter(nowMs, 0)
	c.emigrate(partition, epoch)
}

// MetadataChanged tells what the broker now knows of the cluster. The coordinator keeps a copy.
func (c *Coordinator) MetadataChanged(nowMs int64, m Metadata) {
	c.enter(nowMs, 0)
	c.meta = Metadata{slices.Clone(m.Brokers), maps.Clone(m.Topics), slices.Clone(m.OffsetsLeaders), slices.Clone(m.TransactionLeaders)}
	if c.offsetsPartitions == 0 {
		c.offsetsPartitions = int32(len(m.OffsetsLeaders))
	}
}

// ConfigChanged replaces the settings. Timers that already run keep their deadlines.
func (c *Coordinator) ConfigChanged(nowMs int64, s Settings) {
	c.enter(nowMs, 0)
	c.cfg.Settings = s
}

// Issued is how many member ids this machine has asked Config.MemberID for.
func (c *Coordinator) Issued() int64 { return c.issued }

// Take returns what has come out since the last Take.
func (c *Coordinator) Take() Output {
	c.clearTaken()
	c.taken = true
	c.out.DeadlineMs = c.wheel.NextMs()
	return c.out
}

// enter begins every door: time moves, and what is due happens first.
func (c *Coordinator) enter(nowMs, cause int64) {
	if nowMs < c.nowMs {
		panic(fmt.Sprintf("coordinator of broker %d: time goes back from %d ms to %d ms", c.cfg.Broker, c.nowMs, nowMs))
	}
	c.clearTaken()
	c.nowMs = nowMs
	c.runTimers()
	if cause == 0 {
		cause = c.due
	}
	c.cause, c.due = cause, 0
}

// Because says which event led to the next input, where that carries no cause of its own: Immigrate and Emigrate are due
// to a LeaderChanged, TopicsDeleted to a TopicDeleted.
func (c *Coordinator) Because(seq int64) { c.due = seq }

// clearTaken empties the output that was handed out. Very large slices are let go.
func (c *Coordinator) clearTaken() {
	if !c.taken {
		return
	}
	const keep, few = 4096, 64
	c.taken = false
	switch n := len(c.out.Events); {
	case cap(c.out.Events) > keep:
		c.out.Events = nil
	case n > few: // a few are soon written over; many would keep what they tell of alive for long
		clear(c.out.Events)
	}
	c.room.empty()
	o := &c.out // in place: most inputs leave a reply and no more
	o.Appends, o.Replies, o.Verifications, o.Events = o.Appends[:0], o.Replies[:0], o.Verifications[:0], o.Events[:0]
	o.CreateOffsetsTopic, o.CreateTransactionTopic = false, false
}

// emit tells a fact, caused by what is being done.
func (c *Coordinator) emit(group string, body event.Body) int64 {
	seq := c.cfg.Numbers.Next()
	c.out.Events = append(c.out.Events, event.Event{Seq: seq, AtMs: c.nowMs, Broker: c.cfg.Broker, Group: group,
		Cause: c.cause, Body: body})
	return seq
}

// received tells of a request and makes it the cause of what follows.
func (c *Coordinator) received(r *Request, group string, body event.RequestReceived) {
	body.Ticket, body.API, body.Version = r.Ticket, r.Kmsg.Key(), r.Kmsg.GetVersion()
	body.ClientID, body.ClientHost = r.ClientID, r.ClientHost
	c.cause = c.emit(group, body)
}

// send answers a request.
func (c *Coordinator) send(group string, resp kmsg.Response, sent event.ReplySent) {
	seq := c.emit(group, sent)
	c.out.Replies = append(c.out.Replies, Reply{sent.Ticket, resp, sent.Code, seq})
}

// only is the one group that a request is about, "" where there are none or several.
func only(groups []string) string {
	if len(groups) == 1 {
		return groups[0]
	}
	return ""
}

func leaveReceived(q *kmsg.LeaveGroupRequest) event.RequestReceived {
	if q.Version < 3 || len(q.Members) == 0 {
		return event.RequestReceived{Member: q.MemberID}
	}
	return event.RequestReceived{Member: q.Members[0].MemberID, Reason: reasonOf(q.Members[0].Reason)}
}

func fetchedID(q *kmsg.OffsetFetchRequest) string {
	if q.Version < 8 {
		return q.Group
	}
	if len(q.Groups) == 1 {
		return q.Groups[0].Group
	}
	return ""
}

func soughtID(q *kmsg.FindCoordinatorRequest) string {
	switch {
	case q.Version > 0 && q.CoordinatorType != keyTypeGroup:
		return ""
	case q.Version < 4:
		return q.CoordinatorKey
	}
	return only(q.CoordinatorKeys)
}
