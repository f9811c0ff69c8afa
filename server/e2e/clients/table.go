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

// show prints the table, then a line for each step that is not plainly ok. It reports whether anything failed.
func show(out io.Writer, scenes []*scene) (bad bool) {
	var failed, missing, asKafka, absent []string
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "client\tversion\t%s\n", strings.Join(steps, "\t"))
	for _, s := range scenes {
		name := s.client.name
		switch {
		case s.absent != nil && unavailable[name] != "":
			absent = append(absent, name+": "+unavailable[name])
			continue
		case s.absent != nil:
			failed = append(failed, fmt.Sprintf("%s could not be had: %v", name, s.absent))
			continue
		case s.client.alone != nil:
			if s.wholeErr != nil {
				failed = append(failed, fmt.Sprintf("%s: %v", name, s.wholeErr))
			}
			continue
		}
		fmt.Fprintf(table, "%s\t%s", name, s.version)
		for _, step := range steps {
			err, done := s.did[step]
			var no errMissing
			switch {
			case !done:
				fmt.Fprint(table, "\tnot run")
				failed = append(failed, fmt.Sprintf("%s, %s: not run, since a step before it failed", name, step))
			case err == nil:
				fmt.Fprint(table, "\tok")
			case errors.As(err, &no):
				fmt.Fprint(table, "\t-")
				missing = append(missing, fmt.Sprintf("%s, %s: %s", name, step, no.why))
			case s.client.asKafka[step] != "":
				fmt.Fprint(table, "\tas 4.0")
				asKafka = append(asKafka, fmt.Sprintf("%s, %s: %s", name, step, s.client.asKafka[step]))
			default:
				fmt.Fprint(table, "\tFAILED")
				failed = append(failed, fmt.Sprintf("%s, %s: %v", name, step, err))
			}
		}
		fmt.Fprintln(table)
	}
	table.Flush()
	for _, s := range scenes {
		if s.whole != "" {
			fmt.Fprintf(out, "%s: %s\n", s.client.name, s.whole)
		}
		for _, step := range steps {
			if s.note[step] != "" {
				fmt.Fprintf(out, "%s, %s: %s\n", s.client.name, step, s.note[step])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unavailable)) {
		if !slices.ContainsFunc(clients, func(c client) bool { return c.name == name }) {
			absent = append(absent, name+": "+unavailable[name])
		}
	}
	section(out, "not in the client (-)", missing)
	section(out, "refused by Apache Kafka 4.0, too (as 4.0)", asKafka)
	section(out, "not to be had", absent)
	section(out, "failed", failed)
	return len(failed) > 0
}

func section(out io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(out, "\n%s:\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}
