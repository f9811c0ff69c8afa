package pages

import (
	"testing"

	"grouplab/static/view"
)

// The lessons that the program carries make pages, each leading to the next.
func TestBook(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	ids := b.IDs()
	if len(ids) < 2 || len(b.Contents().Contents) != len(ids) {
		t.Fatalf("%d lessons, %d in the contents", len(ids), len(b.Contents().Contents))
	}
	for i, id := range ids {
		d, found := b.Lesson(id)
		if !found || d.Kind != view.PageLesson || d.Lesson.ID != id || d.Lesson.Number != i+1 || d.Lesson.Of != len(ids) || d.Lesson.Script == "" {
			t.Fatalf("lesson %s: %+v", id, d)
		}
		if next := d.Lesson.Next; i+1 < len(ids) && next != ids[i+1] || i+1 == len(ids) && next != "" {
			t.Errorf("lesson %s leads to %q", id, next)
		}
		if link := b.Contents().Contents[i]; link.ID != id || link.Title.En == "" || link.Title.Zh == "" || link.Summary.Zh == "" {
			t.Errorf("the contents say %+v of lesson %s", link, id)
		}
		for _, s := range d.Lesson.Steps {
			if s.Body.En == "" || s.Body.Zh == "" || s.Title.Zh == "" || s.Question != nil && len(s.Question.Options) < 2 {
				t.Errorf("lesson %s, step %s: %+v", id, s.Name, s)
			}
		}
	}
	if _, found := b.Lesson("nothing"); found {
		t.Error("there is a lesson called nothing")
	}
	for _, n := range view.Gallery() {
		if d, found := b.Gallery(n.Name); !found || d.Gallery != n.Name {
			t.Errorf("picture %s: %+v, %v", n.Name, d, found)
		}
	}
	for _, scene := range view.Scenes() {
		if d, found := b.Gallery(scene.Name); !found || d.Model == nil || d.Model.Seq == 0 || d.Model.Groups[d.Options.Group] == nil {
			t.Errorf("scene %s: %+v, %v", scene.Name, d.Options, found)
		}
	}
	if _, found := b.Gallery("nothing"); found {
		t.Error("there is a picture called nothing")
	}
}
