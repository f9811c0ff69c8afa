package view

import "slices"

// Has tells whether the row is or was a member's.
func (l *Lane) Has(member string) bool {
	return l.Member == member || slices.Contains(l.Earlier, member)
}

// lane finds or makes a member's row. A member takes over the row of one that is gone and had the same label: a process
// that was restarted cleanly goes on where it stopped.
func (g *Group) lane(mb *Member) *Lane {
	for _, l := range g.Lanes {
		if l.Member == mb.ID {
			return l
		}
	}
	for _, l := range g.Lanes {
		if l.Label == mb.Label && !g.present(l.Member) {
			l.Earlier = append(slices.Clip(l.Earlier), l.Member)
			l.Member = mb.ID
			return l
		}
	}
	l := &Lane{Member: mb.ID, Label: mb.Label}
	g.Lanes = append(append([]*Lane(nil), g.Lanes...), l)
	return l
}

// span ends what the member did and begins something else. The same again changes nothing.
func (g *Group) span(mb *Member, kind SpanKind, atMs, deadlineMs int64) {
	l := g.lane(mb)
	if n := len(l.Spans); n > 0 && l.Spans[n-1].ToMs == 0 {
		last := &l.Spans[n-1]
		if last.Kind == kind {
			return
		}
		last.ToMs = max(atMs, last.FromMs)
		if last.ToMs == last.FromMs {
			l.Spans = l.Spans[: n-1 : n-1]
		}
	}
	l.Spans = keep(append(l.Spans, Span{Kind: kind, FromMs: atMs, DeadlineMs: deadlineMs}), maxSpans)
}

func (g *Group) endLane(mb *Member, atMs int64) {
	l := g.lane(mb)
	if n := len(l.Spans); n > 0 && l.Spans[n-1].ToMs == 0 {
		l.Spans[n-1].ToMs = atMs
	}
}

func (g *Group) mark(x Mark) { g.Marks = keep(append(g.Marks, x), maxMarks) }

func (g *Group) message(x Message) { g.Messages = keep(append(g.Messages, x), maxMarks) }
