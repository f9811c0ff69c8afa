// Package regexp is what the tab is built with in place of regexp (see overlay in the Makefile). Only templ names it there,
// for inline styles and script templates, which the page's content security policy forbids. The real package brings the
// tables of every Unicode script with it.
//
// An ordinary build uses the real regexp; it is only larger. What is missing here fails to compile, and matching panics, so
// code that begins to need regular expressions in the tab is noticed at once.
package regexp

// Regexp is an expression that nothing in a tab matches.
type Regexp struct{ expr string }

// MustCompile keeps the expression, for whoever has to find out where it came from.
func MustCompile(expr string) *Regexp { return &Regexp{expr} }

// MatchString panics: see above.
func (re *Regexp) MatchString(string) bool {
	panic("the tab is built without regexp (wasm/noregexp), but " + re.expr + " is matched")
}
