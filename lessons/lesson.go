package lessons

import (
	"strconv"

	"grouplab/coordinator/sim/script"
)

// Lesson is a lesson's script, read and checked.
type Lesson struct {
	// ID is the folder's name without its number: "unclean-restart".
	ID string
	// Setup leads to the lesson's start.
	Setup []script.Command
	// Steps are its beats, at least one.
	Steps []Step
	// Goal is what must hold at once at the end, at least one clause.
	Goal []Clause
	// Solutions are other ways from the start to the goal than the steps are.
	Solutions []Solution
	// Wins win the challenge of the step of their name, one for each.
	Wins []Solution
	// Picture is the moment that the list of contents shows.
	Picture Place
	// Draft keeps it from the list of contents.
	Draft bool
	file  string
	// free lessons have no narration: the learner has taken over from the beginning.
	free bool
}

// Place is a moment in a lesson's course: how a step begins or, where Until is set, the first moment of that step in
// which it holds.
type Place struct {
	Step  string
	Until *script.Condition
	// Line of the script, 0 where it does not say.
	Line int
}

// Step is one beat.
type Step struct {
	Name string
	Line int
	// Focus is the part of the stage it is about; the zero value where it is about none.
	Focus Focus
	// Speed is the speed at which it is best watched.
	Speed Speed
	// Commands run when the step begins.
	Commands []script.Command
	// Predict is asked when the commands have run; nil where nothing is asked.
	Predict *Prediction
	// Wait ends the step; nil where it is over as soon as it has been read.
	Wait *script.Condition
	// Par is set where the step is a challenge, won when Wait holds: how many moves of the learner that takes at most.
	Par int
	// Allow lists verbs that the learner may use in this step, sorted; Moves are whole commands.
	Allow []string
	Moves []Move
	// Hints are where the hints point, in the order of giving; the zero value where one points nowhere.
	Hints []Focus
}

// Move is a command that a step offers to the learner.
type Move struct {
	Name    string // the key of its text
	Command string
}

// Prediction is a question whose answer the engine gives.
type Prediction struct {
	Name    string
	Line    int
	Options []Option
	// Decide is run on a copy of the engine: an `until` command.
	Decide script.Command
}

// Option is one possible answer.
type Option struct {
	ID string
	// If tells whether it is right, asked when the copy was run to its decision.
	If script.Condition
}

// Clause is one part of the goal.
type Clause struct {
	Label string // the key of its text
	If    script.Condition
}

// Solution is one way from the start to the goal, or from a challenge to its win.
type Solution struct {
	Name     string
	Line     int
	Commands []script.Command
}

// Focus names a part of the stage, and in the part "client" a consumer.
type Focus struct {
	Part   string
	Client string
}

// Speed is lab time over wall time. The zero value means: leave it as it is.
type Speed struct{ Num, Den int64 }

// String prints a speed as the script has it: "1/10", "3", "" for the zero value.
func (s Speed) String() string {
	switch {
	case s.Den == 0:
		return ""
	case s.Den == 1:
		return strconv.FormatInt(s.Num, 10)
	}
	return strconv.FormatInt(s.Num, 10) + "/" + strconv.FormatInt(s.Den, 10)
}

// Speeds are the speeds there are, slowest first.
var Speeds = []Speed{{1, 1000}, {1, 100}, {1, 10}, {1, 1}, {10, 1}, {100, 1}}

// ParseSpeed reads what String prints; only the speeds of Speeds are read.
func ParseSpeed(text string) (Speed, bool) {
	for _, s := range Speeds {
		if s.String() == text {
			return s, true
		}
	}
	return Speed{}, false
}

// Parts are the parts of the stage that a step can be about.
var Parts = []string{"headline", "clients", "client", "shelves", "machine", "purgatory", "wheels", "tape", "offsets",
	"ownership", "timeline", "transport"}

// Open runs the set-up and returns the engine at the start of the lesson. The events of the set-up are still to be
// taken from it.
func (l *Lesson) Open() (*script.Engine, error) {
	e := script.New(l.file)
	for _, c := range l.Setup {
		if err := l.prepare(e, c); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Step returns the step of that name, nil where there is none.
func (l *Lesson) Step(name string) *Step {
	for i := range l.Steps {
		if l.Steps[i].Name == name {
			return &l.Steps[i]
		}
	}
	return nil
}

// Move returns the move of that name, nil where there is none.
func (s *Step) Move(name string) *Move {
	for i := range s.Moves {
		if s.Moves[i].Name == name {
			return &s.Moves[i]
		}
	}
	return nil
}

// At is a line of the script, for those who say what is wrong there: FILE:LINE:COL.
func (l *Lesson) At(line int) string { return l.file + ":" + strconv.Itoa(line) + ":1" }
