// Package pages makes the data of pages out of lessons. The server and the static site show the same pages.
package pages

import (
	"errors"
	"slices"
	"sync"

	"grouplab/coordinator/sim/script"
	"grouplab/lessons/render"
	"grouplab/static"
	"grouplab/static/view"
)

// Book is every lesson, ready to be shown.
type Book struct {
	contents []view.LessonLink
	lessons  map[string]*view.LessonPage
	order    []string
	pictures []string
	scenes   map[string]func() (view.Named, error)
	courses  map[string]*course
	glossary []render.Term
	feedback string // see TakesFeedback

	pictured func() []view.LessonLink
	terms    func() []view.Term
}

var errNoLesson = errors.New("there is no such lesson")

// New reads the lessons that the program carries. An error means that the program was built wrongly.
func New() (*Book, error) {
	all, err := render.All()
	if err != nil {
		return nil, err
	}
	b := Of(all)
	b.glossary, err = render.Glossary()
	return b, err
}

// Of makes a book of these lessons.
func Of(all []render.Lesson) *Book {
	b := &Book{lessons: map[string]*view.LessonPage{}, scenes: map[string]func() (view.Named, error){}, courses: map[string]*course{}}
	b.pictured, b.terms = sync.OnceValue(b.makePictures), sync.OnceValue(b.makeTerms)
	for i := range all {
		l := &all[i]
		page := lesson(l)
		// A folder's number leaves room for lessons to come; a reader is told the place among those that are there.
		page.Number, page.Of = i+1, len(all)
		if i+1 < len(all) {
			page.Next = all[i+1].ID
		}
		b.lessons[l.ID] = page
		b.courses[l.ID] = newCourse(page)
		b.order = append(b.order, l.ID)
		b.contents = append(b.contents, view.LessonLink{
			ID: l.ID, Number: i + 1, Title: both(l.Title), Summary: both(l.Summary), Chapter: chapters[l.ID],
		})
	}
	for _, picture := range view.Gallery() {
		b.pictures = append(b.pictures, picture.Name)
	}
	for _, scene := range view.Scenes() {
		b.pictures = append(b.pictures, scene.Name)
		b.scenes[scene.Name] = sync.OnceValues(func() (view.Named, error) {
			events, nowMs, err := script.Run(scene.Name, scene.Script())
			return scene.Of(events, nowMs), err
		})
	}
	return b
}

// Pictures are the names of the gallery's pictures in their order.
func (b *Book) Pictures() []string { return b.pictures }

// IDs are the lessons' ids in their order.
func (b *Book) IDs() []string { return b.order }

// Contents is the page that lists everything.
func (b *Book) Contents() view.PageData {
	return view.PageData{Kind: view.PageContents, Built: static.Built(), Contents: b.contents}
}

// Lesson is a lesson's page; false where no lesson has that id.
func (b *Book) Lesson(id string) (view.PageData, bool) {
	page, found := b.lessons[id]
	return view.PageData{Kind: view.PageLesson, Built: static.Built(), Lesson: page}, found
}

// Sandbox is the page of free play.
func (b *Book) Sandbox() view.PageData {
	return view.PageData{Kind: view.PageSandbox, Built: static.Built()}
}

// Paste is the page of a pasted log.
func (b *Book) Paste() view.PageData {
	return view.PageData{Kind: view.PagePaste, Built: static.Built()}
}

// Live is the page of the running cluster.
func (b *Book) Live() view.PageData { return view.PageData{Kind: view.PageLive, Built: static.Built()} }

// Recordings is the page of what was recorded.
func (b *Book) Recordings() view.PageData {
	return view.PageData{Kind: view.PageRecordings, Built: static.Built()}
}

// Gallery is the page of one picture, "" for the first; false where no picture has that name. A scene is run when it is
// first asked for.
func (b *Book) Gallery(name string) (view.PageData, bool) {
	d := view.PageData{Kind: view.PageGallery, Built: static.Built(), Gallery: name}
	if scene := b.scenes[name]; scene != nil {
		picture, err := scene()
		d.Model, d.Options = picture.Model, picture.Options
		return d, err == nil
	}
	return d, name == "" || slices.Contains(b.pictures, name)
}

// Error is a page that says what went wrong. It lists the lessons all the same, so that it leads on.
func (b *Book) Error(status int, said view.Text) view.PageData {
	return view.PageData{Kind: view.PageError, Built: static.Built(), Contents: b.contents, Status: status, Error: said}
}

func lesson(l *render.Lesson) *view.LessonPage {
	page := &view.LessonPage{
		ID: l.ID, Title: both(l.Title), Script: l.Script,
		Goals: named(l.Goals),
	}
	for _, s := range l.Steps {
		step := view.StepPage{Name: s.Name, Title: both(s.Title), Body: both(s.HTML), Par: s.Par}
		for _, h := range s.Hints {
			step.Hints = append(step.Hints, both(h))
		}
		for _, m := range s.Moves {
			step.Moves = append(step.Moves, view.MovePage{Text: both(m.Text), Command: m.Command})
		}
		if q := s.Question; q != nil {
			step.Question = &view.QuestionPage{Ask: both(q.AskHTML)}
			for _, o := range q.Options {
				step.Question.Options = append(step.Question.Options,
					view.OptionPage{ID: o.ID, Text: both(o.HTML), Why: both(o.WhyHTML)})
			}
		}
		page.Steps = append(page.Steps, step)
	}
	return page
}

func named(list []render.Named) []view.NamedText {
	var out []view.NamedText
	for _, n := range list {
		out = append(out, view.NamedText{Name: n.Name, Text: both(n.HTML)})
	}
	return out
}

func both(t render.Text) view.Text { return view.Text{En: t.En, Zh: t.Zh} }
