// Package static holds what a browser loads: assets/ is written by hand, dist/ is built by make.
package static

import (
	"embed"
	"io/fs"
)

// files holds assets/, and of dist/ only README, the programs with their compressed forms, and wasm_exec.js: whatever else is
// built there (the server itself) is not embedded. README is always there, since a pattern must match something.
//
//go:embed assets dist/[Rlw]*
var files embed.FS

// Assets are stylesheets, fonts, boot.js, patch.js and sw.js.
func Assets() fs.FS { return sub("assets") }

// Dist are the programs of the tab: lab.wasm and live.wasm, each with .br and .gz beside it, and wasm_exec.js. They are missing
// where make has not built them.
func Dist() fs.FS { return sub("dist") }

// Built says whether the programs of the tab are there.
func Built() bool {
	for _, name := range []string{"lab.wasm", "live.wasm", "wasm_exec.js"} {
		if _, err := fs.Stat(Dist(), name); err != nil {
			return false
		}
	}
	return true
}

func sub(dir string) fs.FS {
	f, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // the names are constants
	}
	return f
}
