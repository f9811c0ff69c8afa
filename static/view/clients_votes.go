package view

import "slices"

// votes are the protocols that a member can do, the one that it votes for first (ClassicGroup.vote: the first of its own that
// all members can do). Where every member names the same single one there is nothing to vote on, and nothing is drawn.
func (s *stage) votes(mb *Member) []noted {
	if mb.Removed || !s.ballot() {
		return nil
	}
	var list []noted
	voted := false
	for _, p := range mb.Protocols {
		m := noted{Text: plainText(p, 24), Old: !s.candidate(p)}
		switch {
		case m.Old:
			m.Says = s.t("vote.no")
		case !voted:
			m.Says, voted = s.t("vote.for"), true
		}
		list = append(list, m)
	}
	return list
}

// ballot tells whether the members have a choice, or none in common.
func (s *stage) ballot() bool {
	first := ""
	for _, mb := range s.g.Members {
		if mb.Removed || len(mb.Protocols) == 0 {
			continue
		}
		if len(mb.Protocols) > 1 || first != "" && mb.Protocols[0] != first {
			return true
		}
		first = mb.Protocols[0]
	}
	return false
}

// candidate tells whether every member can do a protocol.
func (s *stage) candidate(protocol string) bool {
	return !slices.ContainsFunc(s.g.Members, func(mb *Member) bool {
		return !mb.Removed && len(mb.Protocols) > 0 && !slices.Contains(mb.Protocols, protocol)
	})
}
