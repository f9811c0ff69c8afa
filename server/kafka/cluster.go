package kafka

import (
	"grouplab/coordinator"
	"grouplab/coordinator/event"
)

// Loop is the goroutine that owns the cluster. Post may be called from anywhere but the loop, and reports false once the
// loop has ended; the rest is for the loop's goroutine.
type Loop interface {
	Post(work func(nowMs int64)) bool
	// Soon runs work after the cluster's output was handed on, in the same turn of the loop.
	Soon(work func(nowMs int64))
	// AtTurnEnd runs work when this turn of the loop is over.
	AtTurnEnd(work func(nowMs int64))
	// At runs work at a time; Cancel forgets it.
	At(deadlineMs int64, work func(nowMs int64)) (timer int64)
	Cancel(timer int64)
}

// Cluster is what a listener needs to know and do. All of it happens on the loop's goroutine.
type Cluster interface {
	Admin
	ClusterID() string
	// Controller is the broker to send CreateTopics to, -1 where there is none.
	Controller() int32
	// Brokers are those that clients may be told of, by id.
	Brokers() []Broker
	// Running tells whether a broker serves.
	Running(broker int32) bool

	TopicNames() []string
	Topic(name string) (Topic, bool)
	TopicName(id [16]byte) (name string, ok bool)
	// CreateTopic also creates __consumer_offsets, with its own settings, when that name is asked for.
	CreateTopic(nowMs int64, t NewTopic) (code int16, message string)
	// Planned tells what a topic would have, asked for like this: its numbers without defaults, and its settings by name.
	Planned(t NewTopic) (partitions int32, replicas int16, list []Setting)

	// Group gives a request to the group coordinator of a broker that runs. Forget drops the receiver.
	Group(nowMs int64, broker int32, r coordinator.Request, to Receiver) (ticket int64)
	Forget(ticket int64)

	// Append appends one batch. done is called once, never before Append has returned, unless Abandon comes first. With
	// acks 0 it is called too, with what is known at once.
	Append(nowMs int64, a Append, done func(nowMs int64, a Appended)) (ticket int64)
	Abandon(ticket int64)
	Read(r Read) ReadResult
	ListOffset(q OffsetQuestion) ListedOffset
	EpochEnd(broker int32, topic string, partition, currentEpoch, epoch int32) (endEpoch int32, endOffset int64, code int16)
	// WriteMarker has the broker end a transaction on a partition that it leads. done is called once, later.
	WriteMarker(nowMs int64, m Marker, done func(code int16))
	// Producers lists the producers that the log of a partition remembers; the broker must lead it.
	Producers(broker int32, topic string, partition int32) (list []Producer, code int16)
	// Transaction and Transactions tell what the broker's transaction coordinator knows.
	Transaction(broker int32, transactionalID string) (Transaction, int16)
	Transactions(broker int32) ([]Transaction, int16)

	// Tell adds a fact to the event stream.
	Tell(nowMs int64, broker int32, body event.Body) (seq int64)
}

// Receiver gets a group reply on the loop's goroutine.
type Receiver interface {
	Reply(nowMs int64, r coordinator.Reply)
}

// Broker is a broker as clients are told of it.
type Broker struct {
	ID   int32
	Host string
	Port int32
}

// Topic is a topic and its partitions, by number from 0.
type Topic struct {
	Name       string
	ID         [16]byte
	Internal   bool
	Partitions []Partition
}

// Partition is where a partition lives. Leader is -1 where there is none.
type Partition struct {
	Leader, Epoch          int32
	Replicas, ISR, Offline []int32
}

// NewTopic asks for a topic; -1 stands for the default number of partitions or replicas.
type NewTopic struct {
	Name       string
	Partitions int32
	Replicas   int16
	// Assignment lists the replicas of each partition where they are placed by hand.
	Assignment   [][]int32
	Configs      []TopicConfig
	ValidateOnly bool
}

// TopicConfig is a topic setting, by Kafka's name.
type TopicConfig struct{ Name, Value string }

// Append asks the leader of a partition to append a producer's batch.
type Append struct {
	Broker    int32
	Topic     string
	Partition int32
	Batch     []byte
	Acks      int16
	TimeoutMs int64
	// TransactionalID is the request's, "" where it has none; Version is Produce's.
	TransactionalID string
	Version         int16
}

// Appended is the outcome of an Append.
type Appended struct {
	BaseOffset, LogStartOffset int64
	// LogAppendTimeMs is the time that the records got, 0 where they keep their own.
	LogAppendTimeMs int64
	Code            int16
	Message         string
}

// Read asks the leader of a partition for batches below its high watermark.
type Read struct {
	Broker    int32
	Topic     string
	Partition int32
	// Epoch is the client's, -1 where it has none.
	Epoch    int32
	Offset   int64
	MaxBytes int
	// MinOne lets the first batch be larger than MaxBytes (KIP-74).
	MinOne bool
	// Committed reads up to the last stable offset, and asks for the aborted transactions.
	Committed bool
}

// ReadResult is what was found. Batches are shared and must not be changed.
type ReadResult struct {
	Batches []byte
	// Aborted are the aborted transactions that reach into Batches.
	Aborted                             []Aborted
	HighWatermark, LastStable, LogStart int64
	// Leader and Epoch are the present ones (KIP-951).
	Leader, Epoch int32
	Code          int16
}

// Aborted is where the records begin that a producer's abort marker takes back.
type Aborted struct{ ProducerID, First int64 }

// OffsetQuestion asks the leader of a partition for an offset by time, or for one of Kafka's special times.
type OffsetQuestion struct {
	Broker    int32
	Topic     string
	Partition int32
	// Epoch is the client's, -1 where it has none.
	Epoch       int32
	TimestampMs int64
	// Committed counts up to the last stable offset.
	Committed bool
}

// Marker ends a producer's transaction on one partition.
type Marker struct {
	Broker           int32
	Topic            string
	Partition        int32
	ProducerID       int64
	ProducerEpoch    int16
	CoordinatorEpoch int32
	Commit           bool
}

// Producer is a producer as a partition's log remembers it; -1 stands for nothing known.
type Producer struct {
	ID               int64
	Epoch            int16
	LastSequence     int32
	LastTimestampMs  int64
	CoordinatorEpoch int32
	TransactionStart int64
}

// Transaction is a transactional id. StartMs is -1 where no transaction is open.
type Transaction struct {
	ID            string
	State         string
	ProducerID    int64
	ProducerEpoch int16
	TimeoutMs     int32
	StartMs       int64
	Partitions    []event.TopicPartitions
}

// ListedOffset is the answer to ListOffset; Offset and TimestampMs are -1 where nothing was found.
type ListedOffset struct {
	Offset, TimestampMs int64
	LeaderEpoch         int32
	Code                int16
}
