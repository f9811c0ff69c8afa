package render

import (
	"io/fs"
	"os"
	"regexp"
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
	if len(all) > len(dirs) || len(all) < 2 {
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
		for _, n := range l.Goals {
			both(t, n.Name, n.HTML)
			both(t, n.Name, n.Plain)
			if strings.Contains(n.Plain.En+n.Plain.Zh, "<") {
				t.Errorf("%s: plain text holds markup: %+v", n.Name, n.Plain)
			}
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

const smallScript = "setup\n  topic orders 6\nstep a\n  predict q\n    option x state Empty\n    option y state Stable\n    decide now >= 1s\ngoal g state Stable\nsolution s\n  until state Stable\n"

const smallProse = "# T\n\nS.\n\n## step a: A\n\nText with <b>raw</b> HTML and a [link](javascript:alert(1)).\n\n? One.\n? H & more.\n? Three.\n\n## predict q: Q?\n\n### x: X `code`\n\nNo.\n\n### y: Y\n\nYes.\n\n## goal g: G\n\n## solution s: S\n\nDo it.\n"

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
	if h := l.Steps[0].Hints; len(h) != 3 || h[1].En != "H &amp; more." || strings.Contains(body, "more") {
		t.Errorf("the hints are %+v", h)
	}
	if got := l.Solutions[0].Commands; len(got) != 1 || got[0] != "until state Stable" {
		t.Errorf("a solution's commands are %q", got)
	}
}

// TestTexts: what is missing, unknown or doubled is told with its place, in either language.
func TestTexts(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"missing":         {"## goal g: G\n\n", "", ":26:1: the text of goal g is missing"},
		"unknown":         {"## goal g", "## goal h", ":23:1: the script of lesson small has no goal h"},
		"twice":           {"## goal g", "## step a: A\n\nAgain.\n\n## goal g", ":23:1: step a is there already, in line 5"},
		"kind":            {"## goal g", "## tip g", `:23:1: "## tip g: G" is no section`},
		"option missing":  {"### y: Y\n\nYes.\n\n", "", ":24:1: the text of option q y is missing"},
		"stray option":    {"## solution s", "### x: X\n\n## solution s", ":25:1: \"x\" is neither an option"},
		"unknown move":    {"## predict q", "### m: M\n\n## predict q", ":13:1: the script of lesson small has no move a m"},
		"silent":          {"No.\n", "", ":15:1: option q x says nothing"},
		"no title":        {"# T\n", "", ":1:1: the title is missing"},
		"no summary":      {"S.\n", "", ":2:1: the sentence for the list of lessons is missing"},
		"goal's body":     {"## goal g: G\n", "## goal g: G\n\nMore.\n", ":23:1: a goal's text is its heading"},
		"two paragraphs":  {"No.\n", "No.\n\nReally.\n", ":15:1: option q x has more than one paragraph"},
		"question's body": {"## predict q: Q?\n", "## predict q: Q?\n\nMore.\n", ":13:1: a predict's text is its heading"},
		"no heading":      {"## step a: A", "## step a", ":5:1: a step's section is `## step NAME: …`"},
		"depth":           {"## goal g: G", "#### goal g: G", ":23:1: a heading has one, two or three #"},
		"two hints":       {"? One.\n", "", ":5:1: step a has 2 hints; a step has three or none"},
		"no hints":        {"? One.\n? H & more.\n? Three.\n", "", ":5:1: step a has a question or a challenge, so it needs three hints"},
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

// TestGlossary: a concept has one Chinese word. What the glossary refuses stands in no Chinese text, outside of code and
// of what is given in parentheses.
func TestGlossary(t *testing.T) {
	dirs, err := fs.ReadDir(content.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	skip := regexp.MustCompile("`[^`]*`|（[^）]*）|\\([^)]*\\)|`{3}[^`]*`{3}|#+ (step|predict|goal|solution) [a-z0-9-]+:|### [a-z0-9-]+:")
	said := map[string][]string{}
	for _, d := range dirs {
		text, err := fs.ReadFile(content.FS, d.Name()+"/zh.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range strings.Split(string(text), "\n") {
			said[d.Name()] = append(said[d.Name()], skip.ReplaceAllString(l, " "))
		}
	}
	terms, err := Glossary()
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range terms {
		for _, wrong := range term.Avoid {
			find := regexp.MustCompile(`(^|[^a-z0-9_.-])` + regexp.QuoteMeta(wrong) + `s?([^a-z0-9_.-]|$)`)
			if wrong[0] >= 0x80 {
				find = regexp.MustCompile(regexp.QuoteMeta(wrong))
			}
			for _, d := range dirs {
				for i, l := range said[d.Name()] {
					if strings.Contains(l, wrong) && find.MatchString(l) {
						t.Errorf("lessons/content/%s/zh.md:%d:1: %q is %s in Chinese, not %q: %s", d.Name(), i+1, term.Name.En, term.Name.Zh, wrong, l)
					}
				}
			}
		}
	}
	if len(terms) < 50 {
		t.Errorf("the glossary has %d terms", len(terms))
	}
}

// TestTemplate: what `make lesson` starts with is a lesson, and is not listed.
func TestTemplate(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"script.txt", "en.md", "zh.md"} {
		text, err := os.ReadFile("../template/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files["22-template/"+name] = &fstest.MapFile{Data: text}
	}
	all, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || !all[0].Draft {
		t.Errorf("%+v", all)
	}
}

// TestLongNamesMayBreak: names of errors and settings break where their words do, and nowhere else.
func TestLongNamesMayBreak(t *testing.T) {
	j := joiner{markdown: newMarkdown()}
	for in, want := range map[string]string{
		"COORDINATOR_NOT_AVAILABLE": "COORDINATOR_<wbr>NOT_<wbr>AVAILABLE", "`group.initial.rebalance.delay.ms`": "<code>group.<wbr>initial.<wbr>rebalance.<wbr>delay.<wbr>ms</code>",
		"a group_id": "a group_id", "One. Two. Three. four": "One. Two. Three. four",
	} {
		if got := j.inline(in); got != want {
			t.Errorf("%s became %s; %s is right", in, got, want)
		}
		if got, bare := plain(j.inline(in)), strings.Trim(in, "`"); got != bare {
			t.Errorf("%s is read as %s", in, got)
		}
	}
}
