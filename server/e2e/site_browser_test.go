package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"grouplab/server/app"
)

// plainHost serves a static site as any file host does, under a path of its own. It can go away, and hold files back.
type plainHost struct {
	*httptest.Server
	dir  string
	mu   sync.Mutex
	away bool
	held map[string]chan struct{} // by the end of the path
}

const sitePath = "/some/where/"

// siteDir is the site's folder, once a test has asked for it; it goes when the tests are over.
var siteDir string

var siteOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "grouplab-site")
	if err == nil {
		siteDir = dir
		err = app.WriteSite(dir, "")
	}
	return dir, err
})

func newPlainHost(t *testing.T, dir string) *plainHost {
	t.Helper()
	h := &plainHost{dir: dir, held: map[string]chan struct{}{}}
	files := http.StripPrefix(sitePath, http.FileServer(http.Dir(dir)))
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		away, held := h.away, h.held[filepath.Base(r.URL.Path)]
		h.mu.Unlock()
		if away {
			panic(http.ErrAbortHandler)
		}
		if held != nil {
			<-held
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *plainHost) root() string { return h.URL + sitePath }

func (h *plainHost) goAway(away bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away = away
	if away {
		h.CloseClientConnections()
	}
}

// before makes a script run in every document before anything else.
func (b *tab) before(script string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		b.t.Fatal(err)
	}
}

// atHome demands that every request from now on goes to one host.
func (b *tab) atHome(root string) {
	b.t.Helper()
	err := chromedp.Listen(b.ctx, func(event any) {
		e, ok := event.(*network.EventRequestWillBeSent)
		if !ok || strings.HasPrefix(e.Request.URL, root) || strings.HasPrefix(e.Request.URL, "data:") || strings.HasPrefix(e.Request.URL, "blob:") {
			return
		}
		b.mu.Lock()
		b.complaints = append(b.complaints, "a request elsewhere: "+e.Request.URL)
		b.mu.Unlock()
	})
	if err == nil {
		_, err = chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestB102_TheSiteWorksFromAPlainHost: under a path of its own, without an encoding or a type set, under its strict policy,
// with no request elsewhere; after the first visit without a network, pages that were never seen, too; and a new version
// takes the place of the old one as a whole.
func TestB102_TheSiteWorksFromAPlainHost(t *testing.T) {
	dir, err := siteOnce()
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	h := newPlainHost(t, copied)
	b := open(t, "about:blank", 1280, 800)
	b.atHome(h.root())
	b.run("opening the site", chromedp.Navigate(h.root()))
	kept := func(version string) string {
		return `(window.kept ??= {}, caches.keys().then(k => window.kept.keys = k), caches.match("` + h.root() + `dist/lab.wasm.gz").then(r => window.kept.wasm = !!r), window.kept.keys?.length === 1 && window.kept.wasm && window.kept.keys[0] === ` + version + ` && navigator.serviceWorker.controller)`
	}
	version := siteVersion(t, copied)
	b.until("the site to be kept", kept(fmt.Sprintf("%q", version)), time.Minute)
	h.goAway(true)
	b.run("a lesson without a network", chromedp.Navigate(h.root()+"lab/unclean-restart/"))
	b.until("the program without a network", ready, time.Minute)
	b.press("n")
	b.until("the lesson to go on", `location.hash.startsWith("#m1.unclean-restart.n")`, 20*time.Second)
	b.run("the contents without a network", chromedp.Navigate(h.root()))
	// The devtools send a key's character by itself, whatever became of the key; so the key comes from a script here.
	if !eval[bool](b, `!document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }))`) {
		t.Error("the key that goes to the search is written into it, too")
	}
	b.until("the search to have the focus", `document.activeElement.id === "find"`, 5*time.Second)
	b.press("t", "o", "m", "b", "s", "t", "o", "n", "e")
	b.until("what is found", `document.querySelectorAll("#found a").length >= 3 && document.querySelector("#found a").href.includes("glossary/#tombstone")`, 20*time.Second)
	b.quietBut("ERR_EMPTY_RESPONSE", "ERR_CONNECTION", "Failed to load resource")

	// A new version: a page and the worker have changed.
	h.goAway(false)
	glossary := filepath.Join(copied, "glossary", "index.html")
	edit(t, glossary, "<h1>", "<h1>Second edition ")
	edit(t, filepath.Join(copied, "sw.js"), version, "grouplab-2222222222ab")
	b.run("opening it again", chromedp.Navigate(h.root()))
	b.until("the new version to be kept alone", kept(`"grouplab-2222222222ab"`), time.Minute)
	h.goAway(true)
	b.run("a page of the new version without a network", chromedp.Navigate(h.root()+"glossary/"))
	b.until("the second edition", `document.querySelector("h1")?.innerText.startsWith("Second edition")`, 20*time.Second)
}

func siteVersion(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "sw.js"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `version = "`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

func edit(t *testing.T, file, old, new string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s holds no %q: %v", file, old, err)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, new)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// quietBut demands that the console never complained, but of what holds one of these.
func (b *tab) quietBut(expected ...string) {
	b.t.Helper()
next:
	for _, line := range b.console() {
		for _, e := range expected {
			if strings.Contains(line, e) {
				continue next
			}
		}
		b.t.Errorf("the browser's console: %s", line)
	}
}

// heldHost serves the static site, and the lab's program not before release is closed.
func heldHost(t *testing.T) (h *plainHost, release chan struct{}) {
	t.Helper()
	dir, err := siteOnce()
	if err != nil {
		t.Fatal(err)
	}
	h, release = newPlainHost(t, dir), make(chan struct{})
	h.held["lab.wasm"], h.held["lab.wasm.gz"] = release, release
	return h, release
}

const heading = `document.querySelector("#part-lesson h1").innerText`

// TestRecordedStepsPlayBeforeTheProgram: the first picture stands in the page, the first steps play, answers are graded,
// and the program takes over where the viewer is.
func TestRecordedStepsPlayBeforeTheProgram(t *testing.T) {
	h, release := heldHost(t)
	b := open(t, h.root()+"lab/first-member/", 1280, 800)
	first := eval[string](b, heading)
	if !strings.Contains(b.text("#part-headline"), "No") || first == "" {
		t.Errorf("the first picture is %q with %q", first, b.text("#part-headline"))
	}
	for range 4 { // to the first question, and its answer
		before := eval[string](b, `document.getElementById("part-lesson").innerHTML`)
		if eval[bool](b, "!!"+asksNow) {
			b.click("#part-lesson input[name=predict]")
			b.click("#part-lesson [data-do=predict-check][data-arg='']")
		} else {
			b.press("n")
		}
		b.until("the next recorded step", fmt.Sprintf(`document.getElementById("part-lesson").innerHTML !== %q`, before), 20*time.Second)
	}
	at, fact := eval[string](b, heading), b.text("#part-transport .fact")
	if at == first {
		t.Errorf("after four steps it still says %q", at)
	}
	b.press("p")
	b.press("n")
	b.until("the same step", fmt.Sprintf(`document.querySelector("#part-transport .fact").innerText === %q`, fact), 20*time.Second)
	close(release)
	b.until("the program", ready, time.Minute)
	b.until("its hand on the same moment", fmt.Sprintf(`%s === %q && document.querySelector("#part-transport .fact").innerText === %q`, heading, at, fact), 20*time.Second)
	if said := b.text("body"); strings.Contains(said, "made by another version") {
		t.Error("the recorded steps are not those of the program")
	}
	b.press("n")
	b.until("the lesson to go on", `location.hash.startsWith("#m1.first-member.n")`, 20*time.Second)
	b.quiet()
}

// TestWithoutWebAssembly: the page says so, and what is recorded plays, in both languages.
func TestWithoutWebAssembly(t *testing.T) {
	b := open(t, "about:blank", 1280, 800)
	b.before(`delete window.WebAssembly`)
	b.run("opening the lesson", chromedp.Navigate(labServer(t)+"/lab/unclean-restart/"))
	b.until("a word about it", `/no WebAssembly.*recorded/.test(document.getElementById("boot")?.innerText)`, 20*time.Second)
	first := eval[string](b, heading)
	b.press("n")
	b.until("the next step", fmt.Sprintf("%s !== %q", heading, first), 20*time.Second)
	b.click("[data-do=lang]")
	b.until("the step in Chinese", `/[\u4e00-\u9fff]/.test(`+heading+`)`, 20*time.Second)
	b.quiet()
}
