//go:build interop

package differ

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/e2e/wire"
)

// begin sends a request whose answer is looked at later.
func (s *side) begin(actor string, r kmsg.Request) {
	s.send(actor, r)
	s.asked[actor] = r
}

// held writes down whether the answer still has not come after a while.
func (s *side) held(actor string, during time.Duration) {
	r := s.asked[actor]
	held, _ := s.by(actor).Held(during)
	s.told = append(s.told, fmt.Sprintf("%s %s: held is %v", actor, kmsg.NameForKey(r.Key()), held))
}

// end waits for the answer and writes it down.
func (s *side) end(actor string) kmsg.Response {
	return s.tellNext(actor, s.asked[actor], wire.Patience)
}

// joinedAs is a JoinGroup's answer, when it comes.
func (s *side) joinedAs(actor string) *kmsg.JoinGroupResponse {
	a, ok := s.end(actor).(*kmsg.JoinGroupResponse)
	if !ok {
		s.stop("%s: the JoinGroup was not answered", actor)
	}
	return a
}

// shape is a JoinGroup in the terms of the cases.
type shape struct {
	version                int16
	id, instance           string
	sessionMs, rebalanceMs int32
	protocolType           string
	protocols              []string
	metadata               map[string][]byte
}

func (s *side) shaped(h shape) *kmsg.JoinGroupRequest {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Version, r.Group, r.MemberID = h.version, s.group, h.id
	if h.instance != "" {
		r.InstanceID = &h.instance
	}
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis, r.ProtocolType = h.sessionMs, h.rebalanceMs, h.protocolType
	if r.SessionTimeoutMillis == 0 {
		r.SessionTimeoutMillis = 20_000
	}
	if r.RebalanceTimeoutMillis == 0 {
		r.RebalanceTimeoutMillis = 20_000
	}
	if r.ProtocolType == "" {
		r.ProtocolType = "consumer"
	}
	if h.protocols == nil {
		h.protocols = rangeOnly
	}
	for _, name := range h.protocols {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = name, h.metadata[name]
		if p.Metadata == nil {
			p.Metadata = subscription("orders")
		}
		r.Protocols = append(r.Protocols, p)
	}
	return r
}

// twoStep joins as clients from version 4 on do, and returns the id; the second answer is looked at later.
func (s *side) twoStep(actor string, h shape) string {
	h.version = max(h.version, 4)
	a := s.ask(actor, s.shaped(h)).(*kmsg.JoinGroupResponse)
	if a.ErrorCode != 79 {
		s.stop("%s: the first step: error %d", actor, a.ErrorCode)
	}
	h.id = a.MemberID
	s.begin(actor, s.shaped(h))
	return h.id
}

// one is the cases' ONE: a dynamic member that leads generation 1 and has not synced; oneStable has.
func (s *side) one(h shape) string {
	id := s.twoStep("m", h)
	if a := s.receive("m", s.asked["m"]).(*kmsg.JoinGroupResponse); a.ErrorCode != 0 || a.Generation != 1 {
		s.stop("ONE: error %d, generation %d", a.ErrorCode, a.Generation)
	}
	return id
}

func (s *side) oneStable(h shape) string {
	id := s.one(h)
	s.syncAs("m", id, "", 1, map[string][]byte{id: []byte("all")}, id)
	return id
}

// syncAs syncs as a preparation.
func (s *side) syncAs(actor, id, instance string, generation int32, assign map[string][]byte, order ...string) {
	var i *string
	if instance != "" {
		i = &instance
	}
	if a := s.ask(actor, syncGroup(3, s.group, id, i, generation, assign, order...)).(*kmsg.SyncGroupResponse); a.ErrorCode != 0 {
		s.stop("%s: the sync: error %d", actor, a.ErrorCode)
	}
}

// twoStatic is the cases' TWO-STATIC: leader L and follower F under instance ids, synced, Stable in generation 1.
func (s *side) twoStatic(sessionMs, rebalanceMs int32) (l, f string) {
	h := shape{version: 9, sessionMs: sessionMs, rebalanceMs: rebalanceMs, protocols: both}
	h.instance = "leader"
	s.begin("L", s.shaped(h))
	s.awaitState("PreparingRebalance") // who joins first leads
	h.instance = "follower"
	s.begin("F", s.shaped(h))
	a, b := s.receive("L", s.asked["L"]).(*kmsg.JoinGroupResponse), s.receive("F", s.asked["F"]).(*kmsg.JoinGroupResponse)
	if a.ErrorCode != 0 || b.ErrorCode != 0 || a.Generation != 1 || a.LeaderID != a.MemberID {
		s.stop("TWO-STATIC: errors %d and %d, generation %d, leader %q", a.ErrorCode, b.ErrorCode, a.Generation, s.text(a.LeaderID))
	}
	s.syncAs("L", a.MemberID, "leader", 1, map[string][]byte{a.MemberID: []byte("one")}, a.MemberID)
	s.syncAs("F", b.MemberID, "follower", 1, nil)
	return a.MemberID, b.MemberID
}

func (s *side) beat(actor, id, instance string, generation int32) {
	r := kmsg.NewPtrHeartbeatRequest()
	r.Version, r.Group, r.MemberID, r.Generation = 4, s.group, id, generation
	if instance != "" {
		r.InstanceID = &instance
	}
	s.tell(actor, r)
}

// leaver is one entry of a LeaveGroup: member id and instance id.
type leaver struct{ id, instance string }

func (s *side) leave(version int16, entries ...leaver) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Version, r.Group = version, s.group
	for _, e := range entries {
		r.MemberID = e.id
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = e.id
		if e.instance != "" {
			m.InstanceID = &e.instance
		}
		r.Members = append(r.Members, m)
	}
	s.tell("admin", r)
}

// look writes down what the group is, once it has settled.
func (s *side) look() {
	time.Sleep(settle)
	s.tell("looker", describe(5, s.group))
}
