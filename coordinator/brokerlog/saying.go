package brokerlog

import (
	"strconv"
	"strings"
)

// saying is what one line says: which message, and the names and numbers in it.
type saying struct {
	kind   kind
	AtMs   int64
	timed  bool // AtMs was in the line, or in one before it
	own    bool // it was in the line itself
	Line   int  // its number, from 1 on
	Broker int32
	// head is the text in brackets in which a broker names itself, and since 4.0 the partition of __consumer_offsets.
	head   string
	Group  string
	Member string
	// Other is another member: the one that is replaced.
	Other    string
	Instance string
	// Client is the client id of whoever wrote the line; "" for a broker's.
	Client string
	// Says is KIP-800's reason; Text is what else stands there: a reason, a list, a state.
	Says, Text, State, Protocol string
	N, K                        int64
	// list is a list where a reason stands in the line, too.
	list string
	// whole is false where words were missing at the line's end; rd is set behind librdkafka's "Group "…"".
	whole, rd bool
	// hind is what later lines say of a wait that begins here, nil where that is not known.
	hind *hindsight
	// pairs are what a structured line has beside its message.
	pairs []pair
}

type pair struct{ name, value string }

// maxName bounds a name: Kafka's requests cannot hold a longer one.
const maxName = 32767

// put takes a field's value; false where it cannot be one.
func (s *saying) put(field byte, value string) bool {
	switch field {
	case 'n', 'k', 'b':
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return false
		}
		switch field {
		case 'n':
			s.N = n
		case 'k':
			s.K = n
		default:
			s.Broker = int32(n)
		}
		return true
	case 'x':
		return true
	case 't':
		s.list, s.Text = value, value
		return true
	case 'r':
		s.Text = value
		return true
	case 'c':
		s.Says = value
		return true
	}
	if value == "" || len(value) > maxName {
		return false
	}
	switch field {
	case 'g':
		s.Group = value
	case 'm':
		s.Member = value
	case 'o':
		s.Other = value
	case 'i':
		s.Instance = value
	case 'l':
		s.Client = value
	case 's':
		s.State = value
	case 'p':
		s.Protocol = value
	}
	return true
}

// pairOf is the value that a structured line has under one of the names, "" where it has none.
func (s *saying) pairOf(names ...string) string {
	for _, p := range s.pairs {
		for _, n := range names {
			if p.name == n {
				return p.value
			}
		}
	}
	return ""
}

// tidy takes away how Scala and Java print what is not there, and what is no text.
func (s *saying) tidy() {
	for _, p := range []*string{&s.Group, &s.Member, &s.Other, &s.Instance, &s.Client, &s.Says, &s.Text, &s.State, &s.Protocol} {
		*p = strings.ToValidUTF8(*p, "\ufffd")
	}
	s.Instance = some(s.Instance)
	if metadata, ok := strings.CutPrefix(s.Member, "MemberMetadata("); ok {
		s.Member, s.Instance = between(metadata, "memberId=", ","), some(between(metadata, "groupInstanceId=", ", clientId="))
	}
	s.Says = strings.TrimRight(clientReason(s.Says), ".)")
	if s.Says == "not provided" {
		s.Says = ""
	}
}

// some takes an option's value out of how it is printed.
func some(text string) string {
	if v, ok := strings.CutPrefix(text, "Some("); ok {
		return strings.TrimSuffix(v, ")")
	}
	switch text {
	case "None", "null", "Optional.empty":
		return ""
	}
	if v, ok := strings.CutPrefix(text, "Optional["); ok {
		return strings.TrimSuffix(v, "]")
	}
	return text
}

// between is what stands between two words, to the end where the second is missing.
func between(text, from, to string) string {
	_, rest, found := strings.Cut(text, from)
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, to)
	return value
}

// clientReason is what stands behind "client reason: ".
func clientReason(text string) string {
	if _, r, found := strings.Cut(text, "client reason: "); found {
		return r
	}
	return ""
}

// partitionOf is the partition of __consumer_offsets that a broker's line names, -1 where it names none.
func (s *saying) partitionOf() int32 {
	for _, text := range []string{between(s.head, "partition=", " "), between(s.Text, "(__consumer_offsets-", ")")} {
		if p, ok := partitionNumber(text); ok {
			return p
		}
	}
	return -1
}
