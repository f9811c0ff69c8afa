package brokerlog

import "strings"

// verdict says what became of a line.
type verdict uint8

const (
	unknown verdict = iota
	rest
	understood
)

const (
	// maxLine is how much of a line is looked at.
	maxLine = 256 << 10
	// maxTries bounds how often words that begin like a message are looked at in one line, so that no line costs more than its length.
	maxTries = 64
	// headLen is how far from its beginning a line's time is looked for.
	headLen = 200
)

// reader recognizes lines. It remembers the last time and the last broker, for lines that name none.
type reader struct {
	config Config
	rules  *rulebook
	clock  clock
	broker int32
	counts Counts
	text   strings.Builder
	// settings is set within a list of settings.
	settings bool
	group    string // that a client's lines named last
}

// rulebook are the indexes of all rules: general ones are looked for anywhere in a line, the others after what they need.
type rulebook struct{ general, rd, pairs *index }

func newRulebook() *rulebook {
	compiled := func(lists ...[]ruleText) *index {
		var rules []rule
		for _, list := range lists {
			for _, r := range list {
				rules = append(rules, compile(r.kind, r.text))
			}
		}
		return newIndex(rules)
	}
	return &rulebook{compiled(brokerRules, javaRules, otherRules), compiled(rdRules), compiled(pairRules)}
}

func newReader(c Config) reader {
	return reader{config: c, rules: newRulebook(), clock: clock{zoneMs: c.ZoneMs, nowMs: c.NowMs}, broker: c.Broker}
}

// read recognizes a line. What it says is in s where the verdict is understood.
func (r *reader) read(line string) (s saying, v verdict) {
	s, v = r.recognize(line)
	r.count(v)
	return s, v
}

func (r *reader) count(v verdict) {
	r.counts.Lines++
	switch v {
	case understood:
		r.counts.Understood++
	case rest:
		r.counts.Rest++
	default:
		r.counts.Unknown++
	}
}

func (r *reader) recognize(line string) (s saying, v verdict) {
	if len(line) > maxLine {
		line = line[:maxLine]
	}
	line = strings.TrimSpace(r.plain(line))
	if line == "" {
		return s, rest
	}
	if r.settings = r.settings && setting(line) || strings.HasSuffix(line, "Config values:"); r.settings {
		return s, rest
	}
	s.Broker = r.broker
	msg := line
	if pairs, text, ok := structured(line); ok {
		s.pairs, msg = pairs, text
		s.Group, s.Client = s.pairOf("group", "groupId", "group_id"), s.pairOf("clientId", "client_id", "clientID")
	}
	at, whole := r.message(msg, &s)
	s.whole = whole
	if strings.Contains(msg, "consumergroup/") || s.kind == clientFoundCoordinator { // sarama names the group in one line and the member in another
		if s.Group == "" {
			s.Group = r.group
		}
		r.group = s.Group
	}
	r.when(line, msg, at, &s)
	r.broker = s.Broker
	switch {
	case s.kind == noted:
		return s, rest
	case s.kind != unsaid:
		s.tidy()
		return s, understood
	case elsewhere(msg):
		return s, rest
	}
	return s, unknown
}

// message looks for a known message in a text, and for the heads that name who speaks. at is where it begins.
func (r *reader) message(msg string, s *saying) (at int, whole bool) {
	msg = body(msg)
	paired := len(s.pairs) > 0 || strings.Contains(msg, "; group: ")
	at = len(msg)
	tries, start := 0, true
	for i := 0; i < len(msg); i++ {
		c := msg[i]
		if !start {
			start = boundary(c)
			continue
		}
		start = boundary(c)
		if start && c != '[' && c != '(' {
			continue
		}
		if tries == maxTries {
			break
		}
		if c == '[' || c == 'G' {
			n, tried := head(msg[i:], s)
			if tried {
				tries++
			}
			if n > 0 {
				i, at, start = i+n-1, min(at, i), true
				continue
			}
		}
		found, tried, full := r.try(msg[i:], s, paired)
		if tried {
			tries++
		}
		if !found {
			continue
		}
		at, whole = min(at, i), full
		if s.kind != noted {
			break
		}
	}
	return at, whole
}

// boundary tells whether a message may begin after a byte.
func boundary(c byte) bool {
	switch c {
	case ' ', '\t', '"', '\'', ':', '|', ']', '[', '(', '>', '\\', ',', '=', ';', '`', '*', 0xa0:
		return true
	}
	return false
}

// try tests the rules that begin like a text.
func (r *reader) try(text string, s *saying, paired bool) (found, tried, whole bool) {
	lists := [3][]*rule{r.rules.general.at(text)}
	if s.rd {
		lists[1] = r.rules.rd.at(text)
	}
	if paired {
		lists[2] = r.rules.pairs.at(text)
	}
	for _, list := range lists {
		for _, rule := range list {
			tried = true
			probe := *s
			if ok, full := rule.match(text, &probe); ok {
				if rule.kind == noted && s.kind != unsaid {
					return true, true, whole
				}
				*s = probe
				s.kind = rule.kind
				return true, true, full
			}
		}
	}
	return false, tried, false
}

// body is a message without the logger's name that log4j puts behind it: " (kafka.coordinator.group.GroupCoordinator)".
func body(msg string) string {
	if !strings.HasSuffix(msg, ")") {
		return msg
	}
	i := strings.LastIndex(msg, " (")
	if i < 0 || !loggerName(msg[i+2:len(msg)-1]) {
		return msg
	}
	return strings.TrimRight(msg[:i], " ")
}

func loggerName(s string) bool {
	dots := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '.':
			dots++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == ':':
		default:
			return false
		}
	}
	return dots >= 2
}

// elsewhere tells whether a line is of another part of the same programs, or part of a stack trace: it says nothing of groups.
func elsewhere(line string) bool {
	for _, p := range []string{"at ", "Caused by: ", "... ", "Traceback ", "File \""} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	if otherPart(speaker(line)) || strings.Contains(line, "]: Starting (") {
		return true
	}
	for _, p := range []string{"roup", "ebalanc", "oordinator"} {
		if strings.Contains(line, p) {
			return false
		}
	}
	for _, p := range []string{"(kafka.", "(org.apache.kafka", " kafka.", " org.apache.kafka", "o.a.k.", "[thrd:", "[Broker", "[Partition ", "[ReplicaFetcher",
		"[Controller", "[Log ", "[LocalLog ", "[LogLoader ", "[UnifiedLog ", "[KafkaServer ", "[KafkaRaftServer ", "[Socket", "[Raft", "[Metadata"} {
		if strings.Contains(line, p) {
			return true
		}
	}
	return false
}

// speaker is the logger that Kafka's own pattern puts at the end of a line, in brackets; "" where none is there.
func speaker(line string) string {
	i := strings.LastIndexByte(line, '(')
	if i < 0 || !strings.HasSuffix(line, ")") {
		return ""
	}
	return line[i+1 : len(line)-1]
}

// otherPart tells whether a logger is of Kafka, and of a part that has to do with no group, whatever words its lines use: its names of
// settings, threads and requests hold "group" and "coordinator", too.
func otherPart(logger string) bool {
	if logger == "state.change.logger" {
		return true
	}
	logger = strings.TrimPrefix(logger, "org.apache.")
	if !strings.HasPrefix(logger, "kafka.") {
		return false
	}
	for _, p := range []string{"coordinator.group.", "coordinator.common.", "clients.consumer.", "clients.admin."} {
		if strings.Contains(logger, p) {
			return false
		}
	}
	return true
}

// setting tells whether a line is one of the many "name = value" with which a program of Kafka's lists its settings.
func setting(line string) bool {
	name, _, found := strings.Cut(line, " =")
	if !found || name == "" || len(name) > 80 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// plain takes out what colours a terminal, and bytes that are no text.
func (r *reader) plain(line string) string {
	clean := true
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' {
			clean = false
			break
		}
	}
	if clean {
		return line
	}
	r.text.Reset()
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == 0x1b && i+1 < len(line) && line[i+1] == '[':
			for i += 2; i < len(line) && (line[i] < '@' || line[i] > '~'); i++ {
			}
		case c >= ' ' || c == '\t':
			r.text.WriteByte(c)
		case c == 0:
		default:
			r.text.WriteByte(' ')
		}
	}
	return strings.Clone(r.text.String())
}
