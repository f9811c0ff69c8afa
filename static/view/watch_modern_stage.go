package view

import (
	"slices"
	"strings"

	"grouplab/coordinator/event"
)

// modernStates in the order of the machine.
var modernStates = []event.State{event.Empty, event.Assigning, event.Reconciling, event.Stable, event.Dead}

// classicOf is the classic state in whose place a state of a consumer group is drawn.
func classicOf(st event.State) event.State {
	switch st {
	case event.Assigning:
		return event.PreparingRebalance
	case event.Reconciling:
		return event.CompletingRebalance
	}
	return st
}

func (s *stage) lastModernEdge(e edge) bool {
	return s.g != nil && s.g.LastSeq != 0 && classicOf(s.g.Last.From) == e.From && classicOf(s.g.Last.To) == e.To
}

// modern is the reconciliation of the group on stage, nil where it is a classic group or not known to be another.
func (s *stage) modern() *Modern {
	if w := s.watchedGroup(); w != nil {
		return w.Modern
	}
	return nil
}

// epochs say where the group is: its epoch, and that of the target assignment.
func (s *stage) epochs() string {
	m := s.modern()
	if m == nil {
		return ""
	}
	return s.t("watch.epochs", num(max(m.Epoch, s.g.Generation)), num(m.Target), num(m.Moved))
}

// modernStep is a member on its way to its target.
type modernStep struct {
	ID, Label, Instance, Epochs, Says string
	Chips                             []chip
	Done, Removed                     bool
}

// modernSteps are the members in the order of joining.
func (s *stage) modernSteps() []modernStep {
	m := s.modern()
	if m == nil {
		return nil
	}
	var list []modernStep
	for _, mb := range s.g.Members {
		r, told := m.Members[mb.ID]
		st := modernStep{ID: mb.ID, Label: name(mb.Label), Instance: plainText(mb.InstanceID, 24), Removed: mb.Removed, Epochs: "—", Says: s.t("watch.step.unknown")}
		if mb.Removed {
			st.Done, st.Says = true, s.t("watch.step.removed")
		} else if told {
			s.tellStep(m, &st, r)
		}
		st.Chips = s.modernChips(m, mb, r)
		list = append(list, st)
	}
	return list
}

func (s *stage) tellStep(m *Modern, st *modernStep, r event.MemberReconciled) {
	epoch := max(m.Epoch, s.g.Generation)
	st.Epochs = num(r.Epoch)
	if r.Epoch >= 0 && r.Epoch < epoch {
		st.Epochs += " → " + num(epoch)
	}
	switch {
	case r.Epoch == epochAway:
		st.Epochs, st.Says, st.Done = "−2", s.t("watch.step.away"), true
	case r.State == stateUnrevoked:
		st.Says = s.t("watch.step.revoke", event.Partitions(r.Revoking))
	case r.State == stateUnreleased:
		var who []string
		for _, id := range r.WaitsFor {
			who = append(who, name(s.g.Label(id)))
		}
		if len(who) == 0 {
			who = []string{s.t("watch.others")}
		}
		st.Says = s.t("watch.step.waits", strings.Join(who, s.t("comma")))
	case r.Epoch < epoch:
		st.Says = s.t("watch.step.behind")
	default:
		st.Says, st.Done = s.t("watch.step.done"), true
	}
}

// modernChips are a member's partitions: those it has, those it gives up, those it is to get.
func (s *stage) modernChips(m *Modern, mb *Member, r event.MemberReconciled) []chip {
	var list []chip
	add := func(topics []event.TopicPartitions, class, says string, skip []event.TopicPartitions) {
		for _, t := range topics {
			for _, p := range t.Partitions {
				if !holds(skip, t.Topic, p) && len(list) < 40 {
					list = append(list, chip{partitionName(t.Topic, p), class, s.t(says), t.Topic, p})
				}
			}
		}
	}
	add(r.Assigned, "chip-owned", "chip.owned", r.Revoking)
	add(r.Revoking, "chip-stuck", "watch.chip.revoking", nil)
	if !mb.Removed {
		add(m.target(mb.ID), "chip-held", "watch.chip.target", append(slices.Clone(r.Assigned), r.Revoking...))
	}
	return list
}

func holds(topics []event.TopicPartitions, topic string, p int32) bool {
	for _, t := range topics {
		if t.Topic == topic && slices.Contains(t.Partitions, p) {
			return true
		}
	}
	return false
}

// reached counts the members that wait for nothing.
func (s *stage) reached() int {
	n := 0
	for _, st := range s.modernSteps() {
		if st.Done {
			n++
		}
	}
	return n
}

// awaitedRow is a member that a rebalance may be waiting for.
type awaitedRow struct {
	Label, Says string
	Sure        bool
}

// awaitedRows are whom the group on stage may be waiting for, as far as that is known from outside.
func (s *stage) awaitedRows() []awaitedRow {
	w := s.watchedGroup()
	if w == nil || w.Awaited == nil || w.Awaited.State != s.g.State {
		return nil
	}
	var rows []awaitedRow
	for _, a := range w.Awaited.Awaited {
		r := awaitedRow{Label: name(s.g.Label(a.Member)), Sure: a.Sure}
		key := "watch.awaited.maybe"
		if a.Sure {
			key = "watch.awaited.sure"
		}
		r.Says = s.t(key)
		if a.SeenMs > 0 {
			r.Says += s.t("comma") + s.t("watch.awaited.seen", s.ago(a.SeenMs))
		}
		if a.ExpiresHiMs > 0 {
			r.Says += s.t("comma") + s.t("watch.awaited.expires", s.left(a.ExpiresMs), s.left(a.ExpiresHiMs))
		}
		rows = append(rows, r)
	}
	return rows
}

// observed puts what an observer can know into the headline, and what a consumer group waits for.
func (s *stage) observed(h sentence) sentence {
	if s.g == nil || s.g.Gone {
		return h
	}
	if m := s.modern(); m != nil && inMotion(s.g.State) {
		h = s.modernSentence(m)
	} else if s.attached() != nil && inMotion(s.g.State) && s.m.Waiting(s.g.Name).Kind != WaitCoordinator {
		h = s.outsideSentence()
	}
	if w := s.watchedGroup(); w != nil {
		for _, generation := range []int32{s.g.Generation + 1, s.g.Generation} {
			if c, ok := w.Causes[generation]; ok && inMotion(s.g.State) == (generation > s.g.Generation) {
				h.Clauses = append(h.Clauses, s.plain("watch.head.cause", s.why(c.Why, name(s.g.Label(c.Member))), s.sure(c.Confidence)))
				break
			}
		}
	}
	if b := s.blindTo(s.g.Name, s.g.Broker, s.g.Partition); b != nil {
		h.Clauses = append(h.Clauses, s.rich("watch.head.stale", s.ago(b.SinceMs), plainText(b.Source, 60)))
	}
	return h
}

// modernSentence says what a consumer group in motion waits for.
func (s *stage) modernSentence(m *Modern) sentence {
	if s.g.State == event.Assigning {
		return sentence{s.t("watch.head.assigning", num(m.Epoch)), s.clauses(s.rich("watch.head.since", s.ago(s.g.SinceMs)), s.began(s.waiting()))}
	}
	steps := s.modernSteps()
	var open []string
	for _, st := range steps {
		if !st.Done && len(open) < 3 {
			open = append(open, st.Label)
		}
	}
	left := len(steps) - s.reached()
	return sentence{s.t("watch.head.reconciling", num(left), num(len(steps)), strings.Join(open, s.t("comma"))),
		s.clauses(s.rich("watch.head.since", s.ago(s.g.SinceMs)), s.plain("watch.head.others"), s.began(s.waiting()))}
}

// outsideSentence is for a classic group that is observed: who has rejoined is not in the log.
func (s *stage) outsideSentence() sentence {
	w := s.watchedGroup()
	var names []string
	deadline := int64(0)
	if w != nil && w.Awaited != nil && w.Awaited.State == s.g.State {
		for i, a := range w.Awaited.Awaited {
			if i == 3 {
				names = append(names, s.t("and.more", num(len(w.Awaited.Awaited)-3)))
				break
			}
			names = append(names, name(s.g.Label(a.Member)))
		}
		deadline = max(w.Awaited.DeadlineHiMs, w.Awaited.DeadlineMs)
	}
	title := s.t("watch.head.unknown")
	switch {
	case len(names) > 0 && s.g.State == event.CompletingRebalance:
		title = s.t("head.assignment", strings.Join(names, s.t("comma")))
	case len(names) > 0:
		title = s.t("watch.head.maybe", strings.Join(names, s.t("comma")))
	}
	var end []run
	if deadline > 0 {
		end = s.rich("watch.head.latest", s.left(deadline))
	}
	return sentence{title, s.clauses(s.rich("watch.head.since", s.ago(s.g.SinceMs)), end, s.began(s.waiting()))}
}
