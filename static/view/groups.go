package view

import (
	"strings"

	"grouplab/coordinator/event"
)

const groupRows = 60

// groupRow is one line of the list of groups.
type groupRow struct {
	Name    string
	State   event.State
	Members int
	Detail  string
	Current bool
}

// groupRows are the groups that match the search, those in motion first, and how many more there are.
func (s *stage) groupRows() (list []groupRow, more int) {
	want := strings.ToLower(s.o.Search)
	for _, n := range s.m.GroupNames() {
		if want != "" && !strings.Contains(strings.ToLower(n), want) {
			continue
		}
		if len(list) == groupRows {
			more++
			continue
		}
		g := s.m.Groups[n]
		row := groupRow{Name: n, State: g.State, Members: len(g.Present()), Current: s.g == g}
		row.Detail = s.t("group.detail", num(g.Generation), num(row.Members))
		if w := s.m.Waiting(n); w.Kind == WaitJoin && len(w.Missing) > 0 {
			row.Detail = s.t("group.waits", name(w.Missing[0].Label))
		} else if w.Kind == WaitCoordinator {
			row.Detail = s.t("group.nobody")
		}
		list = append(list, row)
	}
	return list, more
}

// may tells whether this page may kill and restart.
func (s *stage) may() bool { return s.o.Live != nil && s.o.Live.May }

// brokerHow says how a broker is: its address, or since when it is gone.
func (s *stage) brokerHow(b *Broker) string {
	switch {
	case b.Up && b.Host != "":
		return short(b.Host, 20) + ":" + num(b.Port)
	case b.Up:
		return s.t("broker.up")
	case b.Killed && !b.Fenced && b.NoticedByMs > s.m.NowMs:
		return s.t("owner.unnoticed", s.left(b.NoticedByMs))
	}
	return s.t("broker.gone", s.ago(b.SinceMs))
}
