package lessons

import (
	"fmt"
	"slices"

	"grouplab/coordinator/sim/script"
)

// Gate says what a lesson waits for before it goes on.
type Gate string

const (
	// Asking: a prediction has not been answered. Time stands still.
	Asking Gate = "asking"
	// Waiting: the step's condition has not held yet. Time may pass.
	Waiting Gate = "waiting"
	// Ready: the step is over and another follows. Time stands still until the learner goes on.
	Ready Gate = "ready"
	// Over: the last step is over. Time may pass.
	Over Gate = "over"
	// Free: the learner has taken over. Time may pass.
	Free Gate = "free"
)

// Player is where a learner stands in a lesson. It holds no engine: those who move time own it and show it to Observe.
// A Player is a small value that Clone copies, so rewinding is going back to an older one.
type Player struct {
	lesson  *Lesson
	step    int
	reached bool
	free    bool
	moves   int // of the current step
	answers []Answer
}

// Answer is what a learner answered to a prediction and what the engine said.
type Answer struct {
	Step string // the step in which it was asked
	Name string // the prediction
	// Chosen is the option's id, "" where the learner only wanted to see the answer.
	Chosen string
	// Right is the option that came true.
	Right string
	// DecidedMs is when, in lab time, it was decided on the copy.
	DecidedMs int64
}

// NewPlayer stands at the first step.
func NewPlayer(l *Lesson) *Player {
	p := &Player{lesson: l, free: l.free}
	p.reached = l.Steps[0].Wait == nil
	return p
}

// Clone copies the place in the lesson.
func (p *Player) Clone() *Player {
	c := *p
	c.answers = append([]Answer(nil), p.answers...)
	return &c
}

// Lesson returns the lesson that is played.
func (p *Player) Lesson() *Lesson { return p.lesson }

// Step returns the current step.
func (p *Player) Step() *Step { return &p.lesson.Steps[p.step] }

// Index returns the current step's place, from 0.
func (p *Player) Index() int { return p.step }

// Gate says what the lesson waits for.
func (p *Player) Gate() Gate {
	switch {
	case p.free:
		return Free
	case p.asking():
		return Asking
	case !p.reached:
		return Waiting
	case p.step < len(p.lesson.Steps)-1:
		return Ready
	}
	return Over
}

// MayRun tells whether time may pass.
func (p *Player) MayRun() bool {
	g := p.Gate()
	return g == Waiting || g == Over || g == Free
}

func (p *Player) asking() bool {
	s := p.Step()
	return s.Predict != nil && p.Answer(s.Name) == nil
}

// Answer returns the answer given in a step, nil where there is none.
func (p *Player) Answer(step string) *Answer {
	for i := range p.answers {
		if p.answers[i].Step == step {
			a := p.answers[i]
			return &a
		}
	}
	return nil
}

// Moves is how many moves the learner made in the current step until it was over.
func (p *Player) Moves() int { return p.moves }

// Moved notes that the learner gave a command.
func (p *Player) Moved() {
	if !p.free && !p.reached {
		p.moves++
	}
}

// Next goes to the next step and runs its commands. It is an error while the current one is not over.
func (p *Player) Next(e *script.Engine) error {
	switch p.Gate() {
	case Ready:
	case Asking:
		return fmt.Errorf("step %q asks a question: answer it, or look at the answer, first", p.Step().Name)
	case Waiting:
		return fmt.Errorf("step %q is not over: it waits until %s", p.Step().Name, p.Step().Wait)
	case Over:
		return fmt.Errorf("%q is the last step", p.Step().Name)
	case Free:
		return fmt.Errorf("the lesson does not go on while you have taken over")
	}
	p.step++
	s := p.Step()
	p.reached, p.moves = s.Wait == nil, 0
	e.Mark()
	for _, c := range s.Commands {
		if err := e.Do(c); err != nil {
			return err
		}
	}
	p.Observe(e)
	return nil
}

// Observe looks whether the current step's condition holds; call it after every moment of the engine. It tells whether
// the step is over because of this moment.
func (p *Player) Observe(e *script.Engine) bool {
	if p.free || p.reached || p.asking() || !p.Step().Wait.Holds(e) {
		return false
	}
	p.reached = true
	return true
}

// Predict grades a choice: it runs a copy of the engine to the decision and asks every option. The choice "" asks for
// the answer without guessing.
func (p *Player) Predict(e *script.Engine, choice string) (Answer, error) {
	s := p.Step()
	if s.Predict == nil {
		return Answer{}, fmt.Errorf("step %q asks nothing", s.Name)
	}
	if p.free {
		return Answer{}, fmt.Errorf("nothing is asked while you have taken over")
	}
	if a := p.Answer(s.Name); a != nil {
		return *a, fmt.Errorf("the question of step %q was answered already: %s", s.Name, a.Right)
	}
	if choice != "" && !s.Predict.has(choice) {
		return Answer{}, fmt.Errorf("no answer is called %q; there are %s", choice, s.Predict.ids())
	}
	right, atMs, err := s.Predict.Grade(e)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Step: s.Name, Name: s.Predict.Name, Chosen: choice, Right: right, DecidedMs: atMs}
	p.answers = append(p.answers, a)
	p.Observe(e)
	return a, nil
}

// TakeOver leaves the narration; everything is allowed from here on.
func (p *Player) TakeOver() { p.free = true }

// Allows tells whether the learner may give a command now: its verb is allowed, or it is a move of the step.
func (p *Player) Allows(verb, command string) bool {
	if p.free && slices.Contains(FreeVerbs, verb) {
		return true
	}
	for _, m := range p.Step().Moves {
		if m.Command == command {
			return true
		}
	}
	for _, v := range p.Step().Allow {
		if v == verb {
			return true
		}
	}
	return false
}

// GoalClause is one clause of the goal, looked at in one moment.
type GoalClause struct {
	Label string
	Holds bool
	// Now says what is the case where it does not hold: "generation is 4".
	Now string
}

// GoalOf looks at every clause of the goal. Met is true where all hold.
func (l *Lesson) GoalOf(e *script.Engine) (clauses []GoalClause, met bool) {
	met = true
	for _, c := range l.Goal {
		g := GoalClause{Label: c.Label, Holds: c.If.Holds(e)}
		if !g.Holds {
			g.Now = c.If.Explain(e)
			met = false
		}
		clauses = append(clauses, g)
	}
	return clauses, met
}
