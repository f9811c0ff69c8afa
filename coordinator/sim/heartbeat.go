package sim

import (
	"cmp"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// heartbeat is the heartbeat thread's state (Kafka: Heartbeat and HeartbeatThread).
type heartbeat struct {
	// enabled is false while the consumer joins.
	enabled bool
	// nextMs is when the next one is sent. sessionMs is when the session is over as the client sees it.
	nextMs, sessionMs int64
	// lookupMs is when the thread may ask for the coordinator by itself.
	lookupMs int64
}

// enableHeartbeats is HeartbeatThread.enable: all of its timers begin anew.
func (c *consumer) enableHeartbeats(w *World) {
	c.heartbeat.enabled = true
	c.heartbeat.nextMs = w.nowMs + int64(c.cfg.HeartbeatMs)
	c.heartbeat.sessionMs = w.nowMs + int64(c.cfg.SessionTimeoutMs)
}

// heartbeatThread is one turn of HeartbeatThread.run.
func (c *consumer) heartbeatThread(w *World) {
	h := &c.heartbeat
	if !h.enabled {
		return
	}
	if c.state != event.Joined {
		h.enabled = false // it was kicked out, or it left: the application's thread joins again
		return
	}
	switch {
	case c.coordinator == 0:
		// Normally the application's thread asks; this one does while the application is busy.
		if w.nowMs < c.busyUntilMs && c.findCall == 0 && w.nowMs >= h.lookupMs {
			h.lookupMs = w.nowMs + c.cfg.RetryBackoffMs
			c.lookup(w)
		}
	case w.nowMs >= h.sessionMs:
		// The session is over without an answer: is the coordinator still healthy?
		c.coordinatorUnknown(w, "session timed out without receiving a heartbeat response")
	case w.nowMs < c.busyUntilMs && w.nowMs >= c.lastPollMs+int64(c.cfg.RebalanceTimeoutMs):
		// max.poll.interval.ms: the application does not come back to poll, so the member leaves by itself.
		w.cause = cmp.Or(w.cause, c.busySeq)
		c.leave(w, "consumer poll timeout has expired.")
	case w.nowMs >= h.nextMs:
		h.nextMs = w.nowMs + int64(c.cfg.HeartbeatMs)
		req := kmsg.NewPtrHeartbeatRequest()
		req.Version = c.versions().heartbeat
		req.Group, req.Generation, req.MemberID = c.cfg.Group, c.generation, c.memberID
		req.InstanceID = c.instance()
		w.send(c, c.toCoordinator(w), req, c.cfg.RequestTimeoutMs, plain)
	}
}

// heartbeatNextMs is when the thread has something to do, -1 for never.
func (c *consumer) heartbeatNextMs() int64 {
	h := c.heartbeat
	if !h.enabled || c.state != event.Joined {
		return -1
	}
	if c.coordinator == 0 {
		if c.lastPollMs < c.busyUntilMs && c.findCall == 0 {
			return h.lookupMs
		}
		return -1
	}
	next := min(h.nextMs, h.sessionMs)
	if c.lastPollMs < c.busyUntilMs {
		next = min(next, c.lastPollMs+int64(c.cfg.RebalanceTimeoutMs))
	}
	return next
}

// onHeartbeat is HeartbeatResponseHandler.
func (c *consumer) onHeartbeat(w *World, r *kmsg.HeartbeatResponse) {
	switch r.ErrorCode {
	case 0:
		c.heartbeat.sessionMs = w.nowMs + int64(c.cfg.SessionTimeoutMs)
	case kerr.CoordinatorNotAvailable.Code, kerr.NotCoordinator.Code:
		c.coordinatorUnknown(w, "Heartbeat: "+event.CodeName(r.ErrorCode))
		c.heartbeatFailed(w)
	case kerr.RebalanceInProgress.Code:
		// The session goes on: the member is known.
		c.heartbeat.sessionMs = w.nowMs + int64(c.cfg.SessionTimeoutMs)
		c.requestRejoin(w, "group is already rebalancing")
	case kerr.IllegalGeneration.Code, kerr.UnknownMemberID.Code:
		c.resetGeneration(w, "encountered "+event.CodeName(r.ErrorCode)+" from HEARTBEAT response")
		c.heartbeatFailed(w)
	default:
		// FENCED_INSTANCE_ID, GROUP_AUTHORIZATION_FAILED and the unexpected: the thread ends, the next poll throws it.
		c.heartbeat.enabled = false
		c.fail(w, r.ErrorCode, "Heartbeat: "+event.CodeName(r.ErrorCode))
	}
}

// heartbeatFailed tries again after the back-off (Heartbeat.failHeartbeat).
func (c *consumer) heartbeatFailed(w *World) {
	c.heartbeat.nextMs = w.nowMs + c.cfg.RetryBackoffMs
}
