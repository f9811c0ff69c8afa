package sim_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim/script"
)

// trial runs a script, line by line, and checks after every event and every moment what must always be true. Campaigns
// make up their lines as they go; TestScript reads them from a file; shrink takes lines away until no more can go.
type trial struct {
	e       *script.Engine
	check   *checks
	history *history
	// lines are those that were run, in the order in which they were.
	lines []string
	// forgiving trials leave out a line that cannot be run where it is, such as a kill of what does not run.
	forgiving bool
	// steps counts the moments of the world.
	steps int
	// spoil changes events before they are checked, to prove that the checks look: nil but in tests of them.
	spoil func(event.Event) event.Event
}

// failure is what a check found wrong.
type failure struct {
	// check names what was looked at: "event", "moment", "machine", "history", "copy", "facts", "replay", "fetch", "command"
	// or "panic".
	check string
	what  string
	after string // the event that showed it, "" where none did
}

func (f *failure) String() string {
	if f.after != "" {
		return f.after + "\n" + f.what
	}
	return f.what
}

// kind is the failure without what differs from one run to the next: two of the same kind are the same mistake.
func (f *failure) kind() string {
	words := strings.Fields(strings.SplitN(f.what, "\n", 2)[0])
	if f.check == "history" { // the rest of the line tells of the state
		words = words[:slices.Index(words, "order.")+1]
	}
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = "#"
		}
	}
	return f.check + ": " + strings.Join(words[:min(len(words), 40)], " ")
}

func newTrial() *trial {
	return &trial{e: script.New("script"), check: newChecks(), history: newHistory()}
}

// Comments that have more checked than the line says: that a copy of the world goes the same way, and that after it
// nothing waits that should not.
const (
	beside = "# beside a copy"
	atRest = "# and nothing waits"
	whole  = "# and its log, its facts and what is fetched agree"
)

// do runs one line and checks; nil where nothing is wrong. Whoever panics has found something wrong, too.
func (r *trial) do(line string) (f *failure) {
	defer func() {
		if broken := recover(); broken != nil {
			f = &failure{check: "panic", what: fmt.Sprintf("panic: %v\n%s", broken, debug.Stack())}
		}
	}()
	r.lines = append(r.lines, line)
	c, err := script.ParseLine("script", len(r.lines), line)
	if err != nil {
		return r.cannot(err)
	}
	if c.Verb == "" {
		return nil
	}
	var copied *script.Engine
	if strings.Contains(line, beside) {
		copied = r.e.Clone()
	}
	from := r.e.NowMs()
	w, err := r.e.Begin(c)
	if err != nil {
		if c.Verb == "expect" {
			return wrongCommand(err)
		}
		return r.cannot(err)
	}
	var told []event.Event
	for {
		events := r.e.Take()
		if copied != nil {
			told = append(told, events...)
		}
		if f := r.look(events); f != nil {
			return f
		}
		over, err := r.e.Done(w)
		if err != nil {
			return wrongCommand(err)
		}
		if over {
			break
		}
		if r.e.Step(w.UntilMs) {
			r.steps++
		}
	}
	if strings.Contains(line, whole) {
		if f := r.agrees(); f != nil {
			return f
		}
	}
	if strings.Contains(line, atRest) {
		if wrong := r.check.settled(r.e.NowMs()); wrong != "" {
			return &failure{"moment", wrong, ""}
		}
	}
	if copied != nil {
		return compare(copied, c, r.e.NowMs()-from, told)
	}
	return nil
}

// cannot leaves out a line that cannot be run, where that is allowed.
func (r *trial) cannot(err error) *failure {
	if !r.forgiving {
		return wrongCommand(err)
	}
	r.lines = r.lines[:len(r.lines)-1]
	return r.look(r.e.Take())
}

func wrongCommand(err error) *failure {
	if placed := (script.Error{}); errors.As(err, &placed) {
		return &failure{check: "command", what: placed.Msg}
	}
	return &failure{check: "command", what: err.Error()}
}

// look checks what happened, and then how things are.
func (r *trial) look(events []event.Event) *failure {
	touched := false
	for _, ev := range events {
		if r.spoil != nil {
			ev = r.spoil(ev)
		}
		if wrong := r.check.apply(ev); wrong != "" {
			return &failure{"event", wrong, ev.String()}
		}
		if wrong := r.history.apply(ev); wrong != "" {
			return &failure{"history", wrong, ""}
		}
		switch ev.Body.(type) {
		case event.AppendFinished, event.LoadFinished, event.PartitionUnloaded, event.OffsetsRemoved, event.TxnOffsetsEnded, event.InputGiven:
			touched = true
		}
	}
	if r.e.World() == nil {
		return nil
	}
	if wrong := r.check.moment(r.e.NowMs()); wrong != "" {
		return &failure{"moment", wrong, ""}
	}
	if touched {
		r.history.probe(r.e.World())
	}
	for id := range r.e.World().Drive().Cluster().Brokers() {
		if m := r.e.World().Drive().Machine(id + 1); m != nil {
			if err := m.Invariants(); err != nil {
				return &failure{"machine", fmt.Sprintf("broker %d: %v", id+1, err), ""}
			}
		}
	}
	return nil
}

// compare runs the copy through the same command: the same events must come out.
func compare(copied *script.Engine, c script.Command, ms int64, told []event.Event) *failure {
	copied.Take()
	w, err := copied.Begin(c)
	for err == nil {
		var over bool
		if over, err = copied.Done(w); over {
			break
		}
		copied.Step(w.UntilMs)
	}
	if err != nil {
		return &failure{"copy", fmt.Sprintf("the copy cannot do it: %v", err), ""}
	}
	want := copied.Take()
	for i := range max(len(told), len(want)) {
		if i >= len(told) || i >= len(want) || told[i].String() != want[i].String() {
			return &failure{"copy", fmt.Sprintf("the copy went another way within %d ms, at event %d of %d and %d: %v", ms, i, len(told), len(want),
				slices.Concat(told[min(i, len(told)):min(i+1, len(told))], want[min(i, len(want)):min(i+1, len(want))])), ""}
		}
	}
	return nil
}

// finish looks at what can only be judged in the end.
func (r *trial) finish() *failure {
	if wrong := r.history.finish(); wrong != "" {
		return &failure{"history", wrong, ""}
	}
	return nil
}

// run runs a whole script.
func (r *trial) run(lines []string) *failure {
	for _, line := range lines {
		if f := r.do(line); f != nil {
			return f
		}
	}
	return r.finish()
}

// TestScript runs the script in the file that SCRIPT names through all checks of a campaign:
//
//	SCRIPT=FILE go test ./coordinator/sim -run Script -v
//
// Without one it runs the golden transcripts: what they show keeps the rules, too.
func TestScript(t *testing.T) {
	files := []string{os.Getenv("SCRIPT")}
	if files[0] == "" {
		golden, err := filepath.Glob("../testdata/*.txt")
		if err != nil || len(golden) == 0 {
			t.Fatalf("no golden transcripts: %v", err)
		}
		files = golden
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			lines, err := readScript(file)
			if err != nil {
				t.Fatal(err)
			}
			r := newTrial()
			if f := r.run(lines); f != nil {
				t.Fatalf("%s, line %d: %v", file, len(r.lines), f)
			}
			t.Logf("%d events, %d operations on offsets in an order that can be", r.check.events, r.history.checked)
		})
	}
}

// readScript reads the commands of a script or of a golden transcript, whose indented lines are what came out.
func readScript(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "  ") {
			line = "" // keeps the count of lines
		}
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines, nil
}
