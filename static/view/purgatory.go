package view

import (
	"slices"
	"sort"

	"grouplab/coordinator/event"
)

// opCard is one delayed operation at door A.
type opCard struct {
	Op        *Op
	Key       string // for data-arg
	Glyph     string
	Type      string
	Under     string
	Condition string
	Left      string
	Brief     string // Left in at most seven characters
	// Done is the elapsed part of its time; End where the wait is expected to end on the same scale, -1 where unknown.
	Done, End float64
	Winner    bool
	Idle      bool   // held: nothing happens when it fires
	Why       string // why it is idle, in one word
	Locked    bool   // only time ends it
	Knocked   bool
	Limit     string // whose timeout the deadline is, where it is somebody's
	// Parts are where the stretches of an initial delay begin, on the scale of Done. The deadline is at Edge: beyond it lies how
	// far newcomers may still extend it.
	Parts []float64
	Edge  float64
	Says  string // beside the name, for those who do not see the bar
}

// opRows is the most short rows that are drawn.
const opRows = 12

// opCards are the group's operations: cards for those that rule the phase and the one that ends the wait, short rows for
// the rest, the next to fire first, and how many more there are.
func (s *stage) opCards() (cards, rest []opCard, more int) {
	if s.g == nil {
		return nil, nil, 0
	}
	ops := append([]*Op(nil), s.g.Ops...)
	sort.SliceStable(ops, func(i, j int) bool { return ops[i].DeadlineMs < ops[j].DeadlineMs })
	for _, op := range ops {
		if op.Type != event.DelayedHeartbeat {
			cards = append(cards, s.opCard(op))
		}
	}
	for _, op := range ops {
		switch {
		case op.Type != event.DelayedHeartbeat:
		case op == s.winner():
			cards = append(cards, s.opCard(op))
		case len(rest) < opRows:
			rest = append(rest, s.opCard(op))
		default:
			more++
		}
	}
	return cards, rest, more
}

// winner is the operation that will end the wait, nil where none will.
func (s *stage) winner() *Op {
	if !s.settled {
		s.settled, s.ending = true, s.findWinner(s.waiting())
	}
	return s.ending
}

func (s *stage) findWinner(w Waiting) *Op {
	for _, op := range s.g.Ops {
		switch {
		case w.EndBy == EndInitialDelay && op.Type == event.InitialDelayedJoin,
			w.EndBy == EndRebalanceTimeout && op.Type == event.DelayedJoin,
			w.EndBy == EndSyncTimeout && op.Type == event.DelayedSync,
			(w.EndBy == EndSession || w.EndBy == EndPending) && op.Type == event.DelayedHeartbeat && op.DeadlineMs == w.EndMs && s.g.Label(op.Member) == w.EndMember:
			return op
		}
	}
	return nil
}

func (s *stage) opCard(op *Op) opCard {
	w, winner := s.waiting(), s.winner()
	c := opCard{Op: op, Key: "op:" + num(op.Key.Broker) + ":" + num(op.Key.Op), Type: string(op.Type), Under: s.under(op), Glyph: opGlyph(op.Type),
		Left: s.left(op.DeadlineMs), End: -1, Winner: op == winner && !s.asking(), Locked: op.Type == event.InitialDelayedJoin}
	startMs, endMs := op.StartMs, op.DeadlineMs
	if c.Locked && len(s.g.Delays) > 0 {
		// Most of what newcomers could add would make the rest too small to see.
		startMs, endMs = s.g.Delays[0], op.DeadlineMs+min(op.RemainingMs, 2*(op.DeadlineMs-op.StartMs))
	}
	whole := float64(max(endMs-startMs, 1))
	c.Done = float64(s.m.NowMs-startMs) / whole
	c.Edge = float64(op.DeadlineMs-startMs) / whole
	if c.Locked {
		for _, at := range s.g.Delays[min(1, len(s.g.Delays)):] {
			c.Parts = append(c.Parts, float64(at-startMs)/whole)
		}
	}
	if op.Type == event.DelayedJoin && op.DeadlineOf != "" {
		c.Limit = s.t("op.limit", short(s.g.Label(op.DeadlineOf), 9))
	}
	if op.Type != event.DelayedHeartbeat && w.EndMs > op.StartMs && w.EndMs < op.DeadlineMs && !s.asking() {
		c.End = float64(w.EndMs-op.StartMs) / whole
	}
	if c.Winner {
		c.End = c.Edge
	}
	c.Brief = s.brief(op.DeadlineMs - s.m.NowMs)
	c.Condition, c.Idle = s.condition(op, w)
	c.Why = s.t("op.held")
	if op.New {
		c.Why = s.t("op.new")
	}
	if c.Idle {
		c.Condition += ": " + s.t("op.idle")
	}
	if k := s.m.Knocked(); k != nil && k.Key == op.Key && k.AtMs == s.m.NowMs {
		c.Knocked = true
	}
	c.Says = s.t("op.says", c.Type, c.Condition, c.Left)
	return c
}

// under is what an operation is watched under, said shortly: the member, or the group.
func (s *stage) under(op *Op) string {
	if op.Member != "" {
		return plainText(s.g.Label(op.Member), 28)
	}
	return short(op.Group, 20)
}

// briefMost is the longest name in a short row where three stand beside each other.
const briefMost = 8

// brief is the name in a short row.
func (c opCard) brief() string { return cut(c.Under, 18) }

// spacious tells whether the names of short rows need the room of half the width.
func spacious(list []opCard) bool {
	return slices.ContainsFunc(list, func(c opCard) bool {
		return len([]rune(c.brief())) > briefMost || c.Idle && len([]rune(c.brief())) > 4
	})
}

// condition is what would end an operation early, and whether nothing happens when it fires.
func (s *stage) condition(op *Op, w Waiting) (text string, idle bool) {
	switch op.Type {
	case event.InitialDelayedJoin:
		return s.t("cond.initial"), false
	case event.DelayedJoin:
		text := s.t("cond.join", num(w.Here), num(w.Of))
		if op.Rearmed {
			text = "↻ " + s.t("cond.rearmed") + s.t("comma") + text
		}
		return text, false
	case event.DelayedSync:
		synced := 0
		for _, mb := range s.g.Present() {
			if !mb.AwaitsSync {
				synced++
			}
		}
		return s.t("cond.sync", num(synced), num(len(s.g.Present()))), false
	}
	switch {
	case op.Pending:
		return s.t("cond.pending"), false
	case op.New:
		return s.t("cond.new"), true
	case s.g.ParkedJoin(op.Member) != nil || s.g.ParkedSync(op.Member) != nil:
		return s.t("cond.held"), true
	}
	return s.t("cond.silent", s.ago(op.StartMs)), false
}

// sweep is what lies in the watch lists of the coordinator's purgatories though it is over, and how many operations are over
// since the last purge in the one that is next to be purged; of a broker that tells nothing, nothing.
func (s *stage) sweep() (unswept, over int) {
	if s.g == nil {
		return 0, 0
	}
	b := s.m.Brokers[s.g.Broker]
	if b == nil {
		return 0, 0
	}
	return b.Heartbeats.Unswept + b.Rebalances.Unswept, max(b.Heartbeats.Over, b.Rebalances.Over)
}

// purgeCard explains what becomes of operations that are over.
func (s *stage) purgeCard() *card {
	if s.g == nil || s.m.Brokers[s.g.Broker] == nil {
		return nil
	}
	b := s.m.Brokers[s.g.Broker]
	c := &card{Title: s.t("broker", num(b.ID))}
	c.add("DelayedHeartbeat", s.t("purge.held", num(b.Heartbeats.Unswept), num(b.Heartbeats.Over)))
	c.add("DelayedJoin, DelayedSync", s.t("purge.held", num(b.Rebalances.Unswept), num(b.Rebalances.Over)))
	c.add(s.t("card.rule"), s.t("purge.rule", num(purgeInterval)))
	s.code(c, "OperationCompleted")
	return c
}

func opGlyph(t event.OpKind) string {
	switch t {
	case event.DelayedHeartbeat:
		return "♥"
	case event.DelayedSync:
		return "⇄"
	}
	return "⇥"
}

// diamondAt draws a diamond that stays within its bar at both ends.
func diamondAt(fraction float64) string {
	switch {
	case fraction > 0.97:
		return "M-5 -7l5 7-5 7-5-7z"
	case fraction < 0.03:
		return "M5 -7l5 7-5 7-5-7z"
	}
	return "M0 -7l5 7-5 7-5-7z"
}
