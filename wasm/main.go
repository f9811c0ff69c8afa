//go:build js

// Command lab is the page's program: a Tab in its page.
package main

import (
	"fmt"

	"grouplab/static/view"
	"grouplab/wasm/dom"
	"grouplab/wasm/tab"
)

func main() {
	tab.PrepareHeap()
	t, err := open()
	if err == nil {
		err = dom.Run(app{t})
	}
	dom.Fail(err)
}

// open makes the tab that the page asks for.
func open() (*tab.Tab, error) {
	choices := tab.Choices{Lang: view.Lang(dom.Lang()), Motion: dom.Motion(), KeysOff: dom.Stored("keys") == "off", Hash: dom.Hash(), Address: dom.Address()}
	switch kind := dom.Kind(); kind {
	case string(view.PageLesson):
		return tab.NewLesson(dom.Text("lesson-script"), dom.Text("lesson-page"), choices)
	case string(view.PageSandbox):
		return tab.NewSandbox(choices)
	case string(view.PageLive):
		return tab.NewLive(dom.MayAct(), choices), nil
	default:
		return nil, fmt.Errorf("a page of the kind %q runs no program", kind)
	}
}

// app shows a Tab to the page in the page's types.
type app struct{ *tab.Tab }

// Frame translates what a frame changes.
func (a app) Frame(nowMs int64) dom.Update {
	u := a.Tab.Frame(nowMs)
	out := dom.Update{Announce: u.Announce, Hash: u.Hash, SetHash: u.SetHash, Copy: u.Copy, Reveal: u.Reveal, Field: u.Field, Help: u.Help, Dialog: u.Dialog,
		Asks: u.Ask, Connect: u.Connect, MoveNum: u.Motion.Num, MoveDen: u.Motion.Den, Busy: u.Busy, WakeMs: u.WakeMs}
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
