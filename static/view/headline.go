package view

import (
	"strings"

	"grouplab/coordinator/event"
)

// sentence is the headline: what is waited for, and the clauses that say until when and why.
type sentence struct {
	Title   string
	Clauses [][]run
}

// Headline says in words who a group waits for, until when and why, in one line: for screen readers, titles and tests.
func Headline(m *Model, o Options) string {
	s := newStage(m, o)
	h := s.sentence()
	parts := []string{h.Title}
	for _, c := range h.Clauses {
		text := ""
		for _, r := range c {
			text += r.Text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// sentence does not say what comes next while a lesson asks just that.
func (s *stage) sentence() sentence {
	h := s.said()
	if s.o.ext != nil {
		h = s.o.ext.amend(s, h)
	}
	if s.asking() {
		h.Clauses = s.clauses(s.plain("head.asked"))
		switch w := s.waiting(); w.Kind { // what is waited for says by itself when it ends
		case WaitInitialDelay, WaitAppend:
			h.Title = s.t("head.what")
		}
	}
	return h
}

func (s *stage) said() sentence {
	if s.g == nil {
		return s.sentenceOfNothing()
	}
	w := s.waiting()
	switch w.Kind {
	case WaitInitialDelay:
		return sentence{s.t("head.initial", num(w.Here)), s.clausesOfDelay(w)}
	case WaitJoin:
		return s.sentenceOfJoin(w)
	case WaitAssignment:
		return s.sentenceOfAssignment(w)
	case WaitAppend:
		return sentence{s.t("head.append"), s.clauses(s.rich("end.append", s.ago(w.SinceMs)), s.began(w))}
	case WaitSync:
		return sentence{s.t("head.sync", num(len(w.Missing)), num(w.Of), s.missing(w)), s.clauses(s.end(w), s.plain("head.serves"))}
	case WaitLoad:
		return s.sentenceOfLoad(w)
	case WaitCoordinator:
		return s.sentenceOfNobody(w)
	}
	return s.sentenceOfRest(w)
}

func (s *stage) sentenceOfNothing() sentence {
	if s.o.Group != "" {
		if s.o.Live != nil && s.o.Live.Coming {
			return sentence{s.t("head.coming", name(s.o.Group)), nil}
		}
		return sentence{s.t("head.unknown", name(s.o.Group)), s.clauses(s.plain("head.unknown.sub"))}
	}
	if l := s.o.Live; l != nil && l.Bootstrap != "" {
		return sentence{s.t("head.none"), s.clauses(s.rich("head.none.live", l.Bootstrap))}
	}
	return sentence{s.t("head.none"), s.clauses(s.plain("head.none.sub"))}
}

func (s *stage) sentenceOfJoin(w Waiting) sentence {
	if len(w.Missing) == 0 {
		return sentence{s.t("head.join.all", num(w.Of)), s.clauses(s.hard(w), s.began(w))}
	}
	title := s.t("head.join", num(len(w.Missing)), num(w.Of), s.missing(w))
	return sentence{title, s.clauses(s.end(w), s.hard(w), s.began(w))}
}

func (s *stage) sentenceOfAssignment(w Waiting) sentence {
	if len(w.Missing) == 0 {
		return sentence{s.t("head.leaderless"), s.clauses(s.hard(w), s.began(w))}
	}
	return sentence{s.t("head.assignment", s.missing(w)), s.clauses(s.end(w), s.hard(w), s.began(w))}
}

func (s *stage) clausesOfDelay(w Waiting) [][]run {
	var most []run
	if w.MaxMs > w.EndMs {
		most = s.plain("end.extend", s.left(w.MaxMs))
	}
	return s.clauses(s.rich("end.delay", s.left(w.EndMs)), most, s.began(w))
}

func (s *stage) sentenceOfLoad(w Waiting) sentence {
	tape := s.m.Tapes[s.g.Partition]
	load := tape.Loads[tape.Leader]
	return sentence{s.t("head.load", num(tape.Leader), tapeName(s.g.Partition)),
		s.clauses(s.rich("end.load", num(load.Offset), num(load.End)), s.plain("head.load.sub"))}
}

func (s *stage) sentenceOfNobody(w Waiting) sentence {
	tape := s.m.Tapes[s.g.Partition]
	if w.EndBy == EndFence {
		return sentence{s.t("head.dead", num(tape.Leader)),
			s.clauses(s.rich("end.fence", s.left(w.EndMs)), s.plain("head.dead.sub", tapeName(s.g.Partition)))}
	}
	return sentence{s.t("head.nobody"), s.clauses(s.plain("head.nobody.sub", tapeName(s.g.Partition)))}
}

// sentenceOfRest is for a group that waits for nobody.
func (s *stage) sentenceOfRest(w Waiting) sentence {
	g := s.g
	switch {
	case g.Gone && g.State == event.Dead:
		return sentence{s.t("head.gone"), s.clauses(s.plain("head.gone.sub"))}
	case g.Broker == 0 && s.finder() != nil:
		c := s.finder()
		return sentence{s.t("head.found"), s.clauses(s.plain("head.found.sub", name(c.Name), num(c.Coordinator)))}
	case g.Broker == 0:
		return sentence{s.t("head.notyet"), s.clauses(s.plain("head.notyet.sub"))}
	case g.State == event.Empty && len(g.Pending) > 0:
		return s.sentenceOfPending()
	case g.State == event.Empty:
		return sentence{s.t("head.empty"), s.clauses(s.emptySince())}
	}
	title := s.t("head.stable", num(len(g.Present())))
	if ghost := s.ghostOf(g); ghost != nil {
		return sentence{s.t("head.stable.ghost", name(ghost.Label)), s.clauses(s.ghostEnds(ghost), s.plain("head.stable.ghost.sub", num(max(s.g.Paused, countPartitions(ghost.Assigned)))))}
	}
	return sentence{title, s.clauses(s.failing(), s.barrier(), s.rich("head.stable.since", s.ago(g.SinceMs)), s.nextSession(), s.lastRebalance())}
}

// finder is the first client by name that knows the coordinator of a group that is nowhere yet, nil where none does.
func (s *stage) finder() *Client {
	var first *Client
	for _, c := range s.m.Clients {
		if s.g != nil && len(s.g.States) < 2 && c.Group == s.g.Name && c.Alive && c.Coordinator != 0 && (first == nil || c.Name < first.Name) {
			first = c
		}
	}
	return first
}

// emptySince says for how long nobody was here, and when the first of the offsets expire.
func (s *stage) emptySince() []run {
	for _, f := range s.fates() {
		if f.Expires && f.atMs > s.m.NowMs {
			return s.rich("head.empty.expire", s.left(f.atMs), s.ago(s.g.SinceMs))
		}
	}
	return s.plain("head.empty.sub", s.ago(s.g.SinceMs))
}

// sentenceOfPending is for a group that has ids given out and no member.
func (s *stage) sentenceOfPending() sentence {
	first := s.g.Pending[0]
	for _, p := range s.g.Pending {
		if p.DeadlineMs < first.DeadlineMs {
			first = p
		}
	}
	key := "head.pending"
	if len(s.g.Pending) > 1 {
		key = "head.pending.many"
	}
	return sentence{s.t(key, num(len(s.g.Pending)), name(first.Label)),
		s.clauses(s.rich("head.pending.sub", s.left(first.DeadlineMs), name(first.Label)), s.plain("head.pending.rule"))}
}

// failing says that the log refuses what the group writes.
func (s *stage) failing() []run {
	if s.g.Failed == nil {
		return nil
	}
	return s.rich("head.failing", event.CodeName(s.g.Failed.Code))
}

// ghostOf is a member of a Stable group whose process is dead.
func (s *stage) ghostOf(g *Group) *Member {
	for _, mb := range g.Present() {
		if mb.Gone {
			return mb
		}
	}
	return nil
}

func (s *stage) ghostEnds(mb *Member) []run {
	op := s.g.SessionOp(mb.ID)
	if op == nil {
		return nil
	}
	return s.rich("head.ghost.ends", s.left(op.DeadlineMs))
}

// nextSession says whose session would run out first.
func (s *stage) nextSession() []run {
	var first *Op
	for _, op := range s.g.Ops {
		if op.Type == event.DelayedHeartbeat && !op.Pending && (first == nil || op.DeadlineMs < first.DeadlineMs) {
			first = op
		}
	}
	if first == nil {
		return nil
	}
	return s.plain("head.next", name(s.g.Label(first.Member)), s.left(first.DeadlineMs))
}

func (s *stage) lastRebalance() []run {
	if n := len(s.g.Generations); n > 0 && s.g.Began.Why != "" {
		g := s.g.Generations[n-1]
		if g.DurationMs > 0 {
			return s.plain("head.last", s.why(s.g.Began.Why, s.g.Label(s.g.Began.Member)), s.dur(g.DurationMs))
		}
	}
	return nil
}

// missing names who is missing: three at most, then how many more.
func (s *stage) missing(w Waiting) string {
	var list []string
	for i, miss := range w.Missing {
		if i == 3 {
			list = append(list, s.t("and.more", num(len(w.Missing)-3)))
			break
		}
		n := name(miss.Label)
		switch {
		case miss.Gone:
			n = s.t("missing.killed", n)
		case miss.Paused:
			n = s.t("missing.frozen", n)
		case miss.Pending:
			n = s.t("missing.pending", n)
		}
		list = append(list, n)
	}
	return strings.Join(list, s.t("comma"))
}

// end says what ends the wait first.
func (s *stage) end(w Waiting) []run {
	who := name(w.EndMember)
	switch w.EndBy {
	case EndSession:
		return s.rich("end.session", s.left(w.EndMs), who)
	case EndRebalanceTimeout:
		return s.rich("end.rebalance", s.left(w.EndMs), who)
	case EndPending:
		return s.rich("end.pending", s.left(w.EndMs), who)
	case EndRejoin:
		return s.endOfRejoin(w)
	case EndLeaderSync:
		return s.plain("end.leader", who)
	case EndSyncTimeout:
		return s.rich("end.sync", s.left(w.EndMs))
	}
	return nil
}

// endOfRejoin is for a wait that living members end by rejoining, and perhaps ghosts by running out.
func (s *stage) endOfRejoin(w Waiting) []run {
	var living []string
	var last *Missing
	for i, miss := range w.Missing {
		switch {
		case !miss.Gone && !miss.Paused && !miss.Pending:
			living = append(living, name(miss.Label))
		case miss.SessionEndsMs > 0 && (last == nil || miss.SessionEndsMs > last.SessionEndsMs):
			last = &w.Missing[i]
		}
	}
	if len(living) > 3 {
		living = append(living[:3], s.t("and.more", num(len(living)-3)))
	}
	who, count := strings.Join(living, s.t("comma")), num(len(living))
	if last == nil {
		return s.plain("end.rejoin", who, count)
	}
	return s.rich("end.rejoin.ghost", s.left(last.SessionEndsMs), name(last.Label), who, count)
}

// hard says when the wait ends at the latest, where that is not said already.
func (s *stage) hard(w Waiting) []run {
	if w.HardMs == 0 || w.EndBy == EndRebalanceTimeout || w.EndBy == EndSyncTimeout {
		return nil
	}
	if w.HardOf == "" {
		return s.plain("hard", s.left(w.HardMs))
	}
	return s.plain("hard.of", s.left(w.HardMs), name(w.HardOf))
}

func (s *stage) began(w Waiting) []run {
	if w.Began.Why == "" {
		return nil
	}
	text := s.t("began", s.why(w.Began.Why, w.BeganLabel))
	// Why a member joined for the first time says itself; clients have only one phrase for it.
	if r := w.Began.ClientReason; r != "" && w.Began.Why != event.WhyNewMember && w.Began.Why != event.WhyFirstMember {
		text += s.t("client.says", plainText(r, 90))
	}
	return []run{{Text: text}}
}

// why says a rule in words: "c3 joined".
func (s *stage) why(why event.Why, member string) string {
	key := "why." + string(why)
	if !s.knows(key) {
		return plainText(string(why), 60)
	}
	return s.t(key, name(member))
}

func (s *stage) plain(key string, args ...string) []run { return []run{{Text: s.t(key, args...)}} }

// clauses keeps those that have something to say.
func (s *stage) clauses(list ...[]run) [][]run {
	var kept [][]run
	for _, c := range list {
		if len(c) > 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// generation says "4" or, while a rebalance is under way, "4 → 5".
func (s *stage) generation() string {
	if s.g.State == event.PreparingRebalance {
		return num(s.g.Generation) + " → " + num(s.g.Generation+1)
	}
	return num(s.g.Generation)
}

func tapeName(partition int32) string { return offsetsTopic + "-" + num(partition) }
