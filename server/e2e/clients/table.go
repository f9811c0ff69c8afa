package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// shown is what stands below the tables.
type shown struct{ failed, missing, asKafka, absent []string }

// show prints the tables, then a line for each step that is not plainly ok. It reports whether anything failed.
func show(out io.Writer, scenes []*scene) (bad bool) {
	var below shown
	var open, behindLocks []*scene
	for _, s := range scenes {
		name := s.client.name
		switch {
		case s.absent != nil && unavailable[name] != "":
			below.absent = append(below.absent, name+": "+unavailable[name])
		case s.absent != nil:
			below.failed = append(below.failed, fmt.Sprintf("%s could not be had: %v", name, s.absent))
		case s.client.alone != nil && s.wholeErr != nil:
			below.failed = append(below.failed, fmt.Sprintf("%s: %v", name, s.wholeErr))
		case s.client.alone != nil:
		case s.client.lock != nil:
			behindLocks = append(behindLocks, s)
		default:
			open = append(open, s)
		}
	}
	if len(open) > 0 {
		below.table(out, steps, open)
	}
	if len(behindLocks) > 0 {
		fmt.Fprintln(out, "\nbrokers that are locked:")
		below.table(out, lockedSteps, behindLocks)
	}
	for _, s := range scenes {
		if s.whole != "" {
			fmt.Fprintf(out, "%s: %s\n", s.client.name, s.whole)
		}
		for _, step := range s.steps() {
			if s.note[step] != "" {
				fmt.Fprintf(out, "%s, %s: %s\n", s.client.name, step, s.note[step])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unavailable)) {
		if !slices.ContainsFunc(rows(), func(c client) bool { return c.name == name }) {
			below.absent = append(below.absent, name+": "+unavailable[name])
		}
	}
	section(out, "not in the client (-)", below.missing)
	section(out, "refused by Apache Kafka 4.0, too (as 4.0)", below.asKafka)
	section(out, "not run", below.absent)
	section(out, "failed", below.failed)
	return len(below.failed) > 0
}

// table prints the scenes that have the same steps, a row each.
func (b *shown) table(out io.Writer, steps []string, scenes []*scene) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintf(table, "client\tversion\t%s\n", strings.Join(steps, "\t"))
	for _, s := range scenes {
		fmt.Fprintf(table, "%s\t%s", s.client.name, s.version)
		for _, step := range steps {
			fmt.Fprint(table, "\t"+b.cell(s, step))
		}
		fmt.Fprintln(table)
	}
}

// cell is how a step went, in a word.
func (b *shown) cell(s *scene, step string) string {
	name := s.client.name
	err, done := s.did[step]
	var no errMissing
	switch {
	case !done:
		b.failed = append(b.failed, fmt.Sprintf("%s, %s: not run, since a step before it failed", name, step))
		return "not run"
	case err == nil:
		return "ok"
	case errors.As(err, &no):
		b.missing = append(b.missing, fmt.Sprintf("%s, %s: %s", name, step, no.why))
		return "-"
	case s.client.asKafka[step] != "":
		b.asKafka = append(b.asKafka, fmt.Sprintf("%s, %s: %s", name, step, s.client.asKafka[step]))
		return "as 4.0"
	}
	b.failed = append(b.failed, fmt.Sprintf("%s, %s: %v", name, step, err))
	return "FAILED"
}

// troubles are what is said at once of the steps that failed, a line each.
func (s *scene) troubles() (lines string) {
	if s.absent != nil || s.client.alone != nil {
		return ""
	}
	var b shown
	for _, step := range s.steps() {
		b.cell(s, step)
	}
	for _, failed := range b.failed {
		lines += "\n  failed: " + failed
	}
	return lines
}

func section(out io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(out, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}
