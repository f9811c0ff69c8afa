package tab

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"testing"

	"grouplab/lessons"
	"grouplab/lessons/content"
	"grouplab/static/view"
)

const (
	ghostLesson = "08-unclean-restart"
	firstLesson = "02-first-member"
)

// source is a lesson's script and a page for it, with the script's names as texts.
func source(t testing.TB, folder string) (script, page string) {
	t.Helper()
	text, err := fs.ReadFile(content.FS, folder+"/script.txt")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lessons.Load(folder[3:], string(text))
	if err != nil {
		t.Fatal(err)
	}
	p := view.LessonPage{ID: l.ID, Number: 1, Of: 2, Title: view.Text{En: "title", Zh: "题"}}
	for _, s := range l.Steps {
		step := view.StepPage{Name: s.Name, Title: view.Text{En: s.Name}, Body: view.Text{En: "<p>" + s.Name + "</p>"}}
		if s.Predict != nil {
			step.Question = &view.QuestionPage{Ask: view.Text{En: s.Predict.Name}}
			for _, o := range s.Predict.Options {
				step.Question.Options = append(step.Question.Options, view.OptionPage{ID: o.ID, Text: view.Text{En: o.ID}})
			}
		}
		for _, h := range []string{"first", "second", "third"} {
			step.Hints = append(step.Hints, view.Text{En: "look at <code>" + h + "</code>"})
		}
		p.Steps = append(p.Steps, step)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(data)
}

// desk drives a tab as a page does: by actions, keys and frames.
type desk struct {
	*Tab
	t    testing.TB
	wall int64
	last Update
	// said is all that was announced, asked all that the server was asked, drawn how many parts were patched.
	said, asked []string
	drawn       int
}

func openLesson(t testing.TB, folder, hash string) *desk {
	t.Helper()
	script, page := source(t, folder)
	tb, err := NewLesson(script, page, Choices{Motion: "full", Hash: hash})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{Tab: tb, t: t, wall: 5000}
	d.frame(16)
	return d
}

// frame lets ms of wall time pass and draws.
func (d *desk) frame(ms int64) Update {
	d.wall += ms
	d.last = d.Frame(d.wall)
	if d.last.Announce != "" {
		d.said = append(d.said, d.last.Announce)
	}
	d.asked = append(d.asked, d.last.Ask...)
	d.drawn += len(d.last.Patches)
	return d.last
}

// do acts and draws.
func (d *desk) do(action, arg string) Update {
	d.Do(action, arg)
	return d.frame(16)
}

// key presses a key and draws.
func (d *desk) key(name string) Update {
	d.t.Helper()
	if !d.Key(Key{Name: name}) {
		d.t.Fatalf("key %q means nothing", name)
	}
	return d.frame(16)
}

// play draws frames of 16 ms until nothing moves any more, at most so many.
func (d *desk) play(frames int) {
	d.t.Helper()
	for range frames {
		if !d.frame(16).Busy {
			return
		}
	}
	d.t.Fatalf("still playing after %d frames, at %d ms", frames, d.lesson.cursor.nowMs)
}

func (d *desk) step() string { return d.lesson.cursor.lesson().player.Step().Name }

func (d *desk) gate() lessons.Gate { return d.lesson.cursor.lesson().player.Gate() }

func (d *desk) seq() int64 { return d.lesson.cursor.seq }

// picture is everything that the stage shows, but for what depends on where the viewer comes from.
func (d *desk) picture() string { return render(d.t, d.lesson.cursor.model, d.options) }

func render(t testing.TB, m *view.Model, o view.Options) string {
	t.Helper()
	o.Behaviour, o.Checked = nil, false // asked of the machine, at the head alone
	o.Branches, o.Compare, o.Own = nil, nil, false
	o.Head, o.Note, o.Playing, o.Speed, o.AtStart, o.AtEnd = nil, "", false, 1, false, false
	var b bytes.Buffer
	for _, p := range view.Parts(m, o) {
		b.WriteString("== " + p.ID + "\n")
		if err := p.Component.Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
