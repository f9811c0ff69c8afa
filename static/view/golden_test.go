package view

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grouplab/coordinator/sim/script"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/*.html anew")

// pictures are the pictures of the gallery, those that the simulator makes among them.
func pictures(t *testing.T) []Named {
	t.Helper()
	list := Gallery()
	for _, scene := range Scenes() {
		list = append(list, sceneOf(t, scene))
	}
	return list
}

func sceneOf(t *testing.T, scene Scene) Named {
	t.Helper()
	events, nowMs, err := script.Run(scene.Name+".txt", scene.Script())
	if err != nil {
		t.Fatal(err)
	}
	return scene.Of(events, nowMs)
}

// sceneParts are the parts of a scene that are compared: not those that print every fact, so that a word more in one of
// them is no other picture.
var sceneParts = []string{"headline", "clients", "shelves", "tape", "offsets", "ownership"}

func pictureNamed(t *testing.T, name string) Named {
	t.Helper()
	if n := galleryNamed(name); n != nil {
		return *n
	}
	return sceneOf(t, *sceneNamed(name))
}

// TestPictures compares every picture of the gallery with the one that was looked at and kept. Run with -rewrite after a
// change that is meant, and look at the difference.
func TestPictures(t *testing.T) {
	for _, n := range pictures(t) {
		t.Run(n.Name, func(t *testing.T) {
			got := stageHTML(t, n.Model, n.Options)
			if sceneNamed(n.Name) != nil {
				got = partsHTML(t, n.Model, n.Options, sceneParts...)
			}
			got = strings.ReplaceAll(got, "><", ">\n<")
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
	for _, n := range pictures(t) {
		first := stageHTML(t, n.Model, n.Options)
		again := pictureNamed(t, n.Name)
		for range 2 {
			if second := stageHTML(t, again.Model.Clone(), again.Options); second != first {
				t.Fatalf("%s: %s", n.Name, firstDifference(second, first))
			}
		}
	}
}
