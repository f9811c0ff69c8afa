package coordinator

import "github.com/twmb/franz-go/pkg/kmsg"

// Asks returns the requests that a member of a group would send now if it knew all about itself: JoinGroup with its own
// protocols and bytes, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit of one offset, OffsetFetch of everything. They are
// what Probe is asked with. A member that has not joined yet, or "" for one that has no id, offers what the group has
// chosen. known is false where the id is neither a member nor pending. The bytes are shared: they must not be changed.
func (c *Coordinator) Asks(groupID, memberID string) (requests []kmsg.Request, clientID, clientHost string, known bool) {
	m := &member{id: memberID, sessionTimeoutMs: 45000, rebalanceTimeoutMs: 300000}
	known = memberID == ""
	g := c.groups[groupID]
	if g == nil {
		g = newGroup(groupID, 0, c.nowMs)
	} else if found := g.byID[memberID]; found != nil {
		m, known = found, true
	}
	for _, p := range g.pending {
		if p.id == memberID {
			m, known = p, true
		}
	}
	return m.asks(g), m.clientID, m.clientHost, known
}

func (m *member) asks(g *group) []kmsg.Request {
	protocolType, chosen := g.protocolType, g.protocol
	if protocolType == "" {
		protocolType = consumerProtocol
	}
	protocols := m.protocols
	if len(protocols) == 0 {
		if chosen == "" {
			chosen = "range"
		}
		protocols = []protocol{{name: chosen}}
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.MemberID, join.InstanceID, join.ProtocolType = 9, g.id, m.id, m.instanceID, protocolType
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = m.sessionTimeoutMs, m.rebalanceTimeoutMs
	for _, p := range protocols {
		offered := kmsg.NewJoinGroupRequestProtocol()
		offered.Name, offered.Metadata = p.name, p.metadata
		join.Protocols = append(join.Protocols, offered)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group, sync.MemberID, sync.InstanceID, sync.Generation = 5, g.id, m.id, m.instanceID, g.generation
	sync.ProtocolType, sync.Protocol = &protocolType, &chosen
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.InstanceID, beat.Generation = 4, g.id, m.id, m.instanceID, g.generation
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Version, leave.Group = 5, g.id
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID, leaving.InstanceID = m.id, m.instanceID
	leave.Members = append(leave.Members, leaving)
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version = 9
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = g.id
	fetch.Groups = append(fetch.Groups, asked)
	return []kmsg.Request{join, sync, beat, leave, m.commit(g), fetch}
}

// commit is the commit of one offset of a topic that the group reads, if any is known.
func (m *member) commit(g *group) kmsg.Request {
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Version, commit.Group, commit.MemberID, commit.InstanceID, commit.Generation = 9, g.id, m.id, m.instanceID, g.generation
	if len(g.subscribed) > 0 {
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = g.subscribed[0]
		topic.Partitions = append(topic.Partitions, kmsg.NewOffsetCommitRequestTopicPartition())
		commit.Topics = append(commit.Topics, topic)
	}
	return commit
}
