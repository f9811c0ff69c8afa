package sim

import (
	"cmp"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// failure is the exception that a RequestFuture of the Java client is raised with.
type failure struct {
	// name is the exception's class.
	name string
	code int16
	// again is set for the four that joinGroupIfNeeded answers with an immediate next round.
	again bool
	// retriable failures are tried again after retry.backoff.ms; all others are thrown to the application.
	retriable bool
}

// rejoinNeededOrPending tells whether the group must be joined (again).
func (c *consumer) rejoinNeededOrPending(w *World) bool {
	if was, is, changed := c.metadataChanged(); changed && !c.rejoinNeeded {
		c.requestRejoin(w, fmt.Sprintf("cached metadata has changed from (%s) at the beginning of the rebalance to (%s)", was, is))
	}
	return c.rejoinNeeded
}

// joinPrepare is onJoinPrepare: commit what was consumed, then give the partitions up; cooperatively, only those that
// it has lost with its membership. It reports whether it is over.
func (c *consumer) joinPrepare(w *World) bool {
	if c.prepare == idle {
		c.prepare, c.prepareUntilMs = committing, w.nowMs+int64(c.cfg.RebalanceTimeoutMs)
		w.cause = cmp.Or(w.cause, c.rejoinCause)
	}
	if c.prepare == committing && w.nowMs < c.prepareUntilMs {
		if c.syncCall != 0 {
			return false
		}
		// generationIfStable: one that is no member any more cannot commit.
		if c.autoCommits() && c.state == event.Joined && c.consumed() {
			c.syncCall = c.commitAll(w, prepareCommit)
			return false
		}
	}
	c.prepare, c.syncCall = idle, 0
	if lost := c.generation == noGeneration && c.memberID == ""; lost || !c.cooperative() {
		c.revoke(w, lost)
	}
	c.isLeader, c.groupTopics = false, nil
	c.needsJoinPrepare = false
	return true
}

// initiateJoin disables heartbeats and sends JoinGroup (initiateJoinGroup, sendJoinGroupRequest).
func (c *consumer) initiateJoin(w *World) {
	w.cause = cmp.Or(w.cause, c.rejoinCause)
	c.heartbeat.enabled = false
	c.setState(w, event.Rebalancing, "(Re-)joining group")
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = c.cfg.JoinVersion
	req.Group = c.cfg.Group
	req.SessionTimeoutMillis = c.cfg.SessionTimeoutMs
	req.RebalanceTimeoutMillis = c.cfg.RebalanceTimeoutMs
	req.MemberID, req.InstanceID = c.memberID, c.instance()
	req.ProtocolType = "consumer"
	req.Protocols = c.protocols()
	if reason := c.rejoinReason; reason != "" && req.Version >= 8 {
		reason = reason[:min(len(reason), 255)] // JoinGroupRequest.maybeTruncateReason
		req.Reason = &reason
	}
	// The answer may take as long as the rebalance: 5 s more than that.
	c.joinCall = w.send(c, c.toCoordinator(w), req, int64(c.cfg.RebalanceTimeoutMs)+5000, plain)
}

// onJoin is JoinGroupResponseHandler.
func (c *consumer) onJoin(w *World, k *call, r *kmsg.JoinGroupResponse) {
	switch r.ErrorCode {
	case 0:
		c.onJoined(w, k, r)
	case kerr.CoordinatorLoadInProgress.Code:
		c.joinFailed(w, failure{name: "CoordinatorLoadInProgressException", code: r.ErrorCode, retriable: true})
	case kerr.UnknownMemberID.Code:
		c.resetGeneration(w, "encountered UNKNOWN_MEMBER_ID from JOIN_GROUP response")
		c.joinFailed(w, failure{name: "UnknownMemberIdException", code: r.ErrorCode, again: true})
	case kerr.CoordinatorNotAvailable.Code, kerr.NotCoordinator.Code:
		// The future is raised after the coordinator was forgotten; what is in flight there fails with it.
		c.joinCall = 0
		c.coordinatorUnknown(w, "JoinGroup: "+event.CodeName(r.ErrorCode))
		c.joinFailed(w, failure{name: exceptionOf(r.ErrorCode), code: r.ErrorCode, retriable: true})
	case kerr.MemberIDRequired.Code:
		// KIP-394: join again at once, with the id that it was given.
		c.generation, c.memberID, c.protocol = noGeneration, r.MemberID, ""
		c.requestRejoin(w, "need to re-join with the given member-id: "+r.MemberID)
		c.joinFailed(w, failure{name: "MemberIdRequiredException", code: r.ErrorCode, again: true})
	case kerr.FencedInstanceID.Code, kerr.InconsistentGroupProtocol.Code, kerr.InvalidSessionTimeout.Code,
		kerr.InvalidGroupID.Code, kerr.GroupAuthorizationFailed.Code, kerr.GroupMaxSizeReached.Code, kerr.UnsupportedVersion.Code:
		c.joinFailed(w, failure{name: exceptionOf(r.ErrorCode), code: r.ErrorCode})
	default:
		c.joinFailed(w, failure{name: "KafkaException: unexpected error in join group response: " + event.CodeName(r.ErrorCode), code: r.ErrorCode})
	}
}

// onJoined goes on to SyncGroup, if the client still means to join: it may have been woken up in mid-join and have left
// the group, or a late heartbeat answer may have told it that it is no member.
func (c *consumer) onJoined(w *World, k *call, r *kmsg.JoinGroupResponse) {
	if c.state != event.Rebalancing {
		w.cause = w.emit(0, c.cfg.Group, event.RequestFailed{
			Client: c.cfg.Name, Request: k.id, API: joinGroupKey, Reason: "UnjoinedGroupException: the client is no longer joining",
		})
		c.joinFailed(w, failure{name: "UnjoinedGroupException", retriable: true})
		return
	}
	c.generation, c.memberID = r.Generation, r.MemberID
	c.protocol = ""
	if r.Protocol != nil {
		c.protocol = *r.Protocol
	}
	c.joinCall = 0
	if r.LeaderID == r.MemberID {
		c.onJoinLeader(w, r)
		return
	}
	c.sendSync(w, nil)
}

// joinFailed ends joinFuture with an exception, as joinGroupIfNeeded and initiateJoinGroup's listener do.
func (c *consumer) joinFailed(w *World, f failure) {
	c.joinCall = 0
	c.assigning = nil
	c.setState(w, event.Unjoined, f.name)
	if c.phase != running {
		return // it is leaving: nobody waits for the join
	}
	if f.name != "MemberIdRequiredException" {
		c.requestRejoin(w, "rebalance failed due to "+f.name)
	}
	switch {
	case f.again:
	case f.retriable:
		c.sleep(w, "retry back-off after "+f.name)
	default:
		c.fail(w, f.code, f.name)
	}
}

// exceptionOf names the exception class of an error code, for those that handlers raise as they are.
func exceptionOf(code int16) string {
	switch code {
	case kerr.CoordinatorNotAvailable.Code:
		return "CoordinatorNotAvailableException"
	case kerr.NotCoordinator.Code:
		return "NotCoordinatorException"
	case kerr.FencedInstanceID.Code:
		return "FencedInstanceIdException"
	case kerr.InconsistentGroupProtocol.Code:
		return "InconsistentGroupProtocolException"
	case kerr.InvalidSessionTimeout.Code:
		return "InvalidSessionTimeoutException"
	case kerr.InvalidGroupID.Code:
		return "InvalidGroupIdException"
	case kerr.GroupAuthorizationFailed.Code:
		return "GroupAuthorizationException"
	case kerr.GroupMaxSizeReached.Code:
		return "GroupMaxSizeReachedException"
	case kerr.UnsupportedVersion.Code:
		return "UnsupportedVersionException"
	case kerr.RebalanceInProgress.Code:
		return "RebalanceInProgressException"
	case kerr.UnknownMemberID.Code:
		return "UnknownMemberIdException"
	case kerr.IllegalGeneration.Code:
		return "IllegalGenerationException"
	}
	return event.CodeName(code)
}
