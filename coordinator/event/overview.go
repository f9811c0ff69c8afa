package event

// Confidence says how sure an inferred cause is. "" is a cause that was observed.
type Confidence string

const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Parts of a rebalance in Lost.Why, beside those that say what ended a wait: WhyInitialDelayOver, WhyAllRejoined (Member rejoined
// last), WhySessionExpired and the others that end a membership (Member was awaited, or dead), WhyRebalanceTimeout, WhyNotSynced,
// WhyAssignmentWritten (the append), WhyNotCoordinator, WhyGroupLoaded.
const (
	WhyLeaderAssigned Why = "the leader sent its assignment" // Member is the leader
	WhyReconciled     Why = "the member reached its target"  // KIP-848: from a partition's release to its next owner, Member
)

// Lost is time that partitions stood still for one reason: their count times the milliseconds.
type Lost struct {
	// Why names the part of a rebalance: WhyInitialDelayOver, WhyRebalanceTimeout and so on; Member is who was waited for.
	Why    Why    `json:"why"`
	Member string `json:"member,omitempty"`
	// PartitionMs is partitions times milliseconds.
	PartitionMs int64 `json:"partitionMs"`
}

// GroupSummarized fires when what a list of groups shows of one has changed, at most once a second for a group whose state
// did not. It is a fold over the other facts, kept by the host, so that a page can list thousands of groups.
type GroupSummarized struct {
	// Type is "classic" or "consumer" (KIP-848), "" where it is not known.
	Type string `json:"type,omitempty"`
	// State is the group's; "" where it is not known. Gone is set where the group is no more.
	State State `json:"state,omitempty"`
	Gone  bool  `json:"gone,omitempty"`
	// SinceMs is when the state was entered.
	SinceMs int64 `json:"sinceMs,omitempty"`
	// Coordinator is the broker, Partition that of __consumer_offsets.
	Coordinator int32 `json:"coordinator,omitempty"`
	Partition   int32 `json:"partition"`
	// Generation is a classic group's, or the group epoch.
	Generation int32 `json:"generation"`
	Members    int   `json:"members"`
	// Bench is how many members have nothing assigned.
	Bench int `json:"bench,omitempty"`
	// Topics are the first topics that it reads, sorted; MoreTopics is how many there are beside these.
	Topics     []string `json:"topics,omitempty"`
	MoreTopics int      `json:"moreTopics,omitempty"`
	// Clients are the first client ids of its members, sorted and each once, at most 8.
	Clients []string `json:"clients,omitempty"`
	// Awaited are the first members that it waits for, of Waiting in all; DeadlineMs is when the wait ends at the latest, 0 for
	// never or not known.
	Awaited    []string `json:"awaited,omitempty"`
	Waiting    int      `json:"waiting,omitempty"`
	DeadlineMs int64    `json:"deadlineMs,omitempty"`
	// Ghosts are the first members whose process is gone and that did not leave, of Dead in all; their sessions have run out by
	// GhostsMs, 0 where that is not known. Whoever watches a cluster from outside knows of none.
	Ghosts   []string `json:"ghosts,omitempty"`
	Dead     int      `json:"dead,omitempty"`
	GhostsMs int64    `json:"ghostsMs,omitempty"`
	// Rebalances and LostPartitionMs count those of the last 24 hours that are known.
	Rebalances      int   `json:"rebalances,omitempty"`
	LostPartitionMs int64 `json:"lostPartitionMs,omitempty"`
	// Why, Member and Confidence are the last rebalance's cause.
	Why        Why        `json:"why,omitempty"`
	Member     string     `json:"member,omitempty"`
	Confidence Confidence `json:"confidence,omitempty"`
	// Loops is how often in a row the same client brought about a rebalance after which the same partitions lay where they had.
	Loops int `json:"loops,omitempty"`
	// ExpiresMs is when the first of an Empty group's offsets expires, 0 where none does or it is not known.
	ExpiresMs int64 `json:"expiresMs,omitempty"`
}

// GenerationRecorded fires when a generation of a classic group, or an epoch of a consumer group, has settled or has been
// replaced before it did. It is a fold over the other facts, kept by the host longer than these.
type GenerationRecorded struct {
	Generation int32 `json:"generation"`
	// StartedMs to StartedHiMs is when the rebalance began, JoinedMs when the join phase ended, SettledMs when the assignment
	// took effect: 0 where that never came about.
	StartedMs   int64 `json:"startedMs"`
	StartedHiMs int64 `json:"startedHiMs,omitempty"`
	JoinedMs    int64 `json:"joinedMs,omitempty"`
	SettledMs   int64 `json:"settledMs,omitempty"`
	// Why, Member, ClientID and ClientReason say who brought it about and how; Confidence is that of the cause.
	Why          Why        `json:"why"`
	Member       string     `json:"member,omitempty"`
	ClientID     string     `json:"clientId,omitempty"`
	ClientReason string     `json:"clientReason,omitempty"`
	Confidence   Confidence `json:"confidence,omitempty"`
	// Members is how many it has; Joined and Left are the first 8 that are new and gone, MoreJoined and MoreLeft count the rest.
	Members    int      `json:"members"`
	Joined     []string `json:"joined,omitempty"`
	Left       []string `json:"left,omitempty"`
	MoreJoined int      `json:"moreJoined,omitempty"`
	MoreLeft   int      `json:"moreLeft,omitempty"`
	// Partitions is how many are assigned, Moved how many of these have another owner than before.
	Partitions int `json:"partitions"`
	Moved      int `json:"moved"`
	// Lost is the time that partitions stood still which somebody had owned, by what they waited for.
	Lost []Lost `json:"lost,omitempty"`
	// UnownedPartitionMs is for how long partitions waited for their first owner since the group was Empty: partitions times
	// milliseconds. Nobody had them, so nothing was lost.
	UnownedPartitionMs int64 `json:"unownedPartitionMs,omitempty"`
	// Unsettled is how many generations before it, since the last one that is told, never settled.
	Unsettled int `json:"unsettled,omitempty"`
}
