package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// trial tries mutants.
type trial struct {
	options
	room    string            // a folder for overlays
	passing map[string]bool   // "package test": the named tests that pass as the tree is
	unbuilt map[string]string // by package: what the compiler says of the tree as it is
}

// verdict is what became of a mutant.
type verdict struct {
	caught bool
	word   string // "caught", "timed out", "panicked as ruled", or why it does not count
	by     []string
	why    string
	took   time.Duration
}

func (m mutant) folder() string {
	if m.pkg != "" {
		return m.pkg
	}
	return path.Dir(m.file)
}

// baseline runs every named test once as the tree is, package by package.
func (t *trial) baseline(ctx context.Context, list []mutant) error {
	named := map[string][]string{}
	var folders []string
	for _, m := range list {
		f := m.folder()
		if named[f] == nil {
			folders = append(folders, f)
		}
		named[f] = append(named[f], m.tests...)
	}
	t.passing, t.unbuilt = map[string]bool{}, map[string]string{}
	for _, f := range folders {
		r, err := t.test(ctx, f, named[f], "")
		if err != nil {
			return fmt.Errorf("%s as it is: %w", f, err)
		}
		t.unbuilt[f] = r.unbuilt
		for name, s := range r.tests {
			t.passing[f+" "+name] = s.result == "pass"
		}
	}
	return nil
}

// try breaks the rule and asks the tests.
func (t *trial) try(ctx context.Context, m mutant) (v verdict) {
	began := time.Now()
	defer func() { v.took = time.Since(began) }()
	bad := func(word, why string) verdict { return verdict{word: word, why: why} }
	source, err := os.ReadFile(m.file)
	if err != nil {
		return bad("no such file", err.Error())
	}
	text, err := m.mutate(string(source))
	if err != nil {
		return bad("STALE", err.Error())
	}
	if u := t.unbuilt[m.folder()]; u != "" {
		return bad("NOT COMPILED", m.folder()+" as it is, without the mutant:\n"+u)
	}
	for _, name := range m.tests {
		if ok, known := t.passing[m.folder()+" "+name]; !t.find && !ok {
			if !known {
				return bad("NO TEST", fmt.Sprintf("%s has no test %s", m.folder(), name))
			}
			return bad("TEST FAILS", fmt.Sprintf("%s of %s fails without the mutant", name, m.folder()))
		}
	}
	overlay, err := t.overlay(m, text)
	if err != nil {
		return bad("no overlay", err.Error())
	}
	names := m.tests
	if t.find {
		names = nil
	}
	r, err := t.test(ctx, m.folder(), names, overlay)
	if err != nil {
		return bad("no answer", err.Error())
	}
	if t.find {
		return found(r)
	}
	return judge(m, r)
}

// overlay writes the mutated file and the list that lets the go command read it in the original's place.
func (t *trial) overlay(m mutant, text string) (string, error) {
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(t.room, m.id+".go")
	replace := map[string]string{original: mutated}
	if !t.find {
		outside, err := m.outside()
		if err != nil {
			return "", err
		}
		for _, file := range outside {
			replace[file] = ""
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(t.room, m.id+".json")
	return overlay, errors.Join(os.WriteFile(mutated, []byte(text), 0o600), os.WriteFile(overlay, list, 0o600))
}

// outside are the package's test files of package x_test, if none of them holds a named test. They need not be compiled,
// nor what they import: often much of what lies above the package.
func (m mutant) outside() (files []string, err error) {
	all, err := filepath.Glob(filepath.Join(m.folder(), "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !external.Match(text) {
			continue
		}
		for _, name := range m.tests {
			if outer, _, _ := strings.Cut(name, "/"); bytes.Contains(text, []byte("\nfunc "+outer+"(")) {
				return nil, nil
			}
		}
		file, err = filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

var external = regexp.MustCompile(`(?m)^package \w+_test$`)

// test runs tests of one package: the named ones, or all where there are no names.
func (t *trial) test(ctx context.Context, folder string, names []string, overlay string) (report, error) {
	const compiling = 5 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, t.limit+compiling)
	defer cancel()
	// Each mutant is compiled once and runs for moments: optimizing it would take longer than that saves.
	args := []string{"test", "-json", "-vet=off", "-count=1", "-gcflags=-N -l", "-timeout", t.limit.String()}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if len(names) > 0 {
		args = append(args, "-run", pattern(names))
	}
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+folder)...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return report{}, errors.Join(ctx.Err(), err)
	}
	r, err := read(&out)
	if err == nil && len(r.tests) == 0 && r.unbuilt == "" && complaints.Len() > 0 {
		err = errors.New(strings.TrimSpace(complaints.String()))
	}
	return r, err
}

// pattern is what -run takes for the names: one by its path; of several the tests that they lie in.
func pattern(names []string) string {
	if len(names) == 1 {
		parts := strings.Split(names[0], "/")
		return "^" + strings.Join(parts, "$/^") + "$"
	}
	var outer []string
	for _, n := range names {
		outer = append(outer, strings.Split(n, "/")[0])
	}
	slices.Sort(outer)
	return "^(" + strings.Join(slices.Compact(outer), "|") + ")$"
}
