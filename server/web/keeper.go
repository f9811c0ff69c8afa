package web

import (
	"context"
	"fmt"

	"grouplab/coordinator/event"
	"grouplab/server/live"
	"grouplab/static/view"
)

// keeper holds the picture of the cluster: the same fold that the page runs. It is brought up to date when somebody asks
// and costs nothing while nobody does.
type keeper struct {
	hub   *live.Hub
	turn  chan struct{} // whoever has put something in has the picture
	model *view.Model   // nil before the first question
	seq   int64
	chunk []event.Event // scratch
}

// keeperLag is how many events are applied one by one at most; further behind, facts are cheaper.
const keeperLag = 5000

func newKeeper(hub *live.Hub) *keeper { return &keeper{hub: hub, turn: make(chan struct{}, 1)} }

// now calls f with the picture of this moment. f must not keep it. Others wait meanwhile, or until their ctx ends.
func (k *keeper) now(ctx context.Context, f func(*view.Model)) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return fmt.Errorf("others are asking for the picture: %w", ctx.Err())
	}
	oldest, last := k.hub.Window()
	if k.model == nil || k.seq+1 < oldest || last-k.seq > keeperLag {
		s, err := k.hub.Snapshot(ctx)
		if err != nil {
			return err
		}
		model := view.NewModel()
		for i, e := range s.Events {
			if model.Apply(e); i%1000 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		k.model, k.seq = model, s.Seq
	}
	// Up to the moment of the question only: what comes meanwhile may come faster than it is applied.
	for k.seq < last {
		k.chunk = k.hub.Since(k.chunk[:0], k.seq+1, int(min(last-k.seq, 1000)))
		if oldest, _ := k.hub.Window(); len(k.chunk) == 0 || k.seq+1 < oldest {
			break // some went meanwhile: the picture is that of a moment ago, and the next question begins with facts
		}
		for _, e := range k.chunk {
			k.model.Apply(e)
			k.seq = e.Seq
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	k.model.SetNow(k.hub.NowMs())
	f(k.model)
	return nil
}
