package coordinator

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

const untilSynced = "the leader's assignment has arrived and is written"

// syncGroup gives a member its assignment. In CompletingRebalance the reply is parked until the leader's assignment was
// written to the log: first the record, then the answers.
func (c *Coordinator) syncGroup(r *Request, q *kmsg.SyncGroupRequest) {
	g, m, code, guard := c.checkSync(q)
	if code != codeNone {
		if code == codeRebalanceInProgress && g != nil {
			c.cause = g.began.seq
		}
		c.send(q.Group, syncError(q.Version, code), event.ReplySent{Ticket: r.Ticket, API: apiSyncGroup, Code: code,
			Member: q.MemberID, Generation: q.Generation, Guard: guard})
		return
	}
	if g.state == event.Stable {
		c.syncArrived(g, m)
		c.send(g.id, syncResponse(q.Version, g, m), event.ReplySent{Ticket: r.Ticket, API: apiSyncGroup, Member: m.id,
			Generation: g.generation})
		c.resetSession(m, "its sync was answered", false)
		return
	}
	if m.sync.waits {
		c.dropReply(g, m, &m.sync, apiSyncGroup, "the member synced again")
	}
	m.sync = parked{waits: true, ticket: r.Ticket, version: q.Version, sinceMs: c.nowMs, until: untilSynced}
	m.sync.seq = c.emit(g.id, event.ReplyParked{Ticket: r.Ticket, API: apiSyncGroup, Member: m.id, ClientID: r.ClientID,
		SinceMs: c.nowMs, Until: untilSynced})
	c.syncArrived(g, m)
	if g.leader == m.id {
		c.storeAssignment(g, m, q)
	}
}

// checkSync tells why a SyncGroup is refused. KIP-559 asks for both protocol fields from version 5 on.
func (c *Coordinator) checkSync(q *kmsg.SyncGroupRequest) (g *group, m *member, code int16, guard string) {
	if q.Version >= 5 && (q.ProtocolType == nil || q.Protocol == nil) {
		return nil, nil, codeInconsistentProtocol, "the protocol type or name is null"
	}
	if _, code, guard = c.gate(q.Group, false); code != codeNone {
		return nil, nil, code, guard
	}
	if g = c.groups[q.Group]; g == nil {
		return nil, nil, codeUnknownMemberID, guardNoGroup
	}
	m, code, guard = g.checkMember(q.MemberID, q.InstanceID, q.Generation)
	switch {
	case code != codeNone:
		return g, nil, code, guard
	case q.ProtocolType != nil && *q.ProtocolType != g.protocolType:
		return g, nil, codeInconsistentProtocol, fmt.Sprintf("protocol type %q is not the group's %q", *q.ProtocolType,
			g.protocolType)
	case q.Protocol != nil && *q.Protocol != g.protocol:
		return g, nil, codeInconsistentProtocol, fmt.Sprintf("protocol %q is not the elected %q", *q.Protocol, g.protocol)
	case g.state == event.PreparingRebalance:
		return g, nil, codeRebalanceInProgress, guardRebalancing
	}
	return g, m, codeNone, ""
}

// syncArrived notes that a member has synced, which may end the sync timer.
func (c *Coordinator) syncArrived(g *group, m *member) {
	g.syncReceived(m)
	c.rebalances.CheckAndComplete(syncKey(g))
}

// storeAssignment writes the group with the leader's assignment. Members that the leader forgot get an empty one; ids
// that are no members are ignored. A second SyncGroup of the leader before the first was written is written too.
func (c *Coordinator) storeAssignment(g *group, leader *member, q *kmsg.SyncGroupRequest) {
	given := make(map[string][]byte, len(q.GroupAssignment))
	for _, a := range q.GroupAssignment {
		given[a.MemberID] = a.MemberAssignment
	}
	assignment := make(map[string][]byte, len(g.members))
	for _, m := range g.members {
		assignment[m.id] = given[m.id]
	}
	told := c.assignments(g, func(m *member) []byte { return assignment[m.id] })
	c.cause = c.emit(g.id, event.AssignmentReceived{Member: leader.id, Generation: g.generation, Assignments: told})
	a := c.newAppend(storesAssignment)
	a.assignment, a.assignments = assignment, told
	c.appendGroup(g, func(m *member) []byte { return assignment[m.id] }, a)
}

// assignmentWritten takes the outcome of storeAssignment. It counts only in the state and generation for which it was
// asked; otherwise the parked replies were answered when the state changed, and the record stays in the log, where a
// new coordinator will find it.
func (c *Coordinator) assignmentWritten(g *group, a *inflight, code int16) {
	if code != codeNone {
		c.answerSyncs(g, groupAppendCode(code), "the group record was not written: "+event.CodeName(code))
		c.prepareRebalance(g, event.WhySyncAppendFailed, "", "")
		return
	}
	for _, m := range g.members {
		m.assignment = a.assignment[m.id]
	}
	c.emit(g.id, event.AssignmentStored{Generation: g.generation, Assignments: a.assignments})
	c.transition(g, event.Stable, event.WhyAssignmentWritten, "")
	c.answerSyncs(g, codeNone, "")
}

func (c *Coordinator) clearAssignments(g *group) {
	for _, m := range g.members {
		m.assignment = nil
	}
}

// answerSyncs answers every parked SyncGroup. A session timer that ran out meanwhile was excused, so each that is
// answered gets a new one.
func (c *Coordinator) answerSyncs(g *group, code int16, guard string) {
	for _, m := range g.members {
		if !m.sync.waits {
			continue
		}
		p := m.sync
		m.sync = parked{}
		resp := syncError(p.version, code)
		if code == codeNone {
			resp = syncResponse(p.version, g, m)
		}
		c.send(g.id, resp, event.ReplySent{Ticket: p.ticket, API: apiSyncGroup, Code: code, Member: m.id,
			Generation: g.generation, HeldMs: c.nowMs - p.sinceMs, Guard: guard})
		c.resetSession(m, "its sync was answered", false)
	}
}

// answerSyncError answers a parked SyncGroup with an error.
func (c *Coordinator) answerSyncError(g *group, m *member, code int16, guard string) {
	p := m.sync
	m.sync = parked{}
	c.send(g.id, syncError(p.version, code), event.ReplySent{Ticket: p.ticket, API: apiSyncGroup, Code: code,
		Member: m.id, HeldMs: c.nowMs - p.sinceMs, Guard: guard})
}

func syncResponse(version int16, g *group, m *member) *kmsg.SyncGroupResponse {
	protocolType, protocol := g.protocolType, g.protocol
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.Version, resp.MemberAssignment = version, m.assignment
	resp.ProtocolType, resp.Protocol = &protocolType, &protocol
	return resp
}

func syncError(version, code int16) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.Version, resp.ErrorCode = version, code
	return resp
}

// assignments puts an assignment into the words of events.
func (c *Coordinator) assignments(g *group, of func(*member) []byte) []event.Assignment {
	list := make([]event.Assignment, len(g.members))
	for i, m := range g.members {
		list[i] = assignmentOf(m.id, of(m), g.protocolType)
	}
	return list
}

func assignmentOf(id string, data []byte, protocolType string) event.Assignment {
	a := event.Assignment{Member: id, Bytes: len(data)}
	if len(data) == 0 {
		return a
	}
	topics, ok := record.DecodeAssignment(data)
	if !ok || protocolType != consumerProtocol {
		a.Opaque = true
		return a
	}
	for _, t := range topics {
		a.Topics = append(a.Topics, event.TopicPartitions(t))
	}
	return a
}
