package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/server/history"
	"grouplab/server/live"
	"grouplab/server/web"
)

// piece is how many groups' facts the loop tells at a time, when the history begins anew: some milliseconds.
const piece = 200

// mostGroups is up to how many groups the facts of all are told at once. Of a hundred thousand they held the loop up for
// more than a second.
const mostGroups = 10_000

// overview makes the hub keep what a list of groups needs.
func (s *Server) overview(c live.Config) live.Config {
	s.history = history.New(history.Config{})
	c.Fold = s.history
	if s.observer == nil {
		c.GroupFacts, c.Pieces = s.groupFacts, s.pieces
		return c
	}
	all := c.Facts
	c.GroupFacts = func(ctx context.Context, group string) (live.Snapshot, error) {
		snapshot, err := all(ctx)
		snapshot.Events = concerning(snapshot.Events, group)
		return snapshot, err
	}
	return c
}

// remembering shows the history on the pages' side and whom they write to, and makes what tells of stuck groups.
func (s *Server) remembering(c web.Config) web.Config {
	c.History, c.Watched, c.Feedback = s.history, s.cfg.MetricsGroups, s.cfg.Feedback
	if s.cfg.Alert.URL != "" {
		s.alerts = newAlerts(s.cfg.Alert, s.URL(), s.cfg.Log, s.stuck)
		c.Alerts = s.alerts.figures
	}
	return c
}

// tell runs the alerts, where there are any, until the server stops. The function that it returns waits for their end.
func (s *Server) tell() (wait func()) {
	if s.alerts == nil {
		return func() {}
	}
	var ends sync.WaitGroup
	ends.Go(func() { s.alerts.run(s.ctx) })
	return ends.Wait
}

// checkTold names what is wrong with the flags about who is told what.
func (cfg Config) checkTold() error {
	for _, pattern := range cfg.MetricsGroups {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("-metrics-groups %q is no pattern: a star stands for any part of a name, as in orders-*, [ begins a class of characters", pattern)
		}
	}
	if cfg.HTTP == "" && (cfg.Alert.URL != "" || len(cfg.MetricsGroups) > 0) {
		return errors.New("-alert-url and -metrics-groups need the page: without -http nobody looks at the events")
	}
	return cfg.Alert.check()
}

// concerning are the facts of one group, and those of none.
func concerning(facts []event.Event, group string) (list []event.Event) {
	for i := range facts {
		if g := facts[i].Group; g == "" || g == group {
			list = append(list, facts[i])
		}
	}
	return list
}

// groupFacts asks the loop for what concerns no group, and for one group.
func (s *Server) groupFacts(ctx context.Context, group string) (snapshot live.Snapshot, err error) {
	err = s.loop.Do(ctx, func(nowMs int64, d *drive.Drive) {
		if group != "" {
			s.hush(false) // who follows it wants its partition's batches from here on
		}
		facts := d.GroupFacts(nowMs, group)
		last := facts[len(facts)-1] // FactsEnded
		facts = append(facts[:len(facts)-1], s.brokers.Ghosts(last.Seq)...)
		snapshot = live.Snapshot{Seq: last.Seq, NowMs: nowMs, Events: append(facts, last)}
	})
	if err != nil { // what it was to find may still be written to
		return live.Snapshot{}, err
	}
	return snapshot, nil
}

// pieces asks the loop for the next part of all facts.
func (s *Server) pieces(ctx context.Context, broker int32, group string) (p live.Piece, err error) {
	err = s.loop.Do(ctx, func(nowMs int64, d *drive.Drive) {
		p.Events, p.Broker, p.Group, p.Last = d.FactsAfter(nowMs, broker, group, piece)
		p.Seq, p.NowMs = s.numbers.Last(), nowMs
		if p.Last {
			p.Events = append(p.Events, s.brokers.Ghosts(p.Seq)...)
		}
	})
	if err != nil {
		return live.Piece{}, err
	}
	return p, nil
}

// fewEnough tells whether the facts of all groups may be told at once.
func fewEnough(d *drive.Drive) error {
	if n := d.Groups(); n > mostGroups {
		return fmt.Errorf("%w: there are %d groups, and the facts of more than %d at once would hold the brokers up", live.ErrTooMany, n, mostGroups)
	}
	return nil
}
