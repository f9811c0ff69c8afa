package event

// ClusterAttached fires when an observer has reached a cluster for the first time, and in Facts.
type ClusterAttached struct {
	ClusterID string `json:"clusterId"`
	// Mode is "log" where __consumer_offsets is read, "poll" where only requests are sent.
	Mode string `json:"mode"`
	// Partitions is how many __consumer_offsets has.
	Partitions int32 `json:"partitions,omitempty"`
	// PollMs is how far apart two looks at groups in motion are: what is shorter than that is not seen.
	PollMs int64 `json:"pollMs,omitempty"`
}

// SightChanged fires when an observer loses, or regains, sight of something: a broker, a partition of __consumer_offsets, a
// group, a right.
type SightChanged struct {
	// Source names what it is about: "broker 2", "__consumer_offsets-7", "group orders", "ListGroups".
	Source string `json:"source"`
	// Lost is set where it is not seen any more; then Code and Reason say why and SinceMs since when.
	Lost    bool   `json:"lost,omitempty"`
	Code    int16  `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	SinceMs int64  `json:"sinceMs,omitempty"`
	// Right is the ACL that is missing, "Describe on Group orders", where that is the reason; Hides is what is not shown
	// without the source.
	Right string `json:"right,omitempty"`
	Hides string `json:"hides,omitempty"`
}

// BrokerCost is what an observer asked of one broker.
type BrokerCost struct {
	Broker int32 `json:"broker"`
	// Requests in the last interval, the bytes of them and of their answers, and the median time from one to the other.
	Requests    int64 `json:"requests"`
	Bytes       int64 `json:"bytes"`
	RoundTripUs int64 `json:"roundTripUs"`
}

// CostMeasured fires every few seconds while an observer runs: what it costs the cluster.
type CostMeasured struct {
	// IntervalMs is the time that it is about.
	IntervalMs int64        `json:"intervalMs"`
	Brokers    []BrokerCost `json:"brokers"`
}

// CauseInferred fires when an observer concludes why a rebalance came about. A later one for the same generation replaces
// it: a line of the broker's log knows better.
type CauseInferred struct {
	Generation   int32      `json:"generation"`
	Why          Why        `json:"why"`
	Member       string     `json:"member,omitempty"`
	ClientReason string     `json:"clientReason,omitempty"`
	Confidence   Confidence `json:"confidence"`
	// Evidence says what it was concluded from, in words.
	Evidence string `json:"evidence"`
}

// GroupListed fires when ListGroups tells of a group something that was not known: that it is there, its type, its state.
type GroupListed struct {
	// Type is "classic", "consumer", "share", "streams", "" before ListGroups v5.
	Type         string `json:"type,omitempty"`
	State        State  `json:"state,omitempty"`
	ProtocolType string `json:"protocolType,omitempty"`
}

// LagMeasured fires when an observer has compared committed offsets with the ends of the logs of one topic.
type LagMeasured struct {
	Topic string `json:"topic"`
	// Partitions are those with a commit or an owner.
	Partitions []PartitionLag `json:"partitions"`
}

// PartitionLag is how far a group is behind in one partition.
type PartitionLag struct {
	Partition int32 `json:"partition"`
	// Committed is the offset, -1 where there is none; End is the log's end, -1 where it is not known.
	Committed int64 `json:"committed"`
	End       int64 `json:"end"`
	// Words say what is special: "no commit", "only markers are left", "the topic was deleted", "behind the log's start".
	Words string `json:"words,omitempty"`
}
