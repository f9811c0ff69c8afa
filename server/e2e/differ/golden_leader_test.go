//go:build interop

package differ

import (
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/coordinator/event"
)

// elections are the leaders that a script's groups are given in the place of others. Kafka takes the first member of a Java
// HashMap by id (ClassicGroup.remove, maybeElectNewJoinedLeader), so that ids decide, and they are chance; our coordinator
// takes the member that has been there for longest. A replay asks for ids until it has some for which both are the same.
type elections struct {
	members map[string][]string // by group, in the order of their coming
	behind  map[string][]string // by the id of one that was chosen: those that it was preferred to
	most    int                 // the most members that a group had
}

// mostInSlots is how many entries a Java HashMap has before it doubles its 16 slots.
const slots, mostInSlots = 16, 12

func (l *elections) apply(e event.Event) {
	if l.members == nil {
		l.members, l.behind = map[string][]string{}, map[string][]string{}
	}
	in := l.members[e.Group]
	switch b := e.Body.(type) {
	case event.MemberAdded:
		if !slices.Contains(in, b.Member) {
			in = append(in, b.Member)
		}
	case event.MemberReplaced:
		if at := slices.Index(in, b.Old); at >= 0 {
			in[at] = b.Member
		}
	case event.MemberRemoved:
		in = slices.DeleteFunc(in, func(id string) bool { return id == b.Member })
	case event.LeaderElected:
		if at := slices.Index(in, b.Member); at >= 0 && (b.Why == event.WhyLeaderGone || b.Why == event.WhyLeaderNotRejoined) {
			l.behind[b.Member] = append(l.behind[b.Member], in[at+1:]...) // who came before it could not be chosen
		}
	}
	l.members[e.Group] = in
	l.most = max(l.most, len(in))
}

// depth is how many elections in a row prefer others to a member.
func (l *elections) depth(id string) (d int) {
	for chosen, others := range l.behind {
		if slices.Contains(others, id) {
			d = max(d, l.depth(chosen)+1)
		}
	}
	return d
}

// span are the slots in which a member's id must be, from and below.
func (l *elections) span(id string) (from, below int) {
	levels, matters := 1, false
	for chosen, others := range l.behind {
		matters = matters || chosen == id && len(others) > 0 || slices.Contains(others, id)
		for _, o := range others {
			levels = max(levels, l.depth(o)+1)
		}
	}
	if !matters {
		return 0, slots
	}
	d := l.depth(id)
	return slots * d / levels, slots * (d + 1) / levels
}

// slot is where a Java HashMap of 16 slots has a string.
func slot(id string) int {
	var h int32
	for _, unit := range utf16.Encode([]rune(id)) {
		h = 31*h + int32(unit)
	}
	return int((uint32(h) ^ uint32(h)>>16) % slots)
}

// fitting asks for other ids until one is in the slots that the script's leaders need. The ids before it leave: nobody waits
// for them then. An id that is given with its first generation cannot be chosen.
func (r *replay) fitting(s sent, said string, a kmsg.Response) kmsg.Response {
	j, isJoin := a.(*kmsg.JoinGroupResponse)
	if !isJoin || said == "" || j.MemberID == "" || r.members[said] != "" {
		return a
	}
	from, below := r.trace.leaders.span(said)
	fits := func() bool { at := slot(j.MemberID); return from <= at && at < below }
	for !fits() && j.ErrorCode == kerr.MemberIDRequired.Code {
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Version, leave.Group = 3, s.request.(*kmsg.JoinGroupRequest).Group
		leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: j.MemberID}}
		j = r.ask(s.actor, s.request).(*kmsg.JoinGroupResponse)
		if left := r.ask(s.actor, leave).(*kmsg.LeaveGroupResponse); left.ErrorCode != 0 || len(left.Members) != 1 || left.Members[0].ErrorCode != 0 {
			r.stop("an id that was issued cannot leave: %+v", left)
		}
		r.chosen++
	}
	if !fits() {
		r.stop("the id %s has slot %d, and must have one from %d to %d: Kafka will choose another leader than the script", j.MemberID, slot(j.MemberID), from, below-1)
	}
	return j
}

// comparable tells whether the leaders of a script can be had from Kafka.
func (l *elections) comparable(name string) error {
	if l.most > mostInSlots && len(l.behind) > 0 {
		return fmt.Errorf("%s: a group has %d members, and a leader is chosen: with more than %d a Java HashMap is larger than is reckoned with here", name, l.most, mostInSlots)
	}
	return nil
}
