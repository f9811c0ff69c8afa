package observe

import (
	"context"

	"grouplab/server/observe/timeline"
)

// turn is one thing for the goroutine that owns the timeline: an observation, or a question.
type turn struct {
	seen timeline.Observation
	ask  func(*timeline.Timeline)
	done chan struct{}
}

// loop owns the timeline and the numbers.
func (o *Observer) loop(ctx context.Context) {
	defer close(o.loopDone)
	t := timeline.New(timeline.Config{Numbers: &o.numbers})
	for {
		select {
		case <-ctx.Done():
			return
		case turn := <-o.turns:
			if turn.ask != nil {
				turn.ask(t)
				close(turn.done)
				continue
			}
			if events := t.Observe(o.NowMs(), turn.seen); len(events) > 0 {
				o.cfg.Publish(events)
			}
		}
	}
}

// saw hands an observation to the timeline. It waits while the timeline is busy: that bounds what is read ahead.
func (o *Observer) saw(ctx context.Context, seen timeline.Observation) {
	select {
	case o.turns <- turn{seen: seen}:
	case <-ctx.Done():
	}
}

// do asks the goroutine that owns the timeline to call f and waits for it.
func (o *Observer) do(ctx context.Context, f func(*timeline.Timeline)) error {
	done := make(chan struct{})
	select {
	case o.turns <- turn{ask: f, done: done}:
	case <-ctx.Done():
		return ctx.Err()
	case <-o.loopDone:
		return ErrEnded
	}
	select {
	case <-done:
		return nil
	case <-o.loopDone:
		return ErrEnded
	}
}
