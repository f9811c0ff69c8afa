// Package content holds the lessons' scripts and texts. It is a package of its own, so that the tab, which reads the
// lesson out of its page, does not carry them.
package content

import "embed"

// FS holds a folder NN-name for each lesson with script.txt, en.md and zh.md.
//
//go:embed */script.txt */en.md */zh.md
var FS embed.FS

// Glossary says how concepts are said in Chinese, one a line: English | Chinese | what is not written instead.
//
//go:embed glossary.txt
var Glossary string
