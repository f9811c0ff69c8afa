package cluster

import "grouplab/coordinator/event"

type messageBody struct{}

// Cluster is brokers, topics and their logs. It is not safe for several goroutines: one goroutine owns it.
type Cluster struct {
	cfg Config
}

// New returns a cluster whose brokers all run and which has no topic.
func New(nowMs int64, cfg Config) *Cluster { panic("not there yet") }

// EnsureOffsetsTopic creates __consumer_offsets if it is not there. Its code is not 0 where too few brokers are alive.
func (c *Cluster) EnsureOffsetsTopic(nowMs int64) (code int16, message string) {
	panic("not there yet")
}

// CreateTopic creates a topic, its partitions spread over the live brokers. -1 stands for the default number.
func (c *Cluster) CreateTopic(nowMs int64, name string, partitions int32, replicas int16, configs []TopicConfig) (code int16, message string) {
	panic("not there yet")
}

// CreateTopicWith creates a topic with everything that CreateTopics can say.
func (c *Cluster) CreateTopicWith(nowMs int64, spec TopicSpec) (code int16, message string) {
	panic("not there yet")
}

// AddPartitions makes a topic's partitions total in number.
func (c *Cluster) AddPartitions(nowMs int64, name string, total int32) (code int16, message string) {
	panic("not there yet")
}

// StartBroker starts a broker that does not run. It serves at once, or, where the controller has not yet noticed that it
// was killed, when it does (Kafka: its registration is refused until its old session is over). It reports whether there
// was something to start.
func (c *Cluster) StartBroker(nowMs int64, id int32) bool { panic("not there yet") }

// StopBroker stops a broker cleanly (controlled shutdown): its leaderships move first.
func (c *Cluster) StopBroker(nowMs int64, id int32) bool { panic("not there yet") }

// KillBroker ends a broker without a word. The controller notices after BrokerSessionTimeoutMs.
func (c *Cluster) KillBroker(nowMs int64, id int32) bool { panic("not there yet") }

// Append appends a batch at a leader. The outcome comes in Output.Appended, now or later.
func (c *Cluster) Append(nowMs int64, r AppendRequest) { panic("not there yet") }

// Read reads below the high watermark, for clients.
func (c *Cluster) Read(r ReadRequest) ReadResult { panic("not there yet") }

// ReadLog reads up to the log end, for the broker's own coordinator: whole batches from the one that holds offset, about
// maxBytes, at least one. ok is false where the broker does not lead the partition.
func (c *Cluster) ReadLog(broker int32, topic string, partition int32, offset int64, maxBytes int) (batches []byte, endOffset int64, ok bool) {
	panic("not there yet")
}

// ListOffset finds an offset by time, or one of Latest, Earliest, MaxTimestamp. epoch -1: the client has none.
func (c *Cluster) ListOffset(broker int32, topic string, partition, epoch int32, timestampMs int64) ListedOffset {
	panic("not there yet")
}

// EpochEnd answers OffsetForLeaderEpoch (KIP-101, KIP-320): the largest epoch up to the asked one, and where it ended.
func (c *Cluster) EpochEnd(broker int32, topic string, partition, currentEpoch, epoch int32) (endEpoch int32, endOffset int64, code int16) {
	panic("not there yet")
}

// Deliver tells that a message arrived.
func (c *Cluster) Deliver(nowMs int64, m Message) { panic("not there yet") }

// Lost tells that a message will never arrive: the follower's connection broke, and it tries again after
// ReplicaFetchBackoffMs. A host that drops a message must tell.
func (c *Cluster) Lost(nowMs int64, m Message) { panic("not there yet") }

// Advance tells that time has passed.
func (c *Cluster) Advance(nowMs int64) { panic("not there yet") }

// Take returns what has come out since the last Take.
func (c *Cluster) Take() Output { panic("not there yet") }

// SetQuiet leaves out the events of single batches (RecordsAppended, ReplicaAdvanced, HighWatermarkAdvanced) while
// nobody watches; Facts tells all of it to whoever comes.
func (c *Cluster) SetQuiet(quiet bool) { panic("not there yet") }

// Metadata tells everything that brokers know. TopicNames, Topic and TopicByID are cheaper.
func (c *Cluster) Metadata() Metadata { panic("not there yet") }

// TopicNames lists the topics, sorted.
func (c *Cluster) TopicNames() []string { panic("not there yet") }

// Topic tells of one topic.
func (c *Cluster) Topic(name string) (TopicInfo, bool) { panic("not there yet") }

// TopicByID finds a topic's name.
func (c *Cluster) TopicByID(id [16]byte) (name string, ok bool) { panic("not there yet") }

// Leader tells the leader and epoch of a partition; ok is false where there is no such partition.
func (c *Cluster) Leader(topic string, partition int32) (leader, epoch int32, ok bool) {
	panic("not there yet")
}

// Running tells whether a broker serves.
func (c *Cluster) Running(id int32) bool { panic("not there yet") }

// Brokers is the number of brokers, running or not.
func (c *Cluster) Brokers() int32 { return c.cfg.Brokers }

// Config tells what the cluster was made with, defaults filled in.
func (c *Cluster) Config() Config { return c.cfg }

// Facts returns events from which a fold rebuilds the picture of this cluster. They change nothing and use no new Seq:
// each carries the Seq handed out last.
func (c *Cluster) Facts(nowMs int64) []event.Event { panic("not there yet") }

// Clone returns a copy that goes its own way and numbers its events with n.
func (c *Cluster) Clone(n *event.Numbers) *Cluster { panic("not there yet") }
