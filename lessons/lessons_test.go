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
		l, err := lessons.Load(id, string(text))
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
		t.Fatalf("the goal is met at the start: %+v", clauses)
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
			t.Fatalf("the goal is met at %d ms though nobody did anything", e.NowMs())
		}
	}
}

func solutionsReachTheGoal(t *testing.T, l *lessons.Lesson) {
	for _, s := range l.Solutions {
		e := open(t, l)
		for _, c := range s.Commands {
			if err := e.Do(c); err != nil {
				t.Fatalf("solution %s: %v", s.Name, err)
			}
		}
		if clauses, met := l.GoalOf(e); !met {
			t.Errorf("solution %s does not reach the goal: %+v", s.Name, clauses)
		}
	}
}

// walk plays a lesson and calls ask at each question with the engine as it is then.
func walk(t *testing.T, l *lessons.Lesson, ask func(p *lessons.Player, e *script.Engine)) (*lessons.Player, *script.Engine) {
	t.Helper()
	e, p := open(t, l), lessons.NewPlayer(l)
	for n := 0; p.Gate() != lessons.Over; n++ {
		if n > 100_000 {
			t.Fatalf("step %s is never over: %s", p.Step().Name, p.Step().Wait.Explain(e))
		}
		switch p.Gate() {
		case lessons.Asking:
			ask(p, e)
		case lessons.Waiting:
			if e.NextMs() < 0 {
				t.Fatalf("step %s is never over and nothing happens any more: %s", p.Step().Name, p.Step().Wait.Explain(e))
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
		t.Fatalf("the lesson ends short of its goal: %+v", clauses)
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
			t.Errorf("prediction %s has %d right answers", q.Name, right)
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
