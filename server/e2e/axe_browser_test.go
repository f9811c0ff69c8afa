package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"grouplab/server/app"
)

// axe is the program that looks for what keeps people out of a page; .ci/setup has brought it.
func axe(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(cache, "grouplab", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("axe is not there: %v; run make setup", err)
	}
	return string(program)
}

// violation is one rule of axe's that the page breaks, with the elements that do.
type violation struct {
	ID, Help string
	Nodes    []struct{ HTML, Summary string }
}

// accessible demands that the page, as it is now, breaks none of axe's rules for WCAG 2.2 A and AA, nor its best practices.
// axe comes through the devtools protocol, so the page's strict policy stays as it is.
func (b *tab) accessible(where string) {
	b.t.Helper()
	if !eval[bool](b, `typeof axe === "object"`) {
		b.run("bringing axe", chromedp.Evaluate[chromedp.Void](axe(b.t)+"; undefined"))
	}
	const look = `axe.run(document, {resultTypes: ["violations"], preload: false,
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.violations.map(v =>
		({id: v.id, help: v.help, nodes: v.nodes.slice(0, 4).map(n => ({html: n.html.slice(0, 240), summary: n.target + ": " + n.failureSummary}))})))`
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]violation](look, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: asking axe: %v", where, err)
	}
	for _, v := range found {
		var nodes []string
		for _, n := range v.Nodes {
			nodes = append(nodes, "  "+n.HTML+"\n    "+strings.ReplaceAll(n.Summary, "\n", "\n    "))
		}
		b.t.Errorf("%s: %s (%s)\n%s", where, v.Help, v.ID, strings.Join(nodes, "\n"))
	}
}

// emulate sets what the device asks for: "prefers-color-scheme", "dark" and the like.
func (b *tab) emulate(features ...string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{}
	for i := 0; i+1 < len(features); i += 2 {
		p.Features = append(p.Features, &emulation.MediaFeature{Name: features[i], Value: features[i+1]})
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.t.Fatalf("emulating %v: %v", features, err)
	}
}

// TestPagesAreAccessible puts axe onto every kind of page, wide and narrow, light and dark, in both languages.
func TestPagesAreAccessible(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 3, Set: quick,
		Topics: []app.Topic{{Name: "orders", Partitions: 6}}, Demo: 2})
	base := "http://" + s.HTTPAddr()
	runs := `document.querySelector("#part-transport [data-do=play], #part-transport [data-do=freeze]")`
	pages := []struct{ path, ready string }{
		{"/", "true"}, {"/lab/unclean-restart/", runs}, {"/live/", runs}, {"/gallery/", "true"}, {"/gallery/compacted-all/", "true"},
		{"/nothing-here/", "true"},
	}
	for i, p := range pages {
		t.Run(p.path, func(t *testing.T) {
			b := open(t, base+p.path, 1440, 900)
			b.until("the page's program", p.ready, 30*time.Second)
			b.accessible("wide, light, " + p.path)
			b.emulate("prefers-color-scheme", "dark")
			b.accessible("wide, dark, " + p.path)
			b.run("narrowing", chromedp.EmulateViewport(390, 844))
			b.click("button[data-do=lang]")
			b.until("Chinese", `document.documentElement?.lang === "zh" && document.readyState === "complete"`, 10*time.Second)
			b.until("the page's program in Chinese", p.ready, 30*time.Second)
			b.accessible("narrow, dark, Chinese, " + p.path)
			if i > 0 { // a browser tells each page that is not there
				return
			}
			b.quiet()
		})
	}
}

// TestNothingScrollsSideways: a window of 320 pixels, which is also 1280 at a zoom of 400 %, scrolls in one direction alone,
// and so does 1440 at 200 %.
func TestNothingScrollsSideways(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 1})
	base := "http://" + s.HTTPAddr()
	b := open(t, base+"/", 320, 700)
	for _, path := range []string{"/", "/lab/unclean-restart/", "/live/", "/gallery/compacted-all/", "/gallery/many-members/", "/nothing-here/"} {
		for _, width := range []int64{320, 720} {
			b.run("opening "+path, chromedp.EmulateViewport(width, 700), chromedp.Navigate(base+path))
			b.until("the page", `document.readyState === "complete"`, 10*time.Second)
			if over := eval[[]string](b, `(() => {
				const wide = document.documentElement.clientWidth
				if (document.documentElement.scrollWidth <= wide) return []
				return [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > wide + 1)
					.slice(0, 6).map(e => e.tagName + "." + e.getAttribute("class") + " " + Math.round(e.getBoundingClientRect().right))
			})()`); len(over) > 0 {
				t.Errorf("%s scrolls sideways at %d pixels: %v", path, width, over)
			}
		}
	}
}
