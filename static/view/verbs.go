package view

import "slices"

// allows tells whether the viewer may use a verb now.
func (s *stage) allows(verb string) bool {
	return s.o.Lesson != nil && slices.Contains(s.o.Lesson.Allow, verb)
}

// verbs are what may be done to a consumer now: only what makes sense for the state it is in.
func (s *stage) verbs(client string) []verbButton {
	if s.o.Mode == ModeLive {
		return nil
	}
	c := s.m.Clients[client]
	var list []verbButton
	for _, v := range []struct {
		verb string
		when bool
	}{
		{"start", c == nil || !c.Alive},
		{"kill", c != nil && c.Alive},
		{"stop", c != nil && c.Alive},
		{"pause", c != nil && c.Alive && !c.Paused},
		{"resume", c != nil && c.Alive && c.Paused},
		{"restart", c != nil && c.Alive},
	} {
		if v.when && s.allows(v.verb) {
			list = append(list, verbButton{v.verb, client, s.t("verb." + v.verb)})
		}
	}
	return list
}
