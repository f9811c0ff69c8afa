package timeline

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// Config is what a Timeline needs to begin.
type Config struct {
	// Numbers hands out Seq; all sources of one host share it. It must not be nil.
	Numbers *event.Numbers
	// HistoryMs is how far back generations are told one by one when a log is read for the first time; 0: 24 hours.
	HistoryMs int64
}

// Timeline is what is known of one cluster. One goroutine owns it.
type Timeline struct {
	cfg    Config
	nowMs  int64
	events []event.Event
}

// New returns a Timeline that knows nothing.
func New(cfg Config) *Timeline { return &Timeline{cfg: cfg} }

// Observe takes what a host learned at nowMs (milliseconds since 1970; it does not fall) and returns what happened, in
// order of Seq. The slice is the caller's. Nothing in an observation makes it panic.
func (t *Timeline) Observe(nowMs int64, o Observation) []event.Event { return nil }

// Ready tells whether every partition of __consumer_offsets that is read has reached the end that was noted when its
// reading began.
func (t *Timeline) Ready() bool { return false }

// Progress is how far the first reading is: positions read and to read, over all partitions.
func (t *Timeline) Progress() (read, all int64) { return 0, 0 }

// Groups are the names of all groups that are known, sorted.
func (t *Timeline) Groups() []string { return nil }

// InMotion are the groups that are seen to rebalance, sorted: those that a host describes at each poll.
func (t *Timeline) InMotion() []string { return nil }

// Coordinator is the broker that leads a group's partition of __consumer_offsets, 0 where that is not known.
func (t *Timeline) Coordinator(group string) int32 { return 0 }

// TypeOf is "classic" or "consumer" as the log or ListGroups say, another type of ListGroups, or "" where it is not known.
func (t *Timeline) TypeOf(group string) string { return "" }

// Topics are the names of topics that a group, or with "" any group, has offsets of, owns or subscribes to, sorted: those
// to ask Metadata and ListOffsets for.
func (t *Timeline) Topics(group string) []string { return nil }

// UnknownTopics are ids of topics for which Metadata has given no name yet, in ascending order.
func (t *Timeline) UnknownTopics() []record.TopicID { return nil }

// Facts returns events from which a fold rebuilds the picture of everything that is known. They change nothing and use no
// new Seq: each carries the one handed out last. FactsBegan and FactsEnded are the host's.
func (t *Timeline) Facts(nowMs int64) []event.Event { return nil }

// ClusterFacts are those of Facts that belong to no group; GroupFacts those of one group, none where it is not known.
func (t *Timeline) ClusterFacts(nowMs int64) []event.Event { return nil }

// GroupFacts are the facts of one group.
func (t *Timeline) GroupFacts(nowMs int64, group string) []event.Event { return nil }
