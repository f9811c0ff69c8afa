//go:build !js

package dom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFileIsTagged: an untagged file here or in the main package above would break native builds of the project.
func TestEveryFileIsTagged(t *testing.T) {
	found := 0
	for _, pattern := range []string{"*.go", "../*.go", "../page/*.go", "../live/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			found++
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(source), "//go:build js\n") {
				t.Errorf("%s does not begin with //go:build js", file)
			}
		}
	}
	if found < 5 {
		t.Fatalf("found %d files only: the patterns are wrong", found)
	}
}

// TestOnlyDomTouchesJavaScript: everything that decides anything is in package tab, which is tested natively.
func TestOnlyDomTouchesJavaScript(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../tab/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{`"syscall/js"`, `"github.com/hack-pad/safejs"`} {
			if strings.Contains(string(source), path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}
