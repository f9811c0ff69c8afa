package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// dayMs is how far the strip of generations goes back.
const dayMs = 24 * 3600 * 1000

// unknownCount stands for a number of partitions that nobody told.
const unknownCount = -1

// watchedGroup is what is told of the group on stage beside its coordinator's facts; nil where nothing is.
func (s *stage) watchedGroup() *Watched {
	w := s.m.Watch()
	if w == nil || s.g == nil {
		return nil
	}
	return w.Groups[s.g.Name]
}

// records are the generations of the group on stage within the last day, oldest first: those that were summed up, and after
// them those that the facts themselves tell.
func (s *stage) records() []Record {
	var list []Record
	if w := s.watchedGroup(); w != nil {
		for _, r := range w.Records {
			if r.StartedMs >= s.m.NowMs-dayMs {
				list = append(list, w.caused(r))
			}
		}
	}
	if s.g == nil {
		return list
	}
	for _, g := range s.g.Generations {
		if g.Why != event.WhyGroupLoaded && g.StartMs >= s.m.NowMs-dayMs && !slices.ContainsFunc(list, func(r Record) bool { return r.Generation == g.Number }) {
			list = append(list, s.recordOf(g))
		}
	}
	slices.SortStableFunc(list, func(a, b Record) int {
		switch {
		case a.StartedMs < b.StartedMs:
			return -1
		case a.StartedMs > b.StartedMs:
			return 1
		}
		return 0
	})
	return list
}

// caused puts in what was concluded later about a generation's cause.
func (g *Watched) caused(r Record) Record {
	if c, ok := g.Causes[r.Generation]; ok && c.Why != "" && (r.Why == "" || r.Confidence != "") {
		r.Why, r.Member, r.Confidence = c.Why, c.Member, c.Confidence
		if c.ClientReason != "" {
			r.ClientReason = c.ClientReason
		}
	}
	return r
}

// recordOf is a generation by the coordinator's own facts: what moved and what was lost is not counted there.
func (s *stage) recordOf(g Generation) Record {
	r := Record{Seq: g.Seq}
	r.Generation, r.Why, r.Member, r.Members = g.Number, g.Why, g.Member, g.Members
	r.StartedMs, r.JoinedMs = g.StartMs-g.DurationMs, g.StartMs
	r.Partitions, r.Moved = unknownCount, unknownCount
	if mb := s.g.Member(g.Member); mb != nil {
		r.ClientID = mb.ClientID
	}
	for _, span := range s.g.States {
		if span.State == event.Stable && span.FromMs >= g.StartMs && (g.EndMs == 0 || span.FromMs <= g.EndMs) {
			r.SettledMs = span.FromMs
			break
		}
	}
	return r
}

// lostMs is the time that partitions stood still in a generation's rebalance.
func (r *Record) lostMs() (sum int64) {
	for _, l := range r.Lost {
		sum += l.PartitionMs
	}
	return sum
}

// triggerOf names who brought a rebalance about: the client, else the member, else nobody.
func (s *stage) triggerOf(r *Record) string {
	switch {
	case r.ClientID != "":
		return r.ClientID
	case r.Member != "" && s.g != nil:
		return s.g.Label(r.Member)
	}
	return r.Member
}

// causeOf says a rebalance's cause in words.
func (s *stage) causeOf(r *Record) string {
	who := s.triggerOf(r)
	if who == "" {
		who = s.t("watch.somebody")
	}
	return s.why(r.Why, who)
}

// loop is how often in a row, up to now, the same client brought about a rebalance after which nothing had moved.
func (s *stage) loop(list []Record) (client string, times int) {
	for i := len(list) - 1; i >= 0; i-- {
		r := &list[i]
		who := s.triggerOf(r)
		if who == "" || r.Moved != 0 || client != "" && who != client {
			break
		}
		client, times = who, times+1
	}
	return client, times
}

// causeClass is the kind of a cause, by which it is drawn.
func causeClass(why event.Why) string {
	switch why {
	case event.WhyFirstMember, event.WhyNewMember, event.WhyMembersJoin, event.WhyPendingJoined, event.WhyStaticRestarted:
		return "cause-join"
	case event.WhyMemberLeft:
		return "cause-left"
	case event.WhySessionExpired, event.WhyMembersGone, event.WhyStaticAway, event.WhyPendingExpired, event.WhyNewMemberTimeout:
		return "cause-silent"
	case event.WhyNotRejoined, event.WhyNotSynced, event.WhyRebalanceTimeout, event.WhyNotRevoked, event.WhySyncAppendFailed, event.WhyLeaderNotRejoined, event.WhyLeaderAssigned:
		return "cause-late"
	case event.WhyMetadataChanged, event.WhyLeaderRejoined, event.WhyTopicsChanged, event.WhySecondStep:
		return "cause-meta"
	}
	return "cause-other"
}

// span is a moment that is known, or between which two it was.
func (s *stage) span(ms, hiMs int64) string {
	if ms == 0 {
		return "—"
	}
	if hiMs > ms {
		return s.t("watch.between", s.clock(ms), s.clock(hiMs))
	}
	return s.clock(ms)
}
