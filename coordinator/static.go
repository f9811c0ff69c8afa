package coordinator

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// Static members (KIP-345, KIP-814) are known by their group.instance.id. A process that starts again joins without a
// member id and takes the place of the old one: it gets a new member id, and whoever still uses the old one is fenced.

// instance is the instance id, "" for a dynamic member.
func (m *member) instance() string {
	if m.instanceID == nil {
		return ""
	}
	return *m.instanceID
}

// nameInstance lets a static member be found by its instance id.
func (g *group) nameInstance(m *member) {
	if m.instanceID == nil {
		return
	}
	if g.byInstance == nil {
		g.byInstance = map[string]*member{}
	}
	g.byInstance[*m.instanceID] = m
}

// replacement is a static member's new id whose record is being written.
type replacement struct {
	instance string
	id       string
	ticket   Ticket // of the JoinGroup that waits for it
	// What is put back where the record cannot be written, and the leader that an old client is told.
	oldID                 string
	oldProtocols          []protocol
	oldSessionTimeoutMs   int32
	oldRebalanceTimeoutMs int32
	leader                string
}

const untilReplaced = "the new member id is written"

// joinStatic lets a process that starts again take the place of the static member m (Kafka:
// updateStaticMemberThenRebalanceOrCompleteJoin). In Stable, where the members would elect the same protocol again, there
// is no rebalance: the new id is written, and only then told, so that a new coordinator knows it too (KAFKA-10284).
func (c *Coordinator) joinStatic(r *Request, q *kmsg.JoinGroupRequest, g *group, m *member, id string, protocols []protocol) {
	old := replacement{instance: *m.instanceID, id: id, ticket: r.Ticket, oldID: m.id, oldProtocols: m.protocols,
		oldSessionTimeoutMs: m.sessionTimeoutMs, oldRebalanceTimeoutMs: m.rebalanceTimeoutMs, leader: g.leader}
	c.replaceStatic(g, m, id, r)
	c.updateMember(g, m, protocols, q.SessionTimeoutMillis, rebalanceTimeout(q))
	switch {
	case g.state == event.Stable && g.electProtocol() == g.protocol:
		c.parkJoin(r, q, g, m, untilReplaced)
		a := c.newAppend(storesReplacement)
		a.replacement = old
		c.appendGroup(g, func(m *member) []byte { return m.assignment }, a)
		return
	case g.state == event.Stable, g.state == event.CompletingRebalance:
		c.parkJoin(r, q, g, m, untilJoined)
		c.prepareRebalance(g, event.WhyStaticRestarted, m.id, reasonOf(q.Reason))
	default:
		c.parkJoin(r, q, g, m, untilJoined)
	}
}

// replaceStatic gives a static member another id (Kafka: ClassicGroup.replaceStaticMember). Whoever waits under the old
// one is fenced. The new timer runs for the session timeout of before, as in Kafka. The request is the new process's.
func (c *Coordinator) replaceStatic(g *group, m *member, id string, r *Request) {
	const guard = "another process has joined with its instance id"
	if m.join.waits {
		c.answerJoinError(g, m, m.id, codeFencedInstanceID, guard)
	}
	if m.sync.waits {
		c.answerSyncError(g, m, codeFencedInstanceID, guard)
	}
	m.satisfied = true
	c.knock(m, "the member id was replaced")
	m.satisfied = false
	old := m.id
	delete(g.byID, old)
	m.id, m.isNew, m.beats = id, false, beats{}
	g.byID[id] = m
	c.emit(g.id, event.MemberReplaced{Old: old, Member: id, InstanceID: m.instance(), ClientID: r.ClientID, ClientHost: r.ClientHost})
	if g.leader == old {
		c.electLeader(g, m, event.WhyLeaderReplaced)
	}
	c.resetSession(m, "", false)
}

// awaited is the member whose replacement an append is for, nil where that is settled already: the member is gone, was
// replaced again, or was answered by a rebalance that ended meanwhile.
func (p *replacement) awaited(g *group) *member {
	m := g.byInstance[p.instance]
	if m == nil || m.id != p.id || !m.join.waits || m.join.ticket != p.ticket {
		return nil
	}
	return m
}

// replacementWritten answers the JoinGroup that waits for a replacement. A leader that started again must not assign anew:
// from version 9 on it is told so; older clients are told the old leader's id, which is not theirs. Where the record was
// not written, the member is what it was before, its protocols too, as in the coordinator of Kafka 4.0.
func (c *Coordinator) replacementWritten(g *group, m *member, p *replacement, code int16) {
	resp := joinResponse(m.join.version, g, m)
	resp.SkipAssignment = g.leader == m.id && resp.Version >= 9
	if !resp.SkipAssignment {
		resp.Members = nil
	}
	if resp.Version < 9 {
		resp.LeaderID = p.leader
	}
	if code == codeNone {
		c.answerJoin(g, m, resp, "")
		if m.session.op.Number == 0 { // it ran out while the member waited, and was excused
			c.resetSession(m, "its join was answered", false)
		}
		return
	}
	resp.ErrorCode, resp.MemberID, resp.LeaderID, resp.SkipAssignment, resp.Members = groupAppendCode(code), "", p.leader, false, nil
	c.answerJoin(g, m, resp, "the new member id was not written: "+event.CodeName(code))
	c.updateMember(g, m, p.oldProtocols, p.oldSessionTimeoutMs, p.oldRebalanceTimeoutMs)
	c.replaceStatic(g, m, p.oldID, &Request{})
}
