package render

import (
	"fmt"
	"strings"

	"grouplab/coordinator/sim/script"
	"grouplab/lessons"
	"grouplab/lessons/content"
)

// Term is an entry of the glossary.
type Term struct {
	// ID is its anchor: the English name in small letters, with dashes for what is none.
	ID   string
	Name Text
	// Avoid is what a Chinese text does not write instead.
	Avoid []string
	// HTML says what it means, inline.
	HTML Text
	// Lesson and At are the moment that shows it; Select is what is selected there, as the stage names it.
	Lesson string
	At     lessons.Place
	Select string
}

const glossaryFile = "glossary.txt"

// Glossary reads the entries that the program carries.
func Glossary() ([]Term, error) { return ParseGlossary(content.Glossary) }

// ParseGlossary reads a glossary: a line for each entry, `English | Chinese | what Chinese texts do not write`, and below
// it, indented by two spaces, `en:` and `zh:` with what it means, in Markdown, `see: LESSON STEP CONDITION`, of which the
// condition may be missing, and perhaps `select: WHAT`. The first mistake ends it, with FILE:LINE:COL.
func ParseGlossary(text string) ([]Term, error) {
	g := glossary{seen: map[string]bool{}, join: joiner{markdown: newMarkdown()}}
	for i, l := range strings.Split(text, "\n") {
		l = strings.TrimRight(l, " \r")
		if l == "" || l[0] == '#' {
			continue
		}
		err := g.line(i+1, l)
		if err != nil {
			return nil, err
		}
	}
	if err := g.whole(); err != nil {
		return nil, err
	}
	return g.terms, g.join.err
}

type glossary struct {
	terms []Term
	lines []int
	seen  map[string]bool
	join  joiner
}

func (g *glossary) fail(no, col int, format string, args ...any) error {
	return script.Error{File: glossaryFile, Line: no, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (g *glossary) line(no int, l string) error {
	if l[0] != ' ' {
		return g.head(no, l)
	}
	key, said, found := strings.Cut(strings.TrimSpace(l), ":")
	said = strings.TrimSpace(said)
	if !found || said == "" || !strings.HasPrefix(l, "  ") || len(g.terms) == 0 {
		return g.fail(no, 1, "below an entry stand lines `  en: TEXT`, `  zh: TEXT`, `  see: LESSON STEP` and `  select: WHAT`")
	}
	t := &g.terms[len(g.terms)-1]
	switch key {
	case "en":
		t.HTML.En = g.join.inline(said)
	case "zh":
		t.HTML.Zh = g.join.inline(said)
	case "select":
		t.Select = said
	case "see":
		words := strings.SplitN(said, " ", 3)
		if len(words) < 2 {
			return g.fail(no, 3, "see names a lesson and a step, as in `see: unclean-restart ghost`")
		}
		t.Lesson, t.At.Step = words[0], words[1]
		if len(words) < 3 {
			return nil
		}
		c, err := script.ParseCondition(glossaryFile, no, strings.Index(l, words[2])+1, words[2])
		if err != nil {
			return err
		}
		t.At.Until = &c
	default:
		return g.fail(no, 3, "%q is none of en, zh, see and select", key)
	}
	return nil
}

func (g *glossary) head(no int, l string) error {
	row := strings.Split(l, "|")
	if len(row) != 3 || strings.TrimSpace(row[0]) == "" || strings.TrimSpace(row[1]) == "" {
		return g.fail(no, 1, "an entry has three columns: English | Chinese | what is not written instead")
	}
	t := Term{Name: Text{strings.TrimSpace(row[0]), strings.TrimSpace(row[1])}, Avoid: strings.Fields(row[2])}
	t.ID = anchor(t.Name.En)
	if g.seen[t.ID] {
		return g.fail(no, 1, "%s is there already", t.Name.En)
	}
	g.seen[t.ID] = true
	g.terms, g.lines = append(g.terms, t), append(g.lines, no)
	return nil
}

// whole demands that each entry says what it means and where it is seen.
func (g *glossary) whole() error {
	for i, t := range g.terms {
		if t.HTML.En == "" || t.HTML.Zh == "" || t.Lesson == "" {
			return g.fail(g.lines[i], 1, "%s needs what it means, in lines en: and zh:, and where that is seen, in a line see:", t.Name.En)
		}
	}
	return nil
}

// anchor makes a name fit to stand in an address.
func anchor(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}
