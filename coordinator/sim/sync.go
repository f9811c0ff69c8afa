package sim

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/assign"
	"grouplab/coordinator/event"
	"grouplab/coordinator/record"
)

// assigning is a leader's join result while it waits for metadata of topics that it had not heard of.
type assigning struct {
	members []kmsg.JoinGroupResponseMember
}

// onJoinLeader performs the assignment and sends it. A topic that only others subscribe to must first be in its
// metadata (ConsumerCoordinator.performAssignment: ensureFreshMetadata).
func (c *consumer) onJoinLeader(w *World, r *kmsg.JoinGroupResponse) {
	c.isLeader = true
	c.groupTopics = nil
	for _, m := range r.Members {
		if sub, ok := record.DecodeSubscription(m.ProtocolMetadata); ok {
			c.groupTopics = append(c.groupTopics, sub.Topics...)
		}
	}
	slices.Sort(c.groupTopics)
	c.groupTopics = slices.Compact(c.groupTopics)
	if r.SkipAssignment {
		// KIP-814: a static leader came back, and the group goes on with what it has.
		c.snapshot = c.counts(c.groupTopics)
		c.sendSync(w, nil)
		return
	}
	c.assigning = &assigning{members: r.Members}
	for _, t := range c.groupTopics {
		if !slices.Contains(c.meta.asked, t) {
			c.meta.needed = true
			return
		}
	}
	c.assign(w)
}

// assign is the leader's work: the group's assignor over the topics that it knows, by the metadata that it has.
func (c *consumer) assign(w *World) {
	members := make([]assign.Member, 0, len(c.assigning.members))
	for _, m := range c.assigning.members {
		a := assign.Member{ID: m.MemberID, Generation: noGeneration}
		if m.InstanceID != nil {
			a.InstanceID = *m.InstanceID
		}
		if sub, ok := record.DecodeSubscription(m.ProtocolMetadata); ok {
			describe(&a, c.protocol, sub)
		}
		members = append(members, a)
	}
	c.assigning = nil
	counts := map[string]int32{}
	for _, t := range c.meta.topics {
		counts[t.name] = t.partitions
	}
	c.snapshot = c.counts(c.groupTopics)
	given := assignorNamed(c.protocol)(members, counts)
	list := make([]kmsg.SyncGroupRequestGroupAssignment, 0, len(members))
	for _, m := range members {
		topics := make([]record.TopicPartitions, len(given[m.ID]))
		for i, t := range given[m.ID] {
			topics[i] = record.TopicPartitions(t)
		}
		list = append(list, kmsg.SyncGroupRequestGroupAssignment{MemberID: m.ID, MemberAssignment: record.EncodeAssignment(topics)})
	}
	c.sendSync(w, list)
}

// sendSync sends SyncGroup: the leader's with all assignments, a follower's empty.
func (c *consumer) sendSync(w *World, list []kmsg.SyncGroupRequestGroupAssignment) {
	if c.coordinator == 0 {
		c.joinFailed(w, failure{name: "CoordinatorNotAvailableException", retriable: true})
		return
	}
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = c.versions().sync
	req.Group = c.cfg.Group
	req.Generation = c.generation
	req.MemberID, req.InstanceID = c.memberID, c.instance()
	kind, protocol := "consumer", c.protocol
	if req.Version >= 5 {
		req.ProtocolType, req.Protocol = &kind, &protocol
	}
	req.GroupAssignment = list
	// KAFKA-10134 and later: SyncGroup may take as long as JoinGroup. In the client that is followed here it has the
	// ordinary request.timeout.ms.
	c.joinCall = w.send(c, c.toCoordinator(w), req, c.cfg.RequestTimeoutMs, plain)
}

// onSync is SyncGroupResponseHandler, and on success initiateJoinGroup's listener and onJoinComplete.
func (c *consumer) onSync(w *World, r *kmsg.SyncGroupResponse) {
	if r.ErrorCode == 0 {
		c.joinComplete(w, r.MemberAssignment)
		return
	}
	c.requestRejoin(w, "rebalance failed due to "+exceptionOf(r.ErrorCode))
	switch r.ErrorCode {
	case kerr.GroupAuthorizationFailed.Code, kerr.FencedInstanceID.Code:
		c.joinFailed(w, failure{name: exceptionOf(r.ErrorCode), code: r.ErrorCode})
	case kerr.RebalanceInProgress.Code:
		c.joinFailed(w, failure{name: exceptionOf(r.ErrorCode), code: r.ErrorCode, again: true})
	case kerr.UnknownMemberID.Code, kerr.IllegalGeneration.Code:
		c.resetGeneration(w, "encountered "+event.CodeName(r.ErrorCode)+" from SYNC_GROUP response")
		c.joinFailed(w, failure{name: exceptionOf(r.ErrorCode), code: r.ErrorCode, again: true})
	case kerr.CoordinatorNotAvailable.Code, kerr.NotCoordinator.Code:
		c.joinCall = 0
		c.coordinatorUnknown(w, "SyncGroup: "+event.CodeName(r.ErrorCode))
		c.joinFailed(w, failure{name: exceptionOf(r.ErrorCode), code: r.ErrorCode, retriable: true})
	default:
		c.joinFailed(w, failure{name: "KafkaException: unexpected error from SyncGroup: " + event.CodeName(r.ErrorCode), code: r.ErrorCode})
	}
}

// joinComplete takes the assignment over.
func (c *consumer) joinComplete(w *World, assignment []byte) {
	c.joinCall = 0
	if c.phase != running {
		return // it has left meanwhile
	}
	topics, ok := record.DecodeAssignment(assignment)
	if !ok && len(assignment) > 0 || assignorNamed(c.protocol) == nil {
		c.joinFailed(w, failure{name: "KafkaException: the assignment cannot be read"})
		return
	}
	c.rejoinNeeded, c.rejoinReason, c.rejoinCause = false, "", 0
	c.needsJoinPrepare = true
	c.setState(w, event.Joined, "Successfully joined group")
	c.enableHeartbeats(w)
	if !c.isLeader {
		c.snapshot = nil
	}
	c.remember(topics)
	c.take(w, topics)
	c.nextAutoCommitMs = w.nowMs + int64(c.cfg.AutoCommitMs)
}
