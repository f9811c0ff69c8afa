package tab

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"grouplab/lessons"
	"grouplab/static/view"
)

// TestARunIsAFile: a lesson's run, taken away as a script, comes out the same in the sandbox, event by event.
func TestARunIsAFile(t *testing.T) {
	d := toGhost(t)
	d.do("next", "")
	d.do("next", "")
	d.do("pause", "")
	d.do("take-over", "")
	d.do("kill", "c1")
	d.do("next-state", "")
	u := d.do("save-run", "")
	if u.Download == nil || u.Download.Name != "grouplab-unclean-restart-run.txt" || len(u.Fill) != 1 || u.Fill[0].Name != "share-said" {
		t.Fatalf("no file was made: %+v, %+v", u.Download, u.Fill)
	}
	again, setup, err := readRun(newTab(Choices{}), "run.txt", u.Download.Text, false)
	if err != nil {
		t.Fatalf("%v in\n%s", err, u.Download.Text)
	}
	seq := d.seq()
	if len(setup) < 8 || again.head.seq() < seq || again.head.hash(seq) != d.lesson.head.hash(seq) {
		t.Errorf("the file leads to event %d of another run; it is\n%s", again.head.seq(), u.Download.Text)
	}
}

// TestThePictureAndTheStory are made of what is shown.
func TestThePictureAndTheStory(t *testing.T) {
	d := toGhost(t)
	for _, lang := range []string{"en", "zh"} {
		d.do("lang", lang)
		u := d.do("save-svg", "dark")
		if u.Download == nil || !strings.HasSuffix(u.Download.Name, "-picture.svg") {
			t.Fatalf("no picture: %+v", u.Download)
		}
		x := xml.NewDecoder(strings.NewReader(u.Download.Text))
		for {
			if _, err := x.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{"orders-svc", "PreparingRebalance", "DelayedJoin", "c3", "__consumer_offsets-"} {
			if !strings.Contains(u.Download.Text, want) {
				t.Errorf("the picture does not say %q", want)
			}
		}
		if png := d.do("save-png", "").Download; png == nil || !strings.HasSuffix(png.Name, ".png") || !strings.HasPrefix(png.Text, "<svg") {
			t.Errorf("a PNG is painted of an SVG, not of %+v", png)
		}
		story := d.do("save-story", "").Download.Text
		for _, want := range []string{"# ", "**" + plainMarkdown(view.Headline(d.lesson.cursor.model, d.options)) + "**", "#m1.unclean-restart.", d.word("story-because"), "~lang=" + lang} {
			if !strings.Contains(story, want) {
				t.Errorf("the story lacks %q:\n%s", want, story)
			}
		}
	}
}

// TestStoriesAreText: whatever a name holds stays text in Markdown.
func TestStoriesAreText(t *testing.T) {
	got := plainMarkdown("</ScRiPt><img src=x onerror=alert(1)> [a](b) *x* `y`\n# z")
	if want := "\\</ScRiPt\\>\\<img src=x onerror=alert(1)\\> \\[a\\](b) \\*x\\* \\`y\\` \\# z"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestTheDialogForSharing fills its fields with the moment, in the language of whoever shares it.
func TestTheDialogForSharing(t *testing.T) {
	d := toGhost(t)
	d.address0 = "http://lab.example/lab/unclean-restart/"
	d.do("select", "state:PreparingRebalance")
	u := d.key("s")
	if u.Dialog != "share" || len(u.Fill) != 3 || !u.SetHash {
		t.Fatalf("the dialog does not open: %+v", u)
	}
	link, code := u.Fill[0].Value, u.Fill[1].Value
	if !strings.HasPrefix(link, d.address0+"#m1.") || !strings.HasSuffix(link, "~lang=en") || !strings.Contains(link, "~sel=state%3APreparingRebalance") {
		t.Errorf("the link is %s", link)
	}
	if !strings.HasPrefix(code, `<iframe src="http://lab.example/lab/unclean-restart/?embed#m1.`) || strings.Count(code, "<") != 2 {
		t.Errorf("the code is %s", code)
	}
	if u := d.do("embed-code", ""); u.CopyText != code {
		t.Errorf("copied %q", u.CopyText)
	}
}

// TestAnyPlayIsALink: wherever a play leads, its link opens the same run, picture, selection, language and grain.
func TestAnyPlayIsALink(t *testing.T) {
	script, page := source(t, ghostLesson)
	acts := rapid.SliceOfN(rapid.SampledFrom([][2]string{{"next"}, {"next"}, {"step"}, {"back"}, {"next-state"}, {"prev-state"}, {"next-timer"}, {"predict-check", "session"}, {"predict-check", "show"},
		{"take-over"}, {"kill", "c1"}, {"start", "c1"}, {"kill-broker", "1"}, {"undo"}, {"seek", "0.5"}, {"grain", "state"}, {"grain", "timer"}, {"select", "state:Stable"},
		{"select", "member:c1-1"}, {"group", "orders-svc"}, {"lang", "zh"}, {"lang", "en"}, {"start"}, {"end"}}), 4, 16)
	for seed := range 16 {
		tb, err := NewLesson(script, page, Choices{Motion: "full"})
		if err != nil {
			t.Fatal(err)
		}
		wall := int64(1000)
		tb.Frame(wall)
		for _, do := range acts.Example(seed) {
			tb.Do(do[0], do[1])
			wall += 16
			tb.Frame(wall)
		}
		tb.Do("pause", "")
		for wall += 16; tb.Frame(wall).Busy; wall += 16 {
		}
		m := tb.lesson
		m.show(m.cursor.seq) // a link leads to an event, not to the time between two
		tb.fill()
		link := m.shared()
		again, err := NewLesson(script, page, Choices{Motion: "full", Hash: link})
		if err != nil {
			t.Fatal(err)
		}
		for wall := int64(16); again.Frame(wall).Busy; wall += 16 {
		}
		if again.options.Note != "" || again.lesson.shared() != link {
			t.Fatalf("%s\nleads to\n%s\n%s", link, again.lesson.shared(), again.options.Note)
		}
		if again.selected != tb.selected || again.options.Grain != tb.options.Grain || again.options.Lang != tb.options.Lang || again.options.Group != tb.options.Group {
			t.Fatalf("%s is looked at otherwise", link)
		}
		if a, b := pictureOf(tb), pictureOf(again); a != b {
			t.Fatalf("%s looks otherwise:\n%s", link, firstDifference(b, a))
		}
	}
}

// pictureOf is what the stage shows, but for what depends on where the viewer comes from.
func pictureOf(tb *Tab) string {
	model := tb.fill()
	o := tb.options
	o.Lesson, o.Memo, o.Head = nil, nil, nil
	svg, _, _ := view.Picture(model, o, view.Light, "")
	return strings.ReplaceAll(svg, "><", ">\n<")
}

// TestB110_ProgressIsKept: solved is kept once it is, a place to go on from before that, and what the browser does not keep
// is told once.
func TestB110_ProgressIsKept(t *testing.T) {
	d := openLesson(t, firstLesson, "")
	kept := map[string]string{}
	take := func(u Update) {
		for _, a := range u.Store {
			kept[a.Name] = a.Value
		}
	}
	for range 60 {
		switch d.gate() {
		case lessons.Asking:
			take(d.do("predict-check", "show")) // looking counts
		case lessons.Over:
		default:
			take(d.do("next", ""))
			take(d.do("pause", ""))
		}
		if d.gate() != lessons.Over && kept["done.first-member"] != "" {
			t.Fatalf("done before the end, in step %s", d.step())
		}
		if d.gate() == lessons.Waiting && d.lesson.cursor.lesson().player.Index() > 1 && !strings.HasPrefix(kept["at.first-member"], "m1.first-member.") {
			t.Fatalf("nothing to go on from in step %s: %v", d.step(), kept)
		}
	}
	if kept["done.first-member"] != "1" || kept["at.first-member"] != "" {
		t.Errorf("at the end %v is kept", kept)
	}
	d.do("unstored", "QuotaExceededError")
	if !strings.Contains(d.options.Note, "progress is not kept") {
		t.Errorf("said %q", d.options.Note)
	}
	d.do("prev", "")
	if d.do("unstored", "again"); d.options.Note != "" {
		t.Errorf("said again: %q", d.options.Note)
	}
	linked := openLesson(t, firstLesson, d.lesson.link())
	if u := linked.do("pause", ""); len(u.Store) > 0 {
		t.Errorf("opening a link is taken for progress: %v", u.Store)
	}
}

// TestB100_APanicIsTold: it says what broke and shows the last moment that stood; where that breaks again, the start.
func TestB100_APanicIsTold(t *testing.T) {
	d := toGhost(t)
	seq, link := d.seq(), d.lesson.link()
	broken := func(do func()) {
		defer func() {
			what := recover()
			if what == nil {
				t.Fatal("nothing broke")
			}
			d.Crashed(what.(string))
		}()
		do()
	}
	broken(func() { d.Do("crash", "now") })
	d.frame(16)
	if d.seq() != seq || !strings.Contains(d.options.Note, "asked to break") || d.lesson.link() != link {
		t.Fatalf("after a panic at event %d of %d: %q", d.seq(), seq, d.options.Note)
	}
	d.do("next", "") // it goes on
	d.do("pause", "")
	stood := d.seq()
	d.Do("crash", "frame")
	broken(func() { d.frame(16) })
	if d.frame(16); d.seq() != stood {
		t.Errorf("after a frame that broke at event %d of %d", d.seq(), stood)
	}
	broken(func() { d.Do("crash", "now") }) // the same moment once more
	if d.frame(16); d.seq() != d.lesson.head.startSeq || !strings.Contains(d.options.Note, "begins anew") {
		t.Errorf("after two breaks at event %d: %q", d.seq(), d.options.Note)
	}
	d.do("next", "")
}

// TestB98_AHiddenPageStandsStill: what passed while no frame was drawn does not pass in the lab, and that is said.
func TestB98_AHiddenPageStandsStill(t *testing.T) {
	d := openLesson(t, ghostLesson, "")
	d.do("take-over", "")
	d.key(" ")
	d.frame(100)
	now, members := d.lesson.cursor.nowMs, len(d.lesson.cursor.model.Groups["orders-svc"].Present())
	d.frame(3_600_000)
	if passed := d.lesson.cursor.nowMs - now; passed > maxFrameMs {
		t.Errorf("%d ms of the lab passed while the page was hidden", passed)
	}
	if !strings.Contains(d.options.Note, "Time stood still for 1\u00a0h") {
		t.Errorf("said %q", d.options.Note)
	}
	for range 400 {
		d.frame(100)
	}
	if got := len(d.lesson.cursor.model.Groups["orders-svc"].Present()); got != members {
		t.Errorf("of %d members %d are left", members, got)
	}
}
