// Package script is the language that lessons and golden transcripts share: one command a line. It reads text into
// commands, runs them on a sim.World and tells whether conditions hold.
//
//	# Three consumers, one of them crashes.
//	topic orders 6
//	group orders-svc
//	consumer c1 session=10s rebalance=60s
//	start c1
//	until state Stable and owner orders-0 c1
//	kill c1
//	expect members == 1
//	! kill c1
//
// Usage prints every verb, ConditionUsage every condition. A '#' that begins a word begins a comment. A word that holds
// blanks is written in double quotes. Durations are 250ms, 5s, 1m, 1m30s, 2h.
package script

import (
	"fmt"
	"strings"
)

// Error is a mistake in a script, or an expectation that failed. It prints as FILE:LINE:COL: MSG.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

// Error prints the place and what is wrong there.
func (e Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Arg is one word of a command, without its quotes, and the column at which it begins, counted in bytes from 1.
type Arg struct {
	Text string
	Col  int
}

// Command is one line of a script, parsed and checked.
type Command struct {
	File      string
	Line, Col int
	// Not is set where the line began with '!': the command must fail.
	Not  bool
	Verb string
	Args []Arg
	// Raw is the line without its comment and outer blanks.
	Raw string
	// Cond is the parsed condition of until and expect, nil for other verbs.
	Cond *Condition
	// WithinMs is how long until waits at most, in milliseconds of the world.
	WithinMs int64
	// Then is the command that follows the time of at; nil where none does, and for other verbs.
	Then *Command
}

// fail makes an Error that points at argument i, or at the verb where there is no such argument.
func (c Command) fail(i int, format string, args ...any) error {
	col := c.Col
	if i >= 0 && i < len(c.Args) {
		col = c.Args[i].Col
	}
	return Error{c.File, c.Line, col, fmt.Sprintf(format, args...)}
}

// option is the value of an argument of the form key=value.
func (c Command) option(key string) (string, bool) {
	for _, a := range c.Args {
		if v, ok := strings.CutPrefix(a.Text, key+"="); ok {
			return v, true
		}
	}
	return "", false
}

// MaxLineBytes is the longest line that a script may have.
const MaxLineBytes = 4096

// Parse reads a whole script. The first mistake is returned as an Error.
func Parse(file, text string) ([]Command, error) {
	var commands []Command
	for i, line := range strings.Split(text, "\n") {
		c, err := ParseLine(file, i+1, strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, err
		}
		if c.Verb != "" {
			commands = append(commands, c)
		}
	}
	return commands, nil
}

// ParseLine reads one line. A line that holds nothing but blanks and a comment gives a Command without a Verb.
func ParseLine(file string, line int, text string) (Command, error) {
	c := Command{File: file, Line: line, Col: 1}
	if len(text) > MaxLineBytes {
		return c, Error{file, line, MaxLineBytes + 1, fmt.Sprintf("the line is %d bytes long; at most %d are read", len(text), MaxLineBytes)}
	}
	words, end, err := split(file, line, text)
	if err != nil || len(words) == 0 {
		return c, err
	}
	err = c.read(text[:end], words)
	return c, err
}

// read takes a command out of the words of a line; text is the line up to the end of the last of them.
func (c *Command) read(text string, words []Arg) error {
	file, line := c.File, c.Line
	c.Raw = text[words[0].Col-1:]
	c.Col = words[0].Col
	if words[0].Text == "!" {
		c.Not, words = true, words[1:]
		if len(words) == 0 {
			return Error{file, line, c.Col, "what must fail? A command follows the '!', as in `! kill c9`"}
		}
	} else if rest, found := strings.CutPrefix(words[0].Text, "!"); found {
		c.Not, words[0] = true, Arg{rest, words[0].Col + 1}
	}
	c.Verb, c.Col, c.Args = words[0].Text, words[0].Col, words[1:]
	v, known := verbNamed(c.Verb)
	if !known {
		return c.fail(-1, "no verb %q%s", c.Verb, suggest(c.Verb, verbNames(), "; there are "+strings.Join(verbNames(), ", ")))
	}
	if c.Verb == atVerb().name && len(c.Args) > 1 {
		return c.readThen(text)
	}
	return v.check(c)
}

// split cuts a line into words. end is where the last word ends.
func split(file string, line int, text string) (words []Arg, end int, err error) {
	for i := 0; i < len(text); {
		switch {
		case text[i] == ' ' || text[i] == '\t':
			i++
			continue
		case text[i] == '#':
			return words, end, nil
		}
		start, word := i, strings.Builder{}
		for i < len(text) && text[i] != ' ' && text[i] != '\t' {
			if text[i] != '"' {
				word.WriteByte(text[i])
				i++
				continue
			}
			closing := strings.IndexByte(text[i+1:], '"')
			if closing < 0 {
				return nil, 0, Error{file, line, i + 1, "this quote is not closed"}
			}
			word.WriteString(text[i+1 : i+1+closing])
			i += closing + 2
		}
		words = append(words, Arg{word.String(), start + 1})
		end = i
	}
	return words, end, nil
}
