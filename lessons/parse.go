package lessons

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"grouplab/coordinator/sim/script"
)

// Load reads a lesson's script. The first mistake is returned as a script.Error, which prints FILE:LINE:COL and says
// what would be right. Texts are not its business: see package lessons/render.
func Load(id, text string) (*Lesson, error) { return LoadFile(id+"/script.txt", id, text) }

// LoadFile is Load with the name that mistakes are to carry.
func LoadFile(file, id, text string) (*Lesson, error) {
	if !isName(id) {
		return nil, fmt.Errorf("no lesson can be called %q: an id has small letters, digits and single dashes", id)
	}
	l := &Lesson{ID: id, file: file}
	p := &parser{lesson: l, file: file}
	if err := p.read(text); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// isName is said of words of a-z and 0-9, with single hyphens between them. No regexp: the tab is built without it.
func isName(s string) bool {
	for word := range strings.SplitSeq(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// line is one line that says something.
type line struct {
	no, depth int // depth in units of two spaces
	text      string
}

func (l line) col() int { return l.depth*2 + 1 }

// word splits off the first word and gives the rest with its column.
func (l line) word() (word, rest string, restCol int) {
	word, rest, _ = strings.Cut(l.text, " ")
	trimmed := strings.TrimLeft(rest, " ")
	return word, trimmed, l.col() + len(word) + 1 + len(rest) - len(trimmed)
}

type parser struct {
	lesson *Lesson
	file   string
	lines  []line
	last   int // number of the last line of the file

	setupLine int
	names     map[string]int // "step NAME" and the like, to the line of the first
	consumers map[string]bool
}

func (p *parser) fail(no, col int, format string, args ...any) error {
	return script.Error{File: p.file, Line: no, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) read(text string) error {
	if err := p.split(text); err != nil {
		return err
	}
	p.names, p.consumers = map[string]int{}, map[string]bool{}
	for i := 0; i < len(p.lines); {
		head := p.lines[i]
		if head.depth != 0 {
			return p.fail(head.no, head.col(), "this line is indented but belongs to no block; a block begins in the first column with %s", list(blocks))
		}
		end := i + 1
		for end < len(p.lines) && p.lines[end].depth > 0 {
			end++
		}
		if err := p.block(head, p.lines[i+1:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// split cuts the text into lines, drops comments and blank lines and measures the indentation.
func (p *parser) split(text string) error {
	all := strings.Split(text, "\n")
	p.last = len(all)
	for i, raw := range all {
		raw = strings.TrimRight(raw, " \r")
		body := strings.TrimLeft(raw, " ")
		if at := strings.IndexByte(raw, '\t'); at >= 0 {
			return p.fail(i+1, at+1, "there is a tab; indent with two spaces and separate words with one")
		}
		if body == "" || body[0] == '#' {
			continue
		}
		indent := len(raw) - len(body)
		if indent%2 != 0 || indent > 4 {
			return p.fail(i+1, indent+1, "this line is indented by %d; what belongs to a block is indented by 2, what belongs to a prediction by 4", indent)
		}
		p.lines = append(p.lines, line{no: i + 1, depth: indent / 2, text: comment(body)})
	}
	return nil
}

// comment cuts off " # …" outside of quotes.
func comment(s string) string {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '#' && !quoted && i > 0 && s[i-1] == ' ':
			return strings.TrimRight(s[:i], " ")
		}
	}
	return s
}

var blocks = []string{"setup", "step", "goal", "solution", "win", "picture", "draft"}

func (p *parser) block(head line, body []line) error {
	word, rest, col := head.word()
	switch word {
	case "setup":
		return p.setup(head, rest, col, body)
	case "goal":
		return p.goal(head, rest, col, body)
	case "picture":
		return p.picture(head, rest, col, body)
	case "draft":
		if len(body) > 0 || rest != "" {
			return p.fail(head.no, 1, "draft stands alone; it keeps a lesson from the list of contents")
		}
		p.lesson.Draft = true
		return nil
	case "step", "solution", "win":
		name, err := p.name(head, word, rest, col)
		if err != nil {
			return err
		}
		if word == "step" {
			return p.step(head, name, body)
		}
		commands, err := p.commands(body)
		way := Solution{Name: name, Line: head.no, Commands: commands}
		if word == "win" {
			p.lesson.Wins = append(p.lesson.Wins, way)
		} else {
			p.lesson.Solutions = append(p.lesson.Solutions, way)
		}
		return err
	}
	return p.fail(head.no, 1, "%q begins no block; a block begins with %s%s", word, list(blocks), meant(word, blocks))
}

// name reads the name of a block; within one kind it is given once.
func (p *parser) name(at line, kind, name string, col int) (string, error) {
	if !isName(name) {
		return "", p.fail(at.no, col, "a %s needs a name of small letters, digits and single dashes, as in `%s first-join`; found %q", kind, kind, name)
	}
	key := kind + " " + name
	if first := p.names[key]; first != 0 {
		return "", p.fail(at.no, col, "there is a %s %q already, in line %d", kind, name, first)
	}
	p.names[key] = at.no
	return name, nil
}

func (p *parser) setup(head line, rest string, col int, body []line) error {
	if rest != "" {
		return p.fail(head.no, col, "setup has no name; its commands follow, indented by two spaces")
	}
	if p.setupLine != 0 {
		return p.fail(head.no, 1, "there is a setup already, in line %d", p.setupLine)
	}
	if len(p.lesson.Steps) > 0 {
		return p.fail(head.no, 1, "setup comes before the first step")
	}
	p.setupLine = head.no
	commands, err := p.commands(body)
	p.lesson.Setup = commands
	for _, c := range commands {
		if c.Verb == "consumer" && len(c.Args) > 0 {
			p.consumers[c.Args[0].Text] = true
		}
	}
	return err
}

func (p *parser) commands(body []line) ([]script.Command, error) {
	var commands []script.Command
	for _, l := range body {
		c, err := p.command(l)
		if err != nil {
			return nil, err
		}
		commands = append(commands, c)
	}
	return commands, nil
}

// command reads one command of the script language; the indentation is kept so that columns are right.
func (p *parser) command(l line) (script.Command, error) {
	if l.depth != 1 {
		return script.Command{}, p.fail(l.no, l.col(), "a command is indented by two spaces")
	}
	return script.ParseLine(p.file, l.no, strings.Repeat(" ", l.depth*2)+l.text)
}

func (p *parser) condition(l line, text string, col int, what string) (script.Condition, error) {
	if text == "" {
		return script.Condition{}, p.fail(l.no, col, "%s needs a condition, as in `%s state Stable and members == 3`", what, what)
	}
	return script.ParseCondition(p.file, l.no, col, text)
}

func (p *parser) goal(head line, rest string, col int, body []line) error {
	label, text, _ := strings.Cut(rest, " ")
	name, err := p.name(head, "goal", label, col)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		return p.fail(body[0].no, body[0].col(), "a goal is one line: `goal LABEL CONDITION`; write one for each clause")
	}
	c, err := p.condition(head, text, col+len(label)+1, "goal "+name)
	if err != nil {
		return err
	}
	if strings.HasPrefix(strings.TrimPrefix(text, "not "), "event ") || strings.Contains(text, " and event ") {
		return p.fail(head.no, col+len(label)+1, "a goal is about what is the case, not about what happened: use state, members, generation, owner, committed …")
	}
	p.lesson.Goal = append(p.lesson.Goal, Clause{Label: name, If: c})
	return nil
}

// picture reads where the lesson's picture for the list of contents is taken; check knows whether that step is there.
func (p *parser) picture(head line, rest string, col int, body []line) error {
	step, text, _ := strings.Cut(rest, " ")
	if !isName(step) || len(body) > 0 || p.lesson.Picture.Line > 0 {
		return p.fail(head.no, col, "a lesson has one line `picture STEP`, or `picture STEP CONDITION` for the first moment of that step in which it holds")
	}
	p.lesson.Picture = Place{Step: step, Line: head.no}
	if text == "" {
		return nil
	}
	c, err := p.condition(head, text, col+len(step)+1, "picture "+step)
	p.lesson.Picture.Until = &c
	return err
}

func (p *parser) focus(l line, text string, col int) (Focus, error) {
	part, client, _ := strings.Cut(text, " ")
	if !slices.Contains(Parts, part) {
		return Focus{}, p.fail(l.no, col, "the stage has no part %q; it has %s%s", part, list(Parts), meant(part, Parts))
	}
	if part != "client" {
		if client != "" {
			return Focus{}, p.fail(l.no, col+len(part)+1, "only `focus client NAME` has a name; found %q", client)
		}
		return Focus{Part: part}, nil
	}
	if !p.consumers[client] {
		return Focus{}, p.fail(l.no, col+len(part)+1, "the set-up has no consumer %q; it has %s", client, list(sorted(p.consumers)))
	}
	return Focus{Part: part, Client: client}, nil
}

// check looks at the lesson as a whole.
func (p *parser) check() error {
	l := p.lesson
	if p.setupLine == 0 {
		return p.fail(1, 1, "there is no setup; a lesson begins with one")
	}
	if len(l.Steps) == 0 {
		return p.fail(p.last, 1, "there is no step; a lesson has at least one: `step NAME`")
	}
	if first := l.Steps[0]; len(first.Commands) > 0 {
		c := first.Commands[0]
		return p.fail(c.Line, c.Col, "the first step runs no commands: a learner reads before anything moves; put %q into setup or into the next step", c.Verb)
	}
	if len(l.Goal) == 0 {
		return p.fail(p.last, 1, "there is no goal; a lesson has at least one clause: `goal LABEL CONDITION`")
	}
	if at := l.Picture; at.Line > 0 && l.Step(at.Step) == nil {
		return p.fail(at.Line, len("picture ")+1, "there is no step %q to take the picture in", at.Step)
	}
	for _, w := range l.Wins {
		if s := l.Step(w.Name); s == nil || s.Par == 0 {
			return p.fail(w.Line, 1, "there is no step %q with a challenge that this could win", w.Name)
		}
	}
	for _, s := range l.Steps {
		if s.Par > 0 && p.names["win "+s.Name] == 0 {
			return p.fail(s.Line, 1, "the challenge of step %q is never won; add `win %s` with commands that win it", s.Name, s.Name)
		}
	}
	return nil
}

// list prints alternatives: "a, b or c".
func list(words []string) string {
	switch len(words) {
	case 0:
		return "none"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func sorted(set map[string]bool) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// meant suggests the nearest word where one is near.
func meant(word string, words []string) string {
	best, at := 3, ""
	for _, w := range words {
		if d := distance(word, w); d < best {
			best, at = d, w
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", at)
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
