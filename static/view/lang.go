package view

import "strings"

// Lang is a language of the page.
type Lang string

const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// T says a key of the string table in this language; {0}, {1} … stand for the arguments, and {0|member|members} for the
// first word where argument 0 is 1, for the second otherwise. A key that is not in the table is a mistake in the program
// and shows itself.
func (l Lang) T(key string, args ...string) string {
	t, ok := words[key]
	if !ok {
		return "?" + key
	}
	return l.fill(t, args)
}

// fill puts arguments into a text.
func (l Lang) fill(t Text, args []string) string {
	s := t.In(l)
	for i, a := range args {
		n := string(rune('0' + i))
		s = countWords(s, n, a == "1")
		s = strings.ReplaceAll(s, "{"+n+"}", a)
	}
	return s
}

// countWords chooses in each "{n|one|many}" the word for one, or the word for many.
func countWords(s, n string, one bool) string {
	for {
		before, rest, found := strings.Cut(s, "{"+n+"|")
		if !found {
			return s
		}
		choice, after, _ := strings.Cut(rest, "}")
		single, many, _ := strings.Cut(choice, "|")
		if !one {
			single = many
		}
		s = before + single + after
	}
}
