package assign

import "slices"

// balance shares partitions out among members with different subscriptions. It begins with what each had, gives the rest
// to the least loaded subscribers, and then improves the whole as a flow: as long as there is a ring of moves that makes
// the sum of the squared loads smaller, or leaves it and brings partitions home, the ring is turned. What has no such
// ring is as even as can be and, among those, keeps as many partitions as can be where they were.
//
// A ring is searched for in members² steps a round. Groups with different subscriptions are small, or nearly balanced.
func (g *group) balance(home []int) {
	for p, h := range home {
		if h != nobody {
			g.give(p, h)
		}
	}
	for _, t := range g.topics {
		for p := t.first; p < t.first+t.count; p++ {
			if g.owner[p] == nobody {
				g.give(p, g.lightest(t.subscribers))
			}
		}
	}
	f := flow{group: g, home: home, weight: len(g.owner) + 1}
	for {
		ring := f.ring()
		if ring == nil {
			return
		}
		f.turn(ring)
	}
}

// lightest is the first of the members with the least load.
func (g *group) lightest(members []int) int {
	best := members[0]
	for _, m := range members {
		if g.load[m] < g.load[best] {
			best = m
		}
	}
	return best
}

// flow is the residual graph of an assignment. Its nodes are the members and the spare, which stands for "one partition
// more" on one side and "one fewer" on the other. An edge from x to y is a partition that x could hand to y; it costs 1
// if it is at home at x, and gains 1 if it is at home at y. Evenness weighs more than all moves together.
type flow struct {
	*group
	home   []int
	weight int
	// best is, by member and topic, a partition that the member has and that is not at home there, or, if there is none
	// such, any that it has; nobody where it has none. homing is, by pair of members, one of x that is at home at y.
	best   [][]int
	homing [][]int
}

const far = int(^uint(0)>>1) / 4

// survey fills in best and homing.
func (f *flow) survey() {
	n := len(f.members)
	f.best, f.homing = make([][]int, n), make([][]int, n)
	for x := range n {
		f.best[x], f.homing[x] = make([]int, len(f.topics)), make([]int, n)
		for t := range f.best[x] {
			f.best[x][t] = nobody
		}
		for y := range n {
			f.homing[x][y] = nobody
		}
	}
	for _, t := range f.topics {
		for p := t.first; p < t.first+t.count; p++ {
			x := f.owner[p]
			if b := f.best[x][t.number]; b == nobody || f.home[b] == x && f.home[p] != x {
				f.best[x][t.number] = p
			}
			if h := f.home[p]; h != nobody && h != x {
				f.homing[x][h] = p
			}
		}
	}
}

// cheapest is the partition that x would hand to y, and its cost; far where there is none.
func (f *flow) cheapest(x, y int) (p, cost int) {
	if p := f.homing[x][y]; p != nobody {
		return p, -1
	}
	p, cost = nobody, far
	for t, b := range f.best[x] {
		if b == nobody || !f.subscribed[y][t] {
			continue
		}
		c := 0
		if f.home[b] == x {
			c = 1
		}
		if c < cost {
			p, cost = b, c
		}
	}
	return p, cost
}

// costs is the matrix of edges; the last node is the spare.
func (f *flow) costs() [][]int {
	n := len(f.members)
	cost := make([][]int, n+1)
	for x := range cost {
		cost[x] = make([]int, n+1)
		for y := range cost[x] {
			switch {
			case x == y:
				cost[x][y] = far
			case x == n:
				cost[x][y] = -f.weight * f.load[y]
				if f.load[y] == 0 {
					cost[x][y] = far
				}
			case y == n:
				cost[x][y] = f.weight * (f.load[x] + 1)
			default:
				_, cost[x][y] = f.cheapest(x, y)
			}
		}
	}
	return cost
}

// ring finds a ring of nodes whose costs sum to less than nothing (Bellman and Ford), nil where there is none.
func (f *flow) ring() []int {
	f.survey()
	cost := f.costs()
	n := len(cost)
	distance, from := make([]int, n), make([]int, n)
	for i := range from {
		from[i] = nobody
	}
	for range n {
		changed := false
		for x := range n {
			for y := range n {
				if c := cost[x][y]; c < far && distance[x]+c < distance[y] {
					distance[y], from[y], changed = distance[x]+c, x, true
				}
			}
		}
		if !changed {
			return nil
		}
		if ring := loop(from); ring != nil {
			return ring
		}
	}
	return nil
}

// loop finds a ring among predecessors, in the direction of the edges; nil where there is none.
func loop(from []int) []int {
	seen := make([]int, len(from))
	for start := range from {
		for at := start; at != nobody; at = from[at] {
			if seen[at] == start+1 {
				ring := []int{at}
				for back := from[at]; back != at; back = from[back] {
					ring = append(ring, back)
				}
				slices.Reverse(ring)
				return ring
			}
			if seen[at] != 0 {
				break
			}
			seen[at] = start + 1
		}
	}
	return nil
}

// turn makes the moves of a ring.
func (f *flow) turn(ring []int) {
	spare := len(f.members)
	type move struct{ p, to int }
	var moves []move
	for i, x := range ring {
		if y := ring[(i+1)%len(ring)]; x != spare && y != spare {
			p, _ := f.cheapest(x, y)
			moves = append(moves, move{p, y})
		}
	}
	for _, m := range moves {
		f.give(m.p, m.to)
	}
}
