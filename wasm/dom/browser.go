//go:build js

package dom

import (
	"strings"
)

// Text is the text of an element, "" where there is none.
func Text(id string) string { return byID(id).get("textContent").text() }

// Kind is the page's kind.
func Kind() string { return rootAttr("data-page") }

// Lang is the language that the page shows.
func Lang() string { return rootAttr("lang") }

// Motion is how much may move: full, reduced or none.
func Motion() string { return rootAttr("data-motion") }

func rootAttr(name string) string {
	if name == "motion" {
		name = "data-motion"
	}
	return document().get("documentElement").attr(name)
}

// Hash is the address's fragment without '#'.
func Hash() string { return strings.TrimPrefix(global("location").get("hash").text(), "#") }

// Address is the page's address without the fragment, and without what is chosen by it.
func Address() string {
	location := global("location")
	return location.get("origin").text() + location.get("pathname").text()
}

// Query is what stands behind the '?' of the page's address.
func Query() string { return strings.TrimPrefix(global("location").get("search").text(), "?") }

// MayAct tells whether the page carries the token.
func MayAct() bool { return meta("grouplab-token") != "" }

// Served tells whether a server is behind the page that can be asked. A page of the static site carries its policy by itself.
func Served() bool { return document().find(`meta[http-equiv="Content-Security-Policy"]`).none() }

// Stored is a remembered choice, "" where there is none or the browser keeps nothing.
func Stored(name string) string { return global("grouplab").call("stored", name).text() }

// store remembers something, and says why the browser does not where it does not. boot.js does it: a throw of the browser
// on reading a property, which blocked storage is, cannot be caught here.
func store(a Attr) string { return global("grouplab").call("store", a.Name, a.Value).text() }

// Root is the address of the site's root, as boot.js found it.
func Root() string { return global("grouplab").get("root").text() }

// Progress shows a sentence where boot.js shows how far it is; "" takes it away.
func Progress(text string) { global("grouplab").call("progress", text) }

// Fail shows in the page why it cannot start.
func Fail(err error) { global("grouplab").call("fail", err.Error()) }

func meta(name string) string {
	el := document().find(`meta[name="` + name + `"]`)
	if el.none() {
		return ""
	}
	return el.attr("content")
}

// reveal scrolls to an element and gives it the focus, or the first field in it.
func reveal(id string, field bool) {
	el := byID(id)
	if el.none() {
		return
	}
	for fold := el.closest("details:not([open])"); !fold.none(); fold = fold.get("parentElement").closest("details:not([open])") {
		fold.set("open", true)
	}
	behavior := "auto"
	if Motion() == "full" {
		behavior = "smooth"
	}
	target := el
	if first := el.find("input:not([disabled])"); field && !first.none() {
		target = first
	} else if !el.has("tabindex") {
		el.call("setAttribute", "tabindex", "-1")
	}
	target.call("scrollIntoView", map[string]any{"block": "nearest", "behavior": behavior})
	target.call("focus", map[string]any{"preventScroll": true})
}

func toggleHelp() {
	help := byID("keys")
	switch {
	case help.none():
	case help.get("open").truthy():
		help.call("close")
	default:
		help.call("showModal")
	}
}

// copyAddress copies the page's address. Where the clipboard is closed to pages, it goes through a text field.
func copyAddress() { copyText(global("location").get("href").text()) }

func copyText(text string) {
	if clipboard := global("navigator").get("clipboard"); !clipboard.none() {
		promise := clipboard.call("writeText", text)
		then(promise, func(ref) {}, func(ref) { copyByField(text) })
		return
	}
	copyByField(text)
}

// download hands a text to the viewer as a file. A name that ends with png is that of a painting of the text, an SVG.
func (p *page) download(name, text string) {
	kind := "text/plain"
	if strings.HasSuffix(name, ".svg") || strings.HasSuffix(name, ".png") {
		kind = "image/svg+xml"
	}
	address := "data:" + kind + ";charset=utf-8," + global("window").call("encodeURIComponent", text).text()
	if !strings.HasSuffix(name, ".png") {
		hand(name, address)
		return
	}
	picture := document().call("createElement", "img")
	listen(picture, "error", func(ref) { p.with(func(a App) { a.Do("unsaved", name) }) })
	listen(picture, "load", func(ref) {
		canvas := document().call("createElement", "canvas")
		wide, high := picture.get("naturalWidth").number(), picture.get("naturalHeight").number()
		canvas.set("width", 2*wide) // for screens with two dots a pixel
		canvas.set("height", 2*high)
		canvas.call("getContext", "2d").call("drawImage", picture.v, 0, 0, 2*wide, 2*high)
		hand(name, canvas.call("toDataURL", "image/png").text())
	})
	picture.set("src", address)
}

// hand makes the browser save what an address holds.
func hand(name, address string) {
	doc := document()
	link := doc.call("createElement", "a")
	link.set("href", address)
	link.set("download", name)
	doc.get("body").call("appendChild", link.v)
	link.call("click")
	link.call("remove")
}

func copyByField(text string) {
	doc := document()
	active := doc.get("activeElement")
	field := doc.call("createElement", "textarea")
	field.set("value", text)
	field.set("className", "sr")
	doc.get("body").call("appendChild", field.v)
	field.call("select")
	doc.call("execCommand", "copy")
	field.call("remove")
	if !active.none() {
		active.call("focus")
	}
}
