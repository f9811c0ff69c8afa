package render

import (
	"fmt"
	"regexp"
	"strings"

	"grouplab/coordinator/sim/script"
)

// section is one heading and what stands below it, up to the next heading of any level that this format knows.
type section struct {
	kind, name string // "step" "kill"; an option's kind is "option PREDICTION", a move's "move STEP"
	title      string
	body       string
	hints      []string
	line       int
}

func (s section) key() string { return s.kind + " " + s.name }

// text is one language's file, cut into sections.
type text struct {
	file     string
	title    string
	summary  string
	sections []section
	last     int
}

func (t *text) fail(line int, format string, args ...any) error {
	return script.Error{File: t.file, Line: line, Col: 1, Msg: fmt.Sprintf(format, args...)}
}

var (
	heading = regexp.MustCompile(`^(step|predict|goal|solution) ([a-z0-9]+(?:-[a-z0-9]+)*)(?:: *(.*))?$`)
	option  = regexp.MustCompile(`^([a-z0-9]+(?:-[a-z0-9]+)*): *(.+)$`)
)

// cut reads a text into its sections.
func cut(file, source string) (*text, error) {
	t := &text{file: file}
	lines := strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	t.last = len(lines)
	var body []string
	flush := func() {
		text := strings.TrimSpace(strings.Join(body, "\n"))
		if n := len(t.sections); n > 0 {
			t.sections[n-1].body, t.sections[n-1].hints = hints(text)
		} else {
			t.summary = text
		}
		body = nil
	}
	fenced := false
	for i, l := range lines {
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(l, "#") {
			body = append(body, l)
			continue
		}
		flush()
		if err := t.heading(i+1, l); err != nil {
			return nil, err
		}
	}
	flush()
	return t, t.complete()
}

func (t *text) heading(no int, l string) error {
	marks, words, _ := strings.Cut(l, " ")
	words = strings.TrimSpace(words)
	switch marks {
	case "#":
		if t.title != "" || len(t.sections) > 0 {
			return t.fail(no, "a text has one title, in its first line")
		}
		if words == "" {
			return t.fail(no, "the title is empty")
		}
		t.title = words
		return nil
	case "##":
		m := heading.FindStringSubmatch(words)
		if m == nil {
			return t.fail(no, "%q is no section; there are `## step NAME: Heading`, `## predict NAME: Question`, `## goal LABEL: Text` and `## solution NAME: Heading`", l)
		}
		if m[3] == "" {
			return t.fail(no, "a %s's section is `## %s NAME: …`", m[1], m[1])
		}
		t.sections = append(t.sections, section{kind: m[1], name: m[2], title: m[3], line: no})
		return nil
	case "###":
		m := option.FindStringSubmatch(words)
		if m == nil {
			return t.fail(no, "the section of an option or a move is `### NAME: Text`; found %q", l)
		}
		of := t.parent()
		if of == "" {
			return t.fail(no, "%q is neither an option, below `## predict NAME: Question`, nor a move, below `## step NAME: Heading`", m[1])
		}
		t.sections = append(t.sections, section{kind: of, name: m[1], title: m[2], line: no})
		return nil
	}
	return t.fail(no, "a heading has one, two or three #, then a space; found %q", l)
}

// parent is the kind of what stands below the section that is being read: an option of a prediction, a move of a step.
func (t *text) parent() string {
	if len(t.sections) == 0 {
		return ""
	}
	switch s := t.sections[len(t.sections)-1]; {
	case s.kind == "predict":
		return "option " + s.name
	case s.kind == "step":
		return "move " + s.name
	case strings.HasPrefix(s.kind, "option "), strings.HasPrefix(s.kind, "move "):
		return s.kind
	}
	return ""
}

// hints takes the lines that begin with "? " off the end of a text.
func hints(text string) (body string, list []string) {
	for {
		at := strings.LastIndexByte(text, '\n') + 1
		hint, found := strings.CutPrefix(text[at:], "? ")
		if !found {
			return text, list
		}
		list = append([]string{hint}, list...)
		text = strings.TrimSpace(text[:at])
	}
}

// complete looks whether everything that must say something does.
func (t *text) complete() error {
	if t.title == "" {
		return t.fail(1, "the title is missing: `# Title` in the first line")
	}
	if t.summary == "" {
		return t.fail(2, "the sentence for the list of lessons is missing; it stands below the title")
	}
	first := map[string]int{}
	for _, s := range t.sections {
		if at := first[s.key()]; at != 0 {
			return t.fail(s.line, "%s is there already, in line %d", s.key(), at)
		}
		first[s.key()] = s.line
		kind, _, _ := strings.Cut(s.kind, " ")
		short := kind == "goal" || kind == "predict" || kind == "move"
		switch {
		case short && s.body != "":
			return t.fail(s.line, "a %s's text is its heading; nothing stands below it", kind)
		case s.body == "" && !short:
			return t.fail(s.line, "%s says nothing; its text stands below the heading", s.key())
		case kind == "option" && strings.Contains(s.body, "\n\n"):
			return t.fail(s.line, "%s has more than one paragraph; say it in one", s.key())
		case len(s.hints) > 0 && (kind != "step" || len(s.hints) != 3):
			return t.fail(s.line, "%s has %d hints; a step has three or none, anything else none", s.key(), len(s.hints))
		}
	}
	return nil
}

// find returns the section of that key; the loader has checked that it is there.
func (t *text) find(key string) section {
	for _, s := range t.sections {
		if s.key() == key {
			return s
		}
	}
	return section{}
}
