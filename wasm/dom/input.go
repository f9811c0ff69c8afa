//go:build js

package dom

import (
	"slices"
	"strconv"
	"strings"
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
	listen(doc, "pointermove", p.pointerMove)
	listen(doc, "pointerup", p.pointerUp)
	listen(doc, "pointercancel", p.pointerUp)
	window := global("window")
	listen(window, "hashchange", func(ref) {
		hash := strings.TrimPrefix(global("location").get("hash").text(), "#")
		p.with(func(a App) { a.Do("hash", hash) })
	})
	listen(window, "resize", func(ref) { p.clock.soon() })
	listen(doc, "visibilitychange", func(ref) { p.clock.soon() })
	reduced := window.call("matchMedia", "(prefers-reduced-motion: reduce)")
	listen(reduced, "change", func(ref) {
		on := strconv.FormatBool(reduced.get("matches").truthy())
		p.with(func(a App) { a.Do("system-reduced", on) })
	})
}

// click does what the nearest element with data-do asks for. Forms and fields have events of their own.
func (p *page) click(event ref) {
	el := event.get("target").closest("[data-do]")
	if el.none() || slices.Contains([]string{"FORM", "INPUT", "SELECT", "TEXTAREA"}, el.get("tagName").text()) {
		return
	}
	if el.get("tagName").text() == "A" {
		event.call("preventDefault")
	}
	if el.attr("aria-disabled") == "true" {
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
	for _, field := range form.all("input[name], select[name]") {
		kind := field.attr("type")
		if (kind == "radio" || kind == "checkbox") && !field.get("checked").truthy() {
			continue
		}
		args = append(args, field.get("value").text())
	}
	p.do(form, strings.TrimSpace(strings.Join(args, " ")))
}

// change does what a field asks for once its value stands.
func (p *page) change(event ref) {
	el := event.get("target")
	if !el.has("data-do") || el.attr("type") == "search" {
		return
	}
	arg := el.attr("data-arg")
	if el.attr("type") != "radio" {
		arg = strings.TrimSpace(arg + " " + el.get("value").text())
	}
	p.do(el, arg)
}

// typed follows a search field letter by letter.
func (p *page) typed(event ref) {
	if el := event.get("target"); el.attr("type") == "search" && el.has("data-do") {
		p.do(el, el.get("value").text())
	}
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

// drag is a pointer that moves over the timeline. The element may be rendered anew meanwhile, so its edges are kept.
type drag struct {
	left, width  float64
	fromMs, toMs float64
}

// pointerDown begins a drag over the timeline, and holds back patches of the part that was pressed.
func (p *page) pointerDown(event ref) {
	target := event.get("target")
	if part := target.closest("[id^=part-]"); !part.none() {
		p.held = part.get("id").text()
	}
	line := target.closest("[data-seek]")
	if line.none() || event.get("button").number() != 0 || !target.closest("button, a").none() {
		return
	}
	from, to, ok := strings.Cut(line.attr("data-seek"), " ")
	fromMs, err1 := strconv.ParseFloat(from, 64)
	toMs, err2 := strconv.ParseFloat(to, 64)
	box := line.call("getBoundingClientRect")
	d := &drag{left: box.get("left").number(), width: box.get("width").number(), fromMs: fromMs, toMs: toMs}
	if !ok || err1 != nil || err2 != nil || d.width <= 0 {
		return
	}
	p.drag, p.held = d, "" // the timeline follows the pointer
	event.call("preventDefault")
	p.seek(event)
}

func (p *page) pointerMove(event ref) {
	if p.drag == nil {
		return
	}
	if event.get("buttons").number() == 0 { // it was let go outside of the window
		p.drag = nil
		return
	}
	p.seek(event)
}

// pointerUp ends a drag. What was held back is shown after the click that follows.
func (p *page) pointerUp(ref) {
	p.drag = nil
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

func (p *page) seek(event ref) {
	d := p.drag
	at := min(max((event.get("clientX").number()-d.left)/d.width, 0), 1)
	ms := strconv.FormatInt(int64(d.fromMs+at*(d.toMs-d.fromMs)), 10)
	p.with(func(a App) { a.Do("seek", ms) })
}
