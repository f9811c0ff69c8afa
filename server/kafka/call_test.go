package kafka

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWordsFitEveryVersion: the words to an error are never too long for the int16 that the oldest versions have for their
// length, and are not cut inside a letter.
func TestWordsFitEveryVersion(t *testing.T) {
	for _, message := range []string{"", "no topic", strings.Repeat("x", maxWords), strings.Repeat("x", maxWords+1),
		strings.Repeat("é", 20000), "x" + strings.Repeat("\u202e", 20000), strings.Repeat("\x80", 70000)} {
		got := *words(message)
		if len(message) <= maxWords && got != message {
			t.Errorf("%q became %q", message, got)
		}
		if len(got) > maxWords+len("…") || utf8.ValidString(message) && !utf8.ValidString(got) || !strings.HasPrefix(message, strings.TrimSuffix(got, "…")) {
			t.Errorf("%d bytes became %d: %.60q", len(message), len(got), got)
		}
	}
}
