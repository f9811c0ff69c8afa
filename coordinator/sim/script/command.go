// Package script is the language that lessons and golden transcripts share: one command a line. It reads text into
// commands, runs them on a sim.World and tells whether conditions hold.
package script

import "fmt"

// Error is a mistake in a script, or an expectation that failed. It prints as FILE:LINE:COL: MSG.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

// Error prints the place and what is wrong there.
func (e Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Arg is one word of a command and the column at which it begins, counted in bytes from 1.
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
	// Cond is the parsed condition of until and expect.
	Cond *Condition
	// WithinMs is how long until waits at most, in milliseconds of the world.
	WithinMs int64
}

// Parse reads a whole script. The first mistake is returned as an Error.
func Parse(file, text string) ([]Command, error) { return nil, nil }

// ParseLine reads one line. A line that holds nothing but blanks and a comment gives a Command without a Verb.
func ParseLine(file string, line int, text string) (Command, error) { return Command{}, nil }
