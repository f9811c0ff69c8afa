package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is one page of a real browser. It remembers what the console complained about.
type tab struct {
	t          testing.TB
	ctx        context.Context
	mu         sync.Mutex
	complaints []string
}

// browser finds the program; make test has installed one.
func browser(t testing.TB) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no browser found under %s; run make setup", strings.Join(names, ", "))
	return ""
}

// open starts a browser of its own with an empty profile and opens one page.
func open(t testing.TB, url string, width, height int64) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser(t)), chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-US"), chromedp.Flag("accept-lang", "en-US"), chromedp.Env("LANGUAGE=en"),
		chromedp.WindowSize(int(width), int(height)))
	if os.Geteuid() == 0 { // Chromium's sandbox refuses to run as root
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancelAllocator)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	// The first action starts the browser and must have no time limit of its own: the browser would end with it.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	b.run("opening "+url, chromedp.EmulateViewport(width, height), chromedp.Navigate(url))
	return b
}

func (b *tab) listen(event any) {
	var text string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeAssert {
			return
		}
		var words []string
		for _, a := range e.Args {
			words = append(words, string(a.Value)+a.Description)
		}
		text = "console: " + strings.Join(words, " ")
	case *log.EventEntryAdded:
		if e.Entry.Level != log.EntryLevelError {
			return
		}
		text = "error: " + e.Entry.Text + " " + e.Entry.URL
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

func (b *tab) run(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v\nconsole: %s", what, err, strings.Join(b.console(), "\n"))
	}
}

func (b *tab) console() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.complaints...)
}

// quiet demands that the console never complained.
func (b *tab) quiet() {
	b.t.Helper()
	for _, line := range b.console() {
		b.t.Errorf("the browser's console: %s", line)
	}
}

// press types keys: a letter, "ArrowRight", "Enter", " ", with "Shift+" in front where wanted.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	named := map[string]string{"ArrowRight": kb.ArrowRight, "ArrowLeft": kb.ArrowLeft, "ArrowDown": kb.ArrowDown, "ArrowUp": kb.ArrowUp,
		"Enter": kb.Enter, "Tab": kb.Tab, "Escape": kb.Escape, "Home": kb.Home, "End": kb.End, "Space": " "}
	for _, key := range keys {
		var modifiers []chromedp.KeyOption
		if plain, found := strings.CutPrefix(key, "Shift+"); found {
			key, modifiers = plain, append(modifiers, chromedp.KeyModifiers(8))
		}
		if code, found := named[key]; found {
			key = code
		}
		b.run("pressing "+key, chromedp.KeyEvent(key, modifiers...))
	}
}

// text is what an element says, "" where there is none.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}

// eval asks the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := evaluated[T](b, expression)
	if err != nil {
		b.t.Fatalf("evaluating %s: %v", expression, err)
	}
	return value
}

func evaluated[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// leaving is what Chromium answers for a page that goes while it is asked.
const leaving = "Inspected target navigated or closed"

// until waits for a JavaScript condition; it fails with what the page showed instead.
func (b *tab) until(what, condition string, within time.Duration) {
	b.t.Helper()
	within = max(within, patience)
	end := time.Now().Add(within)
	// A page that is being left has no document for a moment; nothing holds then.
	look := "(() => { try { return !!(" + condition + ") } catch (e) { if (document.documentElement) throw e; return false } })()"
	for {
		holds, err := evaluated[bool](b, look)
		if err != nil && !strings.Contains(err.Error(), leaving) {
			b.t.Fatalf("evaluating %s: %v", look, err)
		} else if holds {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("waited %v for %s\nheadline: %s\nconsole: %s", within, what, b.text("#part-headline"), strings.Join(b.console(), "\n"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// click presses a button. It is found and pressed in one go, since a live page may draw it anew at any moment.
func (b *tab) click(selector string) {
	b.t.Helper()
	if !eval[bool](b, fmt.Sprintf(`(() => { const button = document.querySelector(%q); button?.click(); return !!button })()`, selector)) {
		b.t.Fatalf("there is nothing to press at %s", selector)
	}
}
