package event

// State is a state of a classic group (Kafka: GroupState). CompletingRebalance was called AwaitingSync up to Kafka 1.0.
type State string

const (
	Empty               State = "Empty"
	PreparingRebalance  State = "PreparingRebalance"
	CompletingRebalance State = "CompletingRebalance"
	Stable              State = "Stable"
	Dead                State = "Dead"
)

// Why names the rule that led to a change. The words are fixed, so that lessons and tests can wait for one.
type Why string

const (
	WhyFirstMember       Why = "first member"                // a member was added to an Empty group
	WhyNewMember         Why = "new member"                  // a member was added to a group that had a generation
	WhyLeaderRejoined    Why = "leader rejoined"             // the leader sent JoinGroup in Stable
	WhyMetadataChanged   Why = "member changed its metadata" // a known member joined with another protocol list
	WhyMemberLeft        Why = "member left"                 // LeaveGroup
	WhySessionExpired    Why = "session expired"             // no heartbeat for sessionTimeoutMs
	WhyNewMemberTimeout  Why = "new member waited too long"  // five minutes in a parked first JoinGroup
	WhyNotRejoined       Why = "did not rejoin in time"      // not parked when the join phase ended
	WhyNotSynced         Why = "did not sync in time"        // the sync timer ran out
	WhySyncAppendFailed  Why = "assignment was not written"  // the append of the group record failed
	WhyAllRejoined       Why = "everyone has rejoined"       // the condition of DelayedJoin was met
	WhyRebalanceTimeout  Why = "rebalance timeout"           // DelayedJoin ran out of time
	WhyInitialDelayOver  Why = "initial delay is over"       // InitialDelayedJoin ran out of time
	WhyNoMembers         Why = "no members are left"         // a join phase ended with nobody
	WhyAssignmentWritten Why = "assignment was written"      // the append of the group record succeeded
	WhyGroupLoaded       Why = "loaded from the log"         // immigration
	WhyNotCoordinator    Why = "this broker is no longer the coordinator"
	WhyPendingJoined     Why = "joined with its id"         // a pending id became a member
	WhyPendingExpired    Why = "did not come back"          // a pending id's session timer ran out
	WhyFirstToJoin       Why = "first to join"              // leader choice: nobody led
	WhyLeaderGone        Why = "the leader is gone"         // leader choice: the old one was removed
	WhyLeaderNotRejoined Why = "the leader did not rejoin"  // leader choice at the end of a join phase
	WhyLeaderReplaced    Why = "the leader started again"   // leader choice: the leader is a static member with a new id
	WhyStaticRestarted   Why = "static member restarted"    // a static member came back where the assignment cannot stay
	WhyGroupFull         Why = "the group is full"          // group.max.size
	WhyGroupDeleted      Why = "deleted by request"         // DeleteGroups
	WhyOffsetsDeleted    Why = "offsets deleted by request" // OffsetDelete
	WhyOffsetsExpired    Why = "offsets expired"            // offsets.retention.minutes, or what a commit asked for
	WhyTopicDeleted      Why = "the topic was deleted"      // the offsets of a deleted topic
	WhyNothingLeft       Why = "no members and no offsets"  // the clean-up job found an Empty group without offsets
	WhyGroupTooLarge     Why = "the group is too large"     // a loaded group has more members than group.max.size

	// Reasons that only an observer of a real cluster meets.
	WhyTopicsChanged  Why = "subscribed topics changed"              // KIP-848: partitions, racks or existence of a subscribed topic
	WhyNotRevoked     Why = "did not give partitions up in time"     // KIP-848: the rebalance timeout
	WhyStaticAway     Why = "static member is away"                  // KIP-848: it left with epoch -2 and may be back
	WhyMembersGone    Why = "members are gone"                       // they left or were expelled: which is not known
	WhySecondStep     Why = "second step of a cooperative rebalance" // KIP-429: whoever gave partitions up joins again
	WhyBecameConsumer Why = "the group took the consumer protocol"   // KIP-848: an upgrade
	WhyBecameClassic  Why = "the group took the classic protocol"    // KIP-848: a downgrade
	WhyTargetReached  Why = "every member has its target"            // KIP-848
	WhyMembersJoin    Why = "members joined"                         // KIP-848: out of Empty
	WhySeen           Why = "seen by asking"                         // what led to it is not known
)

// GroupCreated fires when a group appears in the cache because a request named it (state Empty, generation 0).
type GroupCreated struct {
	// RetentionMs is offsets.retention.minutes, CleanupMs when the job looks next that removes expired offsets; 0 where it
	// never does.
	RetentionMs int64 `json:"retentionMs,omitempty"`
	CleanupMs   int64 `json:"cleanupMs,omitempty"`
}

// GroupLoaded fires for each group that a load put into the cache, after its MemberLoaded facts' group is known, and in
// Facts for each group that is there. The members follow as MemberAdded with Loaded set.
type GroupLoaded struct {
	State        State  `json:"state"`
	SinceMs      int64  `json:"sinceMs,omitempty"` // when the state was entered; 0 = not known
	Generation   int32  `json:"generation"`
	ProtocolType string `json:"protocolType,omitempty"`
	Protocol     string `json:"protocol,omitempty"`
	Leader       string `json:"leader,omitempty"`
	Partition    int32  `json:"partition"` // of __consumer_offsets
	// Began says why the rebalance under way began; only in Facts of a group that rebalances.
	Began       Why    `json:"began,omitempty"`
	BeganMember string `json:"beganMember,omitempty"`
	BeganMs     int64  `json:"beganMs,omitempty"`
}

// GroupRemoved fires when a group leaves the cache.
type GroupRemoved struct {
	Why Why `json:"why"`
}

// StateChanged fires at every transition, after its cause was done and before its consequences.
type StateChanged struct {
	From State `json:"from"`
	To   State `json:"to"`
	Why  Why   `json:"why"`
	// Member is who brought it about, "" where nobody did.
	Member string `json:"member,omitempty"`
}

// RebalanceStarted fires when a join phase begins (Kafka: prepareRebalance), before its StateChanged.
type RebalanceStarted struct {
	Why    Why    `json:"why"`
	Member string `json:"member,omitempty"`
	// ClientReason is KIP-800's text, "" when the client gave none.
	ClientReason string `json:"clientReason,omitempty"`
	// Generation is the one that ends.
	Generation         int32 `json:"generation"`
	RebalanceTimeoutMs int32 `json:"rebalanceTimeoutMs"`
}

// GenerationStarted fires at the end of a join phase that has members or emptied the group.
type GenerationStarted struct {
	Generation int32    `json:"generation"`
	Protocol   string   `json:"protocol,omitempty"`
	Leader     string   `json:"leader,omitempty"`
	Members    []string `json:"members,omitempty"`
	Why        Why      `json:"why"`
	// DurationMs is how long the join phase took.
	DurationMs int64 `json:"durationMs"`
}

// MemberIDIssued fires when JoinGroup was answered MEMBER_ID_REQUIRED with a fresh id (KIP-394). The id is pending, not
// a member, until it joins or DeadlineMs passes.
type MemberIDIssued struct {
	Member     string `json:"member"`
	ClientID   string `json:"clientId"`
	ClientHost string `json:"clientHost"`
	DeadlineMs int64  `json:"deadlineMs"`
}

// PendingForgotten fires when a pending id is dropped: it joined, it left, or its time ran out.
type PendingForgotten struct {
	Member string `json:"member"`
	Why    Why    `json:"why"`
}

// MemberAdded fires when a member enters the group: by JoinGroup, or by a load.
type MemberAdded struct {
	Member             string   `json:"member"`
	InstanceID         string   `json:"instanceId,omitempty"`
	ClientID           string   `json:"clientId"`
	ClientHost         string   `json:"clientHost"`
	SessionTimeoutMs   int32    `json:"sessionTimeoutMs"`
	RebalanceTimeoutMs int32    `json:"rebalanceTimeoutMs"`
	Protocols          []string `json:"protocols"`
	Topics             []string `json:"topics,omitempty"` // subscribed, where the metadata is a consumer's
	Loaded             bool     `json:"loaded,omitempty"` // by a load or in Facts, not by a request
	New                bool     `json:"new,omitempty"`    // the five-minute rule of a first join applies
}

// MemberUpdated fires when a known member joined again and its protocols or timeouts were stored.
type MemberUpdated struct {
	Member             string   `json:"member"`
	SessionTimeoutMs   int32    `json:"sessionTimeoutMs"`
	RebalanceTimeoutMs int32    `json:"rebalanceTimeoutMs"`
	Protocols          []string `json:"protocols"`
	Topics             []string `json:"topics,omitempty"`
	Changed            bool     `json:"changed,omitempty"` // the protocol list or its bytes changed
}

// MemberReplaced fires when a static member gets another member id: its process started again (KIP-345), or the record
// of that could not be written and the old id is back. It stays the same member: its place, assignment, protocols and
// timeouts remain. A LeaderElected follows where it led.
type MemberReplaced struct {
	Old        string `json:"old"`
	Member     string `json:"member"`
	InstanceID string `json:"instanceId"`
	// ClientID and ClientHost are the new process's; "" where the old id is back.
	ClientID   string `json:"clientId,omitempty"`
	ClientHost string `json:"clientHost,omitempty"`
}

// MemberRemoved fires when a member leaves the group for whatever reason.
type MemberRemoved struct {
	Member string `json:"member"`
	Why    Why    `json:"why"`
	// ClientReason is KIP-800's text of a LeaveGroup.
	ClientReason string `json:"clientReason,omitempty"`
}

// LeaderElected fires when the group's leader becomes another member.
type LeaderElected struct {
	Member string `json:"member"`
	Why    Why    `json:"why"`
}

// TopicPartitions are partitions of one topic, ascending.
type TopicPartitions struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

// Assignment is what one member was given.
type Assignment struct {
	Member string            `json:"member"`
	Topics []TopicPartitions `json:"topics,omitempty"`
	// Opaque is set where the bytes are no consumer assignment; then Topics is empty and Bytes their length.
	Opaque bool `json:"opaque,omitempty"`
	Bytes  int  `json:"bytes"`
}

// AssignmentReceived fires when the leader's SyncGroup arrived in CompletingRebalance, before anything was written.
type AssignmentReceived struct {
	Member      string       `json:"member"`
	Generation  int32        `json:"generation"`
	Assignments []Assignment `json:"assignments"`
}

// AssignmentStored fires when the group record was written and the assignment took effect, and in Facts.
type AssignmentStored struct {
	Generation  int32        `json:"generation"`
	Assignments []Assignment `json:"assignments"`
}

// HeartbeatReceived fires for a heartbeat that was accepted (code 0 or REBALANCE_IN_PROGRESS). Unchanged heartbeats are
// coalesced: at most one a member each 100 ms while its code stays the same.
type HeartbeatReceived struct {
	Member string `json:"member"`
	Code   int16  `json:"code"`
	// Merged is how many unchanged heartbeats since the last event are not told one by one.
	Merged int `json:"merged,omitempty"`
}
