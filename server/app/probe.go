package app

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator"
	"grouplab/coordinator/cluster"
	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
	"grouplab/server/web"
)

// asking is what a client that knows everything about itself would put into its requests.
type asking struct {
	clientID, host, instance string
	generation               int32
	protocol, protocolType   string
	sessionMs, rebalanceMs   int32
	protocols, topics        []string
}

// probe asks the coordinator of a group what a member's requests would get now. member "" is one that has no id yet.
func probe(nowMs int64, d *drive.Drive, group, member string) ([]web.Probed, error) {
	partitions := d.Cluster().Config().OffsetsPartitions
	leader, _, ok := d.Cluster().Leader(cluster.OffsetsTopic, record.Partition(group, partitions))
	if !ok || leader < 0 || d.Machine(leader) == nil {
		return nil, fmt.Errorf("group %q has no coordinator just now", group)
	}
	a, found := learn(d.Machine(leader).Facts(nowMs), group, member)
	if !found {
		return nil, fmt.Errorf("member %q of group %q: %w", member, group, web.ErrUnknown)
	}
	var answers []web.Probed
	for _, request := range a.requests(group, member) {
		p := d.Probe(nowMs, leader, coordinator.Request{ClientID: a.clientID, ClientHost: a.host, Principal: "User:ANONYMOUS", Kmsg: request})
		answers = append(answers, web.Probed{API: request.Key(), Parked: p.Parked, Until: p.Until, Code: p.Code, Guard: p.Guard})
	}
	return answers, nil
}

// learn reads about a group and one of its members in the coordinator's facts.
func learn(facts []event.Event, group, member string) (a asking, found bool) {
	a = asking{clientID: "probe", host: "/127.0.0.1", generation: -1, protocol: "range", protocolType: "consumer", sessionMs: 45000, rebalanceMs: 300000, protocols: []string{"range"}}
	found = member == ""
	for _, e := range facts {
		if e.Group != group {
			continue
		}
		switch b := e.Body.(type) {
		case event.GroupLoaded:
			if b.ProtocolType != "" {
				a.protocolType = b.ProtocolType
			}
			a.generation = b.Generation
			if b.Protocol != "" {
				a.protocol = b.Protocol
			}
		case event.MemberAdded:
			if b.Member != member {
				continue
			}
			found = true
			a.clientID, a.host, a.instance = b.ClientID, b.ClientHost, b.InstanceID
			a.sessionMs, a.rebalanceMs, a.protocols, a.topics = b.SessionTimeoutMs, b.RebalanceTimeoutMs, b.Protocols, b.Topics
		case event.MemberIDIssued:
			if b.Member == member {
				found = true
				a.clientID, a.host = b.ClientID, b.ClientHost
			}
		}
	}
	return a, found
}

// requests are what the member could send, at versions that today's clients speak.
func (a asking) requests(group, member string) []kmsg.Request {
	var instance *string
	if a.instance != "" {
		instance = &a.instance
	}
	join := kmsg.NewPtrJoinGroupRequest()
	join.Version, join.Group, join.MemberID, join.InstanceID, join.ProtocolType = 9, group, member, instance, a.protocolType
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = a.sessionMs, a.rebalanceMs
	for _, name := range a.protocols {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = name, record.Subscription(record.Sub{Topics: a.topics})
		join.Protocols = append(join.Protocols, p)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group, sync.MemberID, sync.InstanceID, sync.Generation = 5, group, member, instance, a.generation
	sync.ProtocolType, sync.Protocol = &a.protocolType, &a.protocol
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Version, beat.Group, beat.MemberID, beat.InstanceID, beat.Generation = 4, group, member, instance, a.generation
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Version, leave.Group = 5, group
	leaving := kmsg.NewLeaveGroupRequestMember()
	leaving.MemberID, leaving.InstanceID = member, instance
	leave.Members = append(leave.Members, leaving)
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Version, commit.Group, commit.MemberID, commit.InstanceID, commit.Generation = 9, group, member, instance, a.generation
	if len(a.topics) > 0 {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic = a.topics[0]
		t.Partitions = append(t.Partitions, kmsg.NewOffsetCommitRequestTopicPartition())
		commit.Topics = append(commit.Topics, t)
	}
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Version = 9
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group
	fetch.Groups = append(fetch.Groups, asked)
	return []kmsg.Request{join, sync, beat, leave, commit, fetch}
}
