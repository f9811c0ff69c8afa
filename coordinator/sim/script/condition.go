package script

import (
	"fmt"
	"strings"
)

// Condition is a predicate over the world and what happened in it: clauses joined with "and", each perhaps negated.
type Condition struct {
	text    string
	clauses []clause
}

// clause is one part of a condition.
type clause struct {
	not  bool
	text string
	// holds looks; is says what is the case, in words.
	holds func(e *Engine) bool
	is    func(e *Engine) string
}

// predicate is a kind of clause: what it is called and how its words are read.
type predicate struct {
	name, usage, help string
	// parse reads the words after the name. It may keep nothing but values.
	parse func(a *words) (holds func(e *Engine) bool, is func(e *Engine) string, err error)
}

// ConditionUsage prints the manual of all clauses.
func ConditionUsage() string {
	var b strings.Builder
	for _, p := range predicates() {
		fmt.Fprintf(&b, "%s\n    %s\n", p.usage, p.help)
	}
	b.WriteString("Clauses are joined with `and` and negated with `not`. A clause about a group may end with group=NAME.\n")
	return b.String()
}

// ParseCondition reads a condition that stands in file at line and col.
func ParseCondition(file string, line, col int, text string) (Condition, error) {
	list, _, err := split(file, line, text)
	for i := range list {
		list[i].Col += col - 1
	}
	if err != nil {
		placed := err.(Error)
		placed.Col += col - 1
		return Condition{}, placed
	}
	if len(list) == 0 {
		return Condition{}, Error{file, line, col, "there is no condition; write one as in `state Stable and members == 3`"}
	}
	return parseCondition(file, line, list)
}

// words are what is left to read of one clause.
type words struct {
	file string
	line int
	list []Arg
	// end is the column after the last word, for what is missing.
	end int
}

func (a *words) fail(col int, format string, args ...any) error {
	return Error{a.file, a.line, col, fmt.Sprintf(format, args...)}
}

// next takes the next word; p tells what it must be.
func (a *words) next(p param, usage string) (string, error) {
	if len(a.list) == 0 {
		return "", a.fail(a.end, "%s is missing: %s", p.name, usage)
	}
	w := a.list[0]
	if wrong := p.wrong(w.Text); wrong != "" {
		return "", a.fail(w.Col, "%s", wrong)
	}
	a.list = a.list[1:]
	return w.Text, nil
}

// group takes a last word group=NAME; "" means the script's group.
func (a *words) group() string {
	if n := len(a.list); n > 0 {
		if name, found := strings.CutPrefix(a.list[n-1].Text, "group="); found && name != "" {
			a.list = a.list[:n-1]
			return name
		}
	}
	return ""
}

// parseCondition cuts words into clauses at "and".
func parseCondition(file string, line int, list []Arg) (Condition, error) {
	var texts []string
	for _, w := range list {
		texts = append(texts, quoted(w.Text))
	}
	c := Condition{text: strings.Join(texts, " ")}
	begin := 0
	for i := 0; i <= len(list); i++ {
		if i < len(list) && list[i].Text != "and" {
			continue
		}
		if i == begin {
			at := list[min(i, len(list)-1)]
			return c, Error{file, line, at.Col, "a clause is missing beside this `and`"}
		}
		last := list[i-1]
		cl, err := parseClause(&words{file, line, list[begin:i], last.Col + len(last.Text)})
		if err != nil {
			return c, err
		}
		cl.text = strings.Join(texts[begin:i], " ")
		c.clauses = append(c.clauses, cl)
		begin = i + 1
	}
	return c, nil
}

// quoted puts quotes around a word that has blanks, so that it reads as it was written.
func quoted(s string) string {
	key, value, found := strings.Cut(s, "=")
	switch {
	case s != "" && !strings.ContainsAny(s, " \t#"):
		return s
	case found:
		return key + `="` + value + `"`
	}
	return `"` + s + `"`
}

func parseClause(a *words) (clause, error) {
	var cl clause
	first := a.list[0]
	if first.Text == "not" {
		cl.not, a.list = true, a.list[1:]
		if len(a.list) == 0 {
			return cl, a.fail(a.end, "a clause is missing after `not`")
		}
		first = a.list[0]
	}
	var names []string
	for _, p := range predicates() {
		names = append(names, p.name)
		if p.name != first.Text {
			continue
		}
		a.list = a.list[1:]
		var err error
		if cl.holds, cl.is, err = p.parse(a); err != nil {
			return cl, err
		}
		if len(a.list) > 0 {
			return cl, a.fail(a.list[0].Col, "%q is one word too many: %s", a.list[0].Text, p.usage)
		}
		return cl, nil
	}
	return cl, a.fail(first.Col, "no condition begins with %q%s", first.Text, suggest(first.Text, names, "; there are "+strings.Join(names, ", ")))
}

// Holds tells whether every clause holds now.
func (c Condition) Holds(e *Engine) bool {
	for _, cl := range c.clauses {
		if cl.holds(e) == cl.not {
			return false
		}
	}
	return true
}

// Explain says of each clause that does not hold what is the case instead: "generation is 4; c2 is REBALANCING". It is
// "" where all hold.
func (c Condition) Explain(e *Engine) string {
	var parts []string
	for _, cl := range c.clauses {
		if cl.holds(e) == cl.not {
			parts = append(parts, cl.is(e))
		}
	}
	return strings.Join(parts, "; ")
}

// String is the condition as it was written.
func (c Condition) String() string { return c.text }
