//go:build !js

// These tests ask the go command, which a browser does not have.

package coordinator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "grouplab"

// root is the folder of go.mod, seen from this package.
const root = ".."

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
}

// list asks the go command for our packages on one target. The tests of a package are read without.
func list(t *testing.T, env ...string) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-pgo=off", "-json=ImportPath,Imports,Deps,GoFiles", "./...") // a profile makes packages twice
	cmd.Dir, cmd.Env = root, append(os.Environ(), env...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", env, err, complaints.String())
	}
	packages := map[string]goPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, module+"/")] = p
	}
}

// arrows reads the table of allowed imports in README.md: "package -> what it may import".
func arrows(t *testing.T) map[string]func(string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```arrows\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("README.md has no block that begins with ```arrows")
	}
	allowed := map[string]func(string) bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(block[1])), "\n") {
		from, to, found := strings.Cut(line, "->")
		if !found {
			t.Fatalf("README.md, arrows: %q has no ->", line)
		}
		for _, name := range expand(strings.TrimSpace(from)) {
			allowed[name] = rule(name, strings.TrimSpace(to))
		}
	}
	return allowed
}

// expand turns "coordinator/{event,record}" into both names.
func expand(pattern string) []string {
	before, rest, found := strings.Cut(pattern, "{")
	if !found {
		return []string{pattern}
	}
	inside, after, _ := strings.Cut(rest, "}")
	var names []string
	for _, part := range strings.Split(inside, ",") {
		names = append(names, before+strings.TrimSpace(part)+after)
	}
	return names
}

// rule reads the right side: "nothing of ours", "everything under A and B except C", or names, where a short name may
// leave out the folders in front of it.
func rule(from, to string) func(string) bool {
	to = strings.TrimSpace(strings.Split(to, "(")[0])
	if to == "nothing of ours" {
		return func(string) bool { return false }
	}
	if under, found := strings.CutPrefix(to, "everything under "); found {
		under, except, _ := strings.Cut(under, " except ")
		folders := strings.Split(under, " and ")
		return func(dep string) bool {
			inside := slices.ContainsFunc(folders, func(f string) bool { return dep == f || strings.HasPrefix(dep, f+"/") })
			return inside && (except == "" || dep != except && !strings.HasSuffix(dep, "/"+except))
		}
	}
	words := strings.Fields(to)
	return func(dep string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return dep == w || dep == "coordinator/"+w })
	}
}

func TestArrows(t *testing.T) {
	allowed := arrows(t)
	for _, target := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		for name, p := range list(t, target...) {
			if len(p.GoFiles) == 0 {
				continue
			}
			may, known := allowed[name]
			if !known {
				t.Errorf("%s is not on the left of any arrow in README.md", name)
				continue
			}
			for _, dep := range p.Imports {
				if ours, found := strings.CutPrefix(dep, module+"/"); found && !may(ours) {
					t.Errorf("%s imports %s, which no arrow in README.md allows %v", name, ours, target)
				}
			}
		}
	}
}

// The core has no clock, no lock, no IO and no chance of its own; the message names what to use instead.
func TestCoreHasNoWorldOfItsOwn(t *testing.T) {
	banned := map[string]string{
		"time": "nowMs, an argument", "sync": "nothing: one goroutine owns a machine", "os": "a host", "log": "an event",
		"context": "nothing: nothing blocks", "math/rand": "math/rand/v2, passed in", "net": "a host", "crypto/rand": "a seed, passed in",
	}
	for name, p := range list(t) {
		if name != "coordinator" && !strings.HasPrefix(name, "coordinator/") {
			continue
		}
		for _, dep := range p.Imports {
			if instead, bad := banned[dep]; bad {
				t.Errorf("%s imports %s; use %s", name, dep, instead)
			}
		}
		for _, dep := range p.Deps {
			if dep == "net" || dep == "net/http" || dep == "syscall/js" {
				t.Errorf("%s reaches %s through what it imports", name, dep)
			}
		}
	}
}

// A function is read without scrolling, a file has one topic.
func TestSizes(t *testing.T) {
	const mostFunctionLines, mostFileLines = 80, 600
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if lines := files.Position(file.End()).Line; lines > mostFileLines {
			t.Errorf("%s has %d lines; is there a second topic inside?", path, lines)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
				if lines > mostFunctionLines {
					t.Errorf("%s: %s has %d lines", files.Position(f.Pos()), f.Name.Name, lines)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
