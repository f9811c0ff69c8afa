// Command source writes what the page tells of the source: for each kind of fact the Go functions that emit it, with file
// and line, and what does the same in Apache Kafka; for each guard where it stands. Lines are found by parsing the source
// at each build, so that they cannot be stale.
//
//	go run ./static/source FILE
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "source: want the file to write: source static/dist/lines.json")
		os.Exit(2)
	}
	if err := write(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "source:", err)
		os.Exit(1)
	}
}

// table is the file's content.
type table struct {
	Kinds  map[string]kind   `json:"kinds"`
	Guards map[string]string `json:"guards"`
	// told are the places where Facts tells of a kind again, or an observer or a fold over the facts makes it: they stand for
	// kinds that the machine makes nowhere.
	told map[string][]string
}

// kind is where a kind of fact is emitted: "coordinator/rebalance.go:15 prepareRebalance"; at most maxPlaces of them.
type kind struct {
	Kafka string   `json:"kafka"`
	Go    []string `json:"go"`
}

const maxPlaces = 3

func write(root, file string) error {
	t, err := read(root)
	if err != nil {
		return err
	}
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// read parses everything under coordinator/, and what watches a cluster, tests left out.
func read(root string) (*table, error) {
	t := &table{Kinds: map[string]kind{}, Guards: map[string]string{}, told: map[string][]string{}}
	for _, dir := range []string{"coordinator", watchers + "observe", watchers + "history"} {
		if err := t.walk(root, filepath.FromSlash(dir)); err != nil {
			return nil, err
		}
	}
	for k, said := range kafka {
		entry := t.Kinds[k]
		if len(entry.Go) == 0 {
			entry.Go = t.told[k][:min(len(t.told[k]), maxPlaces)]
		}
		entry.Kafka = said
		t.Kinds[k] = entry
	}
	return t, nil
}

// watchers is where the folders are of what watches a cluster.
const watchers = "server/"

func (t *table) walk(root, dir string) error {
	return filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		t.file(filepath.ToSlash(name), set, f)
		return nil
	})
}

// file looks through one file.
func (t *table) file(name string, set *token.FileSet, f *ast.File) {
	line := func(n ast.Node) string { return name + ":" + strconv.Itoa(set.Position(n.Pos()).Line) }
	for _, d := range f.Decls {
		fn, _ := d.(*ast.FuncDecl)
		in := ""
		if fn != nil {
			in = " " + fn.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CompositeLit:
				of := eventOf(x.Type)
				again := strings.HasSuffix(name, "facts.go") || strings.HasPrefix(name, watchers)
				switch {
				case of == "" || fn == nil:
				case again:
					t.told[of] = append(t.told[of], line(x)+in)
				case len(t.Kinds[of].Go) < maxPlaces:
					entry := t.Kinds[of]
					entry.Go = append(entry.Go, line(x)+in)
					t.Kinds[of] = entry
				}
			case *ast.BasicLit:
				// A guard is a sentence: it has blanks, and so is no name.
				if text, err := strconv.Unquote(x.Value); x.Kind == token.STRING && err == nil && strings.Count(text, " ") > 1 && t.Guards[text] == "" && guards(name) {
					t.Guards[text] = line(x) + in
				}
			}
			return true
		})
	}
}

// guards tells whether a file may hold guards: those of the coordinators, which answer requests.
func guards(name string) bool {
	dir, file := filepath.Split(name)
	return (dir == "coordinator/" || dir == "coordinator/txn/") && file != "doc.go"
}

// eventOf is the kind of fact that a composite literal makes, "" where it makes another thing.
func eventOf(t ast.Expr) string {
	sel, ok := t.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "event" {
		if _, known := kafka[sel.Sel.Name]; known {
			return sel.Sel.Name
		}
	}
	return ""
}

// kindNames are all kinds of facts that the table knows, sorted.
func (t *table) kindNames() []string {
	var list []string
	for k := range t.Kinds {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}
