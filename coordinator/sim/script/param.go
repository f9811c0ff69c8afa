package script

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// param is one argument that a verb takes: how the usage calls it, and what is wrong with a text ("" where nothing is).
type param struct {
	name  string
	wrong func(text string) string
}

// named tells whether s is 1 to most letters, digits, '.', '_' or '-'.
func named(s string, most int) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= most
}

var consumerParam = param{"CONSUMER", func(s string) string {
	if named(s, 64) {
		return ""
	}
	return fmt.Sprintf("%q cannot be a consumer's name: it has 1 to 64 letters, digits, '.', '_' or '-'", s)
}}

var topicParam = param{"TOPIC", func(s string) string {
	if named(s, 249) && s != "." && s != ".." {
		return ""
	}
	return fmt.Sprintf("%q cannot be a topic's name: it has 1 to 249 letters, digits, '.', '_' or '-'", s)
}}

var groupParam = param{"GROUP", func(s string) string {
	if s != "" {
		return ""
	}
	return "a group id is not empty"
}}

var partitionParam = param{"TOPIC-PARTITION", func(s string) string {
	_, _, err := parsePartition(s)
	return wrongOf(err)
}}

// wholeParam is a whole number with bounds.
func wholeParam(name string, least, most int64) param {
	return param{name, func(s string) string {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Sprintf("%s is a whole number from %d to %d, not %q", name, least, most, s)
		}
		return ""
	}}
}

// durationParam is a duration of at least leastMs.
func durationParam(name string, leastMs int64) param {
	return param{name, func(s string) string {
		ms, err := parseDuration(s)
		if err == nil && ms < leastMs {
			err = fmt.Errorf("%s is at least %d ms, not %q", name, leastMs, s)
		}
		return wrongOf(err)
	}}
}

// orOff also allows the word "off".
func orOff(p param) param {
	return param{p.name, func(s string) string {
		if s == "off" {
			return ""
		}
		return p.wrong(s)
	}}
}

var lossParam = param{"PERCENT", func(s string) string {
	_, err := parsePercent(s)
	return wrongOf(err)
}}

var kindParam = param{"KIND", func(s string) string {
	if s == "all" {
		return ""
	}
	return wrongKind(s)
}}

func wrongKind(s string) string {
	for _, k := range event.Kinds() {
		if k == s {
			return ""
		}
	}
	return fmt.Sprintf("no kind of event is called %q%s", s, suggest(s, event.Kinds(), ""))
}

func wrongOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// maxDurationMs keeps sums of times far from overflowing: 1000 days.
const maxDurationMs = 1000 * 24 * 3600 * 1000

// parseDuration reads 250ms, 5s, 1m, 2h, 1m30s into milliseconds.
func parseDuration(s string) (int64, error) {
	bad := fmt.Errorf("%q is no duration: write 250ms, 5s, 1m or 1m30s", s)
	total, rest := int64(0), s
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		if err != nil {
			return 0, bad
		}
		rest = rest[digits:]
		unit := int64(0)
		for _, u := range []struct {
			suffix string
			ms     int64
		}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}} {
			if after, found := strings.CutPrefix(rest, u.suffix); found {
				unit, rest = u.ms, after
				break
			}
		}
		if unit == 0 {
			return 0, bad
		}
		if n > maxDurationMs/unit || total+n*unit > maxDurationMs {
			return 0, fmt.Errorf("%q is more than 1000 days", s)
		}
		total += n * unit
	}
	if s == "" {
		return 0, bad
	}
	return total, nil
}

// parsePercent reads 1% or 0.25% into parts of a million.
func parsePercent(s string) (int32, error) {
	number, found := strings.CutSuffix(s, "%")
	f, err := strconv.ParseFloat(number, 64)
	if !found || err != nil || !(f >= 0 && f <= 100) {
		return 0, fmt.Errorf("%q is no percentage: write 0%% to 100%%, as in 2.5%%", s)
	}
	return int32(math.Round(f * 10_000)), nil
}

// parsePartition reads orders-3; the topic's name may hold '-' itself.
func parsePartition(s string) (topic string, partition int32, err error) {
	i := strings.LastIndexByte(s, '-')
	if i > 0 && named(s[:i], 249) {
		if n, numberErr := strconv.ParseInt(s[i+1:], 10, 32); numberErr == nil && n >= 0 && s[i+1] != '+' {
			return s[:i], int32(n), nil
		}
	}
	return "", 0, fmt.Errorf("%q is no partition: write TOPIC-NUMBER, as in orders-3", s)
}
