package coordinator

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
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
	// What is "group" or "offsets".
	What    string
	Records []record.Record
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
	// Events, by Seq.
	Events []event.Event
	// DeadlineMs is when Advance must be called at the latest; -1 where nothing waits for time.
	DeadlineMs int64
	// CreateOffsetsTopic is set when a FindCoordinator found no __consumer_offsets: the host creates it.
	CreateOffsetsTopic bool
}

// Config is what does not change during a machine's life.
type Config struct {
	// Broker is the id of the broker whose coordinator this is.
	Broker int32
	// Numbers hands out Seq; everything of one world shares one.
	Numbers *event.Numbers
	// MemberID makes a fresh member id. issued counts the ids that this machine has made, from 1. Kafka's shape is
	// "<clientID>-<random UUID>"; a lab may choose ids that people can read. It must never give the same id twice.
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
	// OffsetMetadataMaxBytes is offset.metadata.max.bytes, compared with the length in UTF-16 code units, as Kafka does.
	OffsetMetadataMaxBytes int32
	// OffsetsCommitTimeoutMs is offsets.commit.timeout.ms: the time that a group or offset record may take to be written.
	OffsetsCommitTimeoutMs int32
}

// DefaultSettings are Apache Kafka 4.0's defaults.
func DefaultSettings() Settings {
	return Settings{
		GroupMinSessionTimeoutMs:     6000,
		GroupMaxSessionTimeoutMs:     1800000,
		GroupInitialRebalanceDelayMs: 3000,
		OffsetMetadataMaxBytes:       4096,
		OffsetsCommitTimeoutMs:       5000,
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
}

// LoadedBatch is one batch read from a partition of __consumer_offsets.
type LoadedBatch struct {
	// BaseOffset is the position of the batch's first record.
	BaseOffset int64
	// ProducerID is the producer's, -1 where there is none.
	ProducerID int64
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
	out   Output
}

// New returns a coordinator that owns no partition yet. It panics where cfg lacks Numbers or MemberID.
func New(nowMs int64, cfg Config) *Coordinator {
	if cfg.Numbers == nil || cfg.MemberID == nil {
		panic(fmt.Sprintf("coordinator.New of broker %d: Config.Numbers and Config.MemberID must be set", cfg.Broker))
	}
	return &Coordinator{cfg: cfg, nowMs: nowMs}
}

// Handle takes one request of a client. Its reply comes out of Take, now or after a later input. It panics on a request
// kind that is not the coordinator's, since that is a mistake of the host.
func (c *Coordinator) Handle(nowMs int64, r Request) { panic("Handle is not there yet") }

// Advance tells that time has passed. Every timer whose deadline is at or before nowMs runs, in order of deadline.
func (c *Coordinator) Advance(nowMs int64) { panic("Advance is not there yet") }

// Appended tells the outcome of an Append: the position of the batch, or Kafka's error code.
func (c *Coordinator) Appended(nowMs int64, ticket, baseOffset int64, code int16) {
	panic("Appended is not there yet")
}

// Immigrate tells that this broker became leader of a partition of __consumer_offsets in an epoch and that its log is
// about to be read up to endOffset (Kafka: onElection).
func (c *Coordinator) Immigrate(nowMs int64, partition, epoch int32, endOffset int64) {
	panic("Immigrate is not there yet")
}

// Load gives one batch of the log of a partition that is loading, in order of position.
func (c *Coordinator) Load(nowMs int64, partition, epoch int32, batch LoadedBatch) {
	panic("Load is not there yet")
}

// Loaded tells that the log was read: failed is "" where it was read to its end, otherwise what ended it early.
func (c *Coordinator) Loaded(nowMs int64, partition, epoch int32, failed string) {
	panic("Loaded is not there yet")
}

// Emigrate tells that this broker is no longer leader of a partition of __consumer_offsets (Kafka: onResignation).
func (c *Coordinator) Emigrate(nowMs int64, partition, epoch int32) { panic("Emigrate is not there yet") }

// MetadataChanged tells what the broker now knows of the cluster. The coordinator keeps a copy.
func (c *Coordinator) MetadataChanged(nowMs int64, m Metadata) {
	panic("MetadataChanged is not there yet")
}

// ConfigChanged replaces the settings. Timers that already run keep their deadlines.
func (c *Coordinator) ConfigChanged(nowMs int64, s Settings) { panic("ConfigChanged is not there yet") }

// Take returns what has come out since the last Take.
func (c *Coordinator) Take() Output { panic("Take is not there yet") }

// Probe tells what a request would get now. It works on a copy of one group and changes nothing.
func (c *Coordinator) Probe(nowMs int64, r Request) Probed { panic("Probe is not there yet") }

// Facts returns events from which a fold rebuilds the picture of this coordinator. They change nothing and use no new
// Seq: each carries the Seq handed out last, so the stream goes on after them.
func (c *Coordinator) Facts(nowMs int64) []event.Event { panic("Facts is not there yet") }

// Clone returns a copy that goes its own way, for a copy of the world that numbers its events with n.
func (c *Coordinator) Clone(n *event.Numbers) *Coordinator { panic("Clone is not there yet") }
