package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// hand works in the sandbox with the keyboard alone.
type hand struct{ *tab }

// enter gives an element the focus, as Tab would, and presses Enter.
func (h hand) enter(selector string) {
	h.t.Helper()
	h.until(selector, fmt.Sprintf(`document.querySelector(%q)`, selector), 20*time.Second)
	h.focus(selector)
	h.press("Enter")
}

func (h hand) focus(selector string) {
	h.t.Helper()
	if !eval[bool](h.tab, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e?.focus(); return document.activeElement === e })()`, selector)) {
		h.t.Fatalf("%s does not take the focus", selector)
	}
}

// write replaces what is in the field that has the focus: the browser of a test, unlike others, writes the letter of a key
// into a field that the key has just given the focus to.
func (h hand) write(text string) {
	h.t.Helper()
	h.run("writing "+text, chromedp.KeyEvent("a", chromedp.KeyModifiers(2)), chromedp.KeyEvent(text))
}

// console goes to the console by its key.
func (h hand) console() {
	h.t.Helper()
	eval[bool](h.tab, `(document.activeElement?.blur(), true)`)
	h.press("c")
	h.until("the console to have the focus", `document.activeElement?.id === "console-line"`, 10*time.Second)
}

// command writes a line in the console and enters it.
func (h hand) command(line string) {
	h.t.Helper()
	before := h.lines()
	h.console()
	h.write(line)
	h.press("Enter")
	h.until("an answer to "+line, fmt.Sprintf(`(document.querySelector("#part-console li code")?.innerText ?? "") === %q && document.querySelector("#part-console").innerText !== %q`, line, before), 20*time.Second)
	if got := eval[string](h.tab, `document.getElementById("console-line").value`); got != "" {
		h.t.Errorf("after Enter the field still holds %q", got)
	}
}

func (h hand) lines() string {
	return eval[string](h.tab, `document.querySelector("#part-console").innerText`)
}

// newest is the console's newest answer.
func (h hand) newest() string { return h.text("#part-console li") }

// panel opens one of the panels.
func (h hand) panel(name string) {
	h.t.Helper()
	h.enter("[data-do=panel][data-arg=" + name + "]")
	h.until("the panel "+name, fmt.Sprintf(`document.querySelector("[data-do=panel][data-arg=%s]").getAttribute("aria-pressed") === "true"`, name), 10*time.Second)
}

// TestSandboxByKeyboardAlone builds a cluster, breaks it, takes that back, makes a mistake in the console, lets the timeout
// explorer show a case, and opens a script that is wrong and one that is right, in both languages.
func TestSandboxByKeyboardAlone(t *testing.T) {
	base := labServer(t)
	h := hand{open(t, base+"/sandbox/", 1440, 900)}
	for _, lang := range []string{"en", "zh"} {
		h.until("the sandbox's program", `document.querySelector("#part-sandbox [data-do=panel]")`, 60*time.Second)
		if lang == "zh" {
			h.enter("button[data-do=lang]")
			h.until("a panel in Chinese", `document.querySelector("[data-do=panel][data-arg=act]").innerText === "操作"`, 10*time.Second)
		}
		h.build(lang)
		h.breakAndUndo()
		h.explore(lang)
		h.scripts(lang)
	}
	h.quiet()
}

// nearest is what a page says to the verb kil.
var nearest = map[string]string{"en": `did you mean "kill"?`, "zh": "是不是想写 “kill”？"}

// build makes a cluster of one broker, a topic and two consumers.
func (h hand) build(lang string) {
	h.t.Helper()
	h.panel("build")
	h.enter("[data-do=preset][data-arg=empty]")
	h.until("an empty cluster", `!document.querySelector("#part-clients .client, #part-clients .row")`, 20*time.Second)
	h.enter("#build-brokers summary")
	h.focus("#build-brokers input")
	h.write("1")
	h.press("Enter")
	h.until("one broker", `document.querySelector("#build-brokers input").value === "1" && document.querySelector("#part-console").innerText.includes("brokers 1")`, 20*time.Second)
	h.enter("#build-topic summary")
	h.enter("#build-topic input[name=topic]")
	h.until("the topic", `document.querySelector("#build-topic input[name=topic]").value !== "orders"`, 20*time.Second)
	for range 2 {
		name := eval[string](h.tab, `document.querySelector("#build-consumer input[name=name]").value`)
		if !eval[bool](h.tab, `document.getElementById("build-consumer").open`) {
			h.enter("#build-consumer summary")
		}
		h.focus("#build-consumer input[name=session]")
		h.write("10s")
		h.press("Enter")
		h.until(name+" to be described", fmt.Sprintf(`document.querySelector("#build-consumer input[name=name]").value !== %q`, name), 20*time.Second)
	}
	h.command("kil c1")
	if got := h.newest(); !strings.Contains(got, nearest[lang]) || !strings.Contains(got, "↑") {
		h.t.Errorf("of a mistake the console says %q", got)
	}
	h.accessible("the sandbox, build")
	h.command("group orders-svc")
	// A word is completed by Tab.
	h.console()
	h.write("star")
	h.until("what start can become", `document.querySelector("#part-console [data-arg=start]")`, 10*time.Second)
	h.run("writing", chromedp.KeyEvent("t c1"))
	h.press("Enter")
	h.until("c1 to start", `document.querySelector("#part-console li code")?.innerText === "start c1"`, 10*time.Second)
	h.run("writing", chromedp.KeyEvent("unt"))
	h.until("what unt can become", `document.querySelector("#part-console [data-arg=until]")`, 10*time.Second)
	h.press("Tab")
	h.until("the completed word", `document.getElementById("console-line").value === "until "`, 10*time.Second)
	h.run("writing", chromedp.KeyEvent("state Stable and members == 1"))
	h.press("Enter")
	h.until("a group", `document.querySelector("#part-headline").innerText.includes("Stable")`, 20*time.Second)
	h.press("ArrowUp")
	h.until("the line before", `document.getElementById("console-line").value.startsWith("until state")`, 10*time.Second)
	h.press("Escape")
}

// breakAndUndo kills the only member by its button and takes that back.
func (h hand) breakAndUndo() {
	h.t.Helper()
	h.panel("act")
	h.accessible("the sandbox, act")
	h.enter("#part-sandbox [data-do=kill][data-arg=c1]")
	h.until("c1 to be dead", `document.querySelector("#part-sandbox [data-do=start][data-arg=c1]")`, 20*time.Second)
	h.enter("#deed-fail-appends summary")
	h.enter("#deed-fail-appends button")
	h.until("appends to fail", `document.querySelector("#part-console li code")?.innerText.startsWith("fail-appends offsets NOT_ENOUGH_REPLICAS 1")`, 20*time.Second)
	h.command("undo")
	h.until("c1 still dead", `document.querySelector("#part-sandbox [data-do=start][data-arg=c1]")`, 20*time.Second)
	eval[bool](h.tab, `(document.activeElement?.blur(), true)`)
	h.press("u")
	h.until("c1 to be alive again", `document.querySelector("#part-sandbox [data-do=kill][data-arg=c1]")`, 20*time.Second)
}

// explore changes a timeout by the arrow keys and looks at the case of a killed member.
func (h hand) explore(lang string) {
	h.t.Helper()
	h.panel("timeouts")
	const done = `document.querySelectorAll(".waits-list li").length > 5 && ![...document.querySelectorAll(".wait-ms")].some(w => w.innerText === "…")`
	h.until("all cases to be measured", done, time.Minute)
	const killed = `[...document.querySelectorAll(".waits-list li")].find(l => l.querySelector("[data-arg=killed]")).querySelector(".wait-ms").innerText`
	before := eval[string](h.tab, killed)
	h.focus("#knob-0")
	for range 3 {
		h.press("ArrowRight")
	}
	h.until("other waits", fmt.Sprintf("%s && %s !== %q", done, killed, before), time.Minute)
	h.accessible("the sandbox, timeouts, " + lang)
	if lang == "zh" && !strings.Contains(h.text("#part-sandbox"), "成员被杀") {
		h.t.Error("the cases are not in Chinese")
	}
	h.enter("[data-do=show-case][data-arg=killed]")
	h.until("the moment in which c3 is dead and nobody has noticed", `document.querySelector("#part-headline").innerText.includes("c3")`, 20*time.Second)
	h.panel("act")
	h.until("c3 to be dead", `document.querySelector("#part-sandbox [data-do=start][data-arg=c3]")`, 20*time.Second)
}

// scripts looks at the run as a script, opens one that is wrong and then itself.
func (h hand) scripts(lang string) {
	h.t.Helper()
	h.panel("script")
	run := h.text("#part-sandbox .run-text")
	if !strings.Contains(run, "kill c3") || !strings.Contains(run, "\nat ") {
		h.t.Fatalf("the run as a script is\n%s", run)
	}
	h.enter("#run-import summary")
	h.focus("#import-text")
	h.run("writing", chromedp.KeyEvent("topic a 3"), chromedp.KeyEvent("\r"), chromedp.KeyEvent("kil c1"))
	h.enter("#run-import button[type=submit]")
	h.until("the mistake", `document.querySelector(".mistake")?.innerText.includes(`+strconv.Quote(nearest[lang])+`)`, 20*time.Second)
	h.accessible("the sandbox, a script with a mistake")
	if got := h.text(".mistake"); !strings.Contains(got, "2") || !strings.Contains(got, "kil c1") {
		h.t.Errorf("of the mistake is said %q", got)
	}
	if got := h.text("#part-sandbox .run-text"); got != run {
		h.t.Errorf("the run has changed:\n%s", got)
	}
	eval[bool](h.tab, fmt.Sprintf(`(document.getElementById("import-text").value = %q, true)`, run))
	h.enter("#run-import button[type=submit]")
	h.until("the script to be open", `!document.querySelector(".mistake")`, 20*time.Second)
	h.enter("#run-draft summary")
	h.enter("#run-draft button[type=submit]") // at the start of the run nothing was done yet
	h.until("a sentence", `document.querySelector("#part-transport").innerText.length > 0`, 20*time.Second)
}
