package sim_test

import "fmt"

// simpleGroup is of a consumer that assigns its partitions itself: nobody is a member of it.
const simpleGroup = "simple"

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
		c.do("ask OffsetFetch group=%s v=%s stable=%s", group, c.pick("2", "7", "8", "9"), c.pick("yes", "no"))
	case 1:
		c.do("ask OffsetFetch group=%s partitions=%s v=%s stable=%s%s", group, c.partition(), c.pick("1", "5", "7", "9"), c.pick("yes", "no"), c.asked())
	case 2:
		c.do("ask OffsetCommit group=%s partitions=%s,%s offset=%d metadata=%d", group, c.partition(), c.partition(), c.prng.IntN(1000), c.pickInt(0, 3, 5000))
	default:
		c.do("ask OffsetCommit group=%s partitions=%s offset=%d v=%s%s", group, c.partition(), c.prng.IntN(1000), c.pick("1", "5", "9"), c.asked())
	}
}

// retention commits with a retention time of its own (OffsetCommit v2 to v4).
func (c *campaign) retention() {
	c.do("ask OffsetCommit group=%s partitions=%s offset=%d v=%s retention=%s", c.pick(simpleGroup, "short", "short", "g"), c.partition(), c.prng.IntN(1000),
		c.pick("2", "3", "4"), c.pick("3s", "30s", "10m"))
}

// askAdmin is what an administrator does: look, delete groups and offsets, remove members.
func (c *campaign) askAdmin() {
	group := c.someGroup()
	switch c.prng.IntN(9) {
	case 0:
		c.do("ask DeleteGroups group=%s%s", group, c.asked())
	case 1, 2:
		c.do("ask OffsetDelete group=%s partitions=%s,%s%s", group, c.partition(), c.partition(), c.asked())
	case 3:
		c.do("ask DescribeGroups group=%s%s", group, c.asked())
	case 4:
		c.do("ask ListGroups broker=%d", c.broker())
	case 5:
		c.do("ask FindCoordinator group=%s v=%s broker=%d", group, c.pick("0", "3", "4"), c.broker())
	case 6:
		d, _ := c.someone()
		if cfg, _ := c.e.World().Consumer(d.name); cfg.InstanceID != "" {
			c.do("ask LeaveGroup group=%s instance=%s", d.group, cfg.InstanceID)
		}
	case 7:
		c.do("ask %s group=\"\" partitions=orders-0 offset=1 v=%s", c.pick("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "TxnOffsetCommit"), c.pick("3", "2"))
	case 8:
		c.do("ask %s group=\"\" partitions=orders-0 offset=1", c.pick("OffsetDelete", "OffsetFetch", "OffsetCommit", "DescribeGroups", "DeleteGroups"))
	}
}

// askMember sends what a member would, with one thing wrong or nothing.
func (c *campaign) askMember() {
	d, _ := c.someone()
	who := c.pick(d.name, d.name, d.name, "stranger", "admin")
	more := ""
	switch c.prng.IntN(5) {
	case 0:
		more = fmt.Sprintf(" generation=%d", c.prng.IntN(30))
	case 1:
		more = fmt.Sprintf(" instance=i%d", 1+c.prng.IntN(6))
	case 2:
		more = " instance=none"
	}
	more += c.asked()
	switch c.prng.IntN(8) {
	case 0, 1:
		c.do("ask Heartbeat group=%s member=%s%s", d.group, who, more)
	case 2:
		c.do("ask SyncGroup group=%s member=%s%s v=%s%s", d.group, who, more, c.pick("3", "5", "5"), c.pick("", " type=other", " type=none", " protocols=other"))
	case 3, 4:
		c.do("ask OffsetCommit group=%s member=%s partitions=%s offset=%d v=%s%s", d.group, who, c.partition(), c.prng.IntN(1000), c.pick("7", "8", "9"), more)
	case 5:
		c.do("ask LeaveGroup group=%s member=%s v=%s%s", d.group, who, c.pick("2", "4", "5"), more)
	case 6:
		c.do("ask JoinGroup group=%s member=%s v=%s%s protocols=%s", d.group, who, c.pick("5", "9"), more, c.pick("range", "other", "cooperative-sticky"))
	case 7:
		c.do("ask Heartbeat group=nobody member=%s", who)
	}
}

// askJoin joins by hand: a member that will never sync, an id that is never used, or a request that is refused.
func (c *campaign) askJoin() {
	group := c.pick("g", "g", "h", "short", "nobody")
	protocols := c.pick("range", "roundrobin,range,sticky,cooperative-sticky", "sticky,cooperative-sticky,roundrobin,range")
	switch c.prng.IntN(9) {
	case 0:
		c.do("ask JoinGroup group=%s session=%s v=%s", group, c.pick("1s", "40m"), c.pick("0", "9"))
	case 1:
		c.do("ask JoinGroup group=%s type=%s protocols=%s v=%s", group, c.pick("other", "\"\""), protocols, c.pick("3", "9"))
	case 2:
		c.do("ask JoinGroup group=%s protocols=%s v=3", group, c.pick("other", "\"\""))
	case 3:
		c.do("ask JoinGroup group=%s protocols=%s v=%s session=10s rebalance=%s", group, protocols, c.pick("0", "1", "3"), c.pick("5s", "30s"))
	case 4:
		c.do("ask JoinGroup group=%s protocols=%s session=6s", group, protocols) // the id will expire, or be used by the next
	case 5:
		c.do("ask JoinGroup group=%s protocols=%s member=admin instance=%s", group, protocols, c.pick("none", "none", "i1", "i9"))
	case 6:
		c.do("ask JoinGroup group=%s protocols=%s instance=a%d", group, protocols, 1+c.prng.IntN(2))
	case 7:
		c.do("ask LeaveGroup group=%s member=admin v=%s", group, c.pick("2", "5"))
	case 8:
		c.do("ask SyncGroup group=%s member=admin v=%s", group, c.pick("3", "5"))
	}
}

// askTxn commits in the transaction of a consumer's producer, with one thing wrong or nothing.
func (c *campaign) askTxn() {
	d, _ := c.someone()
	if !d.transactional && c.prng.IntN(4) > 0 {
		return
	}
	more := c.pick("", "", " generation=-1 instance=none", fmt.Sprintf(" generation=%d", c.prng.IntN(30)), " instance=i9", " transactional=nobody")
	c.do("ask TxnOffsetCommit group=%s member=%s partitions=%s,%s offset=%d metadata=%d v=%s%s%s", c.pick(d.group, d.group, "nobody"), c.pick(d.name, d.name, d.name, "stranger"),
		c.partition(), c.partition(), c.prng.IntN(1000), c.pickInt(0, 0, 5000), c.pick("1", "3", "3"), more, c.asked())
}
