package tab

import (
	"fmt"
	"html"
	"strings"

	"grouplab/lessons"
	"grouplab/static/view"
)

// What can be taken away: a link, code that embeds the stage in another page, the run as a script, the picture, the story.

// export does what the dialog for sharing offers.
func (m *lessonMode) export(action, arg string) bool {
	t := m.t
	switch action {
	case "share":
		m.pace.playing = false
		m.setHash(m.shared())
		t.out.Dialog = "share"
		t.out.Fill = append(t.out.Fill, Attr{"share-link", t.address0 + "#" + t.linked}, Attr{"share-code", m.embed()}, Attr{"share-said", ""})
	case "embed-code":
		t.out.CopyText = m.embed()
		m.shareSays("code-copied")
	case "share-link":
		t.out.CopyText = t.address0 + "#" + m.shared()
		m.shareSays("link-copied")
	case "save-run":
		m.save("run.txt", m.runFile())
	case "save-svg", "save-png":
		theme := view.Light
		if arg == string(view.Dark) {
			theme = view.Dark
		}
		t.fill()
		svg, _, _ := view.Picture(m.cursor.model, t.options, theme, m.caption())
		m.save("picture."+action[5:], svg)
	case "save-story":
		m.save("story.md", m.story())
	case "unsaved":
		m.shareSays("unsaved", arg)
	default:
		return false
	}
	return true
}

// save hands a file to the viewer.
func (m *lessonMode) save(name, text string) {
	name = "grouplab-" + m.lesson.ID + "-" + name
	m.t.out.Download = &Download{Name: name, Text: text}
	m.shareSays("saved", name)
}

// shareSays answers in the dialog, which covers the rest of the page.
func (m *lessonMode) shareSays(key string, args ...string) {
	m.t.out.Fill = append(m.t.out.Fill, Attr{"share-said", m.t.word(key, args...)})
}

func (m *lessonMode) title() string {
	if m.t.sandbox != nil {
		return m.t.word("sandbox-title")
	}
	return m.page.Title.In(m.t.options.Lang)
}

// caption says what a picture is of.
func (m *lessonMode) caption() string {
	return m.title() + " · " + view.NewTeller(m.cursor.model, m.t.options).Clock(m.cursor.nowMs) + " · " + m.t.word("event-number", fmt.Sprint(m.cursor.seq))
}

// embed is HTML for another page. The frame begins with what its title says, and stands still.
func (m *lessonMode) embed() string {
	t := m.t
	t.fill()
	address := t.address0 + "?embed#" + m.shared()
	return `<iframe src="` + html.EscapeString(address) + `" title="` + html.EscapeString("GroupLab: "+m.title()+". "+view.Headline(m.cursor.model, t.options)) +
		`" width="100%" height="640" loading="lazy"></iframe>`
}

// runFile is the run up to the cursor as a script: the set-up, then what was done with its times. The sandbox reads it, and
// so does make sim SCRIPT=FILE.
func (m *lessonMode) runFile() string {
	if s := m.t.sandbox; s != nil {
		return s.text()
	}
	var setup []string
	for _, c := range m.lesson.Setup {
		setup = append(setup, c.Raw)
	}
	head := "# GroupLab: " + m.title() + "\n# " + m.t.address0 + "#" + m.link() + "\n"
	return head + runText(setup, m.deeds(), max(m.cursor.nowMs, m.head.startMs))
}

// deeds are what the lesson's steps and the learner did to the world, as commands.
func (m *lessonMode) deeds() []input {
	var list []input
	step := 0
	for _, in := range m.head.inputs[:m.cursor.applied()] {
		switch in.kind {
		case inputNext:
			step++
			for _, c := range m.lesson.Steps[step].Commands {
				list = append(list, input{in.atMs, inputCommand, c.Raw})
			}
		case inputCommand:
			list = append(list, in)
		}
	}
	return list
}

// story tells in Markdown what happened up to the cursor, with the causes of each turn.
func (m *lessonMode) story() string {
	t := m.t
	t.fill()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", plainMarkdown(m.title()))
	if m.t.sandbox == nil {
		step := m.page.Steps[m.cursor.lesson().player.Index()]
		fmt.Fprintf(&b, "%s\n\n", plainMarkdown(step.Title.In(t.options.Lang)))
	}
	fmt.Fprintf(&b, "**%s**\n\n", plainMarkdown(view.Headline(m.cursor.model, t.options)))
	fmt.Fprintf(&b, "%s: <%s#%s>\n\n## %s\n\n", t.word("story-link"), t.address0, m.shared(), t.word("story-what"))
	told, teller := 0, view.NewTeller(m.cursor.model, t.options)
	for i := range m.head.events {
		e := &m.head.events[i]
		if e.Seq > m.cursor.seq {
			break
		}
		if e.Seq <= m.head.startSeq && m.cursor.seq > m.head.startSeq || !weighty(e) {
			continue
		}
		if told++; told > storyMost {
			fmt.Fprintf(&b, "- %s\n", t.word("story-more"))
			break
		}
		fmt.Fprintf(&b, "- `%s` %s\n", teller.Clock(e.AtMs), plainMarkdown(teller.Says(e)))
		for deep, c := range teller.Causes(e, storyDeep) {
			fmt.Fprintf(&b, "%s- %s `%s` %s\n", strings.Repeat("  ", deep+1), t.word("story-because"), teller.Clock(c.AtMs), plainMarkdown(teller.Says(c)))
		}
	}
	return b.String()
}

const (
	// storyMost and storyDeep bound a story: how many turns, and how far each one's causes are followed.
	storyMost = 400
	storyDeep = 6
)

// plainMarkdown makes a text stand for itself in Markdown, on one line.
func plainMarkdown(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_[]<>#|&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// keep notes how far the learner has come: where the page was left, and, for good, that the lesson's last step was reached
// with its goal met. Looking at answers counts; opening a link does not.
func (m *lessonMode) keep() {
	t := m.t
	if len(m.undo) == 0 {
		return
	}
	b := m.cursor.lesson()
	if b.player.Gate() == lessons.Over && b.met {
		t.out.Store = append(t.out.Store, Attr{"done." + m.lesson.ID, "1"}, Attr{"at." + m.lesson.ID, ""})
		return
	}
	if b.player.Index() > 0 && b.player.Gate() != lessons.Free {
		t.out.Store = append(t.out.Store, Attr{"at." + m.lesson.ID, t.linked})
	}
}
