package coordinator

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// whoAsks is who sends a request that only a member may send, and with what.
type whoAsks struct {
	name       string
	id         func(*scene) string
	instance   string
	generation func(*scene) int32
}

func itsGeneration(s *scene) int32 {
	if g := s.c.groups[groupID]; g != nil {
		return g.generation
	}
	return 1
}

func anotherGeneration(s *scene) int32 { return itsGeneration(s) + 1 }

var askers = []whoAsks{
	{"leader", func(s *scene) string { return s.leader }, "", itsGeneration},
	{"follower", func(s *scene) string { return s.follower }, "", itsGeneration},
	{"static", func(s *scene) string { return s.static }, "i", itsGeneration},
	{"static without its instance", func(s *scene) string { return s.static }, "", itsGeneration},
	{"another generation", func(s *scene) string { return s.follower }, "", anotherGeneration},
	{"stranger", func(*scene) string { return "stranger" }, "", itsGeneration},
	{"stranger, another generation", func(*scene) string { return "stranger" }, "", anotherGeneration},
	{"nobody", func(*scene) string { return "" }, "", itsGeneration},
	{"issued id", func(s *scene) string { return s.pending }, "", itsGeneration},
	{"fenced", func(s *scene) string { return s.follower }, "i", itsGeneration},
	{"fenced, another generation", func(s *scene) string { return s.follower }, "i", anotherGeneration},
	{"unknown instance", func(s *scene) string { return s.follower }, "nowhere", itsGeneration},
}

// refusals are what SyncGroup, Heartbeat and OffsetCommit of a live group answer before they look at the state.
var refusals = map[string]int16{"another generation": 22, "stranger": 25, "stranger, another generation": 25, "nobody": 25,
	"issued id": 25, "fenced": 82, "fenced, another generation": 82, "unknown instance": 25}

// expected is the code for who asks in a state, where members get the codes of perState.
func (a whoAsks) expected(state event.State, perState map[event.State]int16) int16 {
	switch {
	case state == noGroup || state == event.Empty:
		return perState[state]
	case refusals[a.name] != 0:
		return refusals[a.name]
	}
	return perState[state]
}

// timerOf is when the session of a member runs out, 0 where it is none.
func (s *scene) timerOf(id string) int64 {
	g := s.c.groups[groupID]
	if g == nil || g.byID[id] == nil {
		return 0
	}
	return g.byID[id].session.deadlineMs
}

func (a whoAsks) pointer() *string {
	if a.instance == "" {
		return nil
	}
	return &a.instance
}

// Heartbeat by everybody, in every state, in every version. It moves the timer of whoever is a member, also where the
// answer is "join again".
func TestHeartbeatInEveryState(t *testing.T) {
	perState := map[event.State]int16{noGroup: 25, event.Empty: 25, event.PreparingRebalance: 27}
	for _, a := range askers {
		for _, state := range sceneStates {
			for version := int16(0); version <= 4; version++ {
				if a.instance != "" && version < 3 {
					continue
				}
				s := newScene(t, state, true)
				s.advance(150)
				id := a.id(s)
				before := s.timerOf(id)
				q := kmsg.NewPtrHeartbeatRequest()
				q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = version, groupID, id, a.pointer(), a.generation(s)
				resp := answer[*kmsg.HeartbeatResponse](s.bench, s.send("m", q))
				name := fmt.Sprintf("%s, v%d in %s", a.name, version, state)
				want := a.expected(state, perState)
				wantCode(t, name, resp.ErrorCode, want)
				excused := s.parkedSync != 0 && id == s.follower // its reply is parked, so it needs no timer
				if moved := s.timerOf(id) != before; moved != (want == 0 && !excused || want == 27) {
					t.Fatalf("%s: the timer moved: %v", name, moved)
				}
				if resp.Version != version || s.stateNow() != state {
					t.Fatalf("%s: %+v in %s", name, resp, s.stateNow())
				}
			}
		}
	}
}

// SyncGroup by everybody, in every state, in every version.
func TestSyncInEveryState(t *testing.T) {
	perState := map[event.State]int16{noGroup: 25, event.Empty: 25, event.PreparingRebalance: 27}
	for _, a := range askers {
		for _, state := range sceneStates {
			for version := int16(0); version <= 5; version++ {
				if a.instance != "" && version < 3 {
					continue
				}
				s := newScene(t, state, true)
				s.advance(150)
				s.syncAs(a, state, version, a.expected(state, perState))
			}
		}
	}
}

func (s *scene) syncAs(a whoAsks, state event.State, version, want int16) {
	s.t.Helper()
	id, name := a.id(s), fmt.Sprintf("%s, v%d in %s", a.name, version, state)
	before, written := s.timerOf(id), len(s.bench.written)
	q := kmsg.NewPtrSyncGroupRequest()
	q.Version, q.Group, q.MemberID, q.InstanceID, q.Generation = version, groupID, id, a.pointer(), a.generation(s)
	if version >= 5 {
		q.ProtocolType, q.Protocol = ptr("consumer"), ptr("range")
	}
	q.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: s.leader, MemberAssignment: []byte("new")}}
	ticket := s.send("m", q)
	if want == 0 && state == event.CompletingRebalance && a.name != "leader" {
		s.unanswered(ticket)
		s.inState(state)
		return
	}
	resp := s.synced(ticket)
	wantCode(s.t, name, resp.ErrorCode, want)
	if want != 0 {
		if resp.ProtocolType != nil || resp.Protocol != nil || len(resp.MemberAssignment) != 0 || s.timerOf(id) != before || s.stateNow() != state {
			s.t.Fatalf("%s: %+v", name, resp)
		}
		return
	}
	// The leader's assignment is taken once, and written; in Stable everybody gets what is there.
	assignment, appends := map[string]string{"l-1": "L", "f-2": "F", "i-3": "S"}[id], 0
	if state == event.CompletingRebalance {
		assignment, appends = "new", 1
		if f := s.synced(s.parkedSync); f.ErrorCode != 0 || len(f.MemberAssignment) != 0 {
			s.t.Fatalf("%s: the follower got %+v", name, f)
		}
	}
	if string(resp.MemberAssignment) != assignment || *resp.ProtocolType != "consumer" || *resp.Protocol != "range" ||
		len(s.bench.written) != written+appends || s.timerOf(id) == before {
		s.t.Fatalf("%s: %+v, %d records", name, resp, len(s.bench.written)-written)
	}
	s.inState(event.Stable)
}

// OffsetCommit with a generation by everybody, in every state, in every version. It moves a member's timer where members
// may be asked to join again.
func TestCommitInEveryState(t *testing.T) {
	for _, a := range askers {
		for _, state := range sceneStates {
			for version := int16(1); version <= 9; version++ {
				if a.instance != "" && version < 7 {
					continue
				}
				perState := map[event.State]int16{noGroup: 22, event.Empty: 25, event.CompletingRebalance: 27}
				if version >= 9 {
					perState[noGroup] = 69
				}
				if a.instance == "i" && state == event.Empty {
					perState[state] = 25 // nobody has the instance any more
				}
				s := newScene(t, state, true)
				s.advance(150)
				s.commitAs(a, state, version, a.expected(state, perState))
			}
		}
	}
}

func (s *scene) commitAs(a whoAsks, state event.State, version, want int16) {
	s.t.Helper()
	id, name := a.id(s), fmt.Sprintf("%s, v%d in %s", a.name, version, state)
	before, written := s.timerOf(id), len(s.bench.written)
	ticket := s.commit(commitWith{version: version, id: &id, instance: a.pointer(), generation: a.generation(s),
		offsets: map[int32]int64{0: 7, 3: 8}})
	resp := answer[*kmsg.OffsetCommitResponse](s.bench, ticket)
	for _, p := range resp.Topics[0].Partitions {
		wantCode(s.t, name, p.ErrorCode, want)
	}
	stored := want == 0
	if len(resp.Topics[0].Partitions) != 2 || (len(s.bench.written) == written+1) != stored || (s.timerOf(id) != before) != stored || s.stateNow() != state {
		s.t.Fatalf("%s: %+v, %d records, timer %d, was %d", name, resp, len(s.bench.written)-written, s.timerOf(id), before)
	}
	if offset, _ := s.fetch(groupID, "topic", 0, true); (offset == 7) != stored {
		s.t.Fatalf("%s: offset %d", name, offset)
	}
}

// Without a generation only an Empty group takes offsets, and then from anybody.
func TestCommitWithoutAGenerationInEveryState(t *testing.T) {
	for _, c := range []struct {
		name     string
		id       func(*scene) string
		instance *string
		live     int16 // what a group with members answers
	}{
		{"nobody", func(*scene) string { return "" }, nil, 25},
		{"member", func(s *scene) string { return s.follower }, nil, 22},
		{"static", func(s *scene) string { return s.static }, ptr("i"), 22},
		{"stranger", func(*scene) string { return "stranger" }, nil, 25},
		{"instance alone", func(*scene) string { return "" }, ptr("i"), 82},
		{"unknown instance alone", func(*scene) string { return "" }, ptr("nowhere"), 25},
	} {
		for _, state := range sceneStates {
			for _, generation := range []int32{-1, -7} {
				s := newScene(t, state, false)
				id, want := c.id(s), c.live
				if state == noGroup || state == event.Empty {
					want = 0
				}
				got := s.committed(s.commit(commitWith{version: 9, id: &id, instance: c.instance, generation: generation, offsets: map[int32]int64{0: 7}}))
				wantCode(t, fmt.Sprintf("%s in %s", c.name, state), got, want)
				if state == noGroup {
					s.inState(event.Empty)
				}
			}
		}
	}
}

// LeaveGroup by everybody, in every state, in every version.
func TestLeaveInEveryState(t *testing.T) {
	codes := map[string]int16{"stranger": 25, "nobody": 25, "fenced": 82, "unknown instance": 25}
	for _, a := range append(askers[:len(askers):len(askers)],
		whoAsks{"by instance", func(*scene) string { return "" }, "i", itsGeneration},
		whoAsks{"issued id with an instance", func(s *scene) string { return s.pending }, "nowhere", itsGeneration}) {
		if refusals[a.name] == 22 || a.name == "stranger, another generation" || a.name == "fenced, another generation" {
			continue // LeaveGroup names no generation
		}
		for _, state := range sceneStates {
			for version := int16(0); version <= 5; version++ {
				if a.instance != "" && version < 3 {
					continue
				}
				s := newScene(t, state, true)
				want := codes[a.name]
				isIssued := a.id(s) == s.pending
				if state == noGroup || state == event.Empty && !isIssued {
					want = 25
				}
				s.leaveAs(a, state, version, want)
			}
		}
	}
}

func (s *scene) leaveAs(a whoAsks, state event.State, version, want int16) {
	s.t.Helper()
	id, name, written := a.id(s), fmt.Sprintf("%s, v%d in %s", a.name, version, state), len(s.bench.written)
	q := kmsg.NewPtrLeaveGroupRequest()
	q.Version, q.Group = version, groupID
	if version < 3 {
		q.MemberID = id
	} else {
		q.Members = []kmsg.LeaveGroupRequestMember{{MemberID: id, InstanceID: a.pointer()}}
	}
	resp := answer[*kmsg.LeaveGroupResponse](s.bench, s.send("m", q))
	code, entries := resp.ErrorCode, 0
	if version >= 3 {
		wantCode(s.t, name+", at the top", resp.ErrorCode, 0)
		code, entries = resp.Members[0].ErrorCode, 1
		if resp.Members[0].MemberID != id || fmt.Sprint(resp.Members[0].InstanceID) != fmt.Sprint(q.Members[0].InstanceID) {
			s.t.Fatalf("%s: %+v", name, resp)
		}
	}
	wantCode(s.t, name, code, want)
	after, members := state, map[event.State]int{event.PreparingRebalance: 4, event.CompletingRebalance: 3, event.Stable: 3}[state]
	issued := id == s.pending
	if want == 0 && !issued {
		members--
	}
	// That an issued id goes costs a rebalance like a member's going.
	if want == 0 && (state == event.Stable || state == event.CompletingRebalance) {
		after = event.PreparingRebalance
	}
	if len(resp.Members) != entries || s.stateNow() != after || len(s.bench.written) != written {
		s.t.Fatalf("%s: %+v in %s", name, resp, s.stateNow())
	}
	s.members(members)
	if g := s.c.groups[groupID]; g != nil && (len(g.pending) == 0) != (issued && want == 0) {
		s.t.Fatalf("%s: %d issued ids", name, len(g.pending))
	}
	if s.parkedSync != 0 && want == 0 && id != s.follower {
		wantCode(s.t, name+": the parked sync", s.synced(s.parkedSync).ErrorCode, 27)
	}
}
