package assign

import (
	"cmp"
	"slices"
)

// TopicPartitions are partitions of one topic, ascending.
type TopicPartitions struct {
	Topic      string
	Partitions []int32
}

// Member is a member of a group as its leader sees it in the answer to JoinGroup.
type Member struct {
	ID string
	// InstanceID is group.instance.id, "" for a dynamic member.
	InstanceID string
	Topics     []string
	// Owned is what the member has now and Generation when it got it; Range needs neither.
	Owned      []TopicPartitions
	Generation int32
}

// compare orders members as Kafka's AbstractPartitionAssignor.MemberInfo: static ones first, by their instance id,
// which outlives member ids; dynamic ones by member id.
func compare(a, b Member) int {
	switch {
	case a.InstanceID != "" && b.InstanceID != "":
		return cmp.Or(cmp.Compare(a.InstanceID, b.InstanceID), cmp.Compare(a.ID, b.ID))
	case a.InstanceID != "":
		return -1
	case b.InstanceID != "":
		return 1
	}
	return cmp.Compare(a.ID, b.ID)
}

// Range gives each member a run of consecutive partitions of each topic that it subscribed to; the first members get
// one more where it does not come out even (Kafka: RangeAssignor, without racks). Partitions holds the number of
// partitions of each topic; topics that are not in it do not exist and are left out. Every member has an entry in the
// result, its topics in order of name; it is nil for a member that gets nothing. Racks and KIP-881's co-partitioned
// topics are not considered: without racks they change nothing.
func Range(members []Member, partitions map[string]int32) map[string][]TopicPartitions {
	members = slices.Clone(members)
	slices.SortStableFunc(members, compare)
	given := make(map[string][]TopicPartitions, len(members))
	consumers := map[string][]string{} // by topic, in order of members
	for _, m := range members {
		given[m.ID] = nil
		for _, t := range m.Topics {
			if ids := consumers[t]; len(ids) == 0 || ids[len(ids)-1] != m.ID { // a topic named twice counts once
				consumers[t] = append(ids, m.ID)
			}
		}
	}
	topics := make([]string, 0, len(consumers))
	for t := range consumers {
		topics = append(topics, t)
	}
	slices.Sort(topics)
	for _, t := range topics {
		ids := consumers[t]
		each, more := partitions[t]/int32(len(ids)), partitions[t]%int32(len(ids))
		next := int32(0)
		for i, id := range ids {
			count := each
			if int32(i) < more {
				count++
			}
			if count > 0 {
				given[id] = append(given[id], TopicPartitions{t, run(next, count)})
			}
			next += count
		}
	}
	return given
}

func run(first, count int32) []int32 {
	ps := make([]int32, count)
	for i := range ps {
		ps[i] = first + int32(i)
	}
	return ps
}
