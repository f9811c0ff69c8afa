package pages

import (
	"strings"
	"testing"

	"grouplab/static/view"
)

func TestFeedback(t *testing.T) {
	for text, want := range map[string]string{
		"":                "",
		"lab@example.org": "mailto:lab@example.org?subject=GroupLab&body=",
		"https://example.org/lab/issues/new?labels=lesson&body=": "https://example.org/lab/issues/new?labels=lesson&body=",
	} {
		if got, err := Feedback(text); got != want || err != nil {
			t.Errorf("%q became %q (%v), not %q", text, got, err, want)
		}
	}
	for _, text := range []string{"nobody", "javascript:alert(1)//=", "http://example.org/?body=", "https://example.org/new", "https://u:p@example.org/?b=",
		"https://example.org/?body=#here", "Lab <lab@example.org>", "https:///?body=", "a@b@c", "lab@example.org?cc=x@example.org"} {
		if got, err := Feedback(text); err == nil {
			t.Errorf("%q became %q", text, got)
		} else if !strings.Contains(err.Error(), "lab@example.org") {
			t.Errorf("%q: the error does not say what is right: %v", text, err)
		}
	}
}

func TestEveryPageTakesTheFeedback(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	b.TakesFeedback("mailto:lab@example.org?subject=GroupLab&body=")
	for _, kind := range []view.PageKind{view.PageContents, view.PageSandbox, view.PageLive} {
		d := view.PageData{Kind: kind, Lang: view.English}
		b.Prepare(&d)
		var page strings.Builder
		if err := view.Page(d).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(page.String(), "mailto:?subject") {
			t.Errorf("%s: a letter to nobody", kind)
		}
		if kind == view.PageSandbox && !strings.Contains(page.String(), `href="mailto:lab@example.org?subject=GroupLab&amp;body="`) {
			t.Errorf("%s has no link for feedback", kind)
		}
	}
}
