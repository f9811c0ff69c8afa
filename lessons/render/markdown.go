package render

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"

	"grouplab/lessons"
)

// newMarkdown reads CommonMark. Raw HTML is off, which is goldmark's default: it comes out as a comment. Links of the
// kind javascript: are dropped by the same default.
func newMarkdown() goldmark.Markdown { return goldmark.New() }

// joiner makes a Lesson out of a script and its two texts. The first error stays.
type joiner struct {
	en, zh   *text
	markdown goldmark.Markdown
	err      error
}

func (j *joiner) join(l *lessons.Lesson) *Lesson {
	out := &Lesson{
		ID:      l.ID,
		Draft:   l.Draft,
		Title:   Text{plain(j.inline(j.en.title)), plain(j.inline(j.zh.title))},
		Summary: Text{plain(j.inline(j.en.summary)), plain(j.inline(j.zh.summary))},
	}
	for _, s := range l.Steps {
		key := "step " + s.Name
		step := Step{Name: s.Name, Title: j.title(key, true), HTML: j.body(key), Par: s.Par}
		en, zh := j.en.find(key).hints, j.zh.find(key).hints
		for i := range min(len(en), len(zh)) {
			step.Hints = append(step.Hints, Text{j.inline(en[i]), j.inline(zh[i])})
		}
		for _, m := range s.Moves {
			step.Moves = append(step.Moves, Move{j.title("move "+s.Name+" "+m.Name, true), m.Command})
		}
		if s.Predict != nil {
			step.Question = j.question(s.Predict)
		}
		out.Steps = append(out.Steps, step)
	}
	for _, g := range l.Goal {
		out.Goals = append(out.Goals, named(g.Label, j.title("goal "+g.Label, false)))
	}
	for _, s := range l.Solutions {
		key := "solution " + s.Name
		sol := Solution{Name: s.Name, Title: j.title(key, true), HTML: j.body(key)}
		for _, c := range s.Commands {
			sol.Commands = append(sol.Commands, c.Raw)
		}
		out.Solutions = append(out.Solutions, sol)
	}
	return out
}

func (j *joiner) question(p *lessons.Prediction) *Question {
	q := &Question{Name: p.Name, AskHTML: j.title("predict "+p.Name, false)}
	for _, o := range p.Options {
		key := "option " + p.Name + " " + o.ID
		q.Options = append(q.Options, Option{ID: o.ID, HTML: j.title(key, false), WhyHTML: j.paragraph(key)})
	}
	return q
}

// title renders a section's heading: as plain text, or as HTML without a paragraph around it.
func (j *joiner) title(key string, asPlain bool) Text {
	t := Text{j.inline(j.en.find(key).title), j.inline(j.zh.find(key).title)}
	if asPlain {
		t = Text{plain(t.En), plain(t.Zh)}
	}
	return t
}

func (j *joiner) body(key string) Text {
	return Text{j.html(j.en.find(key).body), j.html(j.zh.find(key).body)}
}

// paragraph renders a section's one paragraph without its <p>.
func (j *joiner) paragraph(key string) Text {
	return Text{j.inline(j.en.find(key).body), j.inline(j.zh.find(key).body)}
}

func (j *joiner) html(markdown string) string {
	var b bytes.Buffer
	if err := j.markdown.Convert([]byte(markdown), &b); err != nil && j.err == nil {
		j.err = err
	}
	return breakable.ReplaceAllStringFunc(strings.TrimSpace(b.String()), func(name string) string {
		return breaks.Replace(name)
	})
}

// Long names of errors and settings break where their words do.
var (
	breakable = regexp.MustCompile(`\b(?:[A-Z]+_){2,}[A-Z]+\b|\b(?:[a-z]+\.){3,}[a-z]+\b`)
	breaks    = strings.NewReplacer("_", "_<wbr>", ".", ".<wbr>")
)

// inline renders one paragraph without its <p>.
func (j *joiner) inline(markdown string) string {
	h := j.html(markdown)
	return strings.TrimSuffix(strings.TrimPrefix(h, "<p>"), "</p>")
}

func named(name string, h Text) Named {
	return Named{Name: name, HTML: h, Plain: Text{plain(h.En), plain(h.Zh)}}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// plain drops the tags of rendered HTML and resolves its entities.
func plain(h string) string {
	return strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(h, "")))
}
