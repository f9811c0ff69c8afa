package assign

// CooperativeSticky is Sticky for members that keep what they have while they rebalance (Kafka:
// CooperativeStickyAssignor, KIP-429): a partition that is to move is given to nobody as long as another member claims it.
// That member sees that it was not given the partition, revokes it and joins again; the next assignment gives it on.
func CooperativeSticky(members []Member, partitions map[string]int32) map[string][]TopicPartitions {
	g := newGroup(members, partitions)
	g.sticky()
	// latest is the generation of the latest claim to a partition; claimed counts the claims.
	latest, claimed := make([]int32, len(g.owner)), make([]int, len(g.owner))
	for _, m := range g.members {
		g.claims(m, func(_ *topic, p int) {
			if claimed[p]++; claimed[p] == 1 || m.Generation > latest[p] {
				latest[p] = m.Generation
			}
		})
	}
	for i, m := range g.members {
		g.claims(m, func(_ *topic, p int) {
			// Its own claim stands only if nobody's is later (KIP-792): a member that missed a generation may claim what
			// another has got since.
			if g.owner[p] == i && m.Generation == latest[p] {
				claimed[p] = 0
			}
		})
	}
	for p, n := range claimed {
		if n > 0 {
			g.take(p)
		}
	}
	return g.result()
}
