package event

import "encoding/json"

// BrokerStarted fires when a broker serves again or for the first time; in Facts for each that runs.
type BrokerStarted struct {
	ID   int32  `json:"id"`
	Host string `json:"host,omitempty"`
	Port int32  `json:"port,omitempty"`
}

// BrokerStopped fires when a broker is gone.
type BrokerStopped struct {
	ID int32 `json:"id"`
	// Killed is set where it went without a word; the controller notices at NoticedByMs at the latest.
	Killed      bool  `json:"killed,omitempty"`
	NoticedByMs int64 `json:"noticedByMs,omitempty"`
}

// BrokerFenced fires when the controller noticed that a broker is gone and took its leaderships away.
type BrokerFenced struct {
	ID int32 `json:"id"`
}

// TopicCreated fires for a new topic, and in Facts for each that exists.
type TopicCreated struct {
	Topic      string `json:"topic"`
	Partitions int32  `json:"partitions"`
	Replicas   int16  `json:"replicas"`
	Internal   bool   `json:"internal,omitempty"`
}

// PartitionsAdded fires when a topic got more partitions.
type PartitionsAdded struct {
	Topic string `json:"topic"`
	From  int32  `json:"from"`
	To    int32  `json:"to"`
}

// TopicDeleted fires when a topic is gone with all its data.
type TopicDeleted struct {
	Topic string `json:"topic"`
}

// LeaderChanged fires when a partition's leader, epoch or in-sync replicas changed, and in Facts.
type LeaderChanged struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Leader is -1 where there is none.
	Leader   int32   `json:"leader"`
	Epoch    int32   `json:"epoch"`
	Replicas []int32 `json:"replicas"`
	ISR      []int32 `json:"isr"`
}

// LogRecord is one record of __consumer_offsets, decoded.
type LogRecord struct {
	// What is "offset", "group", "marker" for the end of a transaction, or "other" for a key that a classic coordinator
	// skips.
	What  string `json:"what"`
	Group string `json:"group,omitempty"`
	// Topic, Partition, Offset and Metadata are an offset commit's.
	Topic     string `json:"topic,omitempty"`
	Partition int32  `json:"partition,omitempty"`
	Offset    int64  `json:"offset,omitempty"`
	Metadata  string `json:"metadata,omitempty"`
	// Generation, Members and Protocol are a group record's.
	Generation int32  `json:"generation,omitempty"`
	Members    int    `json:"members,omitempty"`
	Protocol   string `json:"protocol,omitempty"`
	// Tombstone is set where the value is null.
	Tombstone bool `json:"tombstone,omitempty"`
	// Commit is a marker's: the transaction committed; otherwise it was aborted.
	Commit bool `json:"commit,omitempty"`
}

// RecordsAppended fires when a leader wrote a batch to its log. Only batches of __consumer_offsets carry Records.
type RecordsAppended struct {
	Topic      string      `json:"topic"`
	Partition  int32       `json:"partition"`
	BaseOffset int64       `json:"baseOffset"`
	Count      int         `json:"count"`
	Bytes      int         `json:"bytes"`
	Records    []LogRecord `json:"records,omitempty"`
	// Append is the coordinator's ticket, 0 where a client produced.
	Append int64 `json:"append,omitempty"`
	// Transactional is set where the batch belongs to a transaction of this producer, or ends it with a marker.
	Transactional bool  `json:"transactional,omitempty"`
	ProducerID    int64 `json:"producerId,omitempty"`
	ProducerEpoch int16 `json:"producerEpoch,omitempty"`
	// committed stands in the place of Records where the batch commits offsets, and is of a group.
	group     string
	committed []OffsetValue
}

// Commits tells of a batch that commits offsets, record by record. Its Records are only made for whoever asks Told.
func (b *RecordsAppended) Commits(group string, offsets []OffsetValue) {
	b.group, b.committed = group, offsets
}

// Committed is what Commits was given.
func (b RecordsAppended) Committed() (group string, offsets []OffsetValue) {
	return b.group, b.committed
}

// Told are the batch's records, whichever way they were given.
func (b RecordsAppended) Told() []LogRecord {
	if b.committed == nil {
		return b.Records
	}
	list := make([]LogRecord, len(b.committed))
	for i := range b.committed {
		o, d := &b.committed[i], &list[i]
		d.What, d.Group, d.Topic, d.Partition, d.Offset, d.Metadata = "offset", b.group, o.Topic, o.Partition, o.Offset, o.Metadata
	}
	return list
}

// MarshalJSON writes the records that are told.
func (b RecordsAppended) MarshalJSON() ([]byte, error) {
	type plain RecordsAppended
	b.Records = b.Told()
	return json.Marshal(plain(b))
}

// ReplicaAdvanced fires when a follower's log grew. Broker in the header is the follower.
type ReplicaAdvanced struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	EndOffset int64  `json:"endOffset"`
}

// ReplicaTruncated fires when a follower threw away the end of its log because the new leader does not have it (KIP-101).
// Broker in the header is the follower.
type ReplicaTruncated struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	From      int64  `json:"from"`
	EndOffset int64  `json:"endOffset"`
}

// HighWatermarkAdvanced fires on the leader when more of its log is on every in-sync replica, and in Facts.
type HighWatermarkAdvanced struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	// EndOffset is the leader's log end.
	EndOffset int64 `json:"endOffset"`
}

// RemovalReason is why compaction removed a record.
type RemovalReason string

const (
	// WhySuperseded: a newer record has the same key.
	WhySuperseded RemovalReason = "superseded"
	// WhyTombstoneOver: a tombstone was there for delete.retention.ms.
	WhyTombstoneOver RemovalReason = "tombstone's time is over"
	// WhyAborted: the record's transaction was aborted.
	WhyAborted RemovalReason = "aborted transaction"
	// WhyEmptyTransaction: a marker of a transaction of which nothing else is left.
	WhyEmptyTransaction RemovalReason = "nothing else is left of its transaction"
	// WhyNoKey: a compacted log keeps the newest record of each key.
	WhyNoKey RemovalReason = "no key"
)

// RemovedRecord is a record that compaction removed.
type RemovedRecord struct {
	Offset int64         `json:"offset"`
	Why    RemovalReason `json:"why"`
	// By is the offset of the record that superseded it, -1 where none did.
	By int64 `json:"by"`
	// Record is what it was; only records of __consumer_offsets are described.
	Record LogRecord `json:"record,omitzero"`
}

// RemovedMore is how many further records were removed for one reason.
type RemovedMore struct {
	Why   RemovalReason `json:"why"`
	Count int           `json:"count"`
}

// LogCompacted fires when a replica's log was compacted (Kafka: LogCleaner). Broker in the header is the replica's.
type LogCompacted struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// From is up to where the log had been compacted before, To up to where it is now.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// BytesBefore and BytesAfter are the sizes of everything below To.
	BytesBefore int64 `json:"bytesBefore"`
	BytesAfter  int64 `json:"bytesAfter"`
	// Kept is how many records are left below To; Count how many were removed, of which Removed holds the first 100, told
	// by the leader alone. More counts the others by their reasons.
	Kept    int             `json:"kept"`
	Count   int             `json:"count"`
	Removed []RemovedRecord `json:"removed,omitempty"`
	More    []RemovedMore   `json:"more,omitempty"`
}

// LoadStarted fires when a broker became leader of an offsets partition and begins to read it (Kafka: immigration).
type LoadStarted struct {
	Partition int32 `json:"partition"`
	Epoch     int32 `json:"epoch"`
	EndOffset int64 `json:"endOffset"`
}

// LoadProgressed fires after each chunk.
type LoadProgressed struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset"`
	EndOffset int64 `json:"endOffset"`
	Records   int64 `json:"records"`
}

// LoadFinished fires when the partition is owned; in Facts for each owned partition that has a group.
type LoadFinished struct {
	Partition int32 `json:"partition"`
	Epoch     int32 `json:"epoch"`
	Groups    int   `json:"groups"`
	Offsets   int   `json:"offsets"`
	// Failed says what ended the load early; the partition is owned all the same, as in Kafka.
	Failed string `json:"failed,omitempty"`
	// RetentionMs and CleanupMs are as in GroupCreated.
	RetentionMs int64 `json:"retentionMs,omitempty"`
	CleanupMs   int64 `json:"cleanupMs,omitempty"`
}

// LoadSkipped fires where Kafka only logs a warning: an unknown key version, a record that cannot be used.
type LoadSkipped struct {
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Reason    string `json:"reason"`
}

// PartitionUnloaded fires when a broker lost an offsets partition (Kafka: emigration), before its groups go.
type PartitionUnloaded struct {
	Partition int32 `json:"partition"`
	Epoch     int32 `json:"epoch"`
	Groups    int   `json:"groups"`
}
