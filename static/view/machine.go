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

// The pills' places are in stage.css: Empty 0,36 96 wide · PreparingRebalance 112,0 200 wide · CompletingRebalance 240,36
// 208 wide · Stable 160,72 104 wide · Dead 0,72 96 wide; each is 28 high.
var edges = []edge{
	{event.Empty, event.PreparingRebalance, "M48 35V24C48 18 53 14 61 14H106", "M101 9l6 5-6 5"},
	{event.PreparingRebalance, event.Empty, "M140 29V40C140 46 135 50 127 50H102", "M107 45l-6 5 6 5"},
	{event.PreparingRebalance, event.CompletingRebalance, "M313 14H368C375 14 380 17 380 23V30", "M375 25l5 6 5-6"},
	{event.CompletingRebalance, event.PreparingRebalance, "M288 35V31", "M283 36l5-6 5 6"},
	{event.CompletingRebalance, event.Stable, "M290 65V76C290 83 286 86 278 86H270", "M275 81l-6 5 6 5"},
	{event.Stable, event.PreparingRebalance, "M212 71V34", "M207 39l5-6 5 6"},
	{event.Empty, event.Dead, "M48 65V69", "M43 64l5 6 5-6"},
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
	return s.t("machine.last", s.why(last.Why, s.g.Label(last.Member)))
}

// chapter is a generation on the counter tape under the machine.
type chapter struct {
	Number  int32
	Lasted  string
	Cause   string
	Current bool
}

// chaptersWide is how many pixels the generation before the newest leaves for what began the newest.
const chaptersWide = 96

// shownChapters are the newest two generations, or the newest alone where the words of its cause need the room.
func (s *stage) shownChapters() (list []chapter, more bool) {
	list, more = s.chapters(2)
	if len(list) < 2 {
		return list, more
	}
	if s.stale() || wide(list[1].Cause, 12) > chaptersWide {
		return list[1:], true
	}
	return list, more
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
		list = append(list, chapter{Number: g.Number, Lasted: s.dur(end - g.StartMs), Current: i == len(all)-1, Cause: s.cause(g)})
	}
	return list, more
}

// cause says what began the rebalance that led to a generation.
func (s *stage) cause(g Generation) string {
	if g.Why == "" {
		return ""
	}
	return s.why(g.Why, s.g.Label(g.Member))
}

// stale tells whether the state is only the last that was known, because nobody coordinates the group now.
func (s *stage) stale() bool {
	return s.g != nil && s.g.Broker == 0 && len(s.g.Members) > 0 && !s.g.Gone
}
