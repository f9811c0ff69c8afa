package lessons_test

import (
	"testing"

	"grouplab/lessons"
)

// TestB117_ParIsWhatTheShownWayTakes: of every challenge the way that is shown wins in exactly par moves, each of them a move
// that the step offers; and whoever takes a longer way has won, too.
func TestB117_ParIsWhatTheShownWayTakes(t *testing.T) {
	challenges := 0
	for _, l := range load(t) {
		for _, s := range l.Steps {
			if s.Par == 0 {
				continue
			}
			challenges++
			t.Run(l.ID+"/"+s.Name, func(t *testing.T) {
				if moves := wonAt(t, l, s.Name, 0); moves != s.Par {
					t.Errorf("%s: par is %d, the shown way takes %d moves", l.At(s.Line), s.Par, moves)
				}
				if moves := wonAt(t, l, s.Name, 2); moves != s.Par+2 {
					t.Errorf("%s: two moves more than par are counted as %d", l.At(s.Line), moves)
				}
			})
		}
	}
	if challenges < 5 {
		t.Errorf("there are %d challenges; five at least are promised", challenges)
	}
}

// wonAt plays up to a challenge, makes so many moves for nothing, wins it as the script proves, and returns its moves.
func wonAt(t *testing.T, l *lessons.Lesson, step string, idle int) int {
	t.Helper()
	e, p := open(t, l), lessons.NewPlayer(l)
	for p.Gate() != lessons.Over {
		switch s := p.Step(); {
		case p.Gate() == lessons.Asking:
			if _, err := p.Predict(e, ""); err != nil {
				t.Fatal(err)
			}
		case p.Gate() == lessons.Ready:
			if s.Name == step {
				return p.Moves()
			}
			if err := p.Next(e); err != nil {
				t.Fatal(err)
			}
		case s.Par > 0 && s.Name == step:
			won := p.Moves()
			winAnyway(t, p, e, idle)
			if p.Gate() == lessons.Waiting {
				t.Fatalf("%s: after %d moves of %d it is not won", l.At(s.Line), p.Moves()-won, s.Par)
			}
			return p.Moves()
		case s.Par > 0:
			win(t, p, e)
		default:
			e.Step(e.NextMs())
			p.Observe(e)
		}
	}
	return p.Moves()
}
