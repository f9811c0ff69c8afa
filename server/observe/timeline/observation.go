package timeline

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Observation is something that a host learned. Each is a struct of this file, used by value; what it points to may be
// used again by the host after Observe.
type Observation interface{ observed() }

// Broker is one broker of the cluster.
type Broker struct {
	ID   int32
	Host string
	Port int32
}

// Attached says that the cluster was reached. It comes first, and again after the cluster's id has changed: then
// everything is forgotten and told anew.
type Attached struct {
	ClusterID string
	// Mode is "log" where __consumer_offsets is read, "poll" where it is forbidden.
	Mode string
	// Partitions is how many __consumer_offsets has; 0 where that is not known.
	Partitions int32
	// PollMs is how far apart two filtered ListGroups are.
	PollMs int64
	// ConsumerSessionTimeoutMs is group.consumer.session.timeout.ms, ConsumerHeartbeatMs the heartbeat interval that goes with
	// it, RetentionMs offsets.retention.minutes, InitialDelayMs group.initial.rebalance.delay.ms; 0 where it is not known
	// (then Kafka's defaults are assumed, but for RetentionMs).
	ConsumerSessionTimeoutMs, RetentionMs int64
	InitialDelayMs                        int64
}

// Metadata is an answer to Metadata. Brokers are all that are there; an empty list says nothing about them.
type Metadata struct {
	Brokers []Broker
	Topics  []Topic
	// Gone are names of topics that were asked for and are not there (UNKNOWN_TOPIC_OR_PARTITION).
	Gone []string
}

// Topic is what Metadata says of one topic. __consumer_offsets is one of them: its leaders are the groups' coordinators.
type Topic struct {
	Name       string
	ID         record.TopicID // zero where the broker gives none
	Internal   bool
	Partitions []Partition
}

// Partition is one partition of a Topic.
type Partition struct {
	Number        int32
	Leader        int32 // -1: none
	Epoch         int32
	Replicas, ISR []int32
}

// ReadFrom says that a partition of __consumer_offsets is being read from Start on, and that its end was at End: it is
// known when the position reaches End (Records.Next, Position.Next). Start may be End. A partition that is read again,
// because its log was cut or its position is gone, is forgotten before; Why says what happened then.
type ReadFrom struct {
	Partition  int32
	Start, End int64
	// Tail is set where Start is not the beginning of the log: then not everything is known of a group that was not seen.
	Tail bool
	Why  string
}

// Records are records of one partition of __consumer_offsets, in order of their offsets. The batches that they came in must
// be whole: what a coordinator wrote as one is told as one. They are told apart by group and timestamp.
type Records struct {
	Partition int32
	// Next is the position after them. It moves beyond what compaction has removed and beyond markers.
	Next    int64
	Records []Record
}

// Record is one record, data or marker (Control).
type Record struct {
	Offset        int64
	TimestampMs   int64
	ProducerID    int64
	ProducerEpoch int16
	Transactional bool
	// Control is set for a marker; its Key says whether its transaction committed.
	Control    bool
	Key, Value []byte // Value is nil for a tombstone
}

// Position says that the position moved to Next without records: the rest was compacted away or consists of markers.
type Position struct {
	Partition int32
	Next      int64
}

// Recreated says that __consumer_offsets has another topic id: everything read from it is forgotten.
type Recreated struct{ Partitions int32 }

// PollList is an answer to ListGroups of one broker, or its failure.
type PollList struct {
	Broker int32
	// AskedMs and AnsweredMs are the observer's clock before the request and after the answer: what is said was true at
	// some moment between them.
	AskedMs, AnsweredMs int64
	// Filtered is set where only groups in motion were asked for (StatesFilter of KIP-518 with PreparingRebalance,
	// CompletingRebalance, Assigning and Reconciling): who is not listed is not in motion. Otherwise all are listed.
	Filtered bool
	Groups   []ListedGroup
	// Code is the answer's error, 0 for none; then Groups says nothing. A request that failed altogether is SourceFailed.
	Code int16
}

// ListedGroup is a line of ListGroups.
type ListedGroup struct {
	Group        string
	State        event.State // "" before v4
	Type         string      // "" before v5
	ProtocolType string
}

// Described is what DescribeGroups (key 15) or ConsumerGroupDescribe (key 69) says of one group.
type Described struct {
	Broker              int32
	AskedMs, AnsweredMs int64
	Group               string
	// Type is "classic" for key 15, "consumer" for key 69.
	Type string
	// Code and Reason are the group's error, 0 for none. GROUP_AUTHORIZATION_FAILED becomes a SightChanged of that group.
	Code   int16
	Reason string
	State  event.State
	// ProtocolType and Protocol are key 15's; Protocol is the assignor of key 69.
	ProtocolType, Protocol string
	// Epoch and TargetEpoch are key 69's GroupEpoch and AssignmentEpoch.
	Epoch, TargetEpoch int32
	Members            []DescribedMember
}

// DescribedMember is a member in Described. In a classic group Subscription and Assignment are its bytes, empty outside of
// Stable. In a consumer group Epoch, Topics, Assigned and Target are said.
type DescribedMember struct {
	Member               string
	InstanceID           string // "" for none
	ClientID, ClientHost string
	// Subscription and Assignment are a classic member's bytes.
	Subscription, Assignment []byte
	// Epoch is a KIP-848 member's, Topics its subscription; Assigned is what it has, Target what it shall have.
	Epoch            int32
	Topics           []string
	Assigned, Target []event.TopicPartitions
}

// Committed is what OffsetFetch says of one group, for where the log cannot be read. All is set where every topic was
// asked for: what is missing then is not committed.
type Committed struct {
	Group               string
	AskedMs, AnsweredMs int64
	Code                int16
	All                 bool
	Offsets             []event.OffsetValue // Offset -1: none
}

// LogEnds is what ListOffsets says of one topic. Ask it after the offsets (OffsetFetch, or the log's position) are known.
type LogEnds struct {
	Topic               string
	AskedMs, AnsweredMs int64
	// Groups are those of which a LagMeasured is wanted; nil: all that have a commit or an owner of the topic.
	Groups     []string
	Partitions []LogEnd
}

// LogEnd is where the log of one partition begins and ends.
type LogEnd struct {
	Partition  int32
	Start, End int64 // Start -1: not asked
	// Marker is set where the last position before End is known to be a transaction's marker. It matters for the partitions of
	// Timeline.OneShort.
	Marker bool
	// Code is the partition's error; Start and End then say nothing.
	Code int16
}

// BrokerLog is what lines of a broker's log say (package brokerlog): facts with a Group, whose RebalanceStarted,
// MemberRemoved and MemberAdded carry the reasons that are written nowhere else.
type BrokerLog struct {
	Broker int32
	Events []event.Event
}

// SourceFailed says that something is not seen any more, SourceBack that it is again. Fields as in event.SightChanged.
type SourceFailed struct {
	Source string
	Code   int16
	Reason string
	Right  string
	Hides  string
	// Broker is set where the source is a broker or what only it tells: its groups' states are unknown from then on.
	Broker int32
}

// SourceBack says that a source is seen again.
type SourceBack struct {
	Source string
	Broker int32
}

func (Attached) observed()     {}
func (Metadata) observed()     {}
func (ReadFrom) observed()     {}
func (Records) observed()      {}
func (Position) observed()     {}
func (Recreated) observed()    {}
func (PollList) observed()     {}
func (Described) observed()    {}
func (Committed) observed()    {}
func (LogEnds) observed()      {}
func (BrokerLog) observed()    {}
func (SourceFailed) observed() {}
func (SourceBack) observed()   {}
