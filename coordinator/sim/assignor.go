package sim

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/assign"
	"grouplab/coordinator/record"
)

// The assignors, by the names that they have in JoinGroup.
const (
	rangeAssignor      = "range"
	roundRobinAssignor = "roundrobin"
	stickyAssignor     = "sticky"
	cooperativeSticky  = "cooperative-sticky"
)

// Assignors names the assignors that a consumer can have.
func Assignors() []string {
	return []string{rangeAssignor, roundRobinAssignor, stickyAssignor, cooperativeSticky}
}

// assignorNamed is the work of an assignor; nil where there is none of that name.
func assignorNamed(name string) func([]assign.Member, map[string]int32) map[string][]assign.TopicPartitions {
	switch name {
	case rangeAssignor:
		return assign.Range
	case roundRobinAssignor:
		return assign.RoundRobin
	case stickyAssignor:
		return assign.Sticky
	case cooperativeSticky:
		return assign.CooperativeSticky
	}
	return nil
}

// given is what StickyAssignor remembers of the last assignment that it was told of (its memberAssignment and
// generation). It outlives the membership, not the process.
type given struct {
	any        bool
	topics     []record.TopicPartitions // never changed in place
	generation int32
}

// cooperative tells how it rebalances: cooperatively where all of its assignors can (ConsumerCoordinator's protocol).
func (c *consumer) cooperative() bool {
	return len(c.cfg.Assignors) == 1 && c.cfg.Assignors[0] == cooperativeSticky
}

// instance is group.instance.id as requests carry it, nil for a dynamic member.
func (c *consumer) instance() *string {
	if c.cfg.InstanceID == "" {
		return nil
	}
	id := c.cfg.InstanceID
	return &id
}

// protocols are its assignors with the subscription that each sends (ConsumerCoordinator.metadata).
func (c *consumer) protocols() []kmsg.JoinGroupRequestProtocol {
	list := make([]kmsg.JoinGroupRequestProtocol, len(c.cfg.Assignors))
	for i, name := range c.cfg.Assignors {
		sub := record.Sub{Version: 3, Topics: c.cfg.Topics, Generation: c.generation}
		for _, t := range c.owned() {
			sub.Owned = append(sub.Owned, record.TopicPartitions(t))
		}
		if name == stickyAssignor && c.given.any {
			sub.UserData = record.StickyUserData(c.given.topics, c.given.generation)
		}
		list[i] = kmsg.JoinGroupRequestProtocol{Name: name, Metadata: record.Subscription(sub)}
	}
	return list
}

// describe tells an assignor what a member sent. An eager member owns nothing when it joins, so StickyAssignor goes by
// its user data.
func describe(m *assign.Member, protocol string, sub record.Sub) {
	m.Topics, m.Generation = sub.Topics, sub.Generation
	owned := sub.Owned
	if protocol == stickyAssignor {
		owned = nil
		if had, generation, ok := record.DecodeStickyUserData(sub.UserData); ok {
			owned, m.Generation = had, generation
		}
	}
	for _, t := range owned {
		m.Owned = append(m.Owned, assign.TopicPartitions(t))
	}
}

// remember is StickyAssignor.onAssignment.
func (c *consumer) remember(topics []record.TopicPartitions) {
	if c.protocol == stickyAssignor {
		c.given = given{any: true, topics: slices.Clip(topics), generation: c.generation}
	}
}

// Subscription is what a consumer of these topics that owns nothing puts into JoinGroup, for requests made by hand.
func Subscription(topics []string) []byte {
	sorted := slices.Clone(topics)
	slices.Sort(sorted)
	return record.Subscription(record.Sub{Version: 3, Topics: sorted, Generation: noGeneration})
}
