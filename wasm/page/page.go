//go:build js

// Package page puts a Tab into the page that it runs in: it is what the programs have in common.
package page

import (
	"grouplab/static/view"
	"grouplab/wasm/dom"
	"grouplab/wasm/tab"
)

// Show opens the Tab of the page and runs it for ever. open makes the Tab, by the kind of page; an error of it is told in the
// page. wire is nil where none of its pages is live.
func Show(wire dom.Wire, open func(kind view.PageKind, c tab.Choices) (*tab.Tab, error)) {
	tab.PrepareHeap()
	t, err := open(view.PageKind(dom.Kind()), tab.Choices{Lang: view.Lang(dom.Lang()), Motion: dom.Motion(), Served: dom.Served(), KeysOff: dom.Stored("keys") == "off",
		Hash: dom.Hash(), Query: dom.Query(), Address: dom.Address()})
	if err == nil {
		err = dom.Run(app{t}, wire)
	}
	dom.Fail(err)
}

// app shows a Tab to the page in the page's types.
type app struct{ *tab.Tab }

// Frame translates what a frame changes.
func (a app) Frame(nowMs int64) dom.Update {
	u := a.Tab.Frame(nowMs)
	out := dom.Update{Announce: u.Announce, Hash: u.Hash, SetHash: u.SetHash, Copy: u.Copy, Reveal: u.Reveal, Field: u.Field, Help: u.Help, Dialog: u.Dialog,
		Asks: u.Ask, Connect: u.Connect, NextPart: u.NextPart, MoveNum: u.Motion.Num, MoveDen: u.Motion.Den, Busy: u.Busy, WakeMs: u.WakeMs}
	if u.Download != nil {
		out.File, out.FileText = u.Download.Name, u.Download.Text
	}
	out.CopyText = u.CopyText
	for _, f := range u.Fill {
		out.Fill = append(out.Fill, dom.Attr(f))
	}
	for _, p := range u.Patches {
		out.Patches = append(out.Patches, dom.Patch(p))
	}
	for _, p := range u.Posts {
		out.Posts = append(out.Posts, dom.Post(p))
	}
	for _, a := range u.Store {
		out.Store = append(out.Store, dom.Attr(a))
	}
	return out
}

// Key translates a key press.
func (a app) Key(k dom.Key) bool { return a.Tab.Key(tab.Key(k)) }
