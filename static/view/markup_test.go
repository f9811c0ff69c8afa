package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
)

func render(t testing.TB, c templ.Component) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stageHTML is every part, each in an element with the id that the shell gives it.
func stageHTML(t testing.TB, m *Model, o Options) string {
	t.Helper()
	var b strings.Builder
	for _, p := range Parts(m, o) {
		fmt.Fprintf(&b, "<section id=\"part-%s\">%s</section>\n", p.ID, render(t, p.Component))
	}
	return b.String()
}

// partsHTML is some parts alone.
func partsHTML(t testing.TB, m *Model, o Options, ids ...string) string {
	t.Helper()
	var b strings.Builder
	for _, p := range Parts(m, o) {
		if slices.Contains(ids, p.ID) {
			fmt.Fprintf(&b, "<section id=\"part-%s\">%s</section>\n", p.ID, render(t, p.Component))
		}
	}
	return b.String()
}

type tag struct {
	name    string
	end     bool
	attrs   map[string]string
	selfEnd bool
}

var (
	tagPattern  = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:\s+[^<>]*?)?)(/?)>`)
	attrPattern = regexp.MustCompile(`([a-zA-Z_:][-a-zA-Z0-9_:.]*)(?:="([^"]*)")?`)
	dataBlock   = regexp.MustCompile(`(?s)(<script type="(?:application/json|text/plain)"[^>]*>).*?</script>`)
)

// tags reads markup as templ writes it: < and > stand for nothing but tags, values are in double quotes.
func tags(html string) []tag {
	html = dataBlock.ReplaceAllString(html, "$1</script>")
	var list []tag
	for _, m := range tagPattern.FindAllStringSubmatch(html, -1) {
		tg := tag{name: strings.ToLower(m[2]), end: m[1] == "/", attrs: map[string]string{}, selfEnd: m[4] == "/"}
		for _, a := range attrPattern.FindAllStringSubmatch(m[3], -1) {
			tg.attrs[strings.ToLower(a[1])] = a[2]
		}
		list = append(list, tg)
	}
	return list
}

var void = map[string]bool{"meta": true, "link": true, "input": true, "br": true, "img": true, "hr": true}

// checkMarkup finds what a strict policy or a reader would stumble over.
func checkMarkup(t *testing.T, html string) {
	t.Helper()
	ids := map[string]bool{}
	var open []string
	for _, tg := range tags(html) {
		if tg.end {
			if len(open) == 0 || open[len(open)-1] != tg.name {
				t.Fatalf("</%s> closes %v", tg.name, open)
			}
			open = open[:len(open)-1]
			continue
		}
		if !void[tg.name] {
			open = append(open, tg.name)
		}
		checkAttrs(t, tg, ids)
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	if strings.Contains(html, "{{") || strings.Contains(html, "%!") {
		t.Errorf("something was not filled in")
	}
}

func checkAttrs(t *testing.T, tg tag, ids map[string]bool) {
	t.Helper()
	if _, styled := tg.attrs["style"]; styled || tg.name == "style" {
		t.Errorf("<%s> carries a style: the policy forbids it", tg.name)
	}
	for name, value := range tg.attrs {
		if strings.HasPrefix(name, "on") {
			t.Errorf("<%s %s=%q>: handlers in markup are forbidden", tg.name, name, value)
		}
		if (name == "href" || name == "src") && (strings.Contains(value, "//") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "javascript:")) {
			t.Errorf("<%s %s=%q> is not relative", tg.name, name, value)
		}
		if strings.HasPrefix(value, "?") && strings.Contains(value, ".") && !strings.Contains(value, " ") {
			t.Errorf("<%s %s=%q> shows a key that has no words", tg.name, name, value)
		}
	}
	if tg.name == "script" && tg.attrs["src"] == "" && tg.attrs["type"] != "application/json" && tg.attrs["type"] != "text/plain" {
		t.Error("a script in the page itself: the policy forbids it")
	}
	if id, has := tg.attrs["id"]; has {
		if ids[id] {
			t.Errorf("two elements have the id %q", id)
		}
		ids[id] = true
	}
}

// actions are what a click may ask for; the tab knows the same.
var actions = regexp.MustCompile(`^(play|step|back|start|end|grain:(event|request|state|timer)|speed:[0-9.]+|seek|select|predict|predict-check|next|prev|` +
	`take-over|back-to-lesson|hint|kill|stop|pause|resume|restart|kill-broker|restart-broker|add-partitions|group|search|list|find-text|demo|freeze|lang|theme|motion|help|link|keys)$`)

func TestEveryPictureIsCleanMarkup(t *testing.T) {
	for _, n := range pictures(t) {
		for _, lang := range []Lang{English, Chinese} {
			t.Run(n.Name+"/"+string(lang), func(t *testing.T) {
				o := n.Options
				o.Lang = lang
				html := stageHTML(t, n.Model, o)
				checkMarkup(t, html)
				for _, tg := range tags(html) {
					if do, has := tg.attrs["data-do"]; has && !actions.MatchString(do) {
						t.Errorf("nobody knows the action %q", do)
					}
				}
				if m := regexp.MustCompile(`>\?[a-z]+\.[a-z.]+<`).FindString(html); m != "" {
					t.Errorf("a key without words: %s", m)
				}
			})
		}
	}
}

// TestB104_HostileNamesStayText: what a client calls itself is text on every part of the stage, whatever is selected.
func TestB104_HostileNamesStayText(t *testing.T) {
	n := galleryNamed("hostile-names")
	for _, selected := range []string{"", "member:" + n.Model.Groups[hostile].Members[0].ID, "event:40", "record:36:1", "broker:2", hostile} {
		o := n.Options
		o.Selected = selected
		for _, mode := range []Mode{ModeGallery, ModeLive} {
			o.Mode = mode
			html := stageHTML(t, n.Model, o)
			checkMarkup(t, html)
			for _, bad := range []string{"<img", "<script", "<b>topic", "onerror=alert(1)>"} {
				if strings.Contains(html, bad) {
					t.Errorf("%s, %q selected: %q got through", mode, selected, bad)
				}
			}
			// In an argument the name stands as it is; what is read must not turn the direction of writing.
			if strings.Contains(tagPattern.ReplaceAllString(html, ""), "\u202e") {
				t.Errorf("%s, %q selected: a right-to-left override got through", mode, selected)
			}
		}
	}
}

// TestB104_DataInPagesEndsNoElement: in what a page carries as JSON every "<" is escaped, and a script's text ends no element.
func TestB104_DataInPagesEndsNoElement(t *testing.T) {
	const evil = "</ScRiPt><img src=x onerror=alert(1)><!--\u2028"
	l := lessonForTests()
	l.Title, l.Script = Text{evil, evil}, "setup\n  seed 1 # "+evil+"\n"
	l.Steps[0].Title = Text{evil, evil}
	for kind, d := range map[string]PageData{
		"lesson":   {Kind: PageLesson, Base: "../../", Lesson: l, Built: true},
		"contents": {Kind: PageContents, Base: "./", Contents: []LessonLink{{ID: "a", Number: 1, Title: Text{evil, evil}}}, Bootstrap: evil},
		"live":     {Kind: PageLive, Base: "../", Token: evil, Bootstrap: evil, Built: true},
		"error":    {Kind: PageError, Status: 404, Error: Text{evil, evil}},
	} {
		html := render(t, Page(d))
		checkMarkup(t, html)
		// A browser ends a script at the first </script, in any case of letters.
		if rest := regexp.MustCompile(`(?is)<script.*?</script`).ReplaceAllString(html, ""); strings.Contains(rest, "<img src=x") {
			t.Errorf("%s: it ends an element", kind)
		}
		for _, m := range regexp.MustCompile(`(?s)<script[^>]*type="application/json"[^>]*>(.*?)</script>`).FindAllStringSubmatch(html, -1) {
			if strings.Contains(m[1], "<") {
				t.Errorf("%s: a \"<\" stands as it is in JSON: %.200s", kind, m[1])
			}
			if kind == "lesson" && !json.Valid([]byte(m[1])) {
				t.Errorf("%s: what the page carries is no JSON: %.200s", kind, m[1])
			}
		}
	}
}

func TestPagesAreCleanMarkup(t *testing.T) {
	lesson := lessonForTests()
	pages := map[string]PageData{
		"contents":        {Kind: PageContents, Base: "./", Contents: []LessonLink{{ID: "a", Number: 1, Title: Text{"A", "甲"}}}, Bootstrap: "127.0.0.1:9092"},
		"contents static": {Kind: PageContents, Base: "./", Static: true},
		"lesson":          {Kind: PageLesson, Base: "../../", Lesson: lesson, Built: true},
		"lesson unbuilt":  {Kind: PageLesson, Base: "../../", Lesson: lesson},
		"live":            {Kind: PageLive, Base: "../", Token: "0123", Built: true},
		"gallery":         {Kind: PageGallery, Base: "../../", Gallery: "live"},
		"gallery unknown": {Kind: PageGallery, Base: "../../", Gallery: "nothing"},
		"error":           {Kind: PageError, Status: 404, Error: Text{"No page is at <b>.", "没有"}},
	}
	for name, d := range pages {
		for _, lang := range []Lang{English, Chinese, ""} {
			d.Lang = lang
			html := render(t, Page(d))
			t.Run(name+"/"+string(lang), func(t *testing.T) {
				checkMarkup(t, html)
				if strings.Contains(html, "alert(1)") && !strings.Contains(html, `< /script>`) {
					t.Error("the script of a lesson ends its element")
				}
			})
		}
	}
}

func TestEveryPartHasItsPlaceInTheShell(t *testing.T) {
	for kind, d := range map[string]PageData{
		"lesson": {Kind: PageLesson, Lesson: lessonForTests()}, "live": {Kind: PageLive}, "gallery": {Kind: PageGallery},
	} {
		html := render(t, Page(d))
		m, o := d.stage()
		for _, p := range Parts(m, o) {
			if kind == "gallery" && (p.ID == "groups" || p.ID == "brokers") {
				continue
			}
			if !strings.Contains(html, `id="part-`+p.ID+`"`) {
				t.Errorf("%s: the shell has no place for part %q", kind, p.ID)
			}
		}
	}
}

func lessonForTests() *LessonPage {
	return &LessonPage{ID: "unclean-restart", Number: 1, Of: 2, Title: Text{"The unclean restart", "不干净的重启"}, Next: "other",
		Steps: []StepPage{{Name: "ghost", Title: Text{"Why?", "为什么？"}, Body: Text{"<p>Because.</p>", "<p>因为。</p>"},
			Question: &QuestionPage{Ask: Text{"What?", "什么？"}, Options: []OptionPage{{ID: "a", Text: Text{"A", "甲"}, Why: Text{"W", "因"}}, {ID: "b", Text: Text{"B", "乙"}}}},
			Hints:    []Text{{"Look.", "看。"}}}},
		Goals:  []NamedText{{"m", Text{"3 members", "3 个成员"}}},
		Script: "setup\n  seed 1 # </script><script>alert(1)</script>\n"}
}
