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
}

type rate struct{ num, den int64 }

// Run shows the App and blocks for ever.
func Run(app App) error {
	if byID("part-headline").none() {
		return fmt.Errorf("this page has no stage")
	}
	p := &page{app: app, root: Root(), token: meta("grouplab-token"), late: map[string]string{}, scrub: ref{safejs.Null()}}
	p.clock = newClock(p.frame)
	p.listenAll()
	document().get("documentElement").call("setAttribute", "data-tab", "ready")
	global("performance").call("mark", "grouplab-ready") // what make bench measures
	Progress("")
	p.sized()
	select {}
}

// with calls the App and asks for a frame.
func (p *page) with(fn func(App)) {
	p.mu.Lock()
	fn(p.app)
	p.mu.Unlock()
	p.clock.soon()
}

// frame shows what the App has changed.
func (p *page) frame(nowMs int64) {
	p.mu.Lock()
	u := p.app.Frame(nowMs)
	p.mu.Unlock()
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
		store(a)
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
	for _, f := range u.Fill {
		byID(f.Name).set("value", f.Value)
	}
	if u.CopyText != "" {
		copyText(u.CopyText)
	}
	if u.File != "" {
		download(u.File, u.FileText)
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
	if u.Connect != "" {
		p.connect(u.Connect)
	}
}
