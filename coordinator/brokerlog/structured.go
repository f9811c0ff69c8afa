package brokerlog

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPairs bounds what is kept of a structured line.
const maxPairs = 40

// structured takes a line apart that holds pairs: JSON, logfmt (msg="…" group=…), or franz-go's own ("…; group: g, generation: 3").
func structured(line string) (pairs []pair, msg string, ok bool) {
	if i := strings.IndexByte(line, '{'); i >= 0 && strings.HasSuffix(line, "}") && strings.HasPrefix(strings.TrimLeft(line[i+1:], " "), `"`) {
		pairs = jsonPairs(line[i:])
		if msg = first(pairs, "message", "msg", "log", "MESSAGE", "textPayload", "text", "event", "@message"); msg != "" {
			msg = strings.TrimSpace(msg)
			if inner, text, nested := structured(msg); nested { // a container's runtime wraps what was JSON before
				return append(pairs, inner...), text, true
			}
			return pairs, msg, true
		}
	}
	if strings.Contains(line, " msg=") || strings.HasPrefix(line, "msg=") {
		pairs = logfmtPairs(line)
		if msg = first(pairs, "msg"); msg != "" {
			return pairs, msg, true
		}
	}
	if i := strings.Index(line, "; group: "); i >= 0 {
		return colonPairs(line[i+2:]), line[:i], true
	}
	return nil, "", false
}

func first(pairs []pair, names ...string) string {
	s := saying{pairs: pairs}
	return s.pairOf(names...)
}

// jsonPairs reads the fields of an object, those of objects within it too. What is no JSON ends it.
func jsonPairs(text string) (pairs []pair) {
	name, i := "", 0
	for i < len(text) && len(pairs) < maxPairs {
		switch c := text[i]; c {
		case '"':
			value, n := jsonString(text[i:])
			i += n
			rest := strings.TrimLeft(text[i:], " \t")
			if name == "" && strings.HasPrefix(rest, ":") {
				name, i = value, len(text)-len(rest)+1
				continue
			}
			if name != "" {
				pairs, name = append(pairs, pair{name, value}), ""
			}
		case '{':
			if name != "" {
				if end := closing(text[i:]); end > 0 { // as a whole for whoever knows the name
					pairs = append(pairs, pair{name, text[i : i+end]})
				}
			}
			name = ""
			i++
		case '}', ',', ' ', '\t', ':':
			i++
		case '[':
			end := closing(text[i:])
			if end <= 0 {
				return pairs
			}
			if name != "" {
				pairs, name = append(pairs, pair{name, text[i : i+end]}), ""
			}
			i += end
		default:
			end := strings.IndexAny(text[i:], ",}] ")
			if end < 0 {
				end = len(text) - i
			}
			if name != "" {
				pairs, name = append(pairs, pair{name, text[i : i+end]}), ""
			}
			i += max(end, 1)
		}
	}
	return pairs
}

// closing is how far an object or a list goes, 0 where it has no end.
func closing(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// jsonString reads a string from its quote on, and tells how long it was.
func jsonString(text string) (value string, n int) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return text[1:i], i + 1
		case '\\':
			return escaped(text)
		}
	}
	return text[1:], len(text)
}

func escaped(text string) (value string, n int) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), i + 1
		case c != '\\' || i+1 == len(text):
			b.WriteByte(c)
		default:
			i++
			i += escape(&b, text[i:])
		}
	}
	return b.String(), len(text)
}

// escape writes what an escape stands for, and returns how many bytes beyond its letter it took.
func escape(b *strings.Builder, text string) int {
	switch c := text[0]; c {
	case 'n', 'r', 't':
		b.WriteByte(' ')
	case 'b', 'f':
	case 'u':
		if len(text) >= 5 {
			if r, err := strconv.ParseUint(text[1:5], 16, 32); err == nil {
				if r < utf8.RuneSelf && r < ' ' {
					r = ' '
				}
				b.WriteRune(rune(r))
				return 4
			}
		}
	default:
		b.WriteByte(c)
	}
	return 0
}

// logfmtPairs reads name=value and name="value".
func logfmtPairs(text string) (pairs []pair) {
	for text = strings.TrimLeft(text, " "); text != "" && len(pairs) < maxPairs; text = strings.TrimLeft(text, " ") {
		eq, space := strings.IndexByte(text, '='), strings.IndexByte(text, ' ')
		switch {
		case eq < 0:
			return pairs
		case space >= 0 && space < eq:
			text = text[space:]
			continue
		}
		name, value := text[:eq], text[eq+1:]
		if strings.HasPrefix(value, `"`) {
			v, n := jsonString(value)
			pairs, text = append(pairs, pair{name, v}), value[n:]
			continue
		}
		v, after, _ := strings.Cut(value, " ")
		pairs, text = append(pairs, pair{name, v}), after
	}
	return pairs
}

// colonPairs reads "group: g, member_id: m, assigned: t[0 1]"; a comma within brackets parts nothing.
func colonPairs(text string) (pairs []pair) {
	for text != "" && len(pairs) < maxPairs {
		name, after, found := strings.Cut(text, ": ")
		if !found {
			return pairs
		}
		end, depth := len(after), 0
		for i := range len(after) {
			switch c := after[i]; {
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			case c == ',' && depth == 0 && strings.HasPrefix(after[i:], ", ") && strings.Contains(after[i:min(len(after), i+60)], ": "):
				end = i
			}
			if end == i {
				break
			}
		}
		pairs = append(pairs, pair{name, after[:end]})
		text = strings.TrimPrefix(after[end:], ", ")
	}
	return pairs
}

// heads are the names that stand in brackets before a message.
var heads = []string{"[GroupId ", "[GroupId=", "[Group ", "[MemberId ", "[Consumer ", "[Worker ", "[GroupCoordinator ", "[GroupMetadataManager ",
	`Group "`}

// head reads what names a group, a client or a broker before a message. n is its length, 0 where there is none.
func head(text string, s *saying) (n int, tried bool) {
	for _, h := range heads {
		if !strings.HasPrefix(text, h) {
			continue
		}
		mark := "]"
		if h[0] != '[' {
			mark = `"`
		}
		inside, after, found := strings.Cut(text[len(h):], mark)
		if !found || inside == "" || len(inside) > 3*maxName {
			return 0, true
		}
		switch h {
		case "[GroupId ", "[GroupId=", "[Group ":
			s.Group = inside
		case "[MemberId ":
			s.Member = inside
		case "[Consumer ", "[Worker ":
			s.Client, s.Group = between(inside, "clientId=", ", groupId="), between(inside, "groupId=", "\x00")
			s.Instance = between(inside, "instanceId=", ", ")
		case `Group "`:
			s.Group, s.rd = inside, true
			after = strings.TrimPrefix(after, ":")
		default:
			brokerOf(inside, s)
			after = strings.TrimPrefix(after, ":")
		}
		after = strings.TrimLeft(after, " ")
		return len(text) - len(after), true
	}
	return 0, false
}

// brokerOf reads "1", "id=1 topic=…" and "brokerId=1".
func brokerOf(inside string, s *saying) {
	s.head = inside
	for _, p := range []string{"id=", "brokerId="} {
		if v, ok := strings.CutPrefix(inside, p); ok {
			inside = v
		}
	}
	number, _ := leadingNumber(inside)
	if id, err := strconv.ParseInt(number, 10, 32); err == nil {
		s.Broker = int32(id)
	}
}

// threadClient is the client that librdkafka names before "[thrd:…]": "%7|1538603548.264|JOIN|rdkafka#consumer-1| [thrd:main]: ".
func threadClient(line string) string {
	before, _, found := strings.Cut(line, "[thrd:")
	if !found {
		return ""
	}
	before = strings.TrimRight(before, " |:")
	before = before[strings.LastIndexAny(before, "| ")+1:]
	if !strings.Contains(before, "#") {
		return ""
	}
	return before
}
