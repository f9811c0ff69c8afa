package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// catching keeps what the page hands to the viewer as a file, instead of saving it.
const catching = `window.saved = []; document.addEventListener("click", (e) => {
	if (e.target.download) { window.saved.push([e.target.download, e.target.href]); e.preventDefault() }
}, true)`

const ready = `document.documentElement?.dataset.tab === "ready"`

// TestSharingAMoment: the link leads back to the same run, picture and selection; the files are what they say; the code
// shows the stage in somebody else's page, and no other form of the page can be shown there.
func TestSharingAMoment(t *testing.T) {
	base := labServer(t)
	b := open(t, "about:blank", 1280, 860)
	b.before(catching)
	b.run("opening the lesson", chromedp.Navigate(base+"/lab/unclean-restart/"))
	b.until("the program", ready, time.Minute)
	b.press("n")
	b.until("the next step", `location.hash.includes(".n")`, 20*time.Second)
	b.press("Space")
	b.click("[data-do=select][data-arg^='member:']")
	b.until("the selection", `document.querySelector("#part-selection .card-code")`, 10*time.Second) // the lines of Go are fetched, and come last
	b.press("s")
	b.until("the dialog", `document.getElementById("share").open && document.getElementById("share-link").value.includes("~sel=member")`, 10*time.Second)
	link, code := eval[string](b, `document.getElementById("share-link").value`), eval[string](b, `document.getElementById("share-code").value`)

	for i, button := range []string{"save-run", "save-svg", "save-png", "save-story"} {
		b.click("#share [data-do=" + button + "]")
		b.until("a file of "+button, fmt.Sprintf("window.saved.length === %d", i+1), 20*time.Second)
	}
	for _, f := range eval[[][]string](b, "window.saved") {
		checkFile(t, f[0], f[1], link)
	}
	b.press("Escape")
	shown := func() string {
		return b.text("#part-headline") + b.text("#part-transport .fact") + b.text("#part-selection")
	}
	before := shown()
	b.run("leaving", chromedp.Navigate(base+"/"))
	b.run("opening the link", chromedp.Navigate(link))
	b.until("the program", ready+` && document.querySelector("#part-selection .card-code")`, time.Minute)
	if after := shown(); after != before {
		t.Errorf("the link shows\n%s\ninstead of\n%s", after, before)
	}
	b.quiet()

	frames := func(code string) *tab {
		foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><title>elsewhere</title>"+strings.Replace(code, ` loading="lazy"`, "", 1))
		}))
		t.Cleanup(foreign.Close)
		f := open(t, strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1), 1000, 700)
		f.until("the frame to have loaded", `document.readyState === "complete"`, 20*time.Second)
		return f
	}
	frames(code).quiet()
	for _, form := range []string{"/lab/unclean-restart/", "/live?embed"} {
		f := frames(`<iframe src="` + base + form + `"></iframe>`)
		f.until("the browser to refuse "+form, `true`, time.Second)
		if said := strings.Join(f.console(), "\n"); !strings.Contains(said, "frame-ancestors") && !strings.Contains(said, "X-Frame-Options") {
			t.Errorf("%s may be framed: %s", form, said)
		}
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(code, `<iframe src="`), `"`)
	e := open(t, address, 900, 640)
	e.until("the stage alone", ready+` && getComputedStyle(document.querySelector(".side")).display === "none" && getComputedStyle(document.querySelector(".embed-bar")).display !== "none"`, time.Minute)
	if eval[bool](e, "!!"+playing) || e.text("#part-headline") == "" {
		t.Error("an embedded stage does not stand still")
	}
	e.click("[data-embed-open]")
	if href := eval[string](e, `document.querySelector("[data-embed-open]").href`); href != strings.Split(address, "?")[0]+"#"+strings.Split(address, "#")[1] {
		t.Errorf("it opens %s", href)
	}
	e.quiet()
}

// checkFile demands that a file is what its name says.
func checkFile(t *testing.T, name, address, link string) {
	t.Helper()
	kind, data, _ := strings.Cut(strings.TrimPrefix(address, "data:"), ",")
	text, err := url.PathUnescape(data)
	if err != nil {
		t.Fatal(err)
	}
	_, fragment, _ := strings.Cut(link, "#")
	moment, _, _ := strings.Cut(fragment, "~")
	switch {
	case strings.HasSuffix(name, ".png"):
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil || kind != "image/png;base64" {
			t.Fatalf("%s is %s: %v", name, kind, err)
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if size := picture.Bounds(); size.Dx() != 2400 || size.Dy() < 800 || colours(picture) < 20 {
			t.Errorf("%s is %v with %d colours", name, size, colours(picture))
		}
	case strings.HasSuffix(name, ".svg"):
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !strings.Contains(text, "orders-svc") || !strings.HasPrefix(kind, "image/svg+xml") {
			t.Errorf("%s (%s) does not show the group", name, kind)
		}
	case strings.HasSuffix(name, "run.txt"):
		if !strings.Contains(text, "kill c3") || !strings.Contains(text, "\nat ") || !strings.Contains(text, moment) {
			t.Errorf("%s is\n%s", name, text)
		}
	case strings.HasSuffix(name, "story.md"):
		if !strings.Contains(text, moment) || !strings.Contains(text, "## What happened") || strings.Count(text, "\n- ") < 2 {
			t.Errorf("%s is\n%s", name, text)
		}
	default:
		t.Errorf("a file called %s", name)
	}
}

// colours counts the colours of a picture, coarsely.
func colours(picture image.Image) int {
	seen := map[[3]uint32]bool{}
	size := picture.Bounds()
	for y := size.Min.Y; y < size.Max.Y; y += 5 {
		for x := size.Min.X; x < size.Max.X; x += 5 {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

// TestB110_BlockedStorage: the page says once that progress is not kept, and all goes on; with storage, the contents show
// where one was.
func TestB110_BlockedStorage(t *testing.T) {
	base := labServer(t)
	b := open(t, "about:blank", 1280, 800)
	b.run("opening a lesson", chromedp.Navigate(base+"/lab/first-member/"))
	b.until("the program", ready, time.Minute)
	b.press("n")
	b.until("a place to go on from", `(localStorage.getItem("grouplab.at.first-member") || "").startsWith("m1.first-member.n")`, 20*time.Second)
	b.run("the contents", chromedp.Navigate(base+"/"))
	b.until("its mark", `document.querySelector("[data-lesson=first-member]").dataset.progress === "resume" && document.querySelector("[data-lesson=find-coordinator]").dataset.progress === "next"`, 10*time.Second)
	b.before(`Object.defineProperty(window, "localStorage", { get() { throw new DOMException("blocked", "SecurityError") } })`)
	b.run("the contents without storage", chromedp.Navigate(base+"/"))
	b.until("a word about it", `document.getElementById("progress-said").innerText.includes("progress is not kept")`, 10*time.Second)
	b.run("a lesson without storage", chromedp.Navigate(base+"/lab/first-member/"))
	b.until("the program", ready, time.Minute)
	b.press("n")
	b.until("a word about it", `document.body.innerText.includes("progress is not kept")`, 20*time.Second)
	b.press("n")
	b.until("the lesson to go on", `location.hash.split(".n").length >= 2`, 20*time.Second)
	b.quiet()
}

// TestProgressIsAFile: what is saved can be loaded, and a file that is none changes nothing.
func TestProgressIsAFile(t *testing.T) {
	b := open(t, "about:blank", 1280, 800)
	b.before(catching)
	b.run("the contents", chromedp.Navigate(labServer(t)+"/"))
	give := func(text string) {
		eval[bool](b, fmt.Sprintf(`(() => { const field = document.getElementById("progress-file"); const data = new DataTransfer(); data.items.add(new File([%q], "p.json"));
			field.files = data.files; field.dispatchEvent(new Event("change", { bubbles: true })); return true })()`, text))
	}
	said := func(text string) {
		b.t.Helper()
		b.until(text, fmt.Sprintf(`document.getElementById("progress-said").innerText.includes(%q)`, text), 10*time.Second)
	}
	give(`{"grouplab": "progress", "version": 1, "progress": {"done.first-member": "1", "at.tape": "m1.tape.n0@1-0"}}`)
	said("Loaded: 1 lessons")
	for text, want := range map[string]string{"{": "JSON", `{"grouplab": "other"}`: "holds no progress", `{"grouplab": "progress", "progress": {"keys": "off"}}`: `"keys"`} {
		give(text)
		said(want)
	}
	if got := eval[string](b, `Object.keys(localStorage).filter((k) => /done|at\./.test(k)).sort().join()`); got != "grouplab.at.tape,grouplab.done.first-member" {
		t.Errorf("kept is %s", got)
	}
	b.click("[data-do=progress-save]")
	b.until("the file", `window.saved?.length === 1 && window.saved[0][0] === "grouplab-progress.json"`, 10*time.Second)
	b.click("[data-do=progress-forget]")
	said("Press again")
	b.click("[data-do=progress-forget]")
	said("forgotten")
	b.quiet()
}

// TestB100_APanicInThePage: in a handler and in a frame it is told and gone back from; where that is not possible the page
// says that the program has ended, with ways on, and loads nothing again by itself.
func TestB100_APanicInThePage(t *testing.T) {
	b := open(t, labServer(t)+"/lab/unclean-restart/", 1280, 800)
	b.until("the program", ready, time.Minute)
	b.press("n")
	b.until("the next step", `location.hash.includes(".n")`, 20*time.Second)
	b.press("Space")
	crash := func(how string) {
		eval[bool](b, fmt.Sprintf(`(() => { const x = document.createElement("button"); x.dataset.do = "crash"; x.dataset.arg = %q; document.body.append(x); x.click(); x.remove(); return true })()`, how))
	}
	for _, how := range []string{"now", "frame"} {
		crash(how)
		b.until("a word about it", `(document.querySelector("#part-transport .note")?.innerText ?? "").includes("Something in the lab broke: the lab was asked to break")`, 20*time.Second)
		b.press("ArrowLeft")
		b.until("that it goes on", `!(document.querySelector("#part-transport .note")?.innerText ?? "").includes("Something in the lab broke")`, 20*time.Second)
	}
	address := eval[string](b, "location.href")
	crash("twice")
	b.until("the end", `document.querySelector("#boot[role=alert]")?.innerText.includes("cannot go on") && document.querySelectorAll("#boot a").length >= 2`, 20*time.Second)
	if now := eval[string](b, "location.href"); now != address || b.text("#part-headline") == "" {
		t.Errorf("the page is at %s with %q", now, b.text("#part-headline"))
	}
	b.click("#boot a")
	b.until("the moment again", ready+` && document.getElementById("boot")?.hidden !== false`, time.Minute)
	b.quietBut("GroupLab: panic: the lab was asked to break")
}
