//go:build interop

package differ

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// casesConfiguration is that of the cases with times that a busy machine can tell apart: the initial delay is 1.2 s.
var casesConfiguration = map[string]string{
	"offsets.topic.num.partitions":     "4",
	"group.initial.rebalance.delay.ms": "1200",
	"group.min.session.timeout.ms":     "100",
	"group.max.session.timeout.ms":     "600000",
	"group.max.size":                   "4",
}

// TestCasesAnswerAlike plays the behaviour cases that a client can see, in real time, against both.
func TestCasesAnswerAlike(t *testing.T) {
	theirs, ours := startBoth(t, casesConfiguration)
	all := slices.Concat(cases, txnCases)
	jobs := make([]job, len(all))
	for i, c := range all {
		jobs[i] = job{c.id, c.play}
	}
	report(t, askAll(t, theirs, ours, jobs))
}

const ms = time.Millisecond

var cases = []struct {
	id   string
	play func(*side)
}{
	{"JOIN-04 first member", func(s *side) {
		s.tell("m", s.shaped(shape{version: 9}))
		s.twoStep("n", shape{version: 9})
		s.held("n", 600*ms)
		s.end("n")
		s.look()
	}},
	{"JOIN-05 another protocol type", func(s *side) {
		s.one(shape{})
		s.tell("n", s.shaped(shape{version: 3, protocolType: "connect"}))
	}},
	{"JOIN-06 no common protocol", func(s *side) {
		s.begin("a", s.shaped(shape{version: 3}))
		time.Sleep(100 * ms)
		s.tell("b", s.shaped(shape{version: 3, protocols: []string{"roundrobin"}}))
		s.end("a")
	}},
	{"JOIN-08 the leader joins again in Stable", func(s *side) {
		m := s.oneStable(shape{})
		s.tell("m", s.shaped(shape{version: 5, id: m}))
		s.look()
	}},
	{"JOIN-09 changed metadata in CompletingRebalance", func(s *side) {
		m := s.one(shape{})
		s.tell("m", s.shaped(shape{version: 5, id: m, protocols: both}))
		s.look()
	}},
	{"JOIN-10 an unchanged follower does not rebalance", func(s *side) {
		m := s.oneStable(shape{})
		s.begin("n", s.shaped(shape{version: 3}))
		s.held("n", 200*ms)
		s.begin("m", s.shaped(shape{version: 5, id: m}))
		s.joinedAs("m")
		n := s.joinedAs("n").MemberID
		s.tell("n", s.shaped(shape{version: 3, id: n}))
		s.look()
	}},
	{"JOIN-12 sessions end after the join phase", func(s *side) {
		m := s.oneStable(shape{sessionMs: 2000})
		s.begin("n", s.shaped(shape{version: 3, sessionMs: 2000}))
		s.held("n", 200*ms)
		s.begin("m", s.shaped(shape{version: 5, id: m, sessionMs: 2000}))
		s.joinedAs("m")
		s.joinedAs("n")
		time.Sleep(3500 * ms)
		s.look()
	}},
	{"JOIN-14 the second step with no protocol", func(s *side) {
		first := s.ask("m", s.shaped(shape{version: 9})).(*kmsg.JoinGroupResponse)
		s.name(first.MemberID)
		s.tell("m", s.shaped(shape{version: 9, id: first.MemberID, protocols: []string{}}))
		s.begin("m", s.shaped(shape{version: 9, id: first.MemberID}))
		s.end("m")
	}},
	{"MAX-01 the fifth is refused", func(s *side) {
		for _, c := range []string{"a", "b", "c", "d"} {
			s.begin(c, s.shaped(shape{version: 3}))
			time.Sleep(40 * ms)
		}
		for _, c := range []string{"a", "b", "c", "d"} {
			s.joinedAs(c)
		}
		s.tell("e", s.shaped(shape{version: 3}))
	}},
	{"MAX-02 five ids for four places", func(s *side) {
		five, ids := []string{"a", "b", "c", "d", "e"}, map[string]string{}
		for _, c := range five {
			a := s.ask(c, s.shaped(shape{version: 9})).(*kmsg.JoinGroupResponse)
			if a.ErrorCode != 79 {
				s.stop("%s: the first step: error %d", c, a.ErrorCode)
			}
			ids[c] = a.MemberID
		}
		for range 2 { // the second time in CompletingRebalance
			for _, c := range five {
				s.begin(c, s.shaped(shape{version: 9, id: ids[c]}))
				time.Sleep(40 * ms)
			}
			for _, c := range five {
				s.end(c)
			}
		}
	}},
	{"DELAY-02 a late joiner extends the delay", func(s *side) {
		s.begin("a", s.shaped(shape{version: 3}))
		time.Sleep(1000 * ms)
		s.begin("b", s.shaped(shape{version: 3}))
		s.held("a", 700*ms) // 1.7 s: beyond the first delay
		s.end("a")
		s.end("b")
	}},
	{"DELAY-03 the delay is longer than the rebalance timeout", func(s *side) {
		s.begin("a", s.shaped(shape{version: 3, rebalanceMs: 400}))
		s.held("a", 700*ms)
		s.begin("b", s.shaped(shape{version: 3, rebalanceMs: 400}))
		s.end("a")
		s.end("b")
	}},
	{"PEND-01 a half join that never ends", func(s *side) {
		m := s.oneStable(shape{})
		s.tell("x", s.shaped(shape{version: 4, sessionMs: 1000}))
		time.Sleep(1700 * ms)
		s.beat("m", m, "", 1)
		s.look()
	}},
	{"PEND-02 and PEND-03 a rebalance waits for a pending id until its session ends", func(s *side) {
		m := s.oneStable(shape{})
		s.begin("b", s.shaped(shape{version: 3}))
		s.held("b", 200*ms)
		s.tell("x", s.shaped(shape{version: 4, sessionMs: 2500}))
		s.begin("m", s.shaped(shape{version: 5, id: m}))
		s.held("m", 1200*ms)
		s.end("m")
		s.end("b")
		s.look()
	}},
	{"PEND-05 a batch with a pending id", func(s *side) {
		m := s.oneStable(shape{})
		s.begin("b", s.shaped(shape{version: 3}))
		s.held("b", 200*ms)
		x := s.tell("x", s.shaped(shape{version: 4})).(*kmsg.JoinGroupResponse).MemberID
		s.begin("m", s.shaped(shape{version: 5, id: m}))
		s.held("m", 300*ms)
		s.leave(5, leaver{"", "unknown-instance"}, leaver{x, ""})
		s.end("m")
		s.end("b")
	}},
	{"STAT-01 a wrong id under a known instance", func(s *side) {
		s.twoStatic(20_000, 20_000)
		s.tell("x", s.shaped(shape{version: 5, id: "unknown_member", instance: "leader"}))
	}},
	{"STAT-02 a second process fences a held join", func(s *side) {
		_, f := s.twoStatic(20_000, 20_000)
		s.begin("n", s.shaped(shape{version: 3, protocols: both}))
		s.held("n", 200*ms)
		s.begin("F", s.shaped(shape{version: 9, id: f, instance: "follower", protocols: both}))
		s.held("F", 200*ms)
		s.begin("other", s.shaped(shape{version: 9, instance: "follower", protocols: both}))
		s.end("F")
		s.held("other", 200*ms)
		s.look()
	}},
	{"STAT-04 the leader restarts, version 9", func(s *side) { restartLeader(s, 9) }},
	{"STAT-05 the leader restarts, version 8", func(s *side) { restartLeader(s, 8) }},
	{"STAT-05 the leader restarts, version 5", func(s *side) { restartLeader(s, 5) }},
	{"STAT-07 new timeouts", func(s *side) {
		s.twoStatic(20_000, 20_000)
		s.tell("F2", s.shaped(shape{version: 9, instance: "follower", protocols: both, sessionMs: 1000, rebalanceMs: 1000}))
		s.tell("L2", s.shaped(shape{version: 9, instance: "leader", protocols: both, sessionMs: 1000, rebalanceMs: 1000}))
		time.Sleep(2500 * ms) // the new sessions have ended by now
		s.look()
	}},
	{"STAT-08 a changed list, the same protocol", func(s *side) {
		_, f := s.twoStatic(20_000, 20_000)
		again := s.tell("F2", s.shaped(shape{version: 9, instance: "follower"})).(*kmsg.JoinGroupResponse)
		s.tell("F", s.shaped(shape{version: 9, id: f, instance: "follower"}))
		s.tell("F", syncGroup(5, s.group, f, kmsg.StringPtr("follower"), 1, nil))
		s.tell("F2", syncGroup(5, s.group, again.MemberID, kmsg.StringPtr("follower"), 1, nil))
		s.look()
	}},
	{"STAT-08 a changed list, another protocol", func(s *side) {
		s.twoStatic(20_000, 20_000)
		s.begin("F2", s.shaped(shape{version: 9, instance: "follower", protocols: []string{"roundrobin"}}))
		s.held("F2", 300*ms)
		s.look()
	}},
	{"STAT-09 an unchanged follower", func(s *side) {
		_, f := s.twoStatic(20_000, 20_000)
		s.tell("F", s.shaped(shape{version: 9, id: f, instance: "follower", protocols: both}))
	}},
	{"STAT-10 mismatched pairs", func(s *side) {
		l, f := s.twoStatic(20_000, 20_000)
		s.tell("x", s.shaped(shape{version: 9, id: f, instance: "leader", protocols: both}))
		s.tell("x", s.shaped(shape{version: 9, id: l, instance: "follower", protocols: both}))
		s.tell("x", s.shaped(shape{version: 9, id: l, instance: "unknown_instance", protocols: both}))
	}},
	{"STAT-13 a static follower that misses the join phase stays", func(s *side) {
		l, _ := s.twoStatic(8000, 1500)
		s.begin("N", s.shaped(shape{version: 9, instance: "newMember", protocols: both, sessionMs: 8000, rebalanceMs: 1500}))
		s.held("N", 200*ms)
		s.begin("L", s.shaped(shape{version: 9, id: l, instance: "leader", protocols: both, sessionMs: 8000, rebalanceMs: 1500}))
		s.end("L")
		s.end("N")
		s.look()
	}},
	{"STAT-14 a restart in CompletingRebalance", func(s *side) {
		s.begin("L", s.shaped(shape{version: 9, instance: "leader"}))
		s.joinedAs("L")
		s.tell("L2", s.shaped(shape{version: 9, instance: "leader"}))
		s.look()
	}},
	{"STAT-15 a restart of a single member with new timeouts, version 8", func(s *side) { restartAlone(s, 8) }},
	{"STAT-15 a restart of a single member with new timeouts, version 9", func(s *side) { restartAlone(s, 9) }},
	{"SYNC-02 an empty map", func(s *side) {
		m := s.one(shape{})
		s.tell("m", syncGroup(5, s.group, m, nil, 1, nil))
		s.beat("m", m, "", 1)
		s.look()
	}},
	{"SYNC-03 and SYNC-04 leader first, follower first", func(s *side) {
		m, n := secondPhase(s)
		assign := map[string][]byte{m: []byte("A"), n: []byte("B")}
		s.begin("n", syncGroup(5, s.group, n, nil, 2, nil))
		s.held("n", 200*ms)
		s.tell("m", syncGroup(5, s.group, m, nil, 2, assign, m, n))
		s.end("n")
		s.tell("n", syncGroup(5, s.group, n, nil, 2, nil))
		s.look()
	}},
	{"SYNC-05 the leader dies", func(s *side) {
		_, n := secondPhase(s)
		s.begin("n", syncGroup(5, s.group, n, nil, 2, nil))
		s.held("n", 500*ms)
		s.end("n")
		s.look()
	}},
	{"SYNC-06 another protocol type", func(s *side) {
		m := s.one(shape{})
		r := syncGroup(5, s.group, m, nil, 1, nil)
		r.ProtocolType = kmsg.StringPtr("whatever")
		s.tell("m", r)
		r.ProtocolType, r.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("whatever")
		s.tell("m", r)
		s.tell("m", syncGroup(4, s.group, m, nil, 1, nil))
	}},
	{"PSYNC-01 nobody syncs", func(s *side) {
		m, n := secondPhase(s)
		time.Sleep(1500 * ms)
		s.beat("m", m, "", 2)
		s.beat("n", n, "", 2)
		time.Sleep(2500 * ms)
		s.beat("m", m, "", 2)
		s.beat("n", n, "", 2)
		s.look()
	}},
	{"PSYNC-02 only the leader syncs", func(s *side) {
		m, n := secondPhase(s)
		s.tell("m", syncGroup(5, s.group, m, nil, 2, map[string][]byte{m: []byte("A")}, m))
		s.beat("m", m, "", 2)
		time.Sleep(3800 * ms)
		s.beat("m", m, "", 2)
		s.beat("n", n, "", 2)
	}},
	{"HB-04 a session ends", func(s *side) {
		m := s.oneStable(shape{sessionMs: 1000})
		time.Sleep(2000 * ms)
		s.beat("m", m, "", 1)
		s.look()
	}},
	{"HB-05 a commit keeps the session", func(s *side) {
		m := s.oneStable(shape{sessionMs: 3000})
		time.Sleep(1800 * ms)
		s.tell("m", commit(6, s.group, m, nil, 1, "orders", 0))
		time.Sleep(1800 * ms)
		s.beat("m", m, "", 1)
	}},
	{"HB-06 a session ends during a rebalance", func(s *side) {
		m := s.oneStable(shape{sessionMs: 2000, rebalanceMs: 15_000})
		s.begin("n", s.shaped(shape{version: 3}))
		s.held("n", 500*ms)
		s.beat("m", m, "", 1)
		s.end("n")
		s.beat("m", m, "", 1)
	}},
	{"HB-08 the instance id is what fences", func(s *side) {
		l, _ := s.twoStatic(20_000, 20_000)
		s.beat("L", l, "", 1)
		s.beat("L", "invalidMember", "leader", 1)
		s.beat("L", l, "unknown", 1)
	}},
	{"LEAVE-03 the only member leaves", func(s *side) {
		m := s.oneStable(shape{})
		s.leave(5, leaver{m, ""})
		s.look()
	}},
	{"LEAVE-04 static entries", func(s *side) {
		s.twoStatic(20_000, 20_000)
		s.leave(5, leaver{"some_member", "leader"})
		s.leave(5, leaver{"", "leader"})
		s.look()
	}},
	{"LEAVE-05 a batch of instances", func(s *side) {
		s.leave(5, leaver{"", "leader"}, leaver{"", "follower"})
		s.twoStatic(20_000, 20_000)
		s.leave(5, leaver{"", "leader"}, leaver{"", "follower"})
		s.look()
	}},
	{"LEAVE-06 a batch with a fenced entry", func(s *side) {
		s.twoStatic(20_000, 20_000)
		s.leave(5, leaver{"", "leader"}, leaver{"invalid-member", "follower"})
	}},
	{"LEAVE-07 a held joiner leaves", func(s *side) {
		m := s.twoStep("m", shape{version: 9})
		s.held("m", 300*ms)
		s.leave(5, leaver{m, ""})
		s.end("m")
		time.Sleep(1500 * ms)
		s.look()
	}},
	{"OC-02 a commit after the group has emptied", func(s *side) {
		m := s.one(shape{})
		s.leave(5, leaver{m, ""})
		s.tell("m", commit(8, s.group, "", nil, -1, "orders", 0))
		s.tell("m", fetch(8, s.group, true, []int32{0, 1}, "orders"))
		s.tell("m", fetch(8, s.group, true, nil))
	}},
	{"OC-04 ids are ignored on an Empty group", func(s *side) {
		s.tell("m", commit(8, s.group, "", kmsg.StringPtr("instance-id"), -1, "orders", 0))
		s.tell("m", commit(8, s.group, "unknown", nil, -1, "orders", 1))
		s.look()
	}},
	{"OC-05 values come back", func(s *side) {
		r := commit(8, s.group, "", nil, -1, "orders", 4)
		r.Topics[0].Partitions[0].LeaderEpoch, r.Topics[0].Partitions[0].Offset = 15, 97
		s.tell("m", r)
		for v := int16(1); v <= 9; v++ {
			s.tell("m", fetch(v, s.group, false, []int32{4, 5}, "orders"))
		}
	}},
	{"OC-06 an empty group id", func(s *side) {
		s.tell("m", commit(8, "", "", nil, -1, "orders", 0))
		s.tell("m", fetch(8, "", false, []int32{0}, "orders"))
		s.tell("m", describe(5, ""))
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Version, r.Groups = 2, []string{""}
		s.tell("m", r)
		time.Sleep(settle)
		s.tell("m", fetch(8, "", false, []int32{0}, "orders"))
		s.tell("m", s.emptyNamed(11))
		s.tell("m", s.emptyNamed(12))
		s.tell("m", s.emptyNamed(13))
		s.tell("m", s.emptyNamed(14))
		s.tell("m", s.emptyNamed(47))
	}},
	{"OC-11 strangers in a live group", func(s *side) {
		m := s.oneStable(shape{})
		s.tell("m", commit(8, s.group, "", nil, -1, "orders", 0))
		s.tell("m", commit(8, s.group, m, nil, -1, "orders", 0))
	}},
	{"OF-02 all topics", func(s *side) {
		s.tell("m", fetch(8, s.group, false, nil))
		s.tell("m", commit(8, s.group, "", nil, -1, "orders", 0, 1))
		s.tell("m", commit(8, s.group, "", nil, -1, "other", 0))
		s.tell("m", fetch(8, s.group, false, nil))
		s.tell("m", fetch(5, s.group, false, nil))
	}},
	{"OD-01 an active group of another type", func(s *side) {
		m := s.one(shape{protocolType: "My Protocol"})
		s.syncAs("m", m, "", 1, nil)
		s.tell("m", s.deleteOffsets("orders", 0))
	}},
	{"OD-02 an empty group of another type", func(s *side) {
		m := s.one(shape{protocolType: "My Protocol"})
		s.syncAs("m", m, "", 1, nil)
		s.tell("m", commit(8, s.group, m, nil, 1, "orders", 0))
		s.tell("m", commit(8, s.group, m, nil, 1, "other", 0))
		s.leave(5, leaver{m, ""})
		s.tell("m", s.deleteOffsets("orders", 0))
		s.tell("m", fetch(8, s.group, false, nil))
	}},
	{"OD-03 a stable consumer group", func(s *side) {
		m := s.oneStable(shape{})
		s.tell("m", commit(8, s.group, m, nil, 1, "orders", 0))
		s.tell("m", commit(8, s.group, m, nil, 1, "other", 0))
		s.tell("m", s.deleteOffsets("orders", 0))
		s.tell("m", s.deleteOffsets("other", 0))
		s.tell("m", fetch(8, s.group, false, nil))
	}},
	{"DG-01 refused, then done", func(s *side) {
		m := s.oneStable(shape{})
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Version, r.Groups = 2, []string{s.group}
		s.tell("m", r)
		s.leave(5, leaver{m, ""})
		s.tell("m", r)
		time.Sleep(settle)
		s.tell("m", r)
		s.look()
	}},
	{"FSM-02 votes", func(s *side) {
		s.begin("a", s.shaped(shape{version: 9, instance: "one", protocols: []string{"range", "roundrobin"}}))
		s.begin("b", s.shaped(shape{version: 9, instance: "two", protocols: []string{"roundrobin", "range"}}))
		s.begin("c", s.shaped(shape{version: 9, instance: "three", protocols: []string{"roundrobin", "range"}}))
		a, b := s.receive("a", s.asked["a"]).(*kmsg.JoinGroupResponse), s.receive("b", s.asked["b"]).(*kmsg.JoinGroupResponse)
		s.told = append(s.told, *a.Protocol, *b.Protocol)
	}},
}

// emptyNamed is a request of each kind for the group "".
func (s *side) emptyNamed(api int16) kmsg.Request {
	switch api {
	case 11:
		return join(9, "", "", nil, both...)
	case 12:
		r := kmsg.NewPtrHeartbeatRequest()
		r.Version = 4
		return r
	case 13:
		r := kmsg.NewPtrLeaveGroupRequest()
		r.Version = 5
		r.Members = append(r.Members, kmsg.NewLeaveGroupRequestMember())
		return r
	case 14:
		return syncGroup(5, "", "x", nil, 1, nil)
	}
	r := s.deleteOffsets("orders", 0)
	r.Group = ""
	return r
}

func (s *side) deleteOffsets(topic string, partitions ...int32) *kmsg.OffsetDeleteRequest {
	r := kmsg.NewPtrOffsetDeleteRequest()
	r.Group = s.group
	t := kmsg.NewOffsetDeleteRequestTopic()
	t.Topic = topic
	for _, p := range partitions {
		t.Partitions = append(t.Partitions, kmsg.OffsetDeleteRequestTopicPartition{Partition: p})
	}
	r.Topics = append(r.Topics, t)
	return r
}

// secondPhase is two dynamic members at the end of the second join phase, sessions and rebalances of three seconds.
func secondPhase(s *side) (m, n string) {
	h := shape{version: 5, sessionMs: 3000, rebalanceMs: 3000}
	m = s.oneStable(h)
	s.begin("n", s.shaped(shape{version: 3, sessionMs: 3000, rebalanceMs: 3000}))
	s.awaitState("PreparingRebalance")
	h.id = m
	s.begin("m", s.shaped(h))
	s.joinedAs("m")
	return m, s.joinedAs("n").MemberID
}

func restartLeader(s *side, version int16) {
	l, _ := s.twoStatic(20_000, 20_000)
	again := s.tell("L2", s.shaped(shape{version: version, instance: "leader", protocols: both})).(*kmsg.JoinGroupResponse)
	s.tell("L", s.shaped(shape{version: version, id: l, instance: "leader", protocols: both}))
	s.tell("L", syncGroup(5, s.group, l, kmsg.StringPtr("leader"), 1, nil))
	s.tell("L", syncGroup(5, s.group, l, nil, 1, nil))
	s.tell("L2", syncGroup(5, s.group, again.MemberID, kmsg.StringPtr("leader"), 1, nil))
	s.look()
}

func restartAlone(s *side, version int16) {
	s.begin("L", s.shaped(shape{version: version, instance: "leader"}))
	old := s.joinedAs("L").MemberID
	s.syncAs("L", old, "leader", 1, map[string][]byte{old: []byte("kept")}, old)
	s.begin("L2", s.shaped(shape{version: version, instance: "leader", protocols: both, rebalanceMs: 7000, sessionMs: 6000}))
	again := s.joinedAs("L2")
	s.tell("L2", syncGroup(5, s.group, again.MemberID, kmsg.StringPtr("leader"), 1, nil))
	s.look()
}
