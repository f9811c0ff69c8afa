package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// A program is what a learner waits for: what make build has packed, and a server sends, is at most 2.0 MB. At brotli's best,
// as make site packs it, it has a little less: make bench prints that.
func TestTheTabKeepsItsBudget(t *testing.T) {
	for _, name := range []string{"lab.wasm", "live.wasm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepsBudget(t, "../dist/"+name)
		})
	}
}

func keepsBudget(t *testing.T, path string) {
	read := func(path string) []byte {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v; run make build, which make test does", err)
		}
		return raw
	}
	raw, br, gz := read(path), read(path+".br"), read(path+".gz")
	const budget = 2_000_000
	t.Logf("%s: %d bytes, gzip %d, brotli %d, budget %d", path, len(raw), len(gz), len(br), budget)
	if len(br) > budget {
		t.Errorf("%s.br has %d bytes; the budget is %d", path, len(br), budget)
	}
	if got, err := io.ReadAll(brotli.NewReader(bytes.NewReader(br))); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%s.br is not %s packed: %d bytes of %d, %v", path, path, len(got), len(raw), err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unzip); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%s.gz is not %s packed: %d bytes of %d, %v", path, path, len(got), len(raw), err)
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
