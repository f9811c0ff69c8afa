package coordinator

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// accepts tells whether the group has room for whoever joins with this id, "" for a newcomer (KIP-389, Kafka:
// acceptJoiningMember). While joins are collected those count that wait, so that of a group that is too large already
// the last to join again must go. An issued id takes no room before it joins. A static member that starts again has no
// id yet, so a full group refuses it, as Kafka does.
func (c *Coordinator) accepts(g *group, id string) bool {
	limit := int(c.cfg.Settings.GroupMaxSize)
	m := g.byID[id]
	switch g.state {
	case event.PreparingRebalance:
		return m != nil && m.join.waits || g.awaiting < limit
	case event.CompletingRebalance, event.Stable:
		return m != nil || len(g.members) < limit
	}
	return true
}

// refuseForSize answers a join for which there is no room, and forgets who asked: a member that has not joined again is
// no member any more. Where the group waited for nobody else the join phase ends with that, as in the Scala coordinator;
// Kafka 4.0 lets it wait for the next join or for the rebalance timeout.
func (c *Coordinator) refuseForSize(r *Request, q *kmsg.JoinGroupRequest, g *group) {
	c.refuseJoin(r, q, "", codeGroupMaxSizeReached,
		fmt.Sprintf("the group has its group.max.size of %d", c.cfg.Settings.GroupMaxSize))
	if m := g.byID[q.MemberID]; m != nil {
		c.removeMember(g, m, event.WhyGroupFull, "")
		c.replaceLeader(g, event.WhyLeaderGone)
	} else if m := g.findPending(q.MemberID); m != nil {
		c.forgetPending(g, m, event.WhyGroupFull)
	}
}
