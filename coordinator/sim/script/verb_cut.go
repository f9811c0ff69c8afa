package script

import (
	"fmt"
	"slices"
	"strconv"
)

func cutVerb() verb {
	return verb{
		name:  "cut",
		usage: "cut CONSUMER|all BROKER|all",
		help: "parts a consumer from a broker: whatever they send each other is lost, and neither is told. With all in place of one of them, " +
			"from everybody on that side; brokers still reach each other",
		example: "cut c1 2",
		params:  []param{consumerParam, brokerOrAll},
		do: func(e *Engine, c Command) error {
			return e.links(c, e.world.Cut)
		},
	}
}

const everybody = "all"

var brokerOrAll = param{"BROKER", func(s string) string {
	if s == everybody {
		return ""
	}
	if wrong := wholeParam("BROKER", 1, 9).wrong(s); wrong != "" {
		return wrong + ", or all"
	}
	return ""
}}

// links does something to the links that a command names: one, or all of a side, as far as there is something to do
// there. A consumer called all is meant where there is one.
func (e *Engine) links(c Command, do func(consumer string, broker int32) error) error {
	names, brokers := []string{c.Args[0].Text}, []int32{0}
	many := false
	if c.Args[0].Text == everybody && !slices.Contains(e.world.Consumers(), everybody) {
		names, many = e.world.Consumers(), true
	}
	if c.Args[1].Text == everybody {
		brokers, many = nil, true
		for id := range e.world.Brokers() {
			brokers = append(brokers, id+1)
		}
	} else {
		n, _ := strconv.Atoi(c.Args[1].Text)
		brokers[0] = int32(n)
	}
	var last error
	done := 0
	for _, name := range names {
		for _, id := range brokers {
			if err := do(name, id); err != nil {
				last = err
				continue
			}
			done++
		}
	}
	switch {
	case done > 0:
		return nil
	case last == nil:
		return fmt.Errorf("there is no consumer yet")
	case many:
		return fmt.Errorf("there is nothing to %s there: %w", c.Verb, last)
	}
	return last
}
