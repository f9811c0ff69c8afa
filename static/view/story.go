package view

import "grouplab/coordinator/event"

// Teller says facts in sentences, for those who write a story of them.
type Teller struct{ s *stage }

// NewTeller tells of a model's facts in a language.
func NewTeller(m *Model, o Options) Teller { return Teller{newStage(m, o)} }

// Clock prints a moment as the stage does.
func (t Teller) Clock(ms int64) string { return t.s.clock(ms) }

// Says is a fact in one plain sentence.
func (t Teller) Says(e *event.Event) string { return t.s.says(e) }

// Causes are what led to a fact, the nearest first, at most most.
func (t Teller) Causes(e *event.Event, most int) []*event.Event {
	var list []*event.Event
	for i, link := range t.s.whyChain(e.Seq) {
		if i > most {
			break
		}
		if i > 0 {
			list = append(list, link.event)
		}
	}
	return list
}
