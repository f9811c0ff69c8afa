package script

import (
	"fmt"
	"strings"
)

// suggest names the one of names that looks most like word; otherwise it says what there is.
func suggest(word string, names []string, otherwise string) string {
	best, distance := "", 1+len(word)/3
	for _, n := range names {
		if d := edits(strings.ToLower(word), strings.ToLower(n), distance); d <= distance && (best == "" || d < distance) {
			best, distance = n, d
		}
	}
	for _, n := range names { // a word that was not written to its end
		if len(word) > 2 && strings.HasPrefix(strings.ToLower(n), strings.ToLower(word)) && (best == "" || len(n) < len(best)) {
			best = n
		}
	}
	if best == "" {
		return otherwise
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// edits counts the letters to add, drop or change to turn one word into the other; it may stop counting beyond most.
func edits(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
