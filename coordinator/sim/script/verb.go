package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// verb is one command of the language. Each has a file of its own; verbs lists them.
type verb struct {
	name string
	// usage, help and example are its manual.
	usage, help, example string
	// params are its arguments in order; optional says how many of the last may be left out; rest is what any further
	// ones are.
	params   []param
	optional int
	rest     *param
	// options are arguments of the form key=value, in any order after the params.
	options []option
	// kafka are other names of options: those of Kafka's configuration.
	kafka []kafkaName
	// condition is set where the rest of the line is a condition.
	condition bool
	// quiet verbs do nothing to the world, so nobody is told that they were given.
	quiet bool
	do    func(e *Engine, c Command) error
}

// option is an argument of the form key=value.
type option struct {
	key string
	param
}

// verbs lists all of them. They are functions, and so is the list: a program that only names this package does not carry what
// they do.
func verbs() []func() verb {
	return []func() verb{
		seedVerb, brokersVerb, setVerb, latencyVerb, lossVerb, topicVerb, groupVerb, consumerVerb,
		startVerb, stopVerb, killVerb, restartVerb, pauseVerb, resumeVerb, busyVerb, commitVerb,
		addPartitionsVerb, killBrokerVerb, stopBrokerVerb, restartBrokerVerb, dropVerb,
		delayVerb, duplicateVerb, cutVerb, healVerb, failAppendsVerb, slowAppendsVerb, moveLeaderVerb, deleteTopicVerb, askVerb,
		advanceVerb, atVerb, untilVerb, expectVerb, showVerb, hideVerb,
	}
}

// verbNamed finds a verb.
func verbNamed(name string) (verb, bool) {
	for _, of := range verbs() {
		if v := of(); v.name == name {
			return v, true
		}
	}
	return verb{}, false
}

func verbNames() []string {
	var names []string
	for _, of := range verbs() {
		names = append(names, of().name)
	}
	slices.Sort(names)
	return names
}

// Usage prints the manual of all verbs, one in two lines.
func Usage() string {
	var b strings.Builder
	for _, n := range verbNames() {
		v, _ := verbNamed(n)
		fmt.Fprintf(&b, "%s\n    %s. Example: %s\n", v.usage, v.help, v.example)
	}
	return b.String()
}

// check looks at the shape of a command's arguments.
func (v verb) check(c *Command) error {
	if v.condition {
		return v.checkCondition(c)
	}
	var plain int
	seen := map[string]bool{}
	for i, a := range c.Args {
		if key, value, found := strings.Cut(a.Text, "="); found && len(v.options) > 0 {
			if key, value = v.ours(key, value); key+"="+value != a.Text {
				c.Args[i].Text = key + "=" + value
			}
			if err := v.checkOption(*c, i, key, value, seen); err != nil {
				return err
			}
			continue
		}
		p := v.rest
		if plain < len(v.params) {
			p = &v.params[plain]
		}
		if p == nil {
			return c.fail(i, "%q is one word too many: %s", a.Text, v.usage)
		}
		if wrong := p.wrong(a.Text); wrong != "" {
			return c.fail(i, "%s", wrong)
		}
		plain++
	}
	least := len(v.params) - v.optional
	if plain < least {
		return c.fail(-1, "%s lacks %s: %s", v.name, v.params[plain].name, v.usage)
	}
	return nil
}

// kafkaName is a name of Kafka's configuration and the option that says the same.
type kafkaName struct{ name, key string }

// ours turns an option under Kafka's name into ours. Kafka's times are whole milliseconds.
func (v verb) ours(key, value string) (string, string) {
	for _, k := range v.kafka {
		if k.name != key {
			continue
		}
		if strings.HasSuffix(key, ".ms") && value != "" && strings.Trim(value, "0123456789") == "" {
			value += "ms"
		}
		return k.key, value
	}
	return key, value
}

func (v verb) checkOption(c Command, i int, key, value string, seen map[string]bool) error {
	keys := make([]string, len(v.options))
	for j, o := range v.options {
		keys[j] = o.key
		if o.key != key {
			continue
		}
		if seen[key] {
			return c.fail(i, "%s= is there twice", key)
		}
		seen[key] = true
		if wrong := o.wrong(value); wrong != "" {
			return c.fail(i, "%s=: %s", key, wrong)
		}
		return nil
	}
	near := keys
	for _, k := range v.kafka {
		near = append(near, k.name)
	}
	return c.fail(i, "%s has no option %q%s", v.name, key, suggest(key, near, "; it has "+strings.Join(keys, ", ")))
}

// checkCondition parses the rest of the line as a condition.
func (v verb) checkCondition(c *Command) error {
	words := c.Args
	c.WithinMs = untilGivesUpMs
	if len(words) > 0 && len(v.options) > 0 {
		if value, found := strings.CutPrefix(words[0].Text, "within="); found {
			if wrong := v.options[0].wrong(value); wrong != "" {
				return c.fail(0, "within=: %s", wrong)
			}
			c.WithinMs, _ = parseDuration(value)
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return c.fail(-1, "%s lacks a condition: %s", v.name, v.usage)
	}
	cond, err := parseCondition(c.File, c.Line, words)
	if err != nil {
		return err
	}
	c.Cond = &cond
	return nil
}

// plain are the arguments that are no options.
func (c Command) plain() (texts []string) {
	v, _ := verbNamed(c.Verb)
	for _, a := range c.Args {
		if len(v.options) > 0 && strings.Contains(a.Text, "=") {
			continue
		}
		texts = append(texts, a.Text)
	}
	return texts
}

// number reads an argument that check has found to be a whole number.
func (c Command) number(i int) int64 {
	n, _ := strconv.ParseInt(c.Args[i].Text, 10, 64)
	return n
}

// duration reads an argument that check has found to be a duration.
func (c Command) duration(i int) int64 {
	ms, _ := parseDuration(c.Args[i].Text)
	return ms
}

// Duration reads argument i as a duration in milliseconds; false where it is none.
func (c Command) Duration(i int) (ms int64, ok bool) {
	if i >= len(c.Args) {
		return 0, false
	}
	ms, err := parseDuration(c.Args[i].Text)
	return ms, err == nil
}
