package tab

import (
	"strings"
	"testing"

	"grouplab/static/view"
)

// pasteTab is the page of a pasted log.
func pasteTab(t *testing.T) (*Tab, *pasteMode) {
	t.Helper()
	p := NewPaste(Choices{})
	return p, p.mode.(*pasteMode)
}

// settle lets frames pass until nothing more is to be done, and returns the HTML of all parts.
func settle(t *testing.T, p *Tab) map[string]string {
	t.Helper()
	for i := range 100_000 {
		if u := p.Frame(int64(i) * 20); !u.Busy {
			return p.html
		}
	}
	t.Fatal("the page never comes to rest")
	return nil
}

func TestThePastedExampleNamesWhomEverybodyWaitsFor(t *testing.T) {
	p, m := pasteTab(t)
	p.Do("example", "")
	html := settle(t, p)
	headline := view.Headline(m.play.model, view.Pasting(p.options))
	if !strings.Contains(headline, "shop-b") || !strings.Contains(headline, "session") {
		t.Errorf("the headline is %q", headline)
	}
	for id, part := range html {
		if strings.Contains(part, "?paste.") || strings.Contains(part, "?watch.") {
			t.Errorf("part %s has a word that is not in the table: %s", id, part)
		}
	}
}

// TestAPastedLogSaysWhatItLeavesOut: the days of its facts stand on the page, a timeout that no line tells is not 0, and where
// there were more facts than are kept the page says how many it shows and up to when.
func TestAPastedLogSaysWhatItLeavesOut(t *testing.T) {
	p, m := pasteTab(t)
	p.Do("example", "")
	html := settle(t, p)
	if !strings.Contains(html["truth"], "from 2026-11-30 04:05:01") || strings.Contains(html["truth"], "left out") {
		t.Errorf("the page says of the log: %s", html["truth"])
	}
	if story := m.story(); !strings.Contains(story, "session not known") || strings.Contains(story, "session 0 ms") {
		t.Errorf("a session that no line tells is told as one: %s", story)
	}
	m.result.Cut = true
	p.Do("start", "")
	if html = settle(t, p); !strings.Contains(html["truth"], "more than 59 facts: what comes after 20") {
		t.Errorf("facts were left out, and the page says: %s", html["truth"])
	}
}
