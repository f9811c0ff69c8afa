package script

import (
	"grouplab/coordinator/event"
	"grouplab/coordinator/sim"
)

// Engine runs commands on a world. It is a plain value under the hood: Clone is a full copy.
type Engine struct{ world *sim.World }

// New makes an engine for a script; file is the name that errors carry.
func New(file string) *Engine { return &Engine{} }

// Do runs one command to its end: advance and until run the world as far as they need.
func (e *Engine) Do(c Command) error { return nil }

// Begin runs a command as far as it takes no time of the world. For advance and until it returns what to wait for; the
// caller steps the world and asks Done, so that a page can show the time in between.
func (e *Engine) Begin(c Command) (Wait, error) { return Wait{}, nil }

// Done tells whether a wait is over. An until that ran out of its time is over with an Error.
func (e *Engine) Done(w Wait) (bool, error) { return true, nil }

// Wait is what advance and until wait for. The zero value is over at once.
type Wait struct {
	Command Command
	// UntilMs is when it ends at the latest.
	UntilMs int64
}

// World is the world, nil before set-up is over.
func (e *Engine) World() *sim.World { return e.world }

// NowMs is the world's time, 0 during set-up.
func (e *Engine) NowMs() int64 { return 0 }

// NextMs is when something happens next, -1 where nothing will.
func (e *Engine) NextMs() int64 { return -1 }

// Step runs the next moment if it is due at or before limitMs and reports true. Otherwise it moves the clock to limitMs
// and reports false.
func (e *Engine) Step(limitMs int64) bool { return false }

// Take hands out the events since the last Take.
func (e *Engine) Take() []event.Event { return nil }

// Mark begins a new stretch for conditions of the form "event KIND": only events after it count.
func (e *Engine) Mark() {}

// Clone is a full copy that goes on identically.
func (e *Engine) Clone() *Engine { c := *e; return &c }
