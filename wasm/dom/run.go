//go:build js

package dom

import (
	"fmt"
	"sync"

	"github.com/hack-pad/safejs"
)

// page is the App in its page.
type page struct {
	app App
	// mu keeps the App's methods apart: handlers, frames and the websocket are goroutines. It is never held while one of
	// them waits for the browser.
	mu    sync.Mutex
	clock *clock
	sock  socket
	root  string
	token string
	// held is the part that the pointer is pressed in; its patches wait, so that a click finds what it began on.
	held string
	late map[string]string
	// scrub is a slider that the pointer drags: it stays while its part is rendered anew around it.
	scrub ref
	move  rate
	parts parts
	// over is set once the App cannot go on.
	over bool
}

type rate struct{ num, den int64 }

// Run shows the App and blocks for ever. wire is nil where the App never asks to connect.
func Run(app App, wire Wire) error {
	if byID("part-headline").none() {
		return fmt.Errorf("this page has no stage")
	}
	p := &page{app: app, root: Root(), token: meta("grouplab-token"), late: map[string]string{}, scrub: ref{safejs.Null()}, sock: socket{wire: wire}}
	p.clock = newClock(p.frame)
	p.listenAll()
	document().get("documentElement").call("setAttribute", "data-tab", "ready")
	global("performance").call("mark", "grouplab-ready") // what make bench measures
	Progress("")
	p.sized()
	p.sight()
	select {}
}

// with calls the App and asks for a frame.
func (p *page) with(fn func(App)) {
	p.guarded(func() { fn(p.app) })
	p.clock.soon()
}

// guarded calls the App. What panics there is told to the App, which goes on from a moment that stood; where it cannot, the
// page says that it has ended.
func (p *page) guarded(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	what := panicked(fn)
	if what == "" {
		return
	}
	complain("panic: " + what)
	if again := panicked(func() { p.app.Crashed(what) }); again != "" {
		p.over = true
		global("grouplab").call("ended", again)
		return
	}
	p.clock.soon() // also where it broke in a frame, which asks for no other
}

// panicked says what a function panicked with, "" where it did not.
func panicked(fn func()) (what string) {
	defer func() {
		if r := recover(); r != nil {
			what = fmt.Sprint(r)
			if what == "" {
				what = "panic"
			}
		}
	}()
	fn()
	return ""
}

// frame shows what the App has changed.
func (p *page) frame(nowMs int64) {
	var u Update
	p.guarded(func() { u = p.app.Frame(nowMs) })
	if p.over {
		return
	}
	p.move = rate{u.MoveNum, u.MoveDen}
	for _, patch := range u.Patches {
		if patch.ID == p.held {
			p.late[patch.ID] = patch.HTML
			continue
		}
		delete(p.late, patch.ID)
		p.patch(patch)
	}
	if u.Announce != "" {
		byID("live-region").set("textContent", u.Announce)
	}
	for _, a := range u.Store {
		if reason := store(a); reason != "" {
			p.with(func(app App) { app.Do("unstored", reason) })
		}
	}
	p.commands(u)
	if u.Busy {
		p.clock.soon()
	} else if u.WakeMs > 0 {
		p.clock.after(u.WakeMs)
	}
}

func (p *page) commands(u Update) {
	if u.SetHash {
		location := global("location")
		global("history").call("replaceState", nil, "", location.get("pathname").text()+location.get("search").text()+"#"+u.Hash)
	}
	if u.Copy {
		copyAddress()
	}
	if u.Help {
		toggleHelp()
	}
	if dialog := byID(u.Dialog); u.Dialog != "" && !dialog.none() && !dialog.get("open").truthy() {
		dialog.call("showModal")
	}
	for _, f := range u.Fill {
		byID(f.Name).set("value", f.Value)
	}
	if u.CopyText != "" {
		copyText(u.CopyText)
	}
	if u.File != "" {
		p.download(u.File, u.FileText)
	}
	if u.Reveal != "" {
		reveal(u.Reveal, u.Field)
	}
	for _, path := range u.Asks {
		p.get(path)
	}
	for _, post := range u.Posts {
		p.post(post)
	}
	if u.NextPart {
		p.nextPart()
	}
	if u.Connect != "" {
		p.connect(u.Connect)
	}
}
