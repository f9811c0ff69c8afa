package tab

import (
	"slices"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// heldMoment is a moment of a recording that is kept, with the recording: another one may be open when it is compared.
type heldMoment struct {
	view.Held
	play *replay
}

// shortestMs is how much has to follow both moments for a comparison.
const shortestMs = 100

// heldAct keeps a moment, compares with it, or lets it go.
func (m *recordingMode) heldAct(action, arg string) bool {
	switch action {
	case "rec-hold":
		spanMs := int64(2 * 60_000)
		if m.held != nil {
			spanMs = m.held.SpanMs
		}
		m.held = &heldMoment{view.Held{Name: m.name, Group: m.t.options.Group, AtMs: m.play.nowMs, SpanMs: spanMs}, m.play}
		m.beside = nil
		m.note("held.done")
	case "rec-let-go":
		m.held, m.beside = nil, nil
	case "compare": // its close button
		m.beside = nil
	case "rec-compare-span":
		n, ok := number(arg)
		if !ok || m.held == nil || !slices.Contains(view.CompareSpans(), n) {
			return false
		}
		m.held.SpanMs = n
		if m.beside != nil {
			m.compareHeld()
		}
	case "rec-compare":
		if m.held == nil {
			m.note("held.none")
			return true
		}
		m.compareHeld()
	}
	return true
}

// compareHeld shows both moments from their beginning on, as far as both recordings go.
func (m *recordingMode) compareHeld() {
	h, p, group := m.held, m.play, m.t.options.Group
	from := p.nowMs
	span := min(h.SpanMs, p.endMs()-from, h.play.endMs()-h.AtMs)
	if span < shortestMs {
		m.beside = nil
		m.note("held.end")
		return
	}
	x := &view.Comparison{Label: m.words("compared"), UntilMs: span}
	x.At, x.This = p.excerpt(group, group, from, 0), p.excerpt(group, group, from, span)
	x.OtherAt, x.Other = h.play.excerpt(h.Group, group, h.AtMs, 0), h.play.excerpt(h.Group, group, h.AtMs, span)
	x.ThisOnly, x.OtherOnly = p.turning(group, group, from, span), h.play.turning(h.Group, group, h.AtMs, span)
	m.beside = x
	m.t.options.Compare = x
	m.t.out.Reveal = "compare-title"
	m.t.announce = append(m.t.announce, view.RecordingCompareSays(m.picture(), m.t.options))
}

// excerpt is the picture of a group, as another name, that begins at a moment and ends some time later.
func (p *replay) excerpt(group, as string, fromMs, spanMs int64) *view.Model {
	x := view.Excerpt(p.pictureAt(fromMs+spanMs), group, as, fromMs)
	if x == nil {
		x = view.NewLiveModel()
	}
	return x
}

// pictureAt is the picture of a moment. That on stage is left alone.
func (p *replay) pictureAt(ms int64) *view.Model {
	at, _ := slices.BinarySearch(p.times, ms+1)
	at = max(at, p.floor)
	m, i := view.NewLiveModel(), 0
	for _, s := range p.saves {
		if s.at <= at {
			m, i = s.model, s.at
		}
	}
	m = m.Clone()
	for ; i < at; i++ {
		p.apply(m, i)
	}
	m.SetNow(ms)
	return m
}

// turning are the facts that somebody who compares looks for: why the group rebalanced, and who came and went.
func (p *replay) turning(group, as string, fromMs, spanMs int64) (marks []view.Mark) {
	first, _ := slices.BinarySearch(p.times, fromMs)
	for i := max(first, p.floor); i < len(p.events) && p.times[i] <= fromMs+spanMs; i++ {
		e := &p.events[i]
		if e.Group != group {
			continue
		}
		switch e.Body.(type) {
		case event.RebalanceStarted, event.CauseInferred, event.MemberAdded, event.MemberRemoved, event.MemberReplaced:
			marks = append(marks, view.Mark{AtMs: max(e.AtMs-fromMs, 0), Seq: e.Seq, Text: e.Text(), Member: as})
		}
	}
	return marks
}
