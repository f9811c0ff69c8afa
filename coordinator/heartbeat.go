package coordinator

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// heartbeat answers at once. While the group's partition is loading it answers NONE, so that clients wait instead of
// looking for another coordinator.
func (c *Coordinator) heartbeat(r *Request, q *kmsg.HeartbeatRequest) {
	g, m, code, guard := c.checkHeartbeat(q)
	if m == nil {
		seq := c.emit(q.Group, event.ReplySent{Ticket: r.Ticket, API: apiHeartbeat, Code: code, Member: q.MemberID,
			Generation: q.Generation, Guard: guard})
		c.out.Replies = append(c.out.Replies, Reply{r.Ticket, c.heartbeatResponse(q.Version, code), code, seq})
		return
	}
	b := &m.beats
	quiet := b.seq != 0 && b.code == code && c.nowMs-b.ms < beatEveryMs
	if quiet {
		b.merged++
	} else {
		seq := c.emit(g.id, event.HeartbeatReceived{Member: m.id, Code: code, Merged: b.merged})
		*b = beats{seq: seq, ms: c.nowMs, code: code}
		c.cause = seq
	}
	c.resetSession(m, "heartbeat", quiet)
	if code != codeNone && !quiet {
		// Why the member must join again is the rebalance's story, so its cause is where the rebalance began.
		c.cause = g.began.seq
		b.seq = c.emit(g.id, event.ReplySent{Ticket: r.Ticket, API: apiHeartbeat, Code: code, Member: m.id,
			Generation: g.generation, Guard: guard})
	}
	c.out.Replies = append(c.out.Replies, Reply{r.Ticket, c.heartbeatResponse(q.Version, code), code, b.seq})
}

// checkHeartbeat returns the member where the heartbeat is accepted, with 0 or REBALANCE_IN_PROGRESS; otherwise no
// member, and what to answer.
func (c *Coordinator) checkHeartbeat(q *kmsg.HeartbeatRequest) (g *group, m *member, code int16, guard string) {
	// A group in the cache has an owned partition, so the gate need not be asked.
	if g = c.find(q.Group); g == nil || q.Group == "" {
		if _, code, guard = c.gate(q.Group, false); code == codeLoadInProgress {
			return nil, nil, codeNone, guard
		} else if code != codeNone {
			return nil, nil, code, guard
		}
		return nil, nil, codeUnknownMemberID, guardNoGroup
	}
	m, code, guard = g.checkMember(q.MemberID, q.InstanceID, q.Generation)
	if code != codeNone {
		return nil, nil, code, guard
	}
	if g.state == event.PreparingRebalance {
		return g, m, codeRebalanceInProgress, guardRebalancing
	}
	return g, m, codeNone, ""
}

// checkMember is the check of membership (checkIdentity), then of generation.
func (g *group) checkMember(id string, instance *string, generation int32) (*member, int16, string) {
	m, code, guard := g.checkIdentity(id, instance)
	if code != codeNone {
		return nil, code, guard
	}
	if generation != g.generation {
		return m, codeIllegalGeneration, fmt.Sprintf("generation %d is not the group's %d", generation, g.generation)
	}
	return m, codeNone, ""
}

// checkIdentity finds a member (Kafka: ClassicGroup.validateMember). An instance id that another member id holds by now
// fences the caller; without its instance id the same caller is only unknown. An id that is pending is not a member.
func (g *group) checkIdentity(id string, instance *string) (m *member, code int16, guard string) {
	if instance != nil {
		switch holder := g.byInstance[*instance]; {
		case holder == nil:
			return nil, codeUnknownMemberID, guardNoInstance
		case holder.id != id:
			return nil, codeFencedInstanceID, "the instance id belongs to another member id"
		}
	}
	if m = g.member(id); m == nil {
		return nil, codeUnknownMemberID, g.notMember(id)
	}
	return m, codeNone, ""
}

const guardNoInstance = "the instance id is not known to the group"

func (g *group) notMember(id string) string {
	if id != "" && g.findPending(id) != nil {
		return "the id was issued but has not joined"
	}
	return "the id is not a member of the group"
}

// heartbeatResponse returns one of a few shared responses, since a heartbeat's holds nothing but the code.
func (c *Coordinator) heartbeatResponse(version, code int16) *kmsg.HeartbeatResponse {
	shared := code == codeNone || code == codeRebalanceInProgress
	if shared && version >= 0 && int(version) < len(c.beatResponses) {
		return c.beatResponses[version][code&1] // 0 or 27
	}
	return newHeartbeatResponse(version, code)
}

func newHeartbeatResponse(version, code int16) *kmsg.HeartbeatResponse {
	resp := kmsg.NewPtrHeartbeatResponse()
	resp.Version, resp.ErrorCode = version, code
	return resp
}

func sharedHeartbeatResponses() (shared [5][2]*kmsg.HeartbeatResponse) {
	for version := range shared {
		for i, code := range []int16{codeNone, codeRebalanceInProgress} {
			shared[version][i] = newHeartbeatResponse(int16(version), code)
		}
	}
	return shared
}
