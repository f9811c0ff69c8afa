package app

import (
	"context"
	"fmt"

	"grouplab/coordinator/drive"
	"grouplab/coordinator/event"
	"grouplab/server/history"
	"grouplab/server/live"
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
