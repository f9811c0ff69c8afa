package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// source is what the files of this package declare.
type source struct {
	structs map[string]*ast.StructType
	docs    map[string]string
	methods map[string][]string // by receiver
}

func readSource(t *testing.T) source {
	t.Helper()
	s := source{map[string]*ast.StructType{}, map[string]string{}, map[string][]string{}}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			s.add(d)
		}
	}
	return s
}

func (s source) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return
		}
		if receiver, ok := d.Recv.List[0].Type.(*ast.Ident); ok {
			s.methods[receiver.Name] = append(s.methods[receiver.Name], d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if typ, ok := spec.(*ast.TypeSpec); ok {
				if st, ok := typ.Type.(*ast.StructType); ok {
					s.structs[typ.Name.Name], s.docs[typ.Name.Name] = st, d.Doc.Text()+typ.Doc.Text()
				}
			}
		}
	}
}

// parts names the structs that are fields of other structs.
func (s source) parts() map[string]bool {
	used := map[string]bool{}
	for _, st := range s.structs {
		for _, f := range st.Fields.List {
			ast.Inspect(f.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					used[id.Name] = true
				}
				return true
			})
		}
	}
	return used
}

// Every struct of the vocabulary is a kind that JSON can read, or a part of one.
func TestEveryBodyIsListed(t *testing.T) {
	s := readSource(t)
	parts := s.parts()
	bodies := 0
	for name := range s.structs {
		isBody := slices.Contains(s.methods[name], "Kind") && slices.Contains(s.methods[name], "text")
		_, listed := kinds[name]
		switch {
		case isBody != listed:
			t.Errorf("%s: implements Body %v, listed in kinds %v", name, isBody, listed)
		case isBody:
			bodies++
		case ast.IsExported(name) && !parts[name] && name != "Event" && name != "Numbers":
			t.Errorf("%s is neither a kind nor a part of one", name)
		}
	}
	if bodies != len(kinds) {
		t.Errorf("%d bodies, %d kinds", bodies, len(kinds))
	}
}

// Whoever reads the vocabulary learns when each fact fires.
func TestEveryKindSaysWhenItFires(t *testing.T) {
	s := readSource(t)
	for _, kind := range Kinds() {
		frame := kind == "FactsBegan" || kind == "FactsEnded" // they do not fire, they enclose
		if doc := s.docs[kind]; !strings.HasPrefix(doc, kind+" ") || !frame && !strings.HasPrefix(doc, kind+" fires ") {
			t.Errorf("%s is documented as %q", kind, doc)
		}
	}
}
