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
