package tab

import (
	"fmt"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/static/view"
)

// mostStory bounds the facts of a story.
const mostStory = 2000

// story tells the group on stage as Markdown, for an incident report or an issue.
func (m *pasteMode) story() string {
	t := m.t
	o := view.Pasting(t.options)
	tell := view.NewTeller(m.play.model, o)
	c := m.result.Counts
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", m.words("story", code(t.options.Group)))
	fmt.Fprintf(&b, "%s\n\n", m.words("story-from", strconv.Itoa(c.Lines), strconv.Itoa(c.Understood), strconv.Itoa(c.Unknown)))
	fmt.Fprintf(&b, "**%s:** %s\n\n", m.words("story-now", tell.Clock(m.play.model.NowMs)), plainMarkdown(view.Headline(m.play.model, o)))
	fmt.Fprintf(&b, "## %s\n\n", m.words("story-gens"))
	for i := range m.result.Events {
		e := &m.result.Events[i]
		if r, ok := e.Body.(event.GenerationRecorded); ok && concerns(&m.result.Events[i], m.t.options.Group) {
			fmt.Fprintf(&b, "- %d: %s, %s, %s %s\n", r.Generation, tell.Clock(r.StartedMs), event.Duration(r.SettledMs-r.StartedMs), r.Why, code(r.Member))
		}
	}
	fmt.Fprintf(&b, "\n## %s\n\n", m.words("story-facts"))
	told := 0
	for i := range m.result.Events {
		if !concerns(&m.result.Events[i], m.t.options.Group) {
			continue
		}
		if told++; told <= mostStory {
			e := &m.result.Events[i]
			fmt.Fprintf(&b, "- %s, %d: %s\n", tell.Clock(e.AtMs), m.result.Lines[i], code(e.Text()))
		}
	}
	if told > mostStory {
		fmt.Fprintf(&b, "\n%s\n", m.words("story-more", strconv.Itoa(told-mostStory)))
	}
	return b.String()
}

// code writes a text as Markdown code, so that nothing in it means anything.
func code(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
