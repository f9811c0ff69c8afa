package view

import "strings"

// Lang is a language of the page.
type Lang string

const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// T says a key of the string table in this language; {0}, {1} … stand for the arguments. A key that is not in the table
// is a mistake in the program and shows itself.
func (l Lang) T(key string, args ...string) string {
	t, ok := words[key]
	if !ok {
		return "?" + key
	}
	s := t.In(l)
	for i, a := range args {
		s = strings.ReplaceAll(s, "{"+string(rune('0'+i))+"}", a)
	}
	return s
}
