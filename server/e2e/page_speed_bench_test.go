package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"grouplab/static/view"
)

// crowdPage serves the lab, with another world in the page of the first lesson: so many members of one group.
func crowdPage(b *testing.B, members int) string {
	b.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "setup\n  topic orders %d\n  group g\n", members)
	for i := range members {
		fmt.Fprintf(&s, "  consumer c%d session=10s\n", i)
	}
	for i := range members {
		fmt.Fprintf(&s, "  start c%d\n", i)
	}
	fmt.Fprintf(&s, "  until state Stable and members == %d\nstep all\ngoal none state Dead\nsolution none\n  kill c0\n", members)
	page, err := json.Marshal(view.LessonPage{ID: "first-member", Number: 1, Of: 1, Steps: []view.StepPage{{Name: "all"}}})
	if err != nil {
		b.Fatal(err)
	}
	to, err := url.Parse(labServer(b))
	if err != nil {
		b.Fatal(err)
	}
	data := regexp.MustCompile(`(?s)(id="lesson-page">).*?(</script><script type="text/plain" id="lesson-script">).*?(</script>)`)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Header.Del("Accept-Encoding") },
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path != "/lab/first-member/" {
				return nil
			}
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			if !data.Match(text) {
				b.Errorf("the page of a lesson carries no script")
			}
			text = data.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(string(page), "$", "$$")+"${2}"+s.String()+"${3}"))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			r.Header.Set("Content-Length", strconv.Itoa(len(text)))
			return err
		},
	}
	h := httptest.NewServer(proxy)
	b.Cleanup(h.Close)
	return h.URL + "/lab/first-member/"
}

const (
	// catchMemory keeps the program's memory where a measurement finds it.
	catchMemory = `for (const name of ["instantiate", "instantiateStreaming"]) { const as = WebAssembly[name]; if (as) WebAssembly[name] = async (...a) => { const r = await as.apply(WebAssembly, a); window.labMemory = (r.instance ?? r).exports.mem; return r } }`
	labMB       = `(window.labMemory ? labMemory.buffer.byteLength / 1e6 : -1)`
	factSeq     = `Number((document.querySelector("#part-transport .fact")?.innerText.match(/#(\d+)/) ?? [])[1] ?? 0)`
	labClock    = `(document.querySelector("#part-transport .clock").innerText.match(/(\d+):(\d+):([\d.]+)/).slice(1).reduce((sum, n) => sum * 60 + Number(n), 0))`
	// catchFrames measures frames from the first program that runs in one to the moment in which it was laid out: program, styles,
	// layout. Only frames count in which the program changed something in the page.
	catchFrames = `(() => {
		window.drawn = [];
		let from = 0, changed = false;
		const ask = window.requestAnimationFrame.bind(window), over = new MessageChannel();
		over.port1.onmessage = () => { if (changed) drawn.push(performance.now() - from); from = 0; changed = false };
		new MutationObserver(() => { changed = true }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
		window.requestAnimationFrame = (draw) => ask((at) => {
			if (!from) { from = performance.now(); over.port2.postMessage(0) }
			draw(at);
		});
	})()`
	drawn95 = `drawn.slice().sort((a, b) => a - b)[Math.floor(drawn.length * 0.95)]`
)

// openCrowd opens a page with so many members, whose group has lost one.
func openCrowd(b *testing.B, members int) *tab {
	page := open(b, "about:blank", 1440, 900)
	page.before(catchMemory)
	page.before(catchFrames)
	page.run("opening the lab", chromedp.Navigate(crowdPage(b, members)))
	page.until("the lab", ready, 2*time.Minute)
	page.click(`[data-do=take-over]`)
	page.until("the lab to be the learner's", `document.querySelector("[data-do=kill][data-arg=c0]")`, time.Minute)
	page.click(`[data-do=kill][data-arg=c0]`)
	if _, err := chromedp.Call(page.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		b.Fatal(err)
	}
	return page
}

// at lets the lab run at a speed, 0 to 5 as the page has them, until something holds, and stops it there.
func (b *tab) at(speed int, what, until string) {
	b.t.Helper()
	b.speed(speed)
	b.play(what, until)
}

func (b *tab) speed(speed int) {
	b.t.Helper()
	b.press("[", "[", "[", "[", "[", "[")
	for range speed {
		b.press("]")
	}
}

// play lets time pass until something holds. A page whose time does not pass fails: its frames cost nothing.
func (b *tab) play(what, until string) {
	b.t.Helper()
	b.press("Space")
	b.until("time to pass", playing, time.Minute)
	b.until(what, until, 10*time.Minute)
	if eval[bool](b, "!!"+playing) {
		b.press("Space")
		b.until("time to stand", "!"+playing, time.Minute)
	}
}

// work is for how many seconds the page's main thread has had a processor, by the browser's names for what it did: what others
// do on the machine is not in it.
func (b *tab) work() map[string]float64 {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	by := map[string]float64{}
	for _, m := range got.Metrics {
		by[m.Name] = m.Value
	}
	if by["TaskDuration"] == 0 {
		b.t.Fatal("the browser does not say how long it worked")
	}
	return by
}

// busy is all that the page's main thread did, in seconds.
func (b *tab) busy() float64 { b.t.Helper(); return b.work()["TaskDuration"] }

// BenchmarkFrames50 is the 95th percentile of frames at speed 1 with 50 members and 2 000 events behind; the budget is 16.7 ms.
func BenchmarkFrames50(b *testing.B) { frames(b, 50, 16.7) }

// BenchmarkFrames500 is the same with 500 members; the budget is 33 ms.
func BenchmarkFrames500(b *testing.B) { frames(b, 500, 33) }

// frames prints the medians of five rounds, each of a hundred frames in which time passed and the picture changed.
func frames(b *testing.B, members int, budget float64) {
	for b.Loop() {
		page := openCrowd(b, members)
		page.at(4, "2 000 events", factSeq+" >= 2000")
		page.speed(3)
		rounds := map[string][]float64{}
		for range 5 {
			eval[bool](page, "(drawn.length = 0, true)")
			clock, before := eval[float64](page, labClock), page.work()
			page.play("100 frames", "drawn.length >= 100")
			passed, after, n := eval[float64](page, labClock)-clock, page.work(), eval[float64](page, "drawn.length")
			if passed < 1 {
				b.Fatalf("%v frames were drawn in %v s of the lab: it did not play", n, passed)
			}
			for unit, name := range map[string]string{"cpu-ms/frame": "TaskDuration", "script-ms/frame": "ScriptDuration", "style-ms/frame": "RecalcStyleDuration", "layout-ms/frame": "LayoutDuration"} {
				rounds[unit] = append(rounds[unit], (after[name]-before[name])*1000/n)
			}
			rounds["ms-p95"] = append(rounds["ms-p95"], eval[float64](page, drawn95))
			rounds["frames/s"] = append(rounds["frames/s"], n/passed)
		}
		for unit, list := range rounds {
			b.ReportMetric(median(list), unit)
		}
		b.ReportMetric(budget, "ms-budget")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkPageBack is one step back, and a jump to the start, in a run of 10 000 events of 50 members, from the key to the
// picture; the budget is 100 ms.
func BenchmarkPageBack(b *testing.B) {
	for b.Loop() {
		page := openCrowd(b, 50)
		page.at(5, "10 000 events", factSeq+" >= 10000")
		var step []float64
		for range 9 {
			step = append(step, page.keyMs("ArrowLeft"))
		}
		b.ReportMetric(median(step), "ms-step")
		before := page.busy()
		b.ReportMetric(page.keyMs("Home"), "ms-start")
		b.ReportMetric((page.busy()-before)*1000, "cpu-ms-start")
		b.ReportMetric(0, "ns/op")
	}
}

// keyMs presses a key and returns after how many milliseconds another fact is on the page, laid out.
func (b *tab) keyMs(key string) float64 {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => { window.keyMs = -1; const fact = () => document.querySelector("#part-transport .fact").innerText; const was = fact(), from = performance.now();
		const look = () => { if (fact() === was) return requestAnimationFrame(look); document.body.getBoundingClientRect(); window.keyMs = performance.now() - from };
		document.body.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true })); look(); return true })()`, key))
	b.until("the picture after "+key, "window.keyMs >= 0", time.Minute)
	return eval[float64](b, "window.keyMs")
}

// BenchmarkPageHour is the program's memory after each third of an hour of 20 members at speed 100, branches included: it must
// be flat.
func BenchmarkPageHour(b *testing.B) {
	for b.Loop() {
		page := openCrowd(b, 20)
		for part := 1; part <= 3; part++ {
			page.at(5, fmt.Sprintf("%d minutes", 20*part), fmt.Sprintf("%s >= %d", labClock, 1200*part))
			page.press("ArrowLeft", "ArrowLeft", "b")
			b.ReportMetric(eval[float64](page, labMB), fmt.Sprintf("MB-%dmin", 20*part))
		}
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkPageTenMinutes is how long the page works for ten minutes of 100 members, the picture at speed 100 included; the
// budget is 1 s.
func BenchmarkPageTenMinutes(b *testing.B) {
	for b.Loop() {
		page := openCrowd(b, 100)
		from, before := eval[float64](page, labClock), page.busy()
		page.at(5, "ten minutes", fmt.Sprintf("%s >= %f", labClock, from+600))
		b.ReportMetric(page.busy()-before, "s-busy")
		b.ReportMetric(0, "ns/op")
	}
}
