// Command mutants breaks one rule of the machine at a time and proves that a named test notices. Run it from the folder
// of go.mod: make mutants, or make mutants ONLY=id.
//
// A mutant is a piece of a source file and what stands there instead. The go command sees the change through an overlay,
// so the tree is never touched. The named tests must pass without the change and fail with it. What does not compile,
// or panics where the rule is not a panic, has proved nothing and is not counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// mutant is one rule broken.
type mutant struct {
	id   string
	rule string // what holds, in words
	from string // where it is written: section of behaviour.md, KIP, Kafka's class
	file string // from the folder of go.mod
	old  string // occurs exactly once in the file
	new  string
	// tests must all fail, by their names in pkg; a subtest is Test/name. pkg is the file's folder where it is "".
	tests []string
	pkg   string
	// panics is set where the rule is an invariant, whose breach panics in the machine.
	panics bool
}

// all are the mutants, by topic.
func all() []mutant {
	return slices.Concat(membership, rebalances, offsets, transactions, ownership, timers, storage, clients)
}

func main() {
	only := flag.String("only", "", "run only these mutants, ids with commas between")
	find := flag.Bool("find", false, "list every test of the package that notices, instead of asking the named ones")
	jobs := flag.Int("jobs", runtime.NumCPU(), "how many mutants to try at a time")
	limit := flag.Duration("timeout", time.Minute, "how long a test may take before its mutant counts as an endless loop")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, options{*only, *find, *jobs, *limit}); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

type options struct {
	only  string
	find  bool
	jobs  int
	limit time.Duration
}

func run(ctx context.Context, out io.Writer, o options) error {
	list, err := pick(all(), o.only)
	if err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("there is no go.mod here; run it from the root of the repository, as make mutants does")
	}
	room, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(room)
	t := trial{options: o, room: room}
	began := time.Now()
	if !o.find {
		if err := t.baseline(ctx, list); err != nil {
			return err
		}
	}
	bad := 0
	t.each(ctx, list, func(m mutant, v verdict) {
		if !v.caught {
			bad++
		}
		fmt.Fprint(out, line(m, v))
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mutants, %d caught, %d not, %.0f s\n", len(list), len(list)-bad, bad, time.Since(began).Seconds())
	if bad > 0 && !o.find {
		return fmt.Errorf("%d of %d mutants are not caught", bad, len(list))
	}
	return nil
}

// pick are the mutants with these ids, in the order of the list.
func pick(list []mutant, only string) ([]mutant, error) {
	if only == "" {
		return list, nil
	}
	var picked []mutant
	for id := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(list, func(m mutant) bool { return m.id == id })
		if i < 0 {
			return nil, fmt.Errorf("there is no mutant %q; the ids are in .ci/mutants/*.go", id)
		}
		picked = append(picked, list[i])
	}
	return picked, nil
}

// each tries the mutants, some at a time, and tells their verdicts in order.
func (t *trial) each(ctx context.Context, list []mutant, tell func(mutant, verdict)) {
	verdicts := make([]chan verdict, len(list))
	for i := range verdicts {
		verdicts[i] = make(chan verdict, 1)
	}
	next := make(chan int, len(list))
	for i := range list {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range max(1, t.jobs) {
		workers.Go(func() {
			for i := range next {
				verdicts[i] <- t.try(ctx, list[i])
			}
		})
	}
	for i, m := range list {
		if v := <-verdicts[i]; ctx.Err() == nil {
			tell(m, v)
		}
	}
	workers.Wait()
}

// line is a row of the table: id, how it was caught, by which tests, time; then the rule.
func line(m mutant, v verdict) string {
	s := fmt.Sprintf("%-34s %-14s %5.1f s  %s\n%36s%s (%s)\n", m.id, v.word, v.took.Seconds(), strings.Join(v.by, " "), "", m.rule, m.from)
	if v.why != "" {
		s += fmt.Sprintf("%36s%s\n", "", strings.ReplaceAll(v.why, "\n", "\n"+strings.Repeat(" ", 36)))
	}
	return s
}

// mutate returns the file's text with the rule broken.
func (m mutant) mutate(source string) (string, error) {
	switch n := strings.Count(source, m.old); {
	case m.old == m.new:
		return "", errors.New("the mutant changes nothing: old and new are the same")
	case n != 1:
		return "", fmt.Errorf("no longer applies: its old text occurs %d times in %s, and must occur once.\n"+
			"Find the rule in the code as it is now and bring the mutant's old and new text up to date in .ci/mutants.\n"+
			"Where the rule itself has gone, remove the mutant", n, m.file)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}
