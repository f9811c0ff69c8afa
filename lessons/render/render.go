// Package render joins a lesson's script with its texts and makes HTML of them. It is used by the server and the site,
// never by the tab, which finds the result in its page.
//
// A text is Markdown (no raw HTML) in sections:
//
//	# Title
//	A sentence for the list of lessons.
//
//	## step NAME: Heading          one for each step of the script
//	? Hint                         three lines, or none, at the end of a step; a question or a challenge needs them
//	### MOVE: Button               one for each move of the step
//	## predict NAME: Question      one for each prediction; nothing stands below it but its options
//	### OPTION: Answer             one for each option; the paragraph below it is said once the answer is known
//	## goal LABEL: Text            one for each clause of the goal; nothing stands below it
//	## solution NAME: Heading      one for each solution
//
// English and Chinese have the same sections, and these are exactly the script's names. What is missing, unknown or
// doubled is an error that prints FILE:LINE:COL.
package render

// Langs are the languages of every lesson.
var Langs = []string{"en", "zh"}

// Text is something said in both languages.
type Text struct{ En, Zh string }

// Lesson is a lesson with its texts. Fields called HTML are HTML that is safe to put into a page as it is, and inline, to
// stand within a paragraph, where nothing else is said; all others are plain text.
type Lesson struct {
	ID     string
	Number int
	// Script is the script's text, for the tab.
	Script         string
	Title, Summary Text
	Steps          []Step
	Goals          []Named
	Solutions      []Solution
	Draft          bool
}

// Step is one step's text.
type Step struct {
	Name     string
	Title    Text
	HTML     Text      // paragraphs and lists
	Question *Question // nil where nothing is asked
	Hints    []Text    // HTML without a paragraph around it
	Moves    []Move
	Par      int // 0 where the step is no challenge
}

// Move is a command that the step offers, with the text of its button.
type Move struct {
	Text    Text
	Command string
}

// Question is a prediction's text.
type Question struct {
	Name    string
	AskHTML Text
	Options []Option
}

// Option is one possible answer; WhyHTML is said once the answer is known.
type Option struct {
	ID      string
	HTML    Text
	WhyHTML Text
}

// Named is a text with its name in the script. Plain is the same without markup.
type Named struct {
	Name        string
	HTML, Plain Text
}

// Solution is one way to the goal, with its commands as the script has them.
type Solution struct {
	Name     string
	Title    Text
	HTML     Text // paragraphs and lists
	Commands []string
}
