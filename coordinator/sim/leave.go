package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// leave is maybeLeaveGroup: a member says so, once, and forgets its id at once. Nobody reads the answer. A static member
// says nothing: its place is kept until its session is over (KIP-345).
func (c *consumer) leave(w *World, reason string) {
	if c.cfg.InstanceID == "" && c.coordinator != 0 && c.state != event.Unjoined && c.memberID != "" {
		req := kmsg.NewPtrLeaveGroupRequest()
		req.Version = c.versions().leave
		req.Group, req.MemberID = c.cfg.Group, c.memberID
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID, m.Reason = c.memberID, &reason
		req.Members = []kmsg.LeaveGroupRequestMember{m}
		w.send(c, c.toCoordinator(w), req, c.cfg.RequestTimeoutMs, plain)
	}
	c.resetGeneration(w, reason)
}

// close begins KafkaConsumer.close. A join that is in flight is not waited for: when its answer comes, the client is no
// longer joining.
func (c *consumer) close(w *World) {
	c.phase, c.closing = closing, committing
	c.closeUntilMs = w.nowMs + closeTimeoutMs
	c.busyUntilMs, c.backoffUntilMs, c.prepare, c.syncCall = 0, 0, idle, 0
	c.assigning = nil
	if c.coordinator != 0 && c.autoCommits() && c.state == event.Joined && c.consumed() {
		c.syncCall = c.commitAll(w, closeCommit)
	}
	c.closeStep(w)
}

// closeStep goes on with a close: commit, give the partitions up, leave, wait for what is in flight to the coordinator.
func (c *consumer) closeStep(w *World) {
	over := w.nowMs >= c.closeUntilMs
	if c.closing == committing && (c.syncCall == 0 || over) {
		c.closing = leaving
	}
	if c.closing == leaving {
		c.closing = waiting
		c.heartbeat.enabled = false
		c.revoke(w, c.memberID == "")
		c.leave(w, "the consumer is being closed")
	}
	if c.closing == waiting && (over || c.coordinator == 0 || c.inFlight(w, c.coordinator, true) == 0) {
		w.end(c, false)
	}
}
