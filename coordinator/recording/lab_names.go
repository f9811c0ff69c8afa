package recording

import (
	"fmt"
	"slices"
	"strings"
)

// nameOf makes a name for the lab of a client id: two processes with one id have two names.
func (l *lab) nameOf(clientID string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, clientID)
	if len(name) > 40 {
		name = name[:40]
	}
	if name = strings.Trim(name, "-"); name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "c" + name
	}
	base := name
	for n := 2; l.names[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	l.names[name] = true
	return name
}

func (l *lab) plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name[:min(len(name), 64)])
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func sortedKeys(m map[string]int32) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Span prints milliseconds as the script language reads them: 1m2s500ms.
func Span(ms int64) string {
	var b strings.Builder
	for _, u := range []struct {
		ms   int64
		name string
	}{{3_600_000, "h"}, {60_000, "m"}, {1000, "s"}, {1, "ms"}} {
		if n := ms / u.ms; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			ms %= u.ms
		}
	}
	if b.Len() == 0 {
		return "0ms"
	}
	return b.String()
}
