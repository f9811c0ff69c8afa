package view

import "github.com/a-h/templ"

// Text is something said in both languages.
type Text struct {
	En string `json:"en"`
	Zh string `json:"zh"`
}

// In returns the text in a language.
func (t Text) In(l Lang) string {
	if l == Chinese && t.Zh != "" {
		return t.Zh
	}
	return t.En
}

// PageKind is what a page shows.
type PageKind string

const (
	PageContents PageKind = "contents" // the list of lessons and how to start
	PageLesson   PageKind = "lesson"
	PageSandbox  PageKind = "sandbox"
	PageLive     PageKind = "live"
	PageGallery  PageKind = "gallery"
	PageGlossary PageKind = "glossary"
	PageError    PageKind = "error" // 404 and the like
)

// PageData is what the shell around the stage needs.
type PageData struct {
	Kind PageKind
	// Base leads from the page to the root of the site: "", "./", "../" or "../../". All links are relative, so that a
	// static site works under any path.
	Base string
	// Lang is the language before the viewer's own choice is known; the page carries both.
	Lang Lang
	// Static is set for a site without a server: there is no live cluster then.
	Static bool
	// Token lets the page kill and restart brokers and demo consumers; "" where it may not.
	Token string
	// Feedback is the address that takes feedback, to which the moment's link is appended: "https://…/new?body="; "" opens a
	// letter.
	Feedback string
	// Bootstrap is the address for Kafka clients, "" where there is none.
	Bootstrap string
	// Built is false where lab.wasm is missing; the page then says what to do.
	Built bool

	// Contents lists the lessons of the contents page.
	Contents []LessonLink
	// Lesson is the lesson of a lesson page.
	Lesson *LessonPage
	// First is the lesson's first picture as the program draws it, part by part: HTML in the page's language. nil leaves
	// the parts to the shell.
	First map[string]string
	// Terms are the glossary's.
	Terms []Term
	// Gallery names the picture of a gallery page, "" for its first.
	Gallery string
	// Error is what a PageError says; Status its HTTP status.
	Error  Text
	Status int
	// Model and Options are what the stage shows before the program has started; nil shows an empty stage.
	Model   *Model
	Options Options
}

// LessonLink is one line of the contents page.
type LessonLink struct {
	ID             string
	Number         int
	Title, Summary Text
	// Chapter is the heading above the lesson, where one begins with it.
	Chapter Text
	// Picture is the lesson's key moment, an SVG by Thumbnail.
	Picture string
}

// Term is an entry of the glossary.
type Term struct {
	// ID is its anchor.
	ID   string
	Name Text
	// Says is HTML that the lesson renderer made.
	Says Text
	// Link leads to the moment of a lesson that shows it, from the site's root: "lab/ID/#m1…"; Lesson is that lesson's
	// title.
	Link   string
	Lesson Text
}

// LessonPage is the text of a lesson. Page puts it into the element "lesson-page" as JSON, so that the program, which
// carries no prose, can render the same panel.
type LessonPage struct {
	ID     string      `json:"id"`
	Number int         `json:"number"`
	Of     int         `json:"of"`
	Title  Text        `json:"title"`
	Steps  []StepPage  `json:"steps"`
	Goals  []NamedText `json:"goals"`
	// Next is the id of the lesson that follows, "" for the last.
	Next string `json:"next,omitempty"`
	// Script is the lesson's script. It is not part of the JSON: Page puts it into the element "lesson-script" as text.
	Script string `json:"-"`
}

// StepPage is the text of one step. Body is HTML that the lesson renderer made from the lesson's own Markdown; it is put
// into the page as it is, so it must not come from anywhere else.
type StepPage struct {
	Name     string        `json:"name"`
	Title    Text          `json:"title"`
	Body     Text          `json:"body"`
	Question *QuestionPage `json:"question,omitempty"`
	// Hints are HTML under the same rule, in the order of giving.
	Hints []Text     `json:"hints,omitempty"`
	Moves []MovePage `json:"moves,omitempty"`
	// Par is how many moves a challenge takes at most, 0 where the step is none.
	Par int `json:"par,omitempty"`
}

// MovePage is a command that a step offers, with the text of its button.
type MovePage struct {
	Text    Text   `json:"text"`
	Command string `json:"command"`
}

// QuestionPage is a prediction. Ask, and an option's Text and Why, are HTML under the same rule as StepPage.Body.
type QuestionPage struct {
	Ask     Text         `json:"ask"`
	Options []OptionPage `json:"options"`
}

// OptionPage is one possible answer; Why is said once the answer is known.
type OptionPage struct {
	ID   string `json:"id"`
	Text Text   `json:"text"`
	Why  Text   `json:"why"`
}

// NamedText is a text with the name it has in the script.
type NamedText struct {
	Name string `json:"name"`
	Text Text   `json:"text"`
}

// Page is a whole document.
func Page(d PageData) templ.Component { return page(d) }

// Named is a picture of the gallery.
type Named struct {
	// Name is its place in the address: letters, digits and dashes.
	Name    string
	Title   Text
	Model   *Model
	Options Options
}
