//go:build js

package dom

import "strconv"

// partBytes is how much of a file is read at once.
const partBytes = 1 << 20

// parts reads a file piece by piece, as the App asks for more, so that no more of it is in memory than that. The App is told with
// the action of the field: "paste-file SIZE NAME", then "paste-part TEXT" for each, and "paste-end"; "paste-failed REASON" where it cannot be read.
type parts struct {
	file    ref
	action  string
	decoder ref // keeps the bytes of a letter that two pieces share
	at      int
	size    int
	number  int // of the file: an older one's answers are dropped
}

// openParts begins with a file.
func (p *page) openParts(file ref, action string) {
	p.parts.number++
	p.parts.file, p.parts.action, p.parts.at = file, action, 0
	p.parts.size = int(file.get("size").number())
	p.parts.decoder = newOf("TextDecoder")
	name := file.get("name").text()
	p.with(func(a App) { a.Do(action+"-file", strconv.Itoa(p.parts.size)+" "+name) })
}

// nextPart reads the next piece.
func (p *page) nextPart() {
	f := p.parts
	if f.at >= f.size {
		p.with(func(a App) { a.Do(f.action+"-end", "") })
		return
	}
	end := min(f.at+partBytes, f.size)
	then(f.file.call("slice", f.at, end).call("arrayBuffer"), func(bytes ref) {
		if p.parts.number != f.number {
			return
		}
		text := f.decoder.call("decode", bytes.v, map[string]any{"stream": end < f.size}).text()
		p.parts.at = end
		p.with(func(a App) { a.Do(f.action+"-part", text) })
	}, func(reason ref) {
		text := reason.get("message").text()
		p.with(func(a App) { a.Do(f.action+"-failed", text) })
	})
}

// dragged lets a file be dropped where an element takes one.
func (p *page) dragged(event ref) {
	if !event.get("target").closest("[data-drop]").none() {
		event.call("preventDefault")
	}
}

// dropped reads the file, or takes the text, that was dropped.
func (p *page) dropped(event ref) {
	target := event.get("target").closest("[data-drop]")
	if target.none() {
		return
	}
	event.call("preventDefault")
	action := target.attr("data-drop")
	data := event.get("dataTransfer")
	if files := data.get("files").items(); len(files) > 0 {
		p.openParts(files[0], action)
		return
	}
	if text := data.call("getData", "text").text(); text != "" {
		p.with(func(a App) { a.Do(action, text) })
	}
}

// newOf makes an object of a class of the browser's.
func newOf(class string) ref {
	v, err := global(class).v.New()
	return ref{report(v, err)}
}
