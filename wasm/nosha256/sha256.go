// Package sha256 is what the tab is built with in place of crypto/sha256 (see overlay in the Makefile). Only templ names it
// there, to call inline scripts and styles after their content, which the page's content security policy forbids. The real
// package brings random numbers, ciphers and the self-tests of FIPS 140 with it.
//
// An ordinary build uses the real crypto/sha256; it is only larger. What is missing here fails to compile, and hashing
// panics, so code that begins to need it in the tab is noticed at once.
package sha256

// Size is the length of a hash in bytes.
const Size = 32

// Sum256 panics: see above.
func Sum256([]byte) [Size]byte {
	panic("the tab is built without crypto/sha256 (wasm/nosha256)")
}
