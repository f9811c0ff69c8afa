package coordinator

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// scene is a group in one of its states, with everybody that a request can come from.
type scene struct {
	*bench
	leader, follower, static string // members; in Empty they have left
	staticInstance           string
	pending                  string
	parkedSync               Ticket // the follower's, in CompletingRebalance
	parkedJoin               Ticket // of the newcomer, in PreparingRebalance
	written                  int    // appends until now
}

const noGroup = event.State("no group")

var sceneStates = []event.State{noGroup, event.Empty, event.PreparingRebalance, event.CompletingRebalance, event.Stable}

// newScene makes a group of a leader and a follower with ids that were given, and a static member. withPending adds an
// id that was issued and has not joined.
func newScene(t *testing.T, state event.State, withPending bool) *scene {
	t.Helper()
	s := &scene{bench: newBench(t), staticInstance: "i"}
	defer func() { s.written = len(s.bench.written) }()
	if s.leader, s.follower, s.static, s.pending = "l-1", "f-2", "i-3", "x-4"; state == noGroup {
		return s
	}
	w := joinWith{protocols: p2}
	l, f := s.direct("l", w), s.direct("f", w)
	i := s.join("i", static(s.staticInstance, w))
	s.advance(101)
	if s.joined(l).MemberID != s.leader || s.joined(f).MemberID != s.follower || s.joined(i).MemberID != s.static {
		t.Fatalf("%+v %+v %+v", s.joined(l), s.joined(f), s.joined(i))
	}
	switch state {
	case event.Empty:
		s.leave(groupID, 5, s.leader, s.follower, s.static)
	case event.CompletingRebalance:
		s.parkedSync = s.sync(s.follower, 1, nil)
	default:
		s.sync(s.leader, 1, map[string]string{s.leader: "L", s.follower: "F", s.static: "S"})
		s.sync(s.follower, 1, nil)
		s.sync(s.static, 1, nil)
	}
	if withPending {
		s.pending = s.issued("x", w)
	}
	if state == event.PreparingRebalance {
		s.parkedJoin = s.direct("n", w)
	}
	s.inState(state)
	return s
}

// stateNow is the state of the group, "no group" where it is not there.
func (s *scene) stateNow() event.State {
	if g := s.c.groups[groupID]; g != nil {
		return g.state
	}
	return noGroup
}

// joinRow is one row of the table of JoinGroup: who asks, and what comes of it in each state of sceneStates.
type joinRow struct {
	name     string
	versions []int16
	pending  bool // somebody holds an issued id
	ask      func(s *scene, w joinWith) joinWith
	want     [5]string
}

var (
	allJoins     = []int16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	oldJoins     = []int16{0, 1, 2, 3}
	twoStepJoins = []int16{4, 5, 6, 7, 8, 9}
	staticJoins  = []int16{5, 6, 7, 8, 9}
	changed      = protocolList("roundrobin", "range", "x")
)

// The words of the table: a code and the state after it; "parked" where the reply waits; "current" where it is the
// generation that there is, "leading" where the members are told with it.
const (
	begins   = "parked, PreparingRebalance"
	isThere  = "current, CompletingRebalance"
	leads    = "leading, CompletingRebalance"
	isStable = "current, Stable"
)

func everywhere(code int) (want [5]string) {
	for i, state := range sceneStates {
		want[i] = fmt.Sprintf("%d, %s", code, state)
	}
	return want
}

func joinTable() []joinRow {
	asIs := func(s *scene, w joinWith) joinWith { return w }
	of := func(id func(*scene) string, instance string, list []kmsg.JoinGroupRequestProtocol) func(*scene, joinWith) joinWith {
		return func(s *scene, w joinWith) joinWith {
			w.id, w.protocols = id(s), list
			if instance != "" {
				w.instance = &instance
			}
			return w
		}
	}
	nobody := func(*scene) string { return "" }
	leader := func(s *scene) string { return s.leader }
	follower := func(s *scene) string { return s.follower }
	pending := func(s *scene) string { return s.pending }
	staticID := func(s *scene) string { return s.static }
	stranger := func(*scene) string { return "stranger" }
	unknown := everywhere(25)
	newcomer := [5]string{begins, begins, begins, begins, begins}
	issued := everywhere(79)
	issued[0] = "79, Empty"
	mismatch := [5]string{"25, no group", "25, Empty", "82, PreparingRebalance", "82, CompletingRebalance", "82, Stable"}
	pendingStatic := everywhere(-1)
	pendingStatic[0] = "25, no group"
	return []joinRow{
		{"no id", oldJoins, false, asIs, newcomer},
		{"no id, two steps", twoStepJoins, false, asIs, issued},
		{"no id, unknown instance", staticJoins, false, of(nobody, "new", p2), newcomer},
		{"no id, known instance", staticJoins, false, of(nobody, "i", p2), [5]string{begins, begins, begins, begins, "replaced, Stable"}},
		{"no id, known instance, another list", staticJoins, false, of(nobody, "i", protocolList("range")),
			[5]string{begins, begins, begins, begins, "replaced, Stable"}},
		{"no id, known instance, another protocol", staticJoins, false, of(nobody, "i", protocolList("roundrobin")), newcomer},
		{"issued id", twoStepJoins, true, of(pending, "", p2), [5]string{"25, no group", begins, begins, begins, begins}},
		{"issued id with an instance", staticJoins, true, of(pending, "i", p2), pendingStatic},
		{"leader, unchanged", allJoins, false, of(leader, "", p2), [5]string{"25, no group", "25, Empty", begins, leads, begins}},
		{"leader, changed", allJoins, false, of(leader, "", changed), [5]string{"25, no group", "25, Empty", begins, begins, begins}},
		{"follower, unchanged", allJoins, false, of(follower, "", p2), [5]string{"25, no group", "25, Empty", begins, isThere, isStable}},
		{"follower, changed", allJoins, false, of(follower, "", changed), [5]string{"25, no group", "25, Empty", begins, begins, begins}},
		{"static, unchanged", staticJoins, false, of(staticID, "i", p2), [5]string{"25, no group", "25, Empty", begins, isThere, isStable}},
		{"static, changed", staticJoins, false, of(staticID, "i", changed), [5]string{"25, no group", "25, Empty", begins, begins, begins}},
		{"static without its instance", allJoins, false, of(staticID, "", p2), [5]string{"25, no group", "25, Empty", begins, isThere, isStable}},
		{"stranger", allJoins, false, of(stranger, "", p2), unknown},
		{"stranger with a known instance", staticJoins, false, of(stranger, "i", p2), mismatch},
		{"member with another's instance", staticJoins, false, of(follower, "i", p2), mismatch},
		{"member with an unknown instance", staticJoins, false, of(follower, "nowhere", p2), unknown},
	}
}

// JoinGroup by everybody, in every state, in every version (behaviour of Kafka's classicGroupJoin).
func TestJoinInEveryState(t *testing.T) {
	for _, row := range joinTable() {
		for i, state := range sceneStates {
			for _, version := range row.versions {
				s := newScene(t, state, row.pending)
				w := row.ask(s, joinWith{version: version, protocols: p2})
				ticket := s.join("q", w)
				name := fmt.Sprintf("%s, v%d in %s", row.name, version, state)
				if got := s.tellJoin(w, ticket); got != row.want[i] {
					t.Fatalf("%s: %s, want %s", name, got, row.want[i])
				}
				s.checkSideEffects(name, row.want[i])
			}
		}
	}
}

// tellJoin puts what came of a JoinGroup into the words of the table, and checks the answer's shape.
func (s *scene) tellJoin(w joinWith, ticket Ticket) string {
	s.t.Helper()
	state := s.stateNow()
	if s.replies[ticket] == nil {
		return fmt.Sprintf("parked, %s", state)
	}
	resp := s.joined(ticket)
	if resp.ErrorCode != 0 {
		s.checkRefusal(w, resp)
		return fmt.Sprintf("%d, %s", resp.ErrorCode, state)
	}
	if resp.Generation != 1 || *resp.ProtocolType != "consumer" || *resp.Protocol != "range" {
		s.t.Fatalf("%+v", resp)
	}
	switch {
	case w.id == "":
		if resp.MemberID == s.static || s.c.groups[groupID].byInstance["i"].id != resp.MemberID || resp.LeaderID != s.leader {
			s.t.Fatalf("%+v", resp)
		}
		return fmt.Sprintf("replaced, %s", state)
	case resp.MemberID != w.id || resp.LeaderID != s.leader || resp.SkipAssignment:
		s.t.Fatalf("%+v", resp)
	case len(resp.Members) == 3:
		return fmt.Sprintf("leading, %s", state)
	case len(resp.Members) != 0:
		s.t.Fatalf("%+v", resp)
	}
	return fmt.Sprintf("current, %s", state)
}

func (s *scene) checkRefusal(w joinWith, resp *kmsg.JoinGroupResponse) {
	s.t.Helper()
	named := w.id
	switch resp.ErrorCode {
	case codeMemberIDRequired:
		named = "q-" + fmt.Sprint(s.c.issued)
	case codeUnknownServerError:
		named = ""
	}
	if resp.MemberID != named || resp.Generation != -1 || resp.LeaderID != "" || len(resp.Members) != 0 || resp.SkipAssignment ||
		resp.ProtocolType != nil || (resp.Protocol == nil) != (w.version >= 7) || resp.Protocol != nil && *resp.Protocol != "" {
		s.t.Fatalf("v%d: %+v", w.version, resp)
	}
}

// checkSideEffects checks what everybody else hears of a JoinGroup, and the log.
func (s *scene) checkSideEffects(name, outcome string) {
	s.t.Helper()
	written := len(s.bench.written) - s.written
	if want := outcome == "replaced, Stable"; (written == 1) != want || !want && written != 0 {
		s.t.Fatalf("%s wrote %d records", name, written)
	}
	if s.parkedJoin != 0 {
		s.unanswered(s.parkedJoin)
	}
	if s.parkedSync == 0 {
		return
	}
	if outcome == begins {
		wantCode(s.t, name+": the parked sync", s.synced(s.parkedSync).ErrorCode, codeRebalanceInProgress)
	} else {
		s.unanswered(s.parkedSync)
	}
}

// In PreparingRebalance the last member that joins again ends the phase, whoever it is; an issued id holds it up.
func TestLastToJoinEndsThePhase(t *testing.T) {
	for _, withPending := range []bool{false, true} {
		s := newScene(t, event.PreparingRebalance, withPending)
		l := s.join("l", joinWith{version: 9, id: s.leader, protocols: p2})
		f := s.join("f", joinWith{version: 9, id: s.follower, protocols: p2})
		i := s.join("i", static(s.staticInstance, joinWith{}))
		if withPending {
			s.unanswered(l, f, i, s.parkedJoin)
			x := s.join("x", joinWith{version: 9, id: s.pending, protocols: p2})
			wantCode(t, "x", s.joined(x).ErrorCode, 0)
		}
		for _, ticket := range []Ticket{l, f, i, s.parkedJoin} {
			if resp := s.joined(ticket); resp.ErrorCode != 0 || resp.Generation != 2 || resp.LeaderID != s.leader {
				t.Fatalf("%+v", resp)
			}
		}
		s.inState(event.CompletingRebalance)
	}
}
