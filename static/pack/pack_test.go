package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program is what a learner waits for: at most 2.0 MB with brotli at its best.
func TestTheTabKeepsItsBudget(t *testing.T) {
	for _, name := range []string{"lab.wasm", "live.wasm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepsBudget(t, name)
		})
	}
}

func keepsBudget(t *testing.T, name string) {
	raw, err := os.ReadFile("../dist/" + name)
	if err != nil {
		t.Fatalf("%v; run make build, which make test does", err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pack(path, 11); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Stat(path + ".br")
	if err != nil {
		t.Fatal(err)
	}
	const budget = 2_000_000
	t.Logf("%s: %d bytes, brotli %d, budget %d", name, len(raw), packed.Size(), budget)
	if packed.Size() > budget {
		t.Errorf("%s has %d bytes with brotli; the budget is %d", name, packed.Size(), budget)
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	if err := pack(filepath.Join(t.TempDir(), "absent.wasm"), 9); err == nil {
		t.Error("packing a file that is not there went well")
	}
}

// That lean copies say the same is shown by make test-wasm, which compares every picture of the gallery with them.
func TestLeanDropsWhatCannotFail(t *testing.T) {
	got, err := leanSource("x_templ.go", []byte(`package view

func f() (templ_7745c5c3_Err error) {
	templ_7745c5c3_Err = templruntime.WriteString(templ_7745c5c3_Buffer, 1, "<p title=\"")
	if templ_7745c5c3_Err != nil {
		return templ_7745c5c3_Err
	}
	for range 2 {
		templ_7745c5c3_Var2, templ_7745c5c3_Err = templ.JoinStringErrs(name)
		if templ_7745c5c3_Err != nil {
			return templ.Error{Err: templ_7745c5c3_Err, FileName: "x.templ", Line: 2, Col: 3}
		}
		_, templ_7745c5c3_Err = templ_7745c5c3_Buffer.WriteString(templ.EscapeString(templ_7745c5c3_Var2))
		if templ_7745c5c3_Err != nil {
			return templ_7745c5c3_Err
		}
	}
	templ_7745c5c3_Var3, templ_7745c5c3_Err = templruntime.NewAttributeExpression(wide).Resolve(ctx)
	if templ_7745c5c3_Err != nil {
		return templ.Error{Err: templ_7745c5c3_Err, FileName: "x.templ", Line: 4, Col: 5}
	}
	templ_7745c5c3_Var4, templ_7745c5c3_Err = templruntime.NewAttributeExpression(link).ResolveURL(ctx)
	if templ_7745c5c3_Err != nil {
		return templ.Error{Err: templ_7745c5c3_Err, FileName: "x.templ", Line: 6, Col: 7}
	}
	templ_7745c5c3_Err = child().Render(ctx, templ_7745c5c3_Buffer)
	if templ_7745c5c3_Err != nil {
		return templ_7745c5c3_Err
	}
	return nil
}
`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `package view ; ` +
		`func f ( ) ( templ_7745c5c3_Err error ) { ` +
		`templ_7745c5c3_Buffer . WriteString ( "<p title=\"" ) ; ` +
		`for range 2 { templ_7745c5c3_Var2 = string ( name ) ; ` +
		`templ_7745c5c3_Buffer . WriteString ( templ . EscapeString ( templ_7745c5c3_Var2 ) ) ; } ; ` +
		`templ_7745c5c3_Var3 = templ . EscapeString ( wide ) ; ` +
		`templ_7745c5c3_Var4 , templ_7745c5c3_Err = templruntime . NewAttributeExpression ( link ) . ResolveURL ( ctx ) ; ` +
		`if templ_7745c5c3_Err != nil { return templ_7745c5c3_Err ; } ; ` +
		`templ_7745c5c3_Err = child ( ) . Render ( ctx , templ_7745c5c3_Buffer ) ; ` +
		`if templ_7745c5c3_Err != nil { return templ_7745c5c3_Err ; } ; ` +
		`return nil ; } ; `
	if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
