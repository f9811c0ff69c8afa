package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"grouplab/server/app"
)

// TestB94_NothingBlocksInAHandler: fifty clicks as fast as they come, in a group where a JoinGroup is held: no handler waits
// for its answer, the browser's console stays silent, and the page reacts in the next frames.
func TestB94_NothingBlocksInAHandler(t *testing.T) {
	b := open(t, labServer(t)+"/sandbox/", 1440, 900)
	b.until("the sandbox", ready+` && document.querySelector("#part-transport [data-do=play]")`, 30*time.Second)
	eval[bool](b, `((async () => {
		const all = "#part-transport [data-do], #part-clients [data-do], #part-sandbox-actions [data-do], #part-machine [data-do], #part-purgatory [data-do]"
		let worst = 0
		for (let i = 0; i < 50; i++) {
			const buttons = [...document.querySelectorAll(all)].filter(e => !e.disabled && e.offsetParent && e.tagName === "BUTTON")
			const from = performance.now()
			buttons[i * 7 % buttons.length].click()
			document.body.dispatchEvent(new KeyboardEvent("keydown", { key: ["ArrowRight", " ", "t", "]"][i % 4], bubbles: true, cancelable: true }))
			worst = Math.max(worst, performance.now() - from)
			if (i % 10 === 9) await new Promise(requestAnimationFrame)
		}
		await new Promise(requestAnimationFrame)
		window.worst = worst
	})(), true)`)
	b.until("the fifty clicks", `window.worst`, 30*time.Second)
	t.Logf("the slowest click and key took %.1f ms", eval[float64](b, `window.worst`))
	b.until("the start", `document.querySelector("#part-transport [data-do=start]").click(), document.querySelector("#part-transport [data-do=start]").disabled`, 10*time.Second)
	b.click("#part-transport [data-do='grain:event']")
	fact := b.text("#part-transport .fact")
	b.click("#part-transport [data-do=step]")
	b.until("a step", fmt.Sprintf(`document.querySelector("#part-transport .fact").innerText !== %q`, fact), 10*time.Second)
	if eval[bool](b, `!!document.documentElement.dataset.crashed`) {
		t.Error("the program has ended")
	}
	b.quiet()
}

// TestB96_OneReaderAtATime: a page that connects anew again and again closes what it had, with a code that a browser allows:
// the server counts one viewer in the end, and the console is silent.
func TestB96_OneReaderAtATime(t *testing.T) {
	s := startServer(t, app.Config{HTTP: "127.0.0.1:0", Kafka: "127.0.0.1:0", Brokers: 1, Set: quick, Topics: []app.Topic{{Name: "orders", Partitions: 2}}})
	for _, g := range []string{"one", "two"} {
		joinKcat(t, s.KafkaAddrs(), g, "orders")
	}
	base := "http://" + s.HTTPAddr()
	b := open(t, base+"/live/", 1440, 900)
	row := func(g string) string { return fmt.Sprintf(`#part-groups [data-do=group][data-arg=%q]`, g) }
	for _, g := range []string{"one", "two"} {
		b.until("group "+g, fmt.Sprintf("document.querySelector(%q)", row(g)), 40*time.Second)
	}
	for i := range 10 {
		g := []string{"one", "two"}[i%2]
		b.click(row(g))
		b.until("group "+g+" on stage", fmt.Sprintf(`document.querySelector("#part-headline").innerText.startsWith(%q)`, g), 20*time.Second)
	}
	eventually(t, 20*time.Second, func() error {
		if n := metric(t, base, "grouplab_viewers"); n != "1" {
			return fmt.Errorf("%s viewers are connected; there is one page", n)
		}
		return nil
	})
	b.quiet()
}

// metric is one value of /metrics.
func metric(t *testing.T, base, name string) string {
	t.Helper()
	answer, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("/metrics has no %s", name)
	return ""
}

// TestTheStageIsWalkedByTheKeyboard: the arrows reach what the Tab key passes over, Enter opens its card, Escape closes it and
// the focus is where it was. Letters may be switched off, and arrows are none.
func TestTheStageIsWalkedByTheKeyboard(t *testing.T) {
	b := open(t, labServer(t)+"/lab/second-member/", 1440, 900)
	b.until("the lesson", ready, 30*time.Second)
	b.press("n")
	b.until("the step to have begun", `document.querySelector("#part-clients").innerText.includes("c2")`, 10*time.Second)
	if eval[bool](b, "!!"+playing) {
		b.press("Space")
		b.until("time to stand", "!"+playing, 10*time.Second)
	}
	for n := 0; !eval[bool](b, `!!document.querySelector("#part-clients .message")`); n++ {
		if n == 60 {
			t.Fatal("sixty events back no message is on a wire")
		}
		before := b.text("#part-transport .fact")
		b.press("ArrowLeft")
		b.until("an event earlier", fmt.Sprintf(`document.querySelector("#part-transport .fact").innerText !== %q`, before), 10*time.Second)
	}
	focused := `(document.activeElement?.getAttribute("class") ?? "")`
	eval[bool](b, `(document.querySelector("#part-clients .row-name").focus(), true)`)
	for _, want := range []string{"chip", "message", "timer"} {
		for n := 0; !strings.Contains(eval[string](b, focused), want); n++ {
			if n == 80 {
				t.Fatalf("80 times ArrowDown do not lead to a %s; the focus is on %s", want, eval[string](b, `document.activeElement.outerHTML.slice(0, 200)`))
			}
			b.press("ArrowDown")
		}
		arg := eval[string](b, `document.activeElement.dataset.arg`)
		b.press("Enter")
		b.until("the card of a "+want, `document.querySelector("#part-selection").innerText !== ""`, 10*time.Second)
		if got := eval[string](b, `document.activeElement?.dataset?.arg ?? ""`); got != arg {
			t.Errorf("with the card of %s open the focus is on %q", arg, got)
		}
		b.press("Escape")
		b.until("the card to close", `document.querySelector("#part-selection").innerText === ""`, 10*time.Second)
	}
	if eval[int](b, `[...document.querySelectorAll("#stage :is(.chip, .message, .timer)")].filter(e => e.tabIndex >= 0).length`) > 0 {
		t.Error("chips, messages or cells are stops of the Tab key: there are too many of them")
	}
	eval[bool](b, `(document.activeElement.blur(), true)`)
	b.press("?")
	b.until("the list of keys", `document.querySelector("#keys[open]")`, 10*time.Second)
	b.click(`#keys [data-do=keys]`)
	b.press("Escape")
	b.until("the list to close", `!document.querySelector("#keys[open]")`, 10*time.Second)
	// Letters are off: p does not go to the step before. The arrow after it was handled later, so p had its chance.
	at, fact := b.text("#part-lesson h1"), b.text("#part-transport .fact")
	another := func() string {
		return fmt.Sprintf(`document.querySelector("#part-transport .fact").innerText !== %q`, fact)
	}
	b.press("p", "ArrowRight")
	b.until("the next event", another(), 10*time.Second)
	if now := b.text("#part-lesson h1"); now != at {
		t.Errorf("letters are switched off, and p led from %q to %q", at, now)
	}
	b.press("?")
	b.until("the list of keys again", `document.querySelector("#keys[open]")`, 10*time.Second)
	b.click(`#keys [data-do=keys]`)
	b.press("Escape")
	b.until("the list to close again", `!document.querySelector("#keys[open]")`, 10*time.Second)
	b.press("p")
	b.until("the step before, with letters on", fmt.Sprintf(`document.querySelector("#part-lesson h1").innerText !== %q`, at), 10*time.Second)
	b.quiet()
}

// TestAPressBeforeTheProgramIsKept: who presses a key before the program is there, at a moment that no recording has, goes on
// when it is: by one step.
func TestAPressBeforeTheProgramIsKept(t *testing.T) {
	first := open(t, labServer(t)+"/lab/first-member/", 1280, 800)
	first.until("the lesson", ready, 30*time.Second)
	begun := first.text("#part-lesson h1")
	first.press("n")
	first.until("the next step", fmt.Sprintf(`%s !== %q`, heading, begun), 30*time.Second)
	first.until("a step that is over", mayNext, 30*time.Second)
	first.until("the moment in the address, which is written when all is still", `location.hash.startsWith("#m1.")`, 30*time.Second)
	moment, at := eval[string](first, `location.hash`), first.text("#part-lesson h1")
	h, release := heldHost(t)
	b := open(t, h.root()+"lab/first-member/"+moment, 1280, 800)
	eval[bool](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, cancelable: true })), true`)
	if state := eval[string](b, `document.documentElement.dataset.tab ?? ""`); state == "ready" {
		t.Fatal("the program came before the key")
	}
	close(release)
	b.until("the lesson", ready, 30*time.Second)
	b.until("the next step", fmt.Sprintf(`%s !== %q && document.querySelectorAll("#part-lesson .dots .done").length > 0`, heading, at), 20*time.Second)
	if done := eval[int](b, `document.querySelectorAll("#part-lesson .dots .done").length`); done != 2 {
		t.Errorf("one press led to step %d, not 3", done+1)
	}
	b.quiet()
}
