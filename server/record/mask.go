package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"grouplab/coordinator/event"
)

// masker puts pseudonyms in the place of names: the same for the same name everywhere, "group-1", "client-3", "host-2". A member
// id keeps its relation to the client id, or the instance id, that it begins with: "client-3-m5". First every event is shown to
// learn, then mask is asked.
type masker struct {
	topics bool // topics, too
	known  map[nameClass]map[string]string
	// words are the pseudonyms of all names, to be put into sentences; longest is how long the longest name is.
	words   map[string]string
	longest int
}

// nameClass is what a name is of.
type nameClass string

const (
	nameGroup    nameClass = "group"
	nameClient   nameClass = "client"
	nameHost     nameClass = "host"
	nameMember   nameClass = "member"
	nameInstance nameClass = "instance"
	nameTopic    nameClass = "topic"
	nameTxn      nameClass = "transactional"
	nameProtocol nameClass = "protocol"
	// sentence is text of ours in which names may stand; foreign is text that clients wrote.
	sentence nameClass = "sentence"
	foreign  nameClass = "foreign"
)

// classes say what the string fields of events are, by their name in Go. Fields of types of package event (State, Why …) hold
// its own words and stay. A test fails for a field that is not here.
var classes = map[string]nameClass{
	"Group": nameGroup,

	"Client": nameClient, "ClientID": nameClient, "Clients": nameClient,
	"ClientHost": nameHost, "Host": nameHost,
	"InstanceID": nameInstance,

	"Member": nameMember, "Members": nameMember, "Leader": nameMember, "Old": nameMember, "Joined": nameMember, "Left": nameMember,
	"Awaited": nameMember, "WaitsFor": nameMember, "DeadlineOf": nameMember, "BeganMember": nameMember, "Ghosts": nameMember,

	"Topic": nameTopic, "Topics": nameTopic,
	"TransactionalID": nameTxn,
	"Protocol":        nameProtocol, "Protocols": nameProtocol, "Assignors": nameProtocol, "ProtocolType": nameProtocol,
	"ClusterID": "cluster",

	"Until": sentence, "Lacks": sentence, "Guard": sentence, "How": sentence, "Key": sentence, "Keys": sentence, "Why": sentence, "What": sentence,
	"Text": sentence, "For": sentence, "Failed": sentence, "Error": sentence, "Evidence": sentence, "Source": sentence, "Hides": sentence,
	"Right": sentence, "Words": sentence, "Mode": sentence, "Type": sentence, "State": sentence, "Reason": sentence,

	"ClientReason": foreign, "Metadata": foreign, "Software": foreign,
}

func newMasker(topics bool) *masker {
	return &masker{topics: topics, known: map[nameClass]map[string]string{}}
}

// ordinary are names that everybody has.
var ordinary = []string{"consumer", "range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "__consumer_offsets", "__transaction_state"}

func (m *masker) masks(c nameClass, name string) bool {
	return name != "" && !slices.Contains(ordinary, name) && (c != nameTopic || m.topics)
}

// learn gives the names of an event their pseudonyms.
func (m *masker) learn(e *event.Event) {
	m.pseudonym(nameGroup, e.Group)
	for _, members := range []bool{false, true} { // these are named after those
		walk(reflect.ValueOf(e.Body), "", func(field string, v reflect.Value) {
			c := classes[field]
			if c != "" && c != sentence && c != foreign && (c == nameMember) == members {
				m.pseudonym(c, v.String())
			}
		})
	}
}

// pseudonym is what stands for a name.
func (m *masker) pseudonym(c nameClass, name string) string {
	if !m.masks(c, name) {
		return name
	}
	of := m.known[c]
	if of == nil {
		of = map[string]string{}
		m.known[c] = of
	}
	if of[name] == "" {
		of[name] = fmt.Sprintf("%s-%d", c, len(of)+1)
		if owner := m.owner(name); c == nameMember && owner != "" {
			of[name] = fmt.Sprintf("%s-m%d", owner, len(of))
		}
	}
	return of[name]
}

// owner is the pseudonym of the client id, or the instance id, that a member id begins with; the longest one.
func (m *masker) owner(member string) (instead string) {
	longest := 0
	for _, c := range []nameClass{nameClient, nameInstance} {
		for name, p := range m.known[c] {
			if len(name) > longest && strings.HasPrefix(member, name+"-") {
				longest, instead = len(name), p
			}
		}
	}
	return instead
}

// learned is called once all events were shown. Where the same name is of several things, sentences say the first of these: a
// member before a client, a client before a group.
func (m *masker) learned() {
	m.words = map[string]string{}
	for _, c := range []nameClass{nameProtocol, "cluster", nameHost, nameTxn, nameTopic, nameGroup, nameInstance, nameClient, nameMember} {
		for name, instead := range m.known[c] {
			m.words[name] = instead
			m.longest = max(m.longest, len(name))
		}
	}
}

// mask returns the event with pseudonyms. The event itself is not touched.
func (m *masker) mask(e event.Event) (event.Event, error) {
	text, err := e.AppendJSON(nil) // a copy that shares nothing
	if err != nil {
		return e, err
	}
	var c event.Event
	if err := c.UnmarshalJSON(text); err != nil {
		return e, err
	}
	c.Group = m.pseudonym(nameGroup, c.Group)
	body := reflect.New(reflect.TypeOf(c.Body)).Elem()
	body.Set(reflect.ValueOf(c.Body))
	walk(body, "", func(field string, v reflect.Value) { v.SetString(m.instead(classes[field], v.String())) })
	c.Body = body.Interface().(event.Body)
	return c, nil
}

func (m *masker) instead(c nameClass, text string) string {
	switch c {
	case sentence:
		return m.sentence(text)
	case foreign:
		if text == "" || !strings.HasPrefix(text, "consumer poll timeout has expired") && !strings.HasPrefix(text, "the consumer ") {
			return map[bool]string{true: "", false: "(masked)"}[text == ""]
		}
		return m.sentence(text) // a reason that Java's consumer gives
	case "":
		return "(masked)"
	}
	return m.pseudonym(c, text)
}

// sentence puts pseudonyms into a sentence of ours. A word that looks like a name, and was not met as one, is left out.
func (m *masker) sentence(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		if name, instead := m.nameAt(b.String(), text); name != "" {
			b.WriteString(instead)
			text = text[len(name):]
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return !isName(r) })
		if end < 0 {
			end = len(text)
		}
		if end == 0 {
			r := []rune(text)[0]
			b.WriteRune(r)
			text = text[len(string(r)):]
			continue
		}
		word := text[:end]
		if p := m.within(word); p > 0 { // a name begins inside: topic-0, group/client
			word, end = word[:p], p
		}
		if plainWord(word) {
			b.WriteString(word)
		} else {
			b.WriteString("…")
		}
		text = text[end:]
	}
	return b.String()
}

// nameAt is the longest name that text begins with, where a name can begin and end, and what stands for it.
func (m *masker) nameAt(before, text string) (name, instead string) {
	if n := len(before); n > 0 && isLetter(rune(before[n-1])) {
		return "", ""
	}
	for end := min(len(text), m.longest); end > 0; end-- {
		if end < len(text) && isLetter(rune(text[end])) && isLetter(rune(text[end-1])) {
			continue
		}
		if instead, ok := m.words[text[:end]]; ok {
			return text[:end], instead
		}
	}
	return "", ""
}

// within is where in a word a name begins that is not at its start; 0 for nowhere.
func (m *masker) within(word string) int {
	for i := 1; i < len(word); i++ {
		if !isLetter(rune(word[i-1])) && hasName(m.nameAt(word[:i], word[i:])) {
			return i
		}
	}
	return 0
}

func hasName(name, _ string) bool { return name != "" }

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func isName(r rune) bool { return isLetter(r) || strings.ContainsRune("-./@%+", r) }

// plainWord tells whether a word is one of language, a number, or an identifier of Kafka's: nothing that names are made of.
func plainWord(word string) bool {
	if strings.IndexFunc(word, func(r rune) bool { return r < '0' && r != '-' && r != '.' || r > '9' }) < 0 {
		return true
	}
	word = strings.Trim(word, ".-")
	lower, upper := 0, 0
	for i, r := range word {
		switch {
		case r >= 'a' && r <= 'z' || r == '.' || r == '-' && lower > 0:
			lower++
		case r >= 'A' && r <= 'Z' || r == '_':
			upper++
		case r >= '0' && r <= '9' && i > 0 && len(word) <= 4: // 10s, v3
		default:
			return false
		}
	}
	return lower == 0 || upper <= 4
}

// walk visits every string of a plain string type in a value, with the name of the field that it stands in.
func walk(v reflect.Value, field string, visit func(field string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			visit(field, v)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walk(v.Field(i), f.Name, visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), field, visit)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), field, visit)
		}
	}
}
