package view

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/*.html anew")

// TestPictures compares every picture of the gallery with the one that was looked at and kept. Run with -rewrite after a
// change that is meant, and look at the difference.
func TestPictures(t *testing.T) {
	for _, n := range Gallery() {
		t.Run(n.Name, func(t *testing.T) {
			got := strings.ReplaceAll(stageHTML(t, n.Model, n.Options), "><", ">\n<")
			file := filepath.Join("testdata", n.Name+".html")
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs: %s", file, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "line " + num(i+1) + "\n  got  " + g[i] + "\n  want " + w[i]
		}
	}
	return num(len(g)) + " lines, want " + num(len(w))
}

// TestTheSameFactsMakeTheSamePicture guards against an order of maps that reaches the page.
func TestTheSameFactsMakeTheSamePicture(t *testing.T) {
	for _, n := range Gallery() {
		first := stageHTML(t, n.Model, n.Options)
		again := galleryNamed(n.Name)
		for range 2 {
			if second := stageHTML(t, again.Model.Clone(), again.Options); second != first {
				t.Fatalf("%s: %s", n.Name, firstDifference(second, first))
			}
		}
	}
}
