package tab

import (
	"fmt"
	"strings"
	"time"

	"grouplab/lessons"
	"grouplab/static/view"
)

// course walks a lesson the way it goes by itself, in the program that writes the pages: questions are looked at,
// challenges are won as the script proves, time passes. The tab itself never calls it.
type course struct {
	t *Tab
	m *lessonMode
	// seen is called in each moment of a step, and ends the walk where it returns true.
	seen func() bool
}

func newCourse(script, page string, lang view.Lang) (*course, error) {
	t, err := NewLesson(script, page, Choices{Lang: lang, Motion: "full"})
	if err != nil {
		return nil, err
	}
	return &course{t: t, m: t.lesson}, nil
}

func (c *course) gate() lessons.Gate { return c.m.head.player.Gate() }

func (c *course) step() *lessons.Step { return c.m.head.player.Step() }

// act gives an input and shows what came of it.
func (c *course) act(kind inputKind, arg string) error {
	err := c.m.head.act(kind, arg)
	c.m.cursor.toHead()
	return err
}

// pass lets time pass up to limitMs, moment by moment where somebody looks, while the step lasts. It tells whether the
// walk is to end.
func (c *course) pass(limitMs int64) (found bool, err error) {
	if c.seen == nil {
		for why := endBudget; why == endBudget && err == nil && c.gate() == lessons.Waiting; {
			why, err = c.m.head.run(limitMs, saveEvery)
		}
		c.m.cursor.toHead()
		return false, err
	}
	for c.gate() == lessons.Waiting && c.m.head.nowMs() < limitMs {
		_, err := c.m.head.run(min(c.m.head.nextLimit(), limitMs), 1)
		c.m.cursor.toHead()
		if err != nil || c.seen() {
			return err == nil, err
		}
	}
	return false, nil
}

// end goes to the end of the current step.
func (c *course) end() (found bool, err error) {
	step := c.step()
	if c.gate() == lessons.Asking {
		if err := c.act(inputPredict, ""); err != nil {
			return false, err
		}
		if c.seen != nil && c.seen() {
			return true, nil
		}
	}
	for _, w := range c.m.lesson.Wins {
		if step.Par > 0 && w.Name == step.Name {
			if found, err := c.win(w); found || err != nil {
				return found, err
			}
		}
	}
	if found, err = c.pass(c.m.head.nowMs() + searchMs); found || err != nil {
		return found, err
	}
	if c.gate() == lessons.Waiting {
		return false, fmt.Errorf("%s: step %s of lesson %s does not end", c.m.lesson.At(step.Line), step.Name, c.m.lesson.ID)
	}
	return false, nil
}

// win gives the commands that win a challenge.
func (c *course) win(w lessons.Solution) (found bool, err error) {
	for _, cmd := range w.Commands {
		switch cmd.Verb {
		case "until": // as any step goes to its end
		case "advance":
			long, err := time.ParseDuration(cmd.Args[0].Text)
			if err != nil {
				return false, err
			}
			found, err = c.pass(c.m.head.nowMs() + long.Milliseconds())
			if found || err != nil {
				return found, err
			}
		default:
			if err := c.act(inputCommand, cmd.Raw); err != nil {
				return false, err
			}
			if c.seen != nil && c.seen() {
				return true, nil
			}
		}
	}
	return false, nil
}

// to goes to the first moment of a place.
func (c *course) to(place lessons.Place) error {
	for c.step().Name != place.Step {
		if _, err := c.end(); err != nil {
			return err
		}
		if c.gate() == lessons.Over {
			return fmt.Errorf("lesson %s has no step %q", c.m.lesson.ID, place.Step)
		}
		if err := c.act(inputNext, ""); err != nil {
			return err
		}
	}
	if place.Until == nil {
		return nil
	}
	c.seen = func() bool { return place.Until.Holds(c.m.head.engine) }
	defer func() { c.seen = nil }()
	if c.seen() {
		return nil
	}
	found, err := c.end()
	if err == nil && !found {
		err = fmt.Errorf("in step %s of lesson %s it never comes to %q", place.Step, c.m.lesson.ID, place.Until.String())
	}
	return err
}

// Moment is a moment of a lesson's course, found by running it.
type Moment struct {
	// Link is the fragment that leads to it.
	Link string
	// Model and Options are its picture.
	Model   *view.Model
	Options view.Options
}

// MomentAt finds a place of a lesson, with something selected there where that is not "". The program that writes the
// pages calls it, with what they carry.
func MomentAt(script, page string, place lessons.Place, selected string) (Moment, error) {
	c, err := newCourse(script, page, view.English)
	if err != nil {
		return Moment{}, err
	}
	if place.Step == "" {
		place.Step = pictured(c.m.lesson)
	}
	if err := c.to(place); err != nil {
		return Moment{}, err
	}
	c.t.selected = selected
	c.t.fill()
	return Moment{Link: c.m.link(), Model: c.m.cursor.model, Options: c.t.options}, nil
}

// pictured is the step whose beginning a lesson's picture shows where the script names no other: the first that asks.
func pictured(l *lessons.Lesson) string {
	for _, s := range l.Steps {
		if s.Predict != nil {
			return s.Name
		}
	}
	return l.Steps[len(l.Steps)-1].Name
}

// PictureOf is the place that a lesson's picture shows.
func PictureOf(script, id string) (lessons.Place, error) {
	l, err := lessons.Load(id, script)
	if err != nil {
		return lessons.Place{}, err
	}
	if l.Picture.Step == "" {
		l.Picture.Step = pictured(l)
	}
	return l.Picture, nil
}

// Recorded is one picture of a lesson's beginning, for a page whose program is not there yet.
type Recorded struct {
	// Link is the fragment that leads to it in the program.
	Link string `json:"link"`
	// Parts are the parts whose HTML differs from the picture before, by id.
	Parts map[string]string `json:"parts"`
	// Answers are the lesson's panel for each option, where the picture after a question is that of its answer. The
	// answer itself is told for who only looked.
	Answers map[string]Answered `json:"answers,omitempty"`
}

// Answered is what an answer changes.
type Answered struct {
	Link  string `json:"link"`
	Panel string `json:"panel"`
}

// Record plays a lesson from its start up to its first challenge, at most most pictures: how each step begins, its
// answer, and how it ends.
func Record(script, page string, lang view.Lang, most int) ([]Recorded, error) {
	c, err := newCourse(script, page, lang)
	if err != nil {
		return nil, err
	}
	list := []Recorded{c.record()}
	for len(list) < most {
		var answers map[string]Answered
		switch gate := c.gate(); {
		case gate == lessons.Over || c.step().Par > 0:
			return list, nil
		case gate == lessons.Ready:
			err = c.act(inputNext, "")
		case gate == lessons.Asking:
			answers, err = c.answers()
		default:
			_, err = c.end()
		}
		if err != nil {
			return nil, err
		}
		next := c.record()
		next.Answers = answers
		list = append(list, next)
	}
	return list, nil
}

// record renders what has changed.
func (c *course) record() Recorded {
	c.m.enterStep()
	c.t.selected, c.t.options.Note = "", ""
	r := Recorded{Link: c.m.link(), Parts: map[string]string{}}
	for _, p := range c.t.Frame(c.t.wallMs).Patches {
		r.Parts[strings.TrimPrefix(p.ID, "part-")] = p.HTML
	}
	return r
}

// answers gives each answer in turn and ends with having looked only.
func (c *course) answers() (map[string]Answered, error) {
	all := map[string]Answered{}
	before := past{inputs: c.m.head.inputs, headSeq: c.m.head.seq(), seq: c.m.cursor.seq}
	for _, o := range c.step().Predict.Options {
		if err := c.act(inputPredict, o.ID); err != nil {
			return nil, err
		}
		all[o.ID] = Answered{Link: c.m.link(), Panel: c.panel()}
		c.m.restore(before)
	}
	return all, c.act(inputPredict, "")
}

// panel is the lesson's panel as HTML.
func (c *course) panel() string {
	c.t.dirty = true
	c.t.Frame(c.t.wallMs)
	return c.t.html["lesson"]
}

// StepLinks are the fragments that lead to how each step of a lesson begins.
func StepLinks(script, page string) (map[string]string, error) {
	c, err := newCourse(script, page, view.English)
	if err != nil {
		return nil, err
	}
	links := map[string]string{c.step().Name: c.m.link()}
	for range len(c.m.lesson.Steps) - 1 {
		if _, err := c.end(); err != nil {
			return nil, err
		}
		if err := c.act(inputNext, ""); err != nil {
			return nil, err
		}
		links[c.step().Name] = c.m.link()
	}
	return links, nil
}

// Note is the sentence that the page shows, and Selected what is selected.
func (t *Tab) Note() string     { return t.options.Note }
func (t *Tab) Selected() string { return t.selected }
