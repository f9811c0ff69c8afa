package script

import (
	"fmt"
)

func expectVerb() verb {
	return verb{
		name:      "expect",
		usage:     "expect CONDITION",
		help:      "fails unless the condition holds now",
		example:   "expect members == 3 and state Stable",
		condition: true,
		quiet:     true,
		do: func(e *Engine, c Command) error {
			wide := e.lookingBack()
			if c.Cond.Holds(wide) {
				return nil
			}
			return fmt.Errorf("expected %s, but %s", c.Cond, c.Cond.Explain(wide))
		},
	}
}
