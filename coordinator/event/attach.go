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
	// Generation is the one that the rebalance led to; while it is under way, the next one.
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

// AwaitedSeen fires when an observer has learned more of whom a rebalance under way waits for. JoinGroup and SyncGroup
// are not in the log and no answer says who has sent one: what is not sure is said to be so.
type AwaitedSeen struct {
	// State is the group's: in PreparingRebalance members are awaited to join, in CompletingRebalance the leader to send the
	// assignment.
	State State `json:"state"`
	// Joined are members known to be there again: their ids are new, or the join phase is over.
	Joined []string `json:"joined,omitempty"`
	// Awaited are those of the last generation of whom nothing says that they are there again.
	Awaited []Awaited `json:"awaited,omitempty"`
	// DeadlineMs to DeadlineHiMs is when the wait ends at the latest, by the largest rebalance timeout; 0: not known.
	DeadlineMs   int64 `json:"deadlineMs,omitempty"`
	DeadlineHiMs int64 `json:"deadlineHiMs,omitempty"`
}

// Awaited is a member that a rebalance may be waiting for.
type Awaited struct {
	Member string `json:"member"`
	// Sure is set where it is known to be awaited: the leader, until the assignment is there.
	Sure bool `json:"sure,omitempty"`
	// SeenMs is when something of it was last seen, a commit of a partition that it owns or its join; 0: not known.
	SeenMs int64 `json:"seenMs,omitempty"`
	// ExpiresMs is before when its session cannot run out, by SeenMs; ExpiresHiMs when it has at the latest if it is silent from
	// now on; 0: not known.
	ExpiresMs   int64 `json:"expiresMs,omitempty"`
	ExpiresHiMs int64 `json:"expiresHiMs,omitempty"`
}
