package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
)

// What templ calls things in the code that it generates.
const (
	templBuffer = "templ_7745c5c3_Buffer"
	templErr    = "templ_7745c5c3_Err"
)

// lean writes copies of generated files without the error checks that never fail into a folder beside the overlay, and
// names them there; overlay-lean.json beside it names them alone, for tests of the copies. Most checks in templ's code are behind
// writes to its buffer, which keeps its first error and returns it when it is flushed; others say in which line of a
// template an expression failed, and ours are strings, which cannot. They are a twentieth of the tab.
func lean(overlayPath string, files []string) error {
	raw, err := os.ReadFile(overlayPath)
	if err != nil {
		return err
	}
	var all, alone overlay
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("%s: %w", overlayPath, err)
	}
	room, err := filepath.Abs(filepath.Join(filepath.Dir(overlayPath), ".lean"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(room, 0o755); err != nil {
		return err
	}
	alone.Replace = map[string]string{}
	for _, file := range files {
		from, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		short, err := leanSource(file, source)
		if err != nil {
			return err
		}
		to := filepath.Join(room, filepath.Base(file))
		if err := os.WriteFile(to, short, 0o644); err != nil {
			return err
		}
		all.Replace[from], alone.Replace[from] = to, to
	}
	return errors.Join(alone.write(filepath.Join(filepath.Dir(overlayPath), "overlay-lean.json")), all.write(overlayPath))
}

// overlay is what the go command's -overlay reads.
type overlay struct{ Replace map[string]string }

func (o overlay) write(path string) error {
	raw, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644)
}

// leanSource is the Go code of one generated file without the checks.
func leanSource(name string, source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = leanList(n.List)
		case *ast.CaseClause:
			n.Body = leanList(n.Body)
		}
		return true
	})
	var out bytes.Buffer
	if err := printer.Fprint(&out, fset, file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return oneLine(out.Bytes()), nil
}

// oneLine is Go code on a single line, so that the tab carries no table of the lines of code that nobody wrote.
func oneLine(source []byte) []byte {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(source)), source, nil, 0)
	var out bytes.Buffer
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return append(out.Bytes(), '\n')
		case tok == token.SEMICOLON: // also where a line's end stands for it
			text = ";"
		case text == "":
			text = tok.String()
		}
		out.WriteString(text + " ")
	}
}

func leanList(list []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(list))
	for i := 0; i < len(list); i++ {
		checked := i+1 < len(list) && isCheck(list[i+1])
		short := leanStmt(list[i])
		if !checked || short == nil {
			out = append(out, list[i])
			if checked {
				withoutPlace(list[i+1].(*ast.IfStmt))
			}
			continue
		}
		out = append(out, short)
		i++
	}
	return out
}

// leanStmt is an assignment of templ's without its error, nil where it can fail or is another kind of statement:
//
//	err = templruntime.WriteString(buffer, 7, "<p>")    → buffer.WriteString("<p>")
//	_, err = buffer.WriteString(x)                      → buffer.WriteString(x)
//	v, err = templ.JoinStringErrs(x)                    → v = string(x)
//	v, err = …NewAttributeExpression(x).Resolve(ctx)    → v = templ.EscapeString(x)
//
// The last two do not compile where x has an error of its own or is no string: num(x) makes a string of a number.
func leanStmt(s ast.Stmt) ast.Stmt {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || a.Tok != token.ASSIGN || !isIdent(a.Lhs[len(a.Lhs)-1], templErr) {
		return nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok {
		return nil
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if value := attributeOf(fun); value != nil && len(a.Lhs) == 2 {
		return assign(a.Lhs[:1], &ast.SelectorExpr{X: ast.NewIdent("templ"), Sel: ast.NewIdent("EscapeString")}, value)
	}
	on, ok := fun.X.(*ast.Ident)
	if !ok {
		return nil
	}
	switch {
	case on.Name == "templruntime" && fun.Sel.Name == "WriteString" && len(a.Lhs) == 1 && len(call.Args) == 3:
		return &ast.ExprStmt{X: &ast.CallExpr{
			Fun:  &ast.SelectorExpr{X: ast.NewIdent(templBuffer), Sel: ast.NewIdent("WriteString")},
			Args: call.Args[2:],
		}}
	case on.Name == templBuffer && fun.Sel.Name == "WriteString" && len(a.Lhs) == 2 && isIdent(a.Lhs[0], "_"):
		return &ast.ExprStmt{X: call}
	case on.Name == "templ" && fun.Sel.Name == "JoinStringErrs" && len(a.Lhs) == 2 && len(call.Args) == 1:
		return assign(a.Lhs[:1], ast.NewIdent("string"), call.Args)
	}
	return nil
}

// attributeOf is x in templruntime.NewAttributeExpression(x).Resolve, nil for anything else.
func attributeOf(resolve *ast.SelectorExpr) []ast.Expr {
	call, ok := resolve.X.(*ast.CallExpr)
	if !ok || resolve.Sel.Name != "Resolve" || len(call.Args) != 1 {
		return nil
	}
	if of, ok := call.Fun.(*ast.SelectorExpr); !ok || of.Sel.Name != "NewAttributeExpression" {
		return nil
	}
	return call.Args
}

func assign(to []ast.Expr, fun ast.Expr, args []ast.Expr) ast.Stmt {
	return &ast.AssignStmt{Lhs: to, Tok: token.ASSIGN, Rhs: []ast.Expr{&ast.CallExpr{Fun: fun, Args: args}}}
}

// isCheck tells whether a statement is `if err != nil { return … }`, with templ's err.
func isCheck(s ast.Stmt) bool {
	c, ok := s.(*ast.IfStmt)
	if !ok || c.Init != nil || c.Else != nil || len(c.Body.List) != 1 {
		return false
	}
	cond, ok := c.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || !isIdent(cond.X, templErr) || !isIdent(cond.Y, "nil") {
		return false
	}
	_, ok = c.Body.List[0].(*ast.ReturnStmt)
	return ok
}

// withoutPlace makes a check return the error itself, without the line of the template.
func withoutPlace(check *ast.IfStmt) {
	ret := check.Body.List[0].(*ast.ReturnStmt)
	if len(ret.Results) == 1 {
		if _, ok := ret.Results[0].(*ast.CompositeLit); ok {
			ret.Results[0] = ast.NewIdent(templErr)
		}
	}
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
