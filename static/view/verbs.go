package view

import (
	"slices"
	"strconv"
	"strings"
)

// allows tells whether the viewer may use a verb now.
func (s *stage) allows(verb string) bool {
	return s.o.Lesson != nil && slices.Contains(s.o.Lesson.Allow, verb)
}

// verbs are what may be done to a consumer now: only what makes sense for the state it is in.
func (s *stage) verbs(client string) []verbButton {
	if s.o.Mode == ModeLive {
		return s.demoVerbs(client)
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

// demoVerbs are what may be done to a consumer that this server started: demo-1, demo-2, …
func (s *stage) demoVerbs(client string) []verbButton {
	if !s.may() || !isDemo(client) {
		return nil
	}
	return []verbButton{{"kill", client, s.t("verb.kill")}, {"stop", client, s.t("verb.stop")}}
}

func isDemo(client string) bool {
	number, found := strings.CutPrefix(client, "demo-")
	_, err := strconv.Atoi(number)
	return found && err == nil
}

// demos are the demo consumers that are members of any group, by number.
func (s *stage) demos() []string {
	var list []string
	for _, n := range s.m.GroupNames() {
		for _, mb := range s.m.Groups[n].Present() {
			if isDemo(mb.ClientID) && !mb.Gone && !slices.Contains(list, mb.ClientID) {
				list = append(list, mb.ClientID)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return list
}
