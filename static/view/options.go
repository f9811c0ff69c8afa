package view

import (
	"slices"

	"grouplab/coordinator/event"

	"github.com/a-h/templ"
)

// Mode says what feeds the stage.
type Mode string

const (
	ModeLesson  Mode = "lesson"  // a simulated world in the tab, with a lesson
	ModeLive    Mode = "live"    // the running cluster
	ModeGallery Mode = "gallery" // a fixed picture
)

// Grain is how far one step goes.
type Grain string

const (
	GrainEvent   Grain = "event"   // to the next fact
	GrainRequest Grain = "request" // to the next request or answer
	GrainState   Grain = "state"   // to the next transition of a group
	GrainTimer   Grain = "timer"   // to the next timer that ends
)

// SetWindow fits the page to a window of that many CSS pixels in width, and the timeline to its part of it; partPx is 0 where that is
// not known.
func (o *Options) SetWindow(px, partPx int) {
	if partPx <= 0 {
		partPx = px
	}
	o.Layout, o.ChartPx = LayoutWide, max(partPx-132, 300) // labels and margins
	if px < 768 {
		o.Layout = LayoutNarrow
	}
}

// Layout is the shape of the window.
type Layout string

const (
	LayoutBoth   Layout = ""       // not known: the stylesheet shows the one that fits
	LayoutWide   Layout = "wide"   // 768 pixels and more: time runs to the right
	LayoutNarrow Layout = "narrow" // below: time runs down
)

// Grains in the order of the transport.
var Grains = []Grain{GrainEvent, GrainRequest, GrainState, GrainTimer}

// nextGrain follows the chosen grain, round and round: a narrow transport has one button for all.
func (s *stage) nextGrain() Grain {
	return Grains[(slices.Index(Grains, s.o.Grain)+1)%len(Grains)]
}

// Speeds are the speeds of the transport, slow to fast, as lab time over wall time. The last, 0, leaps from fact to fact.
var Speeds = []float64{0.001, 0.01, 0.1, 1, 10, 100, 0}

// Options are what a viewer chose and what the host knows beside the facts. The zero value shows the first group in
// English, standing still.
type Options struct {
	Lang Lang
	Mode Mode
	// Group is the group on stage; "" shows the first of GroupNames.
	Group string
	// Selected is what the selection card explains, as "member:ID", "op:BROKER:OP", "record:PARTITION:OFFSET",
	// "event:SEQ", "state:STATE", "broker:ID"; "" where nothing is selected. Components put the same text into data-arg
	// of data-do="select".
	Selected string
	// Why is the fact whose chain of causes is open, 0 where none is; WhyAll shows every link of it.
	Why    int64
	WhyAll bool
	// Fact finds a fact that the model no longer has, nil where it is not kept; Yours tells whether what was done was done
	// by the viewer. Both may be nil.
	Fact  func(seq int64) *event.Event
	Yours func(seq int64) bool
	// Follow is set while steps follow the timer that is selected. Find filters the transcript.
	Follow bool
	Find   string
	// Branches are the futures that were left, the newest first. Compare is a run beside this one, nil where none is. Own
	// offers to compare with the lesson without what the learner did.
	Branches []Branch
	Compare  *Comparison
	Own      bool
	// Source is the table of the code; nil while it has not come. Raw are the bytes of what is selected, nil where it has
	// none.
	Source *Source
	Raw    *Raw
	// Focus is the part that a lesson points at, FocusClient the consumer where the part is "client".
	Focus, FocusClient string

	// Playing, Speed (one of Speeds) and Grain are the transport's.
	Playing bool
	Speed   float64
	Grain   Grain
	// AtStart and AtEnd say that there is nothing to step back or forward to.
	AtStart, AtEnd bool
	// Head is the furthest moment that is known, where the viewer went back from it: the timeline shows it whole, with the
	// cursor at the model's NowMs. nil means that the model is the furthest.
	Head *Model
	// ChartPx is the width of the timeline's drawing in CSS pixels, so that words are left out where they have no room; 0
	// stands for a window of 1280 pixels.
	ChartPx int
	// Layout says which of the two timelines is drawn; LayoutBoth where the width of the window is not known.
	Layout Layout
	// Memo spares rendering what has not changed; nil renders everything.
	Memo *Memo
	// Reduced means that nothing travels; a message is a static arrow.
	Reduced bool

	// Search filters the list of groups.
	Search string
	// Lesson is where the learner stands; nil outside of lessons.
	Lesson *LessonState
	// Sandbox is what the sandbox shows beside the stage; nil elsewhere.
	Sandbox *SandboxState
	// Live is the state of the stream; nil outside of live.
	Live *LiveState
	// Behaviour are the answers that requests would get now, asked of the machine; nil hides the card.
	Behaviour []Answer
	// Checked is set where the running machines were asked whether all their invariants hold, Broken says which does not.
	Checked bool
	Broken  string
	// Note is one sentence from the host for the viewer: why an action was not possible, that a link leads nowhere.
	Note string
	// Listing is what is asked of the list of groups; live only.
	Listing Listing

	ext extension
}

// LessonState is where a learner stands in a lesson.
type LessonState struct {
	Page *LessonPage
	// Step is the index into Page.Steps.
	Step int
	// Gate is the lesson's gate: "asking", "waiting", "ready", "over", "free".
	Gate string
	// Picked is the option that is marked and not yet checked; Chosen what was answered ("" with Right set: only
	// looked); Right is the option that the engine found, "" before the answer.
	Picked, Chosen, Right string
	// DecidedMs is when, in lab time, the answer was decided on the copy.
	DecidedMs int64
	Goals     []GoalState
	Met       bool
	// Hints is how many of the step's hints are shown, Moves how many moves the learner made in its challenge.
	Hints, Moves int
	// Allow lists the verbs that a learner may give now ("kill", "start", …); Clients their possible targets.
	Allow   []string
	Clients []string
	// Deeds are what can be done beside the buttons after taking over, nil before; asked for where they are drawn.
	Deeds func() []Deed
	// Waits says in words what the step waits for.
	Waits string
}

// GoalState is one clause of the goal at this moment.
type GoalState struct {
	Label string
	Holds bool
	// Now says what is the case instead.
	Now string
}

// LiveState is what the page knows about its stream.
type LiveState struct {
	// Coming is set where the group is known and what its coordinator knows has been asked for.
	Coming bool
	// Past is the address of the page on which what was recorded of the group is stepped through, "" for none.
	Past      string
	Connected bool
	// Ended is set where it was connected before.
	Ended bool
	// RetryMs is how long until the next attempt, 0 while one is under way.
	RetryMs int64
	// Frozen stops the picture; Behind counts the facts that wait meanwhile.
	Frozen bool
	Behind int
	// May is set where the page carries the token, so that brokers and consumers can be killed from here.
	May bool
	// Demo is how many demo consumers run, -1 where that is not known.
	Demo int
	// Outside is set where a cluster is only observed.
	Outside bool
	// Bootstrap is the address for clients: "127.0.0.1:9092".
	Bootstrap string
}

// Answer is what a request would get now.
type Answer struct {
	API int16
	// As names who would ask: "member", "old generation", "unknown id".
	As     string
	Code   int16
	Parked bool
	// Until says what would end the wait, Guard which check decided.
	Until, Guard string
}

// Part is one part of the stage. Its component renders the inner HTML of the element with the id "part-" + ID, which the
// page shell holds.
type Part struct {
	ID        string
	Component templ.Component
}

// Parts are all parts for a model. Patch those whose HTML changed.
//
// What moves carries data-move-ms, data-move-from and data-move-to: from and to are fractions (0 = the client's end, 1 =
// the broker's end) of the width of the element's parent with the class "wire", and ms is what is left of the way in the
// world's milliseconds. The element is drawn at from; code moves it to to with a transform, in ms / speed of wall time.
func Parts(m *Model, o Options) []Part {
	switch {
	case o.Mode == ModeLive:
		return LiveParts(m, o)
	case o.Sandbox != nil:
		return SandboxParts(m, o)
	}
	return LessonParts(m, o)
}

// LiveParts are the parts of the page of a running cluster. A program that shows one kind of page asks for its parts alone,
// so that it does not carry the others' panes.
func LiveParts(m *Model, o Options) []Part {
	return liveParts(newStage(m, Watching(o)))
}

// SandboxParts are the parts of the page of free play.
func SandboxParts(m *Model, o Options) []Part {
	s := newStage(m, o)
	return append(s.parts(), Part{"sandbox", sandboxPanel(s)}, Part{"forms", sandboxForms(s)}, Part{"console", consoleLog(s)})
}

// LessonParts are the parts of a lesson's page, and those of its stage alone where no lesson is given.
func LessonParts(m *Model, o Options) []Part {
	s := newStage(m, o)
	if o.Lesson != nil && o.Lesson.Page != nil {
		return append(s.parts(), Part{"lesson", lessonPanel(s)})
	}
	return s.parts()
}

// parts are those of the stage, which every page has.
func (s *stage) parts() []Part {
	still := func(id string, c templ.Component) Part {
		return Part{id, s.remembered(id, func() memoKey { return s.still(id) }, c)}
	}
	parts := []Part{
		{"truth", truth(s)},
		{"headline", headline(s)},
		{"clients", clients(s)},
		{"shelves", shelves(s)},
		{"machine", machine(s)},
		{"purgatory", purgatory(s)},
		{"wheels", wheels(s)},
		still("tape", tape(s)),
		{"offsets", offsets(s)},
		{"ownership", ownership(s)},
		{"transport", transport(s)},
		{"timeline", s.remembered("timeline", s.pictureKey, timeline(s))},
		{"cursor", cursor(s)},
		{"branches", branches(s)},
		still("transcript", transcript(s)),
		still("ledger", ledger(s)),
		{"behaviour", behaviour(s)},
		{"selection", selection(s)},
	}
	for i := range parts {
		if parts[i].ID == s.o.Focus {
			parts[i].Component = templ.Join(focusMark(), parts[i].Component)
		}
	}
	return parts
}
