package view

import "grouplab/coordinator/event"

// states in the order of the machine; their places never change.
var states = []event.State{event.Empty, event.PreparingRebalance, event.CompletingRebalance, event.Stable, event.Dead}

// edge is a legal transition, drawn as a path with its head at the end. Coordinates are those of the machine's drawing.
type edge struct {
	From, To event.State
	Path     string
	Head     string
}

// The pills' places are in stage.css: Empty 0,40 96 wide · PreparingRebalance 112,0 208 wide · CompletingRebalance 252,40
// 220 wide · Stable 166,80 108 wide · Dead 0,80 96 wide; each is 30 high.
var edges = []edge{
	{event.Empty, event.PreparingRebalance, "M48 39V28C48 20 53 15 61 15H106", "M101 10l6 5-6 5"},
	{event.PreparingRebalance, event.Empty, "M140 31V42C140 50 135 55 127 55H102", "M107 50l-6 5 6 5"},
	{event.PreparingRebalance, event.CompletingRebalance, "M321 15H388C396 15 402 20 402 27V34", "M397 29l5 6 5-6"},
	{event.CompletingRebalance, event.PreparingRebalance, "M292 39V36", "M287 39l5-6 5 6"},
	{event.CompletingRebalance, event.Stable, "M362 71V82C362 90 357 95 349 95H280", "M285 90l-6 5 6 5"},
	{event.Stable, event.PreparingRebalance, "M220 79V36", "M215 41l5-6 5 6"},
	{event.Empty, event.Dead, "M48 71V74", "M43 72l5 6 5-6"},
}

// lastEdge tells whether an edge is the one that was walked last.
func (s *stage) lastEdge(e edge) bool {
	return s.g != nil && s.g.LastSeq != 0 && s.g.Last.From == e.From && s.g.Last.To == e.To
}

// trigger says what the last transition was and why.
func (s *stage) trigger() string {
	if s.g == nil || s.g.LastSeq == 0 {
		return ""
	}
	last := s.g.Last
	return s.t("machine.last", string(last.From), s.why(last.Why, s.g.Label(last.Member)))
}

// chapter is a generation on the counter tape under the machine.
type chapter struct {
	Number  int32
	Lasted  string
	Why     string
	Current bool
}

// chapters are the newest generations, oldest first, and whether older ones are left out.
func (s *stage) chapters(most int) (list []chapter, more bool) {
	if s.g == nil {
		return nil, false
	}
	all := s.g.Generations
	if len(all) > most {
		all, more = all[len(all)-most:], true
	}
	for i, g := range all {
		end := g.EndMs
		if end == 0 {
			end = s.m.NowMs
		}
		list = append(list, chapter{Number: g.Number, Lasted: s.dur(end - g.StartMs), Why: s.why(g.Why, s.g.Label(g.Member)), Current: i == len(all)-1})
	}
	return list, more
}
