package sim_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// shrinker makes a failing script short (delta debugging, Zeller and Hildebrandt 2002). It takes lines away, then makes
// what is left simpler, as long as the script fails in the same way: with the same kind of failure, not with any. It is
// deterministic but for its budget of time.
type shrinker struct {
	// fails runs a script and gives the kind of its failure, "" for none, and the lines that could be run up to it.
	fails func(lines []string) (kind string, run []string)
	kind  string
	// setup are the lines that describe the world, rest what happens in it.
	setup, rest []string
	runs        int
	until       time.Time // the zero value: no end
	tell        func(format string, args ...any)
	tried       map[string]bool
	told        int // how many lines there were when it was told last
}

// describing are the verbs that say what a world is made of.
var describing = []string{"seed", "brokers", "set", "latency", "loss", "group", "topic", "consumer", "show", "hide"}

// split parts a script into what describes the world and what happens in it.
func (s *shrinker) split(lines []string) {
	i := slices.IndexFunc(lines, func(line string) bool {
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		return verb != "" && !strings.HasPrefix(verb, "#") && !slices.Contains(describing, verb)
	})
	if i < 0 {
		i = len(lines)
	}
	s.setup, s.rest = slices.Clone(lines[:i]), slices.Clone(lines[i:])
}

func (s *shrinker) over() bool { return !s.until.IsZero() && time.Now().After(s.until) }

// try takes a shorter script where it fails in the same way.
func (s *shrinker) try(setup, rest []string) bool {
	lines := slices.Concat(setup, rest)
	text := strings.Join(lines, "\n")
	if s.over() || s.tried[text] {
		return false
	}
	s.tried[text] = true
	s.runs++
	kind, run := s.fails(lines)
	if kind != s.kind {
		return false
	}
	before := len(s.setup) + len(s.rest)
	s.split(run)
	if n := len(s.setup) + len(s.rest); n < before && 5*n <= 4*s.told || s.runs == 1 {
		s.told = n
		s.tell("run %d: %d lines", s.runs, n)
	}
	return true
}

// shrink makes the script as short as it gets. It reports false where the script does not fail in the way that it should.
func (s *shrinker) shrink(lines []string) bool {
	s.tried = map[string]bool{}
	s.split(lines)
	if !s.try(s.setup, s.rest) {
		return false
	}
	s.ending()
	s.join()
	s.classes()
	for changed := true; changed && !s.over(); {
		// Not short-circuited: each pass makes the next one cheaper. What happens goes before the time in which it does,
		// since the rest then happens when it did.
		changed = s.thin(func(line string) bool { return !advances(line) })
		s.join()
		changed = s.thin(func(string) bool { return true }) || changed
		changed = s.mend() || changed
		changed = s.bare() || changed
	}
	return true
}

func advances(line string) bool { return strings.HasPrefix(line, "advance ") }

// join makes one advance of those that follow each other, which changes nothing, and leaves the copies away.
func (s *shrinker) join() {
	var rest []string
	sum := int64(0)
	for _, line := range append(slices.Clone(s.rest), "") {
		if words := strings.Fields(line); len(words) > 1 && advances(line) {
			if ms, ok := milliseconds(words[1]); ok {
				sum += ms
				continue
			}
		}
		if sum > 0 {
			rest = append(rest, "advance "+duration(sum))
		}
		rest, sum = append(rest, line), 0
	}
	s.try(s.setup, rest[:len(rest)-1])
}

// classes takes away all lines with one verb, and all about one consumer.
func (s *shrinker) classes() {
	without := func(lines []string, at int, word string) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			words := strings.Fields(line)
			return len(words) > at && words[at] == word && !advances(line)
		})
	}
	for at := range 2 {
		var seen []string
		for _, line := range s.rest {
			if words := strings.Fields(line); len(words) > at && !slices.Contains(seen, words[at]) && !advances(line) {
				seen = append(seen, words[at])
			}
		}
		for _, word := range seen {
			setup := s.setup
			if at == 1 {
				setup = without(setup, at, word)
			}
			if !s.try(setup, without(s.rest, at, word)) {
				s.try(s.setup, without(s.rest, at, word))
			}
		}
	}
	s.join()
}

// ending looks for a short end of the script that fails by itself, once everybody has been started: most of a long
// life has nothing to do with how it ended.
func (s *shrinker) ending() {
	var starts []string
	for _, line := range s.setup {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "consumer" {
			starts = append(starts, "start "+words[1])
		}
	}
	starts = append(starts, "advance 10s")
	for n := 4; n < len(s.rest)/2; n *= 2 {
		end := s.rest[len(s.rest)-n:]
		if s.try(s.setup, end) || s.try(s.setup, slices.Concat(starts, end)) {
			return
		}
	}
}

// thin takes away some of the lines that are picked, many together first, then fewer.
func (s *shrinker) thin(picked func(string) bool) (changed bool) {
	for size := max(len(s.rest)/2, 1); size >= 1; size /= 2 {
		for at := 0; !s.over(); {
			rest, left, end := []string(nil), size, 0
			for i, line := range s.rest {
				if i >= at && left > 0 && picked(line) {
					left--
					end = i + 1
				} else {
					rest = append(rest, line)
				}
			}
			if left == size {
				break
			}
			if s.try(s.setup, rest) {
				changed = true
			} else {
				at = end
			}
		}
	}
	return changed
}

// mend makes lines simpler: advances that follow each other become one, times become short and round, options go.
func (s *shrinker) mend() (changed bool) {
	for at := 0; at < len(s.rest) && !s.over(); at++ {
		for _, simpler := range s.simpler(at) {
			if s.try(s.setup, simpler) {
				changed = true
				at = max(at-1, -1)
				break
			}
		}
	}
	return changed
}

// simpler are scripts in which one line is simpler, the simplest first.
func (s *shrinker) simpler(at int) (list [][]string) {
	with := func(skip int, line string) {
		if line != s.rest[at] || skip > 0 {
			list = append(list, slices.Concat(s.rest[:at], []string{line}, s.rest[at+1+skip:]))
		}
	}
	line, _, _ := strings.Cut(s.rest[at], "#")
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if words[0] != "advance" {
		for i, w := range words {
			if ms, ok := milliseconds(w); ok {
				for _, less := range shorter(ms) {
					with(0, strings.Join(slices.Concat(words[:i], []string{less}, words[i+1:]), " "))
				}
			}
		}
		return list
	}
	ms, _ := milliseconds(words[1])
	for _, less := range shorter(ms) {
		with(0, "advance "+less)
	}
	if strings.Contains(s.rest[at], "#") {
		with(0, "advance "+words[1])
	}
	if at+1 < len(s.rest) {
		if next := strings.Fields(s.rest[at+1]); len(next) > 1 && next[0] == "advance" {
			if more, ok := milliseconds(next[1]); ok {
				with(1, "advance "+duration(ms+more))
			}
		}
	}
	return list
}

// bare takes away lines and options of the world's description, and makes its numbers small.
func (s *shrinker) bare() (changed bool) {
	for at := 0; at < len(s.setup) && !s.over(); {
		if s.try(slices.Concat(s.setup[:at], s.setup[at+1:]), s.rest) {
			changed = true
			continue
		}
		words := strings.Fields(s.setup[at])
		if len(words) == 0 {
			at++
			continue
		}
		for i := len(words) - 1; i > 1; i-- {
			if strings.Contains(words[i], "=") && s.try(slices.Concat(s.setup[:at], []string{strings.Join(slices.Delete(slices.Clone(words), i, i+1), " ")}, s.setup[at+1:]), s.rest) {
				changed, words = true, strings.Fields(s.setup[at])
			}
		}
		if words[0] == "topic" {
			for _, n := range []string{"1", "2", "3"} {
				if n == words[len(words)-1] || s.try(slices.Concat(s.setup[:at], []string{words[0] + " " + words[1] + " " + n}, s.setup[at+1:]), s.rest) {
					break
				}
			}
		}
		at++
	}
	return changed
}

// shorter are round times below one, the shortest first; at last the one that is next to it.
func shorter(ms int64) (list []string) {
	for _, each := range []int64{1, 10, 100, 1000, 5000, 10_000, 30_000, 60_000, 300_000, 3_600_000} {
		if each < ms {
			list = append(list, duration(each))
		}
	}
	if ms > 1000 && ms%1000 != 0 {
		list = append(list, duration(ms/1000*1000), duration((ms/1000+1)*1000))
	}
	return list
}

func milliseconds(s string) (int64, bool) {
	d, err := time.ParseDuration(s)
	return d.Milliseconds(), err == nil && d >= time.Millisecond && s[0] != '+' && s[0] != '.'
}

func duration(ms int64) string {
	if ms%1000 == 0 {
		return fmt.Sprintf("%ds", ms/1000)
	}
	return fmt.Sprintf("%dms", ms)
}

// shrunk says what a person needs who is to find out why a script fails: a short one that fails in the same way, and how
// to run it. SHRINK is how long it may look for it (1m); 0 leaves the script as it is.
func shrunk(t *testing.T, lines []string, f *failure) string {
	t.Helper()
	budget, ok := time.Minute, error(nil)
	if s := os.Getenv("SHRINK"); s != "" {
		if budget, ok = time.ParseDuration(s); ok != nil {
			return fmt.Sprintf("SHRINK is %q; it is a time such as 30s or 5m, or 0.\nThe script that leads there:\n%s", s, strings.Join(lines, "\n"))
		}
	}
	s := &shrinker{kind: f.kind(), until: time.Now().Add(budget), fails: repeat(nil), tell: t.Logf}
	from := len(lines)
	if budget == 0 || !s.shrink(lines) {
		how := "without shrinking"
		if budget != 0 {
			how = "it fails otherwise when it is run again, so it is not shrunk"
		}
		return fmt.Sprintf("The script that leads there (%s):\n%s", how, strings.Join(lines, "\n"))
	}
	lines = slices.Concat(s.setup, s.rest)
	r := newTrial()
	again := r.run(lines)
	return fmt.Sprintf("A script that fails in the same way, %d lines of %d, found in %d runs:\n%s\n\nIt fails so: %v\nWith these lines in FILE, run it again:\n  make sim SCRIPT=FILE",
		len(lines), from, s.runs, strings.Join(lines, "\n"), again)
}

// repeat runs scripts through all checks; lines that cannot be run are left out.
func repeat(arrange func(*trial)) func([]string) (string, []string) {
	return func(lines []string) (string, []string) {
		r := newTrial()
		r.forgiving = true
		if arrange != nil {
			arrange(r)
		}
		if f := r.run(lines); f != nil {
			return f.kind(), r.lines
		}
		return "", nil
	}
}
