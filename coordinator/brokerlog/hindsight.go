package brokerlog

import "grouplab/coordinator/event"

// hindsight is what later lines say of what begins with a saying.
type hindsight struct {
	// before are members that were there before the lines begin: the first that is said of them is that they are members. It stands at
	// the first saying of a group.
	before []string
	// partition is that of __consumer_offsets, by the first line that names it, there too; -1 where none does.
	partition int32
	// ends are the members whose end ended a join phase, by id. It stands where the phase begins.
	ends map[string]ending
}

type ending struct {
	atMs int64
	why  event.Why
}

// foresee reads sayings once, in order, and puts what is learned later to where it matters.
func foresee(all []saying) {
	groups := map[string]*foreseen{}
	for i := range all {
		s := &all[i]
		if s.Group == "" {
			continue
		}
		f := groups[s.Group]
		if f == nil {
			if len(groups) >= maxGroups {
				continue
			}
			f = &foreseen{first: s, seen: map[string]bool{}, partition: -1}
			groups[s.Group] = f
		}
		f.take(s)
	}
}

type foreseen struct {
	first     *saying
	seen      map[string]bool
	partition int32
	wait      *saying // where the join phase under way begins
}

func (f *foreseen) take(s *saying) {
	if p := s.partitionOf(); p >= 0 && f.partition < 0 {
		f.partition = p
		f.hind(f.first).partition = p
	}
	switch s.kind {
	case preparing:
		r, _ := reasonOf(s.Text)
		for _, id := range membersIn(r.member) {
			f.mention(id, r.why == event.WhyNewMember)
		}
		f.wait = s
	case stabilized, becameEmpty:
		f.wait = nil
	case joinedNew, joinedPending, joinedStatic, memberJoins, staticJoins, issuedID:
		f.mention(s.Member, true)
	case failed:
		f.mention(s.Member, false)
		f.end(s.Member, ending{s.AtMs, event.WhySessionExpired})
	case notJoined:
		for _, id := range membersIn(s.Text) {
			f.mention(id, false)
			f.end(id, ending{s.AtMs, event.WhyNotRejoined})
		}
	case notSynced:
		for _, id := range membersIn(s.Text) {
			f.mention(id, false)
		}
	case left, assigned, memberLeaves, memberFenced, memberSlow, memberState, topicsUpdated, staticAway:
		f.mention(s.Member, false)
	case replacedStatic, staticRejoins:
		f.mention(s.Other, false)
		f.seen[s.Member] = true
	}
}

func (f *foreseen) hind(s *saying) *hindsight {
	if s.hind == nil {
		s.hind = &hindsight{partition: -1}
	}
	return s.hind
}

func (f *foreseen) mention(id string, joins bool) {
	if id == "" || f.seen[id] || len(f.seen) >= maxMembers {
		return
	}
	f.seen[id] = true
	if !joins {
		h := f.hind(f.first)
		h.before = append(h.before, id)
	}
}

func (f *foreseen) end(id string, e ending) {
	if f.wait == nil || id == "" {
		return
	}
	h := f.hind(f.wait)
	if h.ends == nil {
		h.ends = map[string]ending{}
	}
	h.ends[id] = e
}
