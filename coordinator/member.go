package coordinator

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// member is a member of a group, or an id that was issued and has not joined yet (Kafka: ClassicGroupMember).
type member struct {
	slot  int32 // where the machine keeps it; its key in the purgatory
	group int32 // the group's slot
	id    string
	// groupID names the group in events, also when the group has gone.
	groupID string
	keys    []string // see keyNames; never changed in place
	// instanceID is group.instance.id, nil for a dynamic member (KIP-345).
	instanceID           *string
	clientID, clientHost string
	rebalanceTimeoutMs   int32
	sessionTimeoutMs     int32
	protocols            []protocol // in the client's order of preference
	assignment           []byte

	join, sync parked // the replies that are held back
	// pending: the id has not joined yet. gone: it is no longer in the group, and only its timer is left.
	pending, gone bool
	// isNew: its first JoinGroup is parked, so the five-minute rule applies instead of its session timeout.
	isNew bool
	// satisfied is set for the moment in which its session timer is reset.
	satisfied bool
	// pendingSync: it has not sent SyncGroup in this generation.
	pendingSync bool

	session session
	beats   beats
}

// protocol is one entry of a member's list: an assignor's name and what the client tells it.
type protocol struct {
	name     string
	metadata []byte
}

// parked is a reply that is held back.
type parked struct {
	waits   bool
	ticket  Ticket
	version int16
	sinceMs int64
	until   string // which condition answers it
	seq     int64  // of its ReplyParked
}

func protocolsOf(list []kmsg.JoinGroupRequestProtocol) []protocol {
	protocols := make([]protocol, len(list))
	for i, p := range list {
		protocols[i] = protocol{p.Name, p.Metadata}
	}
	return protocols
}

func (m *member) protocolIndex(name string) int {
	return slices.IndexFunc(m.protocols, func(p protocol) bool { return p.name == name })
}

// metadata is what the member told the named protocol, nil where it does not know it.
func (m *member) metadata(name string) []byte {
	if i := m.protocolIndex(name); i >= 0 {
		return m.protocols[i].metadata
	}
	return nil
}

// sameProtocols is Kafka's "metadata unchanged": the same names in the same order, with equal bytes. Timeouts do not
// count.
func (m *member) sameProtocols(protocols []protocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b protocol) bool {
		return a.name == b.name && bytes.Equal(a.metadata, b.metadata)
	})
}

func names(protocols []protocol) []string {
	list := make([]string, len(protocols))
	for i, p := range protocols {
		list[i] = p.name
	}
	return list
}

// topics are what the first of the protocols subscribes to, where the metadata is a consumer's.
func topics(protocolType string, protocols []protocol) []string {
	if protocolType != consumerProtocol || len(protocols) == 0 {
		return nil
	}
	list, _ := record.Topics(protocols[0].metadata)
	return list
}

func (g *group) findPending(id string) *member { return g.pendingByID[id] }

// addPending notes an id that was issued (Kafka: addPendingMember).
func (c *Coordinator) addPending(g *group, m *member) {
	if g.byID[m.id] != nil {
		panic(fmt.Sprintf("group %q: id %q was issued as pending but is a member already", g.id, m.id))
	}
	c.takeSlot(g, m)
	m.pending = true
	g.pending = append(g.pending, m)
	if g.pendingByID == nil {
		g.pendingByID = map[string]*member{}
	}
	g.pendingByID[m.id] = m
}

// addMember puts a member into the group, or makes a member of a pending id.
func (c *Coordinator) addMember(g *group, m *member, protocolType string) {
	if g.byID[m.id] != nil {
		panic(fmt.Sprintf("group %q: %q is a member already", g.id, m.id))
	}
	if len(g.members) == 0 {
		g.protocolType = protocolType
	}
	if m.pending {
		g.dropPending(m)
		m.pending = false
		c.emit(g.id, event.PendingForgotten{Member: m.id, Why: event.WhyPendingJoined})
	} else {
		c.takeSlot(g, m)
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	g.countSupporters(m.protocols, +1)
	g.nameInstance(m)
}

func (c *Coordinator) takeSlot(g *group, m *member) {
	m.group, m.groupID = g.slot, g.id
	if n := len(c.freeMembers); n > 0 {
		m.slot, c.freeMembers = c.freeMembers[n-1], c.freeMembers[:n-1]
		c.memberSlots[m.slot] = m
		return
	}
	m.slot = int32(len(c.memberSlots))
	c.memberSlots = append(c.memberSlots, m)
}

func (g *group) dropPending(m *member) {
	if i := slices.Index(g.pending, m); i >= 0 {
		g.pending = slices.Delete(g.pending, i, i+1)
	}
	delete(g.pendingByID, m.id)
	if len(g.pending) == 0 {
		g.pending, g.pendingByID = nil, nil
	}
}

// forgetPending drops an id that will not join. Its timer is left to run out without effect, as in Kafka.
func (c *Coordinator) forgetPending(g *group, m *member, why event.Why) {
	g.dropPending(m)
	m.gone = true
	c.emit(g.id, event.PendingForgotten{Member: m.id, Why: why})
	if m.session.op.Number == 0 {
		c.releaseMember(m)
		return
	}
	g.departed = append(g.departed, m)
}

func (c *Coordinator) releaseMember(m *member) {
	c.memberSlots[m.slot] = nil
	c.freeMembers = append(c.freeMembers, m.slot)
}

// removeMember takes a member out of its group: a parked JoinGroup is answered UNKNOWN_MEMBER_ID, so that a client that
// still waits starts anew; a parked SyncGroup is never answered; its timer ends. The caller sees to the leader and to
// what the group does next.
func (c *Coordinator) removeMember(g *group, m *member, why event.Why, clientReason string) {
	if m.join.waits {
		c.answerJoinError(g, m, "", codeUnknownMemberID, "the member was removed: "+string(why))
	}
	if m.sync.waits {
		c.dropReply(g, m, &m.sync, apiSyncGroup, string(why))
	}
	g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
	delete(g.byID, m.id)
	g.countSupporters(m.protocols, -1)
	if m.instanceID != nil {
		delete(g.byInstance, *m.instanceID)
	}
	g.syncReceived(m)
	m.gone = true
	c.emit(g.id, event.MemberRemoved{Member: m.id, Why: why, ClientReason: clientReason})
	if m.session.op.Number == 0 {
		c.releaseMember(m)
		return
	}
	c.knock(m, "the member is gone")
}

// replaceLeader makes the member that has been there for longest the leader, if the old one is gone. (Kafka takes any:
// the first of a hash map.)
func (c *Coordinator) replaceLeader(g *group, why event.Why) {
	if g.byID[g.leader] != nil {
		return
	}
	g.leader = ""
	if len(g.members) > 0 {
		c.electLeader(g, g.members[0], why)
	}
}

// dropReply forgets a parked reply without an answer.
func (c *Coordinator) dropReply(g *group, m *member, p *parked, api int16, reason string) {
	c.emit(g.id, event.ReplyDropped{Ticket: p.ticket, API: api, Member: m.id, Reason: reason})
	*p = parked{}
}

func (g *group) syncReceived(m *member) {
	if m.pendingSync {
		m.pendingSync = false
		g.pendingSync--
	}
}
