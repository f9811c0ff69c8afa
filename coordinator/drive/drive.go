// Package drive is the only loop: input, take, append, appended, take, until nothing moves. It holds one cluster and the
// coordinators of its running brokers, and turns leadership into loads and unloads. The simulated world and the server
// both drive their machines through it, so what is played in a lesson is what runs on a socket.
package drive

import (
	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// Config is what a Drive is made with.
type Config struct {
	Cluster  cluster.Config
	Settings coordinator.Settings
	// MemberID makes member ids; see coordinator.Config.
	MemberID func(clientID string, broker int32, issued int64) string
	// Numbers hands out Seq, for the cluster and all machines. nil: fresh ones.
	Numbers *event.Numbers
	// DeliverAtOnce carries messages between brokers inside the loop: Output.Messages stays empty. For hosts without a
	// network between their brokers.
	DeliverAtOnce bool
	// LoadDelayMs is how long each chunk of a load takes; 0: a load is over at once.
	LoadDelayMs int64
	// LoadChunkBytes is offsets.load.buffer.size, 5 MiB.
	LoadChunkBytes int
	// Decompress opens compressed batches of __consumer_offsets during a load; nil: such a load fails, saying so.
	Decompress log.Decompress
}

// BrokerReply is a coordinator's reply and the broker that gave it.
type BrokerReply struct {
	Broker int32
	coordinator.Reply
}

// Output is what a Drive wants done and known. Its slices are valid until the next door is used.
type Output struct {
	Replies []BrokerReply
	// Produced are the outcomes of Append.
	Produced []cluster.Appended
	// Messages to carry between brokers and to give to Deliver, or to Lost.
	Messages []cluster.Message
	// Watermarks name the partitions with more to read.
	Watermarks []cluster.Watermark
	// MetadataChanged is set when brokers, topics, partitions or leaders changed.
	MetadataChanged bool
	// Events, by Seq.
	Events []event.Event
	// DeadlineMs is when Advance must be called at the latest; -1 where nothing waits for time.
	DeadlineMs int64
}

// Drive drives one cluster and its coordinators. It is not safe for several goroutines: one goroutine owns it.
type Drive struct {
	cfg Config
}

// New returns a drive whose brokers all run.
func New(nowMs int64, cfg Config) *Drive { panic("not there yet") }

// Handle gives a group request to a broker's coordinator. It panics where the broker does not run.
func (d *Drive) Handle(nowMs int64, broker int32, r coordinator.Request) { panic("not there yet") }

// Append appends a client's batch. The outcome comes in Output.Produced.
func (d *Drive) Append(nowMs int64, r cluster.AppendRequest) { panic("not there yet") }

// Advance tells that time has passed.
func (d *Drive) Advance(nowMs int64) { panic("not there yet") }

// Deliver tells that a message arrived; Lost that it never will.
func (d *Drive) Deliver(nowMs int64, m cluster.Message) { panic("not there yet") }

// Lost tells that a message will never arrive.
func (d *Drive) Lost(nowMs int64, m cluster.Message) { panic("not there yet") }

// StartBroker, StopBroker, KillBroker: see cluster. A broker that went takes its machine and its parked replies along:
// the host breaks its connections.
func (d *Drive) StartBroker(nowMs int64, id int32) bool { panic("not there yet") }

// StopBroker stops a broker cleanly.
func (d *Drive) StopBroker(nowMs int64, id int32) bool { panic("not there yet") }

// KillBroker ends a broker without a word.
func (d *Drive) KillBroker(nowMs int64, id int32) bool { panic("not there yet") }

// CreateTopic creates a topic; see cluster.CreateTopic.
func (d *Drive) CreateTopic(nowMs int64, name string, partitions int32, replicas int16, configs []cluster.TopicConfig) (code int16, message string) {
	panic("not there yet")
}

// CreateTopicWith creates a topic; see cluster.CreateTopicWith.
func (d *Drive) CreateTopicWith(nowMs int64, spec cluster.TopicSpec) (code int16, message string) {
	panic("not there yet")
}

// EnsureOffsetsTopic creates __consumer_offsets; FindCoordinator does so by itself.
func (d *Drive) EnsureOffsetsTopic(nowMs int64) (code int16, message string) { panic("not there yet") }

// AddPartitions makes a topic's partitions total in number.
func (d *Drive) AddPartitions(nowMs int64, name string, total int32) (code int16, message string) {
	panic("not there yet")
}

// ConfigChanged gives every coordinator new settings.
func (d *Drive) ConfigChanged(nowMs int64, s coordinator.Settings) { panic("not there yet") }

// SetQuiet leaves out the events of single batches while nobody watches.
func (d *Drive) SetQuiet(quiet bool) { panic("not there yet") }

// Take returns what has come out since the last Take.
func (d *Drive) Take() Output { panic("not there yet") }

// Machine is a broker's coordinator, nil where the broker does not run. For looking only.
func (d *Drive) Machine(broker int32) *coordinator.Coordinator { panic("not there yet") }

// Cluster is the cluster. For looking and reading only: what changes it goes through the drive.
func (d *Drive) Cluster() *cluster.Cluster { panic("not there yet") }

// Facts returns events from which a fold rebuilds the whole picture, between FactsBegan and FactsEnded. They change
// nothing and use no new Seq: each carries the Seq handed out last.
func (d *Drive) Facts(nowMs int64) []event.Event { panic("not there yet") }

// Probe tells what a request would get now from a broker's coordinator.
func (d *Drive) Probe(nowMs int64, broker int32, r coordinator.Request) coordinator.Probed {
	panic("not there yet")
}

// Clone returns a copy that goes its own way and numbers its events with n.
func (d *Drive) Clone(n *event.Numbers) *Drive { panic("not there yet") }
