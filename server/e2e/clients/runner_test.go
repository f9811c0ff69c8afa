package main

import (
	"strings"
	"testing"
)

func TestSuiteIsCounted(t *testing.T) {
	said := `{"Action":"pass","Test":"TestA"}
{"Action":"pass","Test":"TestA/part"}
not JSON
{"Action":"fail","Test":"TestB"}
{"Action":"skip","Test":"TestC"}
`
	whole, err := count([]byte(said), nil)
	if want := "1 of franz-go's own tests passed, 1 failed, 1 were skipped by themselves"; whole != want {
		t.Errorf("count said %q, expected %q", whole, want)
	}
	if err == nil || !strings.Contains(err.Error(), "TestB") {
		t.Errorf("the failed test is not named: %v", err)
	}
	if _, err := count(nil, nil); err == nil {
		t.Error("a run without a test is taken as passed")
	}
}

func TestTableTells(t *testing.T) {
	all := outcome{}
	for _, step := range steps {
		all[step] = nil
	}
	good := &scene{client: client{name: "good"}, version: "1.0", did: all}
	var out strings.Builder
	if show(&out, []*scene{good}) {
		t.Errorf("all steps are ok, and the table says that something failed:\n%s", out.String())
	}
	for name, bad := range map[string]*scene{
		"absent":  {client: client{name: "absent"}, absent: errMissing{"no such package"}},
		"not run": {client: client{name: "early"}, did: outcome{"create": nil}},
		"suite":   {client: client{name: "suite", alone: kgoSuite}, wholeErr: errMissing{"failed: TestB"}},
	} {
		if !show(&out, []*scene{good, bad}) {
			t.Errorf("%s: the table says that nothing failed", name)
		}
	}
}

func TestTextsAreCompared(t *testing.T) {
	if err := sameTexts([]string{"gzip-1", "gzip-0"}, []string{"gzip-0", "gzip-1"}); err != nil {
		t.Error(err)
	}
	for _, got := range [][]string{{"gzip-0"}, {"gzip-0", "gzip-0", "gzip-1"}, {"gzip-0", "gzip-1: its text is not what was sent"}} {
		if sameTexts(got, []string{"gzip-0", "gzip-1"}) == nil {
			t.Errorf("%q are taken as what was sent", got)
		}
	}
}
