package sim_test

import (
	"fmt"

	"grouplab/coordinator/record"
)

// simpleGroup is of a consumer that assigns its partitions itself: nobody is a member of it.
const simpleGroup = "simple"

// ask sends a request by hand, if there is a broker that runs.
func (c *campaign) ask(format string, args ...any) {
	if len(c.check.scene.down) < 3 {
		c.do("ask "+format, args...)
	}
}

func (c *campaign) someGroup() string {
	return c.pick("g", "g", "g", "h", "h", simpleGroup, "nobody", "short")
}

// broker asks mostly the coordinator, and sometimes any broker.
func (c *campaign) asked() string {
	return c.pick("", "", "", "", fmt.Sprintf(" broker=%d", c.broker()))
}

// simple is a consumer without a group's protocol: it commits for a generation of -1, and reads.
func (c *campaign) simple() {
	group := c.pick(simpleGroup, simpleGroup, "short", "g", "h")
	switch c.prng.IntN(6) {
	case 0:
		c.ask("OffsetFetch group=%s v=%s stable=%s", group, c.pick("2", "7", "8", "9"), c.pick("yes", "no"))
	case 1:
		c.ask("OffsetFetch group=%s partitions=%s v=%s stable=%s%s", group, c.partition(), c.pick("1", "5", "7", "9"), c.pick("yes", "no"), c.asked())
	case 2:
		c.ask("OffsetCommit group=%s partitions=%s,%s offset=%d metadata=%d", group, c.partition(), c.partition(), c.prng.IntN(1000), c.pickInt(0, 3, 5000))
	default:
		c.ask("OffsetCommit group=%s partitions=%s offset=%d v=%s%s", group, c.partition(), c.prng.IntN(1000), c.pick("1", "5", "9"), c.asked())
	}
}

// retention commits with a retention time of its own (OffsetCommit v2 to v4).
func (c *campaign) retention() {
	c.ask("OffsetCommit group=%s partitions=%s offset=%d v=%s retention=%s", c.pick(simpleGroup, "short", "short", "g"), c.partition(), c.prng.IntN(1000),
		c.pick("2", "3", "4"), c.pick("3s", "30s", "10m"))
}

// askAdmin is what an administrator does: look, delete groups and offsets, remove members.
func (c *campaign) askAdmin() {
	group := c.someGroup()
	switch c.prng.IntN(7) {
	case 0:
		c.ask("DeleteGroups group=%s%s", group, c.asked())
	case 1, 2:
		c.ask("OffsetDelete group=%s partitions=%s,%s%s", group, c.partition(), c.partition(), c.asked())
	case 3:
		c.ask("DescribeGroups group=%s%s", group, c.asked())
	case 4:
		c.ask("ListGroups broker=%d", c.broker())
	case 5:
		c.ask("FindCoordinator group=%s v=%s broker=%d", group, c.pick("0", "3", "4"), c.broker())
	case 6:
		d, _ := c.someone()
		if cfg, _ := c.e.World().Consumer(d.name); cfg.InstanceID != "" {
			c.ask("LeaveGroup group=%s instance=%s", d.group, cfg.InstanceID)
		}
	}
}

// askNothing names no group.
func (c *campaign) askNothing() {
	c.ask("%s group=\"\" partitions=orders-0 offset=1", c.pick("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "TxnOffsetCommit", "OffsetDelete",
		"OffsetFetch", "OffsetCommit", "DescribeGroups", "DeleteGroups"))
}

// askMember sends what a member would, as the client believes, with one thing wrong or nothing.
func (c *campaign) askMember() {
	d, _ := c.someone()
	more := ""
	switch c.prng.IntN(6) {
	case 0:
		more = fmt.Sprintf(" generation=%d", c.prng.IntN(30))
	case 1:
		more = " instance=i9"
	case 2:
		more = " instance=none"
	}
	c.ask("%s group=%s%s%s", c.request(d), d.group, c.as(c.pick(d.name, d.name, d.name, "stranger")), more+c.asked())
}

func (c *campaign) as(member string) string { return " member=" + member }

// request is a request of a member, without its group and its name.
func (c *campaign) request(d described) string {
	switch c.prng.IntN(9) {
	case 0, 1:
		return "Heartbeat"
	case 2, 3:
		return "SyncGroup v=" + c.pick("3", "5", "5", "5 type=other", "5 type=none", "5 protocols=other")
	case 4, 5:
		return fmt.Sprintf("OffsetCommit partitions=%s offset=%d v=%s", c.partition(), c.prng.IntN(1000), c.pick("7", "8", "9"))
	case 6:
		return "LeaveGroup v=" + c.pick("2", "4", "5")
	case 7:
		return "JoinGroup v=" + c.pick("5", "9") + " protocols=" + c.pick("range", "other", "cooperative-sticky")
	}
	return fmt.Sprintf("TxnOffsetCommit producer=%s partitions=%s offset=%d", d.name, c.partition(), c.prng.IntN(1000))
}

// askState asks as a member of a group, by what its coordinator knows of it, mostly while the group rebalances: nothing is
// wrong with the member, or it has been fenced.
func (c *campaign) askState() {
	s := c.check.scene
	var all, moving []groupAt
	for _, at := range sortedKeys(s.groups) {
		if g := s.groups[at]; len(g.members) > 0 {
			if all = append(all, at); g.state != stable {
				moving = append(moving, at)
			}
		}
	}
	if len(moving) > 0 {
		all = moving
	}
	if len(all) == 0 {
		return
	}
	at := all[c.prng.IntN(len(all))]
	g := s.groups[at]
	ids := sortedKeys(g.members)
	id := ids[c.prng.IntN(len(ids))]
	who := fmt.Sprintf(" member=%s generation=%d", id, g.generation)
	if instance := g.members[id].instance; instance != "" && c.prng.IntN(3) == 0 {
		who = fmt.Sprintf(" member=stranger instance=%s generation=%d", instance, g.generation)
	} else if instance != "" {
		who += " instance=" + instance
	}
	if c.prng.IntN(8) == 0 {
		c.ask("DescribeGroups group=%s", at.group)
		return
	}
	d, _ := c.someone()
	c.ask("%s group=%s%s", c.request(d), at.group, who)
}

// askLoading asks for a group whose partition is being loaded.
func (c *campaign) askLoading() {
	for _, at := range sortedKeys(c.check.scene.loading) {
		for _, group := range []string{"g", "h", simpleGroup, "short", ""} {
			if record.Partition(group, c.check.commits.n) != at.partition {
				continue
			}
			d, _ := c.someone()
			c.ask("%s group=\"%s\" broker=%d", c.pick(c.request(d), c.request(d), "OffsetFetch", "DescribeGroups", "ListGroups", "DeleteGroups", "JoinGroup"), group, at.broker)
			return
		}
	}
}

// askJoin joins by hand: a member that will never sync, an id that is never used, or a request that is refused.
func (c *campaign) askJoin() {
	group := c.pick("g", "g", "h", "short", "nobody")
	protocols := c.pick("range", "roundrobin,range,sticky,cooperative-sticky", "sticky,cooperative-sticky,roundrobin,range")
	switch c.prng.IntN(9) {
	case 0:
		c.ask("JoinGroup group=%s session=%s v=%s", group, c.pick("1s", "40m"), c.pick("0", "9"))
	case 1:
		c.ask("JoinGroup group=%s type=%s protocols=%s v=%s", group, c.pick("other", "\"\""), protocols, c.pick("3", "9"))
	case 2:
		c.ask("JoinGroup group=%s protocols=%s v=3", group, c.pick("other", "\"\""))
	case 3:
		c.ask("JoinGroup group=%s protocols=%s v=%s session=10s rebalance=%s", group, protocols, c.pick("0", "1", "3"), c.pick("5s", "30s"))
	case 4:
		c.ask("JoinGroup group=%s protocols=%s session=6s", group, protocols) // the id will expire, or be used by the next
	case 5:
		c.ask("JoinGroup group=%s protocols=%s member=admin instance=%s", group, protocols, c.pick("none", "none", "i1", "i9"))
	case 6:
		c.ask("JoinGroup group=%s protocols=%s instance=a%d", group, protocols, 1+c.prng.IntN(2))
	case 7:
		c.ask("OffsetCommit group=nobody member=stranger generation=%d partitions=orders-0 v=%s", c.prng.IntN(3), c.pick("7", "8", "9", "9"))
	case 8:
		c.ask("%s group=%s member=stranger generation=1", c.pick("Heartbeat", "SyncGroup", "LeaveGroup", "JoinGroup"), c.pick("nobody", "nobody", group))
	}
}

// askIssued joins by hand, and then uses the id that it is given.
func (c *campaign) askIssued() {
	group := c.pick("g", "h", "short")
	protocols := c.pick("range", "roundrobin,range,sticky,cooperative-sticky", "sticky,cooperative-sticky,roundrobin,range")
	if c.prng.IntN(5) == 0 { // a group of another kind
		c.ask("JoinGroup group=short type=connect protocols=default v=3 session=6s rebalance=8s")
		c.do("advance 60ms")
		c.ask("OffsetDelete group=short partitions=orders-0")
		return
	}
	c.ask("JoinGroup group=%s protocols=%s session=%s rebalance=8s", group, protocols, c.pick("6s", "20s"))
	c.do("advance 60ms")
	c.ask("%s group=%s member=admin", c.pick("SyncGroup", "Heartbeat", "LeaveGroup", "LeaveGroup v=2", "OffsetCommit partitions=orders-0", "JoinGroup instance=i9 protocols="+protocols,
		"JoinGroup rebalance=8s protocols="+protocols, "JoinGroup rebalance=8s protocols="+protocols), group)
}

// unstable reads what is being written.
func (c *campaign) unstable() {
	group, partition := c.pick(simpleGroup, "short"), c.partition()
	c.do("slow-appends offsets %s 1", c.pick("200ms", "1s", "9s"))
	c.ask("OffsetCommit group=%s partitions=%s offset=%d", group, partition, c.prng.IntN(1000))
	if c.prng.IntN(2) == 0 {
		c.ask("OffsetCommit group=%s partitions=%s offset=%d", group, partition, c.prng.IntN(1000))
	}
	c.do("advance 60ms")
	c.ask("OffsetFetch group=%s partitions=%s stable=%s", group, partition, c.pick("yes", "yes", "no"))
	if c.prng.IntN(3) == 0 {
		c.ask("%s group=%s partitions=%s", c.pick("OffsetDelete", "DeleteGroups"), group, partition)
	}
}

// askTxn commits in the transaction of a consumer's producer, with one thing wrong or nothing; sometimes it has the end of
// the transaction lost, so that it stays open.
func (c *campaign) askTxn() {
	var all, open []described
	for _, d := range c.consumers {
		if !d.transactional {
			continue
		}
		all = append(all, d)
		if cfg, _ := c.e.World().Consumer(d.name); c.check.scene.ongoing[cfg.TransactionalID] {
			open = append(open, d)
		}
	}
	if len(open) > 0 {
		all = open
	}
	if len(all) == 0 {
		return
	}
	d := all[c.prng.IntN(len(all))]
	if c.prng.IntN(3) == 0 {
		c.do("drop %s EndTxn %d%s", d.name, 1+c.prng.IntN(3), c.pick("", " answers"))
	}
	who := c.pick(d.name, d.name, "stranger", "stranger generation=3", d.name+" generation=1", "stranger instance=i9", d.name+" transactional=nobody")
	if g := c.check.scene.ofGroup(d.group); g != nil && c.prng.IntN(2) == 0 {
		for _, id := range sortedKeys(g.members) {
			who = fmt.Sprintf("%s generation=%d", id, g.generation)
			if instance := g.members[id].instance; instance != "" {
				who = fmt.Sprintf("stranger generation=%d instance=%s", g.generation, instance)
			}
		}
	}
	c.ask("TxnOffsetCommit group=%s producer=%s member=%s partitions=%s,%s offset=%d metadata=%d v=%s%s", c.pick(d.group, d.group, d.group, "nobody"), d.name, who,
		c.partition(), c.partition(), c.prng.IntN(1000), c.pickInt(0, 0, 5000), c.pick("1", "2", "3", "3", "3"), c.asked())
}
