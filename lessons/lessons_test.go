package lessons_test

import (
	"io/fs"
	"strings"
	"testing"

	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
	"grouplab/lessons/content"
)

// load reads every lesson that the program carries.
func load(t *testing.T) []*lessons.Lesson {
	t.Helper()
	dirs, err := fs.ReadDir(content.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	var all []*lessons.Lesson
	for _, d := range dirs {
		text, err := fs.ReadFile(content.FS, d.Name()+"/script.txt")
		if err != nil {
			t.Fatal(err)
		}
		_, id, _ := strings.Cut(d.Name(), "-")
		l, err := lessons.LoadFile("lessons/content/"+d.Name()+"/script.txt", id, string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if len(all) < 2 {
		t.Fatalf("there are %d lessons; at least two are expected", len(all))
	}
	return all
}

// TestLessons proves each lesson.
func TestLessons(t *testing.T) {
	for _, l := range load(t) {
		t.Run(l.ID, func(t *testing.T) {
			t.Run("start", func(t *testing.T) { startIsNotTheGoal(t, l) })
			t.Run("idle", func(t *testing.T) { doingNothingIsNotEnough(t, l) })
			t.Run("solutions", func(t *testing.T) { solutionsReachTheGoal(t, l) })
			t.Run("steps", func(t *testing.T) { stepsReachTheGoal(t, l) })
			t.Run("predictions", func(t *testing.T) { predictionsHaveOneAnswer(t, l) })
			t.Run("challenges", func(t *testing.T) { challengesAreWonByMovesAlone(t, l) })
		})
	}
}

func open(t *testing.T, l *lessons.Lesson) *script.Engine {
	t.Helper()
	e, err := l.Open()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func startIsNotTheGoal(t *testing.T, l *lessons.Lesson) {
	e := open(t, l)
	if clauses, met := l.GoalOf(e); met {
		t.Fatalf("%s: the goal is met at the start: %+v", l.At(1), clauses)
	} else {
		for _, c := range clauses {
			if !c.Holds && c.Now == "" {
				t.Errorf("clause %s fails without saying what is the case", c.Label)
			}
		}
	}
}

func doingNothingIsNotEnough(t *testing.T, l *lessons.Lesson) {
	e := open(t, l)
	for end := e.NowMs() + 10*60*1000; e.Step(end); {
		if _, met := l.GoalOf(e); met {
			t.Fatalf("%s: the goal is met at %d ms though nobody did anything", l.At(1), e.NowMs())
		}
	}
}

func solutionsReachTheGoal(t *testing.T, l *lessons.Lesson) {
	for _, s := range l.Solutions {
		e := open(t, l)
		for _, c := range s.Commands {
			if err := e.Do(c); err != nil {
				t.Fatalf("%s: solution %s: %v", l.At(s.Line), s.Name, err)
			}
		}
		if clauses, met := l.GoalOf(e); !met {
			t.Errorf("%s: solution %s does not reach the goal: %+v", l.At(s.Line), s.Name, clauses)
		}
	}
}

// walk plays a lesson and calls ask at each question with the engine as it is then.
func walk(t *testing.T, l *lessons.Lesson, ask func(p *lessons.Player, e *script.Engine)) (*lessons.Player, *script.Engine) {
	t.Helper()
	e, p := open(t, l), lessons.NewPlayer(l)
	for n := 0; p.Gate() != lessons.Over; n++ {
		if n > 100_000 {
			t.Fatalf("%s: step %s is never over: %s", l.At(p.Step().Line), p.Step().Name, p.Step().Wait.Explain(e))
		}
		switch p.Gate() {
		case lessons.Asking:
			ask(p, e)
		case lessons.Waiting:
			if p.Step().Par > 0 {
				win(t, p, e)
				continue
			}
			if e.NextMs() < 0 {
				t.Fatalf("%s: step %s is never over and nothing happens any more: %s", l.At(p.Step().Line), p.Step().Name, p.Step().Wait.Explain(e))
			}
			e.Step(e.NextMs())
			p.Observe(e)
		case lessons.Ready:
			if err := p.Next(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p, e
}

// win does what the script says wins the challenge, moment by moment as a page does, and looks at par.
func win(t *testing.T, p *lessons.Player, e *script.Engine) {
	t.Helper()
	winAnyway(t, p, e, 0)
	if l, s := p.Lesson(), p.Step(); p.Moves() > s.Par {
		t.Fatalf("%s: par is %d, and this takes %d moves", l.At(s.Line), s.Par, p.Moves())
	}
}

// winAnyway makes so many moves that change nothing first.
func winAnyway(t *testing.T, p *lessons.Player, e *script.Engine, idle int) {
	t.Helper()
	for range idle {
		p.Moved()
	}
	l, s := p.Lesson(), p.Step()
	for _, w := range l.Wins {
		if w.Name != s.Name {
			continue
		}
		for _, c := range w.Commands {
			if c.Verb != "until" && c.Verb != "advance" {
				if !p.Allows(c.Verb, c.Raw) {
					t.Fatalf("%s: the step offers no %q", l.At(c.Line), c.Raw)
				}
				p.Moved()
			}
			wait, err := e.Begin(c)
			for done := false; err == nil && !done && p.Gate() == lessons.Waiting; {
				if done, err = e.Done(wait); err == nil && !done {
					e.Step(wait.UntilMs)
					p.Observe(e)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			p.Observe(e)
		}
		if p.Gate() == lessons.Waiting {
			t.Fatalf("%s: the commands do not win the challenge: %s", l.At(w.Line), s.Wait.Explain(e))
		}
	}
}

// challengesAreWonByMovesAlone: whoever only lets time pass does not win, in ten minutes.
func challengesAreWonByMovesAlone(t *testing.T, l *lessons.Lesson) {
	e, p := open(t, l), lessons.NewPlayer(l)
	for p.Gate() != lessons.Over {
		switch p.Gate() {
		case lessons.Asking:
			if _, err := p.Predict(e, ""); err != nil {
				t.Fatal(err)
			}
		case lessons.Ready:
			if err := p.Next(e); err != nil {
				t.Fatal(err)
			}
			if s := p.Step(); s.Par > 0 {
				if p.Gate() != lessons.Waiting {
					t.Fatalf("%s: the challenge of step %s is won before a move", l.At(s.Line), s.Name)
				}
				c, q := e.Clone(), p.Clone()
				for end := c.NowMs() + 10*60*1000; c.NextMs() >= 0 && c.Step(end); {
					if q.Observe(c) {
						t.Fatalf("%s: the challenge of step %s is won by waiting, at %d ms", l.At(s.Line), s.Name, c.NowMs())
					}
				}
			}
		case lessons.Waiting:
			if p.Step().Par > 0 {
				win(t, p, e)
				continue
			}
			e.Step(e.NextMs())
			p.Observe(e)
		}
	}
}

func stepsReachTheGoal(t *testing.T, l *lessons.Lesson) {
	p, e := walk(t, l, func(p *lessons.Player, e *script.Engine) {
		if _, err := p.Predict(e, ""); err != nil {
			t.Fatal(err)
		}
	})
	if p.Index() != len(l.Steps)-1 {
		t.Fatalf("the lesson ended at step %d of %d", p.Index()+1, len(l.Steps))
	}
	if clauses, met := l.GoalOf(e); !met {
		t.Fatalf("%s: the lesson ends short of its goal: %+v", l.At(l.Steps[len(l.Steps)-1].Line), clauses)
	}
}

// predictionsHaveOneAnswer: each choice is graded from the same moment; exactly one is right, and what the lesson then
// does is what the copy had done.
func predictionsHaveOneAnswer(t *testing.T, l *lessons.Lesson) {
	asked := 0
	walk(t, l, func(p *lessons.Player, e *script.Engine) {
		asked++
		q := p.Step().Predict
		before := e.NowMs()
		right := 0
		for _, o := range q.Options {
			answer, err := p.Clone().Predict(e, o.ID)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Right == o.ID {
				right++
			}
			if answer.DecidedMs < before {
				t.Errorf("prediction %s is decided at %d ms, before it was asked", q.Name, answer.DecidedMs)
			}
		}
		if right != 1 {
			t.Errorf("%s: prediction %s has %d right answers", l.At(q.Line), q.Name, right)
		}
		if e.NowMs() != before {
			t.Error("grading moved the engine")
		}
		if _, err := p.Predict(e, q.Options[0].ID); err != nil {
			t.Fatal(err)
		}
		real := e.Clone()
		real.Mark()
		for !q.Decide.Cond.Holds(real) {
			real.Step(real.NowMs() + 60_000)
		}
		for _, o := range q.Options {
			if holds := o.If.Holds(real); holds != (o.ID == p.Answer(p.Step().Name).Right) {
				t.Errorf("prediction %s: option %s came out as %v when the lesson went on", q.Name, o.ID, holds)
			}
		}
	})
	if asked == 0 {
		t.Error("a lesson asks at least once before it shows")
	}
}
