package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// english are three English words in a row, beside what stands in quotes of code.
var english = regexp.MustCompile(`[a-z]{2,}[ ,:;]+[a-z]{2,}[ ,:;]+[a-z]{2,}`)

var quotedCode = regexp.MustCompile("`[^`]*`")

// TestScriptsSpeakChinese finds each manual and each error of the language of scripts, of the world that it runs and of the
// sandbox in their sources, and wants Chinese words for it.
func TestScriptsSpeakChinese(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../coordinator/sim/script/*.go", "../../coordinator/sim/*.go", "../../wasm/tab/console.go", "../../wasm/tab/sandbox*.go",
		"../../wasm/tab/link.go", "../../wasm/tab/input.go", "../../wasm/tab/saves.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	texts := map[string]string{}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			collect(t, f, texts)
		}
	}
	if len(texts) < 120 {
		t.Fatalf("only %d texts are found", len(texts))
	}
	for text, place := range texts {
		if strings.Contains(text, "come from Parse") { // said to programmers
			continue
		}
		got := ScriptText(text, Chinese)
		if got == text && strings.Contains(text, " ") || english.MatchString(quotedCode.ReplaceAllString(got, "")) {
			t.Errorf("%s: %q has no Chinese: %q", place, text, got)
		}
	}
}

// collect reads what a file says to those who write scripts; at the place of each argument stands one.
func collect(t *testing.T, file string, texts map[string]string) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	add := func(e ast.Expr, pattern bool) {
		text, ok := textOf(e)
		if pattern {
			text = filled(text)
		}
		if ok && strings.Contains(text, " ") && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwyz") {
			texts[text] = set.Position(e.Pos()).String()
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl: // what only a program reads
			return !slices.Contains([]string{"String", "Usage", "ConditionUsage"}, n.Name.Name)
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "help" || key.Name == "Msg") {
				add(n.Value, false)
			}
		case *ast.CompositeLit:
			if name, ok := n.Type.(*ast.Ident); ok && name.Name == "Error" && len(n.Elts) == 4 {
				add(n.Elts[3], false)
			}
		case *ast.CallExpr:
			switch called := calledName(n.Fun); {
			case called == "fail" && len(n.Args) > 1:
				add(n.Args[1], true)
			case called == "Errorf" && len(n.Args) > 0:
				add(n.Args[0], true)
			case called == "suggest" && len(n.Args) == 3:
				add(n.Args[2], false)
			}
		}
		return true
	})
}

func calledName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// textOf is a text that is written down, with x where it is not.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, first := textOf(e.X)
		b, second := textOf(e.Y)
		return a + b, first || second
	}
	return "X", false
}

var formats = regexp.MustCompile(`%\+?[a-z%]`)

func filled(s string) string {
	return formats.ReplaceAllStringFunc(s, func(f string) string {
		switch f[len(f)-1] {
		case '%':
			return "%"
		case 'd':
			return "7"
		case 'q':
			return `"x"`
		}
		return "X"
	})
}

// TestScriptTextInPieces goes through an error that is made of others, and one that has no Chinese.
func TestScriptTextInPieces(t *testing.T) {
	for text, want := range map[string]string{
		`no verb "kil"; did you mean "kill"?`:                                                     "没有 “kil” 这个命令；是不是想写 “kill”？",
		`session=: "5" is no duration: write 250ms, 5s, 1m or 1m30s`:                              "session=：“5” 不是时长：写作 250ms、5s、1m 或 1m30s",
		`gave up on state Stable and members == 2 after 10 min: state is Dead; there is 1 member`: "等了 10 min，state Stable and members == 2 还不成立：状态是 Dead；有 1 个成员",
		`there is no consumer "c9"; there are c1, c2`:                                             "没有消费者 “c9”；有 c1, c2",
		`BROKER is a whole number from 1 to 9, not "x", or all`:                                   "BROKER 是 1 到 9 的整数或 all，不是 “x”",
		`UNKNOWN_TOPIC_OR_PARTITION: there is no topic "a"`:                                       "UNKNOWN_TOPIC_OR_PARTITION：没有主题 “a”",
		`session.timeout.ms is "x"; it takes a whole number from 1 to 5`:                          "session.timeout.ms 是 “x”，可取 1 到 5 的整数",
		"something else": "something else",
		"":               "",
	} {
		if got := ScriptText(text, Chinese); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := ScriptText(text, English); got != text {
			t.Errorf("in English %q is %q", text, got)
		}
	}
}
