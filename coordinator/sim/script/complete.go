package script

import (
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/event"
	"grouplab/coordinator/sim"
)

// Candidate is a word that can stand at a place, and what it means, "" where the word says it.
type Candidate struct{ Text, Help string }

// Manual is what is known about a verb.
type Manual struct {
	Name, Usage, Help, Example string
	// Params are the names of its arguments in order; the last Optional of them may be left out.
	Params   []string
	Optional int
}

// Manuals are those of all verbs, by name.
func Manuals() []Manual {
	var list []Manual
	for _, n := range verbNames() {
		v, _ := verbNamed(n)
		list = append(list, v.manual())
	}
	return list
}

// ManualOf is a verb's manual; false where there is no such verb.
func ManualOf(name string) (Manual, bool) {
	v, known := verbNamed(name)
	return v.manual(), known
}

func (v verb) manual() Manual {
	m := Manual{Name: v.name, Usage: v.usage, Help: v.help, Example: v.example, Optional: v.optional}
	for _, p := range v.params {
		m.Params = append(m.Params, p.name)
	}
	return m
}

// Complete tells which words can stand in place of the last one of a line that is being written, and at which byte that
// one begins. What is new, as the name of a topic to be, has no candidates.
func (e *Engine) Complete(line string) (from int, list []Candidate) {
	from = strings.LastIndexAny(line, " \t") + 1
	before, last := strings.Fields(line[:from]), line[from:]
	for len(before) > 0 && before[0] == "!" {
		before = before[1:]
	}
	if len(before) > 1 && before[0] == atVerb().name {
		before = before[2:]
	}
	if len(before) == 0 {
		for _, n := range verbNames() {
			v, _ := verbNamed(n)
			list = append(list, Candidate{n, v.usage})
		}
		return from, beginning(list, last)
	}
	v, known := verbNamed(before[0])
	if !known {
		return from, nil
	}
	words := before[1:]
	if v.condition {
		return from, beginning(e.conditionWords(words), last)
	}
	if key, value, found := strings.Cut(last, "="); found && len(v.options) > 0 {
		from += len(key) + 1
		return from, beginning(e.optionValues(v, key), value)
	}
	plain := 0
	for _, w := range words {
		if len(v.options) == 0 || !strings.Contains(w, "=") {
			plain++
		}
	}
	switch {
	case plain < len(v.params):
		list = e.Offers(v.name, v.params[plain].name)
	case v.rest != nil:
		list = e.Offers(v.name, v.rest.name)
	default:
		for _, o := range v.options {
			if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, o.key+"=") }) {
				list = append(list, Candidate{o.key + "=", o.name})
			}
		}
	}
	return from, beginning(list, last)
}

// beginning keeps what a word can become; upper and lower case count alike.
func beginning(list []Candidate, word string) []Candidate {
	return slices.DeleteFunc(list, func(c Candidate) bool {
		return len(c.Text) < len(word) || !strings.EqualFold(c.Text[:len(word)], word)
	})
}

// Offers are the words that can stand for a param of a verb now.
func (e *Engine) Offers(verb, param string) []Candidate {
	switch param {
	case "CONSUMER":
		if verb == consumerVerb().name {
			return nil
		}
		list := e.consumers()
		if verb == cutVerb().name || verb == healVerb().name {
			list = append(list, everybody)
		}
		return offered(list)
	case "TOPIC":
		if verb == topicVerb().name {
			return nil
		}
		return offered(slices.Clone(e.topics))
	case "TOPIC-PARTITION":
		return offered(e.partitions(verb == moveLeaderVerb().name))
	case "BROKER", "ID":
		list := e.brokerIDs()
		if verb == cutVerb().name || verb == healVerb().name {
			list = append(list, everybody)
		}
		return offered(list)
	case "API":
		return offered(apiNames(verb))
	case "WRITES":
		return offered(append(sim.Writes(), anyWrites))
	case "ERROR":
		return offered(sim.AppendErrors())
	case "KIND":
		return offered(append(event.Kinds(), "all"))
	case "NAME":
		var list []Candidate
		for _, s := range sim.Settings() {
			list = append(list, Candidate{s.Name, s.Standard + "; " + s.Values})
		}
		return list
	case "kinds", "answers", "late":
		return offered([]string{param})
	}
	return nil
}

func offered(words []string) []Candidate {
	list := make([]Candidate, len(words))
	for i, w := range words {
		list[i].Text = w
	}
	return list
}

func (e *Engine) consumers() []string {
	if e.world == nil {
		return nil
	}
	return e.world.Consumers()
}

func (e *Engine) brokerIDs() (list []string) {
	if e.world != nil {
		for id := range e.world.Brokers() {
			list = append(list, strconv.Itoa(int(id)+1))
		}
	}
	return list
}

// partitions are those of all topics; with of the coordinators' topics, too, the ones that groups lie in.
func (e *Engine) partitions(coordinators bool) (list []string) {
	if e.world == nil {
		return nil
	}
	for _, t := range e.topics {
		for p := range e.facts.topics[t] {
			list = append(list, partitionName(t, p))
		}
	}
	if coordinators {
		for _, g := range e.facts.groupNames() {
			list = append(list, partitionName("__consumer_offsets", e.world.OffsetsPartition(g)))
		}
		slices.Sort(list[len(list)-len(e.facts.groups):])
		list = slices.Compact(list)
	}
	return list
}

func apiNames(verb string) (names []string) {
	if verb == askVerb().name {
		for _, q := range questions {
			names = append(names, event.APIName(q.key))
		}
		return names
	}
	for _, k := range dropped {
		names = append(names, event.APIName(k))
	}
	return names
}

// optionValues are the words that can stand behind "key=".
func (e *Engine) optionValues(v verb, key string) []Candidate {
	key, _ = v.ours(key, "")
	switch key {
	case "group":
		return offered(e.facts.groupNames())
	case "topics":
		return offered(slices.Clone(e.topics))
	case "assignor":
		return offered(sim.Assignors())
	case "requests":
		return offered([]string{"new", "old"})
	case "stable":
		return offered([]string{"yes", "no"})
	case "commit":
		return offered([]string{"off"})
	case "member", "producer":
		return offered(e.consumers())
	case "partitions":
		return offered(e.partitions(false))
	case "broker":
		return offered(e.brokerIDs())
	}
	return nil
}

// conditionWords are the words that can follow those of a condition.
func (e *Engine) conditionWords(words []string) []Candidate {
	clause := words
	for i, w := range words {
		if w == "and" {
			clause = words[i+1:]
		}
	}
	if len(clause) > 0 && (clause[0] == "not" || strings.HasPrefix(clause[0], "within=")) {
		clause = clause[1:]
	}
	var list []Candidate
	if len(clause) == 0 {
		for _, p := range predicates() {
			list = append(list, Candidate{p.name, p.usage})
		}
		return append(list, Candidate{"not", ""})
	}
	form, ok := clauseWords[clause[0]]
	switch n := len(clause) - 1; {
	case !ok:
		return nil
	case n < len(form):
		return e.clauseOffers(form[n])
	}
	return offered([]string{"and"})
}

// clauseWords says for each kind of clause what follows its name, as clauseOffers knows it.
var clauseWords = map[string][]string{
	"state": {"STATE"}, "generation": {"OP", "N"}, "members": {"OP", "N"}, "event": {"KIND"}, "owner": {"TOPIC-PARTITION", "CONSUMER"},
	"unowned": {"OP", "N"}, "committed": {"TOPIC-PARTITION", "OP", "N"}, "waiting-for": {"CONSUMER"}, "coordinator": {"ID"},
	"leader": {"CONSUMER"}, "client": {"CONSUMER", "CLIENT-STATE"}, "now": {"OP", "DURATION"},
}

func (e *Engine) clauseOffers(what string) []Candidate {
	switch what {
	case "STATE":
		return offered([]string{string(event.Empty), string(event.PreparingRebalance), string(event.CompletingRebalance), string(event.Stable), string(event.Dead)})
	case "CLIENT-STATE":
		return offered([]string{string(event.Unjoined), string(event.Rebalancing), string(event.Joined), stopped})
	case "OP":
		return offered([]string{"==", "!=", "<", "<=", ">", ">="})
	case "KIND":
		return offered(event.Kinds())
	}
	return e.Offers("", what)
}
