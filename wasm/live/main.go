//go:build js

// Command live is the program of the pages that show what others have seen: the running cluster. It holds no machine.
package main

import (
	"fmt"

	"grouplab/static/view"
	"grouplab/wasm/dom"
	"grouplab/wasm/page"
	"grouplab/wasm/tab"
)

func main() {
	page.Show(dom.Websocket, func(kind view.PageKind, c tab.Choices) (*tab.Tab, error) {
		switch kind {
		case view.PageLive:
			return tab.NewLive(dom.MayAct(), c), nil
		case view.PageRecordings:
			return tab.NewRecordings(c), nil
		case view.PagePaste:
			return tab.NewPaste(c), nil
		}
		return nil, fmt.Errorf("a page of the kind %q does not run this program", kind)
	})
}
