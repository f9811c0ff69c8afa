package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// report is what go test -json said of one package.
type report struct {
	unbuilt string // the compiler's words, "" where it compiles
	tests   map[string]said
	output  string // what belongs to no test
}

// said is what became of one test: "pass", "fail", "skip", "" where it did not end.
type said struct{ result, output string }

// read takes the stream of go test -json.
func read(in io.Reader) (report, error) {
	r := report{tests: map[string]said{}}
	var build strings.Builder
	failed := false
	for d := json.NewDecoder(in); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return r, fmt.Errorf("go test -json: %w", err)
		}
		switch {
		case e.Action == "build-output":
			build.WriteString(e.Output)
		case e.Action == "build-fail":
			failed = true
		case e.Test == "":
			r.output += e.Output
		default:
			s := r.tests[e.Test]
			s.output += e.Output
			if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
				s.result = e.Action
			}
			r.tests[e.Test] = s
		}
	}
	if failed {
		r.unbuilt = strings.TrimSpace(build.String())
	}
	return r, nil
}

// panicked returns the first line of a panic in a test's output.
func (s said) panicked() (line string, is bool) {
	for l := range strings.Lines(s.output) {
		if strings.HasPrefix(l, "panic: ") {
			return strings.TrimSpace(l), true
		}
	}
	return "", false
}

const timedOut = "panic: test timed out"

// judge tells whether the named tests have noticed: each of them must fail, by its own word.
func judge(m mutant, r report) verdict {
	if r.unbuilt != "" {
		return verdict{word: "NOT COMPILED", why: r.unbuilt}
	}
	v := verdict{caught: true, word: "caught"}
	for _, name := range m.tests {
		s := r.tests[name]
		panicked, is := s.panicked()
		switch {
		case is && strings.HasPrefix(panicked, timedOut):
			v.word = "timed out"
		case is && !m.panics:
			return verdict{word: "PANICKED", why: fmt.Sprintf("%s did not fail by itself: %s", name, panicked)}
		case is:
			v.word = "panicked"
		case s.result == "fail":
		case s.result == "pass":
			return verdict{word: "SURVIVED", why: name + " passes: it does not hold the rule. Look for one that does with -find, or write it."}
		default:
			return verdict{word: "NOT RUN", why: fmt.Sprintf("%s did not end; another test of the run may have ended it\n%s", name, strings.TrimSpace(r.output))}
		}
		v.by = append(v.by, name)
	}
	return v
}

// found lists every test that notices a mutant, those that panic apart.
func found(r report) verdict {
	if r.unbuilt != "" {
		return verdict{word: "NOT COMPILED", why: r.unbuilt}
	}
	var v verdict
	for name, s := range r.tests {
		if p, is := s.panicked(); is {
			v.why = name + ": " + p
		} else if s.result == "fail" {
			v.by = append(v.by, name)
		}
	}
	slices.Sort(v.by)
	v.caught, v.word = len(v.by) > 0, "found"
	if !v.caught {
		v.word = "NOBODY"
	}
	return v
}
