package event

// ClientState is what a consumer believes of itself (Kafka: AbstractCoordinator.MemberState).
type ClientState string

const (
	Unjoined    ClientState = "UNJOINED"
	Rebalancing ClientState = "REBALANCING"
	Joined      ClientState = "STABLE"
)

// ClientStarted fires when a consumer process begins.
type ClientStarted struct {
	Client             string   `json:"client"`
	Topics             []string `json:"topics"`
	SessionTimeoutMs   int32    `json:"sessionTimeoutMs"`
	RebalanceTimeoutMs int32    `json:"rebalanceTimeoutMs"`
	HeartbeatMs        int32    `json:"heartbeatMs"`
	// Assignors is its partition.assignment.strategy, the preferred one first. InstanceID is its group.instance.id.
	Assignors  []string `json:"assignors,omitempty"`
	InstanceID string   `json:"instanceId,omitempty"`
	// TransactionalID is the transactional.id with which it commits its offsets in transactions.
	TransactionalID string `json:"transactionalId,omitempty"`
	// Real is set for a process outside of the lab; then only its connection is known, not its beliefs.
	Real bool `json:"real,omitempty"`
}

// ClientStopped fires when a consumer process ends.
type ClientStopped struct {
	Client string `json:"client"`
	// Killed is set where it went without LeaveGroup.
	Killed bool `json:"killed,omitempty"`
}

// ClientPaused fires when a consumer process freezes (all its threads); ClientResumed when it goes on.
type ClientPaused struct {
	Client string `json:"client"`
}

// ClientResumed fires when a frozen process goes on.
type ClientResumed struct {
	Client string `json:"client"`
}

// ClientStateChanged fires when a consumer's belief changed.
type ClientStateChanged struct {
	Client     string      `json:"client"`
	From       ClientState `json:"from"`
	To         ClientState `json:"to"`
	Member     string      `json:"member,omitempty"`
	Generation int32       `json:"generation"`
	Reason     string      `json:"reason"`
}

// ClientAssigned fires when a consumer took partitions over (onPartitionsAssigned). Topics are all that it has now.
type ClientAssigned struct {
	Client     string            `json:"client"`
	Member     string            `json:"member"`
	Generation int32             `json:"generation"`
	Topics     []TopicPartitions `json:"topics,omitempty"`
	// Cooperative is set where it kept what it had (KIP-429); Added are then those that are new.
	Cooperative bool              `json:"cooperative,omitempty"`
	Added       []TopicPartitions `json:"added,omitempty"`
}

// ClientRevoked fires when a consumer gave partitions up (onPartitionsRevoked), or lost them.
type ClientRevoked struct {
	Client string            `json:"client"`
	Topics []TopicPartitions `json:"topics,omitempty"`
	Lost   bool              `json:"lost,omitempty"`
}

// ClientWaiting fires when a consumer waits for something of its own: a back-off, a metadata refresh.
type ClientWaiting struct {
	Client     string `json:"client"`
	For        string `json:"for"`
	DeadlineMs int64  `json:"deadlineMs"`
}

// ClientFailed fires when a consumer gave up with an exception of its own (a fatal error code).
type ClientFailed struct {
	Client string `json:"client"`
	Code   int16  `json:"code"`
	Error  string `json:"error"`
}

// CoordinatorFound fires when a consumer learned its coordinator; CoordinatorLost when it stopped believing in it.
type CoordinatorFound struct {
	Client string `json:"client"`
	ID     int32  `json:"id"`
}

// CoordinatorLost fires when a consumer stopped believing in its coordinator.
type CoordinatorLost struct {
	Client string `json:"client"`
	Reason string `json:"reason"`
}

// MetadataRefreshed fires when a consumer got topic metadata.
type MetadataRefreshed struct {
	Client string `json:"client"`
	// Changed is set where partitions of a subscribed topic changed, which makes a leader rejoin.
	Changed bool              `json:"changed,omitempty"`
	Topics  []TopicPartitions `json:"topics,omitempty"`
}

// RequestSent fires when a simulated client put a request on the wire.
type RequestSent struct {
	Client  string `json:"client"`
	Request int64  `json:"request"` // its number in this world; the coordinator's Ticket is the same
	API     int16  `json:"api"`
	To      int32  `json:"to"`
	// ArrivesMs is when it will be there, 0 where the network loses it. DeadlineMs is the client's own timeout.
	ArrivesMs  int64  `json:"arrivesMs,omitempty"`
	DeadlineMs int64  `json:"deadlineMs"`
	Member     string `json:"member,omitempty"`
	// Offsets are what an OffsetCommit or a TxnOffsetCommit writes.
	Offsets []OffsetValue `json:"offsets,omitempty"`
	// ProducerID and ProducerEpoch are those of a TxnOffsetCommit or an EndTxn; Commit is set where an EndTxn commits.
	ProducerID    int64 `json:"producerId,omitempty"`
	ProducerEpoch int16 `json:"producerEpoch,omitempty"`
	Commit        bool  `json:"commit,omitempty"`
	// RequireStable is set where an OffsetFetch is not to be answered with what a pending commit may overtake (KIP-447).
	RequireStable bool `json:"requireStable,omitempty"`
	// CopyOf is set where the network delivers a request a second time: the number of the first.
	CopyOf int64 `json:"copyOf,omitempty"`
}

// ReplyOnWire fires when a broker's answer left for a simulated client.
type ReplyOnWire struct {
	Client    string `json:"client"`
	Request   int64  `json:"request"`
	API       int16  `json:"api"`
	From      int32  `json:"from"`
	Code      int16  `json:"code"`
	ArrivesMs int64  `json:"arrivesMs,omitempty"`
	// Offsets are what an OffsetFetch read: -1 where nothing is committed; where Code is set, nothing was read.
	Offsets []OffsetValue `json:"offsets,omitempty"`
}

// ReplyReceived fires when the answer reached the client.
type ReplyReceived struct {
	Client  string `json:"client"`
	Request int64  `json:"request"`
	API     int16  `json:"api"`
	Code    int16  `json:"code"`
}

// RequestFailed fires when a client gave a request up: time ran out or the connection broke.
type RequestFailed struct {
	Client  string `json:"client"`
	Request int64  `json:"request"`
	API     int16  `json:"api"`
	Reason  string `json:"reason"`
}

// MessageLost fires when the network dropped a request or an answer.
type MessageLost struct {
	Client  string `json:"client"`
	Request int64  `json:"request"`
	API     int16  `json:"api"`
	Reply   bool   `json:"reply,omitempty"`
}

// ConnectionOpened fires on a server when a real client said who it is; ConnectionClosed when its socket went away.
type ConnectionOpened struct {
	Connection int64  `json:"connection"`
	ClientID   string `json:"clientId"`
	ClientHost string `json:"clientHost"`
	// Software is the name and version of ApiVersions v3+, "" where not given.
	Software string `json:"software,omitempty"`
}

// ConnectionClosed fires when a real client's socket went away. Members names the members whose last request came
// over this connection: closed without LeaveGroup, they are ghosts until their session runs out.
type ConnectionClosed struct {
	Connection int64    `json:"connection"`
	ClientID   string   `json:"clientId"`
	Members    []string `json:"members,omitempty"`
	Reason     string   `json:"reason,omitempty"`
}

// InputGiven fires when a learner, a script or an operator did something: "kill c3".
type InputGiven struct {
	Text string `json:"text"`
}

// FactsBegan opens a list of facts that rebuild the picture from nothing; FactsEnded closes it. Live streams begin so.
type FactsBegan struct {
	// NowMs is the world's time; the facts between may carry older times.
	NowMs int64 `json:"nowMs"`
}

// FactsEnded closes the list that FactsBegan opened.
type FactsEnded struct{}
