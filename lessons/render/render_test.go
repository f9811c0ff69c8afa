package render

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"grouplab/lessons/content"
)

// TestAll: every lesson has every text in both languages and nothing else, and all of it is said in HTML.
func TestAll(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := fs.ReadDir(content.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(dirs) || len(all) < 2 {
		t.Fatalf("%d lessons from %d folders", len(all), len(dirs))
	}
	for _, l := range all {
		both(t, l.ID+" title", l.Title)
		both(t, l.ID+" summary", l.Summary)
		for _, s := range l.Steps {
			both(t, l.ID+" "+s.Name+" title", s.Title)
			both(t, l.ID+" "+s.Name, s.HTML)
			if s.Question == nil {
				continue
			}
			both(t, s.Name+" question", s.Question.AskHTML)
			for _, o := range s.Question.Options {
				both(t, o.ID, o.HTML)
				both(t, o.ID+" why", o.WhyHTML)
			}
		}
		for _, n := range append(append([]Named{}, l.Goals...), l.Hints...) {
			both(t, n.Name, n.HTML)
			both(t, n.Name, n.Plain)
			if strings.Contains(n.Plain.En+n.Plain.Zh, "<") {
				t.Errorf("%s: plain text holds markup: %+v", n.Name, n.Plain)
			}
		}
		if len(l.Hints) < 3 {
			t.Errorf("%s has %d hints; a learner gets three before the solution", l.ID, len(l.Hints))
		}
	}
}

// both demands that a text says something in each language, and not the same: English must not stand in for Chinese.
func both(t *testing.T, what string, text Text) {
	t.Helper()
	if strings.TrimSpace(text.En) == "" || strings.TrimSpace(text.Zh) == "" {
		t.Errorf("%s says nothing: %+v", what, text)
	}
	if strings.ContainsRune(text.Zh, '—') {
		t.Errorf("%s: a Chinese text with an English dash: %s", what, text.Zh)
	}
}

const smallScript = "setup\n  topic orders 6\nstep a\n  predict q\n    option x state Empty\n    option y state Stable\n    decide now >= 1s\ngoal g state Stable\nhint h\nsolution s\n  until state Stable\n"

const smallProse = "# T\n\nS.\n\n## step a: A\n\nText with <b>raw</b> HTML and a [link](javascript:alert(1)).\n\n## predict q: Q?\n\n### x: X `code`\n\nNo.\n\n### y: Y\n\nYes.\n\n## goal g: G\n\n## hint h\n\nH & more.\n\n## solution s: S\n\nDo it.\n"

func loadProse(en, zh string) ([]Lesson, error) {
	return Load(fstest.MapFS{
		"07-small/script.txt": {Data: []byte(smallScript)},
		"07-small/en.md":      {Data: []byte(en)},
		"07-small/zh.md":      {Data: []byte(zh)},
	})
}

func TestRender(t *testing.T) {
	all, err := loadProse(smallProse, smallProse)
	if err != nil {
		t.Fatal(err)
	}
	l := all[0]
	if l.Number != 7 || l.ID != "small" || l.Script != smallScript {
		t.Errorf("read %d %s", l.Number, l.ID)
	}
	body := l.Steps[0].HTML.En
	if strings.Contains(body, "<b>") || strings.Contains(body, "javascript:") {
		t.Errorf("raw HTML or a script's address came through: %s", body)
	}
	if got := l.Steps[0].Question.Options[0].HTML.En; got != "X <code>code</code>" {
		t.Errorf("an option's text is %q", got)
	}
	if got := l.Hints[0].Plain.En; got != "H & more." {
		t.Errorf("a hint's plain text is %q", got)
	}
	if got := l.Solutions[0].Commands; len(got) != 1 || got[0] != "until state Stable" {
		t.Errorf("a solution's commands are %q", got)
	}
}

// TestTexts: what is missing, unknown or doubled is told with its place, in either language.
func TestTexts(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"missing":         {"## hint h\n\nH & more.\n\n", "", ":24:1: the text of hint h is missing"},
		"unknown":         {"## hint h", "## hint i", `:21:1: the script of lesson small has no hint i`},
		"twice":           {"## hint h", "## step a: A\n\nAgain.\n\n## hint h", ":21:1: step a is there already, in line 5"},
		"kind":            {"## hint h", "## tip h", `:21:1: "## tip h" is no section`},
		"option missing":  {"### y: Y\n\nYes.\n\n", "", ":24:1: the text of option q y is missing"},
		"stray option":    {"## hint h", "## hint h\n\nx\n\n### x: X", ":25:1: option \"x\" belongs to no prediction"},
		"silent":          {"No.\n", "", ":11:1: option q x says nothing"},
		"no title":        {"# T\n", "", ":1:1: the title is missing"},
		"no summary":      {"S.\n", "", ":2:1: the sentence for the list of lessons is missing"},
		"goal's body":     {"## goal g: G\n", "## goal g: G\n\nMore.\n", ":19:1: a goal's text is its heading"},
		"two paragraphs":  {"No.\n", "No.\n\nReally.\n", ":11:1: option q x has more than one paragraph"},
		"question's body": {"## predict q: Q?\n", "## predict q: Q?\n\nMore.\n", ":9:1: a predict's text is its heading"},
		"no heading":      {"## step a: A", "## step a", ":5:1: a step's section is `## step NAME: …`"},
		"depth":           {"## hint h", "#### hint h", ":21:1: a heading has one, two or three #"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(smallProse, c.old) {
				t.Fatalf("the prose does not hold %q", c.old)
			}
			wrong := strings.Replace(smallProse, c.old, c.new, 1)
			_, err := loadProse(wrong, smallProse)
			if err == nil || !strings.HasPrefix(err.Error(), "07-small/en.md"+c.want) {
				t.Errorf("got  %v\nwant 07-small/en.md%s…", err, c.want)
			}
			_, err = loadProse(smallProse, wrong)
			if err == nil || !strings.HasPrefix(err.Error(), "07-small/zh.md"+c.want) {
				t.Errorf("got  %v\nwant 07-small/zh.md%s…", err, c.want)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"unclean-restart is no lesson": {"unclean-restart/script.txt": {Data: []byte(smallScript)}},
		"en.md":                        {"07-small/script.txt": {Data: []byte(smallScript)}},
	} {
		if _, err := Load(files); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
