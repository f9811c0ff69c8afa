package view

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// stylesheets of every page, in the order of the cascade.
var stylesheets = []string{"base.css", "stage.css", "clients.css", "panes.css", "log.css", "chart.css", "lesson.css", "page.css", "contents.css", "share.css", "sandbox.css", "live.css", "paste.css", "recordings.css", "narrow.css", "phone.css",
	"modes.css"}

// lang is the language in which the document is written before the viewer's choice is known.
func (d PageData) lang() Lang {
	if d.Lang == Chinese {
		return Chinese
	}
	return English
}

// link leads to a place of the site. Places end with a slash, so that a plain file host finds their index.html.
func (d PageData) link(to string) templ.SafeURL {
	base := d.Base
	if base == "" {
		base = "./"
	}
	if to == "" || strings.HasPrefix(to, "#") {
		return templ.SafeURL(base + to)
	}
	return templ.SafeURL(base + to + "/")
}

// asset is the address of a file of static/assets.
func (d PageData) asset(file string) string { return d.Base + "assets/" + file }

// onStage tells whether the page holds the stage.
func (d PageData) onStage() bool {
	return d.Kind == PageLesson || d.Kind == PageSandbox || d.Kind == PageLive || d.Kind == PagePaste || d.Kind == PageRecordings || d.Kind == PageGallery
}

// showsLive tells whether a page of the gallery shows a picture of a running cluster.
func (d PageData) showsLive() bool {
	if d.Kind != PageGallery {
		return false
	}
	_, o := d.stage()
	return o.Mode == ModeLive
}

// runs tells whether the page starts the program.
func (d PageData) runs() bool { return d.program() != "" }

// program is the file of the program that the page runs, "" where it runs none. What holds a machine is another program than
// what shows what others have seen: a viewer downloads the one that he needs.
func (d PageData) program() string {
	switch d.Kind {
	case PageLesson, PageSandbox:
		return "lab.wasm"
	case PageLive, PagePaste, PageRecordings:
		return "live.wasm"
	}
	return ""
}

func (d PageData) title(l Lang) string {
	t := pageWord("title." + string(d.Kind)).In(l)
	if d.Kind == PageLesson && d.Lesson != nil {
		t = d.Lesson.Title.In(l)
	}
	if d.Kind == PageContents {
		return t
	}
	return t + " · GroupLab"
}

// stage is what the stage shows before the program has started.
func (d PageData) stage() (*Model, Options) {
	m, o := d.Model, d.Options
	if m == nil {
		m = NewModel()
		if d.Kind == PageGallery {
			if n := galleryNamed(d.galleryName()); n != nil {
				m, o = n.Model, n.Options
			}
		}
	}
	o.Lang = d.lang()
	switch d.Kind {
	case PageLesson:
		o.Mode = ModeLesson
		if o.Lesson == nil && d.Lesson != nil {
			o.Lesson = &LessonState{Page: d.Lesson, Gate: "loading"}
		}
	case PageSandbox:
		o.Mode = ModeLesson
	case PageLive:
		o.Mode = ModeLive
		if o.Live == nil {
			o.Live = &LiveState{May: d.Token != "", Demo: -1, Bootstrap: d.Bootstrap}
		}
	}
	if o.Speed == 0 && !o.Playing {
		o.Speed = 1
	}
	if o.Grain == "" {
		o.Grain = GrainEvent
	}
	return m, o
}

func (d PageData) galleryName() string {
	if d.Gallery == "" {
		return galleryNames()[0].Name
	}
	return d.Gallery
}

// partsByID are the parts for the shell; those that the page has no place for are left out.
func partsByID(m *Model, o Options) map[string]templ.Component {
	parts := map[string]templ.Component{}
	for _, id := range []string{"lesson", "groups", "brokers", "finder", "sight", "strip", "history", "figures", "lag"} {
		parts[id] = templ.NopComponent
	}
	for _, p := range Parts(m, o) {
		parts[p.ID] = p.Component
	}
	return parts
}

// shown are the parts as the program has drawn them where the page carries its first picture, else as they are drawn here.
func (d PageData) shown() map[string]templ.Component {
	if d.First == nil {
		m, o := d.stage()
		return partsByID(m, o)
	}
	m, o := d.stage()
	parts := partsByID(m, o)
	for id := range parts { // a part that says nothing is not recorded
		parts[id] = templ.Raw(d.First[id])
	}
	return parts
}

// heroOf is the stage of the contents page's figure.
func heroOf(l Lang) *stage {
	o := galleryOptions("")
	o.Lang, o.ChartPx = l, 930
	return newStage(uncleanRestart(), o)
}

// lessonData puts a lesson's texts and script into the page, where the program finds them. Both are data, not programs:
// the browser never runs them, and what could end the element is written so that it cannot.
func lessonData(l *LessonPage) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		data, err := json.Marshal(l)
		if err != nil {
			return err
		}
		// encoding/json writes <, > and & as \u003c, \u003e and \u0026.
		script := strings.NewReplacer("</", "< /", "<!--", "< !--").Replace(l.Script)
		_, err = io.WriteString(w, `<script type="application/json" id="lesson-page">`+string(data)+"</script>"+
			`<script type="text/plain" id="lesson-script">`+script+"</script>")
		return err
	})
}

// signHelp is what the signs of the stage mean: a small mark, a static member's badge, or a text with a class.
var signHelp = []struct{ Sign, Pin, Text, Class, Says string }{
	{Text: "♛", Says: "sign.leader"},
	{Pin: "i1", Says: "sign.static"},
	{Text: "7", Class: "sign-square", Says: "sign.pending.id"},
	{Text: "c1", Class: "sign-struck", Says: "sign.struck"},
	{Sign: "pending", Says: "sign.pending"},
	{Sign: "committed", Says: "sign.committed"},
	{Text: "5", Class: "sign-fold", Says: "sign.txn"},
	{Text: "C A", Class: "sign-pill", Says: "sign.marker"},
	{Sign: "tombstone", Says: "sign.tombstone"},
	{Sign: "expires", Says: "sign.expires"},
	{Sign: "kept", Says: "sign.kept"},
	{Sign: "down", Says: "sign.down"},
	{Text: "hw", Says: "sign.hw"},
	{Text: "live", Says: "sign.live"},
	{Text: "J S H L C F D", Says: "sign.letters"},
	{Text: "W M I A T E", Says: "sign.letters.more"},
}

// keyHelp is what the keys do.
var keyHelp = []struct {
	Keys []string
	Says string
}{
	{[]string{"Space"}, "key.play"},
	{[]string{"←", "→"}, "key.step"},
	{[]string{"Shift", "←", "→"}, "key.state"},
	{[]string{"Home", "End"}, "key.ends"},
	{[]string{"T"}, "key.timer"},
	{[]string{"[", "]"}, "key.speed"},
	{[]string{"N", "P"}, "key.lesson"},
	{[]string{"Q"}, "key.question"},
	{[]string{"H"}, "key.hint"},
	{[]string{"G"}, "key.goal"},
	{[]string{"B"}, "key.branch"},
	{[]string{"U"}, "key.undo"},
	{[]string{"W"}, "key.waiting"},
	{[]string{"Y"}, "key.why"},
	{[]string{"1", "…", "7"}, "key.panes"},
	{[]string{"↑", "↓"}, "key.within"},
	{[]string{"/"}, "key.find"},
	{[]string{"C"}, "key.command"},
	{[]string{"F"}, "key.freeze"},
	{[]string{"L"}, "key.link"},
	{[]string{"S"}, "key.share"},
	{[]string{"Esc"}, "key.escape"},
	{[]string{"?"}, "key.help"},
}
