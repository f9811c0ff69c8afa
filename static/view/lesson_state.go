package view

import (
	"html"
)

// step is the text of the current step; an empty one where the index is out of bounds.
func (l *LessonState) step() StepPage {
	if l.Step < 0 || l.Step >= len(l.Page.Steps) {
		return StepPage{}
	}
	return l.Page.Steps[l.Step]
}

// marked tells whether an option's button is set.
func (l *LessonState) marked(id string) bool {
	if l.Right != "" {
		return l.Chosen == id
	}
	return l.Picked == id
}

func (l *LessonState) optionClass(id string) string {
	switch {
	case l.Right != "" && l.Right == id:
		return "right"
	case l.Right != "" && l.Chosen == id:
		return "wrong"
	case l.Right == "" && l.Picked == id:
		return "pick"
	}
	return ""
}

// goalText is a clause's text as HTML; its label where the page has none.
func (l *LessonState) goalText(label string, lang Lang) string {
	for _, g := range l.Page.Goals {
		if g.Name == label {
			return g.Text.In(lang)
		}
	}
	return html.EscapeString(label)
}

// hasVerbs tells whether the learner may do anything now.
func (s *stage) hasVerbs(l *LessonState) bool {
	if len(l.step().Moves) > 0 {
		return true
	}
	for _, c := range l.Clients {
		if len(s.verbs(c)) > 0 {
			return true
		}
	}
	return len(s.worldVerbs()) > 0
}

// worldVerbs are what may be done to brokers and topics now.
func (s *stage) worldVerbs() []verbButton {
	var list []verbButton
	for _, id := range s.m.BrokerIDs() {
		b := s.m.Brokers[id]
		if b.Up && s.allows("kill-broker") {
			list = append(list, verbButton{"kill-broker", num(id), s.t("verb.kill-broker", num(id))})
		}
		if !b.Up && s.allows("restart-broker") {
			list = append(list, verbButton{"restart-broker", num(id), s.t("verb.restart-broker", num(id))})
		}
	}
	if s.allows("add-partitions") {
		for _, t := range s.topics() {
			list = append(list, verbButton{"add-partitions", t.Name, s.t("verb.add-partitions", name(t.Name))})
		}
	}
	return list
}

// topics are the topics that the group on stage subscribes to, in the order of their first subscriber.
func (s *stage) topics() []*Topic {
	if s.g == nil {
		return nil
	}
	var list []*Topic
	seen := map[string]bool{}
	for _, mb := range s.g.Present() {
		for _, t := range mb.Topics {
			if known := s.m.Topics[t]; known != nil && !seen[t] {
				seen[t] = true
				list = append(list, known)
			}
		}
	}
	return list
}
