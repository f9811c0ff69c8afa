//go:build js

package dom

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hack-pad/safejs"
)

// listenAll hears everything at the document, so that parts can be rendered anew at any time.
func (p *page) listenAll() {
	doc := document()
	listen(doc, "click", p.click)
	listen(doc, "submit", p.submit)
	listen(doc, "change", p.change)
	listen(doc, "input", p.typed)
	listen(doc, "keydown", p.key)
	listen(doc, "pointerdown", p.pointerDown)
	listen(doc, "pointerup", p.pointerUp)
	listen(doc, "pointercancel", p.pointerUp)
	listenDown(doc, "scroll", p.scrolled)
	listen(doc, "dragover", p.dragged)
	listen(doc, "drop", p.dropped)
	window := global("window")
	listen(window, "hashchange", func(ref) {
		hash := strings.TrimPrefix(global("location").get("hash").text(), "#")
		p.with(func(a App) { a.Do("hash", hash) })
	})
	listen(window, "resize", func(ref) { p.sized() })
	listen(doc, "grouplab:sight", func(ref) { p.sight() })
	listen(doc, "visibilitychange", func(ref) { p.clock.soon() })
	// boot.js has changed language or motion.
	listen(doc, "grouplab:chosen", func(event ref) {
		what := event.get("detail").text()
		if what == "lang" || what == "motion" {
			value := rootAttr(what)
			p.with(func(a App) { a.Do(what, value) })
		}
	})
}

// sized tells how wide the window is, and the timeline's part of it: a list or a lesson may stand beside it.
func (p *page) sized() {
	width := strconv.Itoa(int(global("innerWidth").number()))
	if part := document().find("#part-timeline"); !part.none() {
		width += " " + strconv.Itoa(int(part.get("clientWidth").number()))
	}
	p.with(func(a App) { a.Do("window", width) })
}

// sight tells which parts are out of sight.
func (p *page) sight() {
	hidden := global("grouplab").call("hidden").text()
	p.with(func(a App) { a.Do("sight", hidden) })
}

// scrolled tells where a list stands of which only the rows on screen are drawn.
func (p *page) scrolled(event ref) {
	el := event.get("target")
	if el.same(document()) || el.attr("data-scroll") != "list" {
		return
	}
	place := strconv.Itoa(int(el.get("scrollTop").number())) + " " + strconv.Itoa(int(el.get("clientHeight").number()))
	p.with(func(a App) { a.Do("scrolled", place) })
}

// chosen are actions that boot.js does by itself, on pages without a program too.
var chosen = []string{"lang", "theme", "motion", "help"}

// click does what the nearest element with data-do asks for. Forms and fields have events of their own.
func (p *page) click(event ref) {
	el := event.get("target").closest("[data-do]")
	if el.none() || slices.Contains([]string{"FORM", "INPUT", "SELECT", "TEXTAREA"}, el.get("tagName").text()) {
		return
	}
	if el.get("tagName").text() == "A" {
		event.call("preventDefault")
	}
	if el.attr("aria-disabled") == "true" || slices.Contains(chosen, el.attr("data-do")) {
		return
	}
	p.do(el, el.attr("data-arg"))
}

// submit does what a form with data-do asks for; its argument is data-arg and the values of its named fields.
func (p *page) submit(event ref) {
	form := event.get("target")
	if !form.has("data-do") {
		return
	}
	event.call("preventDefault")
	args := []string{form.attr("data-arg")}
	for _, field := range form.all("input[name], select[name], textarea[name]") {
		kind := field.attr("type")
		if (kind == "radio" || kind == "checkbox") && !field.get("checked").truthy() {
			continue
		}
		value := field.get("value").text()
		if key := field.attr("data-key"); key != "" { // an option, left out where nothing is written
			if value == "" {
				continue
			}
			value = key + "=" + value
		}
		args = append(args, value)
	}
	p.do(form, strings.TrimSpace(strings.Join(args, " ")))
}

// change does what a field asks for once its value stands.
func (p *page) change(event ref) {
	el := event.get("target")
	if !el.has("data-do") || followed(el) {
		return
	}
	if el.attr("type") == "file" {
		if files := el.get("files").items(); el.has("data-bytes") {
			if len(files) > 0 {
				p.readBytes(el, files[0])
			}
			return
		}
		if action := el.attr("data-parts"); action != "" {
			if files := el.get("files").items(); len(files) > 0 {
				p.openParts(files[0], action)
			}
			el.set("value", "")
			return
		}
		p.readFile(el)
		return
	}
	arg := el.attr("data-arg")
	if el.attr("type") != "radio" {
		arg = strings.TrimSpace(arg + " " + el.get("value").text())
	}
	p.do(el, arg)
}

// readFile does what a field for a file asks for, with the file's text.
func (p *page) readFile(el ref) {
	files := el.get("files").items()
	if len(files) == 0 {
		return
	}
	then(files[0].call("text"), func(text ref) {
		p.do(el, text.text())
		el.set("value", "")
	}, func(reason ref) { complain(reason.get("message").text()) })
}

// typed follows a search field letter by letter, and a slider while it moves.
func (p *page) typed(event ref) {
	if el := event.get("target"); el.has("data-do") && followed(el) {
		p.do(el, strings.TrimLeft(el.attr("data-arg")+" "+el.get("value").text(), " "))
	}
}

func followed(el ref) bool {
	return el.attr("type") == "search" || el.attr("type") == "range" || el.has("data-keys")
}

func (p *page) do(el ref, arg string) {
	action := el.attr("data-do")
	p.with(func(a App) { a.Do(action, arg) })
}

// key hands keys on that are not meant for a field or an open dialog.
func (p *page) key(event ref) {
	target := event.get("target")
	name := event.get("key").text()
	if event.get("defaultPrevented").truthy() || event.get("isComposing").truthy() || event.get("metaKey").truthy() {
		return
	}
	if !document().find("dialog[open]").none() && name != "?" {
		return
	}
	control := false
	switch target.get("tagName").text() {
	case "INPUT":
		if field := target.attr("data-keys"); field != "" {
			p.fieldKey(event, field, name)
			return
		}
		kind := target.attr("type")
		if kind != "radio" && kind != "checkbox" || strings.HasPrefix(name, "Arrow") {
			return
		}
		control = true
	case "SELECT", "TEXTAREA":
		return
	case "BUTTON", "A", "SUMMARY":
		control = true
	}
	if target.get("isContentEditable").truthy() {
		return
	}
	k := Key{Name: name, Shift: event.get("shiftKey").truthy(), Ctrl: event.get("ctrlKey").truthy(),
		Alt: event.get("altKey").truthy(), OnControl: control}
	handled := false
	p.with(func(a App) { handled = a.Key(k) })
	if handled {
		event.call("preventDefault")
	}
}

// fieldKey hands a key on that is pressed in a field which knows keys of its own.
func (p *page) fieldKey(event ref, field, name string) {
	k := Key{Name: name, Field: field, Shift: event.get("shiftKey").truthy(), Ctrl: event.get("ctrlKey").truthy(), Alt: event.get("altKey").truthy()}
	handled := false
	p.with(func(a App) { handled = a.Key(k) })
	if handled {
		event.call("preventDefault")
	}
}

// pointerDown holds back patches of the part that was pressed, so that the click that follows finds what it began on. A
// part with a slider under the pointer is patched around the slider.
func (p *page) pointerDown(event ref) {
	target := event.get("target")
	if target.attr("type") == "range" {
		p.scrub = target
		return
	}
	if part := target.closest("[id^=part-]"); !part.none() {
		p.held = part.get("id").text()
	}
}

// pointerUp lets go. What was held back is shown after the click that follows.
func (p *page) pointerUp(ref) {
	p.scrub = ref{safejs.Null()}
	if p.held == "" {
		return
	}
	later(func() {
		p.held = ""
		for id, html := range p.late {
			p.patch(Patch{id, html})
		}
		clear(p.late)
	})
}
