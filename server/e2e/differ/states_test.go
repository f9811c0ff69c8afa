//go:build interop

package differ

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A situation is a group brought into one state, by the same requests on both sides.
type situation struct {
	leader, follower, newcomer, pending string // member ids, "" where there is none
	generation                          int32
	static                              bool // leader and follower have the instance ids "one" and "two"
}

// instance is the group.instance.id of a member by its role.
func (s situation) instance(role string) *string {
	if !s.static {
		return nil
	}
	return map[string]*string{"leader": kmsg.StringPtr("one"), "follower": kmsg.StringPtr("two")}[role]
}

const sessionMs = 300_000 // nobody is to expire while questions are put

var (
	rangeOnly = []string{"range"}
	both      = []string{"range", "roundrobin"}
)

// subscription is a consumer's v0 subscription to the topic.
func subscription(topic string) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{topic}
	return m.AppendTo(nil)
}

func assignment(topic string, partitions ...int32) []byte {
	m := kmsg.NewConsumerMemberAssignment()
	t := kmsg.NewConsumerMemberAssignmentTopic()
	t.Topic, t.Partitions = topic, partitions
	m.Topics = append(m.Topics, t)
	return m.AppendTo(nil)
}

func join(v int16, group, member string, instance *string, protocols ...string) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version, r.Group, r.MemberID, r.InstanceID = v, group, member, instance
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.ProtocolType = sessionMs, 60_000, "consumer"
	for _, name := range protocols {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = name, subscription("orders")
		r.Protocols = append(r.Protocols, p)
	}
	return r
}

func syncGroup(v int16, group, member string, instance *string, generation int32, assign map[string][]byte, order ...string) *kmsg.SyncGroupRequest {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Version, r.Group, r.MemberID, r.InstanceID, r.Generation = v, group, member, instance, generation
	if v >= 5 {
		r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	}
	for _, id := range order {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, assign[id]
		r.GroupAssignment = append(r.GroupAssignment, a)
	}
	return r
}

func findCoordinator(group string) *kmsg.FindCoordinatorRequest {
	r := kmsg.NewPtrFindCoordinatorRequest()
	r.Version, r.CoordinatorKey = 3, group
	return r
}

// joined has two members whose join phase is over, and nobody has synced: CompletingRebalance, generation 2.
func (s *side) joined(static bool) situation {
	at := situation{static: static}
	first := join(5, s.group, "", at.instance("leader"), both...)
	second := join(5, s.group, "", at.instance("follower"), both...)
	if !static { // the member id handshake begins with version 4
		first.Version, second.Version = 3, 3
	}
	a := s.ask("leader", first).(*kmsg.JoinGroupResponse)
	if a.ErrorCode != 0 {
		s.stop("the first join: error %d", a.ErrorCode)
	}
	at.leader = a.MemberID
	s.send("follower", second)
	s.awaitState("PreparingRebalance")
	a = s.ask("leader", join(first.Version, s.group, at.leader, at.instance("leader"), both...)).(*kmsg.JoinGroupResponse)
	b := s.receive("follower", second).(*kmsg.JoinGroupResponse)
	if a.ErrorCode != 0 || b.ErrorCode != 0 || a.Generation != b.Generation {
		s.stop("the second join phase: errors %d and %d, generations %d and %d", a.ErrorCode, b.ErrorCode, a.Generation, b.Generation)
	}
	at.follower, at.generation = b.MemberID, b.Generation
	return at
}

// stable goes on until both have their assignments.
func (s *side) stable(static bool) situation {
	at := s.joined(static)
	assign := map[string][]byte{at.leader: assignment("orders", 0, 1), at.follower: assignment("orders", 2, 3)}
	for _, role := range []string{"leader", "follower"} {
		id := map[string]string{"leader": at.leader, "follower": at.follower}[role]
		r := syncGroup(3, s.group, id, at.instance(role), at.generation, assign, at.leader, at.follower)
		if role == "follower" {
			r.GroupAssignment = nil
		}
		if a := s.ask(role, r).(*kmsg.SyncGroupResponse); a.ErrorCode != 0 {
			s.stop("the %s's sync: error %d", role, a.ErrorCode)
		}
	}
	return at
}

// preparing has a newcomer whose join is held because two members have not come back.
func (s *side) preparing(static bool) situation {
	at := s.stable(static)
	s.send("newcomer", join(3, s.group, "", nil, both...))
	s.awaitState("PreparingRebalance")
	return at
}

// empty had two members, who left.
func (s *side) empty() situation {
	at := s.stable(false)
	for _, id := range []string{at.leader, at.follower} {
		r := kmsg.NewPtrLeaveGroupRequest()
		r.Version, r.Group, r.MemberID = 2, s.group, id
		if a := s.ask("admin", r).(*kmsg.LeaveGroupResponse); a.ErrorCode != 0 {
			s.stop("leaving: error %d", a.ErrorCode)
		}
	}
	s.awaitState("Empty")
	return situation{generation: at.generation + 1, leader: at.leader, follower: at.follower}
}

// simple has committed without being a group.
func (s *side) simple() situation {
	r := commit(6, s.group, "", nil, -1, "orders", 0)
	if a := s.ask("admin", r).(*kmsg.OffsetCommitResponse); a.Topics[0].Partitions[0].ErrorCode != 0 {
		s.stop("the simple commit: error %d", a.Topics[0].Partitions[0].ErrorCode)
	}
	return situation{}
}

// again is at the end of a join phase that followed a Stable generation: what was assigned then is still known.
func (s *side) again() situation {
	at := s.preparing(false)
	newcomer := join(3, s.group, "", nil, both...)
	leads := join(3, s.group, at.leader, nil, both...)
	follows := join(3, s.group, at.follower, nil, both...)
	s.send("leader", leads)
	s.send("follower", follows)
	at.generation = s.receive("leader", leads).(*kmsg.JoinGroupResponse).Generation
	s.receive("follower", follows)
	at.newcomer = s.receive("newcomer", newcomer).(*kmsg.JoinGroupResponse).MemberID
	return at
}

// withPending adds a client that has asked for a member id and not come back.
func (s *side) withPending(at situation) situation {
	a := s.ask("pending", join(4, s.group, "", nil, both...)).(*kmsg.JoinGroupResponse)
	if a.ErrorCode != 79 {
		s.stop("the first step of the handshake: error %d", a.ErrorCode)
	}
	at.pending = a.MemberID
	return at
}

func describe(v int16, groups ...string) *kmsg.DescribeGroupsRequest {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Version, r.Groups = v, groups
	return r
}

// awaitState waits until the group is in a state; a held join shows nothing else.
func (s *side) awaitState(want string) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		a := s.ask("admin", describe(4, s.group)).(*kmsg.DescribeGroupsResponse)
		if a.Groups[0].State == want {
			return
		}
		if time.Now().After(deadline) {
			s.stop("the group is %s and does not become %s", a.Groups[0].State, want)
		}
	}
}

func commit(v int16, group, member string, instance *string, generation int32, topic string, partitions ...int32) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Version, r.Group, r.MemberID, r.InstanceID, r.Generation = v, group, member, instance, generation
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	for _, p := range partitions {
		c := kmsg.NewOffsetCommitRequestTopicPartition()
		c.Partition, c.Offset, c.Metadata = p, int64(100+p), kmsg.StringPtr("note")
		t.Partitions = append(t.Partitions, c)
	}
	r.Topics = append(r.Topics, t)
	return r
}

// situations are the states that behaviour.md tabulates, and how each is reached.
var situations = []struct {
	name  string
	reach func(*side) situation
}{
	{"no group", func(*side) situation { return situation{} }},
	{"Empty", (*side).empty},
	{"Empty, only offsets", (*side).simple},
	{"Empty, an id pending", func(s *side) situation { return s.withPending(s.empty()) }},
	{"PreparingRebalance", func(s *side) situation { return s.preparing(false) }},
	{"PreparingRebalance, an id pending", func(s *side) situation { return s.withPending(s.preparing(false)) }},
	{"CompletingRebalance", func(s *side) situation { return s.joined(false) }},
	{"CompletingRebalance after Stable", (*side).again},
	{"CompletingRebalance, an id pending", func(s *side) situation { return s.withPending(s.joined(false)) }},
	{"Stable", func(s *side) situation { return s.stable(false) }},
	{"Stable, an id pending", func(s *side) situation { return s.withPending(s.stable(false)) }},
	{"PreparingRebalance, static", func(s *side) situation { return s.preparing(true) }},
	{"CompletingRebalance, static", func(s *side) situation { return s.joined(true) }},
	{"Stable, static", func(s *side) situation { return s.stable(true) }},
}
