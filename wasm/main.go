//go:build js

// Command lab is the program of the pages that hold a machine: lessons and the sandbox.
package main

import (
	"fmt"

	"grouplab/static/view"
	"grouplab/wasm/dom"
	"grouplab/wasm/page"
	"grouplab/wasm/tab"
)

func main() {
	page.Show(nil, func(kind view.PageKind, c tab.Choices) (*tab.Tab, error) {
		switch kind {
		case view.PageLesson:
			return tab.NewLesson(dom.Text("lesson-script"), dom.Text("lesson-page"), c)
		case view.PageSandbox:
			return tab.NewSandbox(c)
		}
		return nil, fmt.Errorf("a page of the kind %q does not run the lab", kind)
	})
}
