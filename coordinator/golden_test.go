package coordinator_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"grouplab/coordinator/sim/script"
)

var rewrite = flag.Bool("rewrite", false, "record the golden transcripts in testdata anew")

// Golden transcripts hold commands and, after each, the events that it produced, indented by two spaces. Comments and
// empty lines are kept. `show kinds` and `hide kinds` choose what is printed; everything is run.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := transcript(t, file, string(want), false)
			if again := transcript(t, file, string(want), true); again != got {
				t.Fatalf("a run that goes on with a copy after each command differs: %s", firstDifference(again, got))
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s\nIf that is meant: go test ./coordinator -run Golden -rewrite", firstDifference(got, string(want)))
			}
		})
	}
}

// transcript runs the commands of a golden file and prints it anew. With copies it goes on with a clone of the engine
// after every command.
func transcript(t *testing.T, file, text string, copies bool) string {
	t.Helper()
	e := script.New(file)
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // recorded output
		}
		b.WriteString(line + "\n")
		c, err := script.ParseLine(file, i+1, line)
		if err != nil {
			t.Fatal(err)
		}
		if c.Verb == "" {
			continue
		}
		err = e.Do(c)
		for _, ev := range e.Take() {
			if e.Shows(ev.Body.Kind()) {
				b.WriteString("  " + ev.String() + "\n")
			}
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if c.Not {
			b.WriteString("  failed: " + e.Failure() + "\n")
		}
		if copies {
			e = e.Clone()
		}
	}
	return b.String()
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		line := func(list []string) string {
			if i < len(list) {
				return list[i]
			}
			return "(end)"
		}
		if line(g) != line(w) {
			return "line " + strconv.Itoa(i+1) + "\n got  " + line(g) + "\n want " + line(w)
		}
	}
	return "no difference"
}
