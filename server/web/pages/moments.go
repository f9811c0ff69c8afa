package pages

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"sync"

	"grouplab/lessons/render"
	"grouplab/static/view"
	"grouplab/wasm/tab"
)

// mostRecorded bounds the pictures of a lesson that play before its program is there.
const mostRecorded = 12

// course is what comes of playing a lesson here, with the tab's own code, each part when it is first asked for. An error
// leaves the page without that part; a test plays all lessons that the program carries.
type course struct {
	script, page string
	id           string
	steps        map[view.Lang]func() ([]tab.Recorded, error)
	picture      func() (string, error)
	links        func() (map[string]string, error)
}

func newCourse(l *view.LessonPage) *course {
	data, err := json.Marshal(l)
	c := &course{script: l.Script, page: string(data), id: l.ID, steps: map[view.Lang]func() ([]tab.Recorded, error){}}
	if err != nil {
		panic(err) // strings and numbers only
	}
	for _, lang := range []view.Lang{view.English, view.Chinese} {
		c.steps[lang] = sync.OnceValues(func() ([]tab.Recorded, error) { return tab.Record(c.script, c.page, lang, mostRecorded) })
	}
	c.picture = sync.OnceValues(func() (string, error) {
		at, err := tab.PictureOf(c.script, c.id)
		if err != nil {
			return "", err
		}
		moment, err := tab.MomentAt(c.script, c.page, at, "")
		if err != nil {
			return "", err
		}
		return view.Thumbnail(moment.Model, moment.Options), nil
	})
	c.links = sync.OnceValues(func() (map[string]string, error) { return tab.StepLinks(c.script, c.page) })
	return c
}

// Prepare puts into a page what is found by playing lessons: a lesson's first picture, the pictures of the contents, the
// moments of the glossary. The page's language must be set.
func (b *Book) Prepare(d *view.PageData) {
	d.Feedback = b.feedback
	switch d.Kind {
	case view.PageLesson:
		if c := b.courses[d.Lesson.ID]; c != nil {
			if steps, err := c.steps[d.Lang](); err == nil {
				d.First = steps[0].Parts
			}
		}
	case view.PageContents:
		d.Contents = b.pictured()
	case view.PageGlossary:
		d.Terms = b.terms()
	}
}

// Steps are the recorded pictures of a lesson's beginning in JSON; false where there is no such lesson.
func (b *Book) Steps(id string, lang view.Lang) ([]byte, bool) {
	c := b.courses[id]
	if c == nil || c.steps[lang] == nil {
		return nil, false
	}
	steps, err := c.steps[lang]()
	if err != nil {
		return nil, false
	}
	data, err := json.Marshal(steps)
	return data, err == nil
}

// makePictures plays every lesson to the moment that the contents show.
func (b *Book) makePictures() []view.LessonLink {
	list := append([]view.LessonLink(nil), b.contents...)
	for i := range list {
		list[i].Picture, _ = b.courses[list[i].ID].picture()
	}
	return list
}

// Glossary is the page of the glossary.
func (b *Book) Glossary() view.PageData {
	d := b.Contents()
	d.Kind, d.Contents = view.PageGlossary, nil
	return d
}

// makeTerms finds the moments of the glossary. A term whose moment does not come has no link.
func (b *Book) makeTerms() []view.Term {
	var list []view.Term
	for _, t := range b.glossary {
		term := view.Term{ID: t.ID, Name: both(t.Name), Says: both(t.HTML)}
		if link, err := b.momentOf(&t); err == nil {
			term.Link, term.Lesson = link, b.lessons[t.Lesson].Title
		}
		list = append(list, term)
	}
	return list
}

func (b *Book) momentOf(t *render.Term) (string, error) {
	c := b.courses[t.Lesson]
	if c == nil {
		return "", errNoLesson
	}
	moment, err := tab.MomentAt(c.script, c.page, t.At, t.Select)
	return "lab/" + t.Lesson + "/#" + moment.Link, err
}

// Found is an entry of the index that the contents page searches.
type Found struct {
	// Title says where it is, Text is what is searched, Link leads there from the site's root.
	Title string `json:"title"`
	Text  string `json:"text"`
	Link  string `json:"link"`
}

// Index is everything that can be searched in a language, in JSON: each step of each lesson, and the glossary.
func (b *Book) Index(lang view.Lang) []byte {
	var all []Found
	for _, id := range b.order {
		l := b.lessons[id]
		links, _ := b.courses[id].links()
		for _, s := range l.Steps {
			f := Found{Title: l.Title.In(lang) + " · " + s.Title.In(lang), Text: bare(s.Body.In(lang)), Link: "lab/" + id + "/"}
			if s.Question != nil {
				f.Text += " " + bare(s.Question.Ask.In(lang))
				for _, o := range s.Question.Options { // not what is said of them: that tells the answer
					f.Text += " " + bare(o.Text.In(lang))
				}
			}
			if link := links[s.Name]; link != "" {
				f.Link += "#" + link
			}
			all = append(all, f)
		}
	}
	title, says := view.PasteWords(lang)
	all = append(all, Found{Title: title, Text: says, Link: "paste/"})
	for _, t := range b.glossary {
		title, says := t.Name.En, t.HTML.En
		if lang == view.Chinese {
			title, says = t.Name.Zh, t.HTML.Zh
			if t.Name.Zh != t.Name.En {
				title += " " + t.Name.En
			}
		}
		all = append(all, Found{Title: title, Text: bare(says), Link: "glossary/#" + t.ID})
	}
	data, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings only
	}
	return data
}

var tag = regexp.MustCompile(`<[^>]*>`)

// bare drops the tags of a piece of HTML.
func bare(piece string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(piece, " "))), " ")
}

// chapters are the headings of the ladder, by the lesson that each begins with.
var chapters = map[string]view.Text{
	"find-coordinator": {En: "Finding and joining", Zh: "找到与加入"},
	"heartbeats":       {En: "Alive or not", Zh: "存活与否"},
	"sync-group":       {En: "Handshakes and their errors", Zh: "握手与错误"},
	"commits":          {En: "Offsets and the tape", Zh: "位移与磁带"},
	"failover":         {En: "When the cluster changes", Zh: "集群变化时"},
	"finals":           {En: "Finals", Zh: "大考"},
}
