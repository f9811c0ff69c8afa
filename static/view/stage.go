package view

import (
	"slices"

	"grouplab/coordinator/event"
)

// stage is what every component gets: the picture, the choices, and the group on stage.
type stage struct {
	m *Model
	o Options
	// g is the group on stage, nil where there is none.
	g *Group

	// What several parts need is found once.
	wait    *Waiting
	ruler   *Axis
	ending  *Op
	settled bool // ending is found
}

// waiting tells what the group on stage waits for.
func (s *stage) waiting() Waiting {
	if s.wait == nil {
		w := Waiting{}
		if s.g != nil {
			w = s.m.Waiting(s.g.Name)
		}
		s.wait = &w
	}
	return *s.wait
}

func newStage(m *Model, o Options) *stage {
	s := &stage{m: m, o: o}
	if s.o.Lang == "" {
		s.o.Lang = English
	}
	if g := m.Groups[o.Group]; g != nil {
		s.g = g
	} else if names := m.GroupNames(); o.Group == "" && len(names) > 0 {
		s.g = m.Groups[names[0]]
	} else if o.Group == "" {
		if s.g = m.expected(); s.g == nil && o.Mode == ModeLesson {
			s.g = m.lastGone()
		}
	}
	return s
}

// t says a key of the string table.
func (s *stage) t(key string, args ...string) string {
	if s.o.ext != nil {
		if t, ok := s.o.ext.word(key); ok {
			return s.o.Lang.fill(t, args)
		}
	}
	return s.o.Lang.T(key, args...)
}

// knows tells whether a key is in the string table.
func (s *stage) knows(key string) bool {
	_, ok := words[key]
	if !ok && s.o.ext != nil {
		_, ok = s.o.ext.word(key)
	}
	return ok
}

// era is the key of the words for where a group is: its generation, or its epoch.
func (s *stage) era() string {
	if s.o.ext != nil {
		return s.o.ext.era(s)
	}
	return "generation.is"
}

// extension is what the stage of a running cluster can beside what all stages can. It is nil elsewhere, so that a lesson's
// program does not carry it.
type extension interface {
	word(key string) (Text, bool)
	// says is the key of a fact's sentence and what fills it, nil where the fact is one that all stages know.
	says(s *stage, e *event.Event) (key string, args []string)
	// amend adds to the headline what an observer knows; card is a selection's, nil where it is none of the observer's.
	amend(s *stage, h sentence) sentence
	card(s *stage, kind, rest string) *card
	era(s *stage) string
}

// pressed is the value of aria-pressed.
func pressed(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// expected is the first group, by name, that a running client has named and no broker knows yet; nil where there is none.
func (m *Model) expected() *Group {
	var found *Group
	for _, c := range m.Clients {
		g := m.Groups[c.Group]
		if c.Alive && g != nil && (found == nil || g.Name < found.Name) {
			found = g
		}
	}
	return found
}

// otherGroups are the groups that the page could show instead, at most six: those that are there, and those whose consumers
// run. Live pages, recordings and pasted logs have lists.
func (s *stage) otherGroups() []string {
	if s.o.Mode != ModeLesson {
		return nil
	}
	names := s.m.GroupNames()
	for _, c := range s.m.Clients {
		if c.Alive {
			names = append(names, c.Group)
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return s.g != nil && n == s.g.Name })
	return names[:min(len(names), 6)]
}

// lastGone is the group that was removed last, so that its end is seen: what is left of it is on the tape. nil where none was.
func (m *Model) lastGone() *Group {
	var found *Group
	for _, g := range m.Groups {
		if g.Gone && len(g.States) > 0 && (found == nil || g.SinceMs > found.SinceMs || g.SinceMs == found.SinceMs && g.Name < found.Name) {
			found = g
		}
	}
	return found
}

// known tells whether a coordinator has ever known the group on stage.
func (s *stage) known() bool { return s.g != nil && (s.g.Broker != 0 || len(s.g.States) > 0) }
