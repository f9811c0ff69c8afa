package web

import (
	"context"
	"slices"

	"grouplab/server/live"
	"grouplab/static/view"
)

// stateOfMany is state where there are too many groups for one picture of all: the groups that are told are looked at one by
// one, those in motion first, or those behind a name.
func (s *Server) stateOfMany(ctx context.Context, what *shown, only string) (body stateJSON, found bool, err error) {
	names, more := []string{only}, 0
	if only == "" {
		if names, more, err = s.someNames(what); err != nil {
			return body, false, err
		}
	}
	for i, name := range names {
		m, err := s.alone(ctx, name)
		if err != nil {
			return body, false, err
		}
		if i == 0 {
			body = what.state(m, "")
			body.Groups = []groupJSON{}
		}
		if g := m.Groups[name]; g != nil && !g.Gone {
			body.Groups, found = append(body.Groups, what.group(m, g)), true
		}
	}
	what.groups = more
	body.LeftOut = what.leftOut()
	return body, found || only == "", nil
}

// alone is the picture of one group.
func (s *Server) alone(ctx context.Context, group string) (*view.Model, error) {
	snapshot, err := s.cfg.Hub.GroupSnapshot(ctx, group)
	if err != nil {
		return nil, err
	}
	m := view.NewModel()
	for _, e := range snapshot.Events {
		m.Apply(e)
	}
	m.SetNow(s.cfg.Hub.NowMs())
	return m, nil
}

// someNames are the groups that are told, and how many are left out.
func (s *Server) someNames(what *shown) (names []string, more int, err error) {
	if s.cfg.History == nil {
		return nil, 0, live.ErrNoOverview
	}
	err = s.cfg.Hub.Fold(func() {
		behind := func(name string) bool { return what.after == nil || name > *what.after }
		if what.after == nil {
			for _, w := range s.cfg.History.Waits() {
				if len(names) < what.limit {
					names = append(names, w.Group)
				}
			}
		}
		moving := len(names)
		for _, name := range s.cfg.History.Names(behind, what.limit) {
			if len(names) < what.limit && !slices.Contains(names[:moving], name) {
				names = append(names, name)
			}
		}
		more = s.cfg.History.Count(behind) - len(names)
	})
	return names, max(more, 0), err
}
