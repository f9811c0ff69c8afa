package observe

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// property is one entry of a .properties file.
type property struct {
	key, value string
	// line is where it begins, 1 for the first.
	line int
}

// parseProperties reads text as java.util.Properties.load does: comments, continued lines, the three separators, escapes. A
// key that is given twice has its last value. Java's tools read the bytes as ISO 8859-1; here they are UTF-8 where they can
// be, so that a password with an umlaut is what its owner sees in the editor. An error names the line.
func parseProperties(text []byte) ([]property, error) {
	runes := runesOf(text)
	var list []property
	at := map[string]int{}
	for line := 1; len(runes) > 0; {
		begins := line
		var logical []rune
		logical, runes, line = logicalLine(runes, line)
		if len(logical) == 0 {
			continue
		}
		key, rest := splitEntry(logical)
		k, err := unescape(key)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", begins, err)
		}
		v, err := unescape(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: the value of %q: %w", begins, k, err)
		}
		if i, again := at[k]; again {
			list[i].value, list[i].line = v, begins
			continue
		}
		at[k] = len(list)
		list = append(list, property{k, v, begins})
	}
	return list, nil
}

func runesOf(text []byte) []rune {
	if utf8.Valid(text) {
		return []rune(strings.TrimPrefix(string(text), "\uFEFF"))
	}
	runes := make([]rune, len(text))
	for i, b := range text { // ISO 8859-1: each byte is its code point
		runes[i] = rune(b)
	}
	return runes
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\f' }

// logicalLine takes the next logical line off the text, without its leading white space; empty for a comment and a blank
// line. line counts natural lines.
func logicalLine(text []rune, line int) (logical, rest []rune, next int) {
	first := true
	for {
		natural, behind := naturalLine(text)
		text, line = behind, line+1
		natural = trimLeft(natural)
		if first && (len(natural) == 0 || natural[0] == '#' || natural[0] == '!') {
			return nil, text, line
		}
		first = false
		if !continued(natural) {
			return append(logical, natural...), text, line
		}
		logical = append(logical, natural[:len(natural)-1]...)
		if len(text) == 0 {
			return logical, text, line
		}
	}
}

func naturalLine(text []rune) (line, rest []rune) {
	for i, r := range text {
		switch {
		case r == '\n':
			return text[:i], text[i+1:]
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
			return text[:i], text[i+2:]
		case r == '\r':
			return text[:i], text[i+1:]
		}
	}
	return text, nil
}

func trimLeft(line []rune) []rune {
	for len(line) > 0 && blank(line[0]) {
		line = line[1:]
	}
	return line
}

// continued tells whether a line ends with an odd number of backslashes.
func continued(line []rune) bool {
	n := 0
	for i := len(line) - 1; i >= 0 && line[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// splitEntry finds the separator: the first '=', ':' or white space that is not escaped, with the white space around it.
func splitEntry(line []rune) (key, value []rune) {
	end := 0
	for ; end < len(line); end++ {
		if r := line[end]; r == '\\' {
			end++
		} else if r == '=' || r == ':' || blank(r) {
			break
		}
	}
	end = min(end, len(line))
	value = trimLeft(line[end:])
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = trimLeft(value[1:])
	}
	return line[:end], value
}

func unescape(text []rune) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteRune(text[i])
			continue
		}
		if i++; i == len(text) {
			break // Java drops it, too
		}
		switch r := text[i]; r {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			unit, err := unicodeEscape(text[i+1:])
			if err != nil {
				return "", err
			}
			i += 4
			if surrogate(unit) && i+6 < len(text) && text[i+1] == '\\' && text[i+2] == 'u' {
				if low, err := unicodeEscape(text[i+3:]); err == nil && low >= 0xdc00 && low < 0xe000 {
					unit, i = (unit-0xd800)<<10|(low-0xdc00)+0x10000, i+6
				}
			}
			b.WriteRune(unit)
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), nil
}

func surrogate(r rune) bool { return r >= 0xd800 && r < 0xdc00 }

func unicodeEscape(text []rune) (rune, error) {
	if len(text) >= 4 {
		if n, err := strconv.ParseUint(string(text[:4]), 16, 32); err == nil && text[0] != '+' {
			return rune(n), nil
		}
	}
	return 0, fmt.Errorf(`\u takes four hexadecimal digits, as in \u00fc`)
}
