package pages

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"grouplab/static/view"
	"grouplab/wasm/tab"
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

// Every lesson that the program carries can be played to its picture, and its beginning is recorded in both languages.
func TestEveryLessonIsPictured(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range b.pictured() {
		if _, err := b.courses[l.ID].picture(); err != nil || !strings.HasPrefix(l.Picture, "<svg") {
			t.Errorf("lesson %s has no picture: %v", l.ID, err)
		}
		for _, lang := range []view.Lang{view.English, view.Chinese} {
			steps, err := b.courses[l.ID].steps[lang]()
			if err != nil || len(steps) < 4 {
				t.Fatalf("%d recorded steps of lesson %s: %v", len(steps), l.ID, err)
			}
			d, _ := b.Lesson(l.ID)
			d.Lang = lang
			if b.Prepare(&d); !strings.Contains(d.First["lesson"], html.EscapeString(d.Lesson.Steps[0].Title.In(lang))) || d.First["headline"] == "" {
				t.Errorf("the first picture of lesson %s does not fit its text in %s", l.ID, lang)
			}
		}
		if links, err := b.courses[l.ID].links(); err != nil || len(links) != len(b.lessons[l.ID].Steps) {
			t.Errorf("lesson %s: %d links to its steps: %v", l.ID, len(links), err)
		}
	}
}

// Every entry of the glossary opens a moment in which what it is about is the case, and the tab follows its link there.
func TestGlossaryOpensMoments(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	terms := b.terms()
	for i := range b.glossary {
		term := &b.glossary[i]
		link, err := b.momentOf(term)
		if err != nil {
			t.Errorf("glossary.txt: %s: %v", term.Name.En, err)
			continue
		}
		if terms[i].Link != link || terms[i].Lesson.Zh == "" {
			t.Errorf("%s leads to %q, not to %q", term.Name.En, terms[i].Link, link)
		}
		c := b.courses[term.Lesson]
		_, fragment, _ := strings.Cut(link, "#")
		opened, err := tab.NewLesson(c.script, c.page, tab.Choices{Hash: fragment})
		if err != nil {
			t.Fatal(err)
		}
		if said := opened.Note(); said != "" {
			t.Errorf("the link of %s: %s", term.Name.En, said)
		}
		if term.Select != "" && opened.Selected() != term.Select {
			t.Errorf("%s selects %q, not %q", term.Name.En, opened.Selected(), term.Select)
		}
	}
}

// The index of each language holds every step and every term, without markup.
func TestIndex(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range []view.Lang{view.English, view.Chinese} {
		var all []Found
		if err := json.Unmarshal(b.Index(lang), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) < 150+len(b.glossary) {
			t.Errorf("the index in %s has %d entries", lang, len(all))
		}
		for _, f := range all {
			if strings.Contains(f.Text, "<p>") || f.Title == "" || f.Text == "" || strings.HasPrefix(f.Link, "lab/") && !strings.Contains(f.Link, "/#m1.") {
				t.Errorf("an entry of the index: %+v", f)
			}
		}
	}
}
