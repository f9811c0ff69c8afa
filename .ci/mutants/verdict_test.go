package main

import (
	"strings"
	"testing"
)

// Streams of go test -json, as the go command writes them.
const (
	failing = `{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"    a_test.go:7: 25, want 22\n"}
{"Action":"output","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Test":"TestA","Elapsed":0}
{"Action":"fail","Elapsed":0.1}
`
	passing = `{"Action":"run","Test":"TestA"}
{"Action":"pass","Test":"TestA","Elapsed":0}
{"Action":"pass","Elapsed":0.1}
`
	panicking = `{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"output","Test":"TestA","Output":"panic: group \"g\": no transition leads from Empty to Stable [recovered]\n"}
{"Action":"fail","Test":"TestA","Elapsed":0}
{"Action":"fail","Elapsed":0.1}
`
	endless = `{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"panic: test timed out after 1m0s\n"}
{"Action":"fail","Test":"TestA","Elapsed":60}
`
	unbuilt = `{"ImportPath":"x","Action":"build-output","Output":"./a.go:1:1: undefined: b\n"}
{"ImportPath":"x","Action":"build-fail"}
{"Action":"fail","Elapsed":0,"FailedBuild":"x"}
`
	another = `{"Action":"run","Test":"TestB"}
{"Action":"fail","Test":"TestB","Elapsed":0}
{"Action":"fail","Elapsed":0.1}
`
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		panics       bool
		caught       bool
		word         string
	}{
		{"a failure is caught", failing, false, true, "caught"},
		{"a pass is a survivor", passing, false, false, "SURVIVED"},
		{"a panic is no failure", panicking, false, false, "PANICKED"},
		{"unless the rule is one", panicking, true, true, "panicked"},
		{"a failure is enough for such a rule", failing, true, true, "caught"},
		{"an endless loop is killed", endless, false, true, "timed out"},
		{"what does not compile proves nothing", unbuilt, false, false, "NOT COMPILED"},
		{"nor does the failure of another test", another, false, false, "NOT RUN"},
		{"nor does silence", "", false, false, "NOT RUN"},
	} {
		r, err := read(strings.NewReader(c.stream))
		if err != nil {
			t.Fatal(err)
		}
		if v := judge(mutant{tests: []string{"TestA"}, panics: c.panics}, r); v.caught != c.caught || v.word != c.word {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	r, _ := read(strings.NewReader(failing + `{"Action":"pass","Test":"TestB","Elapsed":0}` + "\n"))
	if v := judge(mutant{tests: []string{"TestA", "TestB"}}, r); v.caught || v.word != "SURVIVED" {
		t.Errorf("each of the named tests must fail: %+v", v)
	}
}

func TestMutate(t *testing.T) {
	m := mutant{file: "a.go", old: "a < b", new: "a <= b"}
	if text, err := m.mutate("if a < b {"); err != nil || text != "if a <= b {" {
		t.Error(text, err)
	}
	for _, source := range []string{"if a > b {", "if a < b && a < b {"} {
		if _, err := m.mutate(source); err == nil || !strings.Contains(err.Error(), "no longer applies") {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, err := (mutant{old: "a", new: "a"}).mutate("a"); err == nil {
		t.Error("a mutant that changes nothing is taken")
	}
}

func TestPattern(t *testing.T) {
	for want, names := range map[string][]string{
		"^TestA$":         {"TestA"},
		"^TestA$/^one$":   {"TestA/one"},
		"^(TestA|TestB)$": {"TestB", "TestA/one", "TestA"},
	} {
		if got := pattern(names); got != want {
			t.Errorf("%v: %s, want %s", names, got, want)
		}
	}
}

// The list itself: an id names one mutant, and each says what holds, where that is written and who must notice.
func TestMutantsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range all() {
		if m.id == "" || seen[m.id] {
			t.Errorf("the id %q is empty or is there twice", m.id)
		}
		seen[m.id] = true
		if m.rule == "" || m.from == "" || m.file == "" || m.old == "" || len(m.tests) == 0 {
			t.Errorf("%s lacks its rule, its source, its file, its old text or its tests", m.id)
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d mutants; thirty are the least", len(seen))
	}
}
