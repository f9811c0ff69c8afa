package event

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// String prints the fact in one line: time, broker, group and text. It is the one wording of golden files, console,
// lesson log and screen. Names from outside are quoted where they hold anything but plain characters, so that a line
// stays a line.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(Clock(e.AtMs))
	if e.AtHiMs > e.AtMs {
		b.WriteString("…" + Clock(e.AtHiMs))
	}
	b.WriteByte(' ')
	if e.Broker != 0 {
		b.WriteString("b" + strconv.Itoa(int(e.Broker)))
	} else {
		b.WriteString("--")
	}
	if e.Group != "" {
		b.WriteString(" " + Name(e.Group))
	}
	if e.Truth != Observed {
		b.WriteString(" (" + e.Truth.String() + ")")
	}
	b.WriteString(" " + e.Text())
	return b.String()
}

// Text prints the fact without its header, beginning with its kind.
func (e Event) Text() string {
	if e.Body == nil {
		return "?"
	}
	return line(strings.TrimSuffix(e.Body.Kind()+" "+e.Body.text(), " "))
}

// line keeps a text one line of plain characters. Names are quoted where they are printed; but reasons and errors are
// sentences that may hold what came from outside, too.
func line(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// wallMs is where milliseconds are taken for those of a wall clock, since 1970: September 2001. A world of its own begins at 0.
const wallMs = 1_000_000_000_000

// Clock prints milliseconds as HH:MM:SS.mmm; hours go on beyond 24, but for a wall clock's, of which the time of the UTC day
// is printed.
func Clock(ms int64) string {
	if ms >= wallMs {
		ms %= 24 * 3600 * 1000
	}
	sign := ""
	if ms < 0 {
		sign, ms = "-", -max(ms, -math.MaxInt64)
	}
	return fmt.Sprintf("%s%02d:%02d:%02d.%03d", sign, ms/3600000, ms/60000%60, ms/1000%60, ms%1000)
}

// Duration prints milliseconds for people: "850 ms", "5.1 s", "1 min 20 s".
func Duration(ms int64) string {
	switch {
	case ms < 0:
		return "-" + Duration(-max(ms, -math.MaxInt64))
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < 60000:
		tenths := ms / 100
		if tenths%10 == 0 {
			return strconv.FormatInt(tenths/10, 10) + " s"
		}
		return fmt.Sprintf("%d.%d s", tenths/10, tenths%10)
	case ms%60000 < 1000:
		return strconv.FormatInt(ms/60000, 10) + " min"
	}
	return fmt.Sprintf("%d min %d s", ms/60000, ms/1000%60)
}

// Name prints a name that came from outside: as it is where it is plain, quoted where it is empty or holds spaces,
// control characters or anything that could break a line or a terminal.
func Name(s string) string {
	if s == "" {
		return `""`
	}
	plain := true
	for i := range len(s) {
		plain = plain && s[i] > ' ' && s[i] < 0x7f && s[i] != '"'
	}
	if plain {
		return s
	}
	for _, r := range s {
		if r <= ' ' || r == '"' || r == 0x7f || r == 0xfffd || !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// APIName names an API key in Kafka's words: "JoinGroup".
func APIName(key int16) string {
	if name := kmsg.NameForKey(key); name != "" && name != "Unknown" {
		return name
	}
	return "API " + strconv.Itoa(int(key))
}

// CodeName names an error code in Kafka's words: "UNKNOWN_MEMBER_ID", "NONE".
func CodeName(code int16) string {
	if code == 0 {
		return "NONE"
	}
	if e := kerr.TypedErrorForCode(code); e != nil && e.Code == code { // kerr takes an unknown code for -1
		return e.Message
	}
	return "ERROR_" + strconv.Itoa(int(code))
}

// Partitions prints topic partitions: "orders-0,1 payments-3"; "none" where there are none.
func Partitions(topics []TopicPartitions) string {
	if len(topics) == 0 {
		return "none"
	}
	var parts []string
	for _, t := range topics {
		var ps []string
		for _, p := range t.Partitions {
			ps = append(ps, strconv.Itoa(int(p)))
		}
		parts = append(parts, Name(t.Topic)+"-"+strings.Join(ps, ","))
	}
	return strings.Join(parts, " ")
}

// words joins what is not empty with single spaces.
func words(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}

// opt prints "label value", or nothing where the value is empty.
func opt(label, value string) string {
	if value == "" {
		return ""
	}
	if label == "" {
		return Name(value)
	}
	return label + " " + Name(value)
}

func flag(on bool, word string) string {
	if on {
		return word
	}
	return ""
}

func names(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Name(s)
	}
	return "[" + strings.Join(quoted, " ") + "]"
}

func ids(list []int32) string {
	return strings.ReplaceAll(fmt.Sprint(list), " ", ",")
}

func offsets(list []OffsetValue) string {
	var parts []string
	for _, o := range list {
		s := fmt.Sprintf("%s-%d=%d", Name(o.Topic), o.Partition, o.Offset)
		if o.Code != 0 {
			s += " " + CodeName(o.Code)
		}
		parts = append(parts, s)
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func assignments(list []Assignment) string {
	var parts []string
	for _, a := range list {
		what := Partitions(a.Topics)
		if a.Opaque {
			what = strconv.Itoa(a.Bytes) + " bytes"
		}
		parts = append(parts, Name(a.Member)+": "+what)
	}
	return strings.Join(parts, "; ")
}
