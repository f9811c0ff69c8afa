package cluster

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/log"
)

// OffsetsTopic is the topic that holds groups and committed offsets.
const OffsetsTopic = "__consumer_offsets"

// TransactionTopic is the topic that holds transactional ids.
const TransactionTopic = "__transaction_state"

// Config is what a cluster is made with. Zero values stand for Kafka's defaults.
type Config struct {
	// Brokers is how many there are; their ids are 1 to Brokers. 0: 1.
	Brokers int32
	// ClusterID is what clients see; "" takes a fixed one.
	ClusterID string
	// OffsetsPartitions is offsets.topic.num.partitions, 50.
	OffsetsPartitions int32
	// OffsetsReplicas is offsets.topic.replication.factor, 3 or as many as there are brokers.
	OffsetsReplicas int16
	// TransactionPartitions is transaction.state.log.num.partitions, 50; TransactionReplicas is
	// transaction.state.log.replication.factor, 3 or as many as there are brokers; TransactionMinInsync is
	// transaction.state.log.min.isr, 2.
	TransactionPartitions int32
	TransactionReplicas   int16
	TransactionMinInsync  int16
	// DefaultPartitions and DefaultReplicas are num.partitions (1) and default.replication.factor (here: as many as
	// there are brokers, at most 3, so that a killed broker does not take a topic away).
	DefaultPartitions int32
	DefaultReplicas   int16
	// MinInsyncReplicas is min.insync.replicas, 1.
	MinInsyncReplicas int16
	// BrokerSessionTimeoutMs is broker.session.timeout.ms, 9000: how long a killed broker goes unnoticed.
	BrokerSessionTimeoutMs int64
	// ReplicaLagTimeMaxMs is replica.lag.time.max.ms, 30000.
	ReplicaLagTimeMaxMs int64
	// ReplicaFetchWaitMaxMs is replica.fetch.wait.max.ms, 500.
	ReplicaFetchWaitMaxMs int64
	// ReplicaFetchBackoffMs is replica.fetch.backoff.ms, 1000: how long a follower waits after a failed fetch.
	ReplicaFetchBackoffMs int64
	// ReplicaFetchMaxBytes is replica.fetch.max.bytes, 1048576, for each partition.
	ReplicaFetchMaxBytes int
	// MaxMessageBytes is message.max.bytes, 1048588: the largest batch.
	MaxMessageBytes int
	// MaxPartitions bounds the partitions of all topics together, 10000.
	MaxPartitions int
	// SegmentBytes is log.segment.bytes, 16 MiB here, since logs are in memory; it bounds the topics' own segment.bytes.
	SegmentBytes int
	// RetentionMs is log.retention.ms, seven days; RetentionBytes is log.retention.bytes, for each partition, -1: no
	// bound. Both count whole segments and are looked at when one is full.
	RetentionMs, RetentionBytes int64
	// RetentionCheckMs is log.retention.check.interval.ms, five minutes: how often topics are looked at that say themselves
	// what is kept of them.
	RetentionCheckMs int64
	// OffsetsSegmentBytes is offsets.topic.segment.bytes, 100 MiB; SegmentBytes bounds it.
	OffsetsSegmentBytes int
	// CleanerBackoffMs is log.cleaner.backoff.ms, 15000: how often the cleaner looks for compacted topics' logs in which
	// there is something to do. It sleeps while no log has got a new segment.
	CleanerBackoffMs int64
	// MinCleanableRatio is log.cleaner.min.cleanable.ratio, 0.5: how much of a log must be new before it is compacted.
	MinCleanableRatio float64
	// MinCompactionLagMs is log.cleaner.min.compaction.lag.ms, 0; MaxCompactionLagMs is log.cleaner.max.compaction.lag.ms,
	// 0: no bound.
	MinCompactionLagMs, MaxCompactionLagMs int64
	// DeleteRetentionMs is log.cleaner.delete.retention.ms, a day: how long tombstones stay after a first compaction.
	DeleteRetentionMs int64
	// Decompress opens compressed batches where their records are looked at: those that are produced to compacted topics,
	// and in the search for a time. nil: they are taken as they are, and a search finds the batch.
	Decompress log.Decompress
	// HostPort gives the address that a broker advertises; nil: "broker-N" and 9092.
	HostPort func(id int32) (host string, port int32)
	// Numbers hands out Seq; everything of one world shares one.
	Numbers *event.Numbers
	// Disk keeps the logs; nil: they are in memory.
	Disk Disk
	// Quiet starts without the events of single batches; see Cluster.SetQuiet.
	Quiet bool
}

// TopicSpec asks for a topic.
type TopicSpec struct {
	Name string
	// Partitions and Replicas are -1 for the defaults.
	Partitions int32
	Replicas   int16
	// Assignment places the partitions by hand: the replicas of each, the preferred leader first. nil: spread.
	Assignment [][]int32
	// Configs are Kafka's topic settings, by name.
	Configs []TopicConfig
	// ValidateOnly checks and creates nothing.
	ValidateOnly bool
}

// TopicConfig is one topic setting.
type TopicConfig struct{ Name, Value string }

// TopicInfo is what there is to know of a topic.
type TopicInfo struct {
	Name string
	// ID is the topic id (KIP-516): stable, never zero.
	ID         [16]byte
	Internal   bool
	Partitions []PartitionInfo
	Configs    []TopicConfig
}

// PartitionInfo is the controller's view of a partition.
type PartitionInfo struct {
	Partition int32
	// Leader is -1 where there is none.
	Leader, Epoch          int32
	Replicas, ISR, Offline []int32
}

// BrokerInfo is a broker that clients may be told of.
type BrokerInfo struct {
	ID   int32
	Host string
	Port int32
}

// Metadata is the whole of what brokers know.
type Metadata struct {
	ClusterID string
	// Controller is the broker that clients send CreateTopics to: the smallest live id, -1 where none is alive.
	Controller int32
	// Brokers are those that the controller takes for alive, by id: a killed one stays until it is noticed.
	Brokers []BrokerInfo
	Topics  []TopicInfo // by name
}

// AppendRequest asks a broker to append a batch.
type AppendRequest struct {
	Broker    int32
	Topic     string
	Partition int32
	// Epoch is the leader epoch that the caller believes in; -1: it does not say.
	Epoch int32
	// Batch is one encoded batch. It is not kept and not changed.
	Batch []byte
	// Acks is 0, 1 or -1; TimeoutMs bounds the wait of -1.
	Acks      int16
	TimeoutMs int64
	// Ticket comes back in Appended; 0: nobody wants to know.
	Ticket int64
	// Internal is set for the broker's own coordinator: it alone may write to internal topics.
	Internal bool
	// Marker is set where the batch ends a transaction: Marker's answers come with Appended.Marker.
	Marker bool
	// Offsets are what the batch commits, record by record, where the caller knows: then it need not be read again to be
	// told. They are Group's.
	Offsets []event.OffsetValue
	// Group and Cause go into the header of the events.
	Group string
	Cause int64
	// What says what a coordinator writes: "group", "offsets", "transactional offsets", "tombstones", "transaction" or
	// "marker". Only faults read it.
	What string
}

// MarkerRequest asks the leader of a partition to write the marker that ends a transaction there (WriteTxnMarkers). The
// answer comes in Output.Appended, with Marker set, when every in-sync replica has it.
type MarkerRequest struct {
	Topic     string
	Partition int32
	Marker    log.Marker
	// From is the coordinator's broker and Life which life of its process; they and Ticket come back in Appended.
	From   int32
	Life   int64
	Ticket int64
	Cause  int64
}

// Appended is the outcome of an append.
type Appended struct {
	Broker    int32
	Topic     string
	Partition int32
	Ticket    int64
	Internal  bool
	// Marker is set for the answer to a MarkerRequest, From and Life tell who asked then. It comes twice where the leader is
	// another broker than From: first there, then, with Answered set, when the answer has come back.
	Marker   bool
	Answered bool
	From     int32
	Life     int64
	// Cause is the MarkerRequest's.
	Cause int64
	// BaseOffset is where the batch is, -1 where it was refused. LogStartOffset is the log's first offset.
	BaseOffset, LogStartOffset int64
	// LogAppendTimeMs is the time that the records got, 0 where they keep their own.
	LogAppendTimeMs int64
	// Duplicate is set where the batch had been written before (idempotent producer) and BaseOffset is of then.
	Duplicate bool
	Code      int16
	// Message says in words what was wrong.
	Message string
}

// ReadRequest asks the leader of a partition for batches.
type ReadRequest struct {
	Broker    int32
	Topic     string
	Partition int32
	// Epoch is the client's current leader epoch, -1 where it has none.
	Epoch  int32
	Offset int64
	// MaxBytes bounds what comes back; the first batch comes whole all the same where MinOne is set (KIP-74).
	MaxBytes int
	MinOne   bool
	// Committed reads up to the last stable offset only (isolation.level=read_committed).
	Committed bool
}

// ReadResult is what a read found.
type ReadResult struct {
	// Batches are whole batches; the first may begin before the asked offset. They are shared: not to be changed.
	Batches []byte
	// Aborted are the aborted transactions that reach into Batches, for a reader of committed records.
	Aborted []log.Aborted
	// HighWatermark, LastStable and LogStart are the leader's; -1 with an error.
	HighWatermark, LastStable, LogStart int64
	// Leader and Epoch are the current ones, for clients that are wrong (KIP-951).
	Leader, Epoch int32
	Code          int16
}

// ListedOffset is the answer to ListOffset.
type ListedOffset struct {
	// Offset and TimestampMs are -1 where nothing was found.
	Offset, TimestampMs int64
	LeaderEpoch         int32
	Code                int16
}

// Timestamps of ListOffsets that are none (Kafka: ListOffsetsRequest).
const (
	Latest       int64 = -1
	Earliest     int64 = -2
	MaxTimestamp int64 = -3
)

// Message travels between two brokers: a follower's fetch or a transaction coordinator's marker, or the leader's answer. It is a value; whoever carries it
// may keep it and copy it, and reads nothing into it beyond the fields here.
type Message struct {
	From, To int32
	// Answer is set on the way back.
	Answer bool
	// Bytes is about how much it would be on a wire; Records is set where it carries records.
	Bytes   int
	Records bool

	body *messageBody
}

// Leadership tells that a broker gained or lost a partition of __consumer_offsets or __transaction_state.
type Leadership struct {
	Broker, Partition, Epoch int32
	// EndOffset is the log end, where the leadership was gained.
	EndOffset int64
}

// Watermark tells that a partition's high watermark rose.
type Watermark struct {
	Broker    int32
	Topic     string
	Partition int32
	Offset    int64
}

// Output is what the cluster wants done and known. Its slices are valid until the next door is used.
type Output struct {
	// Messages to carry, in order.
	Messages []Message
	// Appended are outcomes, in order.
	Appended []Appended
	// Emigrations come before Immigrations. They are of __consumer_offsets; the others are of __transaction_state.
	Emigrations, Immigrations       []Leadership
	TxnEmigrations, TxnImmigrations []Leadership
	// Watermarks name the partitions with more to read: for fetches that wait.
	Watermarks []Watermark
	// MetadataChanged is set when brokers, topics, partitions or leaders changed.
	MetadataChanged bool
	Events          []event.Event
	// DeadlineMs is when Advance must be called at the latest; -1 where nothing waits for time.
	DeadlineMs int64
}
