package event

// States of a consumer group (KIP-848; Kafka: ConsumerGroup.ConsumerGroupState), beside Empty, Stable and Dead.
const (
	Assigning   State = "Assigning"   // the group epoch is ahead of the target assignment's
	Reconciling State = "Reconciling" // a member has not reached its target
)

// EpochBumped fires when a consumer group's epoch rises (KIP-848: ConsumerGroupMetadata).
type EpochBumped struct {
	Epoch  int32  `json:"epoch"`
	Why    Why    `json:"why"`
	Member string `json:"member,omitempty"`
	// Confidence is that of Why.
	Confidence Confidence `json:"confidence,omitempty"`
}

// TargetAssigned fires when the target assignment of an epoch was written (KIP-848: ConsumerGroupTargetAssignment*).
type TargetAssigned struct {
	Epoch       int32        `json:"epoch"`
	Assignments []Assignment `json:"assignments"`
	// Moved is how many partitions have another target than before.
	Moved int `json:"moved"`
}

// MemberReconciled fires when a member of a consumer group came a step nearer to its target, or began to (KIP-848:
// ConsumerGroupCurrentMemberAssignment).
type MemberReconciled struct {
	Member string `json:"member"`
	// Epoch is -2 while a static member is away.
	Epoch         int32 `json:"epoch"`
	PreviousEpoch int32 `json:"previousEpoch"`
	// State is "stable", "unrevoked_partitions" (it has to give up some), "unreleased_partitions" (it waits for others).
	State    string            `json:"state"`
	Assigned []TopicPartitions `json:"assigned,omitempty"`
	Revoking []TopicPartitions `json:"revoking,omitempty"`
	// WaitsFor are the members that have not released what it is to get.
	WaitsFor []string `json:"waitsFor,omitempty"`
}
