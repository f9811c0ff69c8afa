package script

import (
	"fmt"
	"slices"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim"
)

// keptEvents is how many events since the last Mark conditions can look back on.
const keptEvents = 20_000

// Engine runs commands on a world. It holds plain values and a world, so Clone is a full copy.
type Engine struct {
	file  string
	cfg   sim.Config
	world *sim.World
	// group is what the group verb said last; topics are those created so far.
	group  string
	topics []string
	facts  *facts
	// since are the events since the last Mark, earlier those between it and the Mark before, out those that Take has not
	// handed out.
	since, earlier trail
	out            []event.Event
	// failure is why the last command that had to fail did.
	failure string
	// hidden are the kinds that transcripts leave out; never changed in place.
	hidden []string
}

// New makes an engine for a script; file is the name that its errors carry where a command has none.
func New(file string) *Engine { return &Engine{file: file, facts: newFacts()} }

// Do runs one command to its end: advance and until run the world as far as they need. A command that was to fail ('!')
// and did not is an Error too.
func (e *Engine) Do(c Command) error {
	err := e.do(c)
	switch {
	case !c.Not:
		return err
	case err == nil:
		return c.fail(-1, "%q was to fail, and did not", c.Raw)
	}
	e.failure = err.Error()
	if placed, ok := err.(Error); ok {
		e.failure = placed.Msg
	}
	return nil
}

// Failure is why the last command that was to fail ('!') did, without its place.
func (e *Engine) Failure() string { return e.failure }

func (e *Engine) do(c Command) error {
	v, known := verbNamed(c.Verb)
	if !known {
		return c.fail(-1, "no verb %q: commands come from Parse or ParseLine", c.Verb)
	}
	if c.File == "" {
		c.File = e.file
	}
	if err := e.bear(c); err != nil {
		return e.at(c, err)
	}
	if !v.quiet {
		e.input(c)
	}
	err := v.do(e, c)
	e.drain()
	return e.at(c, err)
}

// at gives an error its place, unless it has one.
func (e *Engine) at(c Command, err error) error {
	if err == nil {
		return nil
	}
	if placed, ok := err.(Error); ok {
		return placed
	}
	return c.fail(0, "%s", err)
}

// before are the verbs that say what the world is made of, or need none.
var before = []string{"seed", "brokers", "set", "latency", "loss", "group", "show", "hide"}

// bear makes the world at the first command that needs one.
func (e *Engine) bear(c Command) error {
	if e.world != nil || slices.Contains(before, c.Verb) {
		return nil
	}
	w, err := sim.New(e.cfg)
	if err != nil {
		return err
	}
	e.world = w
	e.drain()
	return nil
}

// unborn is an error where the world is there already.
func (e *Engine) unborn(c Command) error {
	if e.world == nil {
		return nil
	}
	return c.fail(-1, "the world is there already: %s comes before the first topic", c.Verb)
}

// input notes a command among the events.
func (e *Engine) input(c Command) { e.world.Input(strings.TrimLeft(c.Raw, "! \t")) }

// Begin runs a command as far as it takes no time of the world. For advance and until it returns what to wait for; the
// caller steps the world and asks Done, so that a page can show the time in between. One that must fail ('!') runs to
// its end.
func (e *Engine) Begin(c Command) (Wait, error) {
	if c.Not || c.Verb != advanceVerb().name && c.Verb != untilVerb().name {
		return Wait{}, e.Do(c)
	}
	if err := e.bear(c); err != nil {
		return Wait{}, e.at(c, err)
	}
	if c.Verb == advanceVerb().name {
		return Wait{Command: c, UntilMs: e.NowMs() + c.duration(0)}, nil
	}
	return Wait{Command: c, UntilMs: e.NowMs() + c.WithinMs}, nil
}

// Wait is what advance and until wait for. The zero value is over at once.
type Wait struct {
	Command Command
	// UntilMs is when it ends at the latest.
	UntilMs int64
}

// Done tells whether a wait is over. An until that ran out of its time is over with an Error. The end of an until is a
// Mark.
func (e *Engine) Done(w Wait) (bool, error) {
	if w.Command.Cond == nil {
		return e.NowMs() >= w.UntilMs, nil
	}
	if w.Command.Cond.Holds(e) {
		e.Mark()
		return true, nil
	}
	if e.NowMs() < w.UntilMs {
		return false, nil
	}
	return true, w.Command.fail(0, "gave up on %s after %s: %s",
		w.Command.Cond, event.Duration(w.Command.WithinMs), w.Command.Cond.Explain(e))
}

// World is the world, nil before the first topic.
func (e *Engine) World() *sim.World { return e.world }

// Group is the group that consumers and conditions mean where they do not say otherwise.
func (e *Engine) Group() string { return e.group }

// NowMs is the world's time, 0 during set-up.
func (e *Engine) NowMs() int64 {
	if e.world == nil {
		return 0
	}
	return e.world.NowMs()
}

// NextMs is when something happens next, -1 where nothing will.
func (e *Engine) NextMs() int64 {
	if e.world == nil {
		return -1
	}
	return e.world.NextMs()
}

// Step runs the next moment if it is due at or before limitMs and reports true. Otherwise it moves the clock to limitMs
// and reports false.
func (e *Engine) Step(limitMs int64) bool {
	if e.world == nil {
		return false
	}
	next := e.world.NextMs()
	if next < 0 || next > limitMs {
		e.world.AdvanceTo(limitMs)
		return false
	}
	e.world.Step()
	e.drain()
	return true
}

func (e *Engine) advanceTo(ms int64) {
	for e.Step(ms) {
	}
}

// Take hands out the events since the last Take.
func (e *Engine) Take() []event.Event {
	out := e.out
	e.out = nil
	return out
}

// Mark begins a new stretch for conditions of the form "event KIND": only events after it count. The end of an until is
// one. (expect alone looks at the stretch before too, so that it can ask what happened while the last until waited.)
func (e *Engine) Mark() { e.earlier, e.since = e.since, trail{} }

// lookingBack is the engine as expect sees it.
func (e *Engine) lookingBack() *Engine {
	wide := *e
	wide.since = e.earlier.then(e.since)
	return &wide
}

// drain takes what happened in the world and learns from it.
func (e *Engine) drain() {
	if e.world == nil {
		return
	}
	events := e.world.Take()
	for _, ev := range events {
		e.facts.apply(ev)
	}
	if e.out == nil {
		e.out = slices.Clip(events)
	} else {
		e.out = append(e.out, events...)
	}
	e.since.add(events)
	e.since.trim(keptEvents)
}

// Clone is a full copy that goes on identically.
func (e *Engine) Clone() *Engine {
	c := *e
	if e.world != nil {
		c.world = e.world.Clone()
	}
	c.facts = e.facts.clone()
	c.since, c.earlier, c.out = e.since.clone(), e.earlier.clone(), slices.Clip(e.out)
	return &c
}

// String tells where an engine stands, for people who debug.
func (e *Engine) String() string {
	return fmt.Sprintf("script %s at %s, next at %d ms", e.file, event.Clock(e.NowMs()), e.NextMs())
}
