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
	// What fades in is looked at when it is there.
	const look = `Promise.all(document.getAnimations().filter(a => a.effect.getComputedTiming().endTime < 1000).map(a => a.finished.catch(() => 0))).then(() => axe.run(document, {resultTypes: ["violations"], preload: false,
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})).then(r => r.violations.map(v =>
		({id: v.id, help: v.help, nodes: v.nodes.slice(0, 4)
			.map(n => ({html: n.html.slice(0, 240), summary: n.target + ": " + n.failureSummary}))})))`
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
		{"/sandbox/", runs}, {"/glossary/", "true"}, {"/paste/", ready}, {"/recordings/", ready},
		{"/nothing-here/", "true"},
	}
	if os.Getenv("LESSONS") != "all" { // `make test` looks at two, `make test-lessons` at all
		pages = pages[:2]
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
		for _, width := range []int64{320, 720, 1440} {
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

// TestStatesDifferInForcedColours: where the system gives all colours, states are told apart by their borders, icons and
// words, and the current one by its weight.
func TestStatesDifferInForcedColours(t *testing.T) {
	b := open(t, labServer(t)+"/gallery/completing/", 1440, 900)
	b.emulate("forced-colors", "active")
	b.until("forced colours", `matchMedia("(forced-colors: active)").matches`, 5*time.Second)
	looks := eval[[]string](b, `[...document.querySelectorAll(".machine .pill")].map(p => {
		const s = getComputedStyle(p)
		return p.querySelector(".dash-dot") ? "dash-dot" : s.borderTopStyle
	})`)
	if want := "dotted dashed dash-dot solid double"; strings.Join(looks, " ") != want {
		t.Errorf("the states have borders %v, want %s", looks, want)
	}
	if !eval[bool](b, `(() => {
		const width = p => parseFloat(getComputedStyle(p).borderTopWidth)
		const [now, ...others] = [document.querySelector(".machine .pill.current"), ...document.querySelectorAll(".machine .pill:not(.current)")]
		return others.every(p => width(p) < width(now)) && getComputedStyle(now).fontWeight > getComputedStyle(others[0]).fontWeight
	})()`) {
		t.Error("the current state does not stand out")
	}
	if seen := eval[string](b, `(() => {
		const paper = getComputedStyle(document.body).backgroundColor
		for (const line of document.querySelectorAll(".machine .icon *, .dash-dot rect, .machine-edges .last path")) {
			const s = getComputedStyle(line)
			if (s.stroke === paper || s.fill === paper || s.stroke === "none" && s.fill === "none") return line.outerHTML
		}
		return ""
	})()`); seen != "" {
		t.Errorf("drawn in the colour of the paper: %s", seen)
	}
	b.accessible("forced colours")
	b.quiet()
}

// TestPrintIsWhiteAndStill: on paper there are no buttons of time, in any theme.
func TestPrintIsWhiteAndStill(t *testing.T) {
	b := open(t, labServer(t)+"/gallery/unclean-restart/?theme=dark", 1440, 900)
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	b.until("print", `matchMedia("print").matches`, 5*time.Second)
	if got := eval[string](b, `getComputedStyle(document.body).backgroundColor`); got != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", got)
	}
	if shown := eval[[]string](b, `[...document.querySelectorAll(".transport button, .top a, .transcript tbody tr:not(.current)")].filter(e => e.offsetParent).map(e => e.outerHTML.slice(0, 80))`); len(shown) > 0 {
		t.Errorf("printed, though it is of no use on paper: %v", shown)
	}
	if !eval[bool](b, `document.querySelector(".machine .pill.current").offsetParent !== null && document.querySelectorAll(".transcript tbody tr.current").length <= 1`) {
		t.Error("the moment is not printed")
	}
}

// TestNothingMovesWithoutMotion: with "Motion: none", and where the system asks for less, nothing is animated.
func TestNothingMovesWithoutMotion(t *testing.T) {
	base := labServer(t)
	for _, how := range []string{"chosen", "asked for"} {
		b := open(t, base+"/gallery/unclean-restart/", 1440, 900)
		if how == "chosen" {
			b.click("button[data-do=motion]")
			b.click("button[data-do=motion]")
			b.until("no motion", `document.documentElement.dataset.motion === "none"`, 5*time.Second)
		} else {
			b.emulate("prefers-reduced-motion", "reduce")
		}
		if moving := eval[[]string](b, `[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e)
			return s.animationName !== "none" || s.transitionDuration.split(",").some(d => parseFloat(d) > 0) }).map(e => e.outerHTML.slice(0, 80))`); len(moving) > 0 {
			t.Errorf("no motion was %s, and these move: %v", how, moving)
		}
	}
}

// TestTouchTargetsAreLargeEnough: on a phone every control is 44 pixels high, or as high as 24 with room around it; what
// stands in a sentence is as high as its line.
func TestTouchTargetsAreLargeEnough(t *testing.T) {
	base := labServer(t)
	b := open(t, base+"/gallery/unclean-restart/", 390, 844)
	if small := eval[[]string](b, `[...document.querySelectorAll("header button, header nav a, .transport button, .lesson button, .pill[data-do]")]
		.filter(e => e.offsetParent && e.getBoundingClientRect().height < 33.5).map(e => e.outerHTML.slice(0, 90) + " " + e.getBoundingClientRect().height)`); len(small) > 0 {
		t.Errorf("too small to touch: %v", small)
	}
}
