package coordinator

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// joinGroup makes the caller a member, or lets a member into the next generation. The reply is parked until the join
// phase ends. The order of the checks is Kafka 4.0's: it decides what a client with several faults is told.
func (c *Coordinator) joinGroup(r *Request, q *kmsg.JoinGroupRequest) {
	number, code, guard := c.joinGate(q)
	if code == codeNone && cannotBeWritten(r, q) {
		code, guard = codeInvalidRequest, guardTooLong
	}
	if code != codeNone {
		c.refuseJoin(r, q, namedAtTheGate(q, code), code, guard)
		return
	}
	g := c.groups[q.Group]
	if g == nil {
		if q.MemberID != "" {
			c.refuseJoin(r, q, q.MemberID, codeUnknownMemberID, guardNoGroup)
			return
		}
		g = c.createGroup(q.Group, number)
	}
	protocols := protocolsOf(q.Protocols)
	switch {
	case !c.accepts(g, q.MemberID):
		c.refuseForSize(r, q, g)
	case !g.supportsProtocols(q.ProtocolType, protocols):
		c.refuseJoin(r, q, q.MemberID, codeInconsistentProtocol, g.notSupported(q.ProtocolType, len(protocols)))
	case q.MemberID == "":
		c.joinUnknown(r, q, g, protocols)
	case g.findPending(q.MemberID) != nil && q.InstanceID != nil:
		c.refuseJoin(r, q, "", codeUnknownServerError, "an issued id is never a static member's")
	case g.findPending(q.MemberID) != nil:
		c.joinNew(r, q, g, g.findPending(q.MemberID), protocols)
	default:
		c.joinKnown(r, q, g, protocols)
	}
	if g.state == event.PreparingRebalance {
		c.tryCompleteJoin(g)
	}
}

// joinGate is what is checked before the group is looked at. The session timeout comes before ownership, as in the
// coordinator of Kafka 4.0.
func (c *Coordinator) joinGate(q *kmsg.JoinGroupRequest) (number int32, code int16, guard string) {
	s := &c.cfg.Settings
	number, code, guard = c.gate(q.Group, false)
	switch {
	case code == codeInvalidGroupID:
		return 0, code, guard
	case q.SessionTimeoutMillis < s.GroupMinSessionTimeoutMs || q.SessionTimeoutMillis > s.GroupMaxSessionTimeoutMs:
		return 0, codeInvalidSessionTimeout, fmt.Sprintf("session timeout %d ms is not within %d and %d",
			q.SessionTimeoutMillis, s.GroupMinSessionTimeoutMs, s.GroupMaxSessionTimeoutMs)
	}
	return number, code, guard
}

// namedAtTheGate is the member id in the answer to a JoinGroup that did not pass. Kafka 4.0 echoes the request's where its
// GroupCoordinatorService refuses, and none where its CoordinatorRuntime finds that the partition is not there.
func namedAtTheGate(q *kmsg.JoinGroupRequest, code int16) string {
	if code == codeLoadInProgress || code == codeNotCoordinator {
		return ""
	}
	return q.MemberID
}

// cannotBeWritten tells whether the member would not fit into a group record. The member id will be longer than the
// client id or instance id that it is made of.
func cannotBeWritten(r *Request, q *kmsg.JoinGroupRequest) bool {
	const idSuffix = 128
	return tooLong(q.Group, r.ClientHost, q.ProtocolType) || len(r.ClientID) > record.MaxStringBytes-idSuffix ||
		q.InstanceID != nil && len(*q.InstanceID) > record.MaxStringBytes-idSuffix ||
		slices.ContainsFunc(q.Protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return tooLong(p.Name) })
}

func (g *group) notSupported(protocolType string, protocols int) string {
	switch {
	case protocolType == "":
		return "the protocol type is empty"
	case protocols == 0:
		return "the protocol list is empty"
	case g.state != event.Empty && protocolType != g.protocolType:
		return fmt.Sprintf("protocol type %q is not the group's %q", protocolType, g.protocolType)
	}
	return "no protocol is supported by all members"
}

// joinUnknown takes a client that has no id. From version 4 on it gets one and must come back with it, so that a
// client that never hears the answer leaves no ghost among the members (KIP-394). A static member is known by its
// instance id, so it needs no second step; its member id is made of the instance id.
func (c *Coordinator) joinUnknown(r *Request, q *kmsg.JoinGroupRequest, g *group, protocols []protocol) {
	c.issued++
	madeOf := r.ClientID
	if q.InstanceID != nil {
		madeOf = *q.InstanceID
	}
	m := &member{id: c.cfg.MemberID(madeOf, c.cfg.Broker, c.issued), clientID: r.ClientID, clientHost: r.ClientHost,
		sessionTimeoutMs: q.SessionTimeoutMillis, instanceID: q.InstanceID}
	if q.InstanceID != nil && g.byInstance[*q.InstanceID] != nil {
		c.joinStatic(r, q, g, g.byInstance[*q.InstanceID], m.id, protocols)
		return
	}
	if q.Version < 4 || q.InstanceID != nil {
		c.joinNew(r, q, g, m, protocols)
		return
	}
	c.addPending(g, m)
	c.emit(g.id, event.MemberIDIssued{Member: m.id, ClientID: m.clientID, ClientHost: m.clientHost,
		DeadlineMs: c.nowMs + int64(m.sessionTimeoutMs)})
	c.armSession(m, operation{kind: event.DelayedHeartbeat, slot: m.slot, pending: true}, int64(m.sessionTimeoutMs), "",
		false)
	c.refuseJoin(r, q, m.id, codeMemberIDRequired, "it must join with the id that it was given")
}

// joinNew adds a member, whose id may be pending, and begins a rebalance unless one is under way.
func (c *Coordinator) joinNew(r *Request, q *kmsg.JoinGroupRequest, g *group, m *member, protocols []protocol) {
	m.clientID, m.clientHost, m.protocols, m.isNew = r.ClientID, r.ClientHost, protocols, true
	m.sessionTimeoutMs, m.rebalanceTimeoutMs = q.SessionTimeoutMillis, rebalanceTimeout(q)
	why := event.WhyNewMember
	if g.state == event.Empty {
		why = event.WhyFirstMember
	}
	if g.state == event.PreparingRebalance && g.fromEmpty {
		g.newMemberAdded = true // Kafka never clears it but for an extension, so a late one may extend the next delay
	}
	c.addMember(g, m, q.ProtocolType)
	c.emit(g.id, event.MemberAdded{Member: m.id, InstanceID: m.instance(), ClientID: m.clientID, ClientHost: m.clientHost, New: true,
		SessionTimeoutMs: m.sessionTimeoutMs, RebalanceTimeoutMs: m.rebalanceTimeoutMs, Protocols: names(protocols),
		Topics: topics(q.ProtocolType, protocols)})
	if g.leader == "" {
		c.electLeader(g, m, event.WhyFirstToJoin)
	}
	c.parkJoin(r, q, g, m, untilJoined)
	c.armSession(m, operation{kind: event.DelayedHeartbeat, slot: m.slot, isNew: true}, newMemberTimeoutMs,
		"it joined with its id", false)
	if g.canRebalance() {
		c.prepareRebalance(g, why, m.id, reasonOf(q.Reason))
	}
}

// joinKnown takes a member's JoinGroup (Kafka: classicGroupJoinExistingMember). Who has what it would get anyway is
// answered at once; a leader that joins again in Stable wants a rebalance, since its topics may have changed.
func (c *Coordinator) joinKnown(r *Request, q *kmsg.JoinGroupRequest, g *group, protocols []protocol) {
	m, code, guard := g.checkIdentity(q.MemberID, q.InstanceID)
	if code != codeNone {
		c.refuseJoin(r, q, q.MemberID, code, guard)
		return
	}
	same := m.sameProtocols(protocols)
	why := event.WhyMetadataChanged
	switch {
	case g.state == event.PreparingRebalance:
	case g.state == event.Stable && g.leader == m.id:
		why = event.WhyLeaderRejoined
	case same:
		c.answerCurrent(r, q, g, m)
		return
	}
	c.updateMember(g, m, protocols, q.SessionTimeoutMillis, rebalanceTimeout(q))
	c.parkJoin(r, q, g, m, untilJoined)
	if g.canRebalance() {
		c.prepareRebalance(g, why, m.id, reasonOf(q.Reason))
	}
}

// updateMember stores what a member says of itself.
func (c *Coordinator) updateMember(g *group, m *member, protocols []protocol, sessionTimeoutMs, rebalanceTimeoutMs int32) {
	changed := !m.sameProtocols(protocols)
	g.countSupporters(m.protocols, -1)
	g.countSupporters(protocols, +1)
	m.protocols, m.sessionTimeoutMs, m.rebalanceTimeoutMs = protocols, sessionTimeoutMs, rebalanceTimeoutMs
	c.emit(g.id, event.MemberUpdated{Member: m.id, SessionTimeoutMs: sessionTimeoutMs,
		RebalanceTimeoutMs: rebalanceTimeoutMs, Protocols: names(protocols), Changed: changed,
		Topics: topics(g.protocolType, protocols)})
}

// rebalanceTimeout is the request's; version 0 has none and means the session timeout.
func rebalanceTimeout(q *kmsg.JoinGroupRequest) int32 {
	if q.Version == 0 {
		return q.SessionTimeoutMillis
	}
	return q.RebalanceTimeoutMillis
}

// maxReasonRunes bounds what is told of a client's reason. KIP-800 lets clients cut it to 255 characters; Kafka does not
// check that they did, but events are kept.
const maxReasonRunes = 255

func reasonOf(reason *string) string {
	if reason == nil {
		return ""
	}
	n := 0
	for at := range *reason {
		if n++; n > maxReasonRunes {
			return (*reason)[:at]
		}
	}
	return *reason
}

const untilJoined = "the join phase ends"

// parkJoin holds the reply back, mostly until the join phase ends. A reply of the same member that is parked already will never
// be sent.
func (c *Coordinator) parkJoin(r *Request, q *kmsg.JoinGroupRequest, g *group, m *member, until string) {
	if m.join.waits {
		c.dropReply(g, m, &m.join, apiJoinGroup, "the member joined again")
	} else {
		g.awaiting++
	}
	m.join = parked{waits: true, ticket: r.Ticket, version: q.Version, sinceMs: c.nowMs, until: until}
	m.join.seq = c.emit(g.id, event.ReplyParked{Ticket: r.Ticket, API: apiJoinGroup, Member: m.id, ClientID: r.ClientID,
		SinceMs: c.nowMs, Until: until})
}

// refuseJoin answers a JoinGroup that was not parked.
func (c *Coordinator) refuseJoin(r *Request, q *kmsg.JoinGroupRequest, memberID string, code int16, guard string) {
	c.send(q.Group, joinError(q.Version, code, memberID), event.ReplySent{Ticket: r.Ticket, API: apiJoinGroup,
		Code: code, Member: memberID, Guard: guard})
}

// answerJoinError answers a parked JoinGroup with an error.
func (c *Coordinator) answerJoinError(g *group, m *member, memberID string, code int16, guard string) {
	p := m.join
	m.join = parked{}
	g.awaiting--
	c.send(g.id, joinError(p.version, code, memberID), event.ReplySent{Ticket: p.ticket, API: apiJoinGroup, Code: code,
		Member: m.id, HeldMs: c.nowMs - p.sinceMs, Guard: guard})
}

// answerJoin answers a parked JoinGroup with the generation that there is.
func (c *Coordinator) answerJoin(g *group, m *member, resp *kmsg.JoinGroupResponse, guard string) {
	p := m.join
	m.join = parked{}
	g.awaiting--
	c.send(g.id, resp, event.ReplySent{Ticket: p.ticket, API: apiJoinGroup, Code: resp.ErrorCode, Member: m.id,
		Generation: g.generation, HeldMs: c.nowMs - p.sinceMs, Guard: guard})
}

// answerCurrent answers a JoinGroup at once with the generation that there is. It touches no timer.
func (c *Coordinator) answerCurrent(r *Request, q *kmsg.JoinGroupRequest, g *group, m *member) {
	c.send(g.id, joinResponse(q.Version, g, m), event.ReplySent{Ticket: r.Ticket, API: apiJoinGroup, Member: m.id,
		Generation: g.generation})
}

// joinResponse is the response of success. Only the leader is told of the members, with their metadata for the elected
// protocol. Where the protocol may be null, an empty name is (Kafka: JoinGroupResponse).
func joinResponse(version int16, g *group, m *member) *kmsg.JoinGroupResponse {
	protocolType, protocol := g.protocolType, g.protocol
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Version, resp.Generation, resp.MemberID, resp.LeaderID = version, g.generation, m.id, g.leader
	resp.ProtocolType = &protocolType
	if protocol != "" || version < 7 {
		resp.Protocol = &protocol
	}
	if m.id != g.leader {
		return resp
	}
	resp.Members = make([]kmsg.JoinGroupResponseMember, len(g.members))
	for i, o := range g.members {
		resp.Members[i] = kmsg.JoinGroupResponseMember{MemberID: o.id, InstanceID: o.instanceID,
			ProtocolMetadata: o.metadata(protocol)}
	}
	return resp
}

// joinError is the response of failure. The protocol became nullable with version 7 (KIP-559).
func joinError(version, code int16, memberID string) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Version, resp.ErrorCode, resp.Generation, resp.MemberID = version, code, -1, memberID
	if version < 7 {
		resp.Protocol = new(string)
	}
	return resp
}
