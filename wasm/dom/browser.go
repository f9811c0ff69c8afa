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

// MayAct tells whether the page carries the token.
func MayAct() bool { return meta("grouplab-token") != "" }

// Stored is a remembered choice, "" where there is none or the browser keeps nothing.
func Stored(name string) string {
	storage, err := global("window").v.Get("localStorage") // throws where storage is blocked
	if err != nil {
		return ""
	}
	return ref{storage}.call("getItem", prefix+name).text()
}

const prefix = "grouplab."

func store(a Attr) {
	storage, err := global("window").v.Get("localStorage")
	if err != nil {
		return // the choice holds until the page is closed
	}
	if a.Value == "" {
		ref{storage}.call("removeItem", prefix+a.Name)
		return
	}
	if _, err := storage.Call("setItem", prefix+a.Name, a.Value); err != nil {
		return // full, or blocked
	}
}

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

// download hands a text to the viewer as a file.
func download(name, text string) {
	doc := document()
	link := doc.call("createElement", "a")
	link.set("href", "data:text/plain;charset=utf-8,"+global("window").call("encodeURIComponent", text).text())
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
