package assign

import "slices"

// RoundRobin deals the partitions of all topics, in order of topic and number, to the members in turn; a member that did
// not subscribe to a topic is passed over, and the next partition goes on with the one behind (Kafka:
// RoundRobinAssignor). Arguments and result are those of Range.
func RoundRobin(members []Member, partitions map[string]int32) map[string][]TopicPartitions {
	g := newGroup(members, partitions)
	next := 0
	for _, t := range g.topics {
		if len(t.subscribers) == 0 {
			continue
		}
		for p := t.first; p < t.first+t.count; p++ {
			for !g.subscribed[next][t.number] {
				next = (next + 1) % len(g.members)
			}
			g.give(p, next)
			next = (next + 1) % len(g.members)
		}
	}
	return g.result()
}

// group is a group in numbers: members in Kafka's order, topics by name, partitions in order of topic and number.
type group struct {
	members []Member
	topics  []topic
	// subscribed tells, by member, to which topics it subscribed.
	subscribed [][]bool
	// owner is the member that has a partition, nobody where none has; load is how many each member has.
	owner []int
	load  []int
}

// topic is one topic that somebody subscribed to and that exists.
type topic struct {
	name         string
	number       int
	first, count int // its partitions
	subscribers  []int
}

const nobody = -1

func newGroup(members []Member, partitions map[string]int32) *group {
	g := &group{members: slices.Clone(members)}
	slices.SortStableFunc(g.members, compare)
	var names []string
	for _, m := range g.members {
		for _, t := range m.Topics {
			if partitions[t] > 0 {
				names = append(names, t)
			}
		}
	}
	slices.Sort(names)
	total := 0
	for i, name := range slices.Compact(names) {
		count := int(partitions[name])
		g.topics = append(g.topics, topic{name: name, number: i, first: total, count: count})
		total += count
	}
	g.subscribed = make([][]bool, len(g.members))
	for i, m := range g.members {
		g.subscribed[i] = make([]bool, len(g.topics))
		for _, name := range m.Topics {
			if t := g.topic(name); t != nil && !g.subscribed[i][t.number] {
				g.subscribed[i][t.number] = true
				t.subscribers = append(t.subscribers, i)
			}
		}
	}
	g.load = make([]int, len(g.members))
	g.owner = make([]int, total)
	for p := range g.owner {
		g.owner[p] = nobody
	}
	return g
}

// topic finds a topic by its name, nil where nobody subscribed to it or it does not exist.
func (g *group) topic(name string) *topic {
	i, ok := slices.BinarySearchFunc(g.topics, name, func(t topic, name string) int {
		switch {
		case t.name < name:
			return -1
		case t.name > name:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return &g.topics[i]
}

// topicOf is the topic of a partition.
func (g *group) topicOf(p int) *topic {
	i, ok := slices.BinarySearchFunc(g.topics, p, func(t topic, p int) int { return t.first - p })
	if !ok {
		i--
	}
	return &g.topics[i]
}

// give makes a member the owner of a partition.
func (g *group) give(p, member int) {
	if old := g.owner[p]; old != nobody {
		g.load[old]--
	}
	g.owner[p] = member
	g.load[member]++
}

// take leaves a partition without an owner.
func (g *group) take(p int) {
	if old := g.owner[p]; old != nobody {
		g.load[old]--
		g.owner[p] = nobody
	}
}

// result is the assignment by member id: topics by name, partitions ascending, nil for a member that gets nothing.
func (g *group) result() map[string][]TopicPartitions {
	given := make(map[string][]TopicPartitions, len(g.members))
	lists := make([][]TopicPartitions, len(g.members))
	for _, t := range g.topics {
		for p := t.first; p < t.first+t.count; p++ {
			m := g.owner[p]
			if m == nobody {
				continue
			}
			if n := len(lists[m]); n == 0 || lists[m][n-1].Topic != t.name {
				lists[m] = append(lists[m], TopicPartitions{Topic: t.name})
			}
			last := &lists[m][len(lists[m])-1]
			last.Partitions = append(last.Partitions, int32(p-t.first))
		}
	}
	for i, m := range g.members {
		given[m.ID] = lists[i]
	}
	return given
}
