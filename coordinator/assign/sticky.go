package assign

import "slices"

// Sticky shares the partitions out as evenly as subscriptions allow and, among the assignments that are as even, takes
// one that moves the fewest partitions away from where they were (Kafka: StickyAssignor, KIP-54). Where a partition was
// is what the members say in Owned; if two claim the same one, the later Generation is believed (KIP-341), of one
// generation the first member in order. Arguments and result are otherwise those of Range.
//
// Where all members subscribe to the same topics it gives what Kafka gives (AbstractStickyAssignor.constrainedAssign).
// Where they do not, Kafka's heuristic can end less even and less sticky than this; see balance.
func Sticky(members []Member, partitions map[string]int32) map[string][]TopicPartitions {
	g := newGroup(members, partitions)
	g.sticky()
	return g.result()
}

func (g *group) sticky() {
	home := g.homes()
	if g.alike() {
		g.constrained(home)
	} else {
		g.balance(home)
	}
}

// homes are the members that had each partition and may have it again.
func (g *group) homes() []int {
	home := make([]int, len(g.owner))
	for p := range home {
		home[p] = nobody
	}
	for i, m := range g.members {
		g.claims(m, func(t *topic, p int) {
			if !g.subscribed[i][t.number] {
				return
			}
			if h := home[p]; h == nobody || m.Generation > g.members[h].Generation {
				home[p] = i
			}
		})
	}
	return home
}

// claims calls f for each partition that a member says it owns, as far as it exists.
func (g *group) claims(m Member, f func(t *topic, p int)) {
	for _, owned := range m.Owned {
		t := g.topic(owned.Topic)
		if t == nil {
			continue
		}
		for _, number := range owned.Partitions {
			if number >= 0 && int(number) < t.count {
				f(t, t.first+int(number))
			}
		}
	}
}

// alike tells whether all members subscribe to the same topics.
func (g *group) alike() bool {
	for i := range g.members {
		if !slices.Equal(g.subscribed[i], g.subscribed[0]) {
			return false
		}
	}
	return true
}

// constrained is for members with the same subscription: each gets the least quota, and as many as it does not come out
// even for one more. Members keep their first partitions up to their quota; what is left is dealt out in order, first to
// those below the least quota.
func (g *group) constrained(home []int) {
	if len(g.members) == 0 {
		return
	}
	least, over := len(g.owner)/len(g.members), len(g.owner)%len(g.members)
	had := make([]int, len(g.members))
	for _, h := range home {
		if h != nobody {
			had[h]++
		}
	}
	quota := make([]int, len(g.members))
	for i := range quota {
		quota[i] = least
		if over > 0 && had[i] > least {
			quota[i]++
			over--
		}
	}
	for p, h := range home {
		if h != nobody && g.load[h] < quota[h] {
			g.give(p, h)
		}
	}
	g.deal(least)
}

// deal gives the partitions without owner to the members below the quota in turn, and then one more to members at it.
func (g *group) deal(quota int) {
	below := make([]int, 0, len(g.members))
	for i := range g.members {
		if g.load[i] < quota {
			below = append(below, i)
		}
	}
	at := 0
	var full []int // those at the quota, in the order in which they got there
	for i := range g.members {
		if g.load[i] == quota {
			full = append(full, i)
		}
	}
	for p, owner := range g.owner {
		if owner != nobody {
			continue
		}
		if len(below) == 0 {
			g.give(p, full[0])
			full = full[1:]
			continue
		}
		at %= len(below)
		m := below[at]
		g.give(p, m)
		if g.load[m] < quota {
			at++
			continue
		}
		below = slices.Delete(below, at, at+1)
		full = append(full, m)
	}
}
