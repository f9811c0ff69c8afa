package event

// RequestReceived fires when a request enters a coordinator, before any check. Heartbeats have HeartbeatReceived instead.
type RequestReceived struct {
	Ticket   int64  `json:"ticket"`
	API      int16  `json:"api"`
	Version  int16  `json:"version"`
	ClientID string `json:"clientId"`
	// ClientHost is the textual address as Kafka stores it ("/127.0.0.1").
	ClientHost string `json:"clientHost,omitempty"`
	Member     string `json:"member,omitempty"`
	Generation int32  `json:"generation,omitempty"`
	// Reason is KIP-800's text.
	Reason string `json:"reason,omitempty"`
}

// ReplyParked fires when a reply is held back. It is answered later by a ReplySent with the same Ticket.
type ReplyParked struct {
	Ticket int64  `json:"ticket"`
	API    int16  `json:"api"`
	Member string `json:"member,omitempty"`
	// ClientID names the client where there is no member id yet.
	ClientID string `json:"clientId,omitempty"`
	SinceMs  int64  `json:"sinceMs"`
	// Until says in words which condition answers it.
	Until string `json:"until"`
}

// ReplySent fires when a request is answered, at once or out of a shelf. Quiet heartbeats (code 0) have none.
type ReplySent struct {
	Ticket     int64  `json:"ticket"`
	API        int16  `json:"api"`
	Code       int16  `json:"code"`
	Member     string `json:"member,omitempty"`
	Generation int32  `json:"generation,omitempty"`
	// HeldMs is how long it was parked.
	HeldMs int64 `json:"heldMs,omitempty"`
	// Guard names the check that decided, where an error was answered.
	Guard string `json:"guard,omitempty"`
}

// ReplyDropped fires when a parked reply will never be sent: the same member joined again, or its slot went away with
// its member (Kafka drops these silently).
type ReplyDropped struct {
	Ticket int64  `json:"ticket"`
	API    int16  `json:"api"`
	Member string `json:"member,omitempty"`
	Reason string `json:"reason"`
}

// OffsetValue is one partition's commit.
type OffsetValue struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// LeaderEpoch is -1 where the client gave none. (It stands here because millions of these are made: so it fills a gap.)
	LeaderEpoch int32  `json:"leaderEpoch"`
	Offset      int64  `json:"offset"`
	Metadata    string `json:"metadata,omitempty"`
	// Code is the partition's error; only in OffsetsRefused and for partitions set aside.
	Code int16 `json:"code,omitempty"`
	// CommitMs is when it was committed, where that is not now: at a load, in Facts and in OffsetsRemoved.
	CommitMs int64 `json:"commitMs,omitempty"`
	// ExpireMs is when it expires because its commit asked for a retention time (OffsetCommit v2 to v4); 0 where the
	// broker's offsets.retention.minutes decides.
	ExpireMs int64 `json:"expireMs,omitempty"`
}

// OffsetsPending fires when a commit was accepted and its append is under way: it is not visible yet.
type OffsetsPending struct {
	Member     string        `json:"member,omitempty"`
	Generation int32         `json:"generation"`
	Append     int64         `json:"append"` // the append's ticket
	Offsets    []OffsetValue `json:"offsets"`
}

// OffsetsCommitted fires when the append of a commit succeeded and the values became visible, at a load, and in Facts.
type OffsetsCommitted struct {
	Append int64 `json:"append,omitempty"`
	// BaseOffset is the position of the batch in the offsets partition; -1 where not known.
	BaseOffset int64         `json:"baseOffset"`
	Offsets    []OffsetValue `json:"offsets"`
	Loaded     bool          `json:"loaded,omitempty"`
}

// OffsetsRefused fires when a commit was not accepted, or its append failed.
type OffsetsRefused struct {
	Member string `json:"member,omitempty"`
	// Generation is the one that the client sent; GroupGeneration the group's.
	Generation      int32         `json:"generation"`
	GroupGeneration int32         `json:"groupGeneration"`
	State           State         `json:"state,omitempty"`
	Code            int16         `json:"code"`
	Append          int64         `json:"append,omitempty"` // set where an append failed
	Offsets         []OffsetValue `json:"offsets"`
}

// OffsetsRemoved fires when offsets are gone, whether they were committed, pending or part of a transaction. Tombstones
// follow. The values are the last ones.
type OffsetsRemoved struct {
	Why     Why           `json:"why"`
	Offsets []OffsetValue `json:"offsets"`
}

// CleanupRan fires when the job begins that removes expired offsets and groups that are left with nothing, once each
// offsets.retention.check.interval.ms while there are groups.
type CleanupRan struct {
	// Groups is how many it looks at.
	Groups int `json:"groups"`
	// RetentionMs is offsets.retention.minutes, NextMs when the job looks again, 0 where that is not known.
	RetentionMs int64 `json:"retentionMs,omitempty"`
	NextMs      int64 `json:"nextMs,omitempty"`
}

// TxnVerificationStarted fires when the transaction coordinator is asked whether a partition of __consumer_offsets is
// part of a producer's transaction, before anything of a TxnOffsetCommit is done (KIP-890).
type TxnVerificationStarted struct {
	Verification    int64  `json:"verification"` // the ticket that the answer carries
	TransactionalID string `json:"transactionalId"`
	ProducerID      int64  `json:"producerId"`
	ProducerEpoch   int16  `json:"producerEpoch"`
	Partition       int32  `json:"partition"`
}

// TxnVerificationFinished fires when the transaction coordinator has answered. Code 0: it is part of the transaction.
type TxnVerificationFinished struct {
	Verification int64 `json:"verification"`
	Code         int16 `json:"code"`
}

// TxnOffsetsPending fires when a commit within a transaction was accepted and its append is under way.
type TxnOffsetsPending struct {
	ProducerID    int64         `json:"producerId"`
	ProducerEpoch int16         `json:"producerEpoch"`
	Member        string        `json:"member,omitempty"`
	Generation    int32         `json:"generation"`
	Append        int64         `json:"append"` // the append's ticket
	Offsets       []OffsetValue `json:"offsets"`
}

// TxnOffsetsWritten fires when offsets of a transaction are in the log: nobody sees them until the transaction commits.
// So at a load, and in Facts, for transactions that have not ended.
type TxnOffsetsWritten struct {
	ProducerID    int64         `json:"producerId"`
	ProducerEpoch int16         `json:"producerEpoch"`
	Append        int64         `json:"append,omitempty"`
	BaseOffset    int64         `json:"baseOffset"`
	Offsets       []OffsetValue `json:"offsets"`
	Loaded        bool          `json:"loaded,omitempty"`
}

// TxnOffsetsEnded fires when the marker of a transaction came: what it had written leaves its siding. With Commit an
// OffsetsCommitted follows for each batch of which something became visible; the later position in the log wins.
type TxnOffsetsEnded struct {
	ProducerID    int64         `json:"producerId"`
	ProducerEpoch int16         `json:"producerEpoch"`
	Commit        bool          `json:"commit,omitempty"`
	Offsets       []OffsetValue `json:"offsets"`
}

// AppendStarted fires when a coordinator hands records to its log. Append is the ticket that the outcome carries.
type AppendStarted struct {
	Append    int64 `json:"append"`
	Partition int32 `json:"partition"`
	Records   int   `json:"records"`
	// What says what is written: "group", "offsets", "transactional offsets" or "tombstones".
	What string `json:"what"`
	// DeadlineMs is when the append is given up (offsets.commit.timeout.ms).
	DeadlineMs int64 `json:"deadlineMs"`
}

// AppendFinished fires when the log's callback arrived. Code 0: written and replicated at BaseOffset.
type AppendFinished struct {
	Append     int64 `json:"append"`
	Partition  int32 `json:"partition"`
	BaseOffset int64 `json:"baseOffset"`
	Code       int16 `json:"code"`
	// Ignored is set where the group had changed meanwhile and the outcome has no effect.
	Ignored bool `json:"ignored,omitempty"`
}
