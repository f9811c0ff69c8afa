package view

import (
	"fmt"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
)

// dur prints milliseconds in the viewer's language, as event.Duration does in English.
func (s *stage) dur(ms int64) string { return s.o.Lang.Duration(ms) }

// Duration prints milliseconds for people: "850 ms", "5.1 s", "1 min 20 s", "2 h 5 min".
func (l Lang) Duration(ms int64) string {
	switch {
	case ms < 0:
		return "−" + l.Duration(-ms)
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + l.T("unit.ms")
	case ms < 100000:
		tenths := (ms + 50) / 100
		return fmt.Sprintf("%d.%d", tenths/10, tenths%10) + l.T("unit.s")
	case ms < 3600000:
		return twoUnits(ms/60000, l.T("unit.min"), ms/1000%60, l.T("unit.s"))
	case ms < 48*3600000:
		return twoUnits(ms/3600000, l.T("unit.h"), ms/60000%60, l.T("unit.min"))
	}
	return twoUnits(ms/86400000, l.T("unit.d"), ms/3600000%24, l.T("unit.h"))
}

func twoUnits(a int64, unitA string, b int64, unitB string) string {
	s := strconv.FormatInt(a, 10) + unitA
	if b > 0 {
		s += " " + strconv.FormatInt(b, 10) + unitB
	}
	return s
}

// brief prints a length of time in at most seven characters: "7.8 s", "4.9 min", "2.1 h".
func (s *stage) brief(ms int64) string {
	ms = max(ms, 0)
	tenth := func(unit int64) string { return fmt.Sprintf("%d.%d", ms/unit, ms%unit*10/unit) }
	switch {
	case ms < 100000:
		return s.dur(ms)
	case ms < 100*60000:
		return tenth(60000) + s.t("unit.min")
	}
	return tenth(3600000) + s.t("unit.h")
}

// left is how long until a moment, never below zero.
func (s *stage) left(untilMs int64) string { return s.dur(max(untilMs-s.m.NowMs, 0)) }

// ago is how long since a moment.
func (s *stage) ago(sinceMs int64) string {
	ms := max(s.m.NowMs-sinceMs, 0)
	if ms >= 100 && ms < 1000 {
		return fmt.Sprintf("0.%d", ms/100) + s.t("unit.s")
	}
	return s.dur(ms)
}

// name shows a name that came from outside: folded in the middle, and quoted where it holds anything but plain
// characters, so that it can neither break a line nor turn the direction of writing.
func name(s string) string { return event.Name(Fold(s)) }

// plainText shows a text that came from outside on one line: what cannot be printed becomes a blank square.
func plainText(s string, n int) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return cut(s, n)
	}
	return cut(strings.Map(func(r rune) rune {
		if r != ' ' && !strconv.IsPrint(r) {
			return '▯'
		}
		return r
	}, s), n)
}

// short folds a name to at most n characters, keeping both ends.
func short(s string, n int) string { return cut(event.Name(s), n) }

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	r := []rune(s)
	if len(r) <= n {
		return string(r)
	}
	tail := (n - 1) * 2 / 5
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}

func num[T int | int16 | int32 | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// group3 writes a number with thin spaces between its thousands.
func group3(n int64) string {
	sign, digits := "", strconv.FormatInt(n, 10)
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune('\u202f')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// pct writes a fraction of a width for an SVG attribute, bounded to what is visible.
func pct(fraction float64) string {
	return strconv.FormatFloat(min(max(fraction, 0), 1)*100, 'f', 2, 64) + "%"
}

// px writes a length for an SVG attribute.
func px(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// partitionName is "orders-3".
func partitionName(topic string, partition int32) string {
	return short(topic, 22) + "-" + num(partition)
}

// run is a piece of a sentence.
type run struct {
	Text string
	Bold bool
}

// rich says a key whose {0} is set in bold.
func (s *stage) rich(key, bold string, args ...string) []run {
	all := append([]string{"\x00"}, args...)
	before, after, found := strings.Cut(s.t(key, all...), "\x00")
	if !found {
		return []run{{Text: before}}
	}
	return []run{{Text: before}, {Text: bold, Bold: true}, {Text: after}}
}

// apiLetter is the letter by which a request is drawn.
func apiLetter(api int16) string {
	switch api {
	case 8:
		return "C"
	case 9:
		return "F"
	case 10:
		return "W"
	case 11:
		return "J"
	case 12:
		return "H"
	case 13:
		return "L"
	case 14:
		return "S"
	case 15:
		return "D"
	case 22:
		return "I"
	case 25:
		return "A"
	case 26:
		return "E"
	case 28:
		return "T"
	case 3:
		return "M"
	}
	return "·"
}

// codeShort is an error code in the few characters that an answer on the wire has room for.
func codeShort(code int16) string { return strings.TrimPrefix(event.CodeName(code), "COORDINATOR_") }

// stateClass is the class by which a state is drawn.
func stateClass(st event.State) string {
	switch st {
	case event.Empty:
		return "st-empty"
	case event.PreparingRebalance, event.Assigning:
		return "st-prep"
	case event.CompletingRebalance, event.Reconciling:
		return "st-comp"
	case event.Stable:
		return "st-stable"
	case event.Dead:
		return "st-dead"
	}
	return "st-unknown"
}
