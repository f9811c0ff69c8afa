// Package view turns facts into pictures. Model is the fold: Apply is the only way it changes, and every component
// renders nothing but a Model and Options. Lessons, the live cluster and recordings feed the same fold.
package view

import "grouplab/coordinator/event"

// Bounds of what a model keeps. Older parts are dropped; a seed and its inputs, or a recording, bring them back.
const (
	maxLines       = 4000 // facts in the transcript
	maxSpans       = 600  // spans a lane
	maxMarks       = 1200 // marks and messages a group
	maxTape        = 240  // records of one offsets partition
	maxLedger      = 200  // commits a group
	maxGenerations = 500  // generations a group
)

// Model is everything that can be seen at one moment.
type Model struct {
	// NowMs is the world's time: the last event's, or what SetNow said since.
	NowMs int64
	// Seq is the last event applied.
	Seq int64

	Brokers map[int32]*Broker
	Topics  map[string]*Topic
	Tapes   map[int32]*Tape // by partition of __consumer_offsets
	Groups  map[string]*Group
	Clients map[string]*Client
	Flights map[int64]*Flight // by request number
	// Lines is the transcript: the facts themselves, oldest first, at most maxLines.
	Lines []event.Event
	// Inputs is what was done to the world, oldest first: also before a group was known.
	Inputs []Mark
	// Gaps are pieces of the stream that were missed.
	Gaps []Gap
	// Txns are transactional ids by the producer id that they have.
	Txns map[int64]*Txn

	inFacts bool
	// watcher folds what only a running cluster tells; nil elsewhere.
	watcher watcher
	knock   *Knock
	// still names the groups of which partitions stand still: the clock moves those on, not all that there are.
	still map[string]bool
}

// Broker is one broker of the cluster.
type Broker struct {
	ID      int32
	Host    string
	Port    int32
	Up      bool
	Killed  bool
	Fenced  bool
	SinceMs int64
	// NoticedByMs is when the controller will have noticed a kill.
	NoticedByMs int64
	// RetentionMs is its offsets.retention.minutes, CleanupMs when its clean-up job looks next; 0 where that is not known.
	RetentionMs, CleanupMs int64
	// Heartbeats is its purgatory of sessions, Rebalances that of joins and syncs.
	Heartbeats, Rebalances Sweep
}

// Sweep is what of a purgatory is over: Unswept lie in its watch lists until somebody knocks there, or until there are more
// than purgeInterval that are over since the last purge, of which Over are.
type Sweep struct{ Unswept, Over int }

// purgeInterval is Kafka's: DelayedOperationPurgatory.
const purgeInterval = 1000

// Topic is one topic.
type Topic struct {
	Name       string
	Partitions int32
	Internal   bool
}

// Tape is one partition of __consumer_offsets.
type Tape struct {
	Partition     int32
	Leader        int32 // -1 none
	Epoch         int32
	Replicas, ISR []int32
	// Ends are the log ends by broker.
	Ends map[int32]int64
	// EndOffset is the leader's log end, HighWatermark what every in-sync replica has.
	EndOffset, HighWatermark int64
	// Records are the newest, oldest first.
	Records []TapeRecord
	// Live counts keys whose newest record has a value.
	Live int
	// Compacted is the offset below which superseded records were removed, Removed how many so far; offsets are kept.
	Compacted int64
	Removed   int
	// Cleaned is the last compaction, nil before the first.
	Cleaned *Cleaning
	// Loads by broker.
	Loads map[int32]*Load
	// Failover is the last time that the partition went from one broker to the next.
	Failover Failover

	latest map[tapeKey]int64
	alive  map[tapeKey]bool
}

// TapeRecord is one record on the tape.
type TapeRecord struct {
	Offset int64
	AtMs   int64
	Seq    int64
	event.LogRecord
	// OverwrittenBy is the offset of the newer record of the same key, -1 where there is none.
	OverwrittenBy int64
	// Txn is set for a record of a transaction and for its marker, of this producer. Ended says how the transaction ended
	// that the record belongs to: nobody reads it before, and never where it was aborted.
	Txn      bool
	Producer int64
	Ended    TxnEnd
	EndedBy  int64 // the offset of that marker
}

type tapeKey struct {
	group, topic string
	partition    int32
	isGroup      bool
}

// Load is what a broker does with an offsets partition.
type Load struct {
	State   LoadState
	Epoch   int32
	Offset  int64
	End     int64
	Records int64
	Groups  int
	Failed  string
	SinceMs int64
	// Offsets is how many offsets were found, TookMs how long it took; both once it is over.
	Offsets int
	TookMs  int64
	// Answers are what was answered meanwhile.
	Answers []Answered
}

// LoadState says how far a broker is with a partition.
type LoadState string

const (
	Loading  LoadState = "loading"
	Owned    LoadState = "owned"
	Unloaded LoadState = "unloaded"
)

// Group is one consumer group as its coordinator sees it.
type Group struct {
	Name      string
	Broker    int32 // its coordinator; 0 while nobody is
	Partition int32 // of __consumer_offsets; -1 while not known
	State     event.State
	SinceMs   int64 // when State was entered
	// Last is the newest transition.
	Last         event.StateChanged
	LastSeq      int64
	Generation   int32
	ProtocolType string
	Protocol     string
	Leader       string
	// Members in the order of joining, those gone since the last but one generation included (Removed).
	Members []*Member
	Pending []*PendingID
	// Parked replies, in order of arrival.
	Join, Sync []*Parked
	Began      Began
	// Ops are the group's delayed operations at its coordinator, in the order of watching.
	Ops     []*Op
	Offsets []*OffsetRow
	Ledger  []LedgerEntry
	// Sidings are transactions that have written offsets, oldest first: those that have not ended, and the last that have.
	Sidings []*Siding
	// Removed are the offsets that were removed last.
	Removed *Removal
	// Appends under way.
	Appends []*AppendWait
	// Lost is a rebalance that went with its broker, until the next one begins.
	Lost Lost
	// Delays are when the stretches of the initial delay began, the first of them first; rearmedMs is when a DelayedJoin ran
	// out, which is begun anew at once where nobody had rejoined.
	Delays    []int64
	rearmedMs int64
	// Failed is the last append, where it failed.
	Failed      *AppendFailure
	Generations []Generation
	Gone        bool

	// Timeline.
	States   []StateSpan
	Lanes    []*Lane
	Marks    []Mark
	Messages []Message
	// PausedPartitionMs is the integral of partitions that nobody worked on: while the group is Empty, and from then to its first
	// assignment, nobody had them, so they do not count. Paused is how many stand still now.
	PausedPartitionMs int64
	Paused            int
	// Pauses is how Paused changed, oldest first.
	Pauses       []PauseStep
	everAssigned bool
	lastFenced   fencing
	names        *names
}

// PauseStep is a moment from which on so many partitions stand still.
type PauseStep struct {
	AtMs  int64
	Count int
}

// Began is why the rebalance under way, or the last one, began.
type Began struct {
	Why          event.Why
	Member       string
	ClientReason string
	AtMs         int64
	Seq          int64
}

// Member is one member, or the ghost row of one that was removed.
type Member struct {
	ID                 string
	InstanceID         string
	ClientID           string
	ClientHost         string
	Label              string // short and unique within the group: c3, c3′, rdkafka·7f3a
	SessionTimeoutMs   int32
	RebalanceTimeoutMs int32
	Protocols          []string
	Topics             []string
	Assigned           []event.TopicPartitions
	New                bool
	// AwaitsSync is set from the end of a join phase until its SyncGroup came.
	AwaitsSync      bool
	AddedMs         int64
	AddedGeneration int32
	LastHeardMs     int64
	// Gone is set when its process is known to be dead (killed, or its connection closed) while it is still a member.
	Gone   bool
	GoneMs int64
	// Removed members stay as a row for one generation.
	Removed           bool
	RemovedMs         int64
	RemovedWhy        event.Why
	RemovedGeneration int32
	// Earlier are the ids that a static member had before, oldest first; Process is the client whose process has it now,
	// where that is another one than ClientID, which the coordinator keeps.
	Earlier []Incarnation
	Process string
}

// PendingID is an id that was handed out and has not joined (KIP-394).
type PendingID struct {
	ID, ClientID, ClientHost, Label string
	SinceMs, DeadlineMs             int64
}

// Parked is a reply that is held back.
type Parked struct {
	Ticket   int64
	API      int16
	Member   string
	ClientID string
	SinceMs  int64
	Until    string
	Seq      int64
}

// OffsetRow is one partition's offsets.
type OffsetRow struct {
	Topic        string
	Partition    int32
	Committed    int64 // -1 none
	CommittedMs  int64
	BaseOffset   int64
	Pending      []int64     // in flight, oldest first
	Txn          []TxnOffset // written by transactions that have not ended, oldest first
	PendingSince int64
	// ExpireMs is when it expires because its commit said so, 0 where the broker's retention decides.
	ExpireMs int64
}

// TxnOffset is an offset that a transaction has written and that nobody sees before the transaction commits.
type TxnOffset struct {
	ProducerID int64
	Offset     int64
	SinceMs    int64
}

// LedgerEntry is one commit and its verdict.
type LedgerEntry struct {
	AtMs            int64
	Seq             int64
	Member          string
	Generation      int32
	GroupGeneration int32
	State           event.State
	Code            int16
	Done            bool // committed or refused; otherwise in flight
	Append          int64
	Offsets         []event.OffsetValue
}

// AppendWait is an append under way.
type AppendWait struct {
	Append     int64
	Partition  int32
	What       string
	SinceMs    int64
	DeadlineMs int64
	Records    int
}

// Generation is one generation's life.
type Generation struct {
	Number     int32
	StartMs    int64
	EndMs      int64 // 0 while it lasts
	Why        event.Why
	Member     string // who began the rebalance that led to it
	DurationMs int64  // of the join phase
	Members    int
	Seq        int64
}

// Client is a consumer process, as far as it tells.
type Client struct {
	Name       string
	Group      string
	Topics     []string
	Real       bool
	Alive      bool
	Killed     bool
	Paused     bool
	Started    bool
	SinceMs    int64
	State      event.ClientState
	Member     string
	Generation int32
	Reason     string
	// Coordinator is 0 where it knows none.
	Coordinator      int32
	Owned            []event.TopicPartitions
	SessionTimeoutMs int32
	HeartbeatMs      int32
	WaitingFor       string
	WaitingUntilMs   int64
	Failed           string
}

// OpKey names a delayed operation: they are numbered by broker.
type OpKey struct {
	Broker int32
	Op     int64
}

// Op is one delayed operation in purgatory.
type Op struct {
	Key         OpKey
	Group       string
	Type        event.OpKind
	Keys        []string
	Member      string
	Generation  int32
	StartMs     int64
	DeadlineMs  int64
	RemainingMs int64
	DeadlineOf  string
	Until       string
	Lacks       string // what the last knock found missing
	LacksMs     int64
	Pending     bool
	New         bool
	// Rearmed is set for a DelayedJoin that follows one that ran out with nobody there.
	Rearmed bool
	Level   int
	CellMs  int64
	Seq     int64
}

// Knock is the last test of a watched operation, to flash its key once.
type Knock struct {
	Key   OpKey
	Under string
	AtMs  int64
}

// Flight is a message on the wire of a simulated network.
type Flight struct {
	Request    int64
	Client     string
	Group      string
	Member     string
	API        int16
	Reply      bool
	Code       int16
	Broker     int32
	LeftMs     int64
	ArrivesMs  int64 // 0 = it will be lost
	DeadlineMs int64
	// Parked is set from the request's arrival until the answer leaves: it sits at the broker.
	Parked bool
}

// Gap is a piece of the stream that was missed.
type Gap struct {
	FromSeq, ToSeq int64
	FromMs, ToMs   int64
}

// StateSpan is a stretch of one state.
type StateSpan struct {
	State      event.State
	Generation int32
	FromMs     int64
	ToMs       int64 // 0 while it lasts
}

// Lane is a row of the timeline: one member's, and after that member left, the next one's that carries its label.
type Lane struct {
	Member string
	Label  string
	// Earlier are the ids of those who had the row before.
	Earlier []string
	Spans   []Span
}

// SpanKind is what a member does in a span.
type SpanKind string

const (
	SpanMember SpanKind = "member" // a member, not waiting
	SpanJoin   SpanKind = "join"   // its JoinGroup is parked
	SpanSync   SpanKind = "sync"   // its SyncGroup is parked
	SpanGhost  SpanKind = "ghost"  // its process is dead, the coordinator does not know
)

// Span is a stretch of one lane.
type Span struct {
	Kind   SpanKind
	FromMs int64
	ToMs   int64 // 0 while it lasts
	// DeadlineMs of a ghost: when its session runs out.
	DeadlineMs int64
}

// MarkKind is a kind of mark in the timeline.
type MarkKind string

const (
	MarkAppend     MarkKind = "append"     // the log got a batch
	MarkGeneration MarkKind = "generation" // a generation began
	MarkKill       MarkKind = "kill"
	MarkExpired    MarkKind = "expired" // a session ran out
	MarkInput      MarkKind = "input"   // somebody did something
	MarkRefused    MarkKind = "refused"
	MarkFailover   MarkKind = "failover"
)

// Mark is a moment in the timeline.
type Mark struct {
	Kind   MarkKind
	AtMs   int64
	Seq    int64
	Member string
	Text   string
	Number int64
}

// Message joins a member's lane and the group's: a request that was received, or an answer that left.
type Message struct {
	API    int16
	Member string
	FromMs int64
	ToMs   int64
	Reply  bool
	Code   int16
	Seq    int64
}

// NewModel returns the picture of nothing.
func NewModel() *Model {
	return &Model{
		Brokers: map[int32]*Broker{}, Topics: map[string]*Topic{}, Tapes: map[int32]*Tape{}, Groups: map[string]*Group{},
		Clients: map[string]*Client{}, Flights: map[int64]*Flight{}, Txns: map[int64]*Txn{}, still: map[string]bool{},
	}
}
