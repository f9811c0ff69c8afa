package coordinator

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// leaveGroup takes members out at once instead of waiting for their sessions. A batch (version 3 on) is taken out whole
// before the group goes on, so that it costs one rebalance, as in Kafka 4.0.
func (c *Coordinator) leaveGroup(r *Request, q *kmsg.LeaveGroupRequest) {
	entries := q.Members
	if q.Version < 3 {
		entries = []kmsg.LeaveGroupRequestMember{{MemberID: q.MemberID}}
	}
	resp := kmsg.NewPtrLeaveGroupResponse()
	resp.Version = q.Version
	sent := event.ReplySent{Ticket: r.Ticket, API: apiLeaveGroup}
	if len(entries) > 0 {
		sent.Member = entries[0].MemberID
	}
	if _, sent.Code, sent.Guard = c.gate(q.Group, false); sent.Code != codeNone {
		resp.ErrorCode = sent.Code
		c.send(q.Group, resp, sent)
		return
	}
	g := c.groups[q.Group]
	var left departure
	for i := range entries {
		e := &entries[i]
		code, guard := codeUnknownMemberID, guardNoGroup
		if g != nil {
			code, guard = c.leaveOne(g, e, &left)
		}
		if sent.Code == codeNone {
			sent.Code, sent.Guard = code, guard
		}
		resp.Members = append(resp.Members, kmsg.LeaveGroupResponseMember{MemberID: e.MemberID, InstanceID: e.InstanceID,
			ErrorCode: code})
	}
	if q.Version < 3 {
		resp.ErrorCode, resp.Members = resp.Members[0].ErrorCode, nil
	}
	c.send(q.Group, resp, sent)
	if left.any {
		c.replaceLeader(g, event.WhyLeaderGone)
		c.membersRemoved(g, event.WhyMemberLeft, left.member, left.reason)
	}
}

// departure is who left with a request: the first entry that did names the rebalance.
type departure struct {
	any            bool
	member, reason string
}

func (d *departure) add(m *member, reason string) {
	if !d.any {
		*d = departure{true, m.id, reason}
	}
}

// leaveOne takes one entry of the batch. An instance id without a member id is how an administrator removes a static
// member; a pending id is forgotten whatever else the entry names, and its leaving costs the group a rebalance like a
// member's, as in Kafka 4.0 (GroupMetadataManager.classicGroupLeaveToClassicGroup; not so in the Scala coordinator).
func (c *Coordinator) leaveOne(g *group, e *kmsg.LeaveGroupRequestMember, left *departure) (code int16, guard string) {
	if m := g.findPending(e.MemberID); m != nil && e.MemberID != "" {
		c.forgetPending(g, m, event.WhyMemberLeft)
		left.add(m, reasonOf(e.Reason))
		return codeNone, ""
	}
	var m *member
	if e.MemberID == "" {
		if e.InstanceID == nil {
			return codeUnknownMemberID, g.notMember("")
		}
		if m = g.byInstance[*e.InstanceID]; m == nil {
			return codeUnknownMemberID, guardNoInstance
		}
	} else if m, code, guard = g.checkIdentity(e.MemberID, e.InstanceID); code != codeNone {
		return code, guard
	}
	reason := reasonOf(e.Reason)
	c.removeMember(g, m, event.WhyMemberLeft, reason)
	left.add(m, reason)
	return codeNone, ""
}
