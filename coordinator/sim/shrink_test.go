package sim_test

import (
	"strings"
	"testing"
)

func shrunk(t *testing.T, lines []string, f *failure) string { return strings.Join(lines, "\n") }
