//go:build interop

package differ

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// corner is what clients seldom send, put to a group of its own.
type corner struct {
	name string
	put  func(*side)
}

// TestCornersAreAnsweredAlike puts what is not in the tables: empty lists, names and partitions that come twice, filters,
// full groups, ids under instance ids that were issued without.
func TestCornersAreAnsweredAlike(t *testing.T) {
	small := maps.Clone(configuration)
	small["group.max.size"] = "2"
	theirs, ours := startBoth(t, small)
	corners := append(cornersOfGroups(), cornersOfOffsets()...)
	for v := int16(3); v <= 6; v++ {
		corners = append(corners, corner{fmt.Sprintf("DescribeGroups v%d with what is allowed", v), func(s *side) {
			s.ask("m", commit(8, s.group, "", nil, -1, "orders", 0))
			r := describe(v, s.group, s.group+"-absent")
			r.IncludeAuthorizedOperations = true
			s.tell("a", r)
		}})
	}
	jobs := make([]job, len(corners))
	for i, c := range corners {
		jobs[i] = job{c.name, c.put}
	}
	report(t, askAll(t, theirs, ours, jobs))
}

// pair brings two members into Stable and returns their ids.
func (s *side) pair() (a, b string) {
	first := join(3, s.group, "", nil, both...)
	one := s.ask("a", first).(*kmsg.JoinGroupResponse)
	s.ask("a", syncGroup(4, s.group, one.MemberID, nil, one.Generation, nil))
	s.send("b", first)
	time.Sleep(settle)
	again := s.ask("a", join(3, s.group, one.MemberID, nil, both...)).(*kmsg.JoinGroupResponse)
	two := s.receive("b", first).(*kmsg.JoinGroupResponse)
	s.ask("a", syncGroup(4, s.group, one.MemberID, nil, again.Generation, nil))
	s.ask("b", syncGroup(4, s.group, two.MemberID, nil, two.Generation, nil))
	return one.MemberID, two.MemberID
}

// issue takes the first step of KIP-394.
func (s *side) issue(protocols ...string) string {
	id := s.ask("p", join(9, s.group, "", nil, protocols...)).(*kmsg.JoinGroupResponse).MemberID
	s.name(id)
	return id
}

func cornersOfGroups() []corner {
	x := kmsg.StringPtr("x")
	list := []corner{
		{"JoinGroup of a full group", func(s *side) {
			_, b := s.pair()
			for _, r := range []*kmsg.JoinGroupRequest{join(9, s.group, "", nil, both...), join(3, s.group, "", nil, both...),
				join(9, s.group, "stranger", nil, both...), join(9, s.group, "", x, both...), join(9, s.group, b, x, both...),
				join(9, s.group, "stranger", nil), join(9, s.group, b, nil, both...)} {
				s.tell("c", r)
			}
		}},
		{"JoinGroup of an issued id with an instance id", func(s *side) {
			id := s.issue(both...)
			s.tell("p", join(9, s.group, id, x, both...))
			s.tell("p", join(5, s.group, id, x, both...))
			s.tell("p", join(9, s.group, id, nil))
			s.tell("p", join(9, s.group, id, nil, both...))
		}},
		{"JoinGroup with the protocols in another order", func(s *side) {
			a, b := s.pair()
			s.tell("b", join(9, s.group, b, nil, both...))
			other := join(9, s.group, b, nil, both[1], both[0])
			s.tell("b", other)
			s.tell("a", join(9, s.group, a, nil, both...))
			s.tellNext("b", other, parkedAfter)
		}},
		{"LeaveGroup that names a member twice", func(s *side) {
			a, b := s.pair()
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Version, r.Group, r.Members = 5, s.group, []kmsg.LeaveGroupRequestMember{{MemberID: b}, {MemberID: b}, {MemberID: a}, {}}
			s.tell("l", r)
			s.tell("l", describe(5, s.group))
		}},
	}
	for _, v := range []int16{3, 7, 9} {
		list = append(list, corner{fmt.Sprintf("JoinGroup v%d with a protocol that has no name", v), func(s *side) {
			id := ""
			if v >= 4 {
				id = s.issue("")
			}
			if a, ok := s.tell("m", join(v, s.group, id, nil, "")).(*kmsg.JoinGroupResponse); ok {
				s.tell("m", syncGroup(4, s.group, a.MemberID, nil, a.Generation, map[string][]byte{a.MemberID: []byte("x")}, a.MemberID))
				s.tell("l", describe(5, s.group))
			}
		}})
	}
	for v := int16(0); v <= 5; v++ {
		list = append(list, corner{fmt.Sprintf("the empty group id and nobody, v%d", v), func(s *side) {
			r := kmsg.NewPtrLeaveGroupRequest()
			r.Version, r.Group = v, s.group
			s.tell("a", r)
			s.ask("m", commit(8, s.group, "", nil, -1, "orders", 0))
			s.tell("a", r)
			r.Group = ""
			s.tell("a", r)
			s.tell("b", join(v, "", "x", nil, "range"))
			s.tell("c", syncGroup(v, "", "x", nil, 1, nil))
			s.tell("d", &kmsg.HeartbeatRequest{Version: min(v, 4), MemberID: "x"})
		}})
	}
	for _, f := range [][2][]string{{{" Empty "}, nil}, {{"nonsense"}, nil}, {nil, {" classic"}}, {nil, {"CLASSIC"}}, {nil, {"nonsense"}}, {{"eMPTY", "x"}, {"x", "classic"}}} {
		list = append(list, corner{fmt.Sprintf("ListGroups of states %q and types %q", f[0], f[1]), func(s *side) {
			s.ask("m", commit(8, s.group, "", nil, -1, "orders", 0))
			r := kmsg.NewPtrListGroupsRequest()
			r.Version, r.StatesFilter, r.TypesFilter = 5, f[0], f[1]
			a := s.ask("a", r).(*kmsg.ListGroupsResponse)
			found := false
			for _, g := range a.Groups {
				found = found || g.Group == s.group
			}
			s.told = append(s.told, fmt.Sprintf("code %d, listed %v", a.ErrorCode, found))
		}})
	}
	return list
}

func cornersOfOffsets() []corner {
	list := []corner{
		{"OffsetCommit of a partition twice", func(s *side) {
			r := commit(9, s.group, "", nil, -1, "orders", 0, 0)
			r.Topics[0].Partitions[1].Offset = 777
			s.tell("m", r)
			s.tell("m", fetch(8, s.group, true, []int32{0}, "orders"))
		}},
		{"OffsetCommit of a topic twice", func(s *side) {
			r, more := commit(9, s.group, "", nil, -1, "orders", 0), commit(9, s.group, "", nil, -1, "orders", 0, 1)
			more.Topics[0].Partitions[0].Offset = 777
			r.Topics = append(r.Topics, more.Topics[0])
			s.tell("m", r)
			s.tell("m", fetch(8, s.group, true, []int32{0}, "orders"))
		}},
		{"OffsetCommit of nothing", func(s *side) {
			r := commit(9, s.group, "x", nil, 4, "orders")
			s.tell("m", r)
			r.Topics = nil
			s.tell("m", r)
			s.tell("m", describe(6, s.group))
		}},
		{"OffsetCommit of what is not there", func(s *side) {
			s.tell("m", commit(9, s.group, "", nil, -1, "absent", 0))
			s.tell("m", commit(9, s.group, "", nil, -1, "orders", 99))
			s.tell("m", describe(6, s.group))
		}},
	}
	for v := int16(2); v <= 9; v++ {
		list = append(list, corner{fmt.Sprintf("OffsetFetch v%d of no topics", v), func(s *side) {
			s.ask("m", commit(8, s.group, "", nil, -1, "orders", 0))
			r := fetch(v, s.group, false, nil)
			r.Topics, r.Groups[0].Topics = []kmsg.OffsetFetchRequestTopic{}, []kmsg.OffsetFetchRequestGroupTopic{}
			s.tell("a", r)
		}})
	}
	return list
}
