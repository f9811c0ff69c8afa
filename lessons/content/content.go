// Package content holds the lessons' scripts and texts. It is a package of its own, so that the tab, which reads the
// lesson out of its page, does not carry them.
package content

import "embed"

// FS holds a folder NN-name for each lesson with script.txt, en.md and zh.md.
//
//go:embed */script.txt */en.md */zh.md
var FS embed.FS

// Glossary says what concepts mean, how they are said in Chinese and where they are seen; lessons/render reads it.
//
//go:embed glossary.txt
var Glossary string
