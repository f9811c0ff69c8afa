//go:build !js

// This test reads the repository, which a browser does not have.

package coordinator_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// behaviourCases are the numbered facts about Apache Kafka's coordinator that this one is held to, by kind: joins, sizes,
// the initial delay, issued ids, static members, syncs and their timer, heartbeats, leaves, commits, transactions, fetches,
// deletions, looks, the state machine, appends, loads, expiry, bytes, the purgatory, and who coordinates what.
var behaviourCases = map[string]string{
	"JOIN":  "01 02 03 04 05 06 08 09 10 11 12 13 14",
	"MAX":   "01 02 03 04",
	"DELAY": "01 02 03",
	"PEND":  "01 02 03 04 05 06",
	"STAT":  "01 02 03 04 05 06 07 08 09 10 11 13 14 15 16",
	"SYNC":  "01 02 03 04 05 06 07 08 09",
	"PSYNC": "01 02",
	"HB":    "01 02 04 05 06 07 08",
	"LEAVE": "01 02 03 04 05 06 07 08",
	"OC":    "01 02 03 04 05 06 07 08 09 10 11 12",
	"TXN":   "01 03 04 05 06 07 08 09 10",
	"OF":    "01 02 03",
	"OD":    "01 02 03",
	"DG":    "01",
	"DESC":  "01 02 03",
	"LIST":  "01",
	"FSM":   "01 02 03 04 05 06",
	"APP":   "01",
	"LOAD":  "01 02 03 05 07 08 09 10 11 12 13",
	"EXP":   "01 02 03",
	"SER":   "01 03 04",
	"PURG":  "01 02 03",
	"FC":    "01 02",
}

// publicFaults are faults of coordinators and of readers of their log that others have had and reported; each test names
// its issue.
const publicFaults = "B01 B03 B05 B07 B08 B11 B13 B15 B17 B20 B21 B24 B25 B27 B29 B32 B33 B36 B38 B82 B83 B86 B88 B90 B92"

// Every case and every fault is the name of a test that runs: TestJOIN01_..., TestB05_....
func TestEveryCaseHasItsTest(t *testing.T) {
	ids := strings.Fields(publicFaults)
	for kind, numbers := range behaviourCases {
		for _, n := range strings.Fields(numbers) {
			ids = append(ids, kind+n)
		}
	}
	if len(ids) != 128+25 {
		t.Fatalf("%d cases and faults are listed, not 128 and 25", len(ids))
	}
	named := map[string]bool{}
	for _, name := range testsOf(t, root) {
		id, _, _ := strings.Cut(strings.TrimPrefix(name, "Test"), "_")
		named[id] = true
	}
	for _, id := range ids {
		if !named[id] {
			t.Errorf("no test that runs here is named Test%s_…", id)
		}
	}
}

// testsOf lists the tests under a folder that a plain go test runs. One that may be skipped is none.
func testsOf(t *testing.T, folder string) (names []string) {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		if runs, err := build.Default.MatchFile(filepath.Split(path)); err != nil || !runs {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && !skips(f) {
				names = append(names, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func skips(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Skip") && s.Sel.Name != "SkipAssignment" {
			found = true
		}
		return !found
	})
	return found
}
