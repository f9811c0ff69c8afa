// Package template is what the tab is built with in place of html/template (see overlay in the Makefile). templ names two
// of its types in functions that turn one kind of template into the other, which a page does not call. The real package
// brings its parsers of HTML, JavaScript and templates with it.
//
// An ordinary build uses the real html/template; it is only larger. What is missing here fails to compile, so a dependency
// that begins to need it in the tab is noticed at once.
package template

import "io"

// HTML is markup that is taken as it is.
type HTML string

// Template would be filled in.
type Template struct{}

// Execute panics: see above.
func (*Template) Execute(io.Writer, any) error {
	panic("the tab is built without html/template (wasm/notemplate)")
}
